"""Hostile archives, lock files and folders: refused, with nothing left behind."""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from prowess.supply.install import local_fetch
from tests.cli.terminal import Terminal
from tests.workspace import skill_text

TEXT = skill_text("alpha")


@pytest.fixture
def terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    # What a command leaves in the folder for temporary files is seen, too.
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return terminal


def list_all(terminal: Terminal) -> list[str]:
    """Everything on the machine, except locks, which are empty files."""
    return sorted(
        str(path.relative_to(terminal.root))
        for path in terminal.root.rglob("*")
        if path.suffix != ".lock" and "cache" not in path.relative_to(terminal.root).parts
    )


def make_tar(*members: tuple[str, bytes, bytes]) -> bytes:
    """A .tar.gz of members: name, type, content or target of a link."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        skill = tarfile.TarInfo("SKILL.md")
        skill.size = len(TEXT)
        archive.addfile(skill, io.BytesIO(TEXT.encode()))
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                member.linkname = content.decode()
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def make_zip(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    """A .zip of members beside a SKILL.md."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", TEXT)
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def make_link_in_zip() -> bytes:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return make_zip((link, b"/etc/passwd"))


FILE = tarfile.REGTYPE
HOSTILE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "traversal": ("tar.gz", lambda: make_tar(("../../out", FILE, b"x"))),
    "hidden traversal": ("tar.gz", lambda: make_tar(("a/../../out", FILE, b"x"))),
    "absolute": ("tar.gz", lambda: make_tar(("/tmp/prowess-out", FILE, b"x"))),
    "backslashes": ("tar.gz", lambda: make_tar(("..\\..\\out", FILE, b"x"))),
    "symlink": ("tar.gz", lambda: make_tar(("a", tarfile.SYMTYPE, b"/etc"))),
    "hard link": ("tar.gz", lambda: make_tar(("a", tarfile.LNKTYPE, b"/etc/passwd"))),
    "device": ("tar.gz", lambda: make_tar(("a", tarfile.CHRTYPE, b""))),
    "pipe": ("tar.gz", lambda: make_tar(("a", tarfile.FIFOTYPE, b""))),
    "twice": ("tar.gz", lambda: make_tar(("a", FILE, b"1"), ("a", FILE, b"2"))),
    "twice by a dot": ("tar.gz", lambda: make_tar(("a", FILE, b"1"), ("./a", FILE, b"2"))),
    "case": ("tar.gz", lambda: make_tar(("Read", FILE, b"1"), ("read", FILE, b"2"))),
    "case of folders": ("tar.gz", lambda: make_tar(("A/x", FILE, b"1"), ("a/y", FILE, b"2"))),
    "form of Unicode": ("tar.gz", lambda: make_tar(("é", FILE, b"1"), ("é", FILE, b"2"))),
    "git": ("tar.gz", lambda: make_tar((".git/config", FILE, b"[core]"))),
    "git in capitals": ("tar.gz", lambda: make_tar(("a/.GIT/hooks/x", FILE, b"x"))),
    "deep": ("tar.gz", lambda: make_tar(("a/" * 3_000 + "x", FILE, b"x"))),
    "deep in zip": ("zip", lambda: make_zip(("a/" * 3_000 + "x", b"x"))),
    "long path": ("tar.gz", lambda: make_tar(("/".join(["n" * 200] * 30), FILE, b"x"))),
    "long name": ("tar.gz", lambda: make_tar(("é" * 200, FILE, b"x"))),
    "file and folder": ("tar.gz", lambda: make_tar(("a", FILE, b"1"), ("a/b", FILE, b"2"))),
    "folder and file": ("zip", lambda: make_zip(("a/b/c", b"1"), ("a/b", b"2"))),
    "cut": ("tar.gz", lambda: make_tar(("a", FILE, os.urandom(5_000)))[:-2_000]),
    "many files": (
        "tar.gz",
        lambda: make_tar(*((f"f{number}", FILE, b"") for number in range(5_001))),
    ),
    "bomb": ("zip", lambda: make_zip(("bomb", bytes(140 << 20)))),
    "traversal in zip": ("zip", lambda: make_zip(("../out", b"x"))),
    "drive": ("zip", lambda: make_zip(("C:/out", b"x"))),
    "link in zip": ("skill", make_link_in_zip),
    "no archive": ("skill", lambda: b"no archive at all"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_with_nothing_left_behind(
    terminal: Terminal, name: str
) -> None:
    suffix, make = HOSTILE[name]
    terminal.write(f"x.{suffix}", make())
    before = list_all(terminal)
    answer = terminal.run("install", f"../x.{suffix}", "--yes")
    assert (answer.code, answer.out) == (5, "")
    # A sentence about the archive, not about our own folders.
    assert answer.err.startswith(f"prowess: Could not install from {terminal.root}/x.{suffix}: ")
    assert len(answer.err) < 500
    assert "scratch" not in answer.err
    assert list_all(terminal) == before
    assert not os.path.exists("/tmp/prowess-out")


def test_a_folder_that_is_too_deep_is_refused_in_a_sentence(terminal: Terminal) -> None:
    terminal.write("source/SKILL.md", TEXT)
    terminal.write(f"source/{'a/' * 100}x", "x")
    answer = terminal.run("install", "../source", "--yes")
    assert (answer.code, "the path is more than 64 folders deep" in answer.err) == (5, True)
    # Folders in no skill do not matter.
    terminal.write("source/two/SKILL.md", TEXT)
    (terminal.root / "source/SKILL.md").unlink()
    assert terminal.run("install", "../source", "--yes").code == 0


def test_an_archive_without_a_skill_leaves_nothing_behind(terminal: Terminal) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("README.md", "x")
    terminal.write("x.zip", buffer.getvalue())
    before = list_all(terminal)
    assert terminal.run("install", "../x.zip", "--yes").code == 4
    assert list_all(terminal) == before


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/evil", "..", ".git", "a\nb", "CON ", "x" * 300]
)
def test_a_name_in_a_header_never_chooses_a_folder_elsewhere(terminal: Terminal, name: str) -> None:
    terminal.write("source/one/SKILL.md", f"---\nname: {json.dumps(name)}\ndescription: d\n---\n")
    answer = terminal.run("install", "../source", "--yes")
    assert answer.code == 0
    (folder,) = (terminal.project / ".agents/skills").iterdir()
    assert folder.name == "one"


