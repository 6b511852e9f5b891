"""`prowess pin`: keep an installed skill at its version."""

from __future__ import annotations

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.install_options import open_place, user_option
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.install_output import shorten_version
from prowess.cli.terminal.out import console, print_json
from prowess.supply.install.update import select_entries
from prowess.text.display import escape_line


@click.command("pin")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--reason", default="", metavar="TEXT", help="Why; kept in prowess.lock.")
@click.option("--remove", is_flag=True, help="Let `prowess update` update them again.")
@user_option
@host_option
@json_option
def command(
    names: tuple[str, ...], reason: str, remove: bool, user: bool, host: str, as_json: bool
) -> int:
    """Pin installed skills, so that `prowess update` leaves them as they are."""
    skills, place = open_place(host, user=user)
    lock = place.open_lock()
    with lock.hold():
        content = lock.load()
        chosen = select_entries(content, names, skills)
        # An empty reason is a pin, too; only None is none.
        pinned = None if remove else reason
        changed = tuple(msgspec.structs.replace(entry, pinned=pinned) for entry in chosen)
        # The file of a project is in git; it is not touched for nothing.
        if changed != chosen:
            lock.save(content.replace(chosen, changed))
    if as_json:
        listed = [
            {"name": entry.name, "source": entry.source, "pinned": entry.pinned}
            for entry in changed
        ]
        print_json({"lock": lock.path, "skills": listed})
        return Exit.OK
    for entry in changed:
        version = shorten_version(entry.resolved or entry.tree)
        what = "is no longer pinned" if remove else f"is pinned to {version}"
        console().print(f"{escape_line(entry.name)} {what}.")
    return Exit.OK
