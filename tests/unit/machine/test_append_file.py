"""Files that only grow: a line is there whole or not at all."""

from __future__ import annotations

import os

import pytest

from prowess.errors import MachineError
from prowess.machine.append_file import AppendFile, list_newest, read_lines, unique_hex


def test_lines_are_added_at_the_end_and_the_file_is_private(tmp_path):
    path = str(tmp_path / "deep" / "log")
    file = AppendFile.create(path)
    file.append(b"one", sync=True)
    file.close()
    file = AppendFile.open(path)
    file.append(b"two")
    file.close()
    assert read_lines(path) == ([b"one", b"two"], False)
    assert os.stat(path).st_mode & 0o777 == 0o600
    with pytest.raises(MachineError):
        file.append(b"three")


def test_half_a_line_at_the_end_is_left_out_and_noticed(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"one\ntw")
    assert read_lines(str(path)) == ([b"one"], True)
    AppendFile.open(str(path)).append(b"three")
    assert read_lines(str(path)) == ([b"one", b"three"], False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_error_of_the_machine():
    with pytest.raises(MachineError, match="No space left"):
        AppendFile.open("/dev/full").append(b"x")


def test_a_line_that_does_not_fit_leaves_no_half_behind(tmp_path, monkeypatch):
    file = AppendFile.create(str(tmp_path / "log"))
    file.append(b"one")
    real = os.write
    written: list[int] = []

    def write(descriptor, data):
        if written:
            raise OSError(28, "No space left on device")
        written.append(1)
        return real(descriptor, data[:2])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(MachineError):
        file.append(b"two")
    monkeypatch.undo()
    file.append(b"three")
    assert read_lines(str(tmp_path / "log")) == ([b"one", b"three"], False)


def test_the_newest_comes_first(tmp_path):
    for number, name in enumerate(("a.x", "b.x", "c.y")):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (number, number))
    assert list_newest(str(tmp_path), ".x") == ["b.x", "a.x"]
    assert list_newest(str(tmp_path / "none"), ".x") == []


def test_names_that_are_made_in_the_same_second_differ():
    # Jobs and sessions are named by the second and this; the second job of a name would be lost.
    assert len({unique_hex() for _ in range(1_000)}) == 1_000
