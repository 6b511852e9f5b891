"""The cache never changes an answer: after any changes on disk, a scan that uses what earlier scans
read finds what a scan without it finds.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.model.files import FolderItem
from prowess.model.snapshot import Snapshot
from prowess.state.cache import _parse_listing, _render_listing
from tests.workspace import Workspace, skill_text

NAMES = ("alpha", "beta", "group/gamma")
ROOT = "project/.claude/skills"

# Each change has a time of its own, also where the clock of the disk is coarse.
_times = itertools.count(1_000_000_000_000_000_001, 1_000_000_001)


def date(path: Path) -> None:
    time = next(_times)
    os.utime(path, ns=(time, time), follow_symlinks=False)


def is_broken(path: Path) -> bool:
    """Whether a path is a link that leads nowhere, so that nothing can be put there."""
    return path.is_symlink() and not os.path.exists(path)


def add(folder: Path, file: str, text: str) -> None:
    """Put a file into a folder, or write it anew in its place."""
    place = folder / file
    if place.is_dir() or any(map(is_broken, (place, *place.parents))):
        return
    is_new = not os.path.lexists(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    date(place.resolve())
    if is_new:
        date_folders(place.resolve())


def date_folders(place: Path) -> None:
    """Give a new time to the folders that a path was made in; there may have been none before."""
    folder = place.parent
    while folder.name != "project":
        date(folder)
        folder = folder.parent


def edit(folder: Path, number: int) -> None:
    """The text has the same size each time."""
    add(folder, "SKILL.md", skill_text(folder.name, f"number {number}"))


def rename(folder: Path, number: int) -> None:
    if folder.is_dir() and not folder.is_symlink():
        target = folder.with_name(f"{folder.name}{number}")
        shutil.rmtree(target, ignore_errors=True)
        folder.rename(target)
        date_folders(folder)


def remove(folder: Path, number: int) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)
    else:
        return
    date_folders(folder)


def link_folder(folder: Path, number: int) -> None:
    if not os.path.lexists(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.symlink_to("alpha")
        date_folders(folder)


def link_file(folder: Path, number: int) -> None:
    file = folder / "SKILL.md"
    if file.is_file():
        file.rename(folder / "other.md")
        file.symlink_to("other.md")
        date_folders(file)


def make_folder_of_file(folder: Path, number: int) -> None:
    file = folder / "SKILL.md"
    if file.is_file():
        file.unlink()
        file.mkdir()
        date_folders(file)


def ignore(folder: Path, number: int) -> None:
    add(folder, ".gitignore", "SKILL.md\n")


def ignore_above(folder: Path, number: int) -> None:
    add(folder.parent, ".gitignore", f"{folder.name}\n")


def make_plugin(folder: Path, number: int) -> None:
    add(folder, ".claude-plugin/plugin.json", f'{{"name": "plugin{number}"}}')
    edit(folder / "skills/inner", number)


def write_lower_case(folder: Path, number: int) -> None:
    add(folder, "skill.md", skill_text(folder.name))


CHANGES: tuple[Callable[[Path, int], None], ...] = (
    edit,
    rename,
    remove,
    link_folder,
    link_file,
    make_folder_of_file,
    ignore,
    ignore_above,
    make_plugin,
    write_lower_case,
)
steps = st.lists(
    st.tuples(st.sampled_from(CHANGES), st.sampled_from(NAMES), st.integers(0, 9)),
    min_size=1,
    max_size=5,
)


def describe(snapshot: Snapshot) -> tuple[Any, ...]:
    outcomes = [
        (
            outcome.candidate,
            outcome.name,
            outcome.state,
            outcome.reason,
            outcome.by,
            outcome.notes,
            outcome.diagnostics,
            outcome.skill and (outcome.skill.description, outcome.skill.declared),
        )
        for outcome in snapshot.outcomes
    ]
    return outcomes, snapshot.diagnostics, snapshot.roots


@pytest.mark.slow
@settings(max_examples=12)
@given(steps=steps, host=st.sampled_from(("prowess", "claude-code", "opencode", "omp")))
def test_a_scan_with_a_cache_finds_what_a_scan_without_one_finds(
    steps: list[tuple[Callable[[Path, int], None], str, int]], host: str
) -> None:
    # Files count as settled at once, so that all that can be kept is kept.
    settled = mock.patch.multiple(
        "prowess.state.cache", _TICK_NS=-(10**12), _COARSE_TICK_NS=-(10**12), _FEW=10**6
    )
    with tempfile.TemporaryDirectory() as folder, settled:
        workspace = Workspace(Path(os.path.realpath(folder)))
        workspace.git()
        for name in NAMES:
            edit(workspace.root / ROOT / name, 0)
        running = workspace.open(host, cache=True, refresh="auto")
        workspace.open(host, cache=True).reload()
        for change, name, number in steps:
            change(workspace.root / ROOT / name, number)
            fresh = describe(workspace.open(host, cache=False).snapshot)
            assert describe(workspace.open(host, cache=True).snapshot) == fresh
            assert describe(running.reload()) == fresh


names = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=()), min_size=1, max_size=4
)
items = st.builds(FolderItem, names, st.sampled_from(("file", "folder", "other")), st.just(False))


@given(st.lists(items, max_size=5))
def test_a_listing_comes_back_as_it_was(items: list[FolderItem]) -> None:
    assert _parse_listing(_render_listing(items)) == items


@given(st.text())
def test_a_listing_that_somebody_damaged_can_still_be_read(listing: str) -> None:
    assert all(item.kind for item in _parse_listing(listing))
