"""Hooks: real commands that run at events, and may block, add context or change the input."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest
from pydantic_ai.messages import UserPromptPart

from prowess.activate.slash.messages import Delivery, Key
from prowess.agent.events import (
    Event,
    HookFinished,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    Warned,
)
from prowess.agent.hooks.process import HookPlace, HookProcess
from prowess.agent.session_file import SavedSession, load_session
from prowess.errors import UsageError
from prowess.machine.processes import ProcessRunner
from prowess.model.hooks import Hook
from prowess.model.permission import ApprovalChoice
from prowess.model.sandbox import SandboxSettings
from prowess.state.trust import TrustFile
from tests.agent.studio import SLOW, Asked, Studio, call, pick, say
from tests.agent.test_session import Seen

OWN = "home/.config/prowess/prowess.toml"


def declare(event: str, command: str, **fields: Any) -> str:
    """A hook as prowess.toml has it."""
    table = {"event": event, "command": command, **fields}
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    return "\n".join(("[[hooks]]", *lines, ""))


def set_hooks(studio: Studio, *hooks: str, file: str = OWN) -> None:
    studio.workspace.write(file, "\n".join(hooks))


def hook(studio: Studio, event: str, command: str, **fields: Any) -> None:
    """A hook in the user's own settings."""
    set_hooks(studio, declare(event, command, **fields))


def print_json(**output: Any) -> str:
    """A command that prints JSON."""
    return f"cat <<'END'\n{json.dumps(output)}\nEND"


def decide(decision: str, reason: str = "", **more: Any) -> str:
    """A command that decides about a call."""
    specific = {"hookEventName": "PreToolUse", "permissionDecision": decision, **more}
    return print_json(hookSpecificOutput={**specific, "permissionDecisionReason": reason})


def list_outcomes(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(one.hook, one.outcome, one.message) for one in pick(events, HookFinished)]


# What a hook is told


def test_a_hook_gets_the_call_as_json_on_stdin(studio):
    hook(studio, "PreToolUse", "cat > seen.json; env > env.txt", matcher="Bash")
    session = studio.open(call("Bash", command="echo hi"), say("Done."), rules={"allow": ["Bash"]})
    session.run("go")
    told = json.loads(studio.read("seen.json"))
    transcript = told.pop("transcript_path")
    assert session.id in transcript
    assert told == {
        "session_id": session.id,
        "cwd": str(studio.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "echo hi", "timeout_seconds": 120.0},
        "tool_use_id": told["tool_use_id"],
    }
    env = dict(line.split("=", 1) for line in studio.read("env.txt").splitlines() if "=" in line)
    assert env["CLAUDE_PROJECT_DIR"] == str(studio.project)
    assert env["PROWESS_PROJECT_DIR"] == str(studio.project)


def test_a_hook_gets_no_secrets_of_the_environment(studio, monkeypatch):
    facts = studio.facts
    env = {**facts.env, "ANTHROPIC_API_KEY": "sk-1"}
    changed = msgspec.structs.replace(facts, env=env)
    monkeypatch.setattr(Studio, "facts", property(lambda self: changed))
    hook(studio, "SessionStart", "env > env.txt")
    studio.run(say("Done."))
    assert "PATH=" in studio.read("env.txt")
    assert "sk-1" not in studio.read("env.txt")


def test_a_hook_sees_text_that_is_no_valid_unicode(studio):
    place = HookPlace(session="s", cwd=str(studio.project), project=str(studio.project))
    runner = ProcessRunner(studio.facts)
    process = HookProcess(place, studio.facts, runner, runner, get_sandbox=SandboxSettings)
    script = "python3 -c 'import json, sys; json.load(sys.stdin); sys.exit(2)'"
    fields = {"tool_input": {"file_path": "\ud800.txt"}}
    reply = process.run(Hook(event="PreToolUse", command=script), fields, lambda: False)
    assert reply.decision == "deny"


def test_every_event_has_its_own_fields(studio):
    studio.write("a.txt", "A\n")
    script = (
        "python3 -c 'import json, sys; d = json.load(sys.stdin);"
        ' [d.pop(k, 0) for k in ("session_id", "transcript_path", "cwd", "tool_use_id")];'
        ' print(json.dumps(d), file=open("seen.jsonl", "a"))\''
    )
    events = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
    set_hooks(studio, *(declare(event, script) for event in events))
    ended, _ = studio.run(call("Read", file_path="a.txt"), say("Done."), text="go")
    assert ended.status == "done"
    assert [json.loads(line) for line in studio.read("seen.jsonl").splitlines()] == [
        {"hook_event_name": "SessionStart", "source": "startup"},
        {"hook_event_name": "UserPromptSubmit", "prompt": "go"},
        {
            "hook_event_name": "PreToolUse",
            "tool_name": "Read",
            "tool_input": {"file_path": "a.txt", "offset": 1, "limit": 2000},
        },
        {
            "hook_event_name": "PostToolUse",
            "tool_name": "Read",
            "tool_input": {"file_path": "a.txt", "offset": 1, "limit": 2000},
            "tool_response": {"success": True, "output": "     1\tA"},
        },
        {
            "hook_event_name": "Stop",
            "stop_hook_active": False,
            "last_assistant_message": "Done.",
        },
    ]


