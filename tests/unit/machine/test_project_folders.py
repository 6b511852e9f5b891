"""The folders of a project, walked within bounds."""

from __future__ import annotations

from pathlib import Path

from prowess.machine.project_folders import MOST_FOLDERS, Walked, find_holders


def make(root: Path, *folders: str, **files: str) -> None:
    for folder in folders:
        (root / folder).mkdir(parents=True)
    for name, text in files.items():
        (root / name).write_text(text)


def find(root: Path, *, most: int = MOST_FOLDERS) -> Walked:
    found = find_holders(str(root), [".claude", "skills"], skip_names=("node_modules",), most=most)
    return Walked(tuple(str(Path(path).relative_to(root)) for path in found.folders), found.is_cut)


def test_folders_are_found_nearest_first_and_the_root_is_none_of_them(tmp_path: Path) -> None:
    make(tmp_path, "skills", "b/.claude", "a/x/skills", "a/y", "c/other")
    assert find(tmp_path) == Walked(("b", "a/x"))


def test_what_is_ignored_linked_installed_or_another_project_is_passed_over(tmp_path: Path) -> None:
    holders = ("build/in", "kept", "node_modules/m", ".git/m", "module", "module/in")
    make(
        tmp_path,
        *(f"{holder}/.claude" for holder in holders),
        "module/.git",
        **{".gitignore": "build/\n"},
    )
    make(tmp_path / "kept", "gen/skills", "gone/skills", **{".gitignore": "gen\n!gone\n"})
    (tmp_path / "link").symlink_to("kept")
    assert find(tmp_path) == Walked(("kept", "kept/gone"))


def test_a_walk_that_is_cut_says_so(tmp_path: Path) -> None:
    make(tmp_path, "a/skills", "b/skills", "c/skills")
    assert find(tmp_path, most=3) == Walked(("a", "b"), is_cut=True)
    assert find(tmp_path, most=7) == Walked(("a", "b", "c"))


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    make(tmp_path, "a/skills")
    (tmp_path / ".gitignore").mkdir()
    assert find(tmp_path) == Walked(("a",))
    assert find(tmp_path / "missing") == Walked()
