"""The store that all projects of a user share: what somebody wrote into it is never lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.supply.install.conftest import Desk
from tests.workspace import skill_text

ALPHA = ".agents/skills/alpha"
STORE = "home/.local/share/prowess/store"


@pytest.fixture
def linked(desk: Desk) -> Path:
    """The source of a skill that the project has as a link."""
    source = desk.source({"SKILL.md": skill_text("alpha"), "run.sh": "old\n"})
    assert desk.run("install", str(source), "--link", "--yes").code == 0
    return source


def write_into_link(desk: Desk, name: str, text: str) -> None:
    """Write a file through a link, as somebody does who may change the mode of the folder."""
    real = Path(os.path.realpath(desk.project / ALPHA))
    real.chmod(0o755)
    place = real / name
    if place.exists():
        place.chmod(0o644)
    place.write_text(text)


def list_set_aside(desk: Desk) -> dict[str, str]:
    """The files that were moved out of the store's trees."""
    top = desk.root / STORE / "set-aside"
    return {one.name: one.read_text() for one in top.glob("*/*")}


def test_folders_of_the_store_are_read_only(desk: Desk, linked: Path) -> None:
    assert (desk.project / ALPHA).stat().st_mode & 0o222 == 0


@pytest.mark.parametrize("name", ["notes.txt", "run.sh"])
def test_a_file_that_was_written_through_a_link_outlives_another_project(
    desk: Desk, linked: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_into_link(desk, name, "mine\n")
    other = desk.root / "other"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    answer = desk.run("install", str(linked), "--link", "--yes")
    assert answer.code == 0
    (kept,) = (desk.root / STORE / "set-aside").iterdir()
    assert answer.err == (
        "warning: A copy in the store was changed, perhaps through a folder that links to it;"
        f" it is now in {kept}. (store-copy-changed)\n"
        "  Copy what you need from there; to edit a skill, install it with --copy.\n"
    )
    assert list_set_aside(desk)[name] == "mine\n"
    assert kept.stat().st_mode & 0o200
    assert (other / ALPHA / "run.sh").read_text() == "old\n"
    assert not (other / ALPHA / "notes.txt").exists()
    assert desk.run("verify").code == 0


def test_nothing_is_moved_while_there_is_no_fresh_copy(desk: Desk, linked: Path) -> None:
    write_into_link(desk, "notes.txt", "mine\n")
    assert desk.run("sync", "--theirs", "--offline").code == 4
    assert (desk.project / ALPHA / "notes.txt").read_text() == "mine\n"
    assert desk.run("sync", "--theirs").code == 0
    assert list_set_aside(desk)["notes.txt"] == "mine\n"
    assert desk.run("verify").code == 0


@pytest.mark.parametrize("option", ["--merge", "--ours"])
def test_edits_made_through_a_link_are_merged_like_others(
    desk: Desk, linked: Path, option: str
) -> None:
    write_into_link(desk, "notes.txt", "mine\n")
    desk.source({"run.sh": "new\n"})
    # The folder no longer has the version that was installed; git would.
    answer = desk.run("update", option, "--yes")
    if option == "--merge":
        assert (answer.code, "no longer what the lock file says" in answer.err) == (4, True)
        assert (desk.project / ALPHA / "notes.txt").read_text() == "mine\n"
        return
    assert answer.code == 0
    assert (desk.project / ALPHA / "notes.txt").read_text() == "mine\n"
    assert (desk.project / ALPHA / "run.sh").read_text() == "new\n"


def test_edits_through_a_link_to_a_repository_are_merged_with_the_version_before(
    desk: Desk,
) -> None:
    folder = desk.repository({"SKILL.md": skill_text("alpha"), "run.sh": "old\n"})
    assert desk.run("install", f"file://{folder}", "--link", "--yes").code == 0
    write_into_link(desk, "notes.txt", "mine\n")
    desk.repository({"run.sh": "new\n"})
    assert desk.run("update", "--merge", "--yes").code == 0
    assert (desk.project / ALPHA / "notes.txt").read_text() == "mine\n"
    assert (desk.project / ALPHA / "run.sh").read_text() == "new\n"


# Prune


def make_old(desk: Desk) -> None:
    """Let all trees of the store have been unused for a day."""
    for tree in (desk.root / STORE / "trees").iterdir():
        past = tree.stat().st_mtime - 86_400
        os.utime(tree, (past, past))


def count_trees(desk: Desk) -> int:
    return len(list((desk.root / STORE / "trees").iterdir()))


def test_versions_that_no_lock_file_names_are_removed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert desk.run("prune").out == "0 unused versions removed (0 bytes); 0 lock files checked.\n"
    source = desk.source({"SKILL.md": skill_text("alpha"), "run.sh": "old\n"})
    desk.run("install", str(source), "--link", "--yes")
    other = desk.root / "other"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    desk.run("install", str(source), "--link", "--yes")
    desk.source({"run.sh": "new\n"})
    assert desk.run("update", "--yes").code == 0
    make_old(desk)
    # The first project still needs the old version.
    assert desk.run("prune").out == "0 unused versions removed (0 bytes); 2 lock files checked.\n"
    monkeypatch.chdir(desk.project)
    assert desk.run("update", "--yes").code == 0
    assert desk.run("prune", "--dry-run").out == (
        "1 unused version would be removed; 2 lock files checked.\n"
    )
    assert count_trees(desk) == 2
    size = len(skill_text("alpha")) + len("old\n")
    shape = desk.json("prune")
    assert (len(shape["trees"]), shape["projects"], shape["bytes"]) == (1, 2, size)
    assert count_trees(desk) == 1
    for project in (desk.project, other):
        monkeypatch.chdir(project)
        assert desk.run("verify", "--frozen").code == 0
    shutil.rmtree(other)
    monkeypatch.chdir(desk.project)
    assert desk.run("prune").out == "0 unused versions removed (0 bytes); 1 lock file checked.\n"


def test_what_was_used_lately_or_changed_by_somebody_is_not_pruned(
    desk: Desk, linked: Path
) -> None:
    write_into_link(desk, "notes.txt", "mine\n")
    assert desk.run("remove", "alpha", "--yes", "--force").code == 0
    assert desk.json("prune")["trees"] == []
    make_old(desk)
    answer = desk.run("prune")
    assert (answer.code, "(store-copy-changed)" in answer.err) == (0, True)
    assert (count_trees(desk), list_set_aside(desk)["notes.txt"]) == (0, "mine\n")


LIST = f"{STORE}/projects/installs.json"


@pytest.fixture
def only_copy(desk: Desk, linked: Path) -> Path:
    """A project whose linked skill exists nowhere but in the store, for a long time."""
    shutil.rmtree(linked)
    make_old(desk)
    return desk.project


def prune_elsewhere(desk: Desk, monkeypatch: pytest.MonkeyPatch, *options: str) -> tuple[str, str]:
    """Run `prune` that must succeed, in a folder without a project."""
    monkeypatch.chdir(desk.root)
    answer = desk.run("prune", *options)
    assert answer.code == 0
    return answer.out, answer.err


def test_the_copies_of_a_project_whose_disk_is_away_stay(
    desk: Desk, only_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = desk.root / "away"
    monkeypatch.chdir(desk.root)
    only_copy.rename(away)
    out, err = prune_elsewhere(desk, monkeypatch)
    assert out == "0 unused versions removed (0 bytes); 0 lock files checked.\n"
    assert f"Could not read {only_copy}/prowess.lock: No such file or directory." in err
    assert "1 version is kept for it. (store-copies-kept)" in err
    assert f"`prowess prune --forget {only_copy}`" in err
    # An empty folder may be where the disk is mounted at other times.
    only_copy.mkdir()
    prune_elsewhere(desk, monkeypatch)
    assert count_trees(desk) == 1
    only_copy.rmdir()
    away.rename(only_copy)
    monkeypatch.chdir(only_copy)
    assert desk.run("verify", "--frozen").code == 0
    assert prune_elsewhere(desk, monkeypatch)[1] == ""


def test_a_folder_that_cannot_be_searched_is_not_gone(
    desk: Desk, only_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = only_copy / "prowess.lock"
    lock.unlink()
    # A loop of links is an error of the disk that is not "no such file", for any user.
    lock.symlink_to(lock)
    assert "1 version is kept for it." in prune_elsewhere(desk, monkeypatch)[1]
    assert count_trees(desk) == 1


def test_a_lock_file_that_was_deleted_needs_nothing(
    desk: Desk, only_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (only_copy / "prowess.lock").unlink()
    assert prune_elsewhere(desk, monkeypatch)[1] == ""
    assert count_trees(desk) == 0
    assert str(only_copy) not in (desk.root / LIST).read_text()


def test_a_project_that_is_gone_for_good_can_be_forgotten(
    desk: Desk, only_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    still = desk.run("prune", "--forget", str(only_copy))
    assert (still.code, "prowess.lock is still there" in still.err) == (2, True)
    unknown = desk.run("prune", "--forget", "elsewhere")
    assert (unknown.code, "No skills were installed in elsewhere" in unknown.err) == (2, True)
    monkeypatch.chdir(desk.root)
    shutil.rmtree(only_copy)
    forget = ("--forget", str(only_copy))
    out, _ = prune_elsewhere(desk, monkeypatch, *forget, "--dry-run")
    assert out == "1 unused version would be removed; 0 lock files checked.\n"
    assert count_trees(desk) == 1
    assert prune_elsewhere(desk, monkeypatch, *forget)[1] == ""
    assert count_trees(desk) == 0
    assert prune_elsewhere(desk, monkeypatch)[1] == ""


@pytest.mark.parametrize("damage", ["broken", "deleted", "state moved"])
def test_a_list_that_was_lost_is_no_reason_to_remove_anything(
    desk: Desk, only_copy: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if damage == "broken":
        (desk.root / LIST).write_text("{")
        refused = desk.run("prune")
        assert (refused.code, "or delete the file" in refused.err) == (4, True)
    elif damage == "deleted":
        (desk.root / LIST).unlink()
        assert (
            "1 version is kept because the store had no list of projects" in desk.run("prune").err
        )
    else:
        monkeypatch.setenv("PROWESS_STATE_DIR", str(desk.root / "elsewhere"))
    assert count_trees(desk) == 1
    # Another project begins a new list.
    other = desk.root / "other"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    source = desk.source({"SKILL.md": skill_text("beta")}, "second")
    assert desk.run("install", str(source), "--link", "--yes").code == 0
    make_old(desk)
    _, err = prune_elsewhere(desk, monkeypatch)
    assert count_trees(desk) == 2
    assert (err == "") == (damage == "state moved")
    # A project that runs `sync` is known again; the rest can be forgotten.
    monkeypatch.chdir(only_copy)
    assert desk.run("sync").code == 0
    assert prune_elsewhere(desk, monkeypatch)[1] == ""
    prune_elsewhere(desk, monkeypatch, "--forget", str(desk.root / STORE))
    assert count_trees(desk) == 2
    assert prune_elsewhere(desk, monkeypatch)[1] == ""


def test_one_lock_file_that_cannot_be_read_keeps_its_own_copies_only(
    desk: Desk, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.source({"run.sh": "new\n"})
    assert desk.run("update", "--yes").code == 0
    make_old(desk)
    desk.write("project/prowess.lock", "{")
    answer = desk.run("prune")
    assert answer.out.startswith("1 unused version removed")
    assert f"Cannot use {desk.project}/prowess.lock: " in answer.err
    assert "1 version is kept for it. (store-copies-kept)" in answer.err
    assert (desk.project / ALPHA / "run.sh").read_text() == "new\n"


def test_a_broken_clone_is_not_a_project_that_needs_something(
    desk: Desk, only_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = desk.root / "clone"
    (clone / ".git").mkdir(parents=True)
    (clone / "prowess.lock").write_text("<<<<<<< HEAD")
    monkeypatch.chdir(clone)
    assert desk.run("sync").code == 4
    out, err = prune_elsewhere(desk, monkeypatch)
    assert (out, err) == ("0 unused versions removed (0 bytes); 1 lock file checked.\n", "")


def test_what_folders_still_link_to_after_a_failed_sync_stays(
    desk: Desk, only_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (only_copy / "prowess.lock").read_text()
    source = desk.source({"SKILL.md": skill_text("alpha"), "run.sh": "new\n"}, "source")
    assert desk.run("update", "--yes").code == 0
    make_old(desk)
    # As after `git checkout` of an older commit, whose version cannot be fetched any more.
    shutil.rmtree(source)
    monkeypatch.chdir(desk.root)
    prune_elsewhere(desk, monkeypatch)
    (only_copy / "prowess.lock").write_text(before)
    monkeypatch.chdir(only_copy)
    assert desk.run("sync").code == 4
    prune_elsewhere(desk, monkeypatch)
    assert (only_copy / ALPHA / "run.sh").read_text() == "new\n"
