"""`prowess sources`: where skills come from, and how each source is doing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from prowess.cli.app import Exit
from prowess.cli.options import (
    find_default_host,
    is_offline,
    json_option,
    offline_option,
    open_skills,
    optional_host_option,
)
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.errors import UsageError, nearest_names
from prowess.model.source_status import SourceStatus
from prowess.reports.source_report import SourceReport, load_source_report, render_short_age
from prowess.text.display import escape_line

if TYPE_CHECKING:
    from rich.text import Text

    from prowess.supply.sources import WatchFetch

_ACTIONS = ("refresh", "add", "remove")
# How many arguments each action takes, at least and at most, and how it is written.
_ARGUMENTS: dict[str | None, tuple[int, int, str]] = {
    None: (0, 0, ""),
    "refresh": (0, 1, "refresh [NAME]"),
    "add": (2, 2, "add NAME URL"),
    "remove": (1, 1, "remove NAME"),
}
_STYLES = {
    "ready": "green",
    "stale": "yellow",
    "failed": "red",
    "off": "dim",
    "untrusted": "yellow",
}


@click.command("sources")
@click.argument("action", required=False, type=click.Choice(_ACTIONS))
@click.argument("name", required=False)
@click.argument("url", required=False)
@click.option("--all", "show_all", is_flag=True, help="Also show folders that do not exist.")
@offline_option
@optional_host_option
@json_option
def command(
    action: str | None,
    name: str | None,
    url: str | None,
    show_all: bool,
    host: str | None,
    as_json: bool,
) -> int:
    """Show where skills come from, and fetch from servers.

    Sources are folders, plugins, packages and servers. Each is shown with its state, the age of
    what was fetched, its skills, and what is wrong with it.

    \b
    refresh [NAME]  fetch from all servers now, or from one
    add NAME URL    add a server to your own prowess.toml
    remove NAME     remove a server from your own prowess.toml, with what was fetched
    """
    _check_arguments(action, name, url)
    if action == "add" and name is not None and url is not None:
        return _add(name, url, as_json=as_json)
    if action == "remove" and name is not None:
        return _remove(name, as_json=as_json)
    # Only now: adding and removing must work with settings that cannot be read.
    host = find_default_host() if host is None else host
    if action == "refresh":
        return _refresh(name, host, show_all=show_all, as_json=as_json)
    _print(load_source_report(open_skills(host, warn=False), show_all=show_all), as_json=as_json)
    return Exit.OK


def _check_arguments(action: str | None, name: str | None, url: str | None) -> None:
    least, most, usage = _ARGUMENTS[action]
    given = (name is not None) + (url is not None)
    if given < least:
        raise UsageError(f"Missing argument; the usage is `prowess sources {usage}`.")
    if given > most:
        raise UsageError(f"Unexpected argument “{url or name}”.")


def _refresh(name: str | None, host: str, *, show_all: bool, as_json: bool) -> int:
    from prowess.supply.sources import RefreshRequest

    if is_offline():
        raise UsageError("`refresh` fetches from servers; leave out --offline.")
    with _show_bars() as watch:
        request = RefreshRequest(name=name, watch=watch)
        skills = open_skills(host, warn=False, refresh=request, progress=Progress(quiet=True))
    report = load_source_report(skills, show_all=show_all)
    servers = [one for one in report.sources if _is_server(one)]
    asked = [one for one in servers if name in (None, one.name)]
    if name is not None and not asked:
        nearest = nearest_names(name, [one.name for one in servers])
        hint = f" Did you mean {' or '.join(nearest)}?" if nearest else ""
        raise UsageError(f"There is no server “{name}” to fetch from.{hint}")
    _print(report, as_json=as_json)
    has_failed = any(one.state in ("failed", "stale") for one in asked)
    return Exit.MACHINE if has_failed else Exit.OK


def _is_server(status: SourceStatus) -> bool:
    # A plugin or package may be fetched from a server, too.
    return status.kind in ("remote", "mcp") or status.fetched_at is not None


@contextmanager
def _show_bars() -> Iterator[WatchFetch | None]:
    """A bar for each server on a terminal, nothing elsewhere."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, progress.TaskID] = {}

        def watch(source: str, done: int, total: int) -> None:
            if source not in tasks:
                tasks[source] = bars.add_task(escape_line(source), total=total)
            bars.update(tasks[source], completed=done, total=total)

        yield watch


def _print(report: SourceReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.shape())
        return
    from prowess.cli.terminal.diagnostic_output import print_diagnostics
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    if not report.sources:
        screen.print("No source has any skills here. Run `prowess init` to begin.")
        return
    cwd = report.snapshot.cwd
    heading = ("SOURCE", "KIND", "STATE", "AGE", "SKILLS", "WHERE")
    print_columns([_render_row(one, cwd) for one in report.sources], heading=heading)
    if report.diagnostics:
        screen.print()
        print_diagnostics(sorted(report.diagnostics, key=lambda one: one.file or ""), cwd)


def _render_row(status: SourceStatus, cwd: str) -> tuple[Text | str, ...]:
    from rich.text import Text

    is_path = status.location.startswith("/")
    where = shorten_path(status.location, cwd) if is_path else escape_line(status.location)
    return (
        Text(escape_line(status.name), "bold"),
        status.kind,
        Text(status.state, _STYLES[status.state]),
        render_short_age(status.fetched_at),
        str(status.skills or 0),
        where,
    )


def _add(name: str, url: str, *, as_json: bool) -> int:
    from prowess.supply.source_settings import add_source

    file = add_source(name, url)
    if as_json:
        print_json({"file": file, "added": {"name": name, "url": url}})
        return Exit.OK
    screen = console()
    screen.print(f"Added {escape_line(name)} to {shorten_path(file)}.")
    screen.print("`prowess sources refresh` fetches its skills; `prowess list` does so, too.")
    return Exit.OK


def _remove(name: str, *, as_json: bool) -> int:
    from prowess.supply.source_settings import remove_source

    file = remove_source(name)
    if as_json:
        print_json({"file": file, "removed": {"name": name}})
    else:
        console().print(f"Removed {escape_line(name)} from {shorten_path(file)}.")
    return Exit.OK
