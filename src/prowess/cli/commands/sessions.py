"""`prowess sessions`: the sessions that `prowess run` and `prowess chat` kept."""

from __future__ import annotations

import os

import click

from prowess.cli.app import Exit
from prowess.cli.options import complete_hosts, json_option
from prowess.cli.terminal.out import print_json
from prowess.machine.facts import current_facts
from prowess.text.display import escape_line


@click.command("sessions")
@click.option("--all", "every", is_flag=True, help="Also list sessions of other folders.")
@click.option(
    "--host",
    metavar="NAME",
    shell_complete=complete_hosts,
    help="List only the sessions that answer as this host.",
)
@json_option
def command(every: bool, host: str | None, as_json: bool) -> int:
    """List the sessions of `prowess run` and `prowess chat` in this folder, newest first.

    `prowess run --continue` goes on with the newest one, `prowess run --resume ID` with any; so
    does `prowess chat`.
    """
    from prowess.agent.session_file import list_sessions

    found = list_sessions(current_facts(), cwd=None if every else os.getcwd())
    sessions = [one for one in found if host in (None, one.header.host)]
    if as_json:
        shaped = [
            {
                "id": one.header.id,
                "cwd": one.header.cwd,
                "host": one.header.host,
                "created": one.header.created,
                "parent": one.header.parent,
                "turns": len(one.turns),
                "title": one.title,
                "unknown_outcomes": [call.title for call in one.unknown],
            }
            for one in sessions
        ]
        print_json({"sessions": shaped})
        return Exit.OK
    if not sessions:
        click.echo("No sessions here yet.", err=True)
    for one in sessions:
        turns = f"{len(one.turns)} turn{'s' if len(one.turns) != 1 else ''}"
        where = f"  {escape_line(one.header.cwd)}" if every else ""
        click.echo(f"{one.header.id}  {turns:>8}  {escape_line(one.title)}{where}")
    return Exit.OK
