"""`prowess sessions`: the sessions that `prowess run` and `prowess chat` kept."""

from __future__ import annotations

import os

import click

from prowess.cli.app import Exit
from prowess.cli.options import complete_hosts, json_option
from prowess.cli.terminal.out import print_json
from prowess.machine.facts import current_facts
from prowess.text.display import count_words, escape_line


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

    `prowess run --continue` continues the newest one that is not a job's, and `prowess run --resume
    ID` any of them. `prowess chat` takes the same options.
    """
    from prowess.agent.session_file import list_sessions

    found = list_sessions(current_facts(), cwd=None if every else os.getcwd())
    sessions = [session for session in found if host in (None, session.header.host)]
    if as_json:
        shaped = [
            {
                "id": session.header.id,
                "cwd": session.header.cwd,
                "host": session.header.host,
                "created": session.header.created,
                "parent": session.header.parent,
                "job": session.header.job or None,
                "turns": len(session.turns),
                "title": session.title,
                "unknown_outcomes": [call.title for call in session.unknown],
            }
            for session in sessions
        ]
        print_json({"sessions": shaped})
        return Exit.OK
    if not sessions:
        click.echo("No sessions here yet.", err=True)
    for session in sessions:
        header = session.header
        turns = count_words(len(session.turns), "turn")
        where = f"  {escape_line(header.cwd)}" if every else ""
        job = f"  (job {header.job})" if header.job else ""
        click.echo(f"{header.id}  {turns:>8}  {escape_line(session.title)}{job}{where}")
    return Exit.OK
