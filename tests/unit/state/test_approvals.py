"""Approvals on disk: private, whole, safe from other writers, and never trusted blindly."""

from __future__ import annotations

import inspect
import json
import multiprocessing
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from prowess.errors import MachineError
from prowess.model.permission import Approval
from prowess.state.approvals import ApprovalFile, approvals_path
from prowess.state.locks import hold_lock
from prowess.testing import make_facts


def approval(name: str, *, digest: str = "sha256:1", location: str = "/p/SKILL.md") -> Approval:
    return Approval(
        permission="skill", pattern=name, location=location, digest=digest, approved="2026-11-15"
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "approvals.json"


def test_approvals_lie_in_the_state_folder_and_never_in_a_project() -> None:
    assert approvals_path(make_facts("/home/me")) == "/home/me/.local/state/prowess/approvals.json"
    assert approvals_path(make_facts(env={"XDG_STATE_HOME": "/s"})) == "/s/prowess/approvals.json"
    assert approvals_path(make_facts(env={"PROWESS_STATE_DIR": "/mine"})) == "/mine/approvals.json"


def test_what_is_kept_is_found_by_another_program(path: Path) -> None:
    ApprovalFile(str(path)).keep(approval("pdf"))
    ApprovalFile(str(path)).keep(approval("deploy"))
    ApprovalFile(str(path)).keep(approval("pdf", digest="sha256:2"))
    store = ApprovalFile(str(path))
    assert store.find("skill", "pdf", "/p/SKILL.md") == approval("pdf", digest="sha256:2")
    assert store.find("skill", "pdf", "/elsewhere/SKILL.md") is None
    assert store.find("bash", "pdf", "/p/SKILL.md") is None
    assert store.load() == [approval("deploy"), approval("pdf", digest="sha256:2")]
    assert store.diagnostics == ()


def test_the_file_is_readable_json_and_private(path: Path) -> None:
    ApprovalFile(str(path)).keep(approval("pdf"))
    assert json.loads(path.read_text()) == {
        "version": 1,
        "approvals": [
            {
                "permission": "skill",
                "pattern": "pdf",
                "location": "/p/SKILL.md",
                "digest": "sha256:1",
                "approved": "2026-11-15",
            }
        ],
    }
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert oct(path.parent.stat().st_mode & 0o777) == "0o700"
    assert sorted(os.listdir(path.parent)) == ["approvals.json", "approvals.json.lock"]


def test_approvals_can_be_taken_back(path: Path) -> None:
    store = ApprovalFile(str(path))
    assert store.forget("pdf") == 0
    for name in ("pdf", "deploy", "mail"):
        store.keep(approval(name))
    assert (store.forget("pdf"), [one.pattern for one in store.load()]) == (1, ["deploy", "mail"])
    assert (store.forget(), store.load()) == (2, [])


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 1, "approvals": [{"pattern": 1}]}', "[" * 100_000, "\xff"]
)
def test_a_broken_file_counts_as_empty_says_so_and_is_put_aside(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    path.chmod(0o600)
    store = ApprovalFile(str(path))
    assert store.find("skill", "pdf", "/p/SKILL.md") is None
    assert [(one.code, one.file) for one in store.diagnostics] == [("state-unreadable", str(path))]
    store.keep(approval("pdf"))
    assert store.load() == [approval("pdf")]
    assert Path(f"{path}.unusable").read_bytes() == text.encode("latin-1")


def test_a_file_of_another_version_counts_as_empty(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"version": 2, "approvals": []}')
    path.chmod(0o600)
    store = ApprovalFile(str(path))
    assert store.load() == []
    assert store.diagnostics[0].message == (
        "The saved approvals are ignored because another version of Prowess wrote the file; you will be asked again."
    )


def test_a_file_that_others_may_write_is_not_trusted(path: Path) -> None:
    store = ApprovalFile(str(path))
    store.keep(approval("pdf"))
    path.chmod(0o666)
    assert store.find("skill", "pdf", "/p/SKILL.md") is None
    assert "other users can write to the file" in store.diagnostics[0].message


def test_a_folder_or_a_pipe_in_its_place_neither_hangs_nor_grants(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path, 0o600)
    store = ApprovalFile(str(path))
    assert (store.load(), len(store.diagnostics)) == ([], 1)
    path.unlink()
    path.mkdir(0o700)
    assert (store.load(), len(store.diagnostics)) == ([], 1)


def test_a_place_that_cannot_be_written_is_an_error_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="Could not create the folder"):
        ApprovalFile(str(tmp_path / "file" / "approvals.json")).keep(approval("pdf"))


def test_a_path_that_is_no_text_is_an_error_of_the_machine(path: Path) -> None:
    with pytest.raises(MachineError, match="not valid text"):
        ApprovalFile(str(path)).keep(approval("pdf", location="/p/\udcff/SKILL.md"))


def keep_many(path: str, start: int) -> None:
    # Also in processes of their own, a slow disk is no lock that somebody keeps.
    inspect.unwrap(hold_lock).__kwdefaults__["seconds"] = 120.0
    for number in range(start, start + 10):
        ApprovalFile(path).keep(approval(f"skill-{number:02}"))


def test_concurrent_writers_lose_nothing(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=keep_many, args=(str(path), start)) for start in (0, 10)]
    threads = [threading.Thread(target=keep_many, args=(str(path), start)) for start in (20, 30)]
    workers: list[Any] = [*processes, *threads]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [one.pattern for one in ApprovalFile(str(path)).load()] == [
        f"skill-{n:02}" for n in range(40)
    ]


def test_a_lock_that_another_holds_is_waited_for_only_so_long(path: Path) -> None:
    late = hold_lock(str(path), seconds=0.1)
    with (
        hold_lock(str(path)),
        pytest.raises(MachineError, match=r"has kept it locked for 0\.1 seconds"),
        late,
    ):
        pass
    with hold_lock(str(path), seconds=0.1):
        assert sorted(os.listdir(path.parent)) == ["approvals.json.lock"]
