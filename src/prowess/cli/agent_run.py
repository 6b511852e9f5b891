"""`prowess run` with a model: a session on the terminal, from its options to its exit code."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
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
from prowess.ports import Approver
from prowess.runtime import Skills
from prowess.text.display import escape_json

if TYPE_CHECKING:
    from prowess.agent.session_file import SavedSession

F = TypeVar("F", bound=Callable[..., Any])
_CODES = {
    "done": Exit.OK,
    "refused": Exit.REFUSED,
    "failed": Exit.FAILED,
    "budget": Exit.BUDGET,
    "interrupted": Exit.INTERRUPTED,
}


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `run` that are about the model."""

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


def model_options(command: F) -> F:
    """Add the options about the model, which become one argument, `run`."""
    from functools import wraps

    names = RunOptions.__struct_fields__

    @wraps(command)
    def with_run(*arguments: Any, **options: Any) -> Any:
        chosen = {name: options.pop(name) for name in names}
        return command(*arguments, run=RunOptions(**chosen), **options)

    positive = click.IntRange(min=1)
    amount = click.FloatRange(min=0, min_open=True)
    decorated: Any = with_run
    for option in reversed(
        (
            click.option("--model", metavar="NAME", help="provider:name, or script:FILE."),
            click.option("--max-turns", type=positive, help="Most requests to the model."),
            click.option(
                "--max-cost", type=amount, help="Most US dollars, where prices are known."
            ),
            click.option("--max-time", type=amount, help="Most seconds."),
            click.option("--read-only", is_flag=True, help="Change nothing in the project."),
            click.option("--output", metavar="FILE", help="Write the final answer to FILE, too."),
            click.option("--record", metavar="FILE", help="Write a script that replays the run."),
            click.option("--continue", "go_on", is_flag=True, help="Go on with the last session."),
            click.option("--resume", metavar="ID", help="Go on with this session."),
            click.option(
                "--input",
                type=click.Choice(["jsonl"]),
                help='Read more messages from stdin, a line each: {"text": "…"}.',
            ),
            click.option("--fork", is_flag=True, help="Go on as a new session."),
        )
    ):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def run_session(skills: Skills, text: str, options: RunOptions, *, as_json: bool) -> int:
    """Run one turn of a session, and return its exit code."""
    from prowess.agent import Limits, Session
    from prowess.machine.atomic_write import check_writable, rewrite_aside

    if options.output is not None:
        check_writable(options.output)
    usual = Limits()
    limits = Limits(
        turns=options.max_turns or usual.turns, cost=options.max_cost, seconds=options.max_time
    )
    show = _print_event if as_json else AgentPrinter().show

    def work(cancel: Cancel, approver: Approver | None) -> TurnEnded:
        with Session(
            skills,
            model=options.model,
            approver=approver,
            limits=limits,
            read_only=options.read_only,
            record=options.record,
            resume=_find_session(skills, options),
            fork=options.fork,
        ) as session:
            _interrupt_with(cancel, session.interrupt)
            if options.input is not None:
                return session.converse(text, _read_line, on_event=show)
            return session.run(text, on_event=show)

    def is_kept() -> bool:
        return skills.project.load_own_settings().approvals == "disk"

    approver = TerminalApprover(is_kept) if can_ask() else None
    ended = BackgroundWork(work, doing=None, approver=approver).run()
    if options.output is not None:
        rewrite_aside(options.output, f"{ended.answer}\n".encode("utf-8", "backslashreplace"))
    return _CODES[ended.status]


def _find_session(skills: Skills, options: RunOptions) -> SavedSession | None:
    from prowess.agent.session_file import list_sessions, load_session

    if options.resume is not None:
        return load_session(skills.facts, options.resume)
    if not options.go_on:
        if options.fork:
            raise UsageError("--fork needs --continue or --resume ID.")
        return None
    latest = list_sessions(skills.facts, cwd=skills.cwd, most=1)
    if not latest:
        raise UsageError("There is no session to go on with in this folder.")
    return latest[0]


def _interrupt_with(cancel: Cancel, interrupt: Callable[[], None]) -> None:
    """Interrupt a session when the work is cancelled, from a thread that ends with the program."""

    def wait() -> None:
        while not cancel.wait(60.0):
            pass
        interrupt()

    threading.Thread(target=wait, daemon=True).start()


def _read_line() -> str:
    """A line of stdin, whatever the locale; bytes that are no UTF-8 become lone surrogates."""
    return sys.stdin.buffer.readline().decode("utf-8", "surrogateescape")


def _print_event(event: Event) -> None:
    sys.stdout.buffer.write(escape_json(render_event(event)) + b"\n")
    sys.stdout.buffer.flush()
