"""`prowess jobs`: work that outlives the terminal."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.commands.schedules import schedules
from prowess.cli.job_options import TurnOptions, hidden_host, open_jobs, turn_options
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.job_output import (
    JobProgress,
    WorkerLife,
    render_blocked,
    render_job,
    render_jobs,
)
from prowess.cli.terminal.out import print_json
from prowess.errors import UsageError
from prowess.text.display import escape_line

if TYPE_CHECKING:
    from prowess.agent.jobs.client import Jobs
    from prowess.agent.jobs.values import Job

_CODES = {
    "done": Exit.OK,
    "refused": Exit.REFUSED,
    "failed": Exit.FAILED,
    "budget": Exit.BUDGET,
    "interrupted": Exit.INTERRUPTED,
    "cancelled": Exit.INTERRUPTED,
}
# How long a worker that was just started may take.
_SECONDS_TO_START = 10.0
_id_argument = click.argument("id")


@click.group("jobs", invoke_without_command=True)
@click.option("--all", "every", is_flag=True, help="Also list the parts of jobs.")
@hidden_host
@json_option
@click.pass_context
def command(ctx: click.Context, every: bool, as_json: bool) -> int:
    """List jobs, and show, cancel, retry or approve one.

    A job is work that continues after the terminal is closed; `prowess worker` runs it. Jobs are
    kept in your state folder, or in the PostgreSQL database of `[jobs]` in your own prowess.toml.
    """
    if ctx.invoked_subcommand is not None:
        return Exit.OK
    with open_jobs() as jobs:
        listed = jobs.list_jobs(every=every)
    if as_json:
        print_json({"jobs": [msgspec.to_builtins(job) for job in listed]})
        return Exit.OK
    if not listed:
        click.echo("No jobs yet.", err=True)
    for line in render_jobs(listed):
        click.echo(line)
    for line in render_blocked(listed):
        click.echo(line, err=True)
    return Exit.OK


command.add_command(schedules)


@command.command("workers")
@click.option("--all", "every", is_flag=True, help="Also list workers that died.")
@hidden_host
@json_option
def workers(every: bool, as_json: bool) -> int:
    """List workers: the machine of each, its queues, when it was last seen, and what it does."""
    with open_jobs() as jobs:
        found = jobs.list_workers() if every else jobs.list_live_workers()
        # Without a database there are no tables to ask.
        queues = {} if jobs.is_empty else jobs.database.workers.list_queues()
        running = jobs.list_running()
    lives = []
    for worker in found:
        working_on = [job for job in running if job.worker == worker.id]
        lives.append(WorkerLife(worker, queues.get(worker.id, ()), working_on))
    if as_json:
        print_json({"workers": [life.shape() for life in lives]})
        return Exit.OK
    if not lives:
        click.echo("No worker is running; start one with `prowess worker`.", err=True)
    for life in lives:
        for line in life.render():
            click.echo(line)
    return Exit.OK


@command.command("add")
@turn_options
@click.option("--queue", metavar="NAME", help="For any worker with `--queue NAME`.")
@host_option
@json_option
def add(turn: TurnOptions, queue: str | None, host: str, as_json: bool) -> int:
    """Let a model do a task in the background.

    What needs your approval waits for `prowess jobs approve`. A worker is started on this machine
    unless the job is for another queue.
    """
    with open_jobs() as jobs:
        id = jobs.add_turn(turn.make_spec(host), queue=queue)
        if queue is None:
            jobs.ensure_worker()
    if as_json:
        print_json({"job": id})
    else:
        click.echo(f"Added the job {id}. Follow it with `prowess jobs show {id} --follow`.")
    return Exit.OK


@command.command("show")
@_id_argument
@click.option("--follow", is_flag=True, help="Show what happens until the job has ended.")
@hidden_host
@json_option
def show(id: str, follow: bool, as_json: bool) -> int:
    """Show a job: its state, its parts, what it waits for and how it ended.

    With --follow what happens is shown as `prowess run` does, and the exit code is that of the job.
    """
    with open_jobs() as jobs:
        job = jobs.get(id)
        if follow:
            _follow(jobs, job, as_json=as_json)
            job = jobs.get(job.id)
        parts = jobs.list_parts(job.id)
    if follow:
        return _CODES.get(job.state, Exit.OK)
    if as_json:
        shaped = {**msgspec.to_builtins(job), "parts": [msgspec.to_builtins(one) for one in parts]}
        print_json(shaped)
        return Exit.OK
    for line in render_job(job, parts):
        click.echo(line)
    return Exit.OK


def _follow(jobs: Jobs, job: Job, *, as_json: bool) -> None:
    from prowess.cli.agent_run import print_event
    from prowess.cli.terminal.agent_output import AgentPrinter

    progress = JobProgress(print_event if as_json else AgentPrinter().show, quiet=as_json)
    patience = time.monotonic() + _SECONDS_TO_START

    def look(seen: Job) -> None:
        nonlocal patience
        progress.update(seen, jobs.list_parts(seen.id))
        has_waited = seen.state == "queued" and time.monotonic() > patience
        if has_waited:
            # Said once: a busy worker may take long, too.
            patience = math.inf
            for line in render_blocked([seen]):
                click.echo(line, err=True)

    try:
        for event in jobs.follow(job.id, on_wait=look):
            progress.show(event)
    finally:
        progress.finish()


@command.command("cancel")
@_id_argument
@hidden_host
@json_option
def cancel(id: str, as_json: bool) -> int:
    """Cancel a job and its parts; what runs is stopped."""
    with open_jobs() as jobs:
        return _print_job(jobs.cancel(id), "Cancelled", as_json=as_json)


@command.command("retry")
@_id_argument
@hidden_host
@json_option
def retry(id: str, as_json: bool) -> int:
    """Continue a job that failed or was cancelled where it stopped."""
    with open_jobs() as jobs:
        job = jobs.retry(id)
        # The worker ends when there is nothing to do, so there may be none by now.
        jobs.ensure_worker()
    return _print_job(job, "Retrying", as_json=as_json)


@command.command("approve")
@_id_argument
@click.option("--always", "reply", flag_value="always", help="Do not ask about this again.")
@click.option("--reject", "reply", flag_value="reject", help="Refuse it.")
@click.option("--feedback", metavar="TEXT", help="What to do instead, with --reject.")
@click.option("--question", metavar="ID", help="Which question, where there are several.")
@hidden_host
@json_option
def approve(
    id: str, reply: str | None, feedback: str | None, question: str | None, as_json: bool
) -> int:
    """Approve what a job waits for, once; or with --always, or --reject it."""
    from prowess.model.permission import ApprovalAnswer, ApprovalChoice

    if feedback is not None and reply != "reject":
        raise UsageError("--feedback needs --reject.")
    answer = ApprovalAnswer(ApprovalChoice(reply or "once"), feedback)
    with open_jobs() as jobs:
        answered = jobs.answer(id, answer, question=question)
        jobs.ensure_worker()
    if as_json:
        print_json({"question": msgspec.to_builtins(answered), "answer": answer.reply.value})
    else:
        verb = "Rejected" if reply == "reject" else "Approved"
        click.echo(f"{verb}: {escape_line(answered.title)}")
    return Exit.OK


def _print_job(job: Job, verb: str, *, as_json: bool) -> int:
    if as_json:
        print_json(msgspec.to_builtins(job))
    else:
        click.echo(f"{verb} {job.id}: {escape_line(job.title)}")
    return Exit.OK
