"""Which folders of a source are skills, and which files are in each of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prowess.supply.install.fetch import (
    find_folder,
    find_skill_folders,
    group_by_folder,
    is_inside,
    is_inside_any,
)

# `-` comes before `/` in the order of characters, and `.` does, too.
WORDS = st.sampled_from(["a", "a-b", "a.b", "b", "SKILL.md"])
PATHS = st.lists(WORDS, min_size=1, max_size=4).map("/".join)


@given(st.lists(PATHS, max_size=12), st.sampled_from(["", "a", "a/b"]))
def test_the_outermost_folders_with_a_skill_file_are_skills(paths: list[str], within: str) -> None:
    named = {path.rpartition("/")[0] for path in paths if path.endswith("SKILL.md")}
    inside = {folder for folder in named if is_inside(f"{folder}/", within)}
    outermost = [
        folder
        for folder in sorted(inside)
        if not any(is_inside(folder, other) for other in inside - {folder})
    ]
    assert find_skill_folders(paths, within=within) == outermost


@given(PATHS, st.sets(st.one_of(st.just(""), PATHS), max_size=6))
def test_a_path_is_in_the_nearest_folder_around_it(path: str, folders: set[str]) -> None:
    around = [folder for folder in folders if is_inside(path, folder)]
    assert find_folder(path, folders) == max(around, key=len, default=None)
    assert is_inside_any(path, folders) == bool(around)


def test_files_go_to_the_folder_that_they_are_in_and_others_are_left_out() -> None:
    files = [("a/SKILL.md", 1), ("a-b/x", 2), ("a/b/y", 3), ("c", 4)]
    assert group_by_folder(files, ["a", "a-b", "d"]) == {
        "a": [("a/SKILL.md", 1), ("a/b/y", 3)],
        "a-b": [("a-b/x", 2)],
        "d": [],
    }
    assert group_by_folder(files, [""]) == {"": files}


def test_a_source_with_very_many_skills_is_sorted_in_one_pass() -> None:
    # Comparing every path with every folder would take an hour.
    paths = [f"skills/{number}/{name}" for number in range(30_000) for name in ("SKILL.md", "x")]
    folders = find_skill_folders(paths)
    assert len(folders) == 30_000
    grouped = group_by_folder(((path, path) for path in paths), folders)
    assert {len(inside) for inside in grouped.values()} == {2}
