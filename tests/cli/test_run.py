"""`prowess run`: what a host makes of a typed text, and the tools that a project declares."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from tests.cli.keyboard import INTERRUPT, Keyboard
from tests.cli.running import MARK, wait_until_ended, wait_until_running
from tests.cli.terminal import SECRET, Terminal


def declare(
    terminal: Terminal,
    name: str,
    *command: str,
    settings: str = "home/.config/prowess/prowess.toml",
) -> None:
    """A tool of the user's own, and a skill whose command goes to it."""
    terminal.skill(
        f"project/.agents/skills/{name}",
        command_dispatch="tool",
        command_tool=name,
        body="Never read\n",
    )
    terminal.write(settings, f"[tools.{name}]\ncommand = {json.dumps(command)}\n")


# Tools


@pytest.mark.seed("A-03", "W-43")
def test_a_command_that_goes_to_a_tool_prints_the_reply(terminal):
    declare(terminal, "tide", "echo", "tide of", "{argument}", "for", "{skill}", "as", "{command}")
    assert terminal.run("run", "/tide Hamburg  Altona") == (
        0,
        "tide of Hamburg  Altona for tide as tide\n",
        "",
    )


def test_the_argument_is_one_element_and_no_shell_reads_it(terminal):
    declare(
        terminal, "count", sys.executable, "-c", "import sys; print(sys.argv[1:])", "{argument}"
    )
    for typed in ("$(id); `id` | x", "it's", '"a b" c', "--help", "*", "a\nb"):
        answer = terminal.run("run", "--", f"/count {typed}")
        assert (typed, answer) == (typed, (0, f"{[typed]}\n", ""))


def test_a_tool_that_writes_nothing_replies_that_it_is_done(terminal):
    declare(terminal, "quiet", "true")
    assert terminal.run("run", "/quiet") == (0, "Done.\n", "")


def test_a_reply_as_json(terminal):
    declare(terminal, "tide", "echo", "{argument}")
    reply = terminal.json("run", "/tide now")
    assert len(reply.pop("run_id")) == 32
    assert reply == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "kind": "reply",
        "text": "now",
        "tool": "tide",
        "diagnostics": [],
    }


def test_a_tool_of_an_untrusted_project_refuses_and_runs_once_it_is_trusted(terminal):
    declare(terminal, "tide", "echo", "ran", settings="project/prowess.toml")
    where = terminal.path("project/prowess.toml:1")
    said = f"The tool “tide” was not run: it is declared in {where}, in a project that you do not trust."
    hint = "Check what it runs, then run `prowess trust` to trust the project."
    assert terminal.run("run", "/tide") == (5, "", f"prowess: {said}\n{hint}\n")
    answer = terminal.run("run", "/tide", "--json")
    error = json.loads(answer.out)["error"]
    assert (answer.code, error["kind"], error["message"], error["hint"]) == (
        5,
        "untrusted-tool",
        said,
        hint,
    )
    terminal.run("trust", "--yes")
    assert terminal.run("run", "/tide") == (0, "ran\n", "")


def test_a_tool_that_is_not_there_is_told_with_those_that_are(terminal):
    declare(terminal, "tide", "true")
    terminal.skill("project/.agents/skills/moon", command_dispatch="tool", command_tool="tied")
    answer = terminal.run("run", "/moon")
    assert answer == (
        3,
        "",
        "prowess: There is no tool named “tied”; the tools are batch, lorem-ipsum, stuck,"
        " tide.\nDid you mean “tide”?\n",
    )
    error = json.loads(terminal.run("run", "/moon", "--json").out)["error"]
    assert (error["kind"], error["nearest"]) == ("unknown-tool", ["tide"])


def test_a_tool_that_fails_is_a_sentence_with_what_it_wrote(terminal):
    declare(terminal, "tide", "sh", "-c", "echo no water >&2; exit 3")
    assert terminal.run("run", "/tide") == (
        4,
        "",
        "prowess: The tool “tide” failed: the program exited with code 3 and wrote: no water.\n",
    )