# Before a call


@pytest.mark.parametrize(
    "command",
    [
        "echo not today >&2; exit 2",
        decide("deny", "not today"),
        print_json(decision="block", reason="not today"),
        print_json(
            decision="block",
            reason="not today",
            hookSpecificOutput={
                "permissionDecision": "allow",
                "permissionDecisionReason": "fine",
            },
        ),
        print_json(
            decision="approve",
            hookSpecificOutput={
                "permissionDecision": "deny",
                "permissionDecisionReason": "not today",
            },
        ),
        # Null is as good as absent.
        print_json(decision="block", reason="not today", systemMessage=None),
        print_json(decision="block", reason="not today", hookSpecificOutput=None),
        decide("deny", "not today", additionalContext=None, updatedInput=None),
        # A refusal counts whatever is wrong with the other fields.
        print_json(decision="block", reason="not today", systemMessage=7),
        print_json(decision="block", reason="not today", hookSpecificOutput=[]),
        decide("deny", "not today", additionalContext=["x"], updatedInput="y"),
    ],
)
def test_a_hook_refuses_a_call_and_the_model_learns_why(studio, command):
    hook(studio, "PreToolUse", command, matcher="Write")
    ended, events = studio.run(
        call("Write", file_path="a.txt", content="x"),
        {**say("Understood."), "expect": ["A hook refused the call: not today"]},
        rules={"allow": ["Write"]},
    )
    (finished,) = pick(events, ToolFinished)
    assert (finished.outcome, ended.status) == ("refused", "done")
    assert list_outcomes(events) == [("PreToolUse", "blocked", "not today")]
    assert not (studio.project / "a.txt").exists()


def test_a_matcher_leaves_other_tools_alone(studio):
    studio.write("a.txt", "A\n")
    hook(studio, "PreToolUse", "exit 2", matcher="Write|Edit")
    assert studio.use("Read", file_path="a.txt").outcome == "done"


def test_a_hook_permits_what_would_be_asked_about(studio):
    hook(studio, "PreToolUse", decide("allow"), matcher="Write")
    assert studio.use("Write", file_path="a.txt", content="x").outcome == "done"


@pytest.mark.parametrize("rules", [{"deny": ["Write"]}, {"ask": ["Write"]}])
def test_a_hook_cannot_permit_what_a_rule_denies_or_asks_about(studio, rules):
    hook(studio, "PreToolUse", decide("allow"), matcher="Write")
    assert studio.use("Write", rules=rules, file_path="a.txt", content="x").outcome == "refused"


@pytest.mark.parametrize(
    ("path", "said"), [("../outside.txt", "outside the project"), (".git/config", ".git")]
)
def test_a_hook_cannot_open_what_needs_a_rule(studio, path, said):
    hook(studio, "PreToolUse", decide("allow"), matcher="Write")
    done = studio.use("Write", file_path=path, content="x")
    assert (done.outcome, said in done.output) == ("refused", True)


def test_a_hook_has_a_person_asked_about_what_a_rule_allows(studio):
    hook(studio, "PreToolUse", decide("ask", "it is Friday"), matcher="Write")
    asked = Asked(ApprovalChoice.REJECT)
    input: Any = {"file_path": "a.txt", "content": "x"}
    allow = {"allow": ["Write"]}
    done = studio.use("Write", rules=allow, options={"approver": asked}, **input)
    assert done.outcome == "refused"
    assert "it is Friday" in (asked.requests[0].note or "")
    assert studio.use("Write", rules=allow, options={"approver": Asked()}, **input).outcome == (
        "done"
    )
    assert studio.use("Write", rules=allow, **input).outcome == "refused"


def test_a_hook_has_a_person_asked_about_a_skill(studio):
    studio.skill("greet")
    hook(studio, "PreToolUse", decide("ask"), matcher="Skill")
    assert studio.use("skill", name="greet").outcome == "refused"
    asked = Asked()
    assert studio.use("skill", options={"approver": asked}, name="greet").outcome == "done"
    assert len(asked.requests) == 1


