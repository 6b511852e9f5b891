"""How the program ends: its whole answer is written, its exit code is kept, and whatever waits for
the end is called.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROWESS = f"{sys.executable} -m prowess"


def run(program: str) -> tuple[int, str, str]:
    """The exit code and output of a Python program."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def run_shell(line: str) -> tuple[int, str, str]:
    """The exit code and output of a line of shell."""
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_a_long_answer_goes_through_a_pipe_whole(terminal):
    for number in range(300):
        terminal.skill(f"project/.agents/skills/s{number}", description="long " * 100)
    whole = terminal.run("list", "--json").out
    assert len(whole) > 1 << 17
    assert run_shell(f"{PROWESS} list --json | cat") == (0, whole, "")


def test_a_reader_of_one_line_gets_it_and_nothing_is_complained_about(terminal):
    for number in range(300):
        terminal.skill(f"project/.agents/skills/s{number}", description="long " * 100)
    assert run_shell(f"{PROWESS} list --json | head -1") == (0, "{\n", "")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [("list", 0), ("--version", 0), ("list --nonsense", 2), ("show nothing", 3)],
)
def test_the_exit_code_is_that_of_the_command(terminal, arguments, code):
    terminal.skill("project/.agents/skills/pdf")
    assert run_shell(f"{PROWESS} {arguments}")[0] == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_an_error_that_cannot_be_written_as_json_keeps_its_exit_code(terminal):
    code, _, err = run_shell(f"{PROWESS} list --host nothing --json > /dev/full")
    assert (code, "There is no host “nothing”" in err) == (2, True)


ENDING = """
import atexit, threading
import prowess.cli as cli

def finish():
    threading.main_thread().join()
    print("thread")

def main():
    atexit.register(print, "callback")
    threading.Thread(target=finish).start()
    print("answer")
    return 3

cli.main = main
"""


def test_threads_end_and_callbacks_are_called_before_the_process_ends():
    answer = (3, "answer\nthread\ncallback\n", "")
    assert run(f"{ENDING}\ncli.run_program()\nprint('never')") == answer


def test_a_callback_from_before_the_program_began_is_called_too():
    answer = (3, "answer\nthread\ncallback\nearlier\n", "")
    program = f"import atexit\natexit.register(print, 'earlier')\n{ENDING}\ncli.run_program()"
    assert run(program) == answer


def test_a_program_that_calls_the_command_line_goes_on_and_ends_as_it_wants():
    program = "import prowess.cli, sys\nprowess.cli.main(['--version'])\nprint('on')\nsys.exit(9)"
    code, out, err = run(program)
    assert (code, out.endswith("\non\n"), err) == (9, True, "")
