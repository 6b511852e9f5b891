"""`prowess new`: create a skill from a template."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from prowess.cli.options import host_option, json_option, open_skills, render_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import UsageError
from prowess.machine.atomic_write import write_folder_aside
from prowess.reports.skill_folders import choose_project_folder, choose_user_folder
from prowess.reports.skill_template import RESOURCES, check_name, render_skill
from prowess.runtime import Skills


def _split_resources(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    asked = list(filter(None, map(str.strip, value.split(","))))
    wrong = [word for word in asked if word not in RESOURCES]
    if wrong:
        raise click.BadParameter(f"“{wrong[0]}” is not one of {', '.join(RESOURCES)}.")
    return tuple(word for word in RESOURCES if word in asked)


@click.command("new")
@click.argument("name")
@click.option("--in", "folder", metavar="DIR", help="The folder to create NAME in.")
@click.option(
    "--user",
    is_flag=True,
    help="Create it for all your projects, in ~/.agents/skills or the host's own folder.",
)
@click.option("--description", metavar="TEXT", help="What the skill does and when to use it.")
@click.option(
    "--resources",
    default="",
    metavar="LIST",
    callback=_split_resources,
    help=f"Folders to add, with an example file in each: {','.join(RESOURCES)}.",
)
@host_option
@json_option
def command(
    name: str,
    folder: str | None,
    user: bool,
    description: str | None,
    resources: tuple[str, ...],
    host: str,
    as_json: bool,
) -> int:
    """Create a skill from a template.

    The skill goes into the nearest skill folder of the project that the host reads. Of several side
    by side, .agents/skills comes first, because most agents read it, and .prowess/skills last,
    because only Prowess does. If there is none, .agents/skills is created, or the host's own first
    folder. The new skill passes `prowess validate`; all that is left is to write the instructions.
    """
    # Before anything else: a name such as `../x` must not become part of a path.
    check_name(name)
    if folder is not None and user:
        raise click.UsageError("Use --in or --user, not both.")
    rendered = render_skill(name, description, resources)
    skills = open_skills(host)
    target = os.path.join(_choose_folder(skills, folder, user=user), name)
    if os.path.lexists(target):
        raise UsageError(f"{target} already exists. Nothing was written.")
    write_folder_aside(target, rendered.files, executable=rendered.executable)
    files = sorted(rendered.files)
    others = [outcome.candidate.location for outcome in skills.snapshot.claims(name)]
    if as_json:
        shape = {
            "name": name,
            "folder": target,
            "location": os.path.join(target, "SKILL.md"),
            "files": files,
            "also_claimed_by": others,
        }
        print_json(shape)
    else:
        _print_created(name, target, files, others, host=render_host_option(skills.snapshot))
    return 0


def _choose_folder(skills: Skills, folder: str | None, *, user: bool) -> str:
    """The folder to create the skill's folder in."""
    if folder is not None:
        return os.path.abspath(os.path.expanduser(folder))
    return choose_user_folder(skills) if user else choose_project_folder(skills)


def _print_created(
    name: str, target: str, files: Sequence[str], others: Sequence[str], *, host: str
) -> None:
    cwd = os.getcwd()
    shown = shorten_path(target, cwd)
    screen = console()
    screen.print(f"Created {shown}:")
    for file in files:
        screen.print(f"  {file}")
    for other in others:
        screen.print(
            f"{shorten_path(other, cwd)} has the same name; `prowess explain {name}{host}` shows"
            " which one loads."
        )
    screen.print(f"Next: write the instructions, then run `prowess validate {shown}`.")