def test_the_strictest_of_several_hooks_decides(studio):
    set_hooks(
        studio,
        declare("PreToolUse", decide("allow")),
        declare("PreToolUse", decide("deny", "no")),
        declare("PreToolUse", decide("ask")),
    )
    done = studio.use("Write", file_path="a.txt", content="x")
    assert done.output == "A hook refused the call: no"


# Changed input


def change(**input: Any) -> str:
    return print_json(hookSpecificOutput={"hookEventName": "PreToolUse", "updatedInput": input})


def test_a_hook_changes_the_input_and_everything_sees_the_new_one(studio):
    hook(studio, "PreToolUse", change(file_path="b.txt", content="B\n"), matcher="Write")
    _, events = studio.run(
        call("Write", file_path="a.txt", content="A\n"), say("Done."), rules={"allow": ["Write"]}
    )
    (started,) = pick(events, ToolStarted)
    assert (started.title, started.input) == (
        "Write b.txt",
        {"file_path": "b.txt", "content": "B\n"},
    )
    assert studio.read("b.txt") == "B\n"
    assert not (studio.project / "a.txt").exists()


def test_changed_input_is_judged_by_the_rules(studio):
    hook(studio, "PreToolUse", change(command="rm -rf src"), matcher="Bash")
    done = studio.use("Bash", rules={"allow": ["Bash(ls *)"]}, command="ls x")
    assert done.outcome == "refused"
    done = studio.use("Bash", rules={"allow": ["Bash"], "deny": ["Bash(rm *)"]}, command="ls x")
    assert "deny: Bash(rm *)" in done.output


@pytest.mark.parametrize("input", [{"file_path": 7, "content": "x"}, {"path": "a.txt"}, {}])
def test_changed_input_that_the_tool_does_not_take_is_refused(studio, input):
    hook(studio, "PreToolUse", change(**input), matcher="Write")
    done = studio.use("Write", rules={"allow": ["Write"]}, file_path="a.txt", content="x")
    assert done.outcome == "failed"
    assert "A hook changed the input to one that the tool does not accept" in done.output
    assert not (studio.project / "a.txt").exists()


def change_in_project(studio: Studio, **input: Any) -> None:
    """A hook of a trusted project that changes the input of commands."""
    text = declare("PreToolUse", change(**input), matcher="Bash")
    set_hooks(studio, text, file="project/prowess.toml")
    studio.trust()


# Allows `ls`, refuses what has `touch`, and leaves the rest to the rules.
GUARD = f"""
input=$(cat)
case "$input" in
  *touch*) echo no touch >&2; exit 2 ;;
  *'"ls'*) {decide("allow")}
esac
"""


@pytest.mark.parametrize(
    ("command", "outcome"),
    [("touch ran", "refused"), ("pwd > ran", "refused"), ("ls > ran", "done")],
)
def test_the_users_hooks_judge_what_a_project_made_of_the_input(studio, command, outcome):
    change_in_project(studio, command=command)
    hook(studio, "PreToolUse", GUARD, matcher="Bash", once=True)
    done = studio.use("Bash", command="ls")
    assert (done.outcome, (studio.project / "ran").exists()) == (outcome, outcome == "done")
    assert ("no touch" in done.output) == ("touch" in command)


def test_a_refusal_of_the_users_hook_holds_whatever_the_input_becomes(studio):
    change_in_project(studio, command="ls > ran")
    hook(studio, "PreToolUse", GUARD, matcher="Bash")
    assert studio.use("Bash", command="touch x").output == "A hook refused the call: no touch"


@pytest.mark.parametrize("allows_own", [True, False])
def test_a_hook_permits_its_own_change_but_not_that_of_another(studio, allows_own):
    input = {"file_path": "b.txt", "content": "B"}
    if allows_own:
        hook(studio, "PreToolUse", decide("allow", updatedInput=input))
    else:
        changing = declare("PreToolUse", change(**input))
        set_hooks(studio, declare("PreToolUse", decide("allow")), changing)
    done = studio.use("Write", file_path="a.txt", content="A")
    assert done.outcome == ("done" if allows_own else "refused")


# After a call


def test_a_hook_comments_on_a_call_that_was_done(studio):
    set_hooks(
        studio,
        declare("PostToolUse", "echo the style is off >&2; exit 2", matcher="Write"),
        declare(
            "PostToolUse",
            print_json(
                hookSpecificOutput={
                    "hookEventName": "PostToolUse",
                    "additionalContext": "2 < 3 files were changed",
                }
            ),
        ),
    )
    expected = ["A hook objects to this: the style is off", "2 &lt; 3 files were changed"]
    ended, _ = studio.run(
        call("Write", file_path="a.txt", content="x"),
        {**say("Understood."), "expect": expected},
        rules={"allow": ["Write"]},
    )
    assert ended.answer == "Understood."
    assert studio.read("a.txt") == "x"


