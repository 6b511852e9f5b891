"""What the documents say about who may see and start a skill: eligibility, policy, and hiding."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from prowess.gate.eligibility import Verdict, judge
from prowess.gate.gate import SkillGate, find_rules
from prowess.gate.visibility import Invocation, judge_invocation
from prowess.model.facts import Facts
from prowess.model.outcome import State
from prowess.runtime import Skills
from tests.workspace import Workspace

OPENCLAW = "openclaw@documented"
CLAUDE = "claude-code@documented"
OMP = "omp@documented"
CONFIG = "home/.openclaw/openclaw.json"


def states(skills: Skills) -> dict[str, str]:
    return {outcome.name: outcome.state.value for outcome in skills.snapshot.outcomes}


def offered(skills: Skills) -> list[str]:
    """The names that the model is offered."""
    return [skill.name for skill in skills.snapshot.skills]


def verdict(skills: Skills, name: str, facts: Facts | None = None) -> Verdict:
    settings = skills.snapshot.settings
    facts = facts or skills.facts
    return judge(
        skills.get(name).manifest,
        name=name,
        rules=skills.profile.gate,
        facts=facts,
        settings=settings,
    )


def invocation(skills: Skills, name: str) -> Invocation:
    settings = skills.snapshot.settings
    return judge_invocation(
        skills.get(name).manifest, name=name, rules=skills.profile.gate, settings=settings
    )


@pytest.mark.seed("W-51", "W-57")
def test_a_skill_that_fails_any_check_is_not_offered(workspace: Workspace) -> None:
    workspace.skill("project/skills/good", os="[linux]", requires="{bins: [curl], env: [KEY]}")
    workspace.skill("project/skills/os", os="[darwin]")
    workspace.skill("project/skills/bins", requires="{bins: [curl, nope]}")
    workspace.skill("project/skills/any", requires="{anyBins: [nope]}")
    workspace.skill("project/skills/env", requires="{env: [OTHER]}")
    workspace.skill("project/skills/config", requires="{config: [weather.apiKey]}")
    skills = workspace.open(OPENCLAW, bins=["curl"], env={"KEY": "1"})
    assert offered(skills) == ["good"]
    assert {name for name, state in states(skills).items() if state == "ineligible"} == {
        "os",
        "bins",
        "any",
        "env",
        "config",
    }


@pytest.mark.seed("W-52")
@pytest.mark.parametrize(
    ("platform", "eligible"), [("darwin", True), ("linux", True), ("win32", False)]
)
def test_a_skill_with_os_needs_the_current_platform_in_its_list(
    workspace: Workspace, platform: str, eligible: bool
) -> None:
    workspace.skill("project/skills/it", os="[darwin, linux]")
    skills = workspace.open(OPENCLAW)
    facts = workspace.facts(platform=platform)
    assert verdict(skills, "it", facts) == Verdict(os=() if eligible else ("darwin", "linux"))


@pytest.mark.seed("W-53", "W-54")
def test_all_bins_are_needed_and_one_of_any_bins(workspace: Workspace) -> None:
    workspace.skill("project/skills/it", requires="{bins: [a, b], anyBins: [x, y]}")
    skills = workspace.open(OPENCLAW)

    def missing(*bins: str) -> Verdict:
        return verdict(skills, "it", workspace.facts(bins=bins))

    assert missing("a", "b", "y") == Verdict()
    assert missing("a", "x", "y") == Verdict(bins=("b",))
    assert missing("a", "b") == Verdict(any_bins=("x", "y"))
    assert missing() == Verdict(bins=("a", "b"), any_bins=("x", "y"))


@pytest.mark.seed("W-55")
def test_every_variable_must_be_set_and_one_from_the_configuration_counts(
    workspace: Workspace,
) -> None:
    workspace.skill("project/skills/it", requires="{env: [A, B, C]}", primaryEnv="C")
    assert verdict(workspace.open(OPENCLAW, env={"A": "1", "B": " "}), "it") == Verdict(
        env=("B", "C")
    )
    workspace.write(
        CONFIG, json.dumps({"skills": {"entries": {"it": {"env": {"B": "1"}, "apiKey": "k"}}}})
    )
    assert verdict(workspace.open(OPENCLAW, env={"A": "1"}), "it") == Verdict()


@pytest.mark.seed("W-56")
def test_every_field_of_the_configuration_must_be_set_by_its_dotted_path(
    workspace: Workspace,
) -> None:
    workspace.skill("project/skills/it", requires="{config: [weather.apiKey, plain]}")
    workspace.write(CONFIG, '{"weather": {"apiKey": "k"}}')
    assert verdict(workspace.open(OPENCLAW), "it") == Verdict(config=("plain",))
    workspace.write(CONFIG, '{"weather": {"apiKey": "k"}, "plain": true}')
    assert verdict(workspace.open(OPENCLAW), "it") == Verdict()


@pytest.mark.seed("W-58")
def test_the_facts_of_a_remote_machine_decide_in_place_of_our_own(workspace: Workspace) -> None:
    workspace.skill(
        "project/skills/mac", os="[darwin]", requires="{bins: [osascript], anyBins: [rg, ag]}"
    )
    workspace.skill("project/skills/windows", os="[win32]")
    workspace.skill("project/skills/local", os="[linux]", requires="{bins: [curl]}")
    here = workspace.open(OPENCLAW, bins=["curl"])
    assert offered(here) == ["local"]
    remote = Facts(
        home=str(workspace.home),
        platform="darwin",
        platforms=("win32",),
        find_bin=frozenset(["osascript", "ag"]).__contains__,
        note="A Mac and a PC are connected.",
    )
    there = Skills(workspace.project, host=OPENCLAW, facts=remote, cache=False)
    assert offered(there) == ["mac", "windows"]
    assert (remote.has_bin("rg"), remote.has_any_bin(["rg", "ag"])) == (False, True)
    assert there.facts.note == "A Mac and a PC are connected."
    assert verdict(there, "local") == Verdict(os=("linux",), bins=("curl",))


@pytest.mark.seed("A-09")
def test_metadata_gates_loading(workspace: Workspace) -> None:
    workspace.skill(
        "project/skills/it",
        metadata='{"openclaw": {"requires": {"bins": ["uv"], "env": ["API_KEY"]}}}',
    )
    assert states(workspace.open(OPENCLAW, bins=["uv"])) == {"it": "ineligible"}
    assert states(workspace.open(OPENCLAW, bins=["uv"], env={"API_KEY": "k"})) == {"it": "ready"}


@pytest.mark.seed("W-08")
def test_the_skill_key_is_what_filters_and_overrides_name(workspace: Workspace) -> None:
    bundled = {"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")}
    workspace.skill("project/skills/needs", skillKey="k1", requires="{env: [A]}")
    workspace.skill("project/skills/off", skillKey="k2")
    workspace.skill("bundled/ours", skillKey="k3")
    workspace.skill("bundled/theirs", skillKey="k4")
    entries = {"k1": {"env": {"A": "1"}}, "k2": {"enabled": False}, "theirs": {"enabled": True}}
    workspace.write(CONFIG, json.dumps({"skills": {"allowBundled": ["k3"], "entries": entries}}))
    assert states(workspace.open(OPENCLAW, env=bundled)) == {
        "needs": "ready",
        "off": "disabled",
        "ours": "ready",
        "theirs": "disabled",
    }


@pytest.mark.seed("W-26")
def test_only_bundled_skills_are_held_against_the_allow_list(workspace: Workspace) -> None:
    bundled = {"OPENCLAW_BUNDLED_SKILLS_DIR": workspace.path("bundled")}
    for folder in (
        "bundled/listed",
        "bundled/other",
        "project/skills/mine",
        "home/.openclaw/skills/managed",
    ):
        workspace.skill(folder)
    workspace.write(CONFIG, '{"skills": {"allowBundled": ["listed"]}}')
    skills = workspace.open(OPENCLAW, env=bundled)
    assert offered(skills) == ["listed", "managed", "mine"]
    other = skills.snapshot.find("other")
    assert other is not None
    assert (other.state, other.rule) == (State.DISABLED, "allowed_bundled")


@pytest.mark.seed("W-44", "W-45", "W-46", "A-07", "A-08")
@pytest.mark.parametrize(
    ("fields", "state", "expected"),
    [
        ({}, "ready", Invocation()),
        ({"user_invocable": "true", "disable_model_invocation": "false"}, "ready", Invocation()),
        (
            {"user_invocable": "false"},
            "ready",
            Invocation(by_user=False, user_rule="user-invocable"),
        ),
        (
            {"disable_model_invocation": "true"},
            "hidden",
            Invocation(by_model=False, model_rule="disable-model-invocation"),
        ),
        (
            {"user_invocable": "false", "disable_model_invocation": "true"},
            "hidden",
            Invocation(False, False, "user-invocable", "disable-model-invocation"),
        ),
    ],
)
def test_two_fields_say_who_may_start_a_skill_in_openclaw(
    workspace: Workspace, fields: dict[str, str], state: str, expected: Invocation
) -> None:
    workspace.skill("project/skills/it", **fields)
    skills = workspace.open(OPENCLAW)
    assert (states(skills), invocation(skills, "it")) == ({"it": state}, expected)
    assert skills.get("it").content == "Body\n"


@pytest.mark.seed("C-11", "C-12")
@pytest.mark.parametrize(
    ("fields", "user", "model", "is_offered"),
    [
        ({}, True, True, True),
        ({"disable_model_invocation": "true"}, True, False, False),
        ({"user_invocable": "false"}, False, True, True),
    ],
)
def test_two_fields_say_who_may_start_a_skill_in_claude_code(
    workspace: Workspace, fields: dict[str, str], user: bool, model: bool, is_offered: bool
) -> None:
    workspace.skill("project/.claude/skills/it", **fields)
    skills = workspace.open(CLAUDE)
    who = invocation(skills, "it")
    assert (who.by_user, who.by_model, offered(skills) == ["it"]) == (user, model, is_offered)


@pytest.mark.seed("P-37")
def test_a_hidden_skill_is_loaded_and_can_be_asked_for_by_name(workspace: Workspace) -> None:
    workspace.skill("project/.omp/skills/it", hide="true")
    skills = workspace.open(OMP)
    outcome = skills.snapshot.find("it")
    assert outcome is not None
    assert (outcome.state, outcome.rule, offered(skills)) == (State.HIDDEN, "hide", [])
    assert skills.get("it").content == "Body\n"
    assert invocation(skills, "it") == Invocation()


@pytest.mark.seed("O-29", "O-30")
def test_the_stage_leaves_out_what_an_agent_is_denied(workspace: Workspace) -> None:
    for name in ("pdf", "deploy"):
        workspace.skill(f"project/.opencode/skills/{name}")
    config: dict[str, Any] = {
        "permission": {"skill": {"deploy": "deny"}},
        "agent": {"plan": {"tools": {"skill": False}}},
    }
    workspace.write("project/opencode.json", json.dumps(config))
    skills = workspace.open("opencode@documented")
    settings, profile, facts = skills.snapshot.settings, skills.profile, skills.facts

    def denied(agent: str | None) -> list[str]:
        rules = find_rules(settings, profile.permissions, facts, agent=agent)
        gate = SkillGate(profile.gate, facts=facts, settings=settings, permissions=rules)
        notes = {
            skill.name: gate.find_notes(skill.manifest, skill.name)
            for skill in (skills.get("pdf"), skills.get("deploy"))
        }
        return [
            name
            for name, found in notes.items()
            if [note.state for note in found] == [State.DENIED]
        ]

    assert (denied(None), denied("plan")) == (["deploy"], ["pdf", "deploy"])


def test_where_nothing_can_be_denied_no_rules_are_gathered(workspace: Workspace) -> None:
    skills = workspace.open("opencode@documented")
    settings, table = skills.settings(), skills.profile.permissions
    assert find_rules(settings, table, skills.facts) is None
    assert find_rules(settings, table, skills.facts, agent="build") is None
    assert find_rules(settings, table, skills.facts, agent="explore") is not None
    asked = workspace.facts(env={"OPENCODE_PERMISSION": '{"skill": "ask"}'})
    assert find_rules(settings, table, asked) is None
    denied = workspace.facts(env={"OPENCODE_PERMISSION": '{"skill": "deny"}'})
    assert find_rules(settings, table, denied) is not None
    strict = msgspec.structs.replace(table, base={"*": "deny"})
    assert find_rules(settings, strict, skills.facts) is not None
