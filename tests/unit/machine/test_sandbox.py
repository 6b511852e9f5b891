"""Programs of skills touch only what they were given, whichever engine confines them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from prowess.errors import MachineError
from prowess.errors.activation import Cancelled
from prowess.machine import sandbox
from prowess.machine.processes import ProcessRunner
from prowess.model.command import Command, Finished
from prowess.model.facts import Facts
from prowess.model.sandbox import Engine, SandboxPolicy, SandboxSupport

pytestmark = pytest.mark.needs("bwrap", "prlimit", "bash")

CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2)"


@pytest.fixture(params=["sandlock", "bubblewrap"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Engine:
    support = SandboxSupport(engine=request.param, reason="")
    monkeypatch.setattr(sandbox, "find_support", lambda: support)
    chosen: Engine = request.param
    return chosen


class Box:
    """A project, a home with a key in it, and programs that run there."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh" / "id").write_text("private key\n")
        (self.home / ".netrc").write_text("password\n")
        (self.home / "notes").write_text("plain\n")
        self.project.mkdir()

    def run(self, script: str, *words: str, seconds: float = 120, **bounds) -> Finished:
        hidden = tuple(str(self.home / name) for name in (".ssh", ".netrc", ".missing"))
        policy = SandboxPolicy(writable=(str(self.project),), hidden=hidden, **bounds)
        return self.start(("bash", "-c", script, "bash", *words), policy, seconds=seconds)

    def start(self, argv: tuple[str, ...], policy: SandboxPolicy, **options) -> Finished:
        env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        command = Command(
            text=" ".join(argv), argv=argv, cwd=str(self.project), sandbox=policy, **options
        )
        return ProcessRunner(Facts(home=str(self.home), env=env)).run(command)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_this_machine_confines_programs():
    assert sandbox.find_support() == SandboxSupport(
        engine="sandlock", reason="Landlock and seccomp confine what skills run"
    )


def test_a_program_writes_in_the_project_and_nowhere_else(engine, box):
    (box.home / "notes").chmod(0o666)
    script = (
        "echo made > made; echo more >> ~/notes; echo new > ~/new; mkdir ../beside;"
        " rm ~/notes; ln ~/notes here; chmod 777 ~; cat made"
    )
    finished = box.run(script)
    assert (finished.code, finished.output.splitlines()[-1]) == (0, "made")
    assert sorted(path.name for path in box.project.iterdir()) == ["made"]
    assert sorted(path.name for path in box.home.iterdir()) == [".netrc", ".ssh", "notes"]
    assert (box.home / "notes").read_text() == "plain\n"
    assert not (box.project.parent / "beside").exists()


@pytest.mark.parametrize(
    "read",
    [
        "cat ~/.ssh/id",
        "cd ~ && cat .ssh/id",
        "ln -s ~/.ssh link && cat link/id",
        "cat /proc/self/root$HOME/.ssh/id",
        "cat ~/.netrc",
        "cp -r ~/.ssh . && cat .ssh/id",
        "mount -t tmpfs none ~/notes; umount -l ~/.ssh; cat ~/.ssh/id",
    ],
)
def test_what_is_hidden_cannot_be_read_by_any_path(engine, box, read):
    output = box.run(read).output
    assert "private key" not in output
    assert "password" not in output


def test_what_is_not_hidden_can_be_read(engine, box):
    assert box.run("cat ~/notes") == Finished(code=0, output="plain\n")


def test_the_temporary_folder_is_private_and_goes_with_the_program(engine, box):
    finished = box.run('mktemp && echo "$TMPDIR"')
    made, folder = finished.output.splitlines()
    assert made.startswith(f"{folder}/")
    assert not os.path.exists(folder)


def test_there_is_no_network_unless_it_is_allowed(engine, box):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        argv = (sys.executable, "-c", CONNECT, port)
        assert box.start(argv, SandboxPolicy()).code == 1
        server.settimeout(0.2)
        with pytest.raises(TimeoutError):
            server.accept()
        assert box.start(argv, SandboxPolicy(network=True)) == Finished(code=0)
        server.settimeout(60)
        server.accept()[0].close()


def test_too_much_memory_ends_the_program(engine, box):
    program = "x = bytearray(400_000_000); print(len(x))"
    argv = (sys.executable, "-c", program)
    assert box.start(argv, SandboxPolicy(memory_bytes=1 << 30)).output == "400000000\n"
    finished = box.start(argv, SandboxPolicy(memory_bytes=200 << 20))
    assert finished.code not in (0, None)
    assert "400000000" not in finished.output


