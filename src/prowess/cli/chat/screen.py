"""The chat on a terminal: what was said scrolls away above, the line and its status stay below."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.input import Input, ansi_escape_sequences, create_input, vt100_parser
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Container,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style
from rich.console import RenderableType
from rich.text import Text

from prowess.activate.slash.messages import Key
from prowess.agent.events import Event
from prowess.cli.agent_run import RunOptions
from prowess.cli.app import Exit
from prowess.cli.chat.approval import ChatApprover, ChatQuestion
from prowess.cli.chat.chat import Chat
from prowess.cli.chat.completion import ChatCompleter
from prowess.cli.chat.history import ChatHistory
from prowess.cli.chat.idle_dream import IdleDream
from prowess.cli.chat.key_table import FORGET_KEYS, MODIFIED_KEYS, TELL_KEYS_APART
from prowess.cli.chat.local_commands import COMMANDS, find_local
from prowess.cli.chat.output import stack
from prowess.cli.chat.resumed import list_recap
from prowess.cli.chat.terminal_text import render_terminal
from prowess.cli.chat.transcript import TranscriptPrinter
from prowess.cli.chat.usage import cut_line, name_model, render_status
from prowess.cli.no_model import Answer
from prowess.cli.terminal.out import shorten_path
from prowess.errors.agent import NoModel
from prowess.machine.interrupts import ENDING, Stopped, catch_interrupts
from prowess.runtime import Skills
from prowess.text.display import escape_line, escape_text

_STYLE = Style.from_dict(
    {
        "prompt": "bold fg:ansicyan",
        "question": "bold fg:ansiyellow",
        "dim": "fg:ansibrightblack",
        "rule": "fg:ansibrightblack",
        "chosen": "bold",
        "completion-menu": "noinherit",
        "completion-menu.completion": "noinherit",
        "completion-menu.completion.current": "noinherit reverse",
        "completion-menu.meta.completion": "noinherit fg:ansibrightblack",
        "completion-menu.meta.completion.current": "noinherit reverse",
        "scrollbar.background": "noinherit",
        "scrollbar.button": "noinherit reverse",
    }
)
_MOST_INPUT_ROWS = 8
_MENU_ROWS = 7
# Esc is also the first byte of other keys, which follow it at once.
_SECONDS_AFTER_ESCAPE = 0.05
_SECONDS_BETWEEN_KEYS = 0.3
_REDRAW_SECONDS = 0.08
_CLOCK_SECONDS = 0.5


class View(Protocol):
    """Something that takes the place of the line until it is left."""

    container: Container
    focus: Window
    done: asyncio.Future[None]


class ChatScreen:
    """Draws a chat, and takes its keys. `input` and `output` replace those of the terminal."""

    def __init__(
        self,
        skills: Skills,
        host: str,
        options: RunOptions,
        *,
        input: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._output = output or _open_output()
        self._transcript = TranscriptPrinter(self._print_above, self._get_width)
        self._question: ChatQuestion | None = None
        self._draft = ""
        self._view: View | None = None
        self._hint = ""
        self._live: tuple[int, list[str]] = (-1, [])
        approver = ChatApprover(self._print_question, self._change_question)
        self.chat = Chat(skills, host, options, self, approver)
        self._idle = IdleDream(self.chat)
        self.line = Buffer(
            multiline=True,
            history=ChatHistory(skills.facts),
            completer=ChatCompleter(self.chat),
            complete_while_typing=Condition(self._completes_while_typing),
            on_text_changed=lambda buffer: self._note_typed(),
        )
        self._line_window = Window(
            BufferControl(self.line),
            height=lambda: Dimension(min=1, max=_MOST_INPUT_ROWS),
            get_line_prefix=self._render_prompt,
            wrap_lines=True,
            dont_extend_height=True,
        )
        self.app: Application[None] = Application(
            layout=Layout(self._lay_out(), focused_element=self._line_window),
            key_bindings=self._bind_keys(),
            style=_STYLE,
            erase_when_done=True,
            min_redraw_interval=_REDRAW_SECONDS,
            input=input or create_input(),
            output=self._output,
        )
        self.app.ttimeoutlen = _SECONDS_AFTER_ESCAPE
        self.app.timeoutlen = _SECONDS_BETWEEN_KEYS
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> int:
        """Show the chat until the user leaves."""
        _learn_keys()
        watches = [asyncio.create_task(self._run_clock()), asyncio.create_task(self._idle.run())]
        self._output.write_raw(TELL_KEYS_APART)
        try:
            # Raw mode begins before anything is shown: a Ctrl-S that answers the greeting would
            # stop the terminal.
            with self.app.input.raw_mode():
                await self.app.run_async(pre_run=self._greet)
        finally:
            self._output.write_raw(FORGET_KEYS)
            self._output.flush()
            for watch in watches:
                watch.cancel()
            await asyncio.gather(*watches, return_exceptions=True)
            await self._end_tasks()
            await self.chat.aclose()
        for job, name in self.chat.session.waiting_jobs.items():
            self._write(f"“{escape_line(name)}” is still running: prowess jobs show {job}\n")
        self._write(f"The session is kept: prowess chat --resume {self.chat.session.id}\n")
        return int(Exit.OK)

    # What the chat asks for

    def print(self, shown: RenderableType) -> None:
        """Show something of the chat's own."""
        self._transcript.print_own(shown)

    def _print_question(self, shown: RenderableType) -> None:
        self._transcript.print_own(shown, "question")

    def show(self, event: Event) -> None:
        """Show something that happened in the session."""
        self._transcript.show(event)
        self.app.invalidate()

    def answer(self, answer: Answer) -> None:
        """Show what a text comes to without a model."""
        for note in answer.notes:
            self.print(note)
        if answer.text.strip():
            self.print(answer.text.rstrip("\n"))
        for one in answer.diagnostics:
            self.print(f"{one.severity.value}: {one.message} ({one.code})")

    def restore(self, text: str) -> None:
        """Put text back into the line, before what is there."""
        there = self.line.text
        self._set_line(f"{text}\n{there}" if there else text)

    async def open_view(self, view: View) -> bool:
        """Show a view in place of the line until it is left."""
        self._view = view
        self.app.layout.focus(view.focus)
        self.app.invalidate()
        try:
            await view.done
        finally:
            self._view = None
            self.app.layout.focus(self._line_window)
            # A view is higher than the line; without this its rows would stay empty.
            self.app.renderer.erase()
            self.app.invalidate()
        return True

    def leave(self) -> None:
        """End the chat."""
        if not self.app.is_done:
            self.app.exit()

    # Layout

    def _lay_out(self) -> Container:
        live = Window(
            FormattedTextControl(self._render_live),
            height=lambda: Dimension.exact(max(len(self._list_live()), 1)),
            dont_extend_height=True,
        )
        question = Window(
            FormattedTextControl(self._render_question),
            dont_extend_height=True,
            wrap_lines=True,
        )
        conversation = HSplit(
            [
                ConditionalContainer(live, Condition(lambda: bool(self._list_live()))),
                Window(height=1, char="─", style="class:rule"),
                ConditionalContainer(question, Condition(lambda: self._question is not None)),
                self._line_window,
                ConditionalContainer(
                    Window(FormattedTextControl(self._render_status), height=1),
                    ~has_completions,
                ),
                CompletionsMenu(max_height=_MENU_ROWS, scroll_offset=1),
            ]
        )
        return DynamicContainer(
            lambda: conversation if self._view is None else self._view.container
        )

    def _render_prompt(self, line: int, wrapped: int) -> AnyFormattedText:
        is_first = line == 0 and wrapped == 0
        style = "class:question" if self._question is not None else "class:prompt"
        return [(style, "› " if is_first else "  ")]

    def _list_live(self) -> list[str]:
        """What is going on, rendered once for each time that the screen is drawn."""
        drawn = self.app.render_counter
        if self._live[0] != drawn:
            self._live = (drawn, self._render_live_lines())
        return self._live[1]

    def _render_live_lines(self) -> list[str]:
        rows = self._output.get_size().rows - _MOST_INPUT_ROWS - 3
        live = self._transcript.render_live(
            rows=max(rows, 3),
            interrupt_key=self.chat.interrupt_key,
            is_working=self._is_busy(),
            is_asking=self._question is not None,
        )
        return live.splitlines()

    def _render_live(self) -> AnyFormattedText:
        return ANSI("\n".join(self._list_live()))

    def _render_question(self) -> AnyFormattedText:
        hint = self._question.hint if self._question is not None else ""
        return [("class:question", hint)]

    def _render_status(self) -> AnyFormattedText:
        width = self._get_width()
        if self._hint:
            return [("class:dim", cut_line(self._hint, width))]
        model = self.chat.session.models.name
        return [("class:dim", render_status(self.chat.usage, model, width=width))]

    # Keys

    def _bind_keys(self) -> KeyBindings:
        """Every action of the table, with the keys that the table has for it."""
        actions: dict[str, Callable[[], None]] = {
            "send": lambda: self._send(Key.SEND),
            "follow-up": lambda: self._send(Key.FOLLOW_UP),
            "new-line": lambda: self.line.insert_text("\n"),
            "interrupt": self._interrupt,
            "cancel": self._cancel,
            "leave": self._leave_if_empty,
            "unfold": self._transcript.print_last_call,
            "complete": self._complete,
        }
        bindings = KeyBindings()
        is_line = Condition(lambda: self._view is None)
        for name, act in actions.items():
            for keys in self.chat.keys[name].keys:

                @bindings.add(*keys, filter=is_line)
                def _act(event: KeyPressEvent, act: Callable[[], None] = act) -> None:
                    act()

        return bindings

    def _send(self, key: Key) -> None:
        completions = self.line.complete_state
        if key is Key.SEND and completions is not None and completions.current_completion:
            # Enter takes what is chosen in the menu.
            self.line.complete_state = None
            return
        text = self.line.text
        if self._question is not None and find_local(text) is None:
            self._answer_question(self._question, text)
            return
        if not text.strip():
            return
        self.line.append_to_history()
        self._set_line("")
        if not self._becomes_turn(text):
            self._transcript.print_typed(text.strip())
        self._start(self.chat.submit(text, key))

    def _becomes_turn(self, text: str) -> bool:
        """Whether a turn begins with a text, or waits with it: then its events show the text."""
        if self.chat.session.models.name is None:
            return False
        local = find_local(text)
        if local is None:
            return True
        return COMMANDS[local[0]].is_turn and not self._is_busy()

    def _answer_question(self, question: ChatQuestion, text: str) -> None:
        if not question.reply(text) and text.strip():
            self._hint = "Each change to a file needs its own answer: y or n."

    def _interrupt(self) -> None:
        if self.line.complete_state is not None:
            self.line.cancel_completion()
        elif self._is_busy():
            self.chat.interrupt()
            if self._question is not None:
                self._question.refuse()

    def _cancel(self) -> None:
        if self._is_busy():
            self._interrupt()
        elif self.line.text:
            self.line.append_to_history()
            self._set_line("")
        elif self._hint:
            self.leave()
        else:
            self._hint = "Ctrl+C again, Ctrl+D or /quit leaves."

    def _leave_if_empty(self) -> None:
        if self.line.text:
            self.line.delete()
        elif self._is_busy():
            self._hint = f"The model is working; {self.chat.interrupt_key} interrupts it."
        else:
            self.leave()

    def _complete(self) -> None:
        if self.line.complete_state is not None:
            self.line.complete_next()
        else:
            self.line.start_completion(insert_common_part=True)

    def _completes_while_typing(self) -> bool:
        # An answer is no command, and a file may be named anywhere.
        return self._question is None

    # What is going on

    def _is_busy(self) -> bool:
        return self.chat.is_working

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.app.invalidate()
        error = None if task.cancelled() else task.exception()
        if error is not None and not self.app.is_done:
            # A bug: it is reported as those of all commands are.
            self.app.exit(exception=error)

    async def _end_tasks(self) -> None:
        # Not interrupted: whoever leaves does not end the jobs of the turn, nor refuse what they
        # ask.
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_clock(self) -> None:
        while True:
            await asyncio.sleep(_CLOCK_SECONDS)
            if self._is_busy():
                self.app.invalidate()

    def _change_question(self, question: ChatQuestion | None) -> None:
        """Keep what was being typed apart from the answer: it must approve nothing."""
        if question is not None:
            self._draft = self.line.text
            self._set_line("")
        else:
            self._set_line(self._draft)
            self._draft = ""
        self._question = question
        self._hint = ""
        self.app.invalidate()

    def _note_typed(self) -> None:
        self._hint = ""
        self._idle.note_activity()

    def _set_line(self, text: str) -> None:
        self.line.reset()
        self.line.insert_text(text)

    # Output

    def _greet(self) -> None:
        chat = self.chat
        name = chat.session.models.name
        model = name_model(name) if name is not None else f"{NoModel()} {NoModel().hint}"
        lines = (
            Text(f"prowess chat in {shorten_path(chat.skills.cwd)}", "bold"),
            Text(escape_text(model)),
            Text("/help shows more.", "dim"),
        )
        self.print(stack(*lines))
        if chat.keys_problem:
            self.print(chat.keys_problem)
        if chat.resumed is not None:
            for kind, text in list_recap(chat.resumed):
                show = {
                    "typed": self._transcript.print_typed,
                    "answer": self._transcript.print_answer,
                    "note": self.print,
                }[kind]
                show(text)

    def _get_width(self) -> int:
        return self._output.get_size().columns

    def _print_above(self, shown: RenderableType) -> None:
        self._write(render_terminal(shown, width=self._get_width()))

    def _write(self, text: str) -> None:
        """Write above the line, which is drawn again below.

        prompt_toolkit's own way leaves raw mode for that, and keys that are pressed meanwhile would
        be echoed or become signals.
        """
        is_drawn = self.app.is_running and not self.app.is_done
        if is_drawn:
            self.app.renderer.erase()
        self._output.write_raw(text.replace("\n", "\r\n"))
        self._output.flush()
        if is_drawn:
            self.app.invalidate()


