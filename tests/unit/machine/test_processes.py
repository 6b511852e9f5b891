"""Programs run for skills: with a short environment, without input, bounded, and ended with all
they started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from prowess.errors import MachineError
from prowess.errors.activation import Cancelled
from prowess.machine import processes
from prowess.machine.facts import current_facts
from prowess.machine.processes import PASSED_ON, ProcessRunner, pass_on
from prowess.model.command import Command, Finished
from prowess.testing import make_facts
from tests.halted_clock import HaltedClock

PATH = os.environ["PATH"]


def bash(script: str, **options: Any) -> Command:
    return Command(text=script, argv=("bash", "-c", script), shell="bash", **options)


def run(script: str, *, env: dict[str, str] | None = None, **options: Any) -> Finished:
    return ProcessRunner(make_facts(env={"PATH": PATH, **(env or {})})).run(bash(script, **options))


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that has ended and was not fetched by its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def test_output_and_errors_come_in_one_stream_in_their_order() -> None:
    assert run("echo out; echo err >&2; echo out again") == Finished(
        code=0, output="out\nerr\nout again\n"
    )


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -signal.SIGKILL)]
)
def test_the_exit_code_is_told(script: str, code: int) -> None:
    assert run(script) == Finished(code=code)


def test_a_child_gets_a_short_list_of_variables_and_those_of_its_skill() -> None:
    env = {
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "LC_TIME": "C",
        "TERM": "dumb",
        "TMPDIR": "/tmp",
        "AWS_SECRET_ACCESS_KEY": "x",
        "LD_LIBRARY_PATH": "/evil",
        "BASH_ENV": "/evil",
        "HTTPS_PROXY": "http://evil",
        "ANTHROPIC_API_KEY": "x",
        "MINE": "x",
    }
    finished = ProcessRunner(make_facts(env={"PATH": PATH, **env})).run(
        bash("env", env={"CITY": "Bonn", "TERM": "tty"})
    )
    seen = dict(line.split("=", 1) for line in finished.output.splitlines())
    assert len(seen.pop("PROWESS_RUN")) == 32
    made_by_bash = {"PWD", "SHLVL", "_", "OLDPWD"}
    assert {name: value for name, value in seen.items() if name not in made_by_bash} == {
        "PATH": PATH,
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "LC_TIME": "C",
        "TERM": "tty",
        "TMPDIR": "/tmp",
        "CITY": "Bonn",
    }


def test_what_is_passed_on_carries_neither_code_nor_secrets() -> None:
    dangerous = {
        "LD_PRELOAD": "x",
        "PYTHONPATH": "x",
        "BASH_ENV": "x",
        "GITHUB_TOKEN": "x",
        "PROMPT_COMMAND": "x",
    }
    assert pass_on({"PATH": "/bin", "LC_ALL": "C", **dangerous}) == {"PATH": "/bin", "LC_ALL": "C"}
    assert PASSED_ON.isdisjoint(dangerous)


def test_our_own_environment_and_folder_are_not_changed(tmp_path: Path) -> None:
    before = (dict(os.environ), os.getcwd())
    finished = ProcessRunner(current_facts()).run(
        bash("cd /; export HOME=/x; pwd", cwd=str(tmp_path), env={"A": "b"})
    )
    assert finished == Finished(code=0, output="/\n")
    assert (dict(os.environ), os.getcwd()) == before


def test_a_command_works_in_its_folder_and_has_no_input(tmp_path: Path) -> None:
    assert run("pwd; cat; echo end", cwd=str(tmp_path)) == Finished(
        code=0, output=f"{tmp_path}\nend\n"
    )


def test_a_command_has_no_terminal_and_a_session_of_its_own() -> None:
    assert run("tty; true") == Finished(code=0, output="not a tty\n")
    script = "import os; print(os.getsid(0) == os.getppid(), os.getsid(0) == os.getpgrp())"
    assert run(f"{sys.executable} -c '{script}'; true") == Finished(code=0, output="True True\n")


def has_words(folder: Path, *names: str) -> bool:
    """Whether files have been written."""
    return all((folder / name).exists() and (folder / name).read_text().split() for name in names)


def test_a_command_that_takes_too_long_is_ended_with_everything_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("child", "stubborn")
    script = (
        "echo begun; sleep 600 & echo $! > child;"
        " (trap '' TERM; sleep 600) & echo $! > stubborn; wait"
    )
    monkeypatch.setattr(processes, "time", HaltedClock(lambda: has_words(tmp_path, *names)))
    assert run(script, seconds=2, cwd=str(tmp_path)) == Finished(code=None, output="begun\n")
    children = [int((tmp_path / name).read_text()) for name in names]
    assert [wait_until_gone(pid) for pid in children] == [True, True]


def test_what_a_command_leaves_in_the_background_is_ended_with_it(tmp_path: Path) -> None:
    started = time.monotonic()
    assert run("sleep 600 & echo $! > child; echo done", cwd=str(tmp_path)) == Finished(
        code=0, output="done\n"
    )
    assert time.monotonic() - started < 300
    assert wait_until_gone(int((tmp_path / "child").read_text()))


def test_a_program_that_closes_its_output_is_still_waited_for(tmp_path: Path) -> None:
    assert run("exec >&- 2>&-; sleep 0.2; touch late; exit 7", cwd=str(tmp_path)) == Finished(
        code=7
    )
    assert (tmp_path / "late").exists()


def test_of_much_output_the_beginning_and_the_end_are_kept_and_the_rest_is_counted() -> None:
    finished = run("head -c 300000 /dev/zero | tr '\\0' a; echo; echo the end", output_bytes=1_000)
    assert (finished.code, finished.output, finished.left_out) == (0, "a" * 1_000, 299_009)
    assert len(finished.tail) == 4_096
    assert finished.tail.endswith("a\nthe end\n")


def test_output_without_end_is_bounded_by_time_and_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # More than a pipe holds has been written, so some of it has been read.
    script = "head -c 300000 /dev/zero | tr '\\0' y; echo x > much; yes"
    monkeypatch.setattr(processes, "time", HaltedClock(lambda: has_words(tmp_path, "much")))
    finished = run(script, seconds=1, output_bytes=100, cwd=str(tmp_path))
    assert (finished.code, finished.output) == (None, "y" * 100)
    assert finished.left_out > 100_000


def test_a_reader_that_comes_late_loses_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    read = processes._Output._read

    def read_late(output: processes._Output) -> None:
        # As on a machine that is so busy that the thread does not run for longer than the grace.
        time.sleep(0.5)
        read(output)

    monkeypatch.setattr(processes, "_GRACE", 0.01)
    monkeypatch.setattr(processes._Output, "_read", read_late)
    assert run("echo out; exit 3") == Finished(code=3, output="out\n")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="`setsid` is a program of Linux")
def test_what_escaped_with_its_output_is_not_waited_for(tmp_path: Path) -> None:
    # It has left the session, and the variable by which it would be found.
    script = "env -i setsid sh -c 'echo $$ > pid; sleep 600' & until [ -s pid ]; do :; done; echo x"
    began = time.monotonic()
    assert run(script, cwd=str(tmp_path)) == Finished(code=0, output="x\n")
    assert time.monotonic() - began < 300
    os.killpg(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_a_character_that_the_bound_cuts_in_two_is_left_out() -> None:
    finished = run("printf 'aé%.0s' {1..3000}", output_bytes=5)
    assert (finished.output, finished.left_out) == ("aéa", 8_995)
    assert finished.tail.startswith(("aé", "é"))


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert run("printf 'a\\xffb'") == Finished(code=0, output="a\ufffdb")


def test_a_command_can_be_called_off(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    runner = ProcessRunner(current_facts())
    with pytest.raises(Cancelled) as caught:
        runner.run(
            bash("echo $$ > pid; sleep 60", cwd=str(tmp_path)),
            is_cancelled=lambda: pid.exists() and bool(pid.read_text()),
        )
    assert str(caught.value) == "Cancelled: the command `echo $$ > pid; sleep 60` was stopped."
    assert wait_until_gone(int(pid.read_text()))


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            Command(text="x", argv=("no-such-program-here", "x")),
            "Could not run no-such-program-here: the program cannot be found.",
        ),
        (
            Command(text="x", argv=("no-such-shell", "-c", "x"), shell="powershell"),
            "Could not run no-such-shell: the program cannot be found; a skill needs the shell “powershell”.",
        ),
        (
            bash("ls", cwd="/no/such/folder"),
            "Could not work in /no/such/folder: No such file or directory.",
        ),
        (bash("x" * 3_000_000), "Could not run bash: Argument list too long."),
        (bash("a\0b"), "Could not run bash: embedded null byte."),
    ],
)
def test_what_cannot_be_started_is_an_error_of_the_machine(command: Command, sentence: str) -> None:
    with pytest.raises(MachineError) as caught:
        ProcessRunner(make_facts(env={"PATH": PATH})).run(command)
    assert str(caught.value) == sentence


def test_many_commands_leave_no_files_open() -> None:
    runner = ProcessRunner(current_facts())
    runner.run(bash("true"))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert [runner.run(bash("echo $((1 + 1))")).output for _ in range(20)] == ["2\n"] * 20
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after <= before


def test_an_interrupt_ends_the_command_too(tmp_path: Path) -> None:
    program = (
        "import sys; from prowess.machine.processes import *; from prowess.machine.facts import current_facts\n"
        "command = Command(text='x', argv=('bash', '-c', 'echo $$ > pid; sleep 600'))\n"
        "ProcessRunner(current_facts()).run(command)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not has_words(tmp_path, "pid"):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(120) != 0
    assert wait_until_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found on Linux")
def test_a_program_is_found_also_where_process_ids_have_begun_again() -> None:
    with subprocess.Popen(["sleep", "600"], env={"PATH": PATH, "PROWESS_RUN": "a-mark"}) as child:
        # As if the run had begun with the last id that there is.
        processes._kill_marked(b"a-mark", since=1 << 30)
        assert child.wait(120) == -signal.SIGKILL


def test_a_program_that_runs_prowess_takes_the_programs_of_that_along(tmp_path: Path) -> None:
    inner = (
        "import sys\n"
        "from prowess.machine.facts import current_facts\n"
        "from prowess.machine.processes import ProcessRunner\n"
        "from prowess.model.command import Command\n"
        'script = \'echo "$$" > "$0"; sleep 60\'\n'
        "command = Command(text=script, argv=('bash', '-c', script, sys.argv[1]))\n"
        "ProcessRunner(current_facts()).run(command)\n"
    )
    file = tmp_path / "pid"
    outer = Command(text="inner", argv=(sys.executable, "-c", inner, str(file)))
    runner = ProcessRunner(make_facts(env={"PATH": PATH, "HOME": str(tmp_path)}))

    def has_started() -> bool:
        return file.exists() and bool(file.read_text().strip())

    with pytest.raises(Cancelled):
        runner.run(outer, is_cancelled=has_started)
    assert wait_until_gone(int(file.read_text()))


# Input


BIG = bytes(range(256)) * 20_000


def test_a_program_reads_its_input_to_the_end() -> None:
    assert run("cat", input=b"one\ntwo") == Finished(code=0, output="one\ntwo")
    assert run("wc -c", input=BIG).output.strip() == str(len(BIG))


def test_a_program_without_input_reads_nothing() -> None:
    assert run("cat; echo end") == Finished(code=0, output="end\n")


@pytest.mark.parametrize("script", ["exit 3", "head -c 1 >/dev/null; exit 3", "exec <&-; exit 3"])
def test_a_program_that_does_not_read_its_input_ends_as_usual(script: str) -> None:
    assert run(script, input=BIG) == Finished(code=3)


def test_a_program_that_reads_and_writes_much_does_not_get_stuck() -> None:
    done = run("cat; cat /dev/zero | head -c 300000", input=BIG, output_bytes=10)
    assert (done.code, done.left_out) == (0, len(BIG) + 300_000 - 10)


def test_errors_can_be_kept_apart() -> None:
    done = run("echo out; echo err >&2; exit 2", separate_errors=True)
    assert done == Finished(code=2, output="out\n", errors="err\n")


def test_a_flood_of_errors_is_cut() -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo ok"
    done = run(script, separate_errors=True, output_bytes=100)
    assert done == Finished(code=0, output="ok\n", errors="x" * 100)
