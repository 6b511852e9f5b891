"""`prowess usage`: how often skills were offered and used on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from prowess.cli.options import complete_hosts, json_option, open_skills
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import UnknownSkill
from prowess.machine.facts import current_facts
from prowess.model.facts import Facts
from prowess.model.usage import Usage
from prowess.reports.usage_report import (
    UsageReport,
    clear_usage,
    load_usage,
    render_counting_off,
    render_time,
)
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line

# Not a possible argument of a process, so no skill can have this name.
_ALL = "\0"


@click.command("usage")
@click.option(
    "--clear",
    is_flag=False,
    flag_value=_ALL,
    metavar="[NAME]",
    help="Delete the counts of NAME, or all counts.",
)
@click.option(
    "--host",
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Show only the skills that this host sees in the working folder.",
)
@json_option
def command(clear: str | None, host: str | None, as_json: bool) -> int:
    """Show how often skills were offered and used.

    The counts stay on this machine. They hold only names, paths, numbers and times.
    """
    facts = current_facts()
    if clear is not None:
        if host is not None:
            raise click.UsageError("--clear deletes the counts of all hosts; leave out --host.")
        return _clear(facts, None if clear == _ALL else clear, as_json=as_json)
    # Counting is a feature of Prowess, so its own settings decide, whatever the host.
    settings = Skills(".", facts=facts).settings()
    seen = None if host is None else open_skills(host).snapshot
    report = load_usage(facts, settings, seen=seen)
    if as_json:
        print_json(report.shape())
        return 0
    _print_counts(report.counts, host)
    _print_place(report)
    return 0


def _clear(facts: Facts, name: str | None, *, as_json: bool) -> int:
    cleared = clear_usage(facts, name)
    is_unknown = name is not None and not cleared.forgotten
    if as_json:
        print_json(cleared.shape())
    elif name is None:
        console().print(f"Deleted the counts of {count_words(cleared.forgotten, 'skill')}.")
    elif is_unknown:
        names = " or ".join(f"“{escape_line(one)}”" for one in cleared.nearest)
        hint = f" Did you mean {names}?" if names else ""
        click.echo(f"“{escape_line(name)}” has no counts; nothing was deleted.{hint}", err=True)
    else:
        console().print(f"Deleted the counts of “{escape_line(name)}”.")
    return UnknownSkill.exit_code if is_unknown else 0


def _print_counts(counts: Sequence[Usage], host: str | None) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    if not counts:
        console().print(_explain_empty(host))
        return
    cwd = os.getcwd()
    rows = [
        (
            Text(escape_line(usage.name), "bold"),
            f"{usage.offered:>7,}",
            f"{usage.by_user:>7,}",
            f"{usage.by_model:>8,}",
            # To the minute; seconds and the time zone are in the JSON.
            (render_time(usage.last_activated) or "never")[:16],
            Text(shorten_path(usage.location, cwd), "dim"),
        )
        for usage in counts
    ]
    print_columns(rows, heading=("NAME", "OFFERED", "BY USER", "BY MODEL", "LAST USED", "FILE"))


def _explain_empty(host: str | None) -> str:
    if host is not None:
        return f"None of the skills that {escape_line(host)} sees here has counts."
    return "No counts yet: skills are counted when an agent is offered them or uses one."


def _print_place(report: UsageReport) -> None:
    screen = console()
    screen.print()
    for finding in report.diagnostics:
        screen.print(escape_line(f"{finding.severity.value}: {finding.message} ({finding.code})"))
    screen.print(f"The counts are in {shorten_path(report.file)} and never leave this machine.")
    if report.off is None:
        screen.print(
            "To stop counting, put `usage = false` in prowess.toml or set PROWESS_NO_USAGE=1;"
            " --clear deletes the counts."
        )
    else:
        reason = render_counting_off(report.off, cwd=os.getcwd(), home=os.path.expanduser("~"))
        screen.print(f"Counting is off: {reason}.")
