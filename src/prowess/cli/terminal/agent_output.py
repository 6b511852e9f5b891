"""The events of a session for a person: the model's words on stdout, everything else on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from prowess.agent.events import (
    Compacted,
    CompactionStarted,
    Event,
    HookFinished,
    SkillLoaded,
    SkillsWoken,
    StreamCut,
    TaskFinished,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    Warned,
)
from prowess.text.display import escape_line, escape_text

_MOST_TITLE = 100
_MOST_DIFF_LINES = 60
_ENDINGS = {
    "refused": "Refused",
    "failed": "Failed",
    "budget": "Stopped",
    "interrupted": "Interrupted",
}


class AgentPrinter:
    """Prints events as they come. Calls of tools are folded to a line each."""

    def __init__(self) -> None:
        self._is_line_open = False
        self._titles: dict[str, str] = {}
        self._last_call = ""

    def show(self, event: Event) -> None:
        """Print one event."""
        match event:
            # The words of an agent below are for the one above it, which gets its report.
            case TextDelta(agent=""):
                self._print_text(event.text)
            case ToolStarted():
                self._start_call(event)
            case ToolFinished():
                self._finish_call(event)
            case TurnEnded():
                self._end(event)
            case _:
                line = render_line(event)
                if line:
                    self._note(line)

    def _start_call(self, event: ToolStarted) -> None:
        self._titles[event.call] = _name_call(event)
        self._last_call = event.call
        self._note(self._titles[event.call])
        if event.diff:
            self._print_diff(event.diff)

    def _finish_call(self, event: ToolFinished) -> None:
        title = self._titles.pop(event.call, "")
        if event.call != self._last_call:
            # Calls run side by side, so that another one may have begun meanwhile.
            self._note(title)
        if event.outcome == "done":
            self._note(f"  {_fold(event.output)}")
        else:
            self._note(f"  {event.outcome}: {_shorten(event.output)}")
        self._last_call = ""

    def _print_text(self, text: str) -> None:
        sys.stdout.write(escape_text(text))
        sys.stdout.flush()
        self._is_line_open = not text.endswith("\n")

    def _note(self, line: str) -> None:
        if self._is_line_open:
            # The words of the model end before anything else begins.
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._is_line_open = False
        click.echo(line, err=True)

    def _print_diff(self, diff: str) -> None:
        lines = diff.split("\n")
        for line in lines[:_MOST_DIFF_LINES]:
            self._note(f"    {escape_text(line)}")
        if len(lines) > _MOST_DIFF_LINES:
            self._note(f"    [{len(lines) - _MOST_DIFF_LINES:,} more lines]")

    def _end(self, event: TurnEnded) -> None:
        if event.status in _ENDINGS:
            reason = escape_line(event.reason)
            self._note(f"{_ENDINGS[event.status]}: {reason}.")
        # A turn without requests, such as a command, has no usage; its last line still ends.
        if event.requests:
            self._note(_render_usage(event))
        elif self._is_line_open:
            sys.stdout.write("\n")


def _name_call(event: ToolStarted) -> str:
    agent = f"[{escape_line(event.agent)}] " if event.agent else ""
    return f"· {agent}{_shorten(event.title)}"


def _describe_hook(event: HookFinished) -> str:
    owner = f" of {escape_line(event.name)}" if event.name else ""
    line = f"! {event.hook} hook{owner} `{_shorten(event.command)}`"
    if event.outcome != "done":
        line += f" {event.outcome}"
    if event.message:
        line += f": {_shorten(event.message)}"
    return line


def render_line(event: Event) -> str:
    """What a person reads of an event that is one line; "" for nothing."""
    match event:
        case TaskFinished():
            return _name_task(event)
        case SkillLoaded():
            tokens = f" ({event.tokens:,} tokens)" if event.tokens else ""
            return f"+ skill {escape_line(event.name)}{tokens}, by the {event.by}"
        case SkillsWoken():
            return f"+ now available: {escape_line(', '.join(event.names))}"
        # A hook that ran and said nothing is not worth a line; most run at every call.
        case HookFinished() if event.message or event.outcome != "done":
            return _describe_hook(event)
        case StreamCut():
            return f"The answer was cut off: {escape_line(event.reason)}."
        case CompactionStarted():
            return f"Compacting about {event.tokens:,} tokens…"
        case Compacted():
            return escape_line(event.describe())
        case Warned():
            return f"warning: {escape_line(event.message)} ({event.code})"
        case _:
            return ""


def _name_task(event: TaskFinished) -> str:
    said = event.output if event.status == "done" else f"{event.status}: {event.reason}"
    return f"· [{escape_line(event.name)}] reports: {_fold(said)}"


def _shorten(text: str) -> str:
    line = escape_line(text)
    return line if len(line) <= _MOST_TITLE else f"{line[: _MOST_TITLE - 1]}…"


def _fold(output: str) -> str:
    """A tool's output in one line: itself where it is short, otherwise how long it is."""
    lines = output.strip().splitlines()
    if len(lines) <= 1:
        return _shorten(output) or "done"
    return f"{len(lines):,} lines"


def _render_usage(event: TurnEnded) -> str:
    parts: Sequence[str] = (
        f"{event.requests} request{'s' if event.requests > 1 else ''}",
        f"{event.input_tokens:,} tokens in",
        f"{event.output_tokens:,} out",
        "" if event.cost is None else f"${event.cost:.4f}",
    )
    return f"({', '.join(filter(None, parts))})"
