"""Programs confined by the operating system: Landlock and seccomp, or a namespace of their own.

`sandlock` needs no privileges and costs a few milliseconds, so it comes first. `bubblewrap` is the
second choice, for kernels without a recent Landlock. Where neither works, nothing is confined, and
whoever runs a program has to be asked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import IO

from prowess.errors import name_cause
from prowess.machine.child import Child, Streams, open_input
from prowess.model.sandbox import Engine, SandboxPolicy, SandboxSupport

# Sandlock has no files as streams, so a shell opens them inside. The first merges the error output
# into the output in the order of writing. The file with the input, the program and its arguments
# are parameters of these scripts, never part of their text.
_WITH_ERRORS = 'exec "$@" 2>&1 <"$0"'
_WITHOUT_ERRORS = 'exec "$@" <"$0"'
_INPUT_FILE = ".prowess-input"
# Generous: on a busy machine a sandbox must not be taken for missing.
_PROBE_SECONDS = 30.0
# Devices that ordinary programs write to.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@cache
def find_support() -> SandboxSupport:
    """The engine that works here, found by running a program in it once."""
    if not sys.platform.startswith("linux"):
        return SandboxSupport(engine=None, reason=f"there is no sandbox for {sys.platform} yet")
    problems = []
    for engine, start in _ENGINES.items():
        problem = _find_problem(start)
        if problem is None:
            return SandboxSupport(engine=engine, reason=_ENFORCED_BY[engine])
        problems.append(f"{engine}: {problem}")
    return SandboxSupport(engine=None, reason="; ".join(problems))


def start_confined(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    policy: SandboxPolicy,
    streams: Streams,
) -> Child:
    """Start a program in the sandbox of this machine.

    It leads a process group. Raises OSError where it cannot be started.
    """
    engine = find_support().engine
    if engine is None:
        raise OSError(f"there is no sandbox on this machine ({find_support().reason})")
    return _ENGINES[engine](argv, env, cwd, policy, streams)


def _find_problem(start: _Start) -> str | None:
    """Why an engine cannot be used here; None where a program ran in it."""
    try:
        child = start(("true",), {"PATH": os.defpath}, "/", SandboxPolicy(), Streams())
        code, output = _finish_probe(child)
    except ImportError as error:
        return f"not installed ({error})"
    except (OSError, subprocess.TimeoutExpired) as error:
        return name_cause(error)
    if code == 0:
        return None
    lines = output.decode("utf-8", "replace").strip().splitlines()
    if not lines:
        return f"a test program exited with code {code}"
    return lines[-1]


def _finish_probe(child: Child) -> tuple[int, bytes]:
    assert child.stdout is not None
    with child.stdout as stream:
        code = child.wait(_PROBE_SECONDS)
        return code, stream.read()


class _SandlockChild:
    """A program that sandlock runs.

    The library only knows a wait that blocks, so a thread waits and everybody else looks at what
    it left.
    """

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        policy: SandboxPolicy,
        streams: Streams,
    ) -> None:
        import sandlock

        needed, found = sandlock.min_landlock_abi(), sandlock.landlock_abi_version()
        if found < needed:
            raise OSError(f"Landlock ABI {needed} is needed; this kernel has {found}")
        self.returncode: int | None = None
        self._ended = threading.Event()
        self._temporary = tempfile.mkdtemp(prefix="prowess-run-")
        modes = sandlock.StdioMode
        box = sandlock.Sandbox(
            # Programs and libraries are everywhere; what must not be read is denied below.
            fs_readable=["/"],
            fs_writable=[*_list_existing(policy.writable), self._temporary, *_DEVICES],
            fs_denied=_list_existing(policy.hidden),
            net_allow=["*:*", "udp://*:*"] if policy.network else [],
            max_memory=policy.memory_bytes,
            max_processes=policy.processes,
            no_coredump=True,
            cwd=cwd,
            clean_env=True,
            env={**env, "TMPDIR": self._temporary},
        )
        errors = modes.PIPED if streams.separate_errors else modes.NULL
        try:
            wrapped = [*self._redirect(streams), *argv]
            self._process = box.popen(wrapped, modes.NULL, modes.PIPED, errors)
        except OSError:
            shutil.rmtree(self._temporary, ignore_errors=True)
            raise
        except (RuntimeError, sandlock.SandlockError) as error:
            shutil.rmtree(self._temporary, ignore_errors=True)
            raise OSError(str(error)) from error
        self.pid: int = self._process.pid or -1
        self.stdout: IO[bytes] | None = self._process.stdout
        self.stderr: IO[bytes] | None = self._process.stderr
        threading.Thread(target=self._wait, daemon=True).start()

    def _redirect(self, streams: Streams) -> tuple[str, ...]:
        """What starts a program with its input."""
        file = "/dev/null"
        if streams.input:
            file = os.path.join(self._temporary, _INPUT_FILE)
            with open(file, "wb") as output:
                output.write(streams.input)
        script = _WITHOUT_ERRORS if streams.separate_errors else _WITH_ERRORS
        return "/bin/sh", "-c", script, file

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end."""
        self._ended.wait(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("sandlock", timeout or 0)
        return self.returncode

    def _wait(self) -> None:
        try:
            code: int = self._process.wait().exit_code
        finally:
            shutil.rmtree(self._temporary, ignore_errors=True)
        self.returncode = code
        self._ended.set()


class _BubblewrapChild(subprocess.Popen[bytes]):
    """A program that bubblewrap runs, in namespaces of its own."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        policy: SandboxPolicy,
        streams: Streams,
    ) -> None:
        self._temporary = tempfile.mkdtemp(prefix="prowess-run-")
        try:
            with open_input(streams.input) as input:
                super().__init__(
                    [*_list_bubblewrap_options(policy, self._temporary, cwd), *argv],
                    env={**env, "TMPDIR": self._temporary},
                    stdin=input,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE if streams.separate_errors else subprocess.STDOUT,
                    start_new_session=True,
                )
        except BaseException:
            shutil.rmtree(self._temporary, ignore_errors=True)
            raise

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; the temporary folder goes with it."""
        code = super().wait(timeout)
        shutil.rmtree(self._temporary, ignore_errors=True)
        return code


def _list_bubblewrap_options(
    policy: SandboxPolicy, temporary: str, cwd: str | None
) -> Sequence[str]:
    options = [_get_program("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for folder in (*_list_existing(policy.writable), temporary):
        options += ["--bind", folder, folder]
    # After the writable ones: what is hidden may lie inside of them, and later mounts win.
    for path in _list_existing(policy.hidden):
        # An empty folder, or an empty file, lies over what is hidden.
        options += ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", "/dev/null", path]
    if not policy.network:
        # Sockets of services (Docker, D-Bus, agents of keys) lie in /run and are no network.
        options += ["--unshare-net", "--tmpfs", "/run"]
    # Whoever is root outside must not be able to unmount what hides a folder.
    options += ["--unshare-user", "--cap-drop", "ALL"]
    options += ["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"]
    options += ["--chdir", cwd or "/", "--"]
    # Bubblewrap has no limits of its own. This one counts what is written, not address space that
    # is only reserved, of which JavaScript and Java engines take a lot. The number of processes of
    # a user cannot be limited this way, since those outside of the sandbox would count.
    return [*options, _get_program("prlimit"), f"--data={policy.memory_bytes}", "--"]


def _get_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(0, f"the program `{name}` is not installed")
    return found


def _list_existing(paths: Sequence[str]) -> list[str]:
    """The real paths of those that are there; an engine cannot speak of what is not."""
    return [os.path.realpath(path) for path in paths if os.path.exists(path)]


_Start = type[_SandlockChild] | type[_BubblewrapChild]
_ENGINES: Mapping[Engine, _Start] = {"sandlock": _SandlockChild, "bubblewrap": _BubblewrapChild}
_ENFORCED_BY: Mapping[Engine, str] = {
    "sandlock": "Landlock and seccomp confine what skills run",
    "bubblewrap": "namespaces confine what skills run",
}