def test_a_hook_after_a_call_does_not_run_for_one_that_failed(studio):
    hook(studio, "PostToolUse", "touch ran")
    assert studio.use("Read", file_path="missing.txt").outcome == "failed"
    assert not (studio.project / "ran").exists()


def test_a_comment_on_a_skill_reaches_the_model(studio):
    studio.skill("greet", allowed_tools="Read")
    hook(studio, "PostToolUse", "echo mind the gap >&2; exit 2", matcher="Skill")
    ended, _ = studio.run(
        call("skill", name="greet"), {**say("Yes."), "expect": ["mind the gap", "Do it."]}
    )
    assert ended.status == "done"


# Prompts and the beginning


def get_prompt(seen: Seen) -> str:
    """What the model got first."""
    part = seen.messages[0][0].parts[-1]
    assert isinstance(part, UserPromptPart)
    return str(part.content)


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
@pytest.mark.parametrize(
    "make",
    [
        lambda event: "echo It is high tide.",
        lambda event: print_json(
            hookSpecificOutput={"hookEventName": event, "additionalContext": "It is high tide."}
        ),
    ],
)
def test_a_hook_adds_context_to_the_prompt(studio, event, make):
    hook(studio, event, make(event))
    seen = Seen()
    studio.open(model=seen.model).run("hello")
    assert get_prompt(seen) == (
        f'hello\n\n<hook_context event="{event}">\nIt is high tide.\n</hook_context>'
    )


def test_the_beginning_of_a_session_is_there_once_and_again_when_it_goes_on(studio):
    set_hooks(
        studio,
        declare("SessionStart", "echo begun", matcher="startup"),
        declare("SessionStart", "echo resumed", matcher="resume"),
    )
    seen = Seen()
    session = studio.open(model=seen.model)
    session.run("one")
    session.run("two")
    assert str(seen.messages[-1]).count("begun") == 1
    session.close()
    saved = load_session(studio.facts, session.id)
    studio.open(model=seen.model, resume=saved).run("three")
    assert str(seen.messages[-1]).count("resumed") == 1


def test_a_hook_refuses_a_prompt_and_no_model_sees_it(studio):
    hook(studio, "UserPromptSubmit", "grep -q secret && { echo no secrets >&2; exit 2; }; exit 0")
    seen = Seen()
    session = studio.open(model=seen.model)
    ended = session.run("the secret is 7")
    assert (ended.status, ended.reason, ended.requests) == (
        "refused",
        "a hook refused the prompt: no secrets",
        0,
    )
    assert session.run("hello").status == "done"
    assert "the secret" not in str(seen.messages)


def test_what_is_typed_while_the_model_works_passes_the_hooks_too(studio):
    hook(studio, "UserPromptSubmit", "grep -q secret && exit 2; echo noted")
    session = studio.open(
        SLOW,
        {**say("Done."), "expect": ["turn left", "noted"]},
        rules={"allow": ["Bash"]},
    )
    deliveries = []

    async def run() -> list[Event]:
        events = []
        async for event in session.send("begin"):
            events.append(event)
            if isinstance(event, ToolStarted):
                with pytest.raises(UsageError, match="A hook refused the prompt"):
                    await session.queue("a secret")
                deliveries.append(await session.queue("turn left", key=Key.SEND))
                studio.let_go()
        return events

    events = asyncio.run(run())
    assert (deliveries, pick(events, TurnEnded)[0].status) == ([Delivery.STEER], "done")


# The end


def test_a_hook_makes_the_agent_go_on(studio):
    script = (
        "python3 -c 'import json, sys; sys.exit(0 if json.load(sys.stdin)"
        '["stop_hook_active"] else (print("run the tests", file=sys.stderr), 2)[1])\''
    )
    hook(studio, "Stop", script)
    ended, events = studio.run(
        say("Done."), {**say("The tests pass."), "expect": ["cannot stop yet: run the tests"]}
    )
    assert (ended.status, ended.answer, ended.requests) == ("done", "The tests pass.", 2)
    assert [one.outcome for one in pick(events, HookFinished)] == ["blocked", "done"]


def test_a_hook_that_never_lets_go_is_bounded(studio):
    hook(studio, "Stop", "exit 2")
    ended, events = studio.run(*(say(str(number)) for number in range(10)))
    assert (ended.status, ended.answer) == ("done", "5")
    assert [one.code for one in pick(events, Warned)] == ["hook-loop"]


def test_a_hook_ends_the_turn(studio):
    studio.write("a.txt", "A\n")
    hook(studio, "PostToolUse", print_json(**{"continue": False, "stopReason": "out of hours"}))
    ended, _ = studio.run(call("Read", file_path="a.txt"), say("never"))
    assert (ended.status, ended.reason) == ("refused", "a hook stopped the turn: out of hours")


