"""Every recorded answer of a host's release, held against Prowess answering as that host."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prowess.gate.eligibility import judge
from prowess.model.catalog import Shown
from prowess.model.outcome import Outcome, State
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.ports import Event
from prowess.text.markup import escape_angles
from tests.conformance.trees import Tree, load_cases


def by_name(skills: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(skills, key=lambda skill: (skill["name"], skill.get("file", "")))


@pytest.mark.parametrize("case", load_cases("opencode"))
def test_prowess_lists_what_opencode_lists(case: dict[str, Any], tmp_path: Path) -> None:
    tree = Tree(case, tmp_path)
    shown = tree.open().snapshot.shown
    listed = [
        {
            "name": o.name,
            "description": o.skill.description,
            "file": tree.relative(o.candidate.location),
        }
        for o in shown
        if o.skill is not None
    ]
    # Which file has one of these names is left to chance.
    unstable = case["expect"]["unstable_names"]
    stable = [skill for skill in listed if skill["name"] not in unstable]
    recorded = [skill for skill in case["expect"]["skills"] if skill["name"] not in unstable]
    assert by_name(stable) == by_name(recorded)
    assert {skill["name"] for skill in listed} >= set(unstable)


@pytest.mark.parametrize(
    "case", [case for case in load_cases("opencode") if "agents" in case.values[0]["expect"]]
)
def test_prowess_offers_each_agent_the_skills_opencode_offers_it(
    case: dict[str, Any], tmp_path: Path
) -> None:
    tree = Tree(case, tmp_path)
    offered = {agent: _offer(tree, agent) for agent in case["expect"]["agents"]}
    # The release's order of names that only differ in their encoding is left to chance, too.
    assert {agent: _compose(names) for agent, names in offered.items()} == {
        agent: _compose(names) for agent, names in case["expect"]["agents"].items()
    }


def _offer(tree: Tree, agent: str) -> list[str] | None:
    """The skills in the catalog of an agent; None if it has no catalog at all."""
    catalog = tree.open(agent=agent).catalog(context_tokens=200_000)
    return [line.name for line in catalog.lines] if catalog.text else None


def _compose(names: list[str] | None) -> list[str] | None:
    return None if names is None else [unicodedata.normalize("NFC", name) for name in names]


@pytest.mark.parametrize("case", load_cases("opencode"))
def test_what_is_unsafe_in_opencode_keeps_our_own_answer(
    case: dict[str, Any], tmp_path: Path
) -> None:
    tree = Tree(case, tmp_path)
    states = {tree.relative(o.candidate.location): o.state for o in tree.open().snapshot.outcomes}
    unsafe = case.get("unsafe", {})
    assert {path: states[path] for path in unsafe} == dict.fromkeys(unsafe, State.INVALID)


@pytest.mark.parametrize("edition", ["current", "18.2.3"])
@pytest.mark.parametrize("case", load_cases("omp"))
def test_prowess_lists_what_omp_lists(case: dict[str, Any], edition: str, tmp_path: Path) -> None:
    tree = Tree(case, tmp_path)
    listed = [
        {
            "name": o.name,
            "description": o.skill.description,
            "file": tree.relative(o.candidate.location),
            "source": o.skill.source.label,
            "hide": o.state is State.HIDDEN,
        }
        for o in tree.open(edition=edition).snapshot.shown
        if o.skill is not None
    ]
    assert by_name(listed) == by_name(case["expect"]["skills"])


@pytest.mark.parametrize("case", load_cases("omp"))
def test_prowess_warns_of_the_collisions_omp_warns_of(case: dict[str, Any], tmp_path: Path) -> None:
    tree = Tree(case, tmp_path)
    events: list[Event] = []
    assert tree.open(events).snapshot is not None
    told = {
        (tree.relative(e.file), tree.relative(e.related or ""))
        for e in events
        if e.kind == "duplicate"
    }
    assert told == {
        (warning["path"], _winner(warning["message"])) for warning in case["expect"]["warnings"]
    }


def _winner(message: str) -> str:
    """The file that kept the name, out of the host's sentence."""
    return message.partition(" from $DIR/")[2].partition(",")[0]


