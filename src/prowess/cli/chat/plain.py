"""The chat without a terminal that can be drawn on: lines in, answers out, no escape codes."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Any

import click
from rich.console import RenderableType

from prowess.agent.events import Event, TurnEnded
from prowess.cli.agent_run import EXIT_CODES, RunOptions, print_event, read_line
from prowess.cli.app import Exit
from prowess.cli.chat.chat import Chat
from prowess.cli.no_model import Answer
from prowess.cli.terminal.agent_output import AgentPrinter
from prowess.cli.terminal.out import echo_diagnostics, print_exact
from prowess.cli.terminal.prompts import TerminalApprover, can_ask
from prowess.errors import UsageError
from prowess.machine.event_loop import run_in_thread
from prowess.machine.interrupts import Stopped, catch_interrupts
from prowess.runtime import Skills
from prowess.text.display import escape_text

# Whoever reads a pipe cuts lines themselves.
_WIDTH = 10_000
_PROMPT = "> "


class PlainSurface:
    """Shows a chat as `prowess run` shows a turn: answers on stdout, everything else on stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self.is_over = False
        self.code = int(Exit.OK)
        # Among events, text of the chat's own would be in the way.
        self._has_events = as_json
        self._show = print_event if as_json else AgentPrinter().show

    def print(self, shown: RenderableType) -> None:
        """Print something of the chat's own."""
        if isinstance(shown, str):
            click.echo(escape_text(shown), err=True)
            return
        from rich.console import Console

        plain = Console(width=_WIDTH, no_color=True, force_terminal=False, highlight=False)
        with plain.capture() as captured:
            plain.print(shown)
        lines = (line.rstrip() for line in captured.get().splitlines())
        click.echo("\n".join(lines), err=self._has_events)

    def show(self, event: Event) -> None:
        """Print an event, and keep how the last turn that failed ended."""
        self._show(event)
        if isinstance(event, TurnEnded):
            self.code = EXIT_CODES[event.status] or self.code

    def answer(self, answer: Answer) -> None:
        """Print what a text comes to without a model."""
        for note in answer.notes:
            click.echo(escape_text(note), err=True)
        print_exact(answer.text if answer.text.endswith("\n") else f"{answer.text}\n")
        echo_diagnostics(answer.diagnostics)

    def restore(self, text: str) -> None:
        """There is no line to put it back to."""
        click.echo(f"Not sent: {escape_text(text)}", err=True)

    async def open_view(self, view: Any) -> bool:
        """There are no views."""
        return False

    def leave(self) -> None:
        """Read no more lines."""
        self.is_over = True


def run_plain(skills: Skills, host: str, options: RunOptions, *, as_json: bool) -> int:
    """Answer every line of stdin; the exit code is that of the last turn that did not end well."""
    surface = PlainSurface(as_json=as_json)

    def is_kept() -> bool:
        return skills.project.load_own_settings().approvals == "disk"

    approver = TerminalApprover(is_kept) if can_ask() else None
    chat = Chat(skills, host, options, surface, approver)
    stopped: list[int] = []
    # Nothing but Ctrl-C cancels it.
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_answer_lines(chat, surface, stopped))
    if stopped:
        raise Stopped(stopped[0])
    return surface.code


async def _answer_lines(chat: Chat, surface: PlainSurface, stopped: list[int]) -> None:
    """Answer lines until there are no more, or until Ctrl-C, whose number is in `stopped` then."""
    loop, reading = asyncio.get_running_loop(), asyncio.create_task(_read_lines(chat, surface))

    def stop() -> None:
        # The jobs of the turn end, too, which asyncio's own way would leave to go on.
        chat.interrupt()
        reading.cancel()

    def note(number: int) -> None:
        stopped.append(number)
        loop.call_soon_threadsafe(stop)

    try:
        with catch_interrupts(note):
            await reading
    finally:
        await chat.aclose()


async def _read_lines(chat: Chat, surface: PlainSurface) -> None:
    is_typed = sys.stdin.isatty()
    while not surface.is_over:
        if is_typed:
            click.echo(_PROMPT, err=True, nl=False)
        line = await run_in_thread(lambda is_cancelled: read_line())
        if not line:
            return
        try:
            line.encode()
        except UnicodeEncodeError:
            surface.print(str(UsageError("The line is not valid UTF-8.")))
            continue
        await chat.submit(line)
