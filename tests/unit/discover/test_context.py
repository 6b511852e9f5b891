"""Context files: which are read, each real file once, and what is said of those that are not."""

from __future__ import annotations

import os

import pytest

from prowess.discover.context import ContextFiles, find_context_files
from prowess.profiles.load import load_profile
from prowess.profiles.places import Places
from prowess.profiles.schema import Context
from prowess.testing import MemoryFiles
from tests.workspace import Workspace

RULES = load_profile("prowess").context


def find(files: MemoryFiles, cwd: str = "/p", rules: Context = RULES) -> ContextFiles:
    places = Places(cwd=cwd, home="/home/me", platform="linux", repository="/p")
    return find_context_files(rules, places, files)


def said(found: ContextFiles) -> list[tuple[str, str | None, str]]:
    return [(finding.code, finding.file, finding.severity.value) for finding in found.diagnostics]


@pytest.mark.parametrize(
    ("files", "links"),
    [
        ({"/p/CLAUDE.md": "text"}, {"/p/AGENTS.md": "/p/CLAUDE.md"}),
        ({"/p/AGENTS.md": "text"}, {"/p/CLAUDE.md": "/p/AGENTS.md"}),
    ],
)
def test_two_names_of_one_file_count_once(files: dict[str, str], links: dict[str, str]) -> None:
    found = find(MemoryFiles(files, links))
    assert [(file.path, file.text, file.depth) for file in found.files] == [("/p/AGENTS.md", "text", 0)]
    assert (found.text, found.diagnostics) == ("text", ())


def test_one_file_met_at_two_depths_counts_where_it_is_nearest() -> None:
    found = find(MemoryFiles({"/p/AGENTS.md": "text"}, {"/p/a/AGENTS.md": "/p/AGENTS.md"}), "/p/a")
    assert [(file.path, file.depth) for file in found.files] == [("/p/a/AGENTS.md", 0)]


def test_two_files_that_say_the_same_are_two() -> None:
    found = find(MemoryFiles({"/p/AGENTS.md": "text", "/p/CLAUDE.md": "text"}))
    assert [file.path for file in found.files] == ["/p/AGENTS.md", "/p/CLAUDE.md"]


def test_a_pipe_and_a_folder_of_that_name_are_told(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "project/AGENTS.md")
    workspace.write("project/CLAUDE.md/inner.md", "text")
    found = workspace.open().context_files()
    assert [(finding.code, workspace.relative(finding.file), finding.message) for finding in found.diagnostics] == [
        (
            "not-a-file",
            "project/AGENTS.md",
            "It has the name of a context file and is a pipe, a socket or a device; only an ordinary file is read.",
        ),
        (
            "not-a-file",
            "project/CLAUDE.md",
            "It has the name of a context file and is a folder; only an ordinary file is read.",
        ),
    ]
    assert (found.files, {finding.severity.value for finding in found.diagnostics}) == ((), {"warning"})


def test_a_file_beyond_the_depth_is_told_and_not_read() -> None:
    files = MemoryFiles({"/p/AGENTS.md": "far", "/p/a/AGENTS.md": "near", "/p/a/b/x": ""})
    found = find(files, "/p/a/b", Context(depth=2, up_to="repository"))
    assert [file.text for file in found.files] == ["near"]
    assert said(found) == [("limit-reached", "/p/AGENTS.md", "warning")]
    message = "The file lies 2 folders above the working folder; 2 folders are looked at."
    assert found.diagnostics[0].message == message


def test_what_lies_in_a_hidden_folder_is_left_out_without_a_word() -> None:
    files = MemoryFiles({"/p/.hidden/AGENTS.md": "hidden", "/p/AGENTS.md": "seen"})
    found = find(files, "/p/.hidden")
    assert ([file.text for file in found.files], found.diagnostics) == (["seen"], ())
