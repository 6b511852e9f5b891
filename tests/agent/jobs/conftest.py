"""A real PostgreSQL for the tests of jobs, and a machine on which workers can be killed."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dbos import DBOSClient

from prowess.agent.jobs.client import Jobs
from prowess.agent.jobs.values import FINISHED, Job, TurnSpec
from prowess.model.facts import Facts
from prowess.model.settings import JobSettings
from tests.agent.studio import Studio

# Debian keeps the server's programs off the path.
_SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A server of its own on a unix socket; the address of its maintenance database."""
    programs = next((str(one) for one in _SERVERS if (one / "initdb").exists()), None)
    if programs is None and shutil.which("initdb") is None:
        pytest.skip("not installed here: postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    # The server refuses to run as root.
    user = "nobody" if os.getuid() == 0 else None
    if user is not None:
        entry = pwd.getpwnam(user)
        os.chown(folder, entry.pw_uid, entry.pw_gid)

    def run(program: str, *arguments: str) -> None:
        path = f"{programs}/{program}" if programs else program
        subprocess.run(
            [path, *arguments],
            check=True,
            user=user,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    data = f"{folder}/data"
    settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    try:
        run("initdb", "-D", data, "-U", "prowess", "-A", "trust", "--no-sync")
        run("pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", settings, "start")
        yield f"postgresql://prowess@/postgres?host={folder}"
    finally:
        if os.path.exists(f"{data}/postmaster.pid"):
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def starter() -> Iterator[subprocess.Popen[str]]:
    """A process that starts workers."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.agent.jobs.starter"],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    process.stdin.close()
    process.stdout.close()
    process.wait()


class Yard:
    """A project, a database of jobs, and workers that come and go."""

    def __init__(
        self, studio: Studio, database: str | None, starter: subprocess.Popen[str]
    ) -> None:
        self.studio = studio
        self.settings = JobSettings(database=database)
        self.jobs = Jobs(self.settings, self.facts())
        self._starter = starter
        self._pids: set[int] = set()

    def env(self, machine: str = "") -> dict[str, str]:
        home = str(self.studio.workspace.home)
        # Each machine has a state folder of its own.
        state = str(self.studio.workspace.root / f"state{machine}")
        return {"PATH": os.environ["PATH"], "HOME": home, "PROWESS_STATE_DIR": state}

    def facts(self, machine: str = "") -> Facts:
        return Facts(
            home=str(self.studio.workspace.home),
            platform="linux",
            env=self.env(machine),
            find_bin=lambda name: shutil.which(name) is not None,
        )

    def add(self, *answers: Any, **fields: Any) -> str:
        """Add a turn whose model gives these answers."""
        queue = fields.pop("queue", None)
        name = f"script-{len(list(self.studio.workspace.root.glob('script-*')))}.jsonl"
        fields.setdefault("model", self.studio.script(*answers, name=name))
        fields.setdefault("allow", ("Bash", "Write", "Edit"))
        spec = TurnSpec(text=fields.pop("text", "Do it."), cwd=str(self.studio.project), **fields)
        return self.jobs.add_turn(spec, queue=queue)

    def start(
        self,
        machine: str = "",
        *,
        queues: tuple[str, ...] = (),
        lease: float = 3.0,
        until_idle: bool = False,
        concurrency: int = 4,
        late: Mapping[str, Any] | None = None,
    ) -> int:
        """Start a worker; its process id. A late turn is added when it has decided to end."""
        options = {
            "database": self.settings.database,
            "env": self.env(machine),
            "queues": queues,
            "lease": lease,
            "until_idle": until_idle,
            "concurrency": concurrency,
            "late": late,
            "log": str(self.studio.workspace.root / "worker.log"),
        }
        assert self._starter.stdin is not None
        assert self._starter.stdout is not None
        self._starter.stdin.write(json.dumps(options) + "\n")
        self._starter.stdin.flush()
        pid = int(self._starter.stdout.readline())
        self._pids.add(pid)
        return pid

    @contextmanager
    def worker(self, machine: str = "", **options: Any) -> Iterator[int]:
        """A worker during the block."""
        pid = self.start(machine, **options)
        try:
            yield pid
        finally:
            self.end(pid, signal.SIGTERM)

    def end(self, pid: int, number: int = signal.SIGKILL) -> None:
        """End a worker, and wait until it is gone."""
        self._pids.discard(pid)
        try:
            os.kill(pid, number)
            wait_until(lambda: not Path(f"/proc/{pid}").exists())
        except ProcessLookupError:
            pass

    def wait(self, *ids: str, seconds: float = 150.0) -> list[Job]:
        """The jobs, when all have ended."""

        def have_ended() -> bool:
            assert "Traceback" not in self.log()
            return all(self.jobs.get(id).state in FINISHED for id in ids)

        try:
            wait_until(have_ended, seconds=seconds)
        except AssertionError:
            raise AssertionError([self.jobs.get(id) for id in ids], self.log()) from None
        return [self.jobs.get(id) for id in ids]

    def wait_for(self, id: str, state: str) -> Job:
        try:
            wait_until(lambda: self._is_in(id, state), seconds=150)
        except AssertionError:
            raise AssertionError(self.jobs.get(id), self.log()) from None
        return self.jobs.get(id)

    def _is_in(self, id: str, state: str) -> bool:
        assert "Traceback" not in self.log()
        return self.jobs.get(id).state == state

    def let_go_before_cancel(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let a job that is cancelled end by itself after it was looked up and before it is."""
        cancel = DBOSClient.cancel_workflow

        def cancel_late(client: DBOSClient, id: str, **options: Any) -> None:
            self.studio.let_go()
            self.wait(id)
            cancel(client, id, **options)

        monkeypatch.setattr(DBOSClient, "cancel_workflow", cancel_late)

    def log(self) -> str:
        path = self.studio.workspace.root / "worker.log"
        return path.read_text() if path.exists() else ""

    def close(self) -> None:
        for pid in list(self._pids):
            self.end(pid)
        self.jobs.close()


def wait_until(is_so: Callable[[], bool], *, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


@contextmanager
def new_database(server: str, name: str) -> Iterator[str]:
    """An empty database of a server."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    yield server.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["sqlite", "postgres"])
def yard(
    request: pytest.FixtureRequest, studio: Studio, starter: subprocess.Popen[str]
) -> Iterator[Yard]:
    """Jobs in a file, and once more on PostgreSQL."""
    if request.param == "sqlite":
        made = Yard(studio, None, starter)
        yield made
        made.close()
    else:
        server = request.getfixturevalue("postgres")
        with new_database(server, f"t{os.getpid()}{time.time_ns():x}") as url:
            made = Yard(studio, url, starter)
            yield made
            made.close()


@pytest.fixture
def local(studio: Studio, starter: subprocess.Popen[str]) -> Iterator[Yard]:
    """Jobs in a file."""
    made = Yard(studio, None, starter)
    studio.env = made.env()
    yield made
    made.close()


@pytest.fixture
def shared(postgres: str, studio: Studio, starter: subprocess.Popen[str]) -> Iterator[Yard]:
    """Jobs on PostgreSQL only, for several machines."""
    with new_database(postgres, f"s{os.getpid()}{time.time_ns():x}") as url:
        made = Yard(studio, url, starter)
        yield made
        made.close()
