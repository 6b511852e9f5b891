"""What an author is told."""

from __future__ import annotations

import msgspec
import pytest

from prowess.parse.lint.checks import PathTarget, lint_skill
from prowess.profiles.load import load_profile
from tests.unit.parse.rules import PROWESS

STANDARD = load_profile("spec").fields
GOOD = "---\nname: pdf\ndescription: Read PDF files. Use when a file ends in .pdf.\n---\n# How\n\nSee [guide](references/guide.md).\n"


def lint(text, files=("SKILL.md", "references/guide.md"), folder="pdf"):
    findings = lint_skill(text, folder_name=folder, files=files, rules=PROWESS, fields=STANDARD)
    return [(finding.line, finding.code, finding.severity.value) for finding in findings]


def with_field(line):
    return GOOD.replace("---\n#", f"{line}\n---\n#")


def test_a_good_skill_has_no_findings():
    assert lint(GOOD) == []


def test_files_may_be_a_function():
    asked = []

    def find(path):
        asked.append(path)
        return PathTarget.INSIDE

    assert (lint(GOOD, files=find), asked) == ([], ["references/guide.md"])


def test_a_link_that_leads_out_of_the_folder_is_outside():
    assert lint(GOOD, files=lambda _: PathTarget.OUTSIDE) == [
        (7, "file-reference-outside", "warning")
    ]


def test_paths_in_a_folder_of_the_skill_are_its_own():
    text = GOOD + "`data/here.csv` `data/gone.csv` `other/x.csv`\n"
    assert lint(text, files=("references/guide.md", "data/here.csv")) == [
        (8, "file-reference-missing", "warning")
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (GOOD.replace("name: pdf", "name: PDF"), [(2, "name-invalid", "error"), (2, "name-mismatch", "error")]),
        (GOOD.replace("name: pdf\n", ""), [(1, "name-missing", "error")]),
        (GOOD.replace("Use when", "Use: when"), [(3, "yaml-unquoted-colon", "error")]),
        (GOOD.replace("Use when a file ends in .pdf.", "Fast."), [(3, "description-when", "info")]),
        (GOOD.replace("Use when", "Use when #1 or"), [(3, "value-cut", "warning")]),
        (with_field("description: Use when twice."), [(3, "yaml-duplicate-key", "error")]),
        (with_field("allowed_tools: Read"), [(4, "field-unknown", "warning")]),
        (with_field("licence: MIT"), [(4, "field-unknown", "warning")]),
        (with_field("hooks: {}"), [(4, "field-unknown", "info")]),
        (with_field("colour: blue"), [(4, "field-unknown", "info")]),
        (with_field("license: [a]"), [(4, "field-type", "error")]),
        (with_field("compatibility: " + "c" * 501), [(4, "field-too-long", "error")]),
        (GOOD.partition("# How")[0], [(5, "body-empty", "warning")]),
        (GOOD + "line\n" * 500, [(5, "body-long", "warning")]),
        (GOOD + "[x](missing.md) [x](missing.md)\n`scripts/no.py`\n", [(8, "file-reference-missing", "warning"), (9, "file-reference-missing", "warning")]),
        (GOOD + "[x](../other.md)\n\n[y](/etc/hosts)\n", [(8, "file-reference-outside", "warning"), (10, "file-reference-outside", "warning")]),
        (GOOD + "[folder](references) [folder](references/)\n", []),
        ("# No header\n", [(1, "header-missing", "error")]),
        ("---\nname: pdf\n", [(1, "header-unclosed", "error")]),
        (GOOD.replace("---\n", "---yaml\n", 1), [(1, "header-malformed-fence", "error")]),
        (GOOD.replace("---\n", "---js\n", 1), [(1, "header-language", "error")]),
        (GOOD.replace("name: pdf", "name: 1e3"), [(2, "name-missing", "error")]),
        ("", [(None, "empty-file", "error")]),
        ("---\n- a\n---\nBody\n", [(None, "header-not-a-mapping", "error")]),
    ],
)  # fmt: skip
def test_findings_come_with_their_line(text, found):
    assert lint(text) == found


def test_a_misspelled_field_names_the_right_one():
    [finding] = lint_skill(
        with_field("allowed_tools: Read"),
        folder_name="pdf",
        files=("references/guide.md",),
        rules=PROWESS,
        fields=STANDARD,
    )
    assert finding.message == "Unknown field `allowed_tools`; did you mean `allowed-tools`?"


def test_the_fields_of_the_standard_are_those_it_is_given():
    fields = msgspec.structs.replace(STANDARD, known=("name", "description", "colour"))
    findings = lint_skill(
        with_field("colour: blue\nlicense: MIT"),
        folder_name="pdf",
        files=lambda _: PathTarget.INSIDE,
        rules=PROWESS,
        fields=fields,
    )
    assert [(finding.code, finding.field) for finding in findings] == [("field-unknown", "license")]


def test_a_page_that_only_openclaw_shows_is_a_known_field():
    assert lint(with_field("website: https://example.org")) == [(4, "field-unknown", "info")]
    [finding] = lint_skill(
        with_field("url: https://example.org"),
        folder_name="pdf",
        files=lambda _: PathTarget.INSIDE,
        rules=PROWESS,
        fields=STANDARD,
    )
    assert finding.message == "`url` is not in the standard; only some hosts read it."
