"""The keys of the chat, without a terminal: what is pressed, and what becomes of it."""

from __future__ import annotations

import asyncio
import os
import pty
import termios
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.input import create_input, create_pipe_input
from prompt_toolkit.output import DummyOutput

from prowess.agent.events import Event, MessageQueued, ToolStarted, TurnEnded
from prowess.agent.key_bindings import KEYS
from prowess.cli.agent_run import RunOptions
from prowess.cli.chat.key_table import MODIFIED_KEYS
from prowess.cli.chat.screen import ChatScreen
from tests.agent.studio import SLOW, Studio, call, say

ENTER, ESCAPE, CTRL_S, CTRL_ENTER, CTRL_C, CTRL_D = (
    "\r",
    "\x1b",
    "\x13",
    "\x1b[13;5u",
    "\x03",
    "\x04",
)


@pytest.fixture
def studio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Studio]:
    made = Studio(tmp_path)
    monkeypatch.chdir(made.project)
    yield made
    made.close()


class Pressed:
    """A chat whose keys are pressed by a test."""

    def __init__(self, screen: ChatScreen, press: Callable[[str], None]) -> None:
        self.screen = screen
        self.press = press
        self.events: list[Event] = []
        show = screen.show

        def note(event: Event) -> None:
            self.events.append(event)
            show(event)

        screen.show = note  # type: ignore[method-assign]

    async def wait(self, is_there: Callable[[], Any]) -> None:
        deadline = time.monotonic() + 120
        while not is_there():
            assert time.monotonic() < deadline, self.events
            await asyncio.sleep(0.01)

    async def wait_for(self, kind: type[Any], count: int = 1) -> Any:
        def find() -> list[Event]:
            return [one for one in self.events if isinstance(one, kind)]

        await self.wait(lambda: len(find()) >= count)
        return find()[count - 1]


class Written(DummyOutput):
    """Keeps what is written above the line."""

    def __init__(self) -> None:
        self.text = ""

    def write_raw(self, data: str) -> None:
        self.text += data


def chat(
    studio: Studio,
    *answers: dict[str, Any],
    play: Callable[[Pressed], Awaitable[None]],
    output: DummyOutput | None = None,
) -> list[Event]:
    """Play keys in a chat whose model gives these answers; everything that happened."""
    model = studio.script(*answers)

    async def run() -> list[Event]:
        with create_pipe_input() as pipe:
            skills = studio.skills(allow=["Bash"])
            options = RunOptions(model=model)
            shown = output or DummyOutput()
            screen = ChatScreen(skills, studio.host, options, input=pipe, output=shown)
            pressed = Pressed(screen, pipe.send_text)
            task = asyncio.create_task(screen.run())
            try:
                await pressed.wait(lambda: screen.app.is_running)
                await play(pressed)
                pressed.press(CTRL_D)
                await asyncio.wait_for(task, 120)
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            return pressed.events

    return asyncio.run(run())


@pytest.mark.seed("P-44", "P-45", "P-47")
@pytest.mark.parametrize(
    ("key", "delivery"), [(ENTER, "steer"), (CTRL_S, "follow-up"), (CTRL_ENTER, "follow-up")]
)
def test_the_key_decides_how_a_message_is_delivered_while_the_model_works(studio, key, delivery):
    studio.host = "omp@documented"
    texts: list[str] = []

    async def play(one: Pressed) -> None:
        one.press(f"begin{ENTER}")
        await one.wait_for(ToolStarted)
        one.press(f"go on{key}")
        texts.append((await one.wait_for(MessageQueued)).delivery)
        studio.let_go()
        await one.wait_for(TurnEnded)

    chat(studio, SLOW, say("1"), say("2"), play=play)
    assert texts == [delivery]