# Trouble


@pytest.mark.parametrize(
    ("command", "fields", "said"),
    [
        ("echo broken >&2; exit 1", {}, "it ended with exit code 1: broken"),
        ("no-such-program-anywhere", {}, "it ended with exit code 127: "),
        ("sleep 600", {"timeout": 0.3}, "it was stopped after 0.3 seconds"),
        ("sleep 600 & sleep 600", {"timeout": 0.3}, "it was stopped after 0.3 seconds"),
        ("kill -9 $$", {}, "it ended with exit code -9"),
        ("echo '{\"decision\": '", {}, "its JSON cannot be read: "),
        ('echo \'{"decision": "maybe"}\'', {}, "its JSON cannot be read: "),
        ("echo '{\"hookSpecificOutput\": []}'", {}, "its JSON cannot be read: "),
        ("printf '{'; head -c 3000000 /dev/zero", {}, "it printed more than 100,000 bytes"),
        ("yes", {"timeout": 0.3}, "it was stopped after 0.3 seconds"),
    ],
)
def test_a_hook_that_fails_is_shown_and_changes_nothing(studio, command, fields, said):
    studio.write("a.txt", "A\n")
    hook(studio, "PreToolUse", command, **fields)
    ended, events = studio.run(call("Read", file_path="a.txt"), say("Done."))
    assert ended.status == "done"
    assert [one.outcome for one in pick(events, ToolFinished)] == ["done"]
    ((_, outcome, message),) = list_outcomes(events)
    assert (outcome, message.startswith(said)) == ("failed", True), message


def test_rubbish_from_a_hook_is_no_decision(studio):
    studio.write("a.txt", "A\n")
    hook(studio, "PreToolUse", "head -c 5000 /dev/urandom | tr '{' 'x'")
    assert studio.use("Read", file_path="a.txt").outcome == "done"


def test_long_context_is_cut(studio):
    hook(studio, "SessionStart", "head -c 50000 /dev/zero | tr '\\0' x")
    seen = Seen()
    studio.open(model=seen.model).run("hello")
    content = get_prompt(seen)
    assert "[40,000 more characters left out]" in content
    assert len(content) < 11_000


def test_a_hook_ends_with_an_interrupt(studio):
    hook(studio, "PreToolUse", "touch begun; sleep 600")
    studio.write("a.txt", "A\n")
    session = studio.open(call("Read", file_path="a.txt"), say("never"))

    async def run() -> str:
        async def stop() -> None:
            while not (studio.project / "begun").exists():
                await asyncio.sleep(0.02)
            session.interrupt()

        stopping = asyncio.create_task(stop())
        ended = [event async for event in session.send("go")][-1]
        await stopping
        assert isinstance(ended, TurnEnded)
        return ended.status

    assert asyncio.run(run()) == "interrupted"


# Whose hooks run


def test_hooks_of_a_project_run_only_if_it_is_trusted_and_that_is_said_once(studio):
    text = declare("UserPromptSubmit", "touch ran")
    set_hooks(studio, text, text.replace("ran", "run"), file="project/prowess.toml")
    session = studio.open(say("One."), say("Two."))
    events: list[Event] = []
    session.run("one", on_event=events.append)
    session.run("two", on_event=events.append)
    (warned,) = pick(events, Warned)
    assert warned.message == (
        "2 hooks of this project do not run, because the project is not trusted; see"
        " `prowess trust`."
    )
    assert not (studio.project / "ran").exists()
    studio.trust()
    _, events = studio.run(say("Done."))
    assert pick(events, Warned) == []
    assert (studio.project / "ran").exists()


def test_trust_in_contents_does_not_cover_the_hooks_of_a_project(studio):
    set_hooks(studio, declare("UserPromptSubmit", "touch ran"), file="project/prowess.toml")
    studio.workspace.write(OWN, 'trust = "content"\n')
    studio.trust()
    _, events = studio.run(say("Done."))
    assert [one.code for one in pick(events, Warned)] == ["hooks-untrusted"]
    assert not (studio.project / "ran").exists()


def test_hooks_of_a_project_run_in_the_sandbox_and_the_users_own_do_not(studio):
    outside = studio.workspace.home / "outside.txt"
    write = f"echo x > {outside}; touch inside.txt"
    set_hooks(studio, declare("SessionStart", write), file="project/prowess.toml")
    studio.trust()
    studio.run(say("Done."))
    assert (outside.exists(), (studio.project / "inside.txt").exists()) == (False, True)
    hook(studio, "SessionStart", write)
    studio.run(say("Done."))
    assert outside.exists()


