"""Every recorded answer of Claude Code about arguments, variables and embedded commands, asked of
Prowess.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from prowess.activate.body.substitution import Given
from prowess.errors.activation import CommandFailed
from prowess.machine.facts import current_facts
from prowess.machine.processes import ProcessRunner
from prowess.profiles.load import load_profile
from prowess.shell.command_runner import Surroundings, draft_body, run_draft
from tests.conformance.trees import CASES
from tests.workspace import Workspace

RECORDED = json.loads((CASES / "claude-code" / "substitution.json").read_text(encoding="utf-8"))
PARAMETERS = [
    pytest.param(case, id=f"{n}-{case['skill']}") for n, case in enumerate(RECORDED["cases"])
]
SAFE = [one for one in PARAMETERS if "unsafe" not in one.values[0]]  # type: ignore[operator]
UNSAFE = [one for one in PARAMETERS if "unsafe" in one.values[0]]  # type: ignore[operator]


def render(case: dict[str, Any], workspace: Workspace) -> str:
    """The body of a case as the model gets it, its commands run by a real shell."""
    name = case["skill"]
    workspace.write(f"home/.claude/skills/{name}/SKILL.md", case["skill_md"])
    skill = workspace.open("claude-code").get(name)
    profile = load_profile("claude-code")
    facts = current_facts()
    draft = draft_body(
        skill.content,
        Given(arguments=case["args"], folder=skill.folder),
        Surroundings(facts=facts, cwd=str(workspace.project)),
        arguments=profile.arguments,
        embedded=profile.embedded,
        names=skill.manifest.arguments,
        shell=skill.manifest.shell,
    )
    assert draft.diagnostics == ()
    return run_draft(draft, ProcessRunner(facts))


def test_there_are_26_recorded_cases_and_one_of_them_is_unsafe() -> None:
    assert (len(PARAMETERS), len(SAFE), len(UNSAFE)) == (26, 25, 1)


@pytest.mark.parametrize("case", [one for one in SAFE if one.values[0]["error"] is None])  # type: ignore[index]
def test_a_body_is_filled_as_the_release_fills_it(
    case: dict[str, Any], workspace: Workspace
) -> None:
    assert render(case, workspace) == case["rendered"]


@pytest.mark.parametrize("case", [one for one in SAFE if one.values[0]["error"] is not None])  # type: ignore[index]
def test_what_the_release_refuses_is_refused_with_the_command_and_its_output(
    case: dict[str, Any], workspace: Workspace
) -> None:
    with pytest.raises(CommandFailed) as caught:
        render(case, workspace)
    assert (caught.value.command, caught.value.code, caught.value.tail) == (
        "echo x; exit 3",
        3,
        "x",
    )
    assert caught.value.command in case["error"]
    assert case["error"].endswith(caught.value.tail)


@pytest.mark.parametrize("case", UNSAFE)
def test_arguments_are_handed_to_a_shell_and_never_run_by_it(
    case: dict[str, Any], workspace: Workspace
) -> None:
    assert case["rendered"] == "A got a\npwn B\n"
    assert render(case, workspace) == "A got a; echo pwn B\n"


def test_the_cases_are_those_of_the_release_that_the_profile_names() -> None:
    assert RECORDED["release"] == load_profile("claude-code").provenance.release
    assert Path(CASES, "claude-code", "substitution.json").is_file()
