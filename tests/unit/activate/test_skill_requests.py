"""What a skill asks of its agent, as each host heeds it."""

from __future__ import annotations

import pytest

from prowess.activate.skill_requests import read_requests
from prowess.model.activation import SkillRequests
from prowess.model.hooks import Hook
from prowess.model.skill import Manifest
from prowess.profiles.load import load_profile
from prowess.text.hooks import list_hooks, matches_hook
from tests.workspace import Workspace


def ask(host: str = "prowess", **fields) -> SkillRequests:
    found, diagnostics = read_requests(Manifest(**fields), load_profile(host).requests)
    assert diagnostics == ()
    return found


def told(host: str = "prowess", **fields) -> tuple[SkillRequests, list[str]]:
    found, diagnostics = read_requests(
        Manifest(**fields), load_profile(host).requests, file="/s/SKILL.md"
    )
    assert {diagnostic.file for diagnostic in diagnostics} <= {"/s/SKILL.md"}
    return found, [f"{diagnostic.field}: {diagnostic.message}" for diagnostic in diagnostics]


def test_a_header_that_asks_for_nothing_gives_the_empty_value():
    assert ask() == SkillRequests()


@pytest.mark.seed("C-09", "C-10", "C-15", "C-16")
def test_every_field_is_one_value():
    hooks = {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "check", "once": True}]}
        ]
    }
    assert ask(
        model="sonnet",
        effort="xhigh",
        context="fork",
        background=True,
        agent="Explore",
        allowed_tools=("Read", "Bash(git *)"),
        disallowed_tools=("Write",),
        hooks=hooks,
    ) == SkillRequests(
        model="sonnet",
        effort="xhigh",
        fork=True,
        background=True,
        agent="Explore",
        allowed_tools=("Read", "Bash(git *)"),
        disallowed_tools=("Write",),
        hooks=hooks,
    )


@pytest.mark.parametrize("model", ["inherit", "", "  ", None])
def test_a_model_that_is_inherited_is_not_asked_for(model):
    assert ask(model=model).model is None


@pytest.mark.seed("C-76")
@pytest.mark.parametrize("context", ["inline", None])
def test_a_skill_expands_into_the_conversation_unless_it_asks_for_a_fork(context):
    assert ask("claude-code@documented", context=context).fork is False
    assert ask("claude-code@documented", context="fork").fork is True


@pytest.mark.parametrize(
    ("host", "expected"),
    [("prowess", False), ("claude-code", True), ("claude-code@documented", False), ("omp", None)],
)
def test_where_a_fork_runs_is_the_hosts_default_unless_the_header_says(host, expected):
    assert ask(host, context="fork").background is expected
    if host in ("prowess", "claude-code"):
        assert ask(host, context="fork", background=not expected).background is not expected


def test_the_document_of_claude_code_knows_numbers_as_effort_and_its_release_knows_another_word():
    assert ask("claude-code@documented", effort=7).effort == 7
    assert ask("claude-code", effort="xhigh").effort == "xhigh"
    assert told("claude-code", effort=7) == (
        SkillRequests(),
        ["effort: `effort` is “7”; use low, medium, high, xhigh, max."],
    )
    assert told("claude-code@documented", effort="xhigh") == (
        SkillRequests(),
        ["effort: `effort` is “xhigh”; use low, medium, high, max or a number."],
    )


def test_what_only_a_fork_can_have_is_reported_without_one():
    assert told(background=True, agent="Explore") == (
        SkillRequests(),
        [
            "background: `background` has no effect without `context: fork`.",
            "agent: `agent` has no effect without `context: fork`.",
        ],
    )


@pytest.mark.parametrize("host", ["omp", "opencode", "openclaw", "spec"])
def test_a_host_whose_skills_only_instruct_heeds_none_of_it(host):
    asked = ask(
        host,
        model="m",
        effort="max",
        context="fork",
        agent="a",
        allowed_tools=("x",),
        hooks={"x": "broken"},
    )
    assert asked == SkillRequests()


