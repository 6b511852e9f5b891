"""`prowess sync`: restore exactly what prowess.lock says."""

from __future__ import annotations

import os

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import (
    backup_option,
    begin_work,
    open_place,
    private_host_option,
    user_option,
)
from prowess.cli.options import host_option, is_offline, json_option, offline_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.supply.install.sync import Synced, SyncOptions, sync_installed
from prowess.text.display import count_words


@click.command("sync")
@click.option(
    "--frozen",
    is_flag=True,
    help="For CI: fail if a folder was edited or there is nothing to restore.",
)
@click.option("--theirs", is_flag=True, help="Also replace folders that were edited.")
@backup_option
@private_host_option
@user_option
@offline_option
@host_option
@json_option
def command(
    frozen: bool,
    theirs: bool,
    backup: bool,
    private_hosts: tuple[str, ...],
    user: bool,
    host: str,
    as_json: bool,
) -> int:
    """Restore installed skills exactly as prowess.lock has them.

    What is in the store is copied from there; the rest is fetched at the locked version, and must
    have the locked digest. prowess.lock is not changed, and folders that you edited stay as they
    are.
    """
    _, place = open_place(host, user=user)
    options = SyncOptions(frozen=frozen, offline=is_offline(), theirs=theirs, backup=backup)
    with begin_work(place, "restoring skills", private_hosts=private_hosts) as (installer, _):
        synced = sync_installed(installer, options)
    if as_json:
        shape = {
            "lock": place.lock_path,
            "restored": list(synced.restored),
            "unchanged": synced.unchanged,
            "edited": list(synced.edited),
        }
        print_json(shape)
    else:
        _print_synced(synced)
    return Exit.OK


def _print_synced(synced: Synced) -> None:
    screen = console()
    cwd = os.getcwd()
    for folder in synced.restored:
        screen.print(f"Restored {shorten_path(folder, cwd)}.")
    for folder in synced.edited:
        click.echo(
            f"{shorten_path(folder, cwd)} has local changes and was not restored;"
            " `prowess sync --theirs` replaces it.",
            err=True,
        )
    restored = count_words(len(synced.restored), "folder")
    screen.print(f"{restored} restored, {synced.unchanged} unchanged.")