def test_hooks_of_a_project_cannot_permit_anything(studio):
    set_hooks(studio, declare("PreToolUse", decide("allow")), file="project/prowess.toml")
    studio.trust()
    assert studio.use("Write", file_path="a.txt", content="x").outcome == "refused"


def test_a_model_cannot_give_itself_hooks_during_a_session(studio):
    studio.trust()
    text = declare("PostToolUse", "touch ran")
    session = studio.open(
        call("Write", file_path="prowess.toml", content=text),
        say("1"),
        call("Read", file_path="prowess.toml"),
        say("2"),
        rules={"allow": ["Write"]},
    )
    assert [session.run("go").status for _ in range(2)] == ["done", "done"]
    assert not (studio.project / "ran").exists()


def test_a_users_file_in_the_project_is_the_projects(studio, monkeypatch):
    hidden = studio.workspace.write(
        "project/conf/prowess/prowess.toml", declare("SessionStart", "touch ran")
    )
    env = {**studio.facts.env, "XDG_CONFIG_HOME": str(hidden.parent.parent)}
    changed = msgspec.structs.replace(studio.facts, env=env)
    monkeypatch.setattr(Studio, "facts", property(lambda self: changed))
    _, events = studio.run(say("Done."))
    assert [one.code for one in pick(events, Warned)] == ["hooks-untrusted"]
    assert not (studio.project / "ran").exists()


def test_the_settings_of_claude_code_count_for_it(studio):
    studio.host = "claude-code"
    hooks = {
        "PreToolUse": [{"matcher": "Read", "hooks": [{"type": "command", "command": "exit 2"}]}]
    }
    studio.workspace.write("home/.claude/settings.json", json.dumps({"hooks": hooks}))
    studio.write("a.txt", "A\n")
    assert studio.use("Read", file_path="a.txt").outcome == "refused"


def test_hooks_of_other_types_are_said_not_to_run(studio):
    studio.host = "claude-code"
    hooks = {"Stop": [{"hooks": [{"type": "prompt", "prompt": "Are you done?"}]}]}
    studio.workspace.write("home/.claude/settings.json", json.dumps({"hooks": hooks}))
    ended, events = studio.run(say("Done."))
    assert ended.status == "done"
    assert list_outcomes(events) == [("Stop", "failed", "hooks of type `prompt` are not run")]


@pytest.mark.parametrize("kind", ["prompt", "http", "agent"])
def test_hooks_of_other_types_are_named_at_the_start_with_their_file(studio, kind):
    studio.host = "claude-code"
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": kind}]}]}
    file = studio.workspace.write("home/.claude/settings.json", json.dumps({"hooks": hooks}))
    _, events = studio.run(say("Done."))
    assert [(one.code, one.message) for one in pick(events, Warned)] == [
        (
            "hook-unsupported",
            f"{file}: the PreToolUse hook of type `{kind}` does not run; Prowess only runs hooks"
            " of type `command`.",
        )
    ]


def test_a_hook_of_another_type_in_a_skill_is_named_when_the_skill_is_loaded(studio):
    hooks = {"Stop": [{"hooks": [{"type": "prompt", "prompt": "Done?"}]}]}
    studio.skill("careful", hooks=json.dumps(hooks))
    studio.trust()
    _, events = studio.run(say("Done."), text="/careful")
    (warned,) = pick(events, Warned)
    assert warned.code == "hook-unsupported"
    assert ".agents/skills/careful/SKILL.md: the Stop hook of type `prompt`" in warned.message


def write_plugin(studio: Studio, folder: str, **events: str) -> None:
    """A plugin with hooks."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in events.items()
    }
    studio.workspace.write(f"{folder}/.claude-plugin/plugin.json", '{"name": "tools"}')
    studio.workspace.write(f"{folder}/hooks/hooks.json", json.dumps({"hooks": hooks}))


@pytest.mark.parametrize("is_own", [True, False])
def test_hooks_of_a_plugin_run_in_the_sandbox_and_permit_nothing(studio, is_own):
    outside = studio.workspace.home / "outside.txt"
    script = f'echo "$CLAUDE_PLUGIN_ROOT" > root.txt; echo x > {outside}'
    folder = "home/.claude/plugins/cache/tools" if is_own else "project/tools"
    write_plugin(studio, folder, SessionStart=script, PreToolUse=decide("allow"))
    path = studio.workspace.path(folder)
    if is_own:
        listed = {"tools@m": [{"scope": "user", "installPath": path}]}
        installed = {"version": 2, "plugins": listed}
        settings = {"enabledPlugins": {"tools@m": True}}
        studio.workspace.write("home/.claude/plugins/installed_plugins.json", json.dumps(installed))
        studio.workspace.write("home/.claude/settings.json", json.dumps(settings))
    else:
        studio.write("prowess.toml", 'plugins = ["tools"]\n')
        studio.trust()
    done = studio.use("Write", file_path="a.txt", content="x")
    assert studio.read("root.txt").strip() == path
    # Whoever brought it, others wrote it: it runs in the sandbox and permits nothing.
    assert (outside.exists(), done.outcome) == (False, "refused")


# Skills


def give_hooks(studio: Studio, name: str, *, once: bool = False, **events: str) -> None:
    """A skill of the project with hooks."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command, "once": once}]}]
        for event, command in events.items()
    }
    studio.skill(name, hooks=json.dumps(hooks))


