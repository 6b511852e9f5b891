"""`prowess jobs`: work that outlives the terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.conversation_options import join_words
from prowess.cli.options import complete_hosts, host_option, json_option
from prowess.cli.terminal.out import print_json
from prowess.errors import MissingExtra, UsageError
from prowess.machine.facts import current_facts
from prowess.text.display import escape_json, escape_line, escape_text

if TYPE_CHECKING:
    from prowess.agent.events import Event
    from prowess.agent.jobs.client import Jobs
    from prowess.agent.jobs.values import Job, Question
    from prowess.model.facts import Facts
    from prowess.model.settings import JobSettings

_CODES = {
    "done": Exit.OK,
    "refused": Exit.REFUSED,
    "failed": Exit.FAILED,
    "budget": Exit.BUDGET,
    "interrupted": Exit.INTERRUPTED,
    "cancelled": Exit.INTERRUPTED,
}
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def load_job_settings(facts: Facts) -> JobSettings:
    """`[jobs]` of the user's own settings."""
    from prowess.project import Project

    return Project(".", "prowess", facts=facts).load_own_settings().jobs


@contextmanager
def require_jobs() -> Iterator[None]:
    """Raise `MissingExtra` if an import in the block fails because the extra is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("dbos", "sqlalchemy", "pydantic_ai"):
            raise
        raise MissingExtra("jobs", "run jobs") from missing


@contextmanager
def open_jobs() -> Iterator[Jobs]:
    """The jobs of the user's settings. Raises `MissingExtra`."""
    with require_jobs():
        from prowess.agent.jobs.client import Jobs
    facts = current_facts()
    with Jobs(load_job_settings(facts), facts) as jobs:
        yield jobs


_id_argument = click.argument("id")
_host_filter = click.option(
    "--host", metavar="NAME", shell_complete=complete_hosts, hidden=True, expose_value=False
)


@click.group("jobs", invoke_without_command=True)
@click.option("--all", "every", is_flag=True, help="Also list the parts of jobs.")
@_host_filter
@json_option
@click.pass_context
def command(ctx: click.Context, every: bool, as_json: bool) -> int:
    """List jobs, and show, cancel, retry or approve one.

    A job is work that goes on when the terminal is closed; `prowess worker` runs it. Jobs are kept
    in your state folder, or in the PostgreSQL database of `[jobs]` in your own prowess.toml.
    """
    if ctx.invoked_subcommand is not None:
        return Exit.OK
    with open_jobs() as jobs:
        found = jobs.list_jobs(every=every)
    if as_json:
        print_json({"jobs": [msgspec.to_builtins(job) for job in found]})
        return Exit.OK
    if not found:
        click.echo("No jobs yet.", err=True)
    for line in _render_jobs(found):
        click.echo(line)
    return Exit.OK