@pytest.mark.seed("P-46")
@pytest.mark.parametrize("key", [ENTER, CTRL_S, CTRL_ENTER])
def test_when_the_model_is_idle_every_key_sends(studio, key):
    studio.host = "omp@documented"

    async def play(one: Pressed) -> None:
        one.press(f"hello{key}")
        assert (await one.wait_for(TurnEnded)).answer == "Hello."

    events = chat(studio, say("Hello."), play=play)
    assert not [event for event in events if isinstance(event, MessageQueued)]


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
def test_an_interrupt_gives_back_what_was_not_delivered(studio, key):
    async def play(one: Pressed) -> None:
        one.press(f"begin{ENTER}")
        await one.wait_for(ToolStarted)
        one.press(f"later{CTRL_S}")
        await one.wait_for(MessageQueued)
        one.press("half")
        await one.wait(lambda: one.screen.line.text == "half")
        one.press(key)
        assert (await one.wait_for(TurnEnded)).status == "interrupted"
        await one.wait(lambda: one.screen.line.text == "later\nhalf")
        one.press(CTRL_C)
        await one.wait(lambda: one.screen.line.text == "")

    chat(studio, call("Bash", command="sleep 600"), say("never"), play=play)


@pytest.mark.parametrize("key", ["\n", "\x1b\r", "\x1b[13;2u", "\x1b[27;2;13~"])
def test_a_message_may_have_several_lines(studio, key):
    async def play(one: Pressed) -> None:
        one.press(f"one{key}two")
        await one.wait(lambda: one.screen.line.text == "one\ntwo")
        one.press(ENTER)
        await one.wait_for(TurnEnded)

    chat(studio, {**say("Done."), "expect": ["one\ntwo"]}, play=play)


def test_what_is_being_typed_answers_no_question(studio):
    async def play(one: Pressed) -> None:
        one.press(f"begin{ENTER}")
        await one.wait_for(ToolStarted)
        one.press("y")
        await one.wait(lambda: one.screen.line.text == "y")
        studio.let_go()
        await one.wait_for(ToolStarted, 2)
        await one.wait(lambda: one.screen._question is not None)
        assert one.screen.line.text == ""
        one.press(ENTER)
        one.press(f"n{ENTER}")
        await one.wait_for(TurnEnded)
        # The draft is there again.
        assert one.screen.line.text == "y"
        one.press(CTRL_C)
        await one.wait(lambda: one.screen.line.text == "")

    chat(studio, SLOW, call("Write", file_path="a", content="x"), say("No."), play=play)
    assert not (studio.project / "a").exists()


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
def test_an_interrupt_refuses_what_is_asked(studio, key):
    async def play(one: Pressed) -> None:
        one.press(f"begin{ENTER}")
        await one.wait(lambda: one.screen._question is not None)
        one.press(key)
        assert (await one.wait_for(TurnEnded)).status == "interrupted"
        await one.wait(lambda: one.screen._question is None)

    chat(studio, call("Write", file_path="a", content="x"), say("never"), play=play)
    assert not (studio.project / "a").exists()


def test_a_command_works_while_a_question_is_open(studio):
    async def play(one: Pressed) -> None:
        one.press(f"begin{ENTER}")
        await one.wait(lambda: one.screen._question is not None)
        one.press(f"/context{ENTER}")
        await one.wait(lambda: one.screen.line.text == "")
        assert one.screen._question is not None
        one.press(f"y{ENTER}")
        await one.wait_for(TurnEnded)

    chat(studio, call("Write", file_path="a", content="x"), say("Done."), play=play)
    assert studio.read("a") == "x"


def test_a_long_change_is_asked_about_with_all_of_its_lines(studio):
    output = Written()

    async def play(one: Pressed) -> None:
        one.press(f"begin{ENTER}")
        await one.wait(lambda: one.screen._question is not None)
        one.press(f"y{ENTER}")
        await one.wait_for(TurnEnded)

    content = "".join(f"line {number}\n" for number in range(200))
    change = call("Write", file_path="a", content=content)
    chat(studio, change, say("Done."), play=play, output=output)
    asked = output.text.partition("The model wants to")[2].partition("Allowed once.")[0]
    assert "[143 more lines]" in output.text
    assert all(f"+line {number}" in asked for number in (0, 100, 199))


def test_pasted_lines_are_not_sent(studio):
    async def play(one: Pressed) -> None:
        one.press("\x1b[200~one\rtwo\x1b[201~")
        await one.wait(lambda: one.screen.line.text == "one\ntwo")
        assert not one.events
        one.press(CTRL_C)
        await one.wait(lambda: one.screen.line.text == "")

    chat(studio, say("never"), play=play)


