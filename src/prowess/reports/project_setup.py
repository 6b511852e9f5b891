"""What `init` creates in a project: a settings file with comments, and a folder for skills."""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import Any

import msgspec

from prowess.machine.atomic_write import make_folder, write_aside
from prowess.model.snapshot import Snapshot
from prowess.reports.skill_folders import choose_new_folder, find_project_folder
from prowess.runtime import Skills

SETTINGS_FILE = "prowess.toml"

TEMPLATE = """\
# Settings of this project for Prowess. All of them are commented out, so this file changes nothing
# yet. `prowess config` shows each value in use, with the file and line it comes from.

# Disable all skills.
# enabled = false

# Skills to disable; `prowess disable NAME` writes a table for one skill instead.
# disabled = ["some-skill"]

# Names to leave out, and the only names to use (an empty list means all), as patterns.
# ignore = ["draft-*"]
# include = ["team-*"]

# More folders of skills, and folders of plugins. Paths are relative to this file and stay inside
# its folder.
# folders = ["tools/skills"]
# plugins = ["tools/my-plugin"]

# Plugins that are on or off; `prowess plugins` lists them.
# enabled_plugins = { "pydantic-ai@python" = true }

# The host whose rules commands use if they name none; the variable PROWESS_HOST comes before it.
# host = "claude-code"

# Count how often each skill is offered and used, on this machine only; `prowess usage` shows it.
# usage = false

# Where “always allow” is remembered: in memory for one conversation, or on disk. Only your own
# file, ~/.config/prowess/prowess.toml, can set this.
# approvals = "memory"

# What installs the node packages that skills need, for `prowess doctor NAME --install`: npm, pnpm,
# yarn or bun. Only your own file can set this.
# node_manager = "pnpm"

# What trust in a project covers: the repository, or only content that you approved; then you are
# asked again whenever a file of the skill changes.
# trust = "content"

# Whether each skill is a command too, such as /some-skill; `prowess run` runs one.
# skill_commands = false

# Whether commands in the bodies of skills run. Those of a project also need `prowess trust`.
# shell_commands = false

# Sources to turn off, named as in oh-my-pi, where `Pi` means its own folders. Folders of no source
# stay on while any of the five is on; with all five off, only .prowess/skills is left.
# [toggles]
# enableCodexUser = false
# enableClaudeUser = false
# enableClaudeProject = false
# enablePiUser = false
# enablePiProject = false

# Settings for one skill. `visibility` is one of on, name-only, user-only, off.
# [skills."some-skill"]
# enabled = true
# visibility = "user-only"
# env = { SOME_VARIABLE = "value" }

# Folders outside this project that symlinks may point to. Only ~/.config/prowess/prowess.toml can
# set this.
# [discovery]
# trusted_links = ["~/skills-of-my-team"]

# Limits on a scan; 0 means no limit.
# [limits]
# file_bytes = 1048576

# How much a model is shown of the skills; `prowess catalog` shows the result.
# [budget]
# characters = 8000
# per_item = 500

# Servers that offer skills; `prowess sources` lists them. Those of a project are asked once you
# trust it. `private = true` for a name in your own network counts only in your own file.
# [sources.team]
# url = "https://skills.example.com"

# When servers are asked. Only ~/.config/prowess/prowess.toml can set this.
# [network]
# offline = true
# seconds = 2
# max_age_hours = 24

# Which skills an agent may use: allow, ask or deny. In each file the last rule that matches counts;
# among files the strictest.
# [permissions.skill]
# "deploy-*" = "deny"
#
# [agents.plan.permissions]
# skill = "ask"

# The model of `prowess run`. Only ~/.config/prowess/prowess.toml can set this.
# [agent]
# model = "anthropic:claude-sonnet-4-5"
# context_window = 128000
# compact_at = 0.8
# dream_after = 15

# MCP servers, whose tools `prowess run` can use. Those of a project need `prowess trust`.
# [mcp.servers.tides]
# command = "tide-server"
# args = ["--harbour", "brest"]
# env = { TIDE_KEY = "${TIDE_KEY}" }

# Commands that `prowess run` runs at an event, if you trust this project.
# [[hooks]]
# event = "PostToolUse"
# matcher = "Write|Edit"
# command = "make format"
# timeout = 30

# Skills of Prowess's own agent that are off by default. Only ~/.config/prowess/prowess.toml can
# turn them on.
# [features]
# loop = true

# Where jobs are kept and how many run at once. Only ~/.config/prowess/prowess.toml can set this.
# [jobs]
# database = "postgresql://prowess@db.example/prowess"
# concurrency = 4
# pull_requests = "each"
# background = false

# Programs that a skill's command can call without the model; its header names one in
# `command-tool`. {argument} becomes the text that was typed, always as one argument.
# [tools.tide]
# command = ["python", "scripts/tide.py", "{argument}"]
# description = "Tells the tide of a harbour."

# What the programs of skills may do. A project can only restrict it further: hide more files, allow
# less memory and fewer processes.
# [sandbox]
# hide = ["secrets"]
# memory_mb = 512
# processes = 64

# Settings that skills may require, with `requires: {config: [browser.enabled]}`.
# [config.browser]
# enabled = true
"""


class ProjectSetup(msgspec.Struct, frozen=True):
    """What to create and what exists already, and the folder for skills, which is one of both."""

    created: tuple[str, ...]
    kept: tuple[str, ...]
    folder: str


def plan_setup(skills: Skills) -> ProjectSetup:
    """What a project needs. One that has a folder for skills is given no second one."""
    cwd, files = skills.cwd, skills.project.files
    existing = find_project_folder(skills, within=posixpath.join(cwd, ""))
    folder = existing or choose_new_folder(skills, cwd)
    kept: list[str] = []
    created: list[str] = []
    for path in (posixpath.join(cwd, SETTINGS_FILE), folder):
        # A broken symlink counts as existing, so that its target is not created by surprise.
        exists = files.find_kind(path) is not None or files.find_link(path) is not None
        (kept if exists else created).append(path)
    return ProjectSetup(tuple(created), tuple(kept), folder)


def apply_setup(setup: ProjectSetup) -> None:
    """Create what is missing, the folder first. Raises `MachineError`."""
    # A folder that cannot be made fails before there is a settings file, which would look done.
    if setup.folder in setup.created:
        make_folder(setup.folder)
    for path in setup.created:
        if path != setup.folder:
            write_aside(path, TEMPLATE.encode())


def count_by_root(snapshot: Snapshot) -> dict[str, int]:
    """How many files each root has, in scan order; roots without any are left out."""
    counted = Counter(outcome.candidate.root.path for outcome in snapshot.outcomes)
    paths = [root.path for root in snapshot.roots]
    return {path: counted[path] for path in paths if counted[path]}


def shape_setup(setup: ProjectSetup, snapshot: Snapshot) -> dict[str, Any]:
    """As JSON: what was created, and what the host now finds."""
    counts = {state.value: number for state, number in snapshot.counts().items()}
    roots = count_by_root(snapshot).items()
    return {
        "created": list(setup.created),
        "kept": list(setup.kept),
        "skills_folder": setup.folder,
        "found": {
            "counts": counts,
            "roots": [{"path": path, "files": number} for path, number in roots],
            "settings": list(snapshot.settings.files),
        },
    }
