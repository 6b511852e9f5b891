"""Writing aside: whole or not at all, and a user's file keeps what it had."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prowess.errors import MachineError
from prowess.machine.atomic_write import (
    copy_folder,
    rewrite_aside,
    scratch_folder,
    write_aside,
    write_folder_aside,
)


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_file_is_written_with_the_folders_above_it(tmp_path):
    write_aside(str(tmp_path / "a/b/file"), b"1")
    write_aside(str(tmp_path / "a/b/file"), b"2")
    assert tree(tmp_path) == {"a/b/file": b"2"}


def test_a_write_that_is_stopped_leaves_what_was_there(tmp_path, monkeypatch):
    write_aside(str(tmp_path / "file"), b"old")

    def stopped(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_aside(str(tmp_path / "file"), b"new")
    assert tree(tmp_path) == {"file": b"old"}


def test_rewriting_goes_through_links_and_keeps_permissions_whatever_the_umask(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o666)
    os.symlink("target", tmp_path / "link")
    umask = os.umask(0o077)
    try:
        rewrite_aside(str(tmp_path / "link"), b"new")
    finally:
        os.umask(umask)
    assert (tmp_path / "link").is_symlink()
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"new", 0o666)


def test_rewriting_a_file_that_is_not_there_makes_it(tmp_path):
    os.symlink("target", tmp_path / "link")
    rewrite_aside(str(tmp_path / "link"), b"new")
    assert tree(tmp_path) == {"link": b"new", "target": b"new"}


def test_a_folder_is_made_whole_with_what_can_be_run(tmp_path):
    files = {"SKILL.md": b"s", "scripts/deep/run.sh": b"r"}
    write_folder_aside(
        str(tmp_path / "a/skill"), files, executable=frozenset({"scripts/deep/run.sh"})
    )
    assert tree(tmp_path) == {"a/skill/SKILL.md": b"s", "a/skill/scripts/deep/run.sh": b"r"}
    assert os.access(tmp_path / "a/skill/scripts/deep/run.sh", os.X_OK)
    assert not os.access(tmp_path / "a/skill/SKILL.md", os.X_OK)


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_a_folder_never_replaces_what_is_there(tmp_path, there):
    place = tmp_path / "skill"
    {"folder": place.mkdir, "file": place.touch, "link": lambda: place.symlink_to("nowhere")}[
        there
    ]()
    with pytest.raises(MachineError, match="it already exists"):
        write_folder_aside(str(place), {"SKILL.md": b"s"})
    assert os.listdir(tmp_path) == ["skill"]
    assert not (place / "SKILL.md").exists()


def test_a_folder_that_cannot_be_finished_leaves_nothing(tmp_path):
    with pytest.raises(MachineError):
        write_folder_aside(str(tmp_path / "skill"), {"a": b"1", "a/b": b"2"})
    assert os.listdir(tmp_path) == []


def test_a_scratch_folder_is_gone_afterwards_even_after_trouble():
    used = []

    def work():
        with scratch_folder() as folder:
            used.append(folder)
            write_aside(os.path.join(folder, "a/b"), b"1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert [(os.path.realpath(folder), os.path.exists(folder)) for folder in used] == [
        (used[0], False)
    ]


def test_a_folder_is_copied_with_hidden_files(tmp_path):
    write_aside(str(tmp_path / "from/.hidden/file"), b"1")
    copy_folder(str(tmp_path / "from"), str(tmp_path / "to"))
    assert tree(tmp_path / "to") == {".hidden/file": b"1"}
    with pytest.raises(MachineError, match="Could not copy"):
        copy_folder(str(tmp_path / "from"), str(tmp_path / "to"))


def test_an_edited_file_keeps_its_owner_and_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 12_345, 54_321)
    before = path.stat()
    rewrite_aside(str(path), b"new")
    after = path.stat()
    assert path.read_bytes() == b"new"
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert after.st_mode == before.st_mode


def test_an_edit_that_would_change_the_owner_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    theirs = list(path.stat())
    theirs[4] += 1

    def refuse(*arguments: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    with pytest.raises(MachineError, match="belongs to another user or group"):
        write_aside(str(path), b"new", like=os.stat_result(theirs))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_killed_writers_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    old, fresh, other = (
        tmp_path / name
        for name in ("file.0123456789ab.tmp", "file.ba9876543210.tmp", "file.notes.tmp")
    )
    for path in (old, fresh, other):
        path.write_bytes(b"half")
    for path in (old, other):
        os.utime(path, (1, 1))
    write_aside(str(tmp_path / "file"), b"new")
    assert sorted(os.listdir(tmp_path)) == ["file", fresh.name, other.name]


def test_the_data_is_on_the_disk_before_the_file_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def note(name: str) -> Callable[..., None]:
        real = getattr(os, name)

        def call(*given: Any) -> None:
            calls.append(name)
            real(*given)

        return call

    for name in ("fsync", "replace"):
        monkeypatch.setattr(os, name, note(name))
    write_aside(str(tmp_path / "file"), b"new")
    assert calls == ["fsync", "replace"]
