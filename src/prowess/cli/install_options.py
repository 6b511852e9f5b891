"""Options that the commands for installed skills share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from prowess.cli.terminal.out import echo_diagnostics
from prowess.cli.terminal.progress import Progress
from prowess.runtime import Skills
from prowess.supply.install.installer import Installer, open_installer
from prowess.supply.install.targets import InstallPlace, find_place

F = TypeVar("F", bound=Callable[..., Any])

user_option = click.option(
    "--user", is_flag=True, help="For all your projects, instead of this one."
)
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would happen, and stop.")
backup_option = click.option(
    "--backup", is_flag=True, help="Keep a copy of every folder that is replaced or removed."
)
private_host_option = click.option(
    "--private-host",
    "private_hosts",
    multiple=True,
    metavar="HOST",
    help="Allow fetching from this host even though it is on a private network; may be repeated.",
)


def open_place(host: str, *, user: bool) -> tuple[Skills, InstallPlace]:
    """The skills here for a host, not scanned yet, and where they are installed."""
    skills = Skills(".", host=host)
    return skills, find_place(skills, user=user)


@contextmanager
def begin_work(
    place: InstallPlace, doing: str, *, private_hosts: Sequence[str] = ()
) -> Iterator[tuple[Installer, Progress]]:
    """An installer and its progress line; at the end it says what was done in the store."""
    with (
        Progress(doing) as progress,
        open_installer(place, reporter=progress, private_hosts=private_hosts) as installer,
    ):
        try:
            yield installer, progress
        finally:
            # Also after a failure: what was moved aside in the store stays there.
            progress.finish()
            echo_diagnostics(installer.store.diagnostics)
