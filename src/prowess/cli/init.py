"""`prowess init`: set Prowess up in a project."""

from __future__ import annotations

import os
from collections import Counter

import click

from prowess.cli.options import json_option, open_skills
from prowess.cli.out import console, count_words, print_json, shorten_path
from prowess.machine.writing import make_folder, write_aside
from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot

SETTINGS_FILE = "prowess.toml"
SKILLS_FOLDER = os.path.join(".prowess", "skills")

TEMPLATE = """\
# What this project sets for Prowess. Every setting below is a comment: as it is, this file changes nothing.
# `prowess config` shows every value that holds and the file and line it came from.

# Switch all skills off.
# enabled = false

# Skills to switch off. `prowess disable NAME` writes a table of its own for one.
# disabled = ["some-skill"]

# Patterns of names to leave out, and patterns of the only names to take (an empty list takes all).
# ignore = ["draft-*"]
# include = ["team-*"]

# More folders that hold skills, and folders of plugins. Relative paths begin at this file; here they stay inside it.
# folders = ["tools/skills"]
# plugins = ["tools/my-plugin"]

# How often each skill was offered and used is counted on this machine only; `prowess usage` shows it.
# usage = false

# Where “always allow” is remembered: in memory for one conversation, or on disk.
# approvals = "disk"

# What holds for one skill. `visibility` is one of on, name-only, user-only, off.
# [skills."some-skill"]
# enabled = true
# visibility = "user-only"
# env = { SOME_VARIABLE = "value" }

# Folders outside this project that symbolic links may lead to. This counts only in ~/.config/prowess/prowess.toml.
# [discovery]
# trusted_links = ["~/skills-of-my-team"]

# Bounds on a scan; 0 means no bound.
# [limits]
# file_bytes = 1048576

# Room for what a model is shown of the skills; `prowess catalog` shows it.
# [budget]
# characters = 8000
# per_item = 500

# Which skills an agent may use: allow, ask or deny. Of the rules that match, the last of each file counts, and of
# these the strictest.
# [permissions.skill]
# "deploy-*" = "deny"
#
# [agents.plan.permissions]
# skill = "ask"

# What skills may require as a setting: `requires: {config: [browser.enabled]}`.
# [config.browser]
# enabled = true
"""


@click.command("init")
@json_option
def command(as_json: bool) -> int:
    """Set Prowess up in this project.

    Makes prowess.toml, in which every setting is explained and none is set, and the folder .prowess/skills.
    What is already there stays as it is.
    """
    cwd = os.getcwd()
    created, kept = _set_up(cwd)
    snapshot = open_skills("prowess").snapshot
    if as_json:
        print_json({"folder": cwd, "created": created, "kept": kept, "found": _shape_found(snapshot)})
        return 0
    _tell(created, kept, snapshot)
    return 0


def _set_up(cwd: str) -> tuple[list[str], list[str]]:
    """Make what is missing; the paths that were made, and those that were there."""
    paths = {name: os.path.join(cwd, name) for name in (SETTINGS_FILE, SKILLS_FOLDER)}
    kept = [path for path in paths.values() if os.path.lexists(path)]
    created = [path for path in paths.values() if path not in kept]
    if paths[SKILLS_FOLDER] in created:
        make_folder(paths[SKILLS_FOLDER])
    if paths[SETTINGS_FILE] in created:
        write_aside(paths[SETTINGS_FILE], TEMPLATE.encode())
    return created, kept


def _count_by_root(snapshot: Snapshot) -> list[tuple[str, int]]:
    """The roots that hold anything, in scan order, and how many files each holds."""
    counted = Counter(outcome.candidate.root.path for outcome in snapshot.outcomes)
    return [(path, counted[path]) for path in dict.fromkeys(root.path for root in snapshot.roots) if counted[path]]


def _shape_found(snapshot: Snapshot) -> dict[str, object]:
    return {
        "counts": {state.value: number for state, number in snapshot.counts().items()},
        "roots": [{"path": path, "files": number} for path, number in _count_by_root(snapshot)],
        "settings": list(snapshot.settings.files),
    }


def _tell(created: list[str], kept: list[str], snapshot: Snapshot) -> None:
    screen = console()
    for path in created:
        screen.print(f"Made {_name(path, snapshot)}.")
    for path in kept:
        screen.print(f"{_name(path, snapshot)} was here already and stays as it is.")
    screen.print()
    roots = _count_by_root(snapshot)
    if not roots:
        screen.print("No skills were found here yet. `prowess new NAME` makes one.")
        return
    ready = snapshot.counts().get(State.READY, 0)
    found = sum(number for _, number in roots)
    screen.print(f"Found {count_words(found, 'file')} in {count_words(len(roots), 'folder')}, {ready:,} ready to use:")
    from prowess.cli.tables import print_columns

    print_columns([("", shorten_path(path, snapshot.cwd), f"{number:,}") for path, number in roots])
    screen.print("`prowess list` shows them; `prowess new NAME` makes another.")


def _name(path: str, snapshot: Snapshot) -> str:
    shown = shorten_path(path, snapshot.cwd)
    return f"{shown}/" if os.path.isdir(path) else shown
