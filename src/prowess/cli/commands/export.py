"""`prowess export`: the project's skills in the folders that other hosts read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.options import (
    complete_hosts,
    complete_names,
    expand_hosts,
    host_option,
    json_option,
    open_skills,
)
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.machine.facts import current_facts
from prowess.model.skill import Skill
from prowess.runtime import Skills
from prowess.supply.install.agent_folders import AGENT_FOLDERS
from prowess.supply.install.targets import choose_agent_folder, find_place
from prowess.supply.publish.host_layout import HostLayout, LaidOut
from prowess.text.display import count_words, escape_line

_WORDS = {
    "reads": ("reads it", "dim"),
    "create": ("created", "green"),
    "update": ("updated", "green"),
    "unchanged": ("unchanged", "dim"),
    "blocked": ("blocked", "yellow"),
}
_PLANNED = {"create": "would create", "update": "would update"}


@click.command("export")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_names)
@click.option(
    "--to",
    "hosts",
    multiple=True,
    required=True,
    metavar="HOST",
    shell_complete=complete_hosts,
    help="The host to export to; may be repeated. `all` means every agent.",
)
@click.option("--copy", is_flag=True, help="Copy the skills; the default is to link them.")
@click.option("--dry-run", is_flag=True, help="Show what would be written and write nothing.")
@host_option
@json_option
def command(
    names: tuple[str, ...],
    hosts: tuple[str, ...],
    copy: bool,
    dry_run: bool,
    host: str,
    as_json: bool,
) -> int:
    """Link or copy the project's skills into the folders of other hosts.

    Each skill that a host does not read yet gets a link in the host's project folder, or a copy
    where the host follows no links. Also shows what each host would lose of a skill, such as fields
    it ignores. Nothing is replaced but what was exported before and not changed since. Exits with 1
    if something is in the way.
    """
    with Progress() as progress:
        skills = open_skills(host, progress=progress)
        layout = HostLayout(skills, current_facts())
        chosen = layout.choose(names)
        planned: list[LaidOut] = []
        for name in expand_hosts(hosts):
            progress.begin(f"asking {escape_line(name)}")
            for laid_out in _plan_host(name, layout, chosen, skills, progress, copy=copy):
                if dry_run:
                    planned.append(_note_shared(laid_out, planned))
                    continue
                if laid_out.is_change:
                    layout.write(laid_out)
                planned.append(laid_out)
    if as_json:
        print_json({"dry_run": dry_run, "skills": [laid_out.shape() for laid_out in planned]})
    else:
        _print_planned(planned, dry_run=dry_run)
    is_blocked = any(laid_out.action == "blocked" for laid_out in planned)
    return Exit.FOUND_ERRORS if is_blocked else Exit.OK


def _plan_host(
    name: str,
    layout: HostLayout,
    chosen: Sequence[Skill],
    skills: Skills,
    progress: Progress,
    *,
    copy: bool,
) -> Iterable[LaidOut]:
    # Of these only the folder is known, not what they would do with a skill.
    if name in AGENT_FOLDERS:
        folder = choose_agent_folder(name, find_place(skills, user=False))
        return layout.plan_unknown(chosen, name, folder, copy=copy)
    # Opened after the hosts before it were written: they may share a folder.
    target = open_skills(name, progress=progress, warn=False)
    return layout.plan(chosen, target, copy=copy)


def _note_shared(one: LaidOut, planned: Sequence[LaidOut]) -> LaidOut:
    """The same, unless a host before it would have written the folder by then."""
    written = {other.target for other in planned if other.is_change}
    if not one.is_change or one.target not in written:
        return one
    return msgspec.structs.replace(one, action="unchanged")


def _print_planned(planned: Sequence[LaidOut], *, dry_run: bool) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    screen = console()
    if not planned:
        screen.print("The project has no skills to export.")
        return
    by_host: dict[str, list[LaidOut]] = {}
    for laid_out in planned:
        by_host.setdefault(laid_out.host, []).append(laid_out)
    for host, of_host in by_host.items():
        screen.print(Text(escape_line(host), "bold"))
        for laid_out in of_host:
            word, style = _WORDS[laid_out.action]
            if dry_run:
                word = _PLANNED.get(laid_out.action, word)
            print_columns([("", laid_out.name, Text(word, style), _describe(laid_out))], wrap=True)
            for loss in laid_out.losses:
                screen.print(Text(f"      loses: {escape_line(loss)}", "dim"))
    written = sum(laid_out.is_change for laid_out in planned)
    verb = "would be written" if dry_run else "written"
    screen.print(f"{count_words(written, 'folder')} {verb}.")


def _describe(one: LaidOut) -> str:
    cwd = os.getcwd()
    source = shorten_path(one.source, cwd)
    if one.target is None:
        return source
    target = shorten_path(one.target, cwd)
    if one.action == "reads":
        return target
    if one.reason is not None:
        return f"{target}: {escape_line(one.reason)}"
    made = "a copy of" if one.method == "copy" else "a link to"
    return f"{target}, {made} {source}"
