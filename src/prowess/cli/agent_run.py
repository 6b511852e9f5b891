"""Sessions on the command line: the options of `run` and `chat`, and a run with its exit code."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from prowess.activate.slash.dispatch import Cancel
from prowess.agent.events import Event, TurnEnded, render_event
from prowess.cli.app import Exit
from prowess.cli.terminal.agent_output import AgentPrinter
from prowess.cli.terminal.background import BackgroundWork
from prowess.cli.terminal.prompts import TerminalApprover, can_ask
from prowess.errors import UsageError
from prowess.machine.interrupts import ENDING, Stopped
from prowess.ports import Approver
from prowess.runtime import Skills
from prowess.text.display import escape_json

if TYPE_CHECKING:
    from prowess.agent import Session
    from prowess.agent.session_file import SavedSession

F = TypeVar("F", bound=Callable[..., Any])
EXIT_CODES = {
    "done": Exit.OK,
    "refused": Exit.REFUSED,
    "failed": Exit.FAILED,
    "budget": Exit.BUDGET,
    "interrupted": Exit.INTERRUPTED,
}


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options that are about the model."""

    model: str | None = None
    record: str | None = None
    output: str | None = None
    max_turns: int | None = None
    max_cost: float | None = None
    max_time: float | None = None
    read_only: bool = False
    go_on: bool = False
    resume: str | None = None
    fork: bool = False
    input: str | None = None

    @property
    def needs_model(self) -> bool:
        """Whether an option makes no sense without a model."""
        return any(value for value in msgspec.structs.astuple(self) if value is not None)


def model_options(command: F, *, without: Container[str] = ()) -> F:
    """Add the options about the model, which become one argument, `run`.

    `without` are those that the command does not have, by the names of `RunOptions`.
    """
    from functools import wraps

    @wraps(command)
    def with_run(*arguments: Any, **options: Any) -> Any:
        names = [name for name in RunOptions.__struct_fields__ if name in options]
        chosen = {name: options.pop(name) for name in names}
        return command(*arguments, run=RunOptions(**chosen), **options)

    decorated: Any = with_run
    for name, option in reversed(_OPTIONS.items()):
        decorated = decorated if name in without else option(decorated)
    return decorated  # type: ignore[no-any-return]


