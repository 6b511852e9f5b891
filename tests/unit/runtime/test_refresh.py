"""Files that change: noticed at the next request, by a bounded check."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from prowess import runtime
from prowess.discover.changes import ChangeCheck
from prowess.errors import NotAFolder, UnknownSkill
from prowess.model.snapshot import Snapshot
from prowess.runtime import Skills
from prowess.sources import Files, Folder
from prowess.testing import MemoryFiles
from tests.workspace import Workspace, skill_text

ROOT = "project/.claude/skills"


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(runtime, "time", clock)
    return clock


def names(skills: Skills) -> list[str]:
    return [skill.name for skill in skills.conversation().snapshot.skills]


def settle(skills: Skills, clock: Clock) -> None:
    """Let files become old enough that a change of them leaves a trace, and read them once more."""
    names(skills)
    time.sleep(0.15)
    clock.now += 2
    names(skills)


@pytest.fixture
def skills(workspace: Workspace, clock: Clock) -> Skills:
    """Two skills that a conversation has already asked for."""
    workspace.skill(f"{ROOT}/one")
    workspace.skill(f"{ROOT}/two")
    skills = workspace.open(refresh="auto")
    settle(skills, clock)
    return skills


def add(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/three")


def remove(workspace: Workspace) -> None:
    shutil.rmtree(workspace.root / ROOT / "one")


def rename(workspace: Workspace) -> None:
    path = workspace.root / ROOT / "one" / "SKILL.md"
    path.write_text(skill_text("uno"))


def replace(workspace: Workspace) -> None:
    path = workspace.root / ROOT / "one" / "SKILL.md"
    new = path.with_name("new")
    new.write_text(skill_text("uno"))
    os.replace(new, path)


def remove_file(workspace: Workspace) -> None:
    os.unlink(workspace.root / ROOT / "one" / "SKILL.md")


def disable(workspace: Workspace) -> None:
    workspace.write("home/.config/prowess/prowess.toml", "[skills.one]\nenabled = false\n")


def add_root(workspace: Workspace) -> None:
    workspace.skill("project/.agents/skills/zwei")


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (add, ["one", "three", "two"]),
        (remove, ["two"]),
        (remove_file, ["two"]),
        (rename, ["two", "uno"]),
        (replace, ["two", "uno"]),
        (add_root, ["one", "two", "zwei"]),
    ],
)
def test_a_change_is_noticed_at_the_next_request(
    workspace: Workspace,
    clock: Clock,
    skills: Skills,
    change: Callable[[Workspace], None],
    left: list[str],
) -> None:
    chat = skills.conversation()
    change(workspace)
    clock.now += 2
    assert [line.name for line in chat.catalog().lines] == left
    assert names(skills) == left


def test_settings_that_were_read_are_watched_too(workspace: Workspace, clock: Clock) -> None:
    workspace.skill(f"{ROOT}/one")
    workspace.write("home/.config/prowess/prowess.toml", "")
    skills = workspace.open(refresh="auto")
    assert names(skills) == ["one"]
    disable(workspace)
    clock.now += 2
    assert names(skills) == []


def test_within_a_second_nothing_is_looked_at(
    workspace: Workspace, clock: Clock, skills: Skills
) -> None:
    add(workspace)
    clock.now += 0.5
    assert names(skills) == ["one", "two"]


def test_nothing_is_scanned_while_nothing_changes(clock: Clock, skills: Skills) -> None:
    before = skills.snapshot
    for _ in range(10):
        clock.now += 5
        assert skills.snapshot is before


def test_manual_means_only_a_reload(workspace: Workspace, clock: Clock) -> None:
    workspace.skill(f"{ROOT}/one")
    skills = workspace.open(refresh="manual")
    before = skills.snapshot
    add(workspace)
    clock.now += 1_000
    assert skills.snapshot is before
    assert len(skills.reload().skills) == 2


def test_seconds_read_everything_anew(clock: Clock) -> None:
    table = {"a/SKILL.md": skill_text("a")}
    calls = []

    def rows() -> dict[str, str]:
        calls.append(1)
        return dict(table)

    skills = Skills.of(Files(rows, refresh=60))
    assert names(skills) == ["a"]
    table["b/SKILL.md"] = skill_text("b")
    clock.now += 59
    assert (names(skills), len(calls)) == (["a"], 1)
    clock.now += 2
    assert (names(skills), len(calls)) == (["a", "b"], 2)


@pytest.mark.parametrize(("refresh", "seen"), [(None, True), ("auto", True), ("manual", False)])
def test_every_folder_of_a_composition_has_its_own_rule(
    workspace: Workspace, clock: Clock, refresh: Any, seen: bool
) -> None:
    workspace.skill("a/one")
    workspace.skill("b/two")
    skills = Skills.of(
        Folder(workspace.root / "a", refresh="manual"),
        Folder(workspace.root / "b", refresh=refresh),
    )
    settle(skills, clock)
    workspace.skill("a/more")
    clock.now += 2
    assert names(skills) == ["one", "two"]
    workspace.skill("b/three")
    clock.now += 2
    assert ("three" in names(skills)) is seen


def test_a_deleted_skill_that_always_applies_is_gone_with_the_next_request(
    workspace: Workspace, clock: Clock
) -> None:
    path = workspace.skill(f"{ROOT}/tone", always="true")
    skills = workspace.open(refresh="auto")
    chat = skills.conversation()
    assert "tone" in chat.catalog().prompt
    shutil.rmtree(path.parent)
    assert "tone" in chat.catalog().prompt
    clock.now += 2
    assert "tone" not in chat.catalog().prompt


def test_a_deleted_skill_is_unknown_at_once_when_it_is_asked_for(
    workspace: Workspace, skills: Skills
) -> None:
    chat = skills.conversation()
    remove(workspace)
    with pytest.raises(UnknownSkill):
        chat.activate("one", by="model")


def test_a_working_folder_that_is_gone_keeps_its_skills_and_is_reported(
    workspace: Workspace, clock: Clock, skills: Skills
) -> None:
    shutil.rmtree(workspace.project)
    for _ in range(2):
        clock.now += 2
        assert names(skills) == ["one", "two"]
        assert [found.code for found in skills.snapshot.diagnostics] == ["refresh-failed"]
    with pytest.raises(NotAFolder):
        skills.reload()


def test_only_what_changed_is_read_again(workspace: Workspace, clock: Clock) -> None:
    files = MemoryFiles({f"/p/.claude/skills/{n}/SKILL.md": skill_text(str(n)) for n in range(9)})
    skills = Skills("/p", facts=workspace.facts(), files=files, refresh="auto")
    names(skills)
    files.read.clear()
    files.write("/p/.claude/skills/3/SKILL.md", skill_text("three"))
    clock.now += 2
    assert "three" in names(skills)
    assert [path for path in files.read if path.endswith("SKILL.md")] == [
        "/p/.claude/skills/3/SKILL.md"
    ]


def test_a_check_looks_at_a_bounded_number_and_comes_round() -> None:
    paths = [f"/s/{number}/SKILL.md" for number in range(25)]
    files = MemoryFiles(dict.fromkeys(paths, "x"))
    others = {path: files.get_stamp(path) for path in paths}
    asked: list[str] = []
    get_stamp = files.get_stamp

    def count(path: str) -> Any:
        asked.append(path)
        return get_stamp(path)

    files.get_stamp = count  # type: ignore[method-assign]
    roots = {"/s": get_stamp("/s"), "/none": get_stamp("/none")}
    check = ChangeCheck(files, roots, lambda: others, most=10)
    asked.clear()
    for _ in range(3):
        assert not check.has_changed()
    assert [path for path in asked if path in others] == paths
    assert asked.count("/s") == asked.count("/none") == 3
    files.write(paths[24], "y")
    assert [check.has_changed() for _ in range(3)] == [False, False, True]


def test_while_one_thread_scans_the_others_go_on(
    workspace: Workspace, clock: Clock, skills: Skills, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on = threading.Event(), threading.Event()
    scan = skills.project.scan_watched

    def wait() -> Any:
        began.set()
        assert go_on.wait(120)
        return scan()

    monkeypatch.setattr(skills.project, "scan_watched", wait)
    add(workspace)
    clock.now += 2
    seen: list[Snapshot] = []
    slow = threading.Thread(target=lambda: seen.append(skills.snapshot))
    slow.start()
    assert began.wait(120)
    assert names(skills) == ["one", "two"]
    go_on.set()
    slow.join()
    assert [skill.name for skill in seen[0].skills] == ["one", "three", "two"]


def test_many_threads_that_come_first_make_one_scan(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.skill(f"{ROOT}/one")
    skills = workspace.open(refresh="auto")
    scans = []
    scan = skills.project.scan_watched

    def count() -> Any:
        scans.append(1)
        return scan()

    monkeypatch.setattr(skills.project, "scan_watched", count)
    gate = threading.Barrier(8)
    found: list[Snapshot] = []

    def ask() -> None:
        gate.wait()
        found.append(skills.snapshot)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(scans), len({id(snapshot) for snapshot in found})) == (1, 1)
