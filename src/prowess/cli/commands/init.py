"""`prowess init`: set up Prowess in a project."""

from __future__ import annotations

import os

import click

from prowess.cli.options import host_option, json_option, open_skills, render_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.model.outcome import State
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_scan
from prowess.reports.project_setup import (
    ProjectSetup,
    apply_setup,
    count_by_root,
    plan_setup,
    shape_setup,
)
from prowess.text.display import count_words


@click.command("init")
@host_option
@json_option
def command(host: str, as_json: bool) -> int:
    """Set up Prowess in this project.

    Creates prowess.toml, with every setting explained and commented out, and a folder for skills:
    .agents/skills, which most agents read, or with --host the first project folder that the host
    reads. What already exists is left unchanged.
    """
    skills = open_skills(host)
    setup = plan_setup(skills)
    apply_setup(setup)
    snapshot = skills.reload()
    if as_json:
        folder = {"folder": skills.cwd}
        print_json({**shape_scan(snapshot), **folder, **shape_setup(setup, snapshot)})
    else:
        _print_setup(setup, snapshot)
    return 0


def _print_setup(setup: ProjectSetup, snapshot: Snapshot) -> None:
    screen = console()
    for path in setup.created:
        screen.print(f"Created {_render_path(path, snapshot)}")
    for path in setup.kept:
        screen.print(f"{_render_path(path, snapshot)} already exists; left unchanged")
    screen.print()
    roots = count_by_root(snapshot)
    option = render_host_option(snapshot)
    if not roots:
        screen.print(f"No skills here yet. Create one with `prowess new NAME{option}`.")
        return
    files = count_words(sum(roots.values()), "file")
    ready = snapshot.counts().get(State.READY, 0)
    screen.print(f"Found {files} in {count_words(len(roots), 'folder')}, {ready:,} ready to use:")
    from prowess.cli.terminal.tables import print_columns

    rows = [("", shorten_path(path, snapshot.cwd), f"{number:,}") for path, number in roots.items()]
    print_columns(rows)
    screen.print(
        f"Run `prowess list{option}` to see them, `prowess new NAME{option}` to create another."
    )


def _render_path(path: str, snapshot: Snapshot) -> str:
    shown = shorten_path(path, snapshot.cwd)
    return f"{shown}/" if os.path.isdir(path) else shown