def test_sandlock_bounds_the_number_of_processes(box):
    # Not a shell: that would try again for half a minute.
    program = "import os, time\nfor n in range(40):\n    os.fork() or time.sleep(600)"
    policy = SandboxPolicy(writable=(str(box.project),), processes=8)
    finished = box.start((sys.executable, "-c", program), policy)
    assert "Resource temporarily unavailable" in finished.output


def test_other_processes_cannot_be_signalled(engine, box):
    with subprocess.Popen(["sleep", "600"]) as other:
        try:
            assert box.run('kill -9 "$1"', str(other.pid)).code != 0
            assert other.poll() is None
        finally:
            other.kill()


def test_the_time_limit_ends_the_program_and_its_children(engine, box):
    began = time.monotonic()
    nap = _make_nap()
    finished = box.run(f"{nap} & {nap}", seconds=0.5)
    assert (finished.code, time.monotonic() - began < 200) == (None, True)
    _wait_until_ended(nap)


def test_a_program_that_is_called_off_ends_with_its_children(engine, box):
    nap = _make_nap()
    command = Command(
        text="sleep",
        argv=("bash", "-c", f"{nap} & {nap}"),
        cwd=str(box.project),
        sandbox=SandboxPolicy(),
    )
    runner = ProcessRunner(Facts(home=str(box.home), env={"PATH": os.environ["PATH"]}))
    with pytest.raises(Cancelled):
        runner.run(command, is_cancelled=lambda: _count_processes(nap) == 2)
    _wait_until_ended(nap)


def test_output_and_errors_come_in_the_order_of_writing(engine, box):
    assert box.run("echo a; echo b >&2; echo c").output == "a\nb\nc\n"


def test_input_and_errors_have_streams_of_their_own(engine, box):
    big = b"x" * 5_000_000
    argv = ("bash", "-c", "wc -c; echo wrong >&2; exit 2")
    policy = SandboxPolicy(writable=(str(box.project),))
    done = box.start(argv, policy, input=big, separate_errors=True)
    assert done == Finished(code=2, output=f"{len(big)}\n", errors="wrong\n")
    unread = box.start(("bash", "-c", "exit 4"), policy, input=big)
    assert unread == Finished(code=4)


def test_arguments_arrive_unchanged(engine, box):
    words = ("$(touch canary)", "`id`", "a b", "", "'\"", "\n", "*", "-x", "ü")
    finished = box.run('printf "<%s>" "$@"', *words)
    assert finished.output == "".join(f"<{word}>" for word in words)
    assert not (box.project / "canary").exists()


def test_a_program_gets_only_the_variables_it_was_given(engine, box, monkeypatch):
    monkeypatch.setenv("SECRET_OF_OURS", "x")
    assert "SECRET_OF_OURS" not in box.run("env").output


def test_many_programs_run_at_the_same_time(engine, box):
    found: list[Finished] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(box.run(f"echo {n}"))) for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(one.output) for one in found) == list(range(12))


def test_without_an_engine_nothing_is_started(box, monkeypatch):
    support = SandboxSupport(engine=None, reason="sandlock: not installed")
    monkeypatch.setattr(sandbox, "find_support", lambda: support)
    with pytest.raises(MachineError, match="no sandbox on this machine"):
        box.run("touch made")
    assert not (box.project / "made").exists()


def test_an_engine_that_does_not_work_is_told_with_the_reason(monkeypatch):
    sandbox.find_support.cache_clear()
    monkeypatch.setitem(sys.modules, "sandlock", None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    try:
        support = sandbox.find_support()
    finally:
        sandbox.find_support.cache_clear()
    assert support.engine is None
    assert "sandlock: not installed" in support.reason
    assert "bubblewrap: the program `bwrap` is not installed" in support.reason


def _make_nap() -> str:
    """A command that takes minutes, with a number that no other test uses."""
    return f"sleep 300.{os.getpid()}{time.time_ns()}"


def _count_processes(command: str) -> int:
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return found.stdout.splitlines().count(command)


def _wait_until_ended(command: str) -> None:
    deadline = time.monotonic() + 60
    while _count_processes(command):
        assert time.monotonic() < deadline
        time.sleep(0.05)