def test_every_action_has_a_key_and_a_summary():
    assert all(binding.keys and binding.labels for binding in KEYS.values())
    assert all(binding.summary.endswith(".") for binding in KEYS.values())
    bound = {keys[0] for binding in KEYS.values() for keys in binding.keys}
    assert set(MODIFIED_KEYS.values()) <= bound


def write_keys(studio: Studio, text: str, *, feature: bool = True) -> None:
    word = "true" if feature else "false"
    settings = f"[features]\nkeybindings = {word}\n"
    studio.workspace.write("home/.config/prowess/prowess.toml", settings)
    studio.workspace.write("home/.prowess/keybindings.toml", text)


@pytest.mark.seed("C-107")
def test_the_chat_uses_the_keys_of_the_key_file(studio):
    write_keys(studio, 'follow-up = ["ctrl+k"]\nnew-line = ["f5"]\n')

    async def play(one: Pressed) -> None:
        one.press("a\x1b[15~b")
        await one.wait(lambda: one.screen.line.text == "a\nb")
        one.press(ENTER)
        await one.wait_for(ToolStarted)
        one.press("go on\x0b")
        queued = await one.wait_for(MessageQueued)
        studio.let_go()
        assert queued.delivery == "follow-up"
        await one.wait_for(TurnEnded)

    chat(studio, SLOW, say("one"), say("two"), play=play)


@pytest.mark.parametrize(
    ("text", "feature", "problem"),
    [
        ('follow-up = ["ctrl+k"]\n', False, ""),
        ('send = ["ctrl+o"]\n', True, "Ctrl+O is the key of both `send` and `unfold`"),
    ],
)
def test_without_the_feature_or_with_a_wrong_file_the_usual_keys_apply(
    studio, text, feature, problem
):
    write_keys(studio, text, feature=feature)
    output = Written()

    async def play(one: Pressed) -> None:
        one.press(f"begin{ENTER}")
        await one.wait_for(TurnEnded)

    chat(studio, say("one"), play=play, output=output)
    assert ("The usual keys are used." in output.text) is bool(problem)
    assert problem in " ".join(output.text.split())


class TerminalModes(Written):
    """Keeps the modes of a terminal at the moment the greeting is written."""

    def __init__(self, terminal: int) -> None:
        super().__init__()
        self.terminal = terminal
        self.modes: list[tuple[int, int]] = []

    def write_raw(self, data: str) -> None:
        super().write_raw(data)
        if "/help" in data:
            input_modes, _, _, local_modes, *_ = termios.tcgetattr(self.terminal)
            self.modes.append((input_modes & termios.IXON, local_modes & termios.ECHO))


def test_keys_belong_to_the_chat_before_it_greets(studio):
    """A Ctrl-S would stop the terminal, and other keys would be echoed beside the line."""
    ours, theirs = pty.openpty()
    output = TerminalModes(theirs)

    async def run() -> None:
        with open(theirs, closefd=False) as keys:
            screen = ChatScreen(
                studio.skills(),
                studio.host,
                RunOptions(model=studio.script(say("Fine."))),
                input=create_input(keys),
                output=output,
            )
            task = asyncio.create_task(screen.run())
            while not output.modes:
                await asyncio.sleep(0.01)
            os.write(ours, CTRL_D.encode())
            await asyncio.wait_for(task, 120)

    try:
        asyncio.run(run())
    finally:
        os.close(ours)
        os.close(theirs)
    assert output.modes == [(0, 0)]


def test_hints_name_the_key_of_the_key_file(studio):
    write_keys(studio, 'interrupt = ["f6"]\n')

    async def play(one: Pressed) -> None:
        one.press(f"go{ENTER}")
        await one.wait_for(ToolStarted)
        live = one.screen._render_live_lines()
        assert "F6 interrupts" in live[-1]
        one.press("/compact" + ENTER)
        await one.wait(lambda: "F6 interrupts it." in output.text)
        one.press(CTRL_D)
        await one.wait(lambda: one.screen._hint == "The model is working; F6 interrupts it.")
        one.press("\x1b[17~")
        ended = await one.wait_for(TurnEnded)
        assert ended.status == "interrupted"

    output = Written()
    chat(studio, call("Bash", command="sleep 30"), say("one"), play=play, output=output)