def write_lock(terminal: Terminal, **changes: object) -> None:
    """A lock file as a clone could bring it, from an honest one with something changed."""
    terminal.write("source/SKILL.md", TEXT)
    assert terminal.run("install", "../source", "--yes").code == 0
    path = terminal.project / "prowess.lock"
    lock = json.loads(path.read_text())
    lock["skills"][0].update(changes)
    path.write_text(json.dumps(lock))


@pytest.mark.parametrize(
    "changes",
    [
        {"targets": ["../outside"]},
        {"targets": ["/tmp/prowess-out"]},
        {"targets": ["a/../../outside"]},
        {"targets": ["."]},
        {"targets": ["link/inside"]},
        {"targets": ["~/x"], "files": {"../x": "0" * 64}},
        {"files": {"/etc/x": "0" * 64}},
        {"files": {"SKILL.md": "0" * 64}},
        {"files": {"SKILL.md": "short"}},
        {"tree": "sha256:" + "0" * 64},
        {"tree": "../../x"},
        {"files": {"a/" * 3_000 + "x": "0" * 64}},
        {"files": {"a": "0" * 64, "a/b": "0" * 64}},
        {"targets": [".agents/skills/alpha", ".agents/skills/Alpha"]},
        {"targets": 5},
    ],
)
@pytest.mark.parametrize("command", ["sync", "verify"])
def test_a_hostile_lock_file_is_refused(
    terminal: Terminal, command: str, changes: dict[str, object]
) -> None:
    (terminal.project / "link").symlink_to(terminal.home)
    write_lock(terminal, **changes)
    before = list_all(terminal)
    answer = terminal.run(command)
    assert (answer.code, "prowess.lock" in answer.err) == (4, True)
    assert list_all(terminal) == before


