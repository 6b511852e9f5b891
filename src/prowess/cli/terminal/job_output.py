"""Jobs for people: lines, and progress that is drawn again in place."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec
from rich.cells import set_cell_size

from prowess.cli.terminal.out import console
from prowess.text.display import escape_line, escape_text, join_some

if TYPE_CHECKING:
    from prowess.agent.events import Event
    from prowess.agent.jobs.values import Job, Question, WorkerInfo

_MOST_IDS = 3
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def render_jobs(jobs: Iterable[Job]) -> Iterator[str]:
    """A line for each job; those that belong to another one are indented."""
    now = time.time()
    for job in jobs:
        indent = "  " if job.parent else ""
        what = f"{job.kind:<6} {escape_line(job.title)}"
        yield f"{indent}{job.id}  {job.state:<9} {_render_age(now - job.created):>4}  {what}"


def render_blocked(jobs: Iterable[Job]) -> Iterator[str]:
    """A line for each reason why queued jobs are not begun, with the first of those jobs."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for job in jobs:
        if job.blocked:
            by_reason.setdefault((job.queue, job.blocked), []).append(job.id)
    for (queue, reason), ids in by_reason.items():
        shown = join_some(ids, _MOST_IDS)
        yield f"Queued in {escape_line(queue)}, but {escape_line(reason)}: {shown}."


def render_job(job: Job, parts: Sequence[Job]) -> Iterator[str]:
    """All about a job and its parts."""
    yield f"{job.id}  {job.state}"
    rows = (
        ("task", job.title),
        ("folder", job.cwd),
        ("worker", job.worker),
        ("session", job.session),
        ("reason", job.reason),
        ("note", job.note),
        ("blocked", job.blocked),
    )
    for name, value in rows:
        if value:
            yield f"  {name:<8} {escape_line(value)}"
    for question in _list_questions(job, parts):
        yield from render_question(question)
    yield from render_jobs(parts)
    if job.answer:
        yield ""
        yield escape_text(job.answer)


def _list_questions(job: Job, parts: Sequence[Job]) -> Iterator[Question]:
    return chain.from_iterable(one.questions for one in (job, *parts))


def render_question(question: Question) -> Iterator[str]:
    """What a job waits for, and how to answer."""
    yield f"  waits for you ({question.id}): {escape_line(question.title)}"
    for detail in question.details:
        # Plans are indented.
        indent = " " * (len(detail) - len(detail.lstrip(" ")))
        yield f"    {indent}{escape_line(detail)}"
    yield f"  Answer with `prowess jobs approve {question.job}`, or add --reject."


def _render_age(seconds: float) -> str:
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(int(seconds), 0)}s"


class WorkerLife(NamedTuple):
    """A worker, the queues that it serves, and the jobs that it works on."""

    worker: WorkerInfo
    queues: Sequence[str]
    jobs: Sequence[Job]

    def render(self) -> Iterator[str]:
        """It for people."""
        worker = self.worker
        state = "dead" if worker.is_dead else f"seen {_render_age(worker.silent)} ago"
        # A dead worker of another machine may be known only by its id.
        where = f"{worker.machine}, process {worker.pid}" if worker.machine else "unknown machine"
        yield f"{worker.id}  {state}  {escape_line(where)}"
        # A queue is `KIND@PLACE`, and a worker serves all kinds of its places.
        places = dict.fromkeys(queue.partition("@")[2] for queue in self.queues)
        if places:
            yield f"  queues   {escape_line(', '.join(places))}"
        for job in self.jobs:
            yield f"  {job.state:<8} {job.id}  {escape_line(job.title)}"
        if not self.jobs and not worker.is_dead:
            yield "  idle"

    def shape(self) -> dict[str, Any]:
        """It as JSON."""
        jobs = [{"id": job.id, "state": job.state, "title": job.title} for job in self.jobs]
        return {**msgspec.to_builtins(self.worker), "queues": list(self.queues), "jobs": jobs}


class JobProgress:
    """Shows a job that runs: its events, its questions, and the states of its parts.

    On a terminal the parts are a table below everything else, which is drawn again in place.
    Elsewhere each change of a state is a line.
    """

    def __init__(self, show_event: Callable[[Event], None], *, quiet: bool = False) -> None:
        self._show_event = show_event
        self._is_quiet = quiet
        is_terminal = sys.stdout.isatty() and sys.stderr.isatty()
        self._is_live = is_terminal and os.environ.get("TERM") != "dumb"
        self._drawn = 0
        self._lines: list[str] = []
        self._states: dict[str, str] = {}
        self._asked: set[str] = set()

    def show(self, event: Event) -> None:
        """Print what has happened."""
        self._erase()
        self._show_event(event)

    def update(self, job: Job, parts: Sequence[Job]) -> None:
        """Show where the job and its parts are now."""
        # Also where it is quiet: nobody would know that the job waits for them.
        for question in _list_questions(job, parts):
            self._show_question(question)
        if self._is_quiet:
            return
        if self._is_live:
            self._draw(list(render_jobs(parts)))
            return
        changed = [part for part in parts if self._states.get(part.id) != part.state]
        self._states.update((part.id, part.state) for part in changed)
        for line in render_jobs(changed):
            click.echo(line, err=True)

    def finish(self) -> None:
        """Remove the table; what the job says at its end is in its place."""
        self._erase()

    def _show_question(self, question: Question) -> None:
        if question.id in self._asked:
            return
        self._asked.add(question.id)
        self._erase()
        for line in render_question(question):
            click.echo(line, err=True)

    def _draw(self, lines: list[str]) -> None:
        if lines == self._lines and self._drawn:
            return
        self._erase()
        columns, rows = console().size
        # One line is for the cursor, and a table that scrolls could not be drawn again.
        shown = lines[: max(rows - 2, 1)]
        if len(shown) < len(lines):
            shown[-1] = f"  … {len(lines) - len(shown) + 1} more"
        for line in shown:
            sys.stderr.write(f"{set_cell_size(line, min(columns, 200)).rstrip()}\n")
        sys.stderr.flush()
        self._drawn, self._lines = len(shown), lines

    def _erase(self) -> None:
        if self._drawn:
            # To the first line of the table, and everything below it away.
            sys.stderr.write(f"\x1b[{self._drawn}F\x1b[J")
            sys.stderr.flush()
            self._drawn = 0
