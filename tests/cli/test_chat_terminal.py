"""`prowess chat` on a real terminal of 80×24."""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.agent.test_streaming import Answer, ending, serve, stream, tool_call, words
from tests.cli.running import MARK, find_running
from tests.cli.terminal import Terminal
from tests.cli.tmux import Tmux

pytest.importorskip("pydantic_ai")
pytest.importorskip("prompt_toolkit")
pytestmark = [pytest.mark.slow, pytest.mark.needs("tmux")]

Open = Callable[..., Tmux]


@pytest.fixture
def chat(terminal: Terminal) -> Iterator[Open]:
    """Starts `prowess chat` in the project of a terminal."""
    with ExitStack() as open_screens:

        def start(*arguments: str, **env: str) -> Tmux:
            variables = {
                "HOME": str(terminal.home),
                "PROWESS_CACHE_DIR": str(terminal.root / "cache"),
                "LANG": "C.UTF-8",
                **env,
            }
            screen = Tmux(("chat", *arguments), cwd=str(terminal.project), env=variables)
            open_screens.callback(screen.close)
            return screen

        yield start


def script(terminal: Terminal, *answers: dict[str, Any]) -> str:
    lines = [{"prowess-script": 1}, *answers]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    terminal.write("script.jsonl", text)
    return f"script:{terminal.root}/script.jsonl"


def call(tool: str, **input: object) -> dict[str, Any]:
    return {"calls": [{"tool": tool, "input": input}]}


