"""Folders that may not be read, or that are gone before they are: an answer, never a traceback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from prowess.machine.tree_files import load_tree
from prowess.state.skill_store import SkillStore
from tests.supply.install.conftest import Desk
from tests.workspace import skill_text

TREES = "home/.local/share/prowess/store/trees"


def deny(monkeypatch: pytest.MonkeyPatch, folder: Path, problem: type[OSError]) -> None:
    """Let a folder exist that cannot be listed; a mode would not stop an administrator."""
    list_folder = os.scandir

    def refuse(path: Any = ".") -> Any:
        if path == str(folder):
            raise problem(13, "Permission denied", path)
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", refuse)


@pytest.fixture
def installed(desk: Desk) -> Desk:
    """A project with a skill that was installed."""
    source = desk.source({"SKILL.md": skill_text("alpha")})
    assert desk.run("install", str(source), "--yes").code == 0
    return desk


def test_prune_names_a_store_that_may_not_be_read(
    installed: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    deny(monkeypatch, installed.root / TREES, PermissionError)
    answer = installed.run("prune")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err == f"prowess: Could not read {installed.root / TREES}: Permission denied.\n"


@pytest.mark.parametrize("words", [("verify", "--frozen"), ("import",)])
def test_a_folder_of_skills_that_may_not_be_read_is_named(
    installed: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    folder = installed.project / ".windsurf/skills"
    folder.mkdir(parents=True)
    deny(monkeypatch, folder, PermissionError)
    answer = installed.run(*words)
    assert answer.code == 4
    assert answer.err == f"prowess: Could not read {folder}: Permission denied.\n"


@pytest.mark.parametrize("words", [("verify", "--frozen"), ("import", "--yes")])
def test_a_folder_of_skills_that_is_gone_meanwhile_has_none(
    installed: Desk, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    folder = installed.project / ".windsurf/skills"
    folder.mkdir(parents=True)
    before = installed.run(*words)
    deny(monkeypatch, folder, FileNotFoundError)
    assert installed.run(*words) == before


def test_a_tree_that_is_pruned_while_it_is_added_is_added_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "SKILL.md").write_text(skill_text("alpha"))
    store, tree = SkillStore(str(tmp_path / "store")), load_tree(str(source))
    store.add(str(source), tree)
    touch = os.utime

    def prune_first(path: str) -> None:
        monkeypatch.setattr(os, "utime", touch)
        store.remove(tree.digest)
        touch(path)

    monkeypatch.setattr(os, "utime", prune_first)
    assert os.listdir(store.add(str(source), tree)) == ["SKILL.md"]
