"""Archives from a server, and two installs at the same time."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from prowess.errors import MachineError
from prowess.machine.http_client import measure_progress
from prowess.state.install_lock import InstallLock
from prowess.supply.install.fetch import FetchContext
from prowess.supply.install.local_fetch import ArchiveFetcher
from prowess.supply.install.source import parse_source
from prowess.testing.machine import make_facts
from tests.remote_server import RemoteServer
from tests.supply.install.conftest import Desk
from tests.supply.install.test_install import load_lock
from tests.workspace import skill_text


@pytest.fixture
def server() -> Iterator[RemoteServer]:
    """A web server on this machine."""
    with RemoteServer() as running:
        yield running


def make_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("alpha/SKILL.md", skill_text("alpha"))
    return buffer.getvalue()


def test_an_archive_of_a_server_is_downloaded_and_its_digest_noted(
    desk: Desk, server: RemoteServer
) -> None:
    data = make_zip()
    server.routes["/x.zip"] = data
    digest = hashlib.sha256(data).hexdigest()
    assert desk.run("install", f"{server.url}/x.zip#sha256={digest}", "--yes").code == 0
    (entry,) = load_lock(desk).skills
    assert (entry.source, entry.resolved) == (f"{server.url}/x.zip", f"sha256:{digest}")
    assert desk.run("outdated").out == "All installed skills are up to date.\n"


class Seen:
    """A reporter that keeps what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int]] = []

    def progress(self, doing: str, done: int) -> None:
        self.told.append((doing, done))


def test_a_download_of_a_known_size_is_reported_in_percent(
    desk: Desk, server: RemoteServer, tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("alpha/SKILL.md", skill_text("alpha"))
        archive.writestr("alpha/data", os.urandom(300_000))
    server.routes["/x.zip"] = buffer.getvalue()
    source = parse_source(f"{server.url}/x.zip", cwd=str(tmp_path), home=str(tmp_path))
    seen = Seen()
    context = FetchContext(facts=make_facts(str(desk.home)), reporter=seen)
    ArchiveFetcher().fetch(source, str(tmp_path / "staging"), context)
    assert {doing for doing, _ in seen.told} == {f"downloading {server.url}/x.zip, percent"}
    done = [percent for _, percent in seen.told]
    assert (done, done[-1], len(done) > 2) == (sorted(done), 100, True)


def test_a_download_of_an_unknown_size_is_reported_in_bytes() -> None:
    assert measure_progress(5, None) == ("bytes", 5)
    assert measure_progress(5, 20) == ("percent", 25)


@pytest.mark.parametrize("answer", [404, b"<html>Sorry</html>", b"", make_zip()[:-20]])
def test_a_server_that_sends_something_else_leaves_nothing_behind(
    desk: Desk, server: RemoteServer, answer: int | bytes
) -> None:
    server.routes["/x.zip"] = answer
    assert desk.run("install", f"{server.url}/x.zip", "--yes").code in (4, 5)
    assert desk.tree() == []


def test_a_second_install_waits_for_the_first(desk: Desk) -> None:
    lock = InstallLock(str(desk.project / "prowess.lock"), make_facts(str(desk.home)))
    order: list[str] = []
    holding = threading.Event()

    def hold() -> None:
        with lock.hold():
            holding.set()
            time.sleep(0.3)
            order.append("first")

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait()
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    assert desk.run("install", source, "--yes").code == 0
    order.append("second")
    thread.join()
    assert order == ["first", "second"]
    with lock.hold(), pytest.raises(MachineError, match="locked"), lock.hold(seconds=0.05):
        raise AssertionError