@pytest.mark.parametrize(
    "source",
    ["--upload-pack=touch /tmp/prowess-out", "ext::sh -c touch% /tmp/prowess-out", "x"],
)
def test_a_source_in_a_lock_file_is_no_option_and_no_program(
    terminal: Terminal, source: str
) -> None:
    write_lock(terminal, source=source, kind="git", resolved="HEAD", tree="sha256:" + "0" * 64)
    path = terminal.project / "prowess.lock"
    lock = json.loads(path.read_text())
    # An honest digest of files that the store does not have.
    lock["skills"][0]["files"] = {"SKILL.md": "1" * 64}
    from prowess.model.tree import Tree, TreeFile

    lock["skills"][0]["tree"] = Tree({"SKILL.md": TreeFile("1" * 64)}).digest
    path.write_text(json.dumps(lock))
    assert terminal.run("sync").code == 2
    (terminal.project / ".agents/skills/alpha/SKILL.md").unlink()
    (terminal.project / ".agents/skills/alpha").rmdir()
    assert terminal.run("sync").code == 2
    assert terminal.run("outdated").code == 4
    assert not os.path.exists("/tmp/prowess-out")


def test_a_skill_folder_that_leads_out_of_the_project_is_not_written(terminal: Terminal) -> None:
    terminal.write("source/SKILL.md", TEXT)
    (terminal.project / ".agents").mkdir()
    (terminal.root / "outside").mkdir()
    (terminal.project / ".agents/skills").symlink_to(terminal.root / "outside")
    answer = terminal.run("install", "../source", "--yes")
    assert answer.code != 0
    assert list((terminal.root / "outside").iterdir()) == []


def test_commands_of_a_linked_skill_need_a_trusted_project(terminal: Terminal) -> None:
    terminal.write("source/SKILL.md", skill_text("alpha", body="Now !`echo it-ran`.\n"))
    assert terminal.run("install", "../source", "--link", "--yes").code == 0
    assert "it-ran." not in terminal.run("activate", "alpha").out
    assert terminal.run("trust", "--yes").code == 0
    assert "Now it-ran." in terminal.run("activate", "alpha").out


def test_a_skill_of_a_folder_with_more_files_than_a_skill_may_have_is_installed(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.write("large/skills/one/SKILL.md", TEXT)
    for number in range(4):
        terminal.write(f"large/src/{number}.py", "")
    monkeypatch.setattr(local_fetch, "MOST_FILES", 3)
    answer = terminal.run("install", terminal.path("large"), "--yes")
    assert (answer.code, answer.err) == (0, "")
    monkeypatch.setattr(local_fetch, "_MOST_LISTED", 4)
    answer = terminal.run("install", terminal.path("large"), "--yes")
    assert (answer.code, "it has more than 4 files" in answer.err) == (5, True)


@pytest.mark.parametrize(
    ("files", "size", "said"), [(1, 1 << 31, "134,217,728 bytes"), (4, 1, "3 files")]
)
def test_a_folder_that_is_too_large_is_refused_before_a_file_is_read(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, files: int, size: int, said: str
) -> None:
    terminal.write("huge/SKILL.md", TEXT)
    for number in range(files):
        with (terminal.root / f"huge/{number}").open("wb") as file:
            # A sparse file: nothing is written.
            file.truncate(size)

    def load(folder: str, **options: object) -> None:
        raise AssertionError(f"{folder} was read")

    monkeypatch.setattr(local_fetch, "load_tree", load)
    monkeypatch.setattr(local_fetch, "MOST_FILES", 3)
    answer = terminal.run("install", terminal.path("huge"), "--yes")
    assert (answer.code, f"it has more than {said}" in answer.err) == (5, True)
