"""The command line as a whole: typos, exit codes, pipes, terminals, completion, and text that is
safe to print.
"""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

import prowess
from prowess.cli import app, main
from prowess.cli.terminal.out import shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.cli.terminal.tables import render_columns


def start(*arguments: str, **options) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "prowess", *arguments], **options)


def run_on_terminal(*arguments: str, columns: int = 80) -> str:
    """What a terminal of that width is sent."""
    return run_on_terminal_as([sys.executable, "-m", "prowess", *arguments], columns=columns)


def run_on_terminal_as(command: list[str], *, columns: int = 80) -> str:
    """What a terminal of that width is sent by a command."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env=environment)
    os.close(theirs)
    sent = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        sent += piece
    os.close(ours)
    process.wait()
    return sent.decode().replace("\r\n", "\n")


def test_help_lists_every_command_in_order_without_importing_one(terminal):
    answer = terminal.run("--help")
    assert (answer.code, answer.err) == (0, "")
    found = re.findall(r"^  ([a-z]+) +[A-Z]", answer.out, re.MULTILINE)
    assert found == list(app.COMMANDS)


@pytest.mark.parametrize("name", list(app.COMMANDS))
def test_every_command_exists_has_help_and_the_summary_of_the_overview(name):
    command = app.app.get_command(click.Context(app.app), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    assert (command.help or "").startswith(app.COMMANDS[name][1].rstrip("."))
    assert main([name, "-h"]) == 0


def test_exit_codes_are_documented_in_the_help(terminal):
    out = terminal.run("--help").out
    assert [code.value for code in app.Exit if not re.search(rf"\b{code.value}\b", out)] == []


def test_the_version_is_printed(terminal):
    assert terminal.run("--version") == (0, f"prowess {prowess.__version__}\n", "")


def test_a_mistyped_command_suggests_the_nearest(terminal):
    answer = terminal.run("lsit")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[-1] == "Error: No such command “lsit”. Did you mean list?"
    far = terminal.run("zzzzzzzz").err.splitlines()[-1]
    assert far == "Error: No such command “zzzzzzzz”. Run `prowess --help` to see all commands."


def test_a_mistyped_option_suggests_the_nearest(terminal):
    answer = terminal.run("check", "--jsn")
    assert (answer.code, answer.err.splitlines()[-1]) == (
        2,
        "Error: No such option '--jsn'. Did you mean '--json'?",
    )


def test_options_before_a_command_say_where_they_belong(terminal):
    answer = terminal.run("--json", "list")
    message = "--json goes after the command: `prowess list --json`."
    assert (answer.code, answer.err.splitlines()[-1]) == (2, f"Error: {message}")
    assert json.loads(answer.out)["error"]["message"] == message
    last = terminal.run("--host", "omp", "check").err.splitlines()[-1]
    assert last == "Error: --host goes after the command: `prowess check --host NAME`."


def test_debug_may_stand_anywhere_and_shows_where_an_error_came_from(terminal):
    arguments = ["show", "nothing"]
    assert terminal.run(*arguments).code == 3
    for place in range(3):
        answer = terminal.run(*arguments[:place], "--debug", *arguments[place:])
        assert (answer.code, answer.err.splitlines()[0]) == (
            3,
            "Traceback (most recent call last):",
        )
        assert "prowess: There is no skill named “nothing” here." in answer.err.splitlines()
    assert terminal.run("--debug", "lsit").code == 2


def test_stopping_with_ctrl_c_is_quiet_and_has_its_own_exit_code(terminal, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("prowess.cli.commands.summary.open_skills", stop)
    assert terminal.run() == (130, "", "\nStopped.\n")


# Says when the command line is being imported: a Ctrl-C before that is Python's own business.
ANNOUNCED = (
    "import sys; from prowess.cli import lean_imports, main; load = lean_imports.import_lean\n"
    "lean_imports.import_lean = lambda: (sys.stderr.write('!'), load())\n"
    "sys.exit(main())"
)


def test_an_interrupted_process_leaves_no_traceback(terminal):
    for number in range(3000):
        terminal.skill(f"project/.agents/skills/s{number}")
    command = [sys.executable, "-c", ANNOUNCED, "list"]
    printed = []
    for delay in (0.02, 0.05, 0.1, 0.2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stderr is not None
        assert process.stderr.read(1) == b"!"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        # The interpreter no longer handles the signal once it is exiting; all is printed by then.
        assert (b"Traceback" in err, process.returncode in (0, 130, -signal.SIGINT)) == (
            False,
            True,
        )
        printed.append((out, process.returncode == 130))
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    # A fast machine may be printing already.
    assert [whole.startswith(out) if is_cut else whole == out for out, is_cut in printed] == [
        True
    ] * 4


def test_a_ctrl_c_after_the_last_word_leaves_no_traceback(terminal):
    program = (
        "import os, signal, sys; from prowess.cli import main; code = main()\n"
        "os.kill(os.getpid(), signal.SIGINT); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, "list"], capture_output=True)
    assert (done.returncode, b"Traceback" in done.stderr) == (-signal.SIGINT, False)


def test_a_defect_is_told_as_one_and_not_as_a_traceback(terminal, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("no \x1b[31m")

    monkeypatch.setattr("prowess.cli.commands.summary.open_skills", fail)
    assert terminal.run() == (
        70,
        "",
        "prowess: unexpected error: RuntimeError: no \\x1b[31m\n"
        "This is a bug in Prowess. Run with `--debug` to see the traceback.\n",
    )


def test_trouble_with_the_machine_is_a_sentence(terminal, monkeypatch):
    def fail(*arguments, **options):
        raise PermissionError(13, "Permission denied", "/secret")

    monkeypatch.setattr("prowess.cli.commands.summary.open_skills", fail)
    assert terminal.run() == (4, "", "prowess: Permission denied: /secret\n")


@pytest.mark.parametrize(
    "arguments", [("list",), ("list", "--json"), ("compare",), ("explain", "s1"), ("show", "s1")]
)
def test_a_reader_that_goes_away_ends_the_program_without_a_word(terminal, arguments):
    for number in range(300):
        terminal.skill(f"project/.agents/skills/s{number}", description="long " * 100)
    ours, theirs = os.pipe()
    os.close(ours)
    process = start(*arguments, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [("list",), ("list", "--json")])
def test_a_full_disk_is_told(terminal, arguments):
    terminal.skill("project/.agents/skills/a")
    with open("/dev/full", "wb") as full:
        process = start(*arguments, stdout=full, stderr=subprocess.PIPE)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (
        4,
        b"prowess: No space left on device\n",
    )


def test_a_terminal_that_knows_no_unicode_still_gets_an_answer(terminal):
    terminal.skill("project/.agents/skills/a", description="naïve 日本")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    process = start("list", stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")
    assert b"\\u25cf  a     ready  project  agents:project  na\\xefve \\u65e5\\u672c\n" in out


def test_colour_and_cut_lines_are_for_terminals_only(terminal):
    terminal.skill("project/.agents/skills/a", description="long " * 50)
    piped = terminal.run("list").out
    assert "\x1b" not in piped
    assert "long " * 49 + "long\n" in piped
    shown = run_on_terminal("list", columns=60)
    assert "\x1b[32m●" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(cell_len(line) for line in plain.splitlines()) <= 60
    assert "●  a     ready  project  agents:proj…  long long long long …\n" in plain


STEERING_COMMANDS = (
    (),
    ("list",),
    ("list", "--unused"),
    ("show", "a"),
    ("show", "a", "--raw"),
    ("explain", "a"),
    ("explain", "a", "--deny", "a"),
    ("catalog",),
    ("catalog", "--budget", "290"),
    ("catalog", "--explain"),
    ("cost",),
    ("check",),
    ("doctor", "a"),
    ("compare",),
)


def test_what_a_skill_says_cannot_steer_a_terminal(terminal):
    nasty = "\\e]0;x\\a \\e[2J \\u202e"
    terminal.write(
        "project/.agents/skills/a/SKILL.md",
        f'---\nname: a\ndescription: "{nasty}"\nlicense: "{nasty}"\nwhen_to_use: "{nasty}"\nalways: true\nrequires:\n  bins: '
        f'["{nasty}"]\n---\n\x1b[2J\x1b]8;;http://x\x07[a](http://y)\n',
    )
    for arguments in STEERING_COMMANDS:
        # Slow commands show a line of progress and erase it.
        sent = run_on_terminal(*arguments).replace("\r\x1b[K", "")
        assert re.sub(r"\x1b\[[0-9;]*m", "", sent).replace("\n", "").isprintable(), arguments


def test_tags_in_a_body_are_shown_on_a_terminal(terminal):
    terminal.write(
        "project/.agents/skills/a/SKILL.md",
        "---\nname: a\ndescription: d\n---\n<rule>Be kind.</rule>\n",
    )
    assert "<rule>Be kind.</rule>" in run_on_terminal("show", "a")


@pytest.mark.needs("bash")
def test_completion_for_the_shell_can_be_installed(terminal):
    environment = {**os.environ, "_PROWESS_COMPLETE": "bash_source"}
    process = start(stdout=subprocess.PIPE, env=environment)
    assert b"_PROWESS_COMPLETE=bash_complete" in process.communicate(timeout=120)[0]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["prowess", "ex"], {"explain", "export"}),
        (["prowess", "show", "pd"], {"pdf"}),
        (["prowess", "list", "--host", "om"], {"omp"}),
        (
            ["prowess", "list", "--host", "omp@"],
            {"omp@current", "omp@18.3.4", "omp@18.2.3", "omp@documented"},
        ),
        (["prowess", "show", "--host", "nobody", "p"], set()),
        (["prowess", "show", "x"], {"x.y:z-1", "xé"}),
        (["prowess", "--host", "om"], {"omp"}),
        (["prowess", "list", "--de"], {"--debug", "--deny"}),
        (["prowess", "hosts", "--de"], {"--debug"}),
    ],
)
def test_commands_skills_and_hosts_are_completed(terminal, words, found):
    terminal.skill("project/.agents/skills/pdf")
    terminal.skill("project/.agents/skills/other")
    for number, name in enumerate(
        ("x.y:z-1", "xé", "x$(touch pwned)", "x y", "x'", "x\\e[31m", "x`id`", "x;id")
    ):
        terminal.write(
            f"project/.agents/skills/n{number}/SKILL.md",
            f'---\nname: "{name}"\ndescription: d\n---\n',
        )
    environment = {
        **os.environ,
        "_PROWESS_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    process = start(stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    out, err = process.communicate(timeout=120)
    assert err == b""
    assert {line.partition(",")[2] for line in out.decode().split()} == found


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_appears_only_when_work_takes_long_and_is_taken_away(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("prowess.cli.terminal.progress._QUIET_SECONDS", 600)
    with Progress() as quick:
        quick.progress("reading skills", 5)
    assert screen.getvalue() == ""
    # However long the machine takes, no second goes by.
    clock = SimpleNamespace(monotonic=lambda: 0.0)
    monkeypatch.setattr("prowess.cli.terminal.progress.time", clock)
    monkeypatch.setattr("prowess.cli.terminal.progress._QUIET_SECONDS", 0.01)
    monkeypatch.setattr("prowess.cli.terminal.progress._EVERY_SECONDS", 0.01)
    with Progress() as slow:
        slow.progress("reading skills", 1234)
        deadline = time.monotonic() + 60
        while not screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert screen.getvalue().startswith("\r\x1b[Kreading skills … 1,234 (0 s)")
    assert screen.getvalue().endswith("\r\x1b[K")


def test_progress_is_silent_where_nobody_watches(monkeypatch):
    monkeypatch.setattr("prowess.cli.terminal.progress._QUIET_SECONDS", 0.0)
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    with Progress() as progress:
        progress.progress("reading skills", 1)
        time.sleep(0.05)
    assert said.getvalue() == ""


@given(
    st.lists(st.tuples(st.text("ab日 😀", max_size=40), st.text("xy語", max_size=80)), min_size=1),
    st.integers(20, 90),
)
def test_columns_are_aligned_and_fit_the_width(rows, width):
    lines = render_columns([(Text(f"|{first}"), f"|{last}") for first, last in rows], width=width)
    assert len(lines) == len(rows)
    assert max(cell_len(line.plain) for line in lines) <= max(width, 26)
    assert len({cell_len(line.plain[: line.plain.index("|", 1)]) for line in lines}) == 1


def test_a_very_long_cell_stands_out_of_its_column_when_piped():
    lines = render_columns([("a", "x"), ("b" * 70, "y")], width=None)
    assert [line.plain for line in lines] == ["a" + " " * 65 + "x", "b" * 70 + "  y"]


def test_a_wrapped_last_column_goes_on_below_itself():
    lines = render_columns([("key", "one two three four five six")], width=20, wrap=True)
    assert [line.plain for line in lines] == ["key  one two three", "     four five six"]


def test_paths_are_written_as_people_do(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    paths = ["/home/me/p/a", "/home/me/p", "/home/me/x", "/home/me", "/home/me2/x", "/etc/\x1b"]
    assert [shorten_path(path, "/home/me/p") for path in paths] == [
        "a",
        ".",
        "~/x",
        "~",
        "/home/me2/x",
        "/etc/\\x1b",
    ]


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("prowess list --host op", ["opencode", "openclaw"]),
        ("prowess list --host opencode@", ["@current", "@documented"]),
        ("prowess list --host opencode@doc", ["@documented"]),
        (
            "prowess list --host=",
            "prowess spec claude-code opencode openclaw omp codex"
            " gemini copilot pi qwen crush".split(),
        ),
        ("prowess list --host=om", ["omp"]),
        ("prowess list --host=omp@d", ["@documented"]),
        ("prowess --host openco", ["opencode"]),
        ("prowess list --deb", ["--debug"]),
        ("prowess show a:", ["b", "c"]),
        ("prowess show ", ["a:b", "a:c", "pdf"]),
    ],
)
def test_bash_completes_words_that_hold_its_word_breaks(terminal, line, found):
    for number, name in enumerate(("a:b", "a:c", "pdf")):
        terminal.write(
            f"project/.agents/skills/n{number}/SKILL.md",
            f'---\nname: "{name}"\ndescription: d\n---\n',
        )
    program = terminal.write("bin/prowess", f'#!/bin/sh\nexec {sys.executable} -m prowess "$@"\n')
    program.chmod(0o755)
    script = f"""
        eval "$(_PROWESS_COMPLETE=bash_source prowess)"
        COMP_LINE='{line}' COMP_POINT={len(line)}
        _prowess_completion prowess "" ""
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    process = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    # Of the word that is being typed bash replaces what stands behind its last word break, an @
    # included.
    assert (process.stdout.splitlines(), process.stderr) == (found, "")


