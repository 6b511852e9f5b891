"""What several commands share: the options that choose a host and a place, and the skills they open."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from prowess.errors import ProwessError
from prowess.runtime import Skills

F = TypeVar("F", bound=Callable[..., Any])


def complete_hosts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Host names and editions for the shell."""
    from prowess.machine.facts import current_facts
    from prowess.machine.profiles import load_added_profiles
    from prowess.profiles.load import known_editions, known_hosts

    try:
        _, added = load_added_profiles(current_facts(), "prowess")
        names = known_hosts(added)
        editions = [f"{name}@{edition}" for name in names for edition in known_editions(name, added)]
    except ProwessError:
        return []
    # Editions only once a host is chosen: `--host op<Tab>` is not a list of everything twice.
    return [name for name in (editions if "@" in incomplete else names) if name.startswith(incomplete)]


def complete_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Skill names for the shell, as the host sees them that was chosen so far."""
    try:
        outcomes = Skills.open(".", host=ctx.params.get("host") or "prowess").snapshot.outcomes
    except (ProwessError, OSError):
        return []
    return sorted({outcome.name for outcome in outcomes if outcome.name.startswith(incomplete)})


def _check_folders(ctx: click.Context, param: click.Parameter, folders: tuple[str, ...]) -> tuple[str, ...]:
    for folder in folders:
        if not os.path.isdir(folder):
            problem = "is not a folder" if os.path.lexists(folder) else "does not exist"
            raise click.BadParameter(f"“{folder}” {problem}.", ctx, param)
    return folders


host_option = click.option(
    "--host",
    default="prowess",
    show_default=True,
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Answer as this host does; a path to a profile file works too.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
add_dir_option = click.option(
    "--add-dir",
    "add_dirs",
    multiple=True,
    metavar="DIR",
    callback=_check_folders,
    help="Also search the host's skill folders inside DIR.",
)
bare_option = click.option("--bare", is_flag=True, help="Search nothing but what --add-dir names.")
name_argument = click.argument("name", shell_complete=complete_names)


def scan_options(command: F) -> F:
    """The options of every command that scans: --host, --add-dir, --bare, --json."""
    for option in (json_option, bare_option, add_dir_option, host_option):
        command = option(command)
    return command


def open_skills(host: str, add_dirs: tuple[str, ...] = (), *, bare: bool = False) -> Skills:
    """The skills of the working folder, scanned, with progress shown where that is slow."""
    from prowess.cli.progress import Progress

    with Progress() as progress:
        skills = Skills.open(".", host=host, add_dirs=add_dirs, bare=bare, reporter=progress)
        # Scanned here and kept, so that the line of progress ends with the scan.
        _ = skills.snapshot
    return skills
