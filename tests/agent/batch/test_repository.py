"""Worktrees after something was killed."""

from __future__ import annotations

from pathlib import Path

from prowess.agent.batch.repository import Repository, Worktree
from tests.agent.batch.conftest import Works


def test_a_lock_that_a_killed_git_left_stops_nothing(works: Works) -> None:
    worktree = open_worktree(works)
    git_dir = works.git("-C", worktree.path, "rev-parse", "--absolute-git-dir")
    Path(git_dir, "index.lock").touch()
    again = open_worktree(works)
    Path(again.path, "new.py").write_text("x\n")
    assert again.stage()


def test_an_agent_that_begins_anew_finds_the_changes_of_the_attempt_before(works: Works) -> None:
    worktree = open_worktree(works)
    kept, changed = Path(worktree.path, "kept.py"), Path(worktree.path, "stations/cuxhaven.py")
    before = changed.read_text()
    kept.write_text("first\n")
    assert worktree.stage()
    kept.write_text("second\n")
    changed.unlink()
    Path(worktree.path, "new.py").write_text("x\n")
    worktree.restore()
    assert (kept.read_text(), changed.read_text()) == ("first\n", before)
    assert not Path(worktree.path, "new.py").exists()


def open_worktree(works: Works) -> Worktree:
    repository = Repository(str(works.project), works.skills().facts)
    return repository.open_worktree("one", "batch/one", works.git("rev-parse", "HEAD"))
