"""Real files: what is listed, what is read, and what is refused."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from prowess.machine.files import LocalFiles
from prowess.model.files import FolderItem


def test_a_folder_is_listed_by_name_with_the_kind_of_each_item(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").write_text("x")
    (tmp_path / "to-b").symlink_to("b")
    (tmp_path / "nowhere").symlink_to("gone")
    os.mkfifo(tmp_path / "pipe")
    assert LocalFiles().list_folder(str(tmp_path)) == [
        FolderItem("a", "file", False),
        FolderItem("b", "folder", False),
        FolderItem("nowhere", "broken", True),
        FolderItem("pipe", "other", False),
        FolderItem("to-b", "folder", True),
    ]


def test_the_head_of_a_file_is_cut_at_the_limit_and_tells_the_whole_size(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"0123456789")
    head = LocalFiles().read_head(str(path), 4)
    assert (head.data, head.size, head.links) == (b"0123", 10, 1)
    assert head.stamp == LocalFiles().get_stamp(str(path))
    assert LocalFiles().read_head(str(path), 100).data == b"0123456789"


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        LocalFiles().read_head(str(tmp_path / "pipe"), 10)


def test_a_device_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="device"):
        LocalFiles().read_head("/dev/zero", 10)
    with pytest.raises(OSError, match="folder"):
        LocalFiles().read_head(str(tmp_path), 10)


def test_a_socket_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        with pytest.raises(OSError):  # noqa: PT011 - which error it is depends on the platform
            LocalFiles().read_head(path, 10)
        assert LocalFiles().find_kind(path) == "other"


def test_real_paths_resolve_links_and_are_unknown_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "loop").symlink_to("loop")
    files = LocalFiles()
    assert files.find_real_path(str(tmp_path / "link")) == str((tmp_path / "real").resolve())
    assert files.find_real_path(str(tmp_path / "loop")) is None
    assert files.find_real_path(str(tmp_path / "gone")) is None
    assert files.find_real_path("with\0nul") is None


@pytest.mark.parametrize("ask", [True, False])
def test_the_path_without_links_is_the_same_whoever_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: bool
) -> None:
    monkeypatch.setattr("prowess.machine.files._CAN_ASK", ask and sys.platform == "linux")
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "real" / "deep" / "x.md").write_text("x")
    (tmp_path / "real" / "gone (deleted)").write_text("x")
    os.mkfifo(tmp_path / "real" / "pipe")
    os.symlink("real", tmp_path / "folder")
    os.symlink("folder/deep/x.md", tmp_path / "file")
    os.symlink("loop", tmp_path / "loop")
    os.symlink("nowhere", tmp_path / "broken")
    names = [
        "folder",
        "file",
        "folder/deep/../pipe",
        "real/gone (deleted)",
        "./real/./deep",
        "loop",
        "broken",
        "none",
    ]
    found = [LocalFiles().find_real_path(f"{tmp_path}/{name}") for name in names]
    places = ["real", "real/deep/x.md", "real/pipe", "real/gone (deleted)", "real/deep"]
    assert found == [
        *(f"{os.path.realpath(tmp_path)}/{place}" for place in places),
        None,
        None,
        None,
    ]
    assert LocalFiles().find_real_path("a\0b") is None
    monkeypatch.chdir(tmp_path)
    assert [LocalFiles().find_real_path(path) for path in ("", "file")] == [
        os.path.realpath(tmp_path),
        f"{os.path.realpath(tmp_path)}/real/deep/x.md",
    ]