class Gate:
    """An answer that stops in the middle until it is let through."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        self._before, self._after = before, after
        self._open = threading.Event()

    def open(self) -> None:
        self._open.set()

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for piece in self._before:
            handler.wfile.write(piece.encode())
        handler.wfile.flush()
        self._open.wait(60)
        for piece in self._after:
            handler.wfile.write(piece.encode())
        handler.wfile.flush()


def ask_server(*answers: Answer) -> Any:
    return serve(answers)


SERVER = {"OPENAI_API_KEY": "k"}
MODEL = ("--model", "openai-chat:gpt-4o")


def test_a_conversation_from_start_to_leave_and_on(terminal, chat):
    terminal.write("project/a.txt", "one\ntwo\n")
    model = script(
        terminal,
        {"text": "# Reading\n\nI look at **a.txt**.", **call("Read", file_path="a.txt")},
        {"text": "It has *two* lines, 高度以米为单位。"},
        {"text": "Again."},
    )
    screen = chat("--model", model)
    screen.wait_for("/help shows more.", "0 tokens in, 0 out")
    screen.type("how many lines has a.txt? 有几行？", "Enter")
    shown = screen.wait_for("It has two lines, 高度以米为单位。", "tokens in")
    lines = [line for line in shown.splitlines() if line.strip()]
    assert "› how many lines has a.txt? 有几行？" in lines
    assert "Reading" in lines
    assert "pydantic" not in shown, "no library talks into the conversation"
    assert "I look at a.txt." in lines
    assert "· Read a.txt — 2 lines" in lines
    screen.press("C-o")
    screen.wait_for("file_path: a.txt", "· Read a.txt\n")
    screen.press("C-d")
    assert screen.wait_for_end() == 0
    kept = screen.wait_for("The session is kept: prowess chat --resume ")
    id = kept.split("--resume ")[1].split()[0]
    screen.close()

    again = chat("--model", model, "--resume", id)
    again.wait_for(
        f"Continuing after 1 turn of the session {id}.",
        "› how many lines has a.txt? 有几行？",
        "It has two lines, 高度以米为单位。",
    )
    # What was typed is in the history of this user alone.
    again.press("Up")
    again.wait_for("› how many lines has a.txt? 有几行？")
    again.press("C-c", "C-c", "C-c")
    assert again.wait_for_end() == 0
    history = terminal.home / ".local/state/prowess/chat-history.jsonl"
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_sub_agent_in_the_background_goes_on_when_the_chat_is_left(terminal, chat):
    fields = {"context": "fork", "background": "true", "description": "Finds."}
    terminal.skill("project/.agents/skills/apart", body="Find it.\n", **fields)
    model = script(
        terminal,
        call("skill", name="apart"),
        {**call("Bash", command="touch found"), "agent": "apart"},
        {"text": "Found it.", "agent": "apart"},
        {"text": "I go on."},
    )
    screen = chat("--model", model)
    screen.wait_for("/help shows more.")
    screen.type("find it", "Enter")
    # What the job asks is asked here, as long as somebody is here.
    screen.wait_for("I go on.", "touch found", "Allow? y: once")
    screen.type("/quit", "Enter")
    assert screen.wait_for_end() == 0
    shown = screen.wait_for("“apart” is still running: prowess jobs show ", "The session is kept: ")
    job = shown.split("prowess jobs show ")[1].split()[0]
    session = shown.split("--resume ")[1].split()[0]
    screen.close()
    assert terminal.json("jobs", "show", job)["state"] == "waiting"
    assert terminal.run("jobs", "approve", job).code == 0
    assert terminal.run("jobs", "show", job, "--follow").code == 0
    assert (terminal.project / "found").exists()

    again = {"text": "It is found.", "expect": ["Found it.\n</task_report>"]}
    screen = chat("--model", script(terminal, again), "--resume", session)
    screen.wait_for("/help shows more.")
    screen.type("and?", "Enter")
    screen.wait_for("It is found.")
    screen.press("C-d")
    assert screen.wait_for_end() == 0
    assert "still running: prowess" not in screen.wait_for("The session is kept: ")


def test_what_is_typed_is_shown_once_and_a_missing_file_is_reported(terminal, chat):
    answers = ({"text": "Answer 1."}, {"text": "The user greeted.", "agent": "compaction"})
    screen = chat("--model", script(terminal, *answers))
    screen.wait_for("/help shows more.")
    screen.type("看@gone.txt，谢谢", "Enter")
    shown = screen.wait_for("Answer 1.")
    echoed = "› 看@gone.txt，谢谢"
    note = "There is no file “gone.txt”; “@gone.txt” is sent as text."
    assert [line for line in shown.splitlines() if "gone" in line] == [echoed, note]
    screen.wait_until_gone("Working…")
    screen.type("/compact keep names", "Enter")
    shown = screen.wait_for("summary")
    assert shown.count("/compact keep names") == 1
    screen.type("/context", "Enter")
    shown = screen.wait_for("TOKENS  WHAT")
    assert shown.count("› /context") == 1


def test_commands_skills_and_files_are_completed(terminal, chat):
    terminal.write("project/notes/tide table.md", "x\n")
    terminal.skill("project/.agents/skills/tides", description="Reads tide tables.")
    model = script(terminal, {"text": "Done.", "expect": ["Reads tides.", 'path="notes/tide']})
    terminal.write("project/.agents/skills/tides/SKILL.md", SKILL)
    screen = chat("--model", model)
    screen.wait_for("/help shows more.")
    screen.type("/perm")
    screen.wait_for("/permissions  Show the rules, or add one for this chat.")
    screen.press("Tab", "Enter", "Enter")
    screen.wait_for("No rules.")
    screen.type("/ti")
    screen.wait_for("/tides", "Reads tide tables.")
    screen.press("Tab", "Enter")
    screen.type(" @tide")
    screen.wait_for("notes/tide table.md")
    screen.press("Tab")
    screen.wait_for('/tides @"notes/tide table.md"')
    screen.press("Enter", "Enter")
    screen.wait_for("+ skill tides", "Done.", "skill: tides")


SKILL = """\
---
name: tides
description: Reads tide tables.
---
Reads tides.
"""


LONG = f"printf once >> log && true {'long-' * 9} && true"


def test_approvals_show_the_exact_command_or_change(terminal, chat):
    terminal.write("project/a.txt", "one\ntwo\n")
    model = script(
        terminal,
        call("Edit", file_path="a.txt", old_string="two", new_string="2"),
        call("Bash", command=LONG),
        call("Bash", command="printf always >> log"),
        call("Bash", command="printf always >> log"),
        call("Bash", command="rm a.txt"),
        {"text": "I did what I may.", "expect": ["keep that file"]},
    )
    screen = chat("--model", model)
    screen.wait_for("/help shows more.")
    screen.type("go", "Enter")
    screen.wait_for("-two", "+2", "Allow? y: yes · n: no · or type what to do instead")
    # A change of a file is never allowed for good.
    screen.type("a", "Enter")
    screen.wait_for("Each change to a file needs its own answer: y or n.")
    screen.press("C-u")
    screen.type("y", "Enter")
    # A long command is indented in all its lines.
    screen.wait_for("Changed a.txt.", "    printf once >> log", "&&\n    true\n", "y: once")
    # Nothing happens by an empty line.
    screen.press("Enter")
    screen.type("y", "Enter")
    screen.wait_for("    printf always >> log", "Allow?")
    screen.type("a", "Enter")
    screen.wait_for("Allowed always.", "    rm a.txt", "Allow?")
    screen.type("keep that file", "Enter")
    screen.wait_for("Not allowed. keep that file", "I did what I may.")
    assert (terminal.root / "project/a.txt").read_text() == "one\n2\n"
    assert (terminal.root / "project/log").read_text() == "oncealwaysalways"


@pytest.mark.seed("P-44", "P-45", "P-46", "P-47", "P-48")
def test_keys_steer_and_follow_up_while_the_model_works_and_send_when_it_does_not(terminal, chat):
    folder = terminal.root / "project/.omp/skills/greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: greet\ndescription: Greets.\ndelivery: follow-up\n---\nGreet whom I name.\n"
    )
    find = tool_call("Glob", '{"pattern": "*.md"}')
    first = Gate([*words("I begin")], [*words(" now."), *find, *ending("tool_calls")])
    second = Gate([*words("Turning")], [*words("."), *ending()])
    with ask_server(first, second, stream([*words("Gone home."), *ending()])) as (url, asked):
        screen = chat(*MODEL, "--host", "omp@documented", OPENAI_BASE_URL=url, **SERVER)
        screen.wait_for("/help shows more.")
        # Idle, the key for follow-ups sends, too.
        screen.type("begin", "C-s")
        screen.wait_for("I begin", "Working…")
        screen.type("then go home", "C-s")
        screen.wait_for("› then go home (afterwards)")
        screen.type("/skill:greet Ada", "Enter")
        screen.wait_for("› /skill:greet Ada (next step)")
        first.open()
        screen.wait_for("I begin now.", "Turning")
        screen.type("turn left", "Enter")
        screen.wait_for("› turn left (next step)")
        second.open()
        screen.wait_for("Gone home.")
        screen.wait_until_gone("Working…")
        typed = [_list_typed(one) for one in asked]
    assert [len(one) for one in typed] == [1, 2, 4], typed
    assert typed[0] == ["begin"]
    assert "Greet whom I name." in typed[1][1]
    assert "Ada" in typed[1][1]
    assert typed[2][2:] == ["turn left", "then go home"]


def _list_typed(request: dict[str, Any]) -> list[str]:
    """What the user typed, as a request has it; reminders about skills are left out."""
    texts = [one["content"] for one in request["messages"] if one["role"] == "user"]
    return [text for text in texts if isinstance(text, str)]


def test_escape_interrupts_and_what_was_not_delivered_comes_back(terminal, chat):
    never = Gate([*words("I begin")], [])
    with ask_server(never, stream([*words("Fine."), *ending()])) as (url, asked):
        screen = chat(*MODEL, OPENAI_BASE_URL=url, **SERVER)
        screen.wait_for("/help shows more.")
        screen.type("begin", "Enter")
        screen.wait_for("I begin", "Working…")
        screen.type("one more thing", "Enter")
        screen.wait_for("› one more thing (next step)")
        screen.type("half a thou")
        screen.wait_for("half a thou")
        screen.press("Escape")
        shown = screen.wait_for("Interrupted: the user stopped it.", "  half a thou")
        assert "› one more thing\n  half a thou" in shown
        assert "I begin" in shown
        never.open()
        screen.press("C-u", "BSpace", "Enter")
        screen.wait_for("Fine.")
    assert _list_typed(asked[1])[-1] == "one more thing"


@pytest.mark.seed("C-137", "C-138", "W-02")
def test_skills_are_listed_filtered_switched_and_live(terminal, chat):
    for name, text in (("tides", "Reads tide tables."), ("ports", "Knows harbours.")):
        terminal.skill(f"project/.claude/skills/{name}", description=text)
    model = script(
        terminal,
        {"text": "First.", "expect": ["Knows harbours."]},
        {"text": "Second.", "expect": ["Came late."]},
    )
    screen = chat("--model", model, "--host", "claude-code@documented")
    screen.wait_for("/help shows more.")
    screen.type("hello", "Enter")
    screen.wait_for("First.")
    screen.type("/skills", "Enter")
    shown = screen.wait_for("Filter:", "tides", "ports", "Esc leave")
    # The chosen one with everything about it.
    assert "Knows harbours." in shown
    assert "ready\nproject · " in shown
    screen.type("tide")
    screen.wait_until_gone("Knows harbours.")
    screen.press("Right", "Right")
    screen.wait_for("*user-only", "1 changed")
    screen.press("Enter")
    screen.wait_for("“tides” is user-only, in .claude/settings.local.json.")
    settings = json.loads((terminal.root / "project/.claude/settings.local.json").read_text())
    assert settings == {"skillOverrides": {"tides": "user-invocable-only"}}
    # A skill that is new on disk is there in the next turn.
    terminal.skill("project/.claude/skills/late", description="Came late.")
    screen.type("hello again", "Enter")
    screen.wait_for("Second.")
    screen.type("/lat")
    screen.wait_for("Came late.")


def test_without_colour_nothing_is_coloured(terminal, chat):
    terminal.write("project/a.txt", "one\n")
    model = script(
        terminal,
        {"text": "# Title\n\n`code`", **call("Read", file_path="a.txt")},
        {"text": "Done."},
    )
    screen = chat("--model", model, NO_COLOR="1")
    screen.wait_for("/help shows more.")
    screen.type("go", "Enter")
    screen.wait_for("Done.")
    screen.type("/")
    screen.wait_for("/skills")
    codes = screen.capture(colours=True)
    found = [code.partition("m")[0] for code in codes.split("\x1b[")[1:]]
    styles = {part for code in found for part in code.split(";") if part}
    # Bold, dim, italic, underlined, reversed, and the ends of those.
    assert styles <= {"0", "1", "2", "3", "4", "7", "22", "23", "24", "27", "39", "49"}


def test_a_dumb_terminal_gets_plain_lines(terminal, chat):
    model = script(terminal, call("Bash", command="echo hi"), {"text": "**Done**."})
    screen = chat("--model", model, TERM="dumb")
    screen.wait_for(">")
    screen.type("go", "Enter")
    screen.wait_for("Allow once, always, or reject?")
    screen.type("o", "Enter")
    shown = screen.wait_for("**Done**.", "(2 requests")
    assert shlex.split(shown.splitlines()[0]) == [">", "go"]
    screen.press("C-d")
    assert screen.wait_for_end() == 0


def test_a_request_to_end_leaves_the_terminal_as_it_was(terminal, chat):
    never = Gate([*words("I begin")], [])
    with ask_server(never) as (url, _):
        # By this word the process is found again.
        mark = f"--deny=Bash({MARK})"
        screen = chat(*MODEL, mark, OPENAI_BASE_URL=url, **SERVER)
        screen.wait_for("/help shows more.")
        screen.type("begin", "Enter")
        screen.wait_for("I begin", "Working…")
        process = find_running(mark)[-1]
        os.kill(int(process), signal.SIGTERM)
        assert screen.wait_for_end() == 143
        never.open()
        # What is typed is echoed again.
        screen.type("echo", "Enter")
        screen.wait_for("echo\necho\n")
