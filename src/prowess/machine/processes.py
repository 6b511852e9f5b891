"""The real `Runner`: a child process that gets only what it needs, bounded in time and output.

A child gets a short list of our environment variables and those of its skill, the input of its
command, and its own session, so that everything it starts can be stopped with it. On Linux, a
program that leaves the session is found by a variable that all programs of a run inherit; one that
also clears its environment is not followed.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO

from prowess.errors import MachineError
from prowess.errors.activation import Cancelled
from prowess.machine.child import Child, Streams, open_input
from prowess.machine.interrupts import delay_interrupts
from prowess.model.command import Command, Finished
from prowess.model.facts import Facts

# What programs need to work at all; none of these has code or a secret.
PASSED_ON = frozenset(
    "COLORTERM COLUMNS HOME LANG LANGUAGE LINES LOGNAME NO_COLOR PATH SHELL TEMP TERM TMP TMPDIR TZ"
    " USER XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME APPDATA"
    " COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMDATA PROGRAMFILES SYSTEMDRIVE"
    " SYSTEMROOT USERNAME USERPROFILE WINDIR".split()
)
_PASSED_ON_PREFIX = "LC_"

_CHUNK = 65_536
_TAIL_BYTES = 4_096
_PAUSE = 0.05
# How long to wait for the last output once everything has ended.
_GRACE = 1.0
# More than a pipe holds: what is read after so much was written by a process that has escaped.
_MOST_IN_PIPE = 1 << 20
# How long an interpreter that exits waits for a program that is being started.
_START_SECONDS = 5.0
_IS_POSIX = os.name == "posix"
_RUN_VARIABLE = "PROWESS_RUN"
# A program may start another while its environment is read; this many rounds find that one, too.
_ROUNDS = 5


def pass_on(env: Mapping[str, str]) -> dict[str, str]:
    """The variables of an environment that every child gets."""
    # A list of what is allowed: keys of services have any name, such as `MY_TOKEN`.
    return {
        name: value
        for name, value in env.items()
        if name in PASSED_ON or name.startswith(_PASSED_ON_PREFIX)
    }


class ProcessRunner:
    """Runs commands on this machine. Children get part of the environment in `facts.env`."""

    def __init__(self, facts: Facts) -> None:
        self._base = pass_on(facts.env)
        # Where a program of a skill runs Prowess, its runs end with the one around them.
        self._runs_around = facts.env.get(_RUN_VARIABLE, "")

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        """Run a command until it ends, hits its time limit or is cancelled.

        Nothing it started is left running.
        """
        if is_cancelled is not None and is_cancelled():
            raise Cancelled(f"the command `{command.text}` was not started")
        run: _ProcessRun | None = None
        output: _Output | None = None
        errors: _Output | None = None
        try:
            # Ctrl-C while the child starts would leave it running with nobody to stop it.
            with delay_interrupts():
                run = self._start(command)
                output = _Output(run.process.stdout, keep=command.output_bytes)
                if command.separate_errors:
                    errors = _Output(run.process.stderr, keep=command.output_bytes)
            code = _wait(run.process, output, command, is_cancelled)
        finally:
            if run is not None:
                run.end()
            # A pipe ends with the last process that has it open, which may have escaped.
            for stream in filter(None, (output, errors)):
                stream.wait_for_rest()
        return output.finish(code, errors.decode() if errors is not None else "")

    def _start(self, command: Command) -> _ProcessRun:
        token = secrets.token_hex(16)
        mark = {_RUN_VARIABLE: f"{self._runs_around} {token}".lstrip()}
        return _ProcessRun(token, lambda: self._start_process(command, mark))

    def _start_process(self, command: Command, mark: Mapping[str, str]) -> Child:
        env = {**self._base, **command.env, **mark}
        argv = [_get_program(command, env), *command.argv[1:]]
        streams = Streams(command.input, command.separate_errors)
        try:
            if command.sandbox is not None:
                from prowess.machine.sandbox import start_confined

                return start_confined(
                    argv, env=env, cwd=command.cwd, policy=command.sandbox, streams=streams
                )
            return _start_freely(argv, env, command.cwd, streams)
        except (OSError, ValueError) as error:
            # Python's error names the program in both cases.
            is_folder_missing = command.cwd is not None and not os.path.isdir(command.cwd)
            doing = "work in" if is_folder_missing else "run"
            refused = command.cwd if is_folder_missing else command.argv[0]
            raise MachineError.caused_by(doing, refused or "", error) from None


def _start_freely(
    argv: list[str], env: Mapping[str, str], cwd: str | None, streams: Streams
) -> Child:
    with open_input(streams.input) as input:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=input,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if streams.separate_errors else subprocess.STDOUT,
            start_new_session=_IS_POSIX,
            creationflags=0 if _IS_POSIX else getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )


def _get_program(command: Command, env: Mapping[str, str]) -> str:
    import shutil

    name = command.argv[0]
    found = shutil.which(name, path=env.get("PATH"))
    if found is None:
        wanted = f"; a skill needs the shell “{command.shell}”" if command.shell else ""
        raise MachineError("run", name, f"the program cannot be found{wanted}")
    return found


class _Output:
    """The output of a process as it comes; the beginning and end are kept, the rest is counted."""

    def __init__(self, stream: IO[bytes] | None, *, keep: int) -> None:
        self.ended = threading.Event()
        self._keep = keep
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._lock = threading.Lock()
        assert stream is not None
        self._stream = stream
        threading.Thread(target=self._read, daemon=True).start()

    def wait_for_rest(self) -> None:
        """Wait for what a process wrote before its end.

        On a busy machine the thread that reads may not have run for longer than the grace, so it is
        given up only where nothing is left to read.
        """
        enough = self._total + _MOST_IN_PIPE
        while not self.ended.wait(_GRACE) and self._total < enough and self._is_behind():
            pass

    def _is_behind(self) -> bool:
        """Whether there is output, or its end, that has not been read."""
        if not _IS_POSIX:
            return False
        try:
            waiting = select.poll()
            waiting.register(self._stream.fileno(), select.POLLIN)
            return bool(waiting.poll(0))
        except (OSError, ValueError):
            # The reader has just closed it, and says in a moment that it has ended.
            return True

    def _read(self) -> None:
        with self._stream as stream:
            while data := os.read(stream.fileno(), _CHUNK):
                self._take(data)
        self.ended.set()

    def _take(self, data: bytes) -> None:
        with self._lock:
            self._total += len(data)
            self._head += data[: max(self._keep - len(self._head), 0)]
            self._tail += data[-_TAIL_BYTES:]
            del self._tail[:-_TAIL_BYTES]

    def decode(self) -> str:
        """The beginning as text."""
        with self._lock:
            return bytes(self._head).decode("utf-8", "replace")

    def finish(self, code: int | None, errors: str) -> Finished:
        """The result; invalid UTF-8 is replaced, and a character that was cut in two left out."""
        with self._lock:
            left_out = self._total - len(self._head)
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            output = decoder.decode(bytes(self._head), final=not left_out)
            tail = bytes(self._tail) if left_out else b""
        # Bytes of the form 10xxxxxx go on with a character whose beginning was cut off.
        while tail and tail[0] & 0xC0 == 0x80:
            tail = tail[1:]
        text = tail.decode("utf-8", "replace")
        return Finished(code=code, output=output, tail=text, left_out=left_out, errors=errors)


def _wait(
    process: Child,
    output: _Output,
    command: Command,
    is_cancelled: Callable[[], bool] | None,
) -> int | None:
    """The exit code; None if the time is up."""
    deadline = time.monotonic() + command.seconds
    while process.poll() is None:
        pause = min(_PAUSE, deadline - time.monotonic())
        if pause <= 0:
            return None
        if is_cancelled is not None and is_cancelled():
            raise Cancelled(f"the command `{command.text}` was stopped")
        # Most programs end right after their output does, which wakes this wait at once.
        if not output.ended.is_set():
            output.ended.wait(pause)
        else:
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                continue
    return process.returncode


class _ProcessRun:
    """A process and everything it started, known by the token in their environment."""

    def __init__(self, token: str, start: Callable[[], Child]) -> None:
        self._token = token.encode()
        self.started = threading.Event()
        # Known before it starts, so that an interpreter that exits meanwhile waits for it.
        _running.add(self)
        try:
            self.process = start()
        except BaseException:
            _running.discard(self)
            raise
        finally:
            self.started.set()

    def end(self) -> None:
        """Stop them all, even if the process has already ended itself."""
        self.kill()
        self.process.wait()
        _running.discard(self)

    def kill(self) -> None:
        """Kill the process group, then what left it."""
        process = self.process
        if _IS_POSIX:
            # The group may be gone, or be another user's after a program such as `sudo`.
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            _kill_marked(self._token, since=process.pid)
        elif process.poll() is None:
            subprocess.run(
                ["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False
            )


_running: set[_ProcessRun] = set()


@atexit.register
def _kill_running() -> None:
    """Threads do not outlive the interpreter; the programs they started would."""
    # A copy, because threads that are still running take theirs out.
    for run in tuple(_running):
        has_started = run.started.wait(_START_SECONDS)
        if has_started and run in _running:
            run.kill()


def _kill_marked(token: bytes, *, since: int) -> None:
    """Kill the processes that have a token in their environment, on Linux.

    Only those are searched that are younger than the one with the id `since`, which are few, unless
    ids have begun again at their end meanwhile.
    """
    if not sys.platform.startswith("linux"):
        return
    if _find_newest() < since:
        since = 0
    for _ in range(_ROUNDS):
        marked = _find_marked(token, since)
        if not marked:
            return
        for process in marked:
            # It may have ended by itself meanwhile.
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)


def _find_marked(token: bytes, since: int) -> list[int]:
    ids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    younger = [id for id in ids if id > since]
    return [id for id in younger if _has_token(id, token)]


def _find_newest() -> int:
    """The id of the process that was started last."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[-1])


def _has_token(process: int, token: bytes) -> bool:
    # The file of a process that has ended, or of somebody else's, cannot be read.
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return token in file.read()
    except OSError:
        return False
