"""The cache never changes an answer: whatever happens on disk, a cached scan equals a fresh one."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from prowess.machine.files import LocalFiles
from prowess.runtime import Skills
from tests.workspace import Workspace, skill_text


@pytest.fixture
def aged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file count as settled, as it would be a moment later."""
    monkeypatch.setattr("prowess.state.cache._TICK_NS", -(10**12))
    monkeypatch.setattr("prowess.state.cache._COARSE_TICK_NS", -(10**12))


def facts_of(skills: Skills) -> list[tuple[Any, ...]]:
    return [
        (
            o.candidate.location,
            o.name,
            o.state,
            o.reason,
            o.skill and o.skill.description,
            o.diagnostics,
        )
        for o in skills.snapshot.outcomes
    ]


def check_cached_equals_fresh(workspace: Workspace) -> None:
    cached = facts_of(workspace.open(cache=True))
    assert cached == facts_of(workspace.open(cache=False))


class CountingFiles(LocalFiles):
    """Counts how many files are really read."""

    def __init__(self) -> None:
        self.heads: list[str] = []

    def read_head(self, path: str, limit: int) -> Any:
        self.heads.append(path)
        return super().read_head(path, limit)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> CountingFiles:
    files = CountingFiles()
    monkeypatch.setattr("prowess.project.host_view.LocalFiles", lambda: files)
    return files


def test_a_warm_scan_reads_only_the_file_that_changed(
    workspace: Workspace, counting: CountingFiles, aged: None
) -> None:
    for name in ("one", "two", "three"):
        workspace.skill(f"project/.claude/skills/{name}")
    workspace.scan(cache=True)
    workspace.skill("project/.claude/skills/two", description="changed")
    counting.heads.clear()
    snapshot = workspace.scan(cache=True)
    read = [path for path in counting.heads if path.endswith("SKILL.md")]
    assert read == [workspace.path("project/.claude/skills/two/SKILL.md")]
    assert [skill.description for skill in snapshot.skills] == ["d", "d", "changed"]


@pytest.mark.parametrize(("edited", "written"), [(0, False), (1, False), (40, True)])
def test_a_cache_is_written_again_only_where_more_than_a_few_files_changed(
    workspace: Workspace, aged: None, edited: int, written: bool
) -> None:
    for number in range(400):
        workspace.skill(f"project/.claude/skills/s{number}")
    workspace.scan(cache=True)
    (cache,) = Path(workspace.home, ".cache/prowess/scans").iterdir()
    before = cache.stat().st_ino
    for number in range(edited):
        workspace.skill(f"project/.claude/skills/s{number}", description="changed")
    for _ in range(2):
        check_cached_equals_fresh(workspace)
    assert (cache.stat().st_ino != before) is written


def test_every_kind_of_change_shows_in_the_next_scan(workspace: Workspace, aged: None) -> None:
    first = workspace.skill("project/.claude/skills/one")
    workspace.skill("project/.claude/skills/two")
    check_cached_equals_fresh(workspace)

    first.write_text(skill_text("one", "edited"))
    check_cached_equals_fresh(workspace)

    workspace.skill("project/.claude/skills/three")
    check_cached_equals_fresh(workspace)

    first.unlink()
    check_cached_equals_fresh(workspace)

    os.rename(
        workspace.path("project/.claude/skills/two"),
        workspace.path("project/.claude/skills/renamed"),
    )
    check_cached_equals_fresh(workspace)

    workspace.link("project/.claude/skills/linked", "renamed")
    check_cached_equals_fresh(workspace)

    workspace.skill("home/.agents/skills/three", description="the user's own")
    check_cached_equals_fresh(workspace)

    os.unlink(workspace.path("project/.claude/skills/linked"))
    workspace.link("project/.claude/skills/linked", "three")
    check_cached_equals_fresh(workspace)


