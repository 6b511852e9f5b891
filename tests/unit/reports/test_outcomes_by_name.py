"""Which outcome holds a name, and where two scans disagree."""

from __future__ import annotations

from prowess.reports.outcomes_by_name import (
    index_outcomes,
    is_same_answer,
    list_differing_names,
    load_other_editions,
)
from tests.unit.reports.folders import PROJECT, open_project, skill

FILES = {
    ".agents/skills/pdf/SKILL.md": skill("pdf"),
    "~/.claude/skills/pdf/SKILL.md": skill("pdf"),
    "~/.claude/skills/notes/SKILL.md": skill("notes"),
}


def test_a_name_is_held_by_the_file_that_is_listed():
    held = index_outcomes(open_project(FILES).snapshot)
    assert {name: one.candidate.location for name, one in held.items()} == {
        "notes": "/home/me/.claude/skills/notes/SKILL.md",
        "pdf": f"{PROJECT}/.agents/skills/pdf/SKILL.md",
    }


def test_a_name_that_no_list_shows_is_held_by_its_first_claim():
    files = {
        ".agents/skills/a/SKILL.md": skill("x", enabled="false"),
        ".agents/skills/b/SKILL.md": skill("x", enabled="false"),
    }
    snapshot = open_project(files).snapshot
    assert index_outcomes(snapshot) == {"x": snapshot.outcomes[0]}


def test_scans_differ_where_the_state_or_the_file_of_a_name_does():
    prowess, claude, codex = (
        index_outcomes(open_project(FILES, host=host).snapshot)
        for host in ("prowess", "claude-code", "codex")
    )
    assert list_differing_names(prowess, prowess) == []
    assert list_differing_names(prowess, codex) == ["notes"]
    assert list_differing_names(prowess, claude) == ["pdf"]
    assert is_same_answer(None, None)
    assert not is_same_answer(prowess["pdf"], None)


def test_every_other_edition_is_asked_and_none_where_there_is_one():
    def load(host: str) -> list[str]:
        skills = open_project(FILES, host=host)
        others = load_other_editions(skills, host, lambda one: open_project(FILES, host=one))
        return [other.host for other in others]

    assert load("omp") == ["omp@documented"]
    assert load("omp@documented") == ["omp@current"]
    assert load("codex") == []