@command.command("add")
@click.argument("text", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--model", metavar="NAME", help="provider:name, or script:FILE.")
@click.option("--allow", multiple=True, metavar="RULE", help="Allow these tools or skills.")
@click.option("--deny", multiple=True, metavar="RULE", help="Deny these tools or skills.")
@click.option("--read-only", is_flag=True, help="Change nothing in the project.")
@click.option("--max-turns", type=click.IntRange(min=1), help="Most requests to the model.")
@click.option("--max-cost", type=click.FloatRange(min=0, min_open=True), help="Most US dollars.")
@click.option("--max-time", type=click.FloatRange(min=0, min_open=True), help="Most seconds.")
@click.option("--queue", metavar="NAME", help="For any worker with `--queue NAME`.")
@host_option
@json_option
def add(
    text: tuple[str, ...],
    model: str | None,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    read_only: bool,
    max_turns: int | None,
    max_cost: float | None,
    max_time: float | None,
    queue: str | None,
    host: str,
    as_json: bool,
) -> int:
    """Let a model do a task in the background.

    What needs your approval waits for `prowess jobs approve`. A worker is started on this machine
    unless the job is for another queue.
    """
    from prowess.agent.jobs.values import TurnSpec
    from prowess.gate.permissions import parse_given
    from prowess.text.permission_rules import AGENT_TOOLS

    typed = join_words(text)
    if not typed.strip():
        raise UsageError("The prompt is empty.")
    # A wrong rule is an error here and not in the worker.
    parse_given(allow=allow, deny=deny, tools=AGENT_TOOLS)
    spec = TurnSpec(
        text=typed,
        cwd=os.getcwd(),
        host=host,
        model=resolve_script(model),
        allow=allow,
        deny=deny,
        read_only=read_only,
        max_turns=max_turns,
        max_cost=max_cost,
        max_seconds=max_time,
    )
    with open_jobs() as jobs:
        id = jobs.add_turn(spec, queue=queue)
        if queue is None:
            jobs.ensure_worker()
    if as_json:
        print_json({"job": id})
    else:
        click.echo(f"Added the job {id}. Follow it with `prowess jobs show {id} --follow`.")
    return Exit.OK


def resolve_script(model: str | None) -> str | None:
    """A model's name; the file of a script as an absolute path, for a worker in another folder."""
    if model is None or not model.startswith("script:"):
        return model
    return f"script:{os.path.abspath(model.removeprefix('script:'))}"


@command.command("show")
@_id_argument
@click.option("--follow", is_flag=True, help="Show what happens until the job has ended.")
@_host_filter
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
    if as_json and not follow:
        shaped = {**msgspec.to_builtins(job), "parts": [msgspec.to_builtins(one) for one in parts]}
        print_json(shaped)
    elif not follow:
        for line in _render_job(job, parts):
            click.echo(line)
    return _CODES.get(job.state, Exit.OK) if follow else Exit.OK


def _follow(jobs: Jobs, job: Job, *, as_json: bool) -> None:
    from prowess.agent.events import render_event
    from prowess.cli.terminal.agent_output import AgentPrinter

    def print_event(event: Event) -> None:
        sys.stdout.buffer.write(escape_json(render_event(event)) + b"\n")
        sys.stdout.buffer.flush()

    show_event = print_event if as_json else AgentPrinter().show
    shown: set[str] = set()

    def show_questions(waiting: Job) -> None:
        for one in waiting.questions:
            if one.id not in shown:
                shown.add(one.id)
                for line in _render_question(one):
                    click.echo(line, err=True)

    for event in jobs.follow(job.id, on_wait=show_questions):
        show_event(event)


@command.command("cancel")
@_id_argument
@_host_filter
@json_option
def cancel(id: str, as_json: bool) -> int:
    """Cancel a job and its parts; what runs is stopped."""
    with open_jobs() as jobs:
        return _print_job(jobs.cancel(id), "Cancelled", as_json=as_json)


@command.command("retry")
@_id_argument
@_host_filter
@json_option
def retry(id: str, as_json: bool) -> int:
    """Let a job that failed or was cancelled go on where it was."""
    with open_jobs() as jobs:
        job = jobs.retry(id)
        jobs.ensure_worker()
    return _print_job(job, "Retrying", as_json=as_json)


@command.command("approve")
@_id_argument
@click.option("--always", "reply", flag_value="always", help="Do not ask about this again.")
@click.option("--reject", "reply", flag_value="reject", help="Refuse it.")
@click.option("--feedback", metavar="TEXT", help="What to do instead, with --reject.")
@click.option("--question", metavar="ID", help="Which question, where there are several.")
@_host_filter
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


def _render_jobs(jobs: Iterable[Job]) -> Iterator[str]:
    now = time.time()
    for job in jobs:
        indent = "  " if job.parent else ""
        what = f"{job.kind:<6} {escape_line(job.title)}"
        yield f"{indent}{job.id}  {job.state:<9} {_render_age(now - job.created):>4}  {what}"


def _render_job(job: Job, parts: list[Job]) -> Iterator[str]:
    yield f"{job.id}  {job.state}"
    rows = (
        ("task", job.title),
        ("folder", job.cwd),
        ("worker", job.worker),
        ("session", job.session),
        ("reason", job.reason),
    )
    for name, value in rows:
        if value:
            yield f"  {name:<8} {escape_line(value)}"
    for question in (*job.questions, *(one for part in parts for one in part.questions)):
        yield from _render_question(question)
    yield from _render_jobs(parts)
    if job.answer:
        yield ""
        yield escape_text(job.answer)


def _render_question(question: Question) -> Iterator[str]:
    yield f"  waits for you ({question.id}): {escape_line(question.title)}"
    for detail in question.details:
        yield f"    {escape_line(detail)}"
    yield f"  Answer with `prowess jobs approve {question.job}`, or add --reject."


def _render_age(seconds: float) -> str:
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(int(seconds), 0)}s"