@pytest.mark.seed("C-14")
def test_the_hooks_of_a_skill_apply_from_its_activation_to_the_end_of_the_session(studio):
    studio.host = "claude-code@documented"
    hooks = {
        "PreToolUse": [
            {"matcher": "Write", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]},
            {"hooks": [{"type": "command", "command": "echo x >> log", "once": True}]},
        ]
    }
    studio.workspace.skill("project/.claude/skills/careful", hooks=json.dumps(hooks))
    studio.trust()
    write = call("Write", file_path="a.txt", content="x")
    session = studio.open(write, say("1"), write, say("2"), write, say("3"), rules=ALLOW_WRITE)
    outcomes = []
    for text in ("go", "/careful", "go on"):
        events: list[Event] = []
        session.run(text, on_event=events.append)
        outcomes += [one.outcome for one in pick(events, ToolFinished)]
    assert outcomes == ["done", "refused", "refused"]
    # `once` is the first time only.
    assert studio.read("log") == "x\n"


ALLOW_WRITE = {"allow": ["Write"]}


def test_a_skill_that_the_model_loads_brings_its_hooks(studio):
    give_hooks(studio, "careful", PreToolUse='echo "$CLAUDE_SKILL_DIR" > folder; exit 2')
    studio.trust()
    ended, events = studio.run(
        call("skill", name="careful"),
        call("Write", file_path="a.txt", content="x"),
        say("Done."),
        rules={"allow": ["Write", "Skill(careful)"]},
    )
    assert [one.outcome for one in pick(events, ToolFinished)] == ["done", "refused"]
    assert studio.read("folder").strip() == str(studio.project / ".agents/skills/careful")
    assert ended.status == "done"


@pytest.mark.parametrize("by", ["user", "model"])
def test_the_hooks_of_an_untrusted_skill_do_not_run(studio, by):
    give_hooks(studio, "careful", PreToolUse="exit 2", Stop="exit 2")
    studio.write("a.txt", "A\n")
    read = call("Read", file_path="a.txt")
    answers = [read, say("Done.")] if by == "user" else [call("skill", name="careful"), read]
    _, events = studio.run(
        *answers,
        say("Done."),
        text="/careful" if by == "user" else "go",
        rules={"allow": ["Skill(careful)"]},
    )
    assert [one.outcome for one in pick(events, ToolFinished)][-1] == "done"
    assert pick(events, HookFinished) == []
    assert [one.code for one in pick(events, Warned)] == ["hooks-untrusted"]


def test_trust_in_contents_does_not_cover_the_hooks_of_a_projects_skill(studio):
    give_hooks(studio, "careful", PreToolUse="exit 2")
    studio.workspace.write(OWN, 'trust = "content"\n')
    studio.write("a.txt", "A\n")
    studio.trust()
    _, events = studio.run(call("Read", file_path="a.txt"), say("Done."), text="/careful")
    assert [one.outcome for one in pick(events, ToolFinished)] == ["done"]
    assert [one.code for one in pick(events, Warned)] == ["hooks-untrusted"]


def use_careful(studio: Studio, by: str, *answers: Any) -> SavedSession:
    """A session in which the user or the model loaded the skill `careful`."""
    loads = [call("skill", name="careful")] if by == "model" else []
    session = studio.open(*loads, *answers, say("One."), rules={"allow": ["Skill(careful)"]})
    session.run("/careful" if by == "user" else "go")
    session.close()
    return load_session(studio.facts, session.id)


def read_again(studio: Studio, saved: SavedSession) -> tuple[list[str], list[str]]:
    """What comes of a call when the session goes on, and the codes of warnings."""
    _, events = studio.run(call("Read", file_path="a.txt"), say("Done."), resume=saved)
    outcomes = [one.outcome for one in pick(events, ToolFinished)]
    return outcomes, [one.code for one in pick(events, Warned)]