def test_an_edit_that_restores_size_and_modification_time_is_still_seen(
    workspace: Workspace, aged: None
) -> None:
    path = workspace.skill("project/.claude/skills/one", description="aaaa")
    workspace.scan(cache=True)
    status = path.stat()
    time.sleep(0.02)
    path.write_text(skill_text("one", "bbbb"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [skill.description for skill in workspace.scan(cache=True).skills] == ["bbbb"]


def test_a_file_that_was_just_written_is_not_trusted(workspace: Workspace) -> None:
    path = workspace.skill("project/.claude/skills/one", description="aaaa")
    workspace.scan(cache=True)
    path.write_text(skill_text("one", "bbbb"))
    assert [skill.description for skill in workspace.scan(cache=True).skills] == ["bbbb"]


@pytest.mark.parametrize(
    "damage",
    [b"", b"\xff\x00garbage", b"\x93\x01\xa1x", b"\x94\x05\xa1\xff\x80\x80", b"x" * 100_000],
)
def test_a_damaged_cache_counts_as_none(workspace: Workspace, aged: None, damage: bytes) -> None:
    workspace.skill("project/.claude/skills/one")
    workspace.scan(cache=True)
    caches = list(Path(workspace.home, ".cache/prowess/scans").iterdir())
    assert len(caches) == 1
    caches[0].write_bytes(damage)
    check_cached_equals_fresh(workspace)


def test_a_home_that_cannot_be_written_costs_nothing_but_the_cache(
    workspace: Workspace, aged: None
) -> None:
    workspace.skill("project/.claude/skills/one")
    workspace.write("home/.cache", "a file where the folder should be")
    assert [skill.name for skill in workspace.scan(cache=True).skills] == ["one"]


def test_the_cache_is_private_and_leaves_nothing_half_written(
    workspace: Workspace, aged: None
) -> None:
    workspace.skill("project/.claude/skills/one")
    workspace.scan(cache=True)
    folder = Path(workspace.home, ".cache/prowess/scans")
    assert [oct(path.stat().st_mode & 0o777) for path in folder.iterdir()] == ["0o600"]
    assert [path.suffix for path in folder.iterdir()] == [".msgpack"]


def test_a_name_that_is_not_text_does_not_break_the_cache(workspace: Workspace, aged: None) -> None:
    workspace.skill("project/.claude/skills/one")
    odd = os.fsencode(workspace.path("project/.claude/skills")) + b"/odd-\xff"
    os.mkdir(odd)
    Path(os.fsdecode(odd), "SKILL.md").write_text(skill_text("odd"))
    check_cached_equals_fresh(workspace)
    assert sorted(skill.name for skill in workspace.scan(cache=True).skills) == ["odd", "one"]


def test_a_limit_that_is_set_later_shows_at_once(workspace: Workspace, aged: None) -> None:
    workspace.skill(
        "project/.claude/skills/one", description="a long enough description to be cut off"
    )
    workspace.scan(cache=True)
    workspace.write("home/.config/prowess/prowess.toml", "[limits]\nheader_bytes = 20\n")
    check_cached_equals_fresh(workspace)
    assert workspace.ends(workspace.scan(cache=True)) == {
        "project/.claude/skills/one/SKILL.md": "invalid"
    }


def test_a_folder_that_is_linked_under_another_name_has_that_name(
    workspace: Workspace, aged: None
) -> None:
    workspace.skill("elsewhere/real", name="")
    workspace.link("home/.openclaw/skills/alpha", "../../../elsewhere/real")
    assert [skill.name for skill in workspace.scan("openclaw", cache=True).skills] == ["alpha"]
    os.rename(
        workspace.path("home/.openclaw/skills/alpha"), workspace.path("home/.openclaw/skills/beta")
    )
    assert [skill.name for skill in workspace.scan("openclaw", cache=True).skills] == ["beta"]


def test_a_cache_of_other_code_counts_as_none(
    workspace: Workspace, counting: CountingFiles, aged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.skill("project/.claude/skills/one")
    workspace.scan(cache=True)
    monkeypatch.setattr("prowess.project.scan_plan.stamp_code", lambda: "another")
    counting.heads.clear()
    workspace.scan(cache=True)
    assert workspace.path("project/.claude/skills/one/SKILL.md") in counting.heads


def test_a_clock_of_whole_seconds_is_given_more_time(workspace: Workspace) -> None:
    path = workspace.skill("project/.claude/skills/one", description="aaaa")
    second = int(time.time()) - 1
    os.utime(path, (second, second))
    workspace.scan(cache=True)
    caches = list(Path(workspace.home, ".cache/prowess/scans").iterdir())
    assert b"aaaa" not in caches[0].read_bytes()


def test_caches_do_not_pile_up(
    workspace: Workspace, aged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.state.cache._MOST_CACHES", 2)
    for number in range(4):
        workspace.skill(f"project/sub{number}/.claude/skills/one")
        workspace.scan(cwd=f"project/sub{number}", cache=True)
    assert len(list(Path(workspace.home, ".cache/prowess/scans").iterdir())) == 2
