"""`prowess outdated`: installed skills whose sources have something newer."""

from __future__ import annotations

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import begin_work, open_place, private_host_option, user_option
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.install_output import shorten_version
from prowess.cli.terminal.out import console, print_json
from prowess.cli.terminal.tables import print_columns
from prowess.reports.install_check import SkillVersion
from prowess.supply.install.update import find_updates, select_entries
from prowess.text.display import escape_line


@click.command("outdated")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@private_host_option
@user_option
@host_option
@json_option
def command(
    names: tuple[str, ...], private_hosts: tuple[str, ...], user: bool, host: str, as_json: bool
) -> int:
    """Show which installed skills have a newer version.

    Checks every source; nothing is changed. A source that fails is listed with the reason.
    """
    skills, place = open_place(host, user=user)
    entries = select_entries(place.open_lock().load(), names, skills)
    with begin_work(place, "checking sources", private_hosts=private_hosts) as (installer, _):
        versions = [one.version for one in find_updates(installer, entries)]
    if as_json:
        print_json({"lock": place.lock_path, "skills": [one.shape() for one in versions]})
    else:
        _print_versions(versions)
    has_failed = any(one.state == "failed" for one in versions)
    return Exit.MACHINE if has_failed else Exit.OK


def _print_versions(versions: list[SkillVersion]) -> None:
    behind = [one for one in versions if one.state != "current"]
    if not behind:
        console().print("All installed skills are up to date.")
        return
    rows = [
        (
            escape_line(one.name),
            shorten_version(one.installed),
            shorten_version(one.latest) or "-",
            one.state,
            escape_line(one.problem or one.source),
        )
        for one in behind
    ]
    print_columns(rows, heading=("SKILL", "INSTALLED", "LATEST", "STATE", "SOURCE"), wrap=True)