@pytest.mark.parametrize("by", ["user", "model"])
def test_the_hooks_of_a_skill_are_there_again_when_the_session_goes_on(studio, by):
    give_hooks(studio, "careful", PreToolUse="exit 2")
    studio.write("a.txt", "A\n")
    studio.trust()
    saved = use_careful(studio, by)
    assert read_again(studio, saved) == (["refused"], [])


def test_the_hooks_of_a_skill_outlive_a_compaction_and_a_resume(studio):
    give_hooks(studio, "careful", PreToolUse="exit 2")
    studio.write("a.txt", "A\n")
    studio.trust()
    session = studio.open(
        call("skill", name="careful"),
        say("One."),
        {**say("They greeted."), "agent": "compaction"},
        rules={"allow": ["Skill(careful)"]},
    )
    session.run("go")
    session.run("/compact")
    session.close()
    saved = load_session(studio.facts, session.id)
    assert read_again(studio, saved) == (["refused"], [])


@pytest.mark.parametrize("by", ["user", "model"])
def test_hooks_that_were_not_granted_are_not_there_after_a_resume(studio, by):
    give_hooks(studio, "careful", PreToolUse="exit 2")
    studio.write("a.txt", "A\n")
    saved = use_careful(studio, by)
    studio.trust()
    assert read_again(studio, saved) == (["done"], [])


@pytest.mark.parametrize("by", ["user", "model"])
def test_hooks_that_changed_since_do_not_run_and_that_is_said(studio, by):
    give_hooks(studio, "careful", PreToolUse="exit 2")
    studio.write("a.txt", "A\n")
    studio.trust()
    saved = use_careful(studio, by)
    give_hooks(studio, "careful", PreToolUse="touch taken")
    assert read_again(studio, saved) == (["done"], ["hooks-changed"])
    assert not (studio.project / "taken").exists()


def test_hooks_of_a_project_that_is_no_longer_trusted_do_not_run_and_that_is_said(studio):
    give_hooks(studio, "careful", PreToolUse="exit 2")
    studio.write("a.txt", "A\n")
    studio.trust()
    saved = use_careful(studio, "model")
    TrustFile.of(studio.facts, cwd=str(studio.project)).distrust(str(studio.project))
    assert read_again(studio, saved) == (["done"], ["hooks-untrusted"])


# Sub-agents


def test_hooks_hold_for_the_calls_of_sub_agents_and_for_their_end(studio):
    set_hooks(
        studio,
        declare("PreToolUse", "exit 2", matcher="Write"),
        declare("SubagentStop", "cat >> ends.jsonl; echo >> ends.jsonl", matcher="general-*"),
    )
    ended, events = studio.run(
        call("Task", prompt="Write it."),
        {**call("Write", file_path="a.txt", content="x"), "agent": "general-purpose"},
        {**say("I could not."), "agent": "general-purpose"},
        say("Done."),
        rules=ALLOW_WRITE,
    )
    assert ended.status == "done"
    written = [one for one in pick(events, ToolFinished) if one.tool == "Write"]
    assert [(one.agent, one.outcome) for one in written] == [("general-purpose", "refused")]
    told = json.loads(studio.read("ends.jsonl"))
    assert (told["hook_event_name"], told["agent_type"], told["last_assistant_message"]) == (
        "SubagentStop",
        "general-purpose",
        "I could not.",
    )


def test_the_hooks_of_a_skill_in_a_sub_agent_end_with_it(studio):
    give_hooks(studio, "apart", PreToolUse="exit 2", Stop="touch stopped")
    file = studio.project / ".agents/skills/apart/SKILL.md"
    file.write_text(file.read_text().replace("name: apart", "name: apart\ncontext: fork"))
    studio.write("a.txt", "A\n")
    studio.trust()
    read = call("Read", file_path="a.txt")
    session = studio.open(
        {**read, "agent": "apart"}, {**say("No."), "agent": "apart"}, read, say("Yes.")
    )
    events: list[Event] = []
    for text in ("/apart", "go on"):
        session.run(text, on_event=events.append)
    assert [one.outcome for one in pick(events, ToolFinished)] == ["refused", "done"]
    assert (studio.project / "stopped").exists()


def test_a_sub_agent_has_the_hooks_of_the_skills_above_it(studio):
    give_hooks(studio, "careful", PreToolUse='grep -q \'"tool_name": "Write"\' && exit 2; exit 0')
    studio.trust()
    _, events = studio.run(
        call("Task", prompt="Write it."),
        {**call("Write", file_path="a.txt", content="x"), "agent": "general-purpose"},
        {**say("I could not."), "agent": "general-purpose"},
        say("Done."),
        text="/careful",
        rules=ALLOW_WRITE,
    )
    written = [one for one in pick(events, ToolFinished) if one.tool == "Write"]
    assert [one.outcome for one in written] == ["refused"]
