"""The sample of files beside a skill: which ones, in which order, how many, and when it stops."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from prowess.activate.resources import file_sample as sample
from prowess.activate.resources.file_sample import Sample, sample_files
from prowess.errors.activation import Cancelled
from prowess.machine.files import LocalFiles
from prowess.model.files import FolderItem
from prowess.ports import FileSystem
from prowess.profiles.load import load_profile
from prowess.testing import MemoryFiles

RULES = load_profile("opencode@documented").tool
SKILL = "/p/.opencode/skills/pdf"


def take(files: FileSystem, *, is_cancelled: Callable[[], bool] | None = None) -> Sample:
    return sample_files(SKILL, files, rules=RULES, is_cancelled=is_cancelled)


def tree(*paths: str, **special: str) -> MemoryFiles:
    return MemoryFiles(
        {f"{SKILL}/SKILL.md": "", **{f"{SKILL}/{path}": "" for path in paths}, **special}
    )


@pytest.mark.seed("O-42")
def test_at_most_ten_files_are_listed_in_the_order_of_their_paths_and_the_rest_is_counted() -> None:
    files = tree(
        *(f"{folder}/{name}" for folder in ("b", "a", "c") for name in ("4", "2", "1", "3")),
        "a.md",
        "z",
    )
    listed = ["a.md", "a/1", "a/2", "a/3", "a/4", "b/1", "b/2", "b/3", "b/4", "c/1"]
    assert take(files) == Sample(tuple(f"{SKILL}/{path}" for path in listed), 4)


@pytest.mark.seed("O-45")
def test_paths_are_absolute_and_sorted_as_whole_texts() -> None:
    paths = ["a-b", "a.md", "a/b", "a0", "A", "ä", "~"]
    assert list(take(tree(*paths)).files) == sorted(f"{SKILL}/{path}" for path in paths)


@pytest.mark.seed("O-43")
def test_no_file_of_the_name_skill_md_is_listed_but_others_that_look_like_it_are() -> None:
    files = tree("sub/SKILL.md", "skill.md", "MY-SKILL.md", "SKILL.md.bak")
    assert take(files) == Sample(
        tuple(f"{SKILL}/{name}" for name in ("MY-SKILL.md", "SKILL.md.bak", "skill.md"))
    )


@pytest.mark.seed("O-44")
def test_hidden_files_are_listed_and_links_are_not(tmp_path: Path) -> None:
    skill = tmp_path / "pdf"
    (skill / ".hidden").mkdir(parents=True)
    (tmp_path / "far.txt").write_text("")
    for name in ("SKILL.md", ".env", ".hidden/x", "plain"):
        (skill / name).write_text("")
    (skill / "to-file").symlink_to(tmp_path / "far.txt")
    (skill / "to-folder").symlink_to(skill / ".hidden")
    (skill / "broken").symlink_to(tmp_path / "nowhere")
    (skill / ".git").mkdir()
    (skill / ".git" / "config").write_text("")
    os.mkfifo(skill / "pipe")
    found = sample_files(str(skill), LocalFiles(), rules=RULES)
    assert found == Sample(tuple(f"{skill}/{name}" for name in (".env", ".hidden/x", "plain")))


def test_what_git_ignores_is_left_out_whoever_says_so() -> None:
    files = tree(
        "keep.md",
        "old.log",
        "sub/x.tmp",
        "sub/kept.tmp",
        "other/x.tmp",
        "__pycache__/a.pyc",
        "data/big.csv",
        **{
            "/p/.git/config": "",
            "/p/.gitignore": "*.log\n__pycache__/\n",
            f"{SKILL}/.ignore": "data\n",
            f"{SKILL}/sub/.gitignore": "*.tmp\n!kept.tmp\n",
        },
    )
    names = (".ignore", "keep.md", "other/x.tmp", "sub/.gitignore", "sub/kept.tmp")
    assert take(files) == Sample(tuple(f"{SKILL}/{name}" for name in names))


def test_a_skill_that_is_itself_ignored_still_shows_its_files() -> None:
    files = tree(
        "a.md", "b.log", **{"/p/.git/config": "", "/p/.gitignore": ".opencode/\n*\n*.log\n"}
    )
    assert take(files) == Sample((f"{SKILL}/a.md",))


def test_ignore_files_above_the_repository_do_not_count() -> None:
    files = tree("a.md", "b.log", **{"/p/.opencode/.git/config": "", "/p/.gitignore": "*.log\n"})
    assert take(files) == Sample((f"{SKILL}/a.md", f"{SKILL}/b.log"))


def test_a_host_that_lists_no_files_looks_at_none() -> None:
    files = tree("a.md")
    assert sample_files(SKILL, files, rules=load_profile("claude-code").tool) == Sample()
    assert files.listed == []


def test_a_folder_that_cannot_be_listed_leaves_the_count_open() -> None:
    class Locked(MemoryFiles):
        def list_folder(self, path: str) -> list[FolderItem]:
            if path.endswith("/locked"):
                raise PermissionError(13, "Permission denied", path)
            return super().list_folder(path)

    files = Locked({f"{SKILL}/a": "", f"{SKILL}/locked/b": ""})
    assert take(files) == Sample((f"{SKILL}/a",), complete=False)


def test_the_walk_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "_MOST_FOLDERS", 3)
    files = tree(*(f"{folder}/{name}" for folder in "abcdef" for name in range(8)))
    assert take(files) == Sample(
        tuple(f"{SKILL}/{path}" for path in (*(f"a/{n}" for n in range(8)), "b/0", "b/1")), 6, False
    )


@pytest.mark.seed("O-46")
def test_listing_stops_when_the_conversation_calls_it_off() -> None:
    files = tree(*(f"{folder}/x" for folder in "abcdef"))
    answers = iter([False, False, True])
    with pytest.raises(Cancelled):
        take(files, is_cancelled=lambda: next(answers))
    assert files.listed == [SKILL, f"{SKILL}/a"]