class _Amount(click.FloatRange):
    """A number above 0. A limit that is not a number, or infinite, would never be reached."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a valid limit.", param, ctx)
        return number


_POSITIVE = click.IntRange(min=1)
_AMOUNT = _Amount(min=0, min_open=True)
_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "model": click.option("--model", metavar="NAME", help="provider:name, or script:FILE."),
    "max_turns": click.option(
        "--max-turns", type=_POSITIVE, help="Stop after this many requests to the model."
    ),
    "max_cost": click.option(
        "--max-cost", type=_AMOUNT, help="Stop at this cost in US dollars, if prices are known."
    ),
    "max_time": click.option("--max-time", type=_AMOUNT, help="Stop after this many seconds."),
    "read_only": click.option("--read-only", is_flag=True, help="Change nothing in the project."),
    "output": click.option("--output", metavar="FILE", help="Also write the final answer to FILE."),
    "record": click.option("--record", metavar="FILE", help="Write a script that replays the run."),
    "go_on": click.option("--continue", "go_on", is_flag=True, help="Continue the last session."),
    "resume": click.option("--resume", metavar="ID", help="Continue this session."),
    "input": click.option(
        "--input",
        type=click.Choice(["jsonl"]),
        help='Read more messages from stdin, one per line: {"text": "…"}.',
    ),
    "fork": click.option("--fork", is_flag=True, help="Continue in a copy of the session."),
}


def run_session(skills: Skills, text: str, options: RunOptions, *, as_json: bool) -> int:
    """Run one turn of a session, and return its exit code."""
    from prowess.agent.line_approver import LineApprover
    from prowess.machine.atomic_write import check_writable, rewrite_aside

    for path in filter(None, (options.output, options.record)):
        check_writable(path)
    print_one = print_event if as_json else AgentPrinter().show
    ends: list[TurnEnded] = []

    def show(event: Event) -> None:
        print_one(event)
        if isinstance(event, TurnEnded):
            ends.append(event)

    def work(cancel: Cancel, approver: Approver | None) -> TurnEnded:
        resume = find_session(skills, options)
        # A program that reads events also answers questions.
        lines = LineApprover(show) if options.input is not None and as_json else None
        with open_session(skills, options, lines or approver, resume) as session:
            _stop_with(cancel, lambda: _stop(session, background.signal))
            if options.input is not None:
                return session.converse(text, read_line, on_event=show)
            return session.run(text, on_event=show)

    def is_kept() -> bool:
        return skills.project.load_own_settings().approvals == "disk"

    approver = TerminalApprover(is_kept) if can_ask() else None
    background = BackgroundWork(work, doing=None, approver=approver)
    try:
        ended = background.run()
    except Stopped as stop:
        if not ends:
            raise
        # The end of the turn, which says that it was interrupted, is on the screen already.
        return stop.exit_code
    if options.output is not None:
        rewrite_aside(options.output, f"{ended.answer}\n".encode("utf-8", "backslashreplace"))
    return EXIT_CODES[ended.status]


def open_session(
    skills: Skills,
    options: RunOptions,
    approver: Approver | None,
    resume: SavedSession | None,
    *,
    taken: Iterable[str] = (),
    keep: bool = True,
) -> Session:
    """The session that the options ask for, which may go on with one that was kept."""
    from prowess.agent import Limits, Session
    from prowess.agent.jobs.runner import open_job_runner

    import pydantic_ai  # isort: skip # the line above says what to install where it is missing

    # In a checkout, pydantic-ai takes us for a program that is being written, and advertises.
    pydantic_ai.BANNER_ENABLED = False
    usual = Limits()
    limits = Limits(
        turns=options.max_turns or usual.turns, cost=options.max_cost, seconds=options.max_time
    )
    return Session(
        skills,
        model=options.model,
        approver=approver,
        limits=limits,
        read_only=options.read_only,
        record=options.record,
        resume=resume,
        fork=options.fork,
        keep=keep,
        taken=taken,
        jobs=open_job_runner(skills) if keep else None,
    )


def find_session(skills: Skills, options: RunOptions) -> SavedSession | None:
    """The session that the options say to go on with."""
    from prowess.agent.session_file import list_sessions, load_session

    if options.resume is not None:
        return load_session(skills.facts, options.resume)
    if not options.go_on:
        if options.fork:
            raise UsageError("--fork needs --continue or --resume ID.")
        return None
    latest = list_sessions(skills.facts, cwd=skills.cwd, most=1, with_jobs=False)
    if not latest:
        raise UsageError("There is no session to continue in this folder.")
    return latest[0]


def _stop(session: Session, signal: int | None) -> None:
    """Stop a turn. A terminal that is gone does not end jobs, which can do without it."""
    if signal in ENDING:
        session.leave()
    else:
        session.interrupt()


def _stop_with(cancel: Cancel, stop: Callable[[], None]) -> None:
    """Stop a session when the work is cancelled, from a thread that ends with the program."""

    def wait() -> None:
        while not cancel.wait(60.0):
            pass
        stop()

    threading.Thread(target=wait, daemon=True).start()


def read_line() -> str:
    """A line of stdin, whatever the locale; bytes that are no UTF-8 become lone surrogates."""
    return sys.stdin.buffer.readline().decode("utf-8", "surrogateescape")


def print_event(event: Event) -> None:
    """Print an event as a line of JSON."""
    sys.stdout.buffer.write(escape_json(render_event(event)) + b"\n")
    sys.stdout.buffer.flush()
