"""Diagnostics as GitHub workflow commands and as SARIF."""

from __future__ import annotations

from prowess.diagnostics import Severity, diagnose
from prowess.reports.github import relative_path, render_github
from prowess.reports.sarif import shape_sarif


def test_a_message_cannot_forge_a_workflow_command():
    finding = diagnose(
        "field-value", "a\r\n::error::b 100%", file="/r/x:y,z", hint="h", severity=Severity.INFO
    )
    assert render_github([finding], base="/r") == (
        "::notice file=x%3Ay%2Cz,title=field-value::a%0D%0A::error::b 100%25 h\n"
    )


def test_each_severity_has_its_workflow_command():
    found = [diagnose("field-value", "m", severity=severity, line=3) for severity in Severity]
    assert render_github(found, base="/r") == "".join(
        f"::{word} line=3,title=field-value::m {found[0].hint}\n"
        for word in ("error", "warning", "notice")
    )


def test_paths_are_relative_to_the_repository_with_slashes():
    assert relative_path("/r/a/b.md", "/r/") == "a/b.md"
    assert relative_path("/rest/b.md", "/r") == "/rest/b.md"
    assert relative_path("C:\\r\\a.md", "C:\\r") == "a.md"


def test_sarif_names_files_elsewhere_by_their_whole_address():
    finding = diagnose("name-collision", "m", file="/else where/\udcff.md", related=["/r/a.md"])
    (result,) = shape_sarif([finding], base="/r")["runs"][0]["results"]
    uris = [
        one["physicalLocation"]["artifactLocation"]["uri"]
        for one in (*result["locations"], *result["relatedLocations"])
    ]
    assert uris == ["file:///else%20where/%FF.md", "a.md"]


def test_sarif_lists_each_rule_once_in_the_order_of_the_table():
    found = [diagnose(code, "m", file="/r/a.md") for code in ("name-mismatch", "field-value")] * 2
    run = shape_sarif(found, base="/r")["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert sorted(rules) == ["field-value", "name-mismatch"]
    assert [rules[one["ruleIndex"]] for one in run["results"]] == [one.code for one in found]