@pytest.mark.parametrize("options", [(), ("--json",), ("--debug",)])
@pytest.mark.parametrize("code", [0, 3])
def test_secrets_are_nowhere_in_what_is_printed(terminal, options, code):
    terminal.skill(
        "home/.agents/skills/tide",
        command_dispatch="tool",
        command_tool="tide",
        metadata='{"openclaw": {"primaryEnv": "API_KEY", "requires": {"env": ["MY_TOKEN"]}}}',
    )
    settings = (
        f'[skills.tide]\napi_key = "{SECRET}"\nenv = {{ MY_TOKEN = "tok-{SECRET}" }}\n'
        f'[tools.tide]\ncommand = ["sh", "-c", "echo $API_KEY $MY_TOKEN; exit {code}"]\n'
    )
    terminal.write("home/.config/prowess/prowess.toml", settings)
    answer = terminal.run("run", "/tide", *options)
    assert answer.code == (4 if code else 0)
    assert SECRET not in answer.out + answer.err
    assert "[secret] [secret]" in answer.out + answer.err


# Messages, notices, plain text


def test_a_skill_without_a_tool_gives_the_message_that_the_model_receives(terminal):
    terminal.skill("project/.agents/skills/greet", body="Greet $0.\n")
    folder = terminal.path("project/.agents/skills/greet")
    text = f"Base folder of this skill: {folder}\n\nGreet Ada.\n"
    for words in (
        ("/greet Ada",),
        ("/greet", "Ada"),
        ("/skill:greet", "Ada"),
        ("/skill", "greet", "Ada"),
    ):
        assert (words, terminal.run("run", *words)) == (words, (0, text, ""))
    assert terminal.json("run", "/greet Ada") == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "kind": "message",
        "text": text,
        "parts": [text],
        "delivery": "prompt",
        "custom": False,
        "skills": ["greet"],
        "details": {},
        "untrusted": [],
        "requests": {"greet": {}},
        "diagnostics": [],
    }


def test_a_text_is_understood_as_the_host_understands_it(terminal):
    terminal.skill("home/.omp/agent/skills/greet", body="Greet.\n")
    made = terminal.json("run", "/skill:greet Ada", "--host", "omp")
    assert (made["kind"], made["custom"], made["details"]["name"]) == ("message", True, "greet")
    assert terminal.run("run", "/greet Ada", "--host", "omp") == (
        3,
        "",
        "“/greet” is not a command here; a model would receive the text unchanged. Did you mean “/skill:greet”?\n",
    )


def test_commands_inside_the_body_run_only_where_the_project_is_trusted(terminal):
    terminal.skill("project/.agents/skills/log", body="!`echo $((6*7))`\n")
    answer = terminal.run("run", "/log")
    assert "!`echo $((6*7))` [not run: its project is not trusted]\n" in answer.out
    assert answer.err.startswith("warning: The command `echo $((6*7))` was not run because ")
    terminal.run("trust", "--yes")
    answer = terminal.run("run", "/log")
    assert (answer.code, answer.out.endswith("\n\n42\n"), answer.err) == (0, True, "")


def test_what_cannot_be_typed_is_a_notice_with_exit_code_5(terminal):
    terminal.skill("project/.agents/skills/greet", user_invocable="false")
    said = (
        "The skill “greet” is only for the model: its header says `user-invocable: false`. "
        "Describe the task, and the model can use it."
    )
    assert terminal.run("run", "/greet") == (5, "", f"{said}\n")
    answer = terminal.run("run", "/greet", "--json")
    found = json.loads(answer.out)
    assert (answer.code, answer.err) == (5, "")
    assert {key: found[key] for key in ("kind", "notice", "name", "message")} == {
        "kind": "notice",
        "notice": "not-invocable",
        "name": "greet",
        "message": said,
    }


def test_a_mistyped_command_has_the_nearest_and_exit_code_3(terminal):
    terminal.skill("project/.agents/skills/greet")
    assert terminal.run("run", "/gret Ada") == (
        3,
        "",
        "“/gret” is not a command here; a model would receive the text unchanged. Did you mean “/greet”?\n",
    )
    answer = terminal.run("run", "/gret Ada", "--json")
    found = json.loads(answer.out)
    assert (answer.code, {key: found[key] for key in ("kind", "text", "name", "nearest")}) == (
        3,
        {"kind": "plain", "text": "/gret Ada", "name": "gret", "nearest": ["greet"]},
    )