def test_a_real_header_is_read(workspace: Workspace):
    header = (
        "---\ndescription: d\nmodel: haiku\neffort: max\ncontext: fork\nallowed-tools: Read, Grep\nhooks:\n"
        "  Stop:\n    - hooks:\n        - type: command\n          command: ./done.sh\n---\n"
    )
    workspace.write("home/.claude/skills/x/SKILL.md", header)
    skills = workspace.open("claude-code")
    asked, found = read_requests(skills.get("x").manifest, skills.profile.requests)
    assert found == ()
    assert asked == SkillRequests(
        model="haiku",
        effort="max",
        fork=True,
        background=True,
        allowed_tools=("Read", "Grep"),
        hooks={"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "./done.sh"}]}]},
    )


def test_variables_in_the_names_of_tools_are_filled():
    manifest = Manifest(
        allowed_tools=("Bash(${DIR}/run *)", "Read"), disallowed_tools=("Edit(${DIR}/**)",)
    )
    asked, _ = read_requests(
        manifest,
        load_profile("claude-code").requests,
        expand=lambda text: text.replace("${DIR}", "/s"),
    )
    assert asked == SkillRequests(
        allowed_tools=("Bash(/s/run *)", "Read"), disallowed_tools=("Edit(/s/**)",)
    )


# Hooks


def group(*hooks, **fields):
    return {"hooks": list(hooks), **fields}


RUN = {"type": "command", "command": "run"}


@pytest.mark.seed("C-14")
def test_hooks_are_listed_with_their_event_their_matcher_and_whether_once():
    hooks = {
        "PreToolUse": [
            group({**RUN, "once": True}, matcher="Bash|Edit"),
            group({"type": "prompt", "prompt": "p"}),
        ],
        "Stop": [group({**RUN, "timeout": 5})],
    }
    asked = ask("claude-code@documented", hooks=hooks)
    assert list_hooks(asked.hooks) == (
        Hook(
            event="PreToolUse",
            matcher="Bash|Edit",
            kind="command",
            command="run",
            once=True,
            source="skill",
        ),
        Hook(event="PreToolUse", matcher="", kind="prompt", source="skill"),
        Hook(event="Stop", matcher="", kind="command", command="run", timeout=5, source="skill"),
    )


@pytest.mark.parametrize(
    ("matcher", "matched"),
    [
        ("", {"Bash", "Edit", "mcp__x__y"}),
        ("*", {"Bash", "Edit", "mcp__x__y"}),
        (".*", {"Bash", "Edit", "mcp__x__y"}),
        ("Bash", {"Bash"}),
        ("Bash|Edit", {"Bash", "Edit"}),
        ("^(Bash|mcp__.*)$", {"Bash", "mcp__x__y"}),
        ("Ba", set()),
    ],
)
def test_a_matcher_is_names_with_wildcards(matcher, matched):
    (hook,) = list_hooks(ask(hooks={"PreToolUse": [group(RUN, matcher=matcher)]}).hooks)
    assert {tool for tool in ("Bash", "Edit", "mcp__x__y") if matches_hook(hook, tool)} == matched


def test_a_matcher_cannot_take_forever():
    (hook,) = list_hooks(ask(hooks={"PreToolUse": [group(RUN, matcher="*a" * 200 + "b")]}).hooks)
    assert matches_hook(hook, "a" * 5_000) is False
    assert told(hooks={"PreToolUse": [group(RUN, matcher="(a+)+$")]})[1] == [
        "hooks.PreToolUse[0].matcher: `hooks.PreToolUse[0].matcher` must be names of tools, separated by "
        "`|`, with `*` as a wildcard."
    ]


@pytest.mark.parametrize(
    ("hooks", "problem"),
    [
        (
            {"Stop": RUN},
            "hooks.Stop: `hooks.Stop` must be a list of groups, each with `hooks` and an optional `matcher`.",
        ),
        (
            {"Stop": [RUN]},
            "hooks.Stop[0]: `hooks.Stop[0]` must be a mapping with a list of `hooks`.",
        ),
        (
            {"Stop": ["x"]},
            "hooks.Stop[0]: `hooks.Stop[0]` must be a mapping with a list of `hooks`.",
        ),
        (
            {"Stop": [group("x")]},
            "hooks.Stop[0].hooks[0].type: `hooks.Stop[0].hooks[0].type` must be command, prompt.",
        ),
        (
            {"Stop": [group({"type": "command"})]},
            "hooks.Stop[0].hooks[0].command: `hooks.Stop[0].hooks[0].command` must be the command to run.",
        ),
        (
            {"Stop": [group({**RUN, "once": "yes"})]},
            "hooks.Stop[0].hooks[0].once: `hooks.Stop[0].hooks[0].once` must be true or false.",
        ),
        (
            {"Stop": [group(RUN, matcher=7)]},
            "hooks.Stop[0].matcher: `hooks.Stop[0].matcher` must be names of tools, separated by `|`, with `*` as a wildcard.",
        ),
    ],
)
def test_hooks_of_another_shape_are_left_out_and_reported(hooks, problem):
    assert told(hooks=hooks) == (SkillRequests(), [problem])
    kept, _ = told(hooks={**hooks, "Other": [group(RUN)]})
    assert kept.hooks == {"Other": [{"matcher": "", "hooks": [RUN]}]}


def test_an_event_that_the_host_does_not_have_is_reported_and_kept():
    asked, found = told("claude-code", hooks={"PreToolUsed": [group(RUN)]})
    assert asked.hooks == {"PreToolUsed": [{"matcher": "", "hooks": [RUN]}]}
    assert found == [
        "hooks.PreToolUsed: `hooks.PreToolUsed` is not an event of this host; did you mean `PreToolUse`?"
    ]
