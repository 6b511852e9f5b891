"""The store that all projects of a user share: what somebody wrote into it is never lost."""

from __future__ import annotations

import os
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
        f" it is now in {kept}, and a fresh one took its place. (store-copy-changed)\n"
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