def test_an_error_output_that_is_full_leaves_the_exit_code(terminal):
    with open("/dev/full", "wb") as full:
        assert (
            start("list", "--host", "x", stderr=full, stdout=subprocess.DEVNULL).wait(timeout=120)
            == 2
        )
        assert start("xyz", stderr=full, stdout=subprocess.DEVNULL).wait(timeout=120) == 2


def test_a_wrong_command_is_told_as_json_where_json_was_asked_for(terminal):
    code, out, _ = terminal.run("--json", "lits")
    assert (code, json.loads(out)["error"]) == (
        2,
        {
            "kind": "usage-error",
            "message": "No such command “lits”. Did you mean list?",
            "exit_code": 2,
        },
    )


def test_a_working_folder_that_was_deleted_is_named_and_what_to_do(terminal, monkeypatch):
    gone = terminal.project / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for arguments in (["list"], [], ["new", "x"], ["config"]):
        assert terminal.run(*arguments) == (
            4,
            "",
            "prowess: The working folder no longer exists.\nChange to another folder and try again.\n",
        ), arguments


def test_the_line_of_progress_never_comes_back_once_the_answer_has_begun(terminal):
    terminal.skill("project/.agents/skills/pdf")
    slow = (
        "import sys, time\n"
        "from prowess.cli import main\n"
        "from prowess.cli.terminal import progress\n"
        "progress._QUIET_SECONDS = progress._EVERY_SECONDS = 0.01\n"
        "from prowess.runtime import Skills\n"
        "scan = Skills.snapshot.fget\n"
        "lines, render = [], progress.Progress._render_line\n"
        "def note(self, seconds):\n"
        "    lines.append(seconds)\n"
        "    return render(self, seconds)\n"
        "progress.Progress._render_line = note\n"
        "def scan_when_shown(self):\n"
        "    end = time.monotonic() + 120\n"
        "    # The first has been written when the second is made.\n"
        "    while len(lines) < 2 and time.monotonic() < end:\n"
        "        time.sleep(0.01)\n"
        "    return scan(self)\n"
        "Skills.snapshot = property(scan_when_shown)\n"
        "sys.exit(main(['list', '--all', '--host', 'omp']))\n"
    )
    shown = run_on_terminal_as([sys.executable, "-c", slow])
    assert "looking for skills" in shown
    answer = shown[shown.index("NAME") :]
    assert ("looking for skills" in answer, "\x1b[K" in answer) == (False, False)
