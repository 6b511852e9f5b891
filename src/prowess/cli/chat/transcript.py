"""The events of a session as a person reads them: what is finished, and what is going on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from prowess.agent.events import (
    Compacted,
    CompactionStarted,
    Event,
    HookFinished,
    MessageDelivered,
    MessageQueued,
    SkillLoaded,
    SkillsWoken,
    StreamCut,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Warned,
)
from prowess.cli.chat.markdown_blocks import MarkdownBlocks
from prowess.cli.chat.terminal_text import make_markdown, render_terminal
from prowess.cli.chat.usage import cut_line
from prowess.cli.terminal.agent_output import render_line
from prowess.text.display import escape_line, escape_text

MOST_DIFF_LINES = 60
_MOST_OUTPUT_LINES = 400
_MOST_LIVE = 2_000
_ENDINGS = {
    "refused": ("Refused", "yellow"),
    "failed": ("Failed", "red"),
    "budget": ("Stopped", "yellow"),
    "interrupted": ("Interrupted", "yellow"),
}
_DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_STYLES: dict[type[Event], str] = {
    SkillLoaded: "magenta",
    SkillsWoken: "magenta",
    StreamCut: "red",
    Warned: "yellow",
    HookFinished: "yellow",
    CompactionStarted: "dim",
    Compacted: "dim",
}
_DELIVERIES = {"steer": "next step", "follow-up": "afterwards"}


class TranscriptPrinter:
    """Prints what is finished, and keeps what is going on for the lines above the input.

    `print` takes something that stays; `get_width` is the width of the terminal.
    """

    def __init__(
        self, print: Callable[[RenderableType], None], get_width: Callable[[], int]
    ) -> None:
        self._print = print
        self._get_width = get_width
        self._blocks = MarkdownBlocks()
        self._running: dict[str, ToolStarted] = {}
        self._queued: dict[str, MessageQueued] = {}
        self._last_call: tuple[ToolStarted, ToolFinished] | None = None
        self._last_kind = ""
        self._started = 0.0
        self._is_thinking = False
        self._has_refusal = False

    def show(self, event: Event) -> None:
        """Take one event."""
        self._is_thinking = isinstance(event, ThinkingDelta)
        match event:
            case TurnStarted():
                self._started, self._has_refusal = time.monotonic(), False
                self.print_typed(event.text)
            case TextDelta(agent=""):
                self._add_text(event.text)
            case ToolStarted():
                self._start_call(event)
            case ToolFinished():
                self._finish_call(event)
            case MessageQueued():
                self._queued[event.id] = event
            case MessageDelivered() if event.id in self._queued:
                self.print_typed(self._queued.pop(event.id).text)
            case TurnEnded():
                self._end(event)
            case _:
                line = render_line(event)
                if line:
                    self._note(Text(line, _STYLES.get(type(event), "")))

    def print_typed(self, text: str) -> None:
        """Show what the user typed."""
        self._flush()
        self._begin("typed")
        first, *others = escape_text(text).split("\n")
        lines = [f"› {first}", *(f"  {line}" for line in others)]
        self._print(Text("\n".join(lines), "bold cyan"))

    def print_answer(self, text: str) -> None:
        """Show a whole answer of the model."""
        self._add_text(text)
        self._flush()

    def print_own(self, shown: RenderableType, kind: str = "own") -> None:
        """Show something of the chat's own."""
        self._begin(kind)
        self._print(Text(escape_text(shown)) if isinstance(shown, str) else shown)

    def print_last_call(self) -> None:
        """Show the last call of a tool in full."""
        if self._last_call is None:
            self.print_own(Text("No tool was called yet.", "dim"))
            return
        started, finished = self._last_call
        output = finished.output.splitlines()
        lines = [f"{name}: {value}" for name, value in started.input.items()]
        lines += ("", *output[:_MOST_OUTPUT_LINES])
        left = len(output) - _MOST_OUTPUT_LINES
        if left > 0:
            lines.append(f"[{left:,} more lines]")
        shown = "\n".join(lines)
        self._begin("own")
        self._print(Text(f"· {escape_line(started.title)}", "bold"))
        self._print(Padding(Text(escape_text(shown)), (0, 0, 0, 2)))

    def render_live(
        self, *, rows: int, interrupt_key: str, is_working: bool, is_asking: bool = False
    ) -> str:
        """What is going on, in at most that many rows: the answer so far, calls, messages."""
        width = self._get_width()
        notes = list(self._list_queued(width))
        if not is_asking:
            notes = [*self._list_running(width), *notes]
            if is_working:
                notes.append(self._render_progress(interrupt_key, width))
        notes = notes[-max(rows, 1) :]
        shown = render_terminal(Text("\n").join(notes), width=width) if notes else ""
        left = rows - len(notes)
        # A line free, as there will be once it is finished.
        follows_text = self._last_kind not in ("call", "question", "")
        lead = "\n" if shown and follows_text else ""
        text = self._blocks.rest
        if not text.strip() or left < 1:
            return lead + shown
        lines = render_terminal(_shape_live(text), width=width).splitlines(keepends=True)
        # The end is what is being written; the whole is printed once it is finished.
        return lead + "".join(lines[-left:]) + shown

    def _render_progress(self, interrupt_key: str, width: int) -> Text:
        seconds = time.monotonic() - self._started
        doing = "Thinking" if self._is_thinking else "Working"
        line = f"{doing}… {seconds:.0f} s · {interrupt_key} interrupts"
        return Text(cut_line(line, width), "dim")

    def _list_running(self, width: int) -> Iterable[Text]:
        for call in self._running.values():
            yield Text(cut_line(f"· {_name_call(call)} …", width), "dim")

    def _list_queued(self, width: int) -> Iterable[Text]:
        for one in self._queued.values():
            when = _DELIVERIES.get(one.delivery, one.delivery)
            yield Text(cut_line(f"› {escape_line(one.text)} ({when})", width), "cyan")

    def _add_text(self, text: str) -> None:
        self._print_markdown(self._blocks.add(text))

    def _flush(self) -> None:
        self._print_markdown(self._blocks.end())

    def _print_markdown(self, text: str) -> None:
        if text.strip():
            self._begin("text", always=True)
            self._print(make_markdown(text.strip("\n")))

    def _start_call(self, event: ToolStarted) -> None:
        self._flush()
        self._running[event.call] = event
        if event.diff:
            # Whoever is asked about a change has to see it before.
            self._begin("call")
            self._print(Text(f"· {_name_call(event)}"))
            self._print(render_diff(event.diff))

    def _finish_call(self, event: ToolFinished) -> None:
        started = self._running.pop(event.call, None)
        if started is None:
            return
        self._last_call = (started, event)
        is_done = event.outcome == "done"
        self._has_refusal = self._has_refusal or event.outcome == "refused"
        result = _fold(event.output) if is_done else _explain(event)
        style = "dim" if is_done else "red"
        self._begin("call")
        if started.diff:
            # The line of the call is above its difference already.
            self._print(Text(f"  {result}", style))
            return
        width = self._get_width()
        title = f"· {_name_call(started)}"
        line = Text(cut_line(title, width)) if is_done else Text(title)
        room = width - line.cell_len - len(" — ")
        if len(result) <= room:
            line.append(f" — {result}", style)
            self._print(line)
            return
        self._print(line)
        self._print(Padding(Text(result, style), (0, 0, 0, 2)))

    def _end(self, event: TurnEnded) -> None:
        self._flush()
        self._running.clear()
        # What was not delivered comes back to the line or is sent next.
        self._queued.clear()
        # A call that was refused has said so itself.
        is_known = event.status == "refused" and self._has_refusal
        ending = _ENDINGS.get(event.status)
        if ending is None or is_known:
            return
        word, style = ending
        self._note(Text(f"{word}: {escape_line(event.reason)}.", style))

    def _note(self, line: Text) -> None:
        self._flush()
        self._begin("call")
        self._print(line)

    def _begin(self, kind: str, *, always: bool = False) -> None:
        """Leave a line free before something of another kind."""
        # A call goes on after its question.
        is_same = kind == self._last_kind or (self._last_kind, kind) == ("question", "call")
        if self._last_kind and (always or not is_same):
            self._print(Text())
        self._last_kind = kind