# Hosts whose own list was recorded, one entry per file. What each entry tells beside name,
# description and file is a function of the outcome.
FIELDS_OF_LISTS: dict[str, Callable[[Outcome], Any]] = {
    "enabled": lambda outcome: outcome.state is not State.DISABLED,
    "source": lambda outcome: _get_skill(outcome).source.label,
    "scope": lambda outcome: _get_skill(outcome).scope.value,
    "level": lambda outcome: _get_skill(outcome).source.level,
    "hidden": lambda outcome: _get_skill(outcome).manifest.disable_model_invocation is True,
    "disableModelInvocation": lambda outcome: outcome.state is State.HIDDEN,
    "paths": lambda outcome: list(_get_skill(outcome).manifest.paths),
}
HOSTS_WITH_LISTS = ("gemini", "copilot", "pi", "qwen")


def _get_skill(outcome: Outcome) -> Skill:
    assert outcome.skill is not None
    return outcome.skill


def load_lists() -> list[Any]:
    return [
        pytest.param(*case.values, id=f"{host}-{case.id}")
        for host in HOSTS_WITH_LISTS
        for case in load_cases(host)
    ]


@pytest.mark.parametrize("case", load_lists())
def test_prowess_lists_what_the_host_lists(case: dict[str, Any], tmp_path: Path) -> None:
    tree = Tree(case, tmp_path)
    recorded = case["expect"]["skills"]
    fields = {"name", "description", "file"}.union(*recorded)
    listed = [_as_entry(tree, o, fields) for o in tree.open().snapshot.shown]
    assert by_name(listed) == by_name(
        [{"paths": [], **one} if "paths" in fields else one for one in recorded]
    )


def _as_entry(tree: Tree, outcome: Outcome, fields: set[str]) -> dict[str, Any]:
    further = fields & FIELDS_OF_LISTS.keys()
    return {
        "name": outcome.name,
        "description": _get_skill(outcome).description,
        "file": tree.relative(outcome.candidate.location),
    } | {field: FIELDS_OF_LISTS[field](outcome) for field in further}


@pytest.mark.parametrize(
    "case",
    [one for one in (*load_lists(), *load_cases("codex")) if "refused" in one.values[0]["expect"]],
)
def test_prowess_refuses_the_files_that_the_host_reports(
    case: dict[str, Any], tmp_path: Path
) -> None:
    tree = Tree(case, tmp_path)
    recorded = case["expect"]["refused"]
    outcomes = tree.open().snapshot.outcomes
    # pi also reports the files that lost their name, and says nothing of a folder named SKILL.md.
    is_pi = case["host"] == "pi"
    states = (State.INVALID, State.SHADOWED) if is_pi else (State.INVALID,)
    refused = [
        tree.relative(outcome.candidate.location)
        for outcome in outcomes
        if outcome.state in states and not (is_pi and outcome.rule == "not-a-file")
    ]
    assert sorted(refused) == sorted(recorded)


@pytest.mark.parametrize("case", load_cases("codex"))
def test_prowess_lists_what_codex_lists(case: dict[str, Any], tmp_path: Path) -> None:
    tree = Tree(case, tmp_path)
    shown = tree.open().snapshot.shown
    recorded = [_without_empty(skill) for skill in case["expect"]["skills"]]
    assert by_name([_as_codex(tree, outcome) for outcome in shown]) == by_name(recorded)


def _as_codex(tree: Tree, outcome: Outcome) -> dict[str, Any]:
    skill = _get_skill(outcome)
    companion = dict(skill.companion)
    interface = companion.pop("interface", {})
    icons = {
        name: tree.relative(path) if name.startswith("icon") else path
        for name, path in interface.items()
    }
    return _without_empty(
        {
            "name": outcome.name,
            "description": skill.description,
            "file": tree.relative(outcome.candidate.location),
            "scope": skill.source.level,
            "enabled": outcome.state is not State.DISABLED,
            "shortDescription": skill.manifest.metadata.get("short-description"),
            "interface": icons,
            **companion,
        }
    )


