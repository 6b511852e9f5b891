"""`prowess init`: set Prowess up in a project."""

from __future__ import annotations

import os
from collections import Counter

import click
import msgspec

from prowess.cli.options import host_option, json_option, open_skills, render_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.machine.atomic_write import make_folder, write_aside
from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_scan
from prowess.reports.skill_folders import choose_missing, find_existing
from prowess.text.display import count_words

SETTINGS_FILE = "prowess.toml"

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

# Where “always allow” is remembered: in memory for one conversation, or on disk; that counts only in your own file,
# ~/.config/prowess/prowess.toml.
# approvals = "memory"

# Whether each skill is a command too, such as /some-skill; `prowess run` carries one out.
# skill_commands = false

# Whether commands inside the bodies of skills are run; those of a project only once you trust it: `prowess trust`.
# shell_commands = false

# Sources to switch off, by the toggles of oh-my-pi: `Pi` stands for its own folders. While any of the five is on, so
# are the folders that none of them is about; with all of them off only .prowess/skills is left.
# [toggles]
# enableCodexUser = false
# enableClaudeUser = false
# enableClaudeProject = false
# enablePiUser = false
# enablePiProject = false

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

# Programs that the command of a skill can go to, past the model: its header names one under `command-tool`. What was
# typed takes the place of {argument} and is always one argument, whatever it holds.
# [tools.tide]
# command = ["python", "scripts/tide.py", "{argument}"]
# description = "Tells the tide of a harbour."

# What skills may require as a setting: `requires: {config: [browser.enabled]}`.
# [config.browser]
# enabled = true
"""


@click.command("init")
@host_option
@json_option
def command(host: str, as_json: bool) -> int:
    """Set Prowess up in this project.

    Makes prowess.toml, in which every setting is explained and none is set, and a folder for
    skills: .agents/skills, which most agents read, or with --host the first folder of the project
    that this host reads. What is already there stays as it is.
    """
    cwd = os.getcwd()
    skills = open_skills(host)
    made = _set_up(cwd, skills.snapshot)
    snapshot = skills.reload()
    if as_json:
        paths = {"created": made.created, "kept": made.kept, "skills_folder": made.folder}
        print_json(
            {**shape_scan(snapshot), "folder": cwd, **paths, "found": _shape_found(snapshot)}
        )
        return 0
    _tell(made, snapshot)
    return 0


class Made(msgspec.Struct, frozen=True):
    """What was made and what was there already, and which of both is the folder for skills."""

    created: list[str]
    kept: list[str]
    folder: str


def _set_up(cwd: str, snapshot: Snapshot) -> Made:
    """Make what is missing. A project that has a folder for skills is given no second one."""
    folder = find_existing(snapshot, within=os.path.join(cwd, "")) or choose_missing(snapshot, cwd)
    settings = os.path.join(cwd, SETTINGS_FILE)
    kept = [path for path in (settings, folder) if os.path.lexists(path)]
    created = [path for path in (settings, folder) if path not in kept]
    if folder in created:
        make_folder(folder)
    if settings in created:
        write_aside(settings, TEMPLATE.encode())
    return Made(created, kept, folder)


def _count_by_root(snapshot: Snapshot) -> list[tuple[str, int]]:
    """The roots that hold anything, in scan order, and how many files each holds."""
    counted = Counter(outcome.candidate.root.path for outcome in snapshot.outcomes)
    return [
        (path, counted[path])
        for path in dict.fromkeys(root.path for root in snapshot.roots)
        if counted[path]
    ]


def _shape_found(snapshot: Snapshot) -> dict[str, object]:
    return {
        "counts": {state.value: number for state, number in snapshot.counts().items()},
        "roots": [{"path": path, "files": number} for path, number in _count_by_root(snapshot)],
        "settings": list(snapshot.settings.files),
    }


def _tell(made: Made, snapshot: Snapshot) -> None:
    screen = console()
    for path in made.created:
        screen.print(f"Made {_name(path, snapshot)}.")
    for path in made.kept:
        screen.print(f"{_name(path, snapshot)} was here already and stays as it is.")
    screen.print()
    roots = _count_by_root(snapshot)
    option = render_host_option(snapshot)
    if not roots:
        screen.print(f"No skills were found here yet. `prowess new NAME{option}` makes one.")
        return
    ready = snapshot.counts().get(State.READY, 0)
    found = sum(number for _, number in roots)
    screen.print(
        f"Found {count_words(found, 'file')} in {count_words(len(roots), 'folder')}, {ready:,}"
        " ready to use:"
    )
    from prowess.cli.terminal.tables import print_columns

    print_columns([("", shorten_path(path, snapshot.cwd), f"{number:,}") for path, number in roots])
    screen.print(f"`prowess list{option}` shows them; `prowess new NAME{option}` makes another.")


def _name(path: str, snapshot: Snapshot) -> str:
    shown = shorten_path(path, snapshot.cwd)
    return f"{shown}/" if os.path.isdir(path) else shown
