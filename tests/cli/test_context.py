"""`prowess context`: the context files that hold here, farthest first."""

from __future__ import annotations

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    terminal.write("project/AGENTS.md", "# Outer\n")
    terminal.write("project/deep/down/CLAUDE.md", "# Inner\n")
    monkeypatch.chdir(terminal.project / "deep/down")
    return terminal


def test_context_files_are_listed_farthest_first_with_depth_and_size(terminal):
    outer = terminal.path("project/AGENTS.md")
    assert terminal.run("context") == (
        0,
        "DEPTH  CHARACTERS  FILE\n"
        f"2      8           {outer}\n"
        "0      8           CLAUDE.md\n"
        "\n"
        "2 files, about 5 tokens (an estimate), farthest first. --text prints them as one text.\n",
        "",
    )


def test_text_prints_them_as_one(terminal):
    assert terminal.run("context", "--text") == (0, "# Outer\n\n# Inner\n", "")


def test_json_has_every_file(terminal):
    assert terminal.json("context") == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": terminal.path("project/deep/down"),
        "files": [
            {
                "path": terminal.path("project/AGENTS.md"),
                "depth": 2,
                "characters": 8,
                "estimated_tokens": 2,
            },
            {
                "path": terminal.path("project/deep/down/CLAUDE.md"),
                "depth": 0,
                "characters": 8,
                "estimated_tokens": 2,
            },
        ],
        "diagnostics": [],
    }


def test_each_host_has_its_own_context_files(terminal):
    paths = [file["path"] for file in terminal.json("context", "--host", "claude-code")["files"]]
    assert paths == [terminal.path("project/deep/down/CLAUDE.md")]


def test_where_there_are_none_it_says_what_was_looked_for(terminal):
    for path in ("project/AGENTS.md", "project/deep/down/CLAUDE.md"):
        (terminal.root / path).unlink()
    place, top = terminal.path("project/deep/down"), terminal.path("project")
    assert terminal.run("context") == (
        0,
        f"No context file applies here: there is no AGENTS.md or CLAUDE.md in {place} or above it, up to {top}.\n",
        "",
    )
    assert terminal.run("context", "--host", "openclaw").out == (
        f"No context file applies here: there is no AGENTS.md in {place}.\n"
    )
    assert terminal.run("context", "--text") == (0, "", "")


def test_without_a_repository_one_looks_up_to_home(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.write("home/a/b/note.txt", "")
    monkeypatch.chdir(terminal.home / "a/b")
    said = "No context file applies here: there is no AGENTS.md or CLAUDE.md in ~/a/b or above it, up to ~.\n"
    assert terminal.run("context") == (0, said, "")
    for place in ("home/AGENTS.md", "home/a/AGENTS.md", "home/a/CLAUDE.md", "AGENTS.md"):
        terminal.write(place, "# Text\n")
    paths = [(file["path"], file["depth"]) for file in terminal.json("context")["files"]]
    assert paths == [
        (terminal.path("home/AGENTS.md"), 2),
        (terminal.path("home/a/AGENTS.md"), 1),
        (terminal.path("home/a/CLAUDE.md"), 1),
    ]


def test_a_hidden_folder_that_was_left_out_is_told(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.write("home/.hidden/b/AGENTS.md", "# Text\n")
    monkeypatch.chdir(terminal.home / ".hidden/b")
    assert terminal.run("context").out == (
        "No context file applies here: there is no AGENTS.md or CLAUDE.md in ~. Hidden folders are not searched.\n"
    )
