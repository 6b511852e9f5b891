"""OpenClaw as described: where skills come from, and how built-in ones are kept up to date."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from prowess.machine import folder_swap
from prowess.runtime import Skills
from prowess.supply.bundled_sets import BundledSetSource, SyncedSkill, sync_set
from tests.workspace import Workspace

HOST = "openclaw@documented"


def ship(workspace: Workspace, name: str, version: Any, body: str = "Body", **more: Any) -> None:
    """A skill of the set that ships."""
    folder = f"shipped/{name}"
    workspace.skill(folder, body=f"{body}\n")
    workspace.write(f"{folder}/skill.json", json.dumps({"version": version, **more}))


def sync(workspace: Workspace) -> dict[str, str]:
    found = sync_set(workspace.path("shipped"), workspace.path("installed"))
    return {one.name: one.status for one in found}


def open_set(workspace: Workspace, **options: Any) -> tuple[Skills, BundledSetSource]:
    source = BundledSetSource(
        workspace.path("shipped"), workspace.path("installed"), label="openclaw-bundled"
    )
    return workspace.open(HOST, sources=[source], **options), source


def read(workspace: Workspace, path: str) -> str:
    return (workspace.root / path).read_text(encoding="utf-8")


# Sources and their labels


@pytest.mark.seed("A-34", "A-35", "A-36", "A-37", "A-38")
def test_every_source_has_its_value_and_its_label(workspace: Workspace):
    places = {
        "OPENCLAW_BUNDLED_SKILLS_DIR": "bundled",
        "OPENCLAW_MARKET_SKILLS_DIR": "market",
    }
    for folder in ("bundled", "home/.openclaw/skills", "market", "home/.agents/skills", "extra"):
        workspace.skill(f"{folder}/{folder.strip('.').replace('/', '-').replace('.', '')}")
    config = {"skills": {"load": {"extraDirs": [workspace.path("extra")]}}}
    workspace.write("home/.openclaw/openclaw.json", json.dumps(config))
    env = {name: workspace.path(folder) for name, folder in places.items()}
    skills = workspace.open(HOST, env=env)
    labels = skills.profile.source_labels
    assert {skill.name: (skill.source.label, labels[skill.source.label]) for skill in skills} == {
        "bundled": ("openclaw-bundled", "内置"),
        "home-openclaw-skills": ("openclaw-managed", "用户安装"),
        "market": ("aipc-market", "市场安装"),
        "home-agents-skills": ("agents-skills-personal", "个人技能"),
        "extra": ("openclaw-extra", "拓展技能"),
    }


@pytest.mark.seed("A-34")
def test_the_skills_of_a_set_are_synchronised_at_start_up(workspace: Workspace):
    ship(workspace, "one", "1.0.0")
    skills, source = open_set(workspace)
    [skill] = skills
    assert skill.source.label == "openclaw-bundled"
    assert skill.folder == workspace.path("installed/one")
    assert source.synced == (SyncedSkill(name="one", status="installed", version="1.0.0"),)


# Versions


@pytest.mark.seed("A-39", "A-40", "A-41")
@pytest.mark.parametrize("other", ["2.0.0", "0.9.0", "1.0", "newer"])
def test_the_same_version_is_skipped_and_any_other_replaces_the_whole_folder(
    workspace: Workspace, other: str
):
    ship(workspace, "one", "1.0.0", "First")
    assert sync(workspace) == {"one": "installed"}
    workspace.write("installed/one/mine.txt", "mine")
    ship(workspace, "one", "1.0.0", "Changed, but not its version")
    assert sync(workspace) == {"one": "skipped"}
    assert "First" in read(workspace, "installed/one/SKILL.md")
    assert (workspace.root / "installed/one/mine.txt").exists()
    ship(workspace, "one", other, "Second")
    assert sync(workspace) == {"one": "replaced"}
    assert "Second" in read(workspace, "installed/one/SKILL.md")
    assert sorted(os.listdir(workspace.root / "installed/one")) == ["SKILL.md", "skill.json"]
    assert os.listdir(workspace.root / "installed") == ["one"]


@pytest.mark.seed("A-42")
@pytest.mark.parametrize("step", ["_copy", "swap_in"])
def test_a_failure_keeps_the_old_version_and_says_so(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, step: str
):
    ship(workspace, "one", "1.0.0", "First")
    ship(workspace, "two", "1.0.0")
    sync(workspace)
    ship(workspace, "one", "2.0.0", "Second")

    def fail(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_swap, step, fail)
    assert sync(workspace) == {"one": "failed-keep-old", "two": "skipped"}
    assert "First" in read(workspace, "installed/one/SKILL.md")
    assert sorted(os.listdir(workspace.root / "installed")) == ["one", "two"]


@pytest.mark.parametrize("version", [None, 3, "", [], {}])
def test_a_set_without_a_version_replaces_nothing(workspace: Workspace, version: Any):
    ship(workspace, "one", "1.0.0", "First")
    sync(workspace)
    ship(workspace, "one", version, "Second")
    assert sync(workspace) == {"one": "failed-keep-old"}
    assert "First" in read(workspace, "installed/one/SKILL.md")


@pytest.mark.seed("A-43")
def test_a_failure_does_not_block_the_start(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    ship(workspace, "one", "1.0.0", "First")
    sync(workspace)
    ship(workspace, "one", "2.0.0", "Second")
    ship(workspace, "new", "1.0.0")
    workspace.skill("project/skills/mine")

    def fail(source: str, target: str) -> None:
        raise OSError(13, "Permission denied")

    monkeypatch.setattr(folder_swap, "_copy", fail)
    skills, source = open_set(workspace)
    assert {skill.name for skill in skills} == {"one", "mine"}
    assert source.synced is not None
    assert {one.name: one.status for one in source.synced} == {
        "new": "failed",
        "one": "failed-keep-old",
    }
    assert [one.code for one in skills.snapshot.diagnostics] == ["bundle-not-synced"] * 2
    assert "failed-keep-old" in skills.snapshot.diagnostics[1].message


def test_what_a_killed_program_left_is_put_back(workspace: Workspace):
    ship(workspace, "one", "1.0.0", "First")
    sync(workspace)
    os.rename(workspace.root / "installed/one", workspace.root / "installed/.one.old")
    assert sync(workspace) == {"one": "skipped"}
    assert "First" in read(workspace, "installed/one/SKILL.md")


def test_a_link_in_a_set_is_not_copied(workspace: Workspace, tmp_path: Path):
    ship(workspace, "one", "1.0.0")
    workspace.link("shipped/one/passwd", "/etc/passwd")
    assert sync(workspace) == {"one": "failed"}
    assert not (workspace.root / "installed/one").exists()


# Hidden


@pytest.mark.seed("A-44")
def test_what_a_screen_hides_the_runtime_still_sees(workspace: Workspace):
    ship(workspace, "one", "1.0.0", hidden=True)
    skills, source = open_set(workspace)
    assert [skill.name for skill in skills] == ["one"]
    assert source.synced is not None
    assert [one.is_hidden for one in source.synced] == [True]
    assert "<name>one</name>" in skills.catalog().text
    assert "Body" in skills.get("one").content
