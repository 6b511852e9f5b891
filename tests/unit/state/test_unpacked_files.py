"""Files of skills in code on a real disk: where they go, who can read them, and what is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from prowess.errors import MachineError
from prowess.state.unpacked_files import (
    PrivateUnpacker,
    find_refusal,
    list_write_flags,
    name_folder,
    split_path,
)

FILES: dict[str, str | bytes] = {"a.md": "A", "ref/deep/b.bin": b"\0\xff", "ref/c.md": "天气"}


@pytest.fixture
def unpacker(tmp_path: Path) -> PrivateUnpacker:
    return PrivateUnpacker(version="1.2.3", temporary=str(tmp_path))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refuse(unpacker: PrivateUnpacker, name: str, files) -> str:
    with pytest.raises(MachineError) as caught:
        unpacker.unpack(name, files)
    return str(caught.value)


@pytest.mark.seed("C-17", "C-93")
def test_files_lie_below_a_folder_of_the_user_the_version_and_a_name_that_nobody_can_guess(
    unpacker, tmp_path
):
    folder = Path(unpacker.unpack("verify", FILES))
    user, kind, version, nonce, skill = folder.relative_to(tmp_path).parts
    assert (user, kind, version, skill) == (
        f"prowess-{os.getuid()}",
        "bundled-skills",
        "1.2.3",
        "verify",
    )
    assert len(bytes.fromhex(nonce)) == 16
    assert PrivateUnpacker(version="1.2.3", temporary=str(tmp_path)).root != unpacker.root
    assert tree(folder) == {"a.md": b"A", "ref/deep/b.bin": b"\0\xff", "ref/c.md": "天气".encode()}


@pytest.mark.seed("C-43", "C-44")
def test_the_folder_is_known_before_anything_is_made(unpacker, tmp_path):
    folder = unpacker.find_folder("verify")
    assert list(tmp_path.iterdir()) == []
    assert unpacker.unpack("verify", FILES) == folder


@pytest.mark.seed("C-96")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_folders_are_for_the_user_alone_and_so_are_files(unpacker, tmp_path, umask):
    before = os.umask(umask)
    try:
        unpacker.unpack("verify", FILES)
    finally:
        os.umask(before)
    made = sorted(tmp_path.rglob("*"))
    assert {mode(path) for path in made if path.is_dir()} == {0o700}
    assert {mode(path) for path in made if path.is_file()} == {0o600}


def test_two_skills_lie_side_by_side(unpacker):
    one, two = Path(unpacker.unpack("one", {"a": "1"})), Path(unpacker.unpack("two", {"a": "2"}))
    assert one.parent == two.parent
    assert [(one / "a").read_text(), (two / "a").read_text()] == ["1", "2"]


@pytest.mark.seed("C-45")
def test_a_skill_is_unpacked_once(unpacker):
    folder = Path(unpacker.unpack("verify", {"a": "1"}))
    (folder / "a").write_text("changed")
    assert unpacker.unpack("verify", {"a": "1"}) == str(folder)
    assert (folder / "a").read_text() == "changed"


# Names


@pytest.mark.seed("C-90", "C-91", "C-92")
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "\\etc\\passwd",
        "C:\\x",
        "c:x",
        "//server/share",
        "..",
        "../x",
        "a/../../x",
        "a/..",
        "a\\..\\..\\x",
    ],
)
def test_a_path_that_is_absolute_or_has_dots_is_refused_and_named_as_it_was_written(
    unpacker, tmp_path, path
):
    told = refuse(unpacker, "verify", {"good.md": "A", path: "B"})
    assert told.startswith(f"Could not unpack {path}: the path ")
    assert told.endswith("points outside the skill's folder.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.seed("C-91")
def test_dots_that_would_cancel_out_are_refused_as_well():
    assert find_refusal("a/../b") == "the path points outside the skill's folder"


@pytest.mark.parametrize("path", ["", " ", "a/", "a\\", ".", "a/.", "a\0b"])
def test_a_path_that_names_no_file_is_refused(path):
    assert find_refusal(path) is not None


@pytest.mark.parametrize(
    "path", ["..dots.md", "a..b/c", "...", "./a", "a//b", "天气.md", "a b", ".hidden"]
)
def test_other_names_are_not(unpacker, path):
    folder = Path(unpacker.unpack("verify", {path: "A"}))
    folders, name = split_path(path)
    assert folder.joinpath(*folders, name).read_text() == "A"


@pytest.mark.parametrize(
    "name", ["../../evil", "a/b", "..", "", "X" * 300, "天气", "Upper", "\udcff", "a.b"]
)
def test_any_name_of_a_skill_has_a_folder_of_its_own_inside(unpacker, name):
    folder = Path(unpacker.unpack(name, {"a": "1"}))
    assert str(folder.parent) == unpacker.root
    assert folder.name == name_folder(name)
    assert name_folder(name) != name_folder(name + "x")


# What is in the way


@pytest.mark.seed("C-94")
def test_a_file_is_created_exclusively_and_without_following_links():
    assert set(list_write_flags("linux")) >= {"O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW"}
    assert list_write_flags("linux") == list_write_flags("darwin")


@pytest.mark.seed("C-95")
def test_on_windows_exclusive_creation_is_the_flag():
    assert list_write_flags("win32") == ("O_WRONLY", "O_CREAT", "O_EXCL", "O_BINARY", "O_NOINHERIT")


@pytest.mark.seed("C-94", "C-97")
@pytest.mark.parametrize(
    "files", [{"a": "1", "A/../a": "2"}, {"a": "1", "./a": "2"}, {"a": "1", "a/b": "2"}]
)
def test_what_is_already_there_is_a_failure_and_is_neither_removed_nor_written_over(
    unpacker, files
):
    refuse(unpacker, "verify", files)
    first = Path(unpacker.find_folder("verify"), "a")
    assert not first.exists() or first.read_text() == "1"


@pytest.mark.seed("C-97")
def test_a_folder_that_somebody_made_before_is_not_used_and_not_touched(tmp_path):
    unpacker = PrivateUnpacker(version="1", temporary=str(tmp_path), nonce="guessed")
    planted = Path(unpacker.root)
    planted.mkdir(parents=True)
    for folder in (planted, *planted.parents):
        if folder == tmp_path:
            break
        folder.chmod(0o700)
    (planted / "mine.txt").write_text("theirs")
    assert refuse(unpacker, "verify", FILES) == "Could not unpack the files of verify: File exists."
    assert tree(tmp_path) == {str((planted / "mine.txt").relative_to(tmp_path)): b"theirs"}


@pytest.mark.seed("C-94")
@pytest.mark.parametrize("place", ["", "bundled-skills", "bundled-skills/1"])
def test_a_link_on_the_way_is_refused(tmp_path, place):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    link = temporary / f"prowess-{os.getuid()}" / place
    link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in link.parents:
        if folder == temporary:
            break
        folder.chmod(0o700)
    link.symlink_to(elsewhere)
    told = refuse(PrivateUnpacker(version="1", temporary=str(temporary)), "verify", FILES)
    assert told.startswith("Could not unpack the files of verify: ")
    assert list(elsewhere.iterdir()) == []


def test_a_link_that_is_swapped_in_while_files_are_written_is_refused(unpacker, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)

    class Swapping(dict[str, str]):
        """Files whose second one comes only after a folder of the first was replaced by a link."""

        def items(self):
            yield "ref/a", "1"
            place = Path(unpacker.find_folder("verify"), "ref")
            place.rename(place.with_name("moved"))
            place.symlink_to(elsewhere)
            yield "ref/b", "2"

    refuse(unpacker, "verify", Swapping({"ref/a": "1", "ref/b": "2"}))
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("bits", [0o755, 0o770, 0o701])
def test_a_folder_that_others_may_enter_is_refused(unpacker, tmp_path, bits):
    folder = tmp_path / f"prowess-{os.getuid()}"
    folder.mkdir()
    folder.chmod(bits)
    assert refuse(unpacker, "verify", FILES) == (
        f"Could not unpack the files of verify: {folder} can be accessed by other users."
    )


def test_a_folder_of_another_user_is_refused(unpacker, tmp_path, monkeypatch):
    folder = tmp_path / f"prowess-{os.getuid()}"
    folder.mkdir(mode=0o700)
    somebody = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: somebody)
    assert refuse(unpacker, "verify", FILES) == (
        f"Could not unpack the files of verify: {folder} belongs to another user."
    )


@pytest.mark.seed("C-47")
def test_a_failure_is_remembered_and_not_tried_again(unpacker, tmp_path):
    blocker = tmp_path / f"prowess-{os.getuid()}"
    blocker.write_text("")
    first = refuse(unpacker, "verify", FILES)
    blocker.unlink()
    assert refuse(unpacker, "verify", FILES) == first
    assert Path(unpacker.unpack("other", FILES)).is_dir()


def test_where_folders_cannot_be_held_open_the_same_holds_by_path(tmp_path, monkeypatch):
    monkeypatch.setattr("prowess.state.unpacked_files._CAN_OPEN_FOLDERS", False)
    unpacker = PrivateUnpacker(version="1", temporary=str(tmp_path))
    folder = Path(unpacker.unpack("verify", FILES))
    assert tree(folder) == {"a.md": b"A", "ref/deep/b.bin": b"\0\xff", "ref/c.md": "天气".encode()}
    assert {mode(path) for path in tmp_path.rglob("*")} == {0o700, 0o600}
    (Path(unpacker.root) / "other").symlink_to(tmp_path)
    assert refuse(unpacker, "other", FILES) == "Could not unpack the files of other: File exists."
    unpacker.close()


def test_a_process_that_was_forked_off_does_not_take_its_parents_files_along(unpacker, monkeypatch):
    folder = Path(unpacker.unpack("verify", FILES))
    child = os.getpid() + 1
    monkeypatch.setattr(os, "getpid", lambda: child)
    unpacker.close()
    assert folder.is_dir()


def test_text_that_cannot_be_written_is_a_failure(unpacker):
    assert refuse(unpacker, "verify", {"a": "\ud800"}).startswith(
        "Could not unpack the files of verify: "
    )


def test_closing_removes_what_was_unpacked_and_nothing_else(unpacker, tmp_path):
    other = PrivateUnpacker(version="1.2.3", temporary=str(tmp_path))
    kept = Path(other.unpack("verify", FILES))
    unpacker.unpack("verify", FILES)
    unpacker.close()
    assert not Path(unpacker.root).exists()
    assert kept.is_dir()
    assert refuse(unpacker, "verify", FILES) == (
        "Could not unpack the files of verify: their folder is already closed."
    )
    other.close()


def test_closing_before_anything_was_unpacked_does_nothing(unpacker, tmp_path):
    unpacker.close()
    assert list(tmp_path.iterdir()) == []
