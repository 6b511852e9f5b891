"""Counts of use: what is counted, where, who may see it, and that a broken store never stands in
the way.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
from pathlib import Path

import pytest

from prowess.model.skill import Document, LoadedFrom, Manifest, Scope, Skill, Source
from prowess.model.usage import Usage
from prowess.ports import UsageStore
from prowess.state.usage import NoUsage, UsageFile, open_usage, usage_path
from prowess.testing import make_facts


def skill(name: str, location: str | None = None) -> Skill:
    location = location or f"/p/{name}/SKILL.md"
    return Skill(
        name=name,
        description=None,
        location=location,
        folder=os.path.dirname(location),
        scope=Scope.PROJECT,
        source=Source("claude", "project", "/p", LoadedFrom.SKILLS, "claude:project"),
        declared=Manifest(),
        loader=lambda skill, call: Document("", ""),
    )


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "usage.sqlite3"


def test_offers_and_activations_are_counted_by_name_and_place_and_caller(path: Path) -> None:
    clock = Clock()
    store = UsageFile(str(path), clock=clock)
    pdf, other = skill("pdf"), skill("pdf", "/q/SKILL.md")
    store.note_offered([pdf, other])
    clock.now = 200.0
    store.note_offered(iter([pdf]))
    store.note_activated(pdf, "model")
    store.note_activated(pdf, "model")
    clock.now = 300.0
    store.note_activated(pdf, "user")
    store.note_activated(skill("deploy"), "user")
    assert UsageFile(str(path)).load_counts() == {
        ("deploy", "/p/deploy/SKILL.md"): Usage(
            name="deploy", location="/p/deploy/SKILL.md", by_user=1, last_activated=300.0
        ),
        ("pdf", "/p/pdf/SKILL.md"): Usage(
            name="pdf",
            location="/p/pdf/SKILL.md",
            offered=2,
            by_user=1,
            by_model=2,
            last_offered=200.0,
            last_activated=300.0,
        ),
        ("pdf", "/q/SKILL.md"): Usage(
            name="pdf", location="/q/SKILL.md", offered=1, last_offered=100.0
        ),
    }
    assert store.load_counts()["pdf", "/p/pdf/SKILL.md"].activated == 3
    assert store.diagnostics == ()


def test_the_counts_can_be_cleared_for_a_name_or_altogether(path: Path) -> None:
    store = UsageFile(str(path))
    assert store.clear() == 0
    assert not path.exists()
    store.note_offered([skill("pdf"), skill("pdf", "/q/SKILL.md"), skill("deploy")])
    assert (store.clear("pdf"), [name for name, _ in store.load_counts()]) == (2, ["deploy"])
    assert (store.clear("unknown"), store.clear(), store.load_counts()) == (0, 1, {})


def test_looking_at_counts_makes_no_file(path: Path) -> None:
    store = UsageFile(str(path))
    store.note_offered([])
    assert (store.load_counts(), path.parent.exists()) == ({}, False)


def test_the_store_is_private_and_lies_in_the_state_folder(path: Path) -> None:
    assert usage_path(make_facts("/home/me")) == "/home/me/.local/state/prowess/usage.sqlite3"
    UsageFile(str(path)).note_offered([skill("pdf")])
    assert {oct(one.stat().st_mode & 0o777) for one in path.parent.iterdir()} == {"0o600"}
    assert oct(path.parent.stat().st_mode & 0o777) == "0o700"


@pytest.mark.parametrize(
    ("wanted", "env", "counts"),
    [
        (None, {}, True),
        (True, {}, True),
        (False, {}, False),
        (None, {"PROWESS_NO_USAGE": "1"}, False),
        (True, {"PROWESS_NO_USAGE": "1"}, False),
        (None, {"PROWESS_NO_USAGE": ""}, True),
    ],
)
def test_counting_can_be_switched_off(
    tmp_path: Path, wanted: bool | None, env: dict[str, str], counts: bool
) -> None:
    facts = make_facts(str(tmp_path), env={**env, "PROWESS_STATE_DIR": str(tmp_path / "s")})
    store: UsageStore = open_usage(facts, wanted=wanted)
    store.note_offered([skill("pdf")])
    store.note_activated(skill("pdf"), "user")
    assert bool(store.load_counts()) is counts
    assert (tmp_path / "s").exists() is counts
    assert (isinstance(store, NoUsage), store.clear()) == (not counts, int(counts))


def check_unusable(store: UsageFile, reason: str) -> None:
    """It counts as empty, takes nothing, raises nothing, and says why."""
    store.note_offered([skill("pdf")])
    store.note_activated(skill("pdf"), "model")
    assert (store.clear(), store.load_counts()) == (0, {})
    assert [(one.code, one.file) for one in store.diagnostics] == [("state-unreadable", store.path)]
    assert reason in store.diagnostics[0].message


def test_a_file_that_is_no_database_counts_as_empty_and_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(
        "my shopping list, which is longer than a header of a database would be: milk, bread, " * 9
    )
    before = path.read_bytes()
    check_unusable(UsageFile(str(path)), "file is not a database")
    assert path.read_bytes() == before


def test_a_damaged_database_counts_as_empty(path: Path) -> None:
    UsageFile(str(path)).note_offered([skill(f"skill-{number}") for number in range(500)])
    data = bytearray(path.read_bytes())
    data[1024:] = b"\xff" * len(data[1024:])
    path.write_bytes(bytes(data))
    check_unusable(UsageFile(str(path)), "malformed")


def test_a_file_that_was_put_in_place_of_another_is_opened_anew(path: Path) -> None:
    times = itertools.count(step=2.0)
    store = UsageFile(str(path), clock=lambda: next(times))
    store.note_activated(skill("pdf"), "user")
    for name in ("", "-wal", "-shm"):
        Path(f"{path}{name}").unlink(missing_ok=True)
    store.note_activated(skill("sql"), "user")
    assert [name for name, _ in UsageFile(str(path)).load_counts()] == ["sql"]


def test_several_threads_may_count_at_once(path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    store = UsageFile(str(path))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: store.note_activated(skill("pdf"), "model"), range(80)))
    (counted,) = UsageFile(str(path)).load_counts().values()
    assert (counted.by_model, store.diagnostics) == (80, ())


def test_a_store_of_another_version_is_left_alone(path: Path) -> None:
    UsageFile(str(path)).note_offered([skill("pdf")])
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 7")
    database.close()
    check_unusable(UsageFile(str(path)), "another version of Prowess wrote it")


def test_a_locked_store_is_waited_for_a_moment_and_then_left(path: Path) -> None:
    store = UsageFile(str(path), seconds_to_wait=0.05)
    store.note_offered([skill("pdf")])
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    store.note_activated(skill("pdf"), "user")
    assert "database is locked" in store.diagnostics[0].message
    database.execute("ROLLBACK")
    database.close()
    store.note_activated(skill("pdf"), "user")
    assert (store.diagnostics, store.load_counts()["pdf", "/p/pdf/SKILL.md"].by_user) == ((), 1)


def test_a_folder_or_a_pipe_in_its_place_never_hangs(path: Path) -> None:
    path.parent.mkdir()
    path.mkdir()
    check_unusable(UsageFile(str(path)), "Is a directory")
    path.rmdir()
    os.mkfifo(path)
    check_unusable(UsageFile(str(path)), "cannot be read")


def test_a_place_that_cannot_be_made_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = UsageFile(str(tmp_path / "file" / "usage.sqlite3"))
    store.note_offered([skill("pdf")])
    assert "cannot be written" in store.diagnostics[0].message
    assert store.load_counts() == {}


def test_a_name_that_is_no_text_is_not_counted_and_does_no_harm(path: Path) -> None:
    store = UsageFile(str(path))
    store.note_offered([skill("pdf"), skill("odd", "/p/\udcff/SKILL.md")])
    store.note_activated(skill("odd", "/p/\udcff/SKILL.md"), "user")
    assert ([name for name, _ in store.load_counts()], store.diagnostics) == (["pdf"], ())


def test_programs_that_count_at_the_same_time_lose_nothing(path: Path) -> None:
    def count() -> None:
        for _ in range(10):
            UsageFile(str(path), seconds_to_wait=60).note_activated(skill("pdf"), "model")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert UsageFile(str(path)).load_counts()["pdf", "/p/pdf/SKILL.md"].by_model == 40