def _open_output() -> Output:
    output = create_output(stdout=sys.stdout)
    if isinstance(output, Vt100_Output):
        # Where the cursor is does not matter, and the answer would mix with what is typed.
        output.enable_cpr = False
    return output


def _learn_keys() -> None:
    """Let prompt_toolkit tell keys apart that it takes for others."""
    for sequence, key in MODIFIED_KEYS.items():
        ansi_escape_sequences.ANSI_SEQUENCES[sequence] = Keys(key)
    # What it remembers of the beginnings of sequences is outdated now.
    vt100_parser._IS_PREFIX_OF_LONGER_MATCH_CACHE.clear()


def can_draw() -> bool:
    """Whether this is a terminal that can be drawn on."""
    with contextlib.suppress(ValueError, AttributeError):
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        return is_terminal and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return False


def run_screen(skills: Skills, host: str, options: RunOptions) -> int:
    """Chat on the terminal."""

    stopped: list[int] = []

    async def run() -> int:
        screen = ChatScreen(skills, host, options)
        loop = asyncio.get_running_loop()

        def stop(number: int) -> None:
            stopped.append(number)
            loop.call_soon_threadsafe(screen.leave)

        # Otherwise a request to end would leave the terminal as it is while keys are read.
        with catch_interrupts(stop, also=ENDING):
            return await screen.run()

    code = asyncio.run(run())
    if stopped:
        raise Stopped(stopped[0])
    return code
