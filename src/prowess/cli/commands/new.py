"""`prowess new`: a skill from a template that validates."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from prowess.cli.options import host_option, json_option, open_skills, render_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import UsageError
from prowess.model.snapshot import Snapshot
from prowess.reports.skill_folders import choose_project_folder, choose_user_folder
from prowess.reports.skill_template import RESOURCES, check_name, render_skill


def _split_resources(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    asked = [word.strip() for word in value.split(",") if word.strip()]
    wrong = [word for word in asked if word not in RESOURCES]
    if wrong:
        raise click.BadParameter(f"“{wrong[0]}” is not one of {', '.join(RESOURCES)}.")
    return tuple(word for word in RESOURCES if word in asked)


@click.command("new")
@click.argument("name")
@click.option(
    "--in",
    "folder",
    metavar="DIR",
    help="The folder that holds skills; a folder NAME is made in it.",
)
@click.option(
    "--user",
    is_flag=True,
    help="Make it for all your projects, in ~/.agents/skills or the host's own folder.",
)
@click.option("--description", metavar="TEXT", help="What the skill does and when to use it.")
@click.option(
    "--resources",
    default="",
    metavar="LIST",
    callback=_split_resources,
    help=f"Folders to make beside SKILL.md, with an example in each: {','.join(RESOURCES)}.",
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
    """Make a skill from a template.

    The skill goes into the nearest skill folder of the project that the host reads. Where several
    lie side by side that is .agents/skills, which most agents read, and .prowess/skills, which no
    other reads, comes last. Where there is none, .agents/skills is made, or the host's own first
    folder. It passes `prowess validate` as it is; what is left is to say in it what the agent is to
    do.
    """
    check_name(name)
    if folder is not None and user:
        raise click.UsageError("--in and --user name two places; give one of them.")
    rendered = render_skill(name, description, resources)
    snapshot = open_skills(host).snapshot
    target = os.path.join(_choose_folder(snapshot, folder, user=user), name)
    if os.path.lexists(target):
        raise UsageError(f"There is already something at {target}; nothing was written.")
    from prowess.machine.atomic_write import write_folder_aside

    write_folder_aside(target, rendered.files, executable=rendered.executable)
    others = [outcome.candidate.location for outcome in snapshot.claims(name)]
    if as_json:
        location = os.path.join(target, "SKILL.md")
        files = sorted(rendered.files)
        print_json(
            {
                "name": name,
                "folder": target,
                "location": location,
                "files": files,
                "also_claimed_by": others,
            }
        )
    else:
        _tell(name, target, sorted(rendered.files), others, host=render_host_option(snapshot))
    return 0


def _choose_folder(snapshot: Snapshot, folder: str | None, *, user: bool) -> str:
    """The folder that the new skill's folder is made in."""
    if folder is not None:
        return os.path.abspath(os.path.expanduser(folder))
    return choose_user_folder(snapshot) if user else choose_project_folder(snapshot)


def _tell(
    name: str, target: str, files: Sequence[str], others: Sequence[str], *, host: str
) -> None:
    cwd = os.getcwd()
    shown = shorten_path(target, cwd)
    screen = console()
    screen.print(f"Made {shown}:")
    for file in files:
        screen.print(f"  {file}")
    for other in others:
        screen.print(
            f"{shorten_path(other, cwd)} claims this name too; `prowess explain {name}{host}` tells"
            " who has it."
        )
    screen.print(f"Next: write its instructions, then run `prowess validate {shown}`.")
