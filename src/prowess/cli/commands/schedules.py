"""`prowess jobs schedules`: prompts that run at the times of a cron expression."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.job_options import TurnOptions, hidden_host, open_jobs, turn_options
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import print_json
from prowess.cli.terminal.tables import print_columns
from prowess.text.display import escape_line

if TYPE_CHECKING:
    from prowess.agent.jobs.client import Jobs
    from prowess.agent.jobs.schedules import Schedules
    from prowess.agent.jobs.values import Schedule

_name_argument = click.argument("name")


@contextmanager
def _open() -> Iterator[tuple[Jobs, Schedules]]:
    with open_jobs() as jobs:
        from prowess.agent.jobs.schedules import Schedules

        yield jobs, Schedules(jobs)


@click.group("schedules", invoke_without_command=True)
@hidden_host
@json_option
@click.pass_context
def schedules(ctx: click.Context, as_json: bool) -> int:
    """List the schedules and when each runs next.

    A worker must be running then. Missed runs are made up for by a single run.
    """
    if ctx.invoked_subcommand is not None:
        return Exit.OK
    with _open() as (jobs, table):
        listed = table.list_all()
        states = {schedule.name: _describe_last(jobs, schedule) for schedule in listed}
    if as_json:
        print_json({"schedules": [msgspec.to_builtins(schedule) for schedule in listed]})
        return Exit.OK
    if not listed:
        click.echo("No schedules yet.", err=True)
        return Exit.OK
    rows = [
        (one.name, one.cron, _render_next(one), states[one.name], _title(one)) for one in listed
    ]
    print_columns(rows, heading=("name", "times", "next", "last run", "prompt"))
    for schedule in listed:
        if schedule.note:
            click.echo(f"{schedule.name}: {schedule.note}", err=True)
    return Exit.OK


@schedules.command("add")
@click.option("--cron", required=True, metavar="TIMES", help="When to run, such as '*/10 * * * *'.")
@click.option("--name", metavar="NAME", help="Name of the schedule. Default: a generated one.")
@click.option("--zone", metavar="ZONE", help="Time zone for --cron. Default: the local one.")
@click.option("--queue", metavar="NAME", help="Run on any worker started with `--queue NAME`.")
@turn_options
@host_option
@json_option
def add(
    turn: TurnOptions,
    cron: str,
    name: str | None,
    zone: str | None,
    queue: str | None,
    host: str,
    as_json: bool,
) -> int:
    """Run a task on a schedule, given as a cron expression.

    The five fields are minute, hour, day of the month, month and day of the week; an extra field
    at the start means seconds. A worker is started on this machine unless the schedule is for
    another queue; it runs as long as there are schedules.
    """
    with _open() as (jobs, table):
        from prowess.agent.jobs.schedules import render_added

        added = table.add(cron, turn.make_spec(host), name=name, queue=queue, zone=zone)
        if queue is None:
            jobs.ensure_worker()
    if as_json:
        print_json({"schedule": msgspec.to_builtins(added)})
    else:
        click.echo(render_added(added))
    return Exit.OK


@schedules.command("pause")
@_name_argument
@hidden_host
@json_option
def pause(name: str, as_json: bool) -> int:
    """Pause a schedule until it is resumed; a job that is already running continues."""
    with _open() as (_, table):
        return _print(table.pause(name), "Paused", as_json=as_json)


@schedules.command("resume")
@_name_argument
@hidden_host
@json_option
def resume(name: str, as_json: bool) -> int:
    """Resume a paused schedule."""
    with _open() as (jobs, table):
        resumed = table.resume(name)
        if resumed.queue.endswith(f"@{jobs.machine}"):
            jobs.ensure_worker()
        return _print(resumed, "Resumed", as_json=as_json)


@schedules.command("remove")
@_name_argument
@hidden_host
@json_option
def remove(name: str, as_json: bool) -> int:
    """Remove a schedule; the jobs that it started stay."""
    with _open() as (_, table):
        return _print(table.remove(name), "Removed", as_json=as_json)


def _print(schedule: Schedule, verb: str, *, as_json: bool) -> int:
    if as_json:
        print_json({"schedule": msgspec.to_builtins(schedule)})
    else:
        after = f"; it runs next at {_render_next(schedule)}" if verb == "Resumed" else ""
        click.echo(f"{verb} {schedule.name}{after}.")
    return Exit.OK


def _describe_last(jobs: Jobs, schedule: Schedule) -> str:
    state = jobs.find_state(schedule.last_job) if schedule.last_job else None
    return f"{schedule.last_job} {state}" if state else "–"


def _render_next(schedule: Schedule) -> str:
    from prowess.agent.jobs.schedules import render_time

    return "paused" if schedule.is_paused else render_time(schedule)


def _title(schedule: Schedule) -> str:
    return escape_line(" ".join(schedule.spec.text.split()))
