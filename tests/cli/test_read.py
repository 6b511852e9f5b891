"""`prowess read`: what a skill:// address stands for, to the letter."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.keyboard import Keyboard
from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    terminal.skill("project/.agents/skills/pdf", body="Text\n")
    return terminal


def test_a_name_is_its_skill_file_with_the_header(terminal):
    text = "---\nname: pdf\ndescription: d\n---\nText\n"
    assert terminal.run("read", "skill://pdf") == (0, text, "")


@pytest.mark.parametrize(
    "content", [b"no line end", b"one\ntwo\n", b"", b"\r\n crlf \r\n", "Umlaut ä 天気".encode()]
)
def test_a_file_is_printed_byte_by_byte(terminal, content):
    terminal.write("project/.agents/skills/pdf/a b.txt", content)
    done = subprocess.run(
        [sys.executable, "-m", "prowess", "read", "skill://pdf/a%20b.txt"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (content, b"")


def test_a_byte_order_mark_is_left_out(terminal):
    terminal.write("project/.agents/skills/pdf/marked.md", b"\xef\xbb\xbfText \xef\xbb\xbf\n")
    argv = [sys.executable, "-m", "prowess", "read", "skill://pdf/marked.md"]
    assert subprocess.run(argv, capture_output=True, check=True).stdout == b"Text \xef\xbb\xbf\n"


def test_json_has_what_is_known_of_it(terminal):
    file = terminal.write("project/.agents/skills/pdf/notes.md", "ä\n")
    assert terminal.json("read", "skill://pdf/notes.md") == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "url": "skill://pdf/notes.md",
        "content": "ä\n",
        "content_type": "text/markdown",
        "path": str(file),
        "size": 3,
        "is_folder": False,
    }


def test_a_folder_is_listed_and_lines_can_be_asked_for(terminal):
    terminal.write(
        "project/.agents/skills/pdf/docs/b.md",
        "".join(f"line {number}\n" for number in range(1, 51)),
    )
    terminal.write("project/.agents/skills/pdf/docs/c/d.md")
    assert terminal.run("read", "skill://pdf/docs") == (0, "c/\nb.md", "")
    assert terminal.json("read", "skill://pdf/docs/")["is_folder"] is True
    assert "line 20\n" in terminal.run("read", "skill://pdf/docs/b.md:20-21").out


@pytest.mark.parametrize(
    ("url", "code", "kind"),
    [
        ("skill://pfd", 3, "unknown-skill"),
        ("skill://pdf/missing.md", 2, "missing"),
        ("skill://pdf/../x", 2, "outside"),
        ("skill://pdf/%2e%2e/x", 2, "outside"),
        ("skill://pdf/%2Fetc/passwd", 2, "absolute"),
        ("skill://pdf/link", 2, "outside"),
        ("pdf/SKILL.md", 2, "malformed"),
        ("skill://", 2, "no-name"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_no_place_on_the_machine_is_told(
    terminal, url, code, kind
):
    terminal.link("project/.agents/skills/pdf/link", "/etc/passwd")
    answer = terminal.run("read", url)
    assert (answer.code, answer.out, answer.err.startswith("prowess: ")) == (code, "", True)
    assert terminal.path("") not in answer.err
    told = terminal.run("read", url, "--json")
    assert (told.code, json.loads(told.out)["error"]["kind"], told.err) == (code, kind, answer.err)
    assert terminal.path("") not in told.out


def test_on_a_terminal_control_characters_are_spelled_out(terminal):
    terminal.write("project/.agents/skills/pdf/evil.txt", "a\x1b[2Jb\u202e\tc")
    keyboard = Keyboard("read", "skill://pdf/evil.txt")
    assert keyboard.end() == (0, "")
    assert keyboard.text == "a\\x1b[2Jb\\u202e\tc\n"
    assert terminal.run("read", "skill://pdf/evil.txt").out == "a\x1b[2Jb\u202e\tc"


@pytest.mark.parametrize(
    ("begun", "offered"),
    [
        ("", "skill://pdf"),
        ("skill", "skill://pdf"),
        ("skill://p", "skill://pdf"),
        ("//p", "//pdf"),
        ("x", ""),
    ],
)
def test_addresses_are_completed_also_behind_a_colon_that_breaks_words(terminal, begun, offered):
    variables = {
        "_PROWESS_COMPLETE": "bash_complete",
        "COMP_WORDS": f"prowess read {begun}",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "prowess"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == (f"plain,{offered}\n" if offered else "\n")