def test_plain_text_is_told_with_the_commands_there_are(terminal):
    # Those that ship are always there.
    said = "This is not a command here; a model would receive the text unchanged. Commands here: "
    answer = terminal.run("run", "hello there")
    assert (answer.code, answer.out, answer.err.startswith(said)) == (3, "", True)
    assert "/lorem-ipsum" in answer.err
    for number in range(10):
        terminal.skill(f"project/.agents/skills/s{number}")
    listed = re.escape(said) + r"(/[a-z-]+, )*/s0, (/s[1-9], )*/s[1-9] and [0-9]+ more\."
    first, second = terminal.run("run", "hello there").err.splitlines()
    assert re.fullmatch(listed, first)
    assert second.startswith("No skill fits it. No model is configured.")


def test_skill_commands_can_be_switched_off_in_the_settings(terminal):
    terminal.skill("project/.agents/skills/greet")
    terminal.write("project/prowess.toml", "skill_commands = false\n")
    assert terminal.run("run", "/greet") == (
        3,
        "",
        "“/greet” is not a command here; a model would receive the text unchanged. "
        "No skill can be used as a command here.\n",
    )


def test_running_is_counted_as_a_use_by_the_user(terminal):
    declare(terminal, "tide", "true")
    terminal.skill("project/.agents/skills/greet")
    for typed in ("/tide", "/greet", "/greet", "/nothing"):
        terminal.run("run", typed)
    assert {one["name"]: one["by_user"] for one in terminal.json("usage")["skills"]} == {
        "greet": 2,
        "tide": 1,
    }


def test_a_text_must_be_given(terminal):
    answer = terminal.run("run")
    assert (answer.code, answer.err.splitlines()[-1]) == (2, "Error: Missing argument 'TEXT...'.")


# Stopping


def test_ctrl_c_ends_the_tool_with_everything_it_started(terminal):
    declare(terminal, "slow", "sh", "-c", f"sleep {MARK} & sleep {MARK}")
    process = subprocess.Popen(
        [sys.executable, "-m", "prowess", "run", "/slow"], stderr=subprocess.PIPE
    )
    wait_until_running(MARK)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err, wait_until_ended(MARK)) == (130, b"\nStopped.\n", True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_what_asks_the_program_to_end_ends_the_tool_too(terminal, number, code):
    declare(terminal, "slow", "sh", "-c", f"trap '' TERM HUP; sleep {MARK} & sleep {MARK}")
    process = subprocess.Popen(
        [sys.executable, "-m", "prowess", "run", "/slow"], stderr=subprocess.PIPE
    )
    wait_until_running(MARK)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err, wait_until_ended(MARK)) == (code, b"\nStopped.\n", True)


def test_ctrl_c_pressed_many_times_leaves_nothing_running_either(terminal):
    declare(terminal, "slow", "sh", "-c", f"trap '' INT TERM; sleep {MARK} & sleep {MARK}")
    process = subprocess.Popen(
        [sys.executable, "-m", "prowess", "run", "/slow"], stderr=subprocess.PIPE
    )
    wait_until_running(MARK)
    for _ in range(20):
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, b"Traceback" in err, wait_until_ended(MARK)) == (130, False, True)


def test_a_slow_tool_shows_a_line_of_progress_on_a_terminal_and_can_be_stopped_there(terminal):
    declare(terminal, "slow", "sh", "-c", f"exec sleep {MARK}")
    keyboard = Keyboard("run", "/slow now", piped=True)
    keyboard.type(INTERRUPT, after="running /slow now …")
    assert keyboard.end() == (130, "")
    assert keyboard.shown.endswith("\r\x1b[K\nStopped.\n")
    assert wait_until_ended(MARK)


def test_on_a_terminal_a_reply_cannot_steer_it(terminal):
    declare(terminal, "evil", "printf", "a\\033[2Jb")
    keyboard = Keyboard("run", "/evil")
    assert keyboard.end() == (0, "")
    # Progress may come before it on a slow machine, and is cleared.
    assert keyboard.shown.rpartition("\x1b[K")[2] == "a\\x1b[2Jb\n"
    assert terminal.run("run", "/evil").out == "a\x1b[2Jb\n"


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("prowess run /gr", "plain,/greet\n"),
        ("prowess run --host omp /", "plain,/skill:greet\n"),
        ("prowess run /greet A", "\n"),
    ],
)
def test_commands_are_completed_as_the_host_spells_them(terminal, words, offered):
    terminal.skill("project/.agents/skills/greet")
    terminal.skill("project/.omp/skills/greet")
    variables = {
        "_PROWESS_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "prowess"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == offered
