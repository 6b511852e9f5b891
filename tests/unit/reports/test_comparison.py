"""Several hosts side by side: which rows there are, and on which the hosts disagree."""

from __future__ import annotations

import pytest

from prowess.errors import UnknownHost
from prowess.reports.comparison import HostComparison, compare_hosts
from tests.unit.reports.folders import PROJECT, open_project, skill


def compare(files: dict[str, str], *hosts: str) -> HostComparison:
    return compare_hosts(hosts, lambda host: open_project(files, host=host))


def list_rows(compared: HostComparison) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    return [
        (row.names, {host: one.state.value for host, one in row.outcomes.items()})
        for row in compared.rows
    ]


def test_a_host_that_does_not_see_a_skill_disagrees_with_one_that_does():
    files = {
        ".agents/skills/pdf/SKILL.md": skill("pdf"),
        ".claude/skills/deploy/SKILL.md": skill("deploy"),
    }
    compared = compare(files, "prowess", "codex")
    assert list_rows(compared) == [
        (("deploy",), {"prowess": "ready"}),
        (("pdf",), {"prowess": "ready", "codex": "ready"}),
    ]
    assert [row.names for row in compared.different] == [("deploy",)]


def test_a_host_is_asked_once_however_often_it_is_named():
    compared = compare({}, "codex", "omp", "codex")
    assert [one.host for one in compared.hosts] == ["codex", "omp"]


def test_one_file_with_two_names_is_one_row_with_the_common_name_first():
    files = {".claude/skills/folder/SKILL.md": skill("header")}
    compared = compare(files, "claude-code", "opencode", "prowess")
    assert list_rows(compared) == [
        (("header", "folder"), {"opencode": "ready", "prowess": "ready", "claude-code": "ready"})
    ]
    assert compared.different == compared.rows


def test_two_names_that_one_host_knows_stay_two_rows():
    files = {
        ".claude/skills/a/SKILL.md": skill("b"),
        ".claude/skills/b/SKILL.md": skill("a"),
    }
    compared = compare(files, "claude-code", "opencode")
    assert [row.names for row in compared.rows] == [("a",), ("b",)]


def test_a_host_whose_settings_are_wrong_has_a_problem_and_no_column():
    files = {
        ".agents/skills/pdf/SKILL.md": skill("pdf"),
        "prowess.toml": "enabled = 3\n",
    }
    compared = compare(files, "prowess", "codex")
    prowess, codex = compared.hosts
    assert (prowess.outcomes, prowess.snapshot) == ({}, None)
    assert "`enabled`" in (prowess.problem or "")
    assert codex.problem is None
    # A host without an answer does not disagree.
    assert compared.different == ()


def test_a_wrong_settings_file_of_a_host_is_reported_and_ignored():
    files = {
        ".agents/skills/pdf/SKILL.md": skill("pdf"),
        "~/.omp/agent/config.yml": "skills: 3\n",
    }
    omp, _ = compare(files, "omp", "codex").hosts
    assert (omp.problem, list(omp.outcomes)) == (None, ["pdf"])
    assert omp.snapshot is not None
    assert [one.code for one in omp.snapshot.diagnostics] == ["settings-ignored"]


def test_an_unknown_host_is_an_error():
    with pytest.raises(UnknownHost):
        compare({}, "nobody")


def test_json_has_all_rows_or_only_those_that_differ():
    files = {
        ".agents/skills/pdf/SKILL.md": skill("pdf"),
        ".claude/skills/deploy/SKILL.md": skill("deploy", hide="true"),
    }
    compared = compare(files, "prowess", "codex")
    deploy = {
        "name": "deploy",
        "agreement": "not-read",
        "hosts": {
            "prowess": {
                "state": "hidden",
                "location": f"{PROJECT}/.claude/skills/deploy/SKILL.md",
                "reason": "its header says `hide: true`",
            }
        },
    }
    assert compared.shape(only_different=True) == {
        "hosts": [{"name": "prowess"}, {"name": "codex"}],
        "skills": [deploy],
    }
    assert [row["name"] for row in compared.shape()["skills"]] == ["deploy", "pdf"]
