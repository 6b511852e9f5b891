"""Why a name loads or does not, as a value: claims, journeys, other editions and other hosts."""

from __future__ import annotations

import pytest

from prowess.errors import SettingError
from prowess.reports.explanation import (
    EditionAnswer,
    Elsewhere,
    Explanation,
    MissingName,
    StageReport,
    explain_name,
    find_claims,
)
from tests.unit.reports.folders import PROJECT, open_project, skill

AGENTS = f"{PROJECT}/.agents/skills/pdf/SKILL.md"
CLAUDE = f"{PROJECT}/.claude/skills/pdf/SKILL.md"


def explain(
    files: dict[str, str], name: str, *, host: str = "prowess", most_claims: int | None = None
) -> Explanation | MissingName:
    return explain_name(
        open_project(files, host=host),
        name,
        host=host,
        open_host=lambda other: open_project(files, host=other),
        most_claims=most_claims,
    )


def explain_found(files: dict[str, str], name: str, **options: str | int) -> Explanation:
    found = explain(files, name, **options)  # type: ignore[arg-type]
    assert isinstance(found, Explanation)
    return found


def explain_missing(files: dict[str, str], name: str, **options: str | int) -> MissingName:
    found = explain(files, name, **options)  # type: ignore[arg-type]
    assert isinstance(found, MissingName)
    return found


def test_the_winner_comes_first_with_its_journey_through_every_stage():
    files = {
        ".agents/skills/pdf/SKILL.md": skill("pdf"),
        ".claude/skills/pdf/SKILL.md": skill("pdf"),
    }
    found = explain_found(files, "pdf", host="spec")
    assert found.answer == f"“pdf” is ready: {AGENTS} is offered to the model."
    (claim,) = found.claims
    assert claim.journey == (
        StageReport(
            "discover",
            (
                f"found in {PROJECT}/.agents/skills, root 1 of 2 (project, agents:project)",
                "searched because it is in the working folder",
            ),
        ),
        StageReport("parse", ("read; its name is pdf",)),
        StageReport("resolve", ("no other file claims this name",)),
        StageReport("gate", ("it can be offered",)),
        StageReport("present", ("the model sees its name and full description",)),
    )


def test_a_shadowed_file_says_which_file_won_and_by_which_rule():
    files = {
        ".agents/skills/pdf/SKILL.md": skill("pdf"),
        "~/.agents/skills/pdf/SKILL.md": skill("pdf"),
    }
    found = explain_found(files, "pdf", host="spec")
    assert [claim.outcome.state.value for claim in found.claims] == ["ready", "shadowed"]
    assert [claim.journey[2] for claim in found.claims] == [
        StageReport(
            "resolve",
            ("won over 1 other file with this name", "rule: the first in scan order wins"),
        ),
        StageReport(
            "resolve",
            (
                f"shadowed: {AGENTS} (agents:project) has the same name and is stronger",
                "because root 1 is searched before root 2",
            ),
        ),
    ]


def test_only_so_many_claims_as_asked_for_and_the_rest_is_counted():
    files = {f".agents/skills/s{number}/SKILL.md": skill("x") for number in range(5)}
    found = explain_found(files, "x", most_claims=2)
    assert (len(found.claims), found.left_out) == (2, 3)
    assert found.answer.endswith("; it won over 4 other files with this name.")
    whole = explain_found(files, "x")
    assert (len(whole.claims), whole.left_out) == (5, 0)


def test_an_edition_that_answers_differently_is_named():
    files = {"~/.claude/skills/notes/SKILL.md": skill("notes")}
    found = explain_found(files, "notes", host="omp")
    (edition,) = found.editions
    assert edition.outcome is not None
    assert (edition.host, edition.outcome.state.value, edition.problem) == (
        "omp@documented",
        "ready",
        None,
    )
    assert explain_found(files, "notes", host="claude-code").editions == ()


def test_an_edition_whose_settings_are_wrong_has_a_problem():
    files = {
        ".omp/skills/notes/SKILL.md": skill("notes"),
        "~/.omp/agent/config.yml": "skills:\n  enabled: true\n",
    }

    def refuse(other):
        raise SettingError("prowess.toml", 1, "enabled", "must be true or false")

    found = explain_name(open_project(files, host="omp"), "notes", host="omp", open_host=refuse)
    assert isinstance(found, Explanation)
    (edition,) = found.editions
    assert edition == EditionAnswer("omp@documented", None, edition.problem)
    assert "`enabled`" in (edition.problem or "")


def test_a_name_that_is_missing_gives_similar_names_and_the_hosts_that_see_it():
    files = {
        ".claude/skills/pdf/SKILL.md": skill("pdf"),
        ".agents/skills/pda/SKILL.md": skill("pda"),
    }
    found = explain_missing(files, "pdf", host="codex")
    assert (found.nearest, found.claims, found.cut) == (("pda",), (), ())
    assert found.elsewhere == tuple(
        Elsewhere(host, "ready", CLAUDE)
        for host in ("prowess", "claude-code", "opencode", "omp", "copilot", "crush")
    )


def test_a_folder_of_the_name_whose_skill_has_another_is_a_claim():
    files = {".agents/skills/pdf-tools/SKILL.md": skill("pdf")}
    found = explain_missing(files, "pdf-tools")
    assert [claim.outcome.name for claim in found.claims] == ["pdf"]
    assert found.shape()["answer"] is None


def test_a_file_that_is_in_both_lists_is_claimed_once():
    skills = open_project({".agents/skills/pdf/SKILL.md": skill("pdf")})
    assert [one.candidate.location for one in find_claims(skills.snapshot, "pdf")] == [AGENTS]


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"hide": "true"}, "is loaded, but hidden from the model: its header says `hide: true`"),
        ({"enabled": "false"}, "is disabled: its header says `enabled: false`"),
    ],
)
def test_the_answer_gives_the_reason_that_decided(fields, answer):
    found = explain_found({".agents/skills/pdf/SKILL.md": skill("pdf", **fields)}, "pdf")
    assert found.answer == f"“pdf” {answer}."


def test_json_has_everything():
    files = {"~/.claude/skills/notes/SKILL.md": skill("notes")}
    shape = explain_found(files, "notes", host="omp").shape()
    assert list(shape) == [
        "host",
        "edition",
        "cwd",
        "name",
        "answer",
        "claims",
        "editions",
        "elsewhere",
    ]
    location = "/home/me/.claude/skills/notes/SKILL.md"
    assert shape["editions"] == [{"host": "omp@documented", "state": "ready", "location": location}]
    assert [step["stage"] for step in shape["claims"][0]["journey"]] == [
        "discover",
        "parse",
        "resolve",
        "gate",
    ]