def _without_empty(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry without what has no value, also inside."""
    inner = {
        key: _without_empty(value) if isinstance(value, dict) else value
        for key, value in entry.items()
    }
    return {key: value for key, value in inner.items() if value not in (None, {})}


@pytest.mark.parametrize("case", load_cases("codex", with_key="listing"))
def test_prowess_shows_the_lines_codex_shows_in_its_order(
    case: dict[str, Any], tmp_path: Path
) -> None:
    tree = Tree(case, tmp_path)
    text = tree.open().catalog(context_tokens=272_000).text
    aliases = dict(re.findall(r"^- `(r\d+)` = `(.+)`$", text, re.MULTILINE))
    lines = re.findall(r"^- (.+) \(file: (r\d+|)(.+)\)$", text, re.MULTILINE)
    assert [
        f"{line} | {tree.relative(aliases.get(alias, '') + path)}" for line, alias, path in lines
    ] == case["expect"]["listing"]


@pytest.mark.parametrize("case", load_cases("openclaw"))
def test_prowess_lists_what_openclaw_lists(case: dict[str, Any], tmp_path: Path) -> None:
    tree = Tree(case, tmp_path)
    skills = tree.open()
    snapshot = skills.snapshot
    listed = [_as_openclaw(tree, snapshot, outcome) for outcome in snapshot.shown]
    # The first cases were recorded without some of the keys.
    recorded = {key for skill in case["expect"]["skills"] for key in skill}
    listed = [{key: one[key] for key in one if key in recorded} for one in listed]
    assert by_name(listed) == by_name(case["expect"]["skills"])


def _as_openclaw(tree: Tree, snapshot: Snapshot, outcome: Outcome) -> dict[str, Any]:
    assert outcome.skill is not None
    manifest = outcome.skill.manifest
    rules = tree.open().profile.gate
    verdict = judge(
        manifest, name=outcome.name, rules=rules, facts=tree.facts(), settings=snapshot.settings
    )
    blocked = outcome.rule == "allowed_bundled"
    unlisted = "agent_skills" in (outcome.rule, *(note.rule for note in outcome.notes))
    eligible = outcome.state not in (State.INELIGIBLE, State.DISABLED)
    user_invocable = manifest.user_invocable is not False
    return {
        "name": outcome.name,
        "description": outcome.skill.description,
        "source": outcome.skill.source.label,
        "skillKey": manifest.skill_key or outcome.name,
        "eligible": eligible,
        "disabled": outcome.state is State.DISABLED and not blocked,
        "blockedByAllowlist": blocked,
        "blockedByAgentFilter": unlisted,
        "modelVisible": outcome.state is State.READY,
        "userInvocable": user_invocable,
        "commandVisible": eligible and user_invocable and not unlisted,
        "missing": {
            "bins": list(verdict.bins),
            "anyBins": list(verdict.any_bins),
            "env": list(verdict.env),
            "config": list(verdict.config),
            "os": list(verdict.os),
        },
        "file": tree.relative(outcome.candidate.location),
    }


@pytest.mark.parametrize("case", load_cases("openclaw"))
def test_prowess_offers_the_skills_openclaw_offers_in_its_order(
    case: dict[str, Any], tmp_path: Path
) -> None:
    catalog = Tree(case, tmp_path).open().catalog(context_tokens=200_000)
    offered = [line.name for line in catalog.lines if line.shown is not Shown.LEFT_OUT]
    assert offered == case["expect"]["prompt_skills"]


@pytest.mark.parametrize("case", load_cases("claude-code"))
def test_prowess_shows_the_lines_claude_code_shows_in_its_order(
    case: dict[str, Any], tmp_path: Path
) -> None:
    catalog = Tree(case, tmp_path).open().catalog(context_tokens=200_000)
    _, _, lines = catalog.text.partition("\n\n")
    shown = lines.split("\n") if lines else []
    assert shown == [f"- {line}" for line in case["expect"]["listing"]]


@pytest.mark.parametrize("case", load_cases("claude-code"))
def test_prowess_sees_the_skills_claude_code_lists(case: dict[str, Any], tmp_path: Path) -> None:
    """The skills behind the lines of the catalog."""
    skills = Tree(case, tmp_path).open()
    labels = {skill.name: skill.label for skill in skills.snapshot.skills}
    catalog = skills.catalog(context_tokens=200_000)
    listed = [
        (f"{line.name} ({labels[line.name]})" if labels[line.name] else line.name, line.text)
        for line in catalog.lines
    ]
    assert sorted((name, escape_angles(text)) for name, text in listed) == sorted(
        (skill["name"], skill["description"] or "") for skill in case["expect"]["skills"]
    )


@pytest.mark.parametrize("case", load_cases("claude-code", with_key="slash_commands"))
def test_users_can_type_the_commands_that_claude_code_has(
    case: dict[str, Any], tmp_path: Path
) -> None:
    skills = Tree(case, tmp_path).open()
    typable = {command.name for command in skills.commands() if command.user_invocable}
    own = set(skills.profile.resolution.reserved_labels) - typable
    assert typable == set(case["expect"]["slash_commands"]) - own
