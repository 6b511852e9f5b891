"""`prowess usage`: how often skills were offered and used on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from prowess.cli.options import complete_hosts, json_option, open_skills
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import MachineError, UnknownSkill
from prowess.machine.facts import current_facts
from prowess.model.facts import Facts
from prowess.model.usage import Usage
from prowess.reports.json_output import shape_diagnostic
from prowess.runtime import Skills
from prowess.state.usage import UsageFile, usage_path
from prowess.text.display import count_words, escape_line

# No argument of a process can be this, so no skill's name is taken for it.
_ALL = "\0"


@click.command("usage")
@click.option(
    "--clear",
    is_flag=False,
    flag_value=_ALL,
    metavar="[NAME]",
    help="Forget the counts of a name, or all of them.",
)
@click.option(
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Show only the skills that this host sees in the working folder.",
)
@json_option
def command(clear: str | None, host: str | None, as_json: bool) -> int:
    """Show how often skills were offered and used here.

    The counts never leave this machine, and hold names, paths, numbers and times only.
    """
    if clear is not None and host is not None:
        raise click.UsageError(
            "--clear forgets counts whichever host they are of; leave --host out."
        )
    facts = current_facts()
    store = UsageFile(usage_path(facts))
    if clear is not None:
        return _clear(store, None if clear == _ALL else clear, as_json=as_json)
    counts = sort_usage(store.load_counts().values())
    if host is not None:
        seen = {(one.name, one.candidate.location) for one in open_skills(host).snapshot.outcomes}
        counts = [usage for usage in counts if (usage.name, usage.location) in seen]
    off = explain_off(facts)
    if as_json:
        print_json(
            {
                "file": store.path,
                "counting": off is None,
                "skills": [_shape(usage) for usage in counts],
                "diagnostics": [shape_diagnostic(finding) for finding in store.diagnostics],
            }
        )
        return 0
    _print_counts(counts, host)
    _print_place(store, off)
    return 0


def explain_off(facts: Facts) -> str | None:
    """Why nothing is counted, as a part of a sentence; None where it is counted."""
    if facts.env.get("PROWESS_NO_USAGE"):
        return "PROWESS_NO_USAGE is set"
    # Counting is Prowess's own, whichever host it answers as, so its own settings decide.
    settings = Skills(".", facts=facts).settings()
    if settings.usage is not False:
        return None
    return f"`usage` is false in {shorten_path(str(settings.origin('usage')), os.getcwd())}"


def sort_usage(counts: Any) -> list[Usage]:
    """The most used first, then the most offered, then by name."""
    return sorted(counts, key=lambda one: (-one.activated, -one.offered, one.name, one.location))


def _shape(usage: Usage) -> dict[str, Any]:
    return {
        "name": usage.name,
        "location": usage.location,
        "offered": usage.offered,
        "activated": usage.activated,
        "by_user": usage.by_user,
        "by_model": usage.by_model,
        "last_offered": render_time(usage.last_offered),
        "last_activated": render_time(usage.last_activated),
    }


def render_time(seconds: float | None) -> str | None:
    """A time as ISO 8601 has it, in the zone of this machine; None where it never was."""
    import datetime

    if seconds is None:
        return None
    try:
        return datetime.datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
    except (OverflowError, ValueError, OSError, TypeError):
        # A clock that was wrong once must not hide the counts.
        return None


def _clear(store: UsageFile, name: str | None, *, as_json: bool) -> int:
    known = {usage.name for usage in store.load_counts().values()}
    forgotten = store.clear(name) if not store.diagnostics else 0
    for finding in store.diagnostics:
        raise MachineError("clear the counts in", store.path, finding.message.rstrip("."))
    if as_json:
        print_json({"file": store.path, "forgotten": forgotten})
    elif name is None:
        console().print(f"The counts of {count_words(forgotten, 'skill')} were forgotten.")
    elif forgotten:
        console().print(f"The counts of “{escape_line(name)}” were forgotten.")
    else:
        _tell_unknown(name, known)
    return UnknownSkill.exit_code if name is not None and not forgotten else 0


def _tell_unknown(name: str, known: set[str]) -> None:
    nearest = UnknownSkill(name, sorted(known)).nearest
    hint = (
        f" Did you mean {' or '.join(f'“{escape_line(one)}”' for one in nearest)}?"
        if nearest
        else ""
    )
    click.echo(
        f"Nothing is counted for “{escape_line(name)}”, so nothing was forgotten.{hint}", err=True
    )


def _print_counts(counts: Sequence[Usage], host: str | None) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    if not counts and host is not None:
        console().print(f"Nothing is counted of the skills that {escape_line(host)} sees here.")
        return
    if not counts:
        console().print(
            "Nothing is counted yet: skills are counted when an agent is offered them and when one"
            " is used."
        )
        return
    rows = [
        (
            Text(escape_line(usage.name), "bold"),
            f"{usage.offered:>7,}",
            f"{usage.by_user:>7,}",
            f"{usage.by_model:>8,}",
            (render_time(usage.last_activated) or "never")[:16],
            Text(shorten_path(usage.location, os.getcwd()), "dim"),
        )
        for usage in counts
    ]
    print_columns(rows, heading=("NAME", "OFFERED", "BY USER", "BY MODEL", "LAST USED", "FILE"))


def _print_place(store: UsageFile, off: str | None) -> None:
    screen = console()
    screen.print()
    for finding in store.diagnostics:
        screen.print(escape_line(f"{finding.severity.value}: {finding.message} ({finding.code})"))
    screen.print(f"The counts are kept in {shorten_path(store.path)} and never leave this machine.")
    if off is None:
        screen.print(
            "`usage = false` in prowess.toml or PROWESS_NO_USAGE=1 switches counting off; --clear"
            " forgets."
        )
    else:
        screen.print(f"Counting is switched off, since {off}.")
