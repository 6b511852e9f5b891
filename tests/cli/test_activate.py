"""`prowess activate`: what the model receives to the letter, findings beside it, refusals,
questions.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.cli.conversation_options import join_words
from tests.cli.keyboard import END, INTERRUPT, Keyboard
from tests.cli.running import MARK, wait_until_ended, wait_until_running
from tests.cli.terminal import SECRET, Terminal
from tests.conformance.trees import CASES

RECORDED = json.loads((CASES / "claude-code" / "substitution.json").read_text(encoding="utf-8"))[
    "cases"
]


def expect(terminal: Terminal, name: str, body: str, folder: str = "project/.agents/skills") -> str:
    """What Prowess gives a model of a skill without further files."""
    return (
        f'<skill_content name="{name}">\n# Skill: {name}\n\n{body}\n\n'
        f"Base folder of this skill: {terminal.path(f'{folder}/{name}')}\n"
        "Relative paths in this skill (such as scripts/ or reference/) start at that folder.\n"
        "</skill_content>"
    )


# The text


def test_the_text_is_printed_to_the_letter_and_nothing_else(terminal):
    terminal.skill("project/.agents/skills/greet", body="Greet $0, then $1.\n")
    assert terminal.run("activate", "greet", "Ada", "Grace") == (
        0,
        expect(terminal, "greet", "Greet Ada, then Grace."),
        "",
    )


@pytest.mark.parametrize(
    "host", ["prowess", "claude-code", "opencode", "openclaw", "omp", "codex", "spec"]
)
def test_what_is_printed_is_what_the_library_gives(terminal, host):
    terminal.skill("project/.agents/skills/greet", body="Greet $0.\n")
    terminal.skill("project/.claude/skills/greet", body="Greet $0.\n")
    terminal.skill("project/.omp/skills/greet", body="Greet $0.\n")
    answer = terminal.run("activate", "greet", "Ada", "--host", host)
    assert answer == (0, terminal.open(host).activate("greet", "Ada").text, "")


def test_json_has_everything_that_is_known_of_it(terminal):
    terminal.skill(
        "project/.agents/skills/greet",
        body="Greet $0.\n",
        allowed_tools="Read Grep",
        model="opus",
        context="fork",
    )
    terminal.write("project/.agents/skills/greet/notes.md", "x")
    made = terminal.json("activate", "greet", "Ada")
    text = made.pop("text")
    assert text.startswith('<skill_content name="greet">\n# Skill: greet\n\nGreet Ada.\n')
    assert made.pop("digest").startswith("sha256:")
    folder = terminal.path("project/.agents/skills/greet")
    assert made == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "name": "greet",
        "by": "user",
        "title": "Loaded skill: greet",
        "folder": folder,
        "files": [f"{folder}/notes.md"],
        "more_files": 0,
        "metadata": {"name": "greet", "dir": folder},
        "trusted": False,
        "requests": {
            "model": "opus",
            "fork": True,
            "background": made["requests"].get("background"),
            "allowed_tools": ["Read", "Grep"],
        },
        "diagnostics": [],
    }


def test_the_session_and_the_effort_fill_their_variables(terminal):
    terminal.skill("project/.agents/skills/who", body="${CLAUDE_SESSION_ID} ${CLAUDE_EFFORT}\n")
    answer = terminal.run("activate", "who", "--session", "c-7", "--effort", "high")
    assert (answer.code, "\nc-7 high\n" in answer.out, answer.err) == (0, True, "")


# Arguments


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["a", "b"], "a b"),
        (["it's a test"], "it's a test"),
        (["  as   it is "], "  as   it is "),
        (["two words", "b"], '"two words" b'),
        (["", "b"], '"" b'),
        (['say "x y"', "b"], "'say \"x y\"' b"),
        (["--", "x"], "-- x"),
    ],
)
def test_words_become_the_text_that_a_user_would_have_typed(words, text):
    assert join_words(words) == text


@given(st.text())
def test_one_word_is_taken_as_it_is(word):
    assert join_words([word]) == word


def test_each_word_of_the_shell_is_one_argument(terminal):
    terminal.skill("project/.agents/skills/echo", body="<$0> <$1>\n")
    for words, filled in (
        (("a", "b"), "<a> <b>"),
        (("it's a test",), "<it's> <a>"),
        (("two words", "x"), "<two words> <x>"),
        (("--", "--json", "-5"), "<--json> <-5>"),
        (("--", "--debug", "--"), "<--debug> <-->"),
    ):
        answer = terminal.run("activate", "echo", *words)
        assert (words, answer) == (words, (0, expect(terminal, "echo", filled), ""))


def test_a_dash_without_two_before_it_is_an_option_that_does_not_exist(terminal):
    terminal.skill("project/.agents/skills/echo")
    answer = terminal.run("activate", "echo", "-5")
    assert (answer.code, answer.out) == (2, "")


def test_arguments_that_are_no_text_come_out_as_they_went_in(terminal):
    terminal.skill("project/.agents/skills/echo", body="<$ARGUMENTS>\n")
    command = [sys.executable.encode(), b"-m", b"prowess", b"activate", b"echo", b"caf\xe9 \xff"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert (b"\n<caf\xe9 \xff>\n" in done.stdout, done.stderr) == (True, b"")


@pytest.mark.parametrize(
    "case", [one for one in RECORDED if one["error"] is None and "!`" not in one["skill_md"]][::3]
)
def test_recorded_answers_of_claude_code_come_out_of_the_command_line(terminal, case):
    terminal.write(f"home/.claude/skills/{case['skill']}/SKILL.md", case["skill_md"])
    answer = terminal.run(
        "activate", "--host", "claude-code", "--json", case["skill"], "--", case["args"]
    )
    assert (answer.code, answer.err) == (0, "")
    folder = terminal.path(f"home/.claude/skills/{case['skill']}")
    assert (
        json.loads(answer.out)["text"]
        == f"Base folder of this skill: {folder}\n\n{case['rendered']}"
    )


# Commands inside bodies, and trust


def test_a_command_of_an_untrusted_project_stays_text_and_runs_once_it_is_trusted(terminal):
    terminal.skill("project/.agents/skills/log", body="Made: !`echo $((6*7))`\n")
    assert terminal.run("activate", "log") == (
        0,
        expect(terminal, "log", "Made: !`echo $((6*7))` [not run: its project is not trusted]"),
        "warning: The command `echo $((6*7))` was not run because its project is not trusted. (command-not-run)\n"
        "  Read the skill; if you trust its project, run `prowess trust`.\n",
    )
    found = terminal.json("activate", "log")["diagnostics"]
    assert [(one["code"], one["file"]) for one in found] == [
        ("command-not-run", terminal.path("project/.agents/skills/log/SKILL.md"))
    ]
    assert terminal.run("trust", "--yes").code == 0
    assert terminal.run("activate", "log") == (0, expect(terminal, "log", "Made: 42"), "")
    terminal.run("trust", "--remove")
    assert "[not run: its project is not trusted]" in terminal.run("activate", "log").out


def test_shell_commands_can_be_switched_off_in_the_settings(terminal):
    terminal.skill("home/.agents/skills/log", body="!`echo $((6*7))`\n")
    assert "\n42\n" in terminal.run("activate", "log").out
    terminal.write("home/.config/prowess/prowess.toml", "shell_commands = false\n")
    answer = terminal.run("activate", "log")
    assert "\n!`echo $((6*7))` [not run: commands in skills are turned off]\n" in answer.out
    assert answer.err.endswith(
        "  Set `shell_commands` to true in the settings to let commands run.\n"
    )


def test_a_command_that_fails_is_a_sentence_with_the_end_of_its_output(terminal):
    terminal.skill("home/.agents/skills/log", body="!`echo almost; exit 3`\n")
    said = "The command `echo almost; exit 3` inside the skill failed with exit code 3. Its last output:\nalmost"
    assert terminal.run("activate", "log") == (4, "", f"prowess: {said}\n")
    answer = terminal.run("activate", "log", "--json")
    error = json.loads(answer.out)["error"]
    assert (answer.code, error["kind"], error["message"]) == (4, "command-failed", said)


def test_an_argument_that_a_command_would_run_is_refused(terminal):
    terminal.skill("home/.agents/skills/log", body='!`bash -c "echo $0"`\n')
    answer = terminal.run("activate", "log", "$(id)", "--json")
    assert (answer.code, json.loads(answer.out)["error"]["kind"]) == (4, "command-refused")


@pytest.mark.parametrize("options", [(), ("--json",), ("--debug",)])
def test_secrets_are_nowhere_in_what_is_printed(terminal, options):
    header = {
        "metadata": '{"openclaw": {"primaryEnv": "API_KEY", "requires": {"env": ["MY_TOKEN"]}}}'
    }
    settings = f'[skills.KEY]\napi_key = "{SECRET}"\nenv = {{ MY_TOKEN = "tok-{SECRET}" }}\n'
    terminal.write(
        "home/.config/prowess/prowess.toml",
        settings.replace("KEY", "good") + settings.replace("KEY", "bad"),
    )
    terminal.skill(
        "home/.agents/skills/good", body="!`echo $API_KEY; echo $MY_TOKEN | rev | rev`\n", **header
    )
    terminal.skill("home/.agents/skills/bad", body="!`echo $API_KEY $MY_TOKEN; exit 3`\n", **header)
    good, bad = (
        terminal.run("activate", "good", *options),
        terminal.run("activate", "bad", *options),
    )
    assert (good.code, bad.code) == (0, 4)
    assert SECRET not in "".join((good.out, good.err, bad.out, bad.err))
    assert good.out.count("[secret]") == 2
    assert "[secret]" in bad.out + bad.err


# Refusals


def test_an_unknown_name_has_the_nearest_and_exit_code_3(terminal):
    terminal.skill("project/.agents/skills/greet")
    said = "There is no skill named “gret” here."
    assert terminal.run("activate", "gret") == (3, "", f"prowess: {said}\nDid you mean “greet”?\n")
    answer = terminal.run("activate", "gret", "--json")
    assert (answer.code, json.loads(answer.out)) == (
        3,
        {
            "version": 1,
            "error": {
                "kind": "unknown-skill",
                "message": said,
                "exit_code": 3,
                "hint": "Did you mean “greet”?",
                "name": "gret",
                "nearest": ["greet"],
            },
        },
    )


def test_a_name_that_only_other_hosts_find_names_them(terminal):
    terminal.skill("project/.claude/skills/group/greet")
    answer = terminal.run("activate", "greet", "--host", "codex")
    assert answer == (
        3,
        "",
        "prowess: codex finds no skill named “greet” here.\n"
        "These hosts find it: prowess, opencode, copilot, crush.\n",
    )
    shape = json.loads(terminal.run("activate", "greet", "--host", "codex", "--json").out)
    assert shape["error"]["seen_by"] == ["prowess", "opencode", "copilot", "crush"]


def test_a_skill_that_is_switched_off_is_refused_with_the_reason(terminal):
    terminal.skill("project/.agents/skills/greet")
    terminal.run("disable", "greet")
    said = "The skill “greet” cannot be loaded because it is disabled: it is switched off in the settings."
    hint = "Run `prowess explain greet` to see why."
    assert terminal.run("activate", "greet") == (5, "", f"prowess: {said}\n{hint}\n")
    answer = terminal.run("activate", "greet", "--json")
    error = json.loads(answer.out)["error"]
    assert (answer.code, error["kind"], error["message"], error["hint"]) == (
        5,
        "unavailable",
        said,
        hint,
    )


def test_for_a_model_rules_hold_and_without_a_terminal_nobody_can_be_asked(terminal):
    terminal.skill("project/.agents/skills/greet", body="Hello\n")
    for rule, code in (("--allow", 0), ("--ask", 5), ("--deny", 5)):
        assert (rule, terminal.run("activate", "greet", "--by", "model", rule, "greet").code) == (
            rule,
            code,
        )
    assert terminal.run("activate", "greet", "--ask", "greet").code == 0
    assert terminal.run("activate", "greet", "--by", "model", "--ask", "greet") == (
        5,
        "",
        "prowess: Not permitted to use the skill “greet”: the rule `ask: Skill(greet)` on the command line "
        "requires approval, and there is no one to ask.\n",
    )
    answer = terminal.run("activate", "greet", "--by", "model", "--deny", "greet", "--json")
    assert (answer.code, json.loads(answer.out)["error"]["kind"]) == (5, "not-permitted")


def test_a_skill_that_is_kept_from_the_model_is_refused_to_it(terminal):
    terminal.skill("project/.agents/skills/greet", disable_model_invocation="true")
    assert terminal.run("activate", "greet").code == 0
    assert terminal.run("activate", "greet", "--by", "model").code == 5


def test_a_wrong_request_is_an_object_with_an_error_too(terminal):
    answer = terminal.run("activate", "greet", "--host", "nobody", "--json")
    assert (answer.code, json.loads(answer.out)["error"]["kind"]) == (2, "unknown-host")


# Looking is no use


def test_activating_is_not_counted_as_a_use(terminal):
    terminal.skill("project/.agents/skills/greet")
    terminal.run("activate", "greet")
    terminal.run("activate", "greet", "--by", "model")
    assert terminal.json("usage")["skills"] == []


# At a terminal


def test_on_a_terminal_control_characters_are_spelled_out_and_piped_they_are_not(terminal):
    terminal.skill("project/.agents/skills/evil", body="a\x1b[2Jb\tc\u202e\n")
    assert "a\x1b[2Jb\tc\u202e\n" in terminal.run("activate", "evil").out
    keyboard = Keyboard("activate", "evil")
    assert keyboard.end() == (0, "")
    assert "a\\x1b[2Jb" in keyboard.shown
    assert "\x1b[2J" not in keyboard.shown
    assert "\u202e" not in keyboard.shown
    assert keyboard.shown.endswith("</skill_content>\n")


def ask(terminal: Terminal, keys: str, *options: str) -> Keyboard:
    terminal.skill("project/.agents/skills/greet", body="Hello\n")
    keyboard = Keyboard(
        "activate", "greet", "--by", "model", "--ask", "greet", *options, piped=True
    )
    keyboard.type(keys, after="[o/a/R]")
    return keyboard


def test_whoever_sits_at_the_terminal_is_asked(terminal):
    keyboard = ask(terminal, "o\n")
    assert keyboard.end() == (0, expect(terminal, "greet", "Hello"))
    assert keyboard.text == (
        "A model wants to use the skill “greet”, and the rules say to ask you.\n"
        "Allow once, always, or reject? [o/a/R] o\n"
    )


def test_an_answer_that_is_none_is_asked_for_again(terminal):
    keyboard = ask(terminal, "maybe\n")
    keyboard.type("once\n", after="[o/a/R]")
    assert keyboard.end()[0] == 0


def test_a_rejection_takes_a_word_along(terminal):
    keyboard = ask(terminal, "r\n")
    keyboard.type("use git\n", after="instead? (Enter to skip)")
    assert keyboard.end() == (5, "")
    assert keyboard.shown.endswith(
        "prowess: Not permitted to use the skill “greet”: it was rejected. Feedback: use git\n"
    )


def test_the_end_of_the_input_is_a_rejection(terminal):
    keyboard = ask(terminal, END)
    keyboard.type(END, after="instead?")
    assert keyboard.end() == (5, "")


def test_ctrl_c_at_a_question_stops(terminal):
    keyboard = ask(terminal, INTERRUPT)
    assert keyboard.end() == (130, "")
    assert keyboard.shown.endswith("\nStopped.\n")


def test_always_is_remembered_where_the_settings_say_so(terminal):
    keyboard = ask(terminal, "a\n")
    assert keyboard.end()[0] == 0
    assert 'Remembered for this run only; set `approvals = "disk"`' in keyboard.shown
    terminal.write("home/.config/prowess/prowess.toml", 'approvals = "disk"\n')
    keyboard = ask(terminal, "a\n")
    assert keyboard.end()[0] == 0
    assert "this run only" not in keyboard.shown
    # Approved for good, so even where nobody can be asked.
    assert terminal.run("activate", "greet", "--by", "model", "--ask", "greet").code == 0
    terminal.skill("project/.agents/skills/greet", body="Other\n")
    assert terminal.run("activate", "greet", "--by", "model", "--ask", "greet").code == 5


def test_the_question_about_commands_shows_them_escaped(terminal):
    terminal.skill("home/.agents/skills/log", body="!`echo one \x1b[2J`\n")
    terminal.write("home/.config/prowess/prowess.toml", '[permissions]\nbash = "ask"\n')
    keyboard = Keyboard("activate", "log", piped=True)
    keyboard.type("r\n", after="[o/a/R]")
    keyboard.type("\n", after="instead?")
    assert keyboard.end() == (5, "")
    where = terminal.path("home/.agents/skills/log/SKILL.md")
    assert keyboard.text.startswith(
        f"The skill “log” ({where}) wants to run:\n    echo one \\x1b[2J\n"
    )


def test_the_question_shows_what_the_header_wants_to_have_approved(terminal):
    hooks = "{Stop: [{hooks: [{type: command, command: ./stop.sh}]}]}"
    terminal.skill("home/.agents/skills/keen", allowed_tools="[Read, 'Bash(git *)']", hooks=hooks)
    keyboard = Keyboard("activate", "keen", "--by", "model", piped=True)
    keyboard.type("o\n", after="[o/a/R]")
    assert keyboard.end()[0] == 0
    skill = f"The skill “keen” ({terminal.path('home/.agents/skills/keen/SKILL.md')})"
    assert keyboard.text.startswith(
        "A model wants to use the skill “keen”, and the rules say to ask you.\n"
        f"{skill} would use these tools without asking:\n    Read\n    Bash(git *)\n"
        f"{skill} would run these hooks:\n    Stop: ./stop.sh\n"
    )
    answer = terminal.run("activate", "keen", "--by", "model")
    assert (answer.code, answer.err[:42]) == (0, "warning: The header's `allowed-tools` and ")


def test_ctrl_c_ends_a_command_inside_a_body_with_everything_it_started(terminal):
    terminal.skill("home/.agents/skills/slow", body=f"!`sleep {MARK} & sleep {MARK}`\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "prowess", "activate", "slow"], stderr=subprocess.PIPE
    )
    wait_until_running(MARK)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err, wait_until_ended(MARK)) == (130, b"\nStopped.\n", True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_what_asks_the_program_to_end_ends_its_commands_too(terminal, number, code):
    terminal.skill("home/.agents/skills/slow", body=f"!`sleep {MARK} & sleep {MARK}`\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "prowess", "activate", "slow"], stderr=subprocess.PIPE
    )
    wait_until_running(MARK)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err, wait_until_ended(MARK)) == (code, b"\nStopped.\n", True)


def test_a_program_that_outlives_its_terminal_on_purpose_goes_on(terminal):
    wait = f"until [ -e {terminal.root}/go ]; do sleep 0.1; done"
    terminal.skill(
        "home/.agents/skills/slow", body=f"!`sleep {MARK} & {wait}; kill $!; echo done`\n"
    )
    process = subprocess.Popen(
        [
            "/bin/sh",
            "-c",
            'trap "" HUP; exec "$@"',
            "sh",
            sys.executable,
            "-m",
            "prowess",
            "activate",
            "slow",
        ],
        stdout=subprocess.PIPE,
    )
    wait_until_running(MARK)
    process.send_signal(signal.SIGHUP)
    terminal.write("go", "")
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, b"done" in out) == (0, True)


def test_a_request_to_end_at_a_question_stops(terminal):
    keyboard = ask(terminal, "")
    keyboard.signal(signal.SIGTERM)
    assert keyboard.end() == (143, "")
    assert keyboard.shown.endswith("\nStopped.\n")


def test_a_slow_command_shows_a_line_of_progress_and_takes_it_away(terminal):
    wait = f"until [ -e {terminal.root}/go ]; do sleep 0.1; done"
    terminal.skill("home/.agents/skills/slow", body=f"!`{wait}; echo done`\n")
    keyboard = Keyboard("activate", "slow", piped=True)
    keyboard.wait_for("loading slow …")
    terminal.write("go", "")
    code, out = keyboard.end()
    assert (code, "\ndone\n" in out) == (0, True)
    assert "loading slow …" in keyboard.shown
    assert keyboard.shown.endswith("\r\x1b[K")


# The rest


def test_names_are_completed(terminal, monkeypatch):
    terminal.skill("project/.agents/skills/greet")
    variables = {
        "_PROWESS_COMPLETE": "bash_complete",
        "COMP_WORDS": "prowess activate gr",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "prowess"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "plain,greet\n"


def test_the_reader_of_a_long_text_may_go_away(terminal):
    terminal.skill("project/.agents/skills/long", body="word " * 100_000)
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m prowess activate long | head -c 20"],
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("<skill_content name=", "")
