"""`prowess install`: skills from folders, archives, repositories, sites and registries."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import (
    begin_work,
    dry_run_option,
    open_place,
    user_option,
    yes_option,
)
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.install_output import print_plan
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.prompts import (
    ask_line,
    can_ask,
    confirm,
    describe_not_asked,
    shape_not_asked,
)
from prowess.errors import UsageError
from prowess.state.install_lock import LockedSkill
from prowess.supply.install.fetch import FetchedSkill, FetchedSource
from prowess.supply.install.installer import Installer
from prowess.supply.install.plan import PlannedInstall, Wanted, choose_skills
from prowess.supply.install.targets import choose_folders
from prowess.text.display import count_words, escape_line

_DONE = "installed"


@click.command("install")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option("--skill", "-s", "names", multiple=True, metavar="NAME", help="Only this skill.")
@click.option("--all", "everything", is_flag=True, help="All skills of each source.")
@user_option
@click.option(
    "--to",
    "agents",
    multiple=True,
    metavar="AGENT",
    help="Into the folder that this agent reads; can be given several times.",
)
@click.option("--as", "folder_name", metavar="NAME", help="The name of the skill's folder.")
@click.option(
    "--link",
    "method",
    flag_value="link",
    help="Make symlinks to one copy for all projects, instead of copies.",
)
@click.option("--copy", "method", flag_value="copy", help="Make copies (the default).")
@yes_option
@dry_run_option
@host_option
@json_option
def command(
    sources: tuple[str, ...],
    names: tuple[str, ...],
    everything: bool,
    user: bool,
    agents: tuple[str, ...],
    folder_name: str | None,
    method: str | None,
    yes: bool,
    dry_run: bool,
    host: str,
    as_json: bool,
) -> int:
    """Install skills and record them in prowess.lock.

    SOURCE is a folder (./skills), an archive (.zip, .skill, .tar.gz), a git URL, a repository on
    GitHub (OWNER/REPO[/PATH][@SKILL][#REF]), a skill of ClawHub (clawhub:SLUG[@VERSION]), a plugin
    (plugin:[NAME@]SOURCE), an MCP server (mcp:NAME, mcp+https://HOST/PATH), or a site with an index
    (https://HOST/PATH[#SKILL]).
    Shows what would be written and what it could do, then asks.
    """
    if everything and names:
        raise UsageError("Use --all or --skill, not both.")
    skills, place = open_place(host, user=user)
    with begin_work(place, "fetching") as (installer, progress):
        fetched: list[FetchedSource] = []
        for text in sources:
            source = installer.parse(text, cwd=skills.cwd)
            fetched.append(installer.fetch(source))
        # The line of the progress must be gone before a question.
        progress.finish()
        chosen = [_choose(one, names, everything=everything, as_json=as_json) for one in fetched]
        count = sum(map(len, chosen))
        # Two skills cannot be one folder.
        if folder_name is not None and count != 1:
            raise UsageError("--as needs exactly one skill; choose it with --skill.")
        folders = choose_folders(skills, place, agents)
        lock = place.open_lock().load()
        wanted: list[Wanted] = []
        for one, of_source in zip(fetched, chosen, strict=True):
            want = partial(installer.want, one.source, folder_name=folder_name or "")
            wanted += [want(skill, folders, lock, method=method) for skill in of_source]
        planned = installer.plan(wanted, fetched=fetched)
        return _carry_out(installer, planned, yes=yes, dry_run=dry_run, as_json=as_json)


def _choose(
    fetched: FetchedSource, names: tuple[str, ...], *, everything: bool, as_json: bool
) -> list[FetchedSkill]:
    """The wanted skills of a source; of several, somebody has to choose."""
    chosen = choose_skills(fetched, names, everything=everything)
    if chosen is not None:
        return chosen
    listed = ", ".join(escape_line(skill.name) for skill in fetched.skills)
    count = count_words(len(fetched.skills), "skill")
    # To install all of them unasked would be the answer that most people do not want.
    if as_json or not can_ask():
        raise UsageError(
            f"{fetched.source.text} has {count}: {listed}. Choose with --skill NAME or --all."
        )
    click.echo(f"{fetched.source.text} has {count}: {listed}.", err=True)
    typed = ask_line("Which ones? (names, or all)") or ""
    if not typed:
        raise click.Abort
    words = tuple(typed.replace(",", " ").split())
    if words == ("all",):
        return choose_skills(fetched, (), everything=True) or []
    return choose_skills(fetched, words, everything=False) or []


def _carry_out(
    installer: Installer, planned: PlannedInstall, *, yes: bool, dry_run: bool, as_json: bool
) -> int:
    plan = planned.plan
    if not as_json:
        print_plan(plan, os.getcwd())
    is_nobody_there = not yes and (as_json or not can_ask())
    if dry_run or is_nobody_there:
        return _stop(planned, dry_run=dry_run, as_json=as_json)
    # What is installed already needs no consent a second time.
    must_ask = plan.is_change and not yes
    if must_ask and not confirm(f"Install {_count(planned.wanted)}?"):
        click.echo("Nothing was installed.", err=True)
        return Exit.REFUSED
    entries = installer.apply(planned)
    if as_json:
        print_json({**plan.shape(), "installed": True})
    else:
        _print_done(installer, entries)
    return Exit.OK


def _stop(planned: PlannedInstall, *, dry_run: bool, as_json: bool) -> int:
    """Write nothing: because that was wanted, or because nobody could be asked."""
    shape: dict[str, Any] = {**planned.plan.shape(), "installed": False}
    if not dry_run:
        click.echo(describe_not_asked(_DONE), err=True)
        shape["error"] = shape_not_asked(_DONE)
    if as_json:
        print_json(shape)
    return Exit.OK if dry_run else Exit.REFUSED


def _print_done(installer: Installer, entries: tuple[LockedSkill, ...]) -> None:
    lock = shorten_path(installer.place.lock_path, os.getcwd())
    names = ", ".join(escape_line(entry.name) for entry in entries)
    console().print(f"Installed {names}; recorded in {lock}.")


def _count(wanted: tuple[Wanted, ...]) -> str:
    return count_words(len(wanted), "skill")