def _shape_live(text: str) -> RenderableType:
    """An answer so far. Of a long block, only the end is laid out, because that is done often."""
    if len(text) <= _MOST_LIVE:
        return make_markdown(text)
    return Text(escape_text(text[-_MOST_LIVE:]))


def _name_call(event: ToolStarted) -> str:
    agent = f"[{escape_line(event.agent)}] " if event.agent else ""
    return f"{agent}{escape_line(event.title)}"


def _fold(output: str) -> str:
    """A tool's output in a few words: itself where it is short, otherwise how long it is."""
    lines = output.strip().splitlines()
    if len(lines) > 1 or len(output) > 100:
        return f"{len(lines):,} line{'s' if len(lines) != 1 else ''}"
    return escape_line(output) or "done"


def _explain(event: ToolFinished) -> str:
    return f"{event.outcome}: {escape_line(event.output)[:500]}"


def render_diff(diff: str, most: int | None = MOST_DIFF_LINES) -> RenderableType:
    """The lines of a change in their colours; None shows all of them."""
    lines: Sequence[str] = escape_text(diff).rstrip("\n").split("\n")
    styled = [Text(line, _choose_style(line)) for line in lines[:most]]
    if most is not None and len(lines) > most:
        styled.append(Text(f"[{len(lines) - most:,} more lines]", "dim"))
    return Padding(Text("\n").join(styled), (0, 0, 0, 4))


def _choose_style(line: str) -> str:
    # The names of the file are in the title already.
    if line.startswith(("---", "+++")):
        return "dim"
    return _DIFF_STYLES.get(line[:1], "")
