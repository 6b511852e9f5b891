"""`prowess hosts`: the hosts, what each profile follows, and how editions differ."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from prowess.cli.options import complete_hosts, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.machine.facts import current_facts
from prowess.profiles.schema.profile import Profile
from prowess.reports.hosts import Host, get_host, load_hosts, render_value
from prowess.text.display import escape_line

if TYPE_CHECKING:
    from rich.text import Text

    from prowess.model.facts import Facts
    from prowess.reports.installed_hosts import InstalledHost

    Row = Sequence[Text | str]


@click.command("hosts")
@click.argument("name", required=False, shell_complete=complete_hosts)
@click.option("--diff", is_flag=True, help="Also show how the editions of each host differ.")
@click.option(
    "--installed", is_flag=True, help="Show the hosts on this machine and their versions instead."
)
@click.option(
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Show this host; the same as NAME.",
)
@json_option
def command(name: str | None, diff: bool, installed: bool, host: str | None, as_json: bool) -> int:
    """List the hosts and their editions.

    With NAME, shows what that profile follows, where it departs from it, and how its editions
    differ. Your own profiles are profiles/*.toml in Prowess's configuration folder.

    --installed looks for the hosts' programs on the PATH. Their versions come from the packages
    they belong to, or from running them with --version.
    """
    # Every command takes --host; here it means the same as the argument.
    is_contradiction = None not in (name, host) and name != host
    if is_contradiction:
        raise click.UsageError(f"“{name}” and --host {host} are two hosts; give only one.")
    wanted = name or host
    facts = current_facts()
    if installed:
        if wanted is not None or diff:
            raise click.UsageError("--installed shows all hosts; leave out NAME and --diff.")
        return _show_installed(facts, as_json=as_json)
    hosts = load_hosts(facts) if wanted is None else (get_host(wanted, facts),)
    if as_json:
        print_json({"hosts": [one.shape() for one in hosts]})
    elif wanted is not None:
        # It has its differences in any case.
        _print_host(hosts[0])
    else:
        _print_hosts(hosts, diff=diff)
    has_problem = any(one.problem is not None for one in hosts)
    return 2 if has_problem else 0


def _show_installed(facts: Facts, *, as_json: bool) -> int:
    from prowess.cli.terminal.progress import Progress
    from prowess.cli.terminal.tables import print_columns
    from prowess.reports.installed_hosts import find_installed_hosts

    with Progress("looking for hosts"):
        installed = find_installed_hosts(facts, cwd=os.getcwd())
    if as_json:
        print_json({"hosts": [one.shape() for one in installed]})
        return 0
    if not installed:
        console().print("None of the hosts is on the PATH.")
        return 0
    heading = ("HOST", "VERSION", "FROM", "PROFILE")
    print_columns([_render_installed(one) for one in installed], heading=heading, wrap=True)
    return 0


def _render_installed(found: InstalledHost) -> Row:
    from rich.text import Text

    program = found.program
    name = Text(escape_line(found.host.name), "bold")
    source = program.version_from or ""
    version = escape_line(program.version or "unknown")
    path = shorten_path(program.path)
    return name, version, source, _judge_installed(found, path)


def _judge_installed(found: InstalledHost, path: str) -> Text:
    """Whether a profile fits the release that is installed."""
    from rich.text import Text

    provenance = found.profile.provenance
    release = escape_line(provenance.release)
    if found.program.version is None:
        return Text(f"{path}: {escape_line(found.program.problem or '')}", "yellow")
    if found.edition == found.profile.edition:
        return Text("measured on this release", "green")
    if found.edition is not None:
        edition = escape_line(f"{found.host.name}@{found.edition}")
        return Text(f"measured on {release}; use --host {edition} for this release", "yellow")
    if not provenance.measured:
        return Text(f"not measured: {release}", "yellow")
    return Text(f"measured on {release}; this release may differ", "yellow")


def _describe_release(profile: Profile) -> str:
    provenance = profile.provenance
    measured = "measured" if provenance.measured else "not measured"
    if not provenance.release:
        return measured
    return f"{escape_line(provenance.release)}, {measured}"


def _print_hosts(hosts: Sequence[Host], *, diff: bool) -> None:
    from prowess.cli.terminal.tables import print_columns

    rows = [row for host in hosts for row in _list_rows(host)]
    print_columns(rows, heading=("HOST", "TITLE", "EDITION", "FOLLOWS"), wrap=True)
    screen = console()
    screen.print()
    hint = "`prowess hosts NAME` shows what a host follows and how its editions differ."
    screen.print(hint, style="dim")
    if diff:
        for host in hosts:
            _print_differences(host)


def _list_rows(host: Host) -> Iterator[Row]:
    from rich.text import Text

    name = Text(escape_line(host.name), "bold")
    if host.problem is not None:
        yield name, "", "", Text(escape_line(host.problem), "red")
        return
    mark = " (added)" if host.origin == "added" else ""
    first, *others = host.editions
    title = escape_line(first.title) + mark
    yield name, title, first.edition, _describe_release(first)
    for profile in others:
        yield "", "", profile.edition, _describe_release(profile)


def _print_host(host: Host) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    screen = console()
    title = escape_line(host.editions[0].title or host.name)
    screen.print(f"{title} ({escape_line(host.name)})", style="bold")
    for profile in host.editions:
        provenance = profile.provenance
        facts = {
            "document": provenance.documents,
            "drops": provenance.drops,
            "unmeasured": provenance.not_measured,
            "departs": provenance.departures,
        }
        rows = [("", Text("follows", "dim"), _describe_release(profile))]
        for word, sentences in facts.items():
            rows += [("", Text(word, "dim"), escape_line(one)) for one in sentences]
        screen.print()
        screen.print(f"{host.name}@{profile.edition}", style="bold")
        print_columns(rows, wrap=True)
    _print_differences(host)


def _print_differences(host: Host) -> None:
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    for compared in host.list_differences():
        first, other = host.editions[0].edition, compared.edition
        rows = []
        for one in compared.differences:
            rows.append(("", f"{one.key} ", f"{first}: {render_value(one.before)}"))
            rows.append(("", "", f"{other}: {render_value(one.after)}"))
        screen.print()
        screen.print(f"{escape_line(host.name)}: what differs in {other}", style="bold")
        print_columns(rows, wrap=True)
