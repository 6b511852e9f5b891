"""`prowess hosts`: the hosts, what each profile follows, and what differs between editions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from prowess.cli.options import complete_hosts, json_option
from prowess.cli.terminal.out import console, print_json
from prowess.errors import ProwessError
from prowess.machine.facts import current_facts
from prowess.model.skill import Scope
from prowess.profiles.load import differing_keys, known_editions, known_hosts, load_profile
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import RootRule
from prowess.state.profile_cache import load_added_profiles
from prowess.text.display import escape_line

# What says which edition it is, not how the host behaves.
_NOT_BEHAVIOUR = ("edition", "provenance")

Difference = tuple[str, Any, Any]


class Host(msgspec.Struct, frozen=True):
    """A host with the profile of each edition, or the sentence that says why it cannot be used."""

    name: str
    origin: str
    editions: tuple[Profile, ...] = ()
    problem: str | None = None

    def differences(self) -> list[tuple[str, list[Difference]]]:
        """For each edition after the first: its name, and every key whose value differs, with both
        values.
        """
        if not self.editions:
            return []
        first, *others = self.editions
        return [(other.edition, _find_differences(first, other)) for other in others]


@click.command("hosts")
@click.argument("name", required=False, shell_complete=complete_hosts)
@click.option(
    "--diff", is_flag=True, help="Also show what differs between the editions of each host."
)
@click.option(
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Show this host; the same as NAME.",
)
@json_option
def command(name: str | None, diff: bool, host: str | None, as_json: bool) -> int:
    """List the hosts and their editions.

    With NAME: what that profile follows, where it departs from it, and what differs between its
    editions. Your own profiles lie in profiles/*.toml in Prowess's configuration folder.
    """
    if name is not None and host is not None and name != host:
        raise click.UsageError(f"“{name}” and --host {host} name two hosts; give one of them.")
    name = name or host
    asked, added = load_added_profiles(current_facts(), name or "prowess")
    names = known_hosts(added) if name is None else (asked.partition("@")[0],)
    if name is not None:
        # A wrong name is an error that names the right ones.
        load_profile(asked, added)
    found = [_load_host(one, added) for one in names]
    if as_json:
        print_json({"hosts": [_shape(one) for one in found]})
    elif name is not None:
        _print_host(found[0])
    else:
        _print_hosts(found)
        for one in found if diff else ():
            _print_differences(one)
    return 2 if any(one.problem is not None for one in found) else 0


def _load_host(name: str, added: Mapping[str, str]) -> Host:
    origin = "added" if name in added else "built in"
    try:
        editions = known_editions(name, added)
        return Host(
            name, origin, tuple(load_profile(f"{name}@{edition}", added) for edition in editions)
        )
    except ProwessError as error:
        return Host(name, origin, problem=str(error))


def _find_differences(one: Profile, other: Profile) -> list[Difference]:
    return [
        found
        for found in differing_keys(one, other)
        if found[0].partition(".")[0] not in _NOT_BEHAVIOUR
    ]


def _shape(host: Host) -> dict[str, Any]:
    shape: dict[str, Any] = {"name": host.name, "origin": host.origin}
    if host.problem is not None:
        return {**shape, "problem": host.problem}
    first = host.editions[0]
    shape["title"] = first.title
    shape["editions"] = [
        {"edition": profile.edition, **msgspec.to_builtins(profile.provenance)}
        for profile in host.editions
    ]
    shape["differences"] = [
        {"key": key, first.edition: before, edition: after}
        for edition, found in host.differences()
        for key, before, after in found
    ]
    return shape


def _describe_release(profile: Profile) -> str:
    provenance = profile.provenance
    measured = "measured" if provenance.measured else "not measured"
    return f"{escape_line(provenance.release)}, {measured}" if provenance.release else measured


def _print_hosts(hosts: Sequence[Host]) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    rows: list[list[Text | str]] = []
    for host in hosts:
        if host.problem is not None:
            rows.append(
                [
                    Text(escape_line(host.name), "bold"),
                    "",
                    "",
                    Text(escape_line(host.problem), "red"),
                ]
            )
            continue
        for profile in host.editions:
            first = profile is host.editions[0]
            title = escape_line(profile.title) + (" (added)" if host.origin == "added" else "")
            rows.append(
                [
                    Text(escape_line(host.name) if first else "", "bold"),
                    title if first else "",
                    profile.edition,
                    _describe_release(profile),
                ]
            )
    print_columns(rows, heading=("HOST", "TITLE", "EDITION", "FOLLOWS"), wrap=True)
    screen = console()
    screen.print()
    screen.print(
        "`prowess hosts NAME` shows what one follows and what differs between its editions.",
        style="dim",
    )


def _print_host(host: Host) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    screen = console()
    screen.print(
        f"{escape_line(host.editions[0].title or host.name)} ({escape_line(host.name)})",
        style="bold",
    )
    for profile in host.editions:
        provenance = profile.provenance
        rows: list[tuple[str, Text | str, str]] = [
            ("", Text("follows", "dim"), _describe_release(profile))
        ]
        rows += [
            ("", Text("document", "dim"), escape_line(document))
            for document in provenance.documents
        ]
        rows += [
            ("", Text("departs", "dim"), escape_line(departure))
            for departure in provenance.departures
        ]
        screen.print()
        screen.print(f"{host.name}@{profile.edition}", style="bold")
        print_columns(rows, wrap=True)
    _print_differences(host)


def _print_differences(host: Host) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    screen = console()
    for edition, found in host.differences():
        screen.print()
        first = host.editions[0].edition
        screen.print(f"{escape_line(host.name)}: what is different in {edition}", style="bold")
        rows: list[tuple[str, Text | str, str]] = []
        for key, before, after in found:
            rows.append(("", f"{key} ", f"{first}: {render_value(before)}"))
            rows.append(("", "", f"{edition}: {render_value(after)}"))
        print_columns(rows, wrap=True)


def render_value(value: Any) -> str:
    """A profile's value for people; a root only with what its author wrote."""
    if value is None:
        return "not there"
    if isinstance(value, Mapping):
        usual = msgspec.to_builtins(RootRule(at=(), scope=Scope.USER)) if "at" in value else {}
        told = {key: one for key, one in value.items() if key == "scope" or one != usual.get(key)}
        return "; ".join(f"{key} = {render_value(one)}" for key, one in told.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(render_value(one) for one in value) or "none"
    return (
        {True: "yes", False: "no"}[value]
        if isinstance(value, bool)
        else escape_line(str(value)) or "empty"
    )
