"""`prowess run` with a model: what a person sees, what a program reads, and the exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.keyboard import Keyboard
from tests.cli.running import MARK, wait_until_ended, wait_until_running
from tests.cli.terminal import Terminal

pytest.importorskip("pydantic_ai")


def script(terminal: Terminal, *answers: dict[str, Any]) -> str:
    lines = [{"prowess-script": 1}, *answers]
    terminal.write("script.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return f"script:{terminal.root}/script.jsonl"


def call(tool: str, **input: object) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "input": input}]}


def test_a_person_sees_the_words_on_stdout_and_the_work_on_stderr(terminal):
    terminal.write("project/a.txt", "one\ntwo\n")
    model = script(
        terminal,
        {"text": "I look.", **call("Read", file_path="a.txt")},
        call("Edit", file_path="a.txt", old_string="two", new_string="2"),
        {"text": "Done."},
    )
    answer = terminal.run("run", "change it", "--model", model, "--allow", "Edit")
    assert (answer.code, answer.out) == (0, "I look.\nDone.\n")
    assert answer.err.splitlines()[:-1] == [
        "· Read a.txt",
        "  2 lines",
        "· Edit a.txt",
        "    --- a/a.txt",
        "    +++ b/a.txt",
        "    @@ -1,2 +1,2 @@",
        "     one",
        "    -two",
        "    +2",
        "  Changed a.txt.",
    ]
    assert answer.err.splitlines()[-1].startswith("(3 requests, ")
    assert (terminal.root / "project/a.txt").read_text() == "one\n2\n"


def test_what_a_model_says_cannot_steer_a_terminal(terminal):
    model = script(
        terminal, {"text": "a\x1b[2Jb", **call("Bash", command="x\x1b[2J")}, {"text": "c"}
    )
    answer = terminal.run("run", "x", "--model", model)
    assert "\x1b" not in answer.out + answer.err
    assert answer.out.startswith("a\\x1b[2Jb\n")


def test_hooks_that_refuse_or_fail_are_shown(terminal):
    hooks = {"PreToolUse": "printf 'no\\033[2J' >&2; exit 2", "Stop": "exit 3"}
    tables = [
        f"[[hooks]]\nevent = {json.dumps(event)}\ncommand = {json.dumps(command)}\n"
        for event, command in hooks.items()
    ]
    terminal.write("home/.config/prowess/prowess.toml", "\n".join(tables))
    terminal.write("project/a.txt", "one\n")
    answers = [call("Read", file_path="a.txt"), {"text": "Done."}]
    answer = terminal.run("run", "x", "--model", script(terminal, *answers))
    assert (answer.code, answer.out) == (0, "Done.\n")
    assert answer.err.splitlines()[:-1] == [
        "! PreToolUse hook `printf 'no\\033[2J' >&2; exit 2` blocked: no\\x1b[2J",
        "· Read a.txt",
        "  refused: A hook refused the call: no\\x1b[2J",
        "! Stop hook `exit 3` failed: it ended with exit code 3",
    ]
    answer = terminal.run("run", "x", "--model", script(terminal, *answers), "--json")
    events = [json.loads(line) for line in answer.out.splitlines()]
    ran = [one for one in events if one["event"] == "hook-finished"]
    assert [(one["hook"], one["source"], one["outcome"]) for one in ran] == [
        ("PreToolUse", "user", "blocked"),
        ("Stop", "user", "failed"),
    ]


def test_json_is_one_event_per_line(terminal):
    model = script(terminal, call("Write", file_path="a", content="x"), {"text": "旗"})
    answer = terminal.run("run", "x", "--model", model, "--json")
    events = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.code == 5
    assert [one["event"] for one in events] == [
        "session-started",
        "turn-started",
        "request-finished",
        "tool-started",
        "tool-finished",
        "text",
        "request-finished",
        "turn-ended",
    ]
    assert events[0]["version"] == 1
    assert (events[-1]["status"], events[-1]["answer"]) == ("refused", "旗")


@pytest.mark.parametrize(
    ("answers", "options", "code", "said"),
    [
        ([{"text": "Done."}], (), 0, ""),
        (
            [call("Write", file_path="a", content="x"), {"text": "No."}],
            (),
            5,
            "Refused: Write needs approval or `--allow 'Write(…)'`",
        ),
        ([call("Glob", pattern="*")], (), 6, "Failed: "),
        (
            [call("Glob", pattern="*"), {"text": "never"}],
            ("--max-turns", "1"),
            7,
            "Stopped: the limit of 1 request to the model was reached.",
        ),
        (
            [call("Bash", command="sleep 600"), {"text": "never"}],
            ("--max-time", "1", "--allow", "Bash"),
            7,
            "Stopped: the limit of 1 second was reached.",
        ),
        (
            [call("Write", file_path="a", content="x"), {"text": "No."}],
            ("--read-only", "--allow", "Write"),
            0,
            "refused: Not permitted: the session is read-only.",
        ),
        (
            [call("Bash", command="ls"), {"text": "No."}],
            ("--deny", "Bash(ls)", "--allow", "Bash"),
            0,
            "refused: Not permitted: the rule `deny: Bash(ls)`",
        ),
    ],
)
def test_the_exit_code_says_how_it_ended(terminal, answers, options, code, said):
    answer = terminal.run("run", "x", "--model", script(terminal, *answers), *options)
    assert (answer.code, said in answer.err) == (code, True), answer.err


def test_the_answer_goes_to_a_file_and_the_run_can_be_recorded(terminal):
    model = script(terminal, {"text": "I look.", **call("Glob", pattern="*")}, {"text": "Done."})
    first = terminal.run("run", "x", "--model", model, "--output", "out.txt", "--record", "r.jsonl")
    assert (first.code, (terminal.root / "project/out.txt").read_text()) == (0, "Done.\n")
    again = terminal.run("run", "x", "--model", "script:r.jsonl")
    assert (again.code, again.out) == (0, first.out)


def test_the_model_of_the_settings_is_used(terminal):
    model = script(terminal, {"text": "Done."}, {"text": "Again."})
    terminal.write("home/.config/prowess/prowess.toml", f'[agent]\nmodel = "{model}"\n')
    assert terminal.run("run", "x").out == "Done.\n"


@pytest.mark.parametrize("option", ["--max-cost", "--max-time"])
@pytest.mark.parametrize("amount", ["nan", "inf", "1e999"])
def test_a_limit_that_is_never_reached_is_refused(terminal, option, amount):
    answer = terminal.run("run", "x", option, amount)
    assert (answer.code, f"'{amount}' is not a valid limit." in answer.err) == (2, True)


def test_a_model_that_cannot_be_used_is_said_with_what_to_do(terminal):
    answer = terminal.run("run", "x", "--model", "mistral:large")
    assert (answer.code, answer.out) == (6, "")
    assert "the package for the provider “mistral” is not installed" in answer.err
    answer = terminal.run("run", "x", "--model", "haiku")
    assert (answer.code, "it is not a short name from your settings" in answer.err) == (2, True)


def test_without_a_model_and_a_skill_that_fits_it_is_said_how_to_configure_one(terminal):
    answer = terminal.run("run", "Xyzzy?")
    assert (answer.code, answer.out) == (3, "")
    assert "No skill fits it. No model is configured. Name one with `--model" in answer.err


def test_without_a_model_the_best_skill_is_shown_and_why_and_what_a_model_would_get(terminal):
    terminal.skill(
        "project/.agents/skills/tides", description="Reads tide tables.", body="Read the table.\n"
    )
    terminal.skill("project/.agents/skills/pdf", description="Fills in forms.")
    answer = terminal.run("run", "When is the next tide in Hamburg?")
    assert answer.code == 3
    assert answer.err.splitlines()[1:] == [
        "The skill “tides” fits best: its name or description has “tide”.",
        "A model that loads it receives the text below. No model is configured. Name one with"
        " `--model provider:name`, or set `model` under `[agent]` in your own prowess.toml.",
    ]
    assert answer.out.startswith('<skill_content name="tides">\n')
    assert "Read the table." in answer.out


def test_without_the_extra_commands_still_run(terminal):
    terminal.skill("project/.agents/skills/greet", body="Greet $0.\n")
    program = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "from prowess.cli import main; sys.argv[1:] = sys.argv[1:]; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "/greet Ada"],
        cwd=terminal.project,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout.endswith("Greet Ada.\n"), done.stderr) == (0, True, "")
    done = subprocess.run(
        [sys.executable, "-c", program, "run", "x", "--model", "openai:x"],
        cwd=terminal.project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert 'Run `pip install "prowess[agent]"`.' in done.stderr


def test_more_messages_come_from_stdin_as_lines(terminal):
    # Whether the line comes while the model answers or after, its answer is the second one.
    model = script(terminal, {"text": "One."}, {"text": "Two.", "expect": ["more"]})
    done = subprocess.run(
        [sys.executable, "-m", "prowess", "run", "x", "--model", model, "--input", "jsonl"],
        cwd=terminal.project,
        input='{"text": "more"}\n',
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert (done.returncode, done.stdout.split()) == (0, ["One.", "Two."]), done.stderr


def test_a_program_answers_questions_by_lines(terminal):
    model = script(terminal, call("Write", file_path="a.txt", content="A\n"), {"text": "Done."})
    command = [sys.executable, "-m", "prowess", "run", "x", "--model", model]
    with subprocess.Popen(
        [*command, "--json", "--input", "jsonl"],
        cwd=terminal.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for line in running.stdout:
            event = json.loads(line)
            if event["event"] == "approval-asked":
                running.stdin.write(json.dumps({"answer": "once", "id": event["id"]}) + "\n")
                running.stdin.flush()
            if event["event"] == "turn-ended":
                running.stdin.close()
    assert (running.returncode, event["status"]) == (0, "done")
    assert (terminal.root / "project/a.txt").read_text() == "A\n"


# At a terminal


def test_the_person_is_asked_with_the_exact_command_and_change(terminal):
    model = script(
        terminal,
        call("Bash", command="echo a | tee b"),
        call("Write", file_path="c.txt", content="c\n"),
        {"text": "Done."},
    )
    keyboard = Keyboard("run", "x", "--model", model, columns=200)
    keyboard.wait_for("The model wants to use Bash:")
    keyboard.wait_for("    echo a | tee b")
    keyboard.type("o\n", after="Allow once, always, or reject? [o/a/R]")
    keyboard.wait_for("+c")
    keyboard.wait_for("The model wants to: Write c.txt")
    # “Always” would count once, so it is not offered.
    keyboard.type("a\n", after="Allow once, or reject? [o/R]")
    keyboard.type("r\n", after="[o/R]")
    keyboard.type("leave it\n", after="What should be done instead?")
    code, _ = keyboard.end()
    assert code == 5
    assert "The user says: leave it" in keyboard.shown.replace("\r\n", " ")
    assert (terminal.root / "project/b").read_text() == "a\n"
    assert not (terminal.root / "project/c.txt").exists()


def test_ctrl_c_ends_the_programs_and_keeps_the_turn(terminal):
    model = script(terminal, call("Bash", command=f"sleep {MARK}"), {"text": "never"})
    running = subprocess.Popen(
        [sys.executable, "-m", "prowess", "run", "x", "--model", model, "--allow", "Bash"],
        cwd=terminal.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ},
    )
    wait_until_running(MARK)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 130
    # Said once, not by the session and by the command line.
    assert errors.count(b"Interrupted: the user stopped it.") == 1
    assert b"Stopped." not in errors
    assert wait_until_ended(MARK)
    (session,) = terminal.json("sessions")["sessions"]
    assert (session["turns"], session["unknown_outcomes"]) == (1, [])


@pytest.mark.parametrize(
    ("text", "options", "code", "said"),
    [
        ("", (), 2, "The prompt is empty."),
        ("\udcff", (), 2, "The prompt is not valid UTF-8."),
        ("x", ("--output", "none/x"), 4, "Could not write none/x: there is no folder "),
        ("x", ("--record", "none/x"), 4, "Could not write none/x: there is no folder "),
        ("x", ("--model", "script:"), 2, "`script:` needs a file: `script:FILE`."),
        ("x", ("--model", "foo:x"), 6, "there is no provider “foo”"),
    ],
)
def test_what_cannot_work_is_said_before_the_model_runs(terminal, text, options, code, said):
    model = script(terminal, {"text": "never"})
    answer = terminal.run("run", text, "--model", model, *options)
    assert (answer.code, answer.out, said in answer.err) == (code, "", True), answer.err
