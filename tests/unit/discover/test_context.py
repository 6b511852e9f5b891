"""Context files: which are read, each real file once, and what is said of those that are not."""

from __future__ import annotations

import os

import pytest

from prowess.discover.context import ContextFiles, find_context_files
from prowess.profiles.load import load_profile
from prowess.profiles.places import Places
from prowess.profiles.schema.roots import ContextRules
from prowess.testing import MemoryFiles
from tests.workspace import Workspace

RULES = load_profile("prowess").context


def find(files: MemoryFiles, cwd: str = "/p", rules: ContextRules = RULES) -> ContextFiles:
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
    assert [(file.path, file.text, file.depth) for file in found.files] == [
        ("/p/AGENTS.md", "text", 0)
    ]
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
    assert [
        (finding.code, workspace.relative(finding.file), finding.message)
        for finding in found.diagnostics
    ] == [
        (
            "not-a-file",
            "project/AGENTS.md",
            "It has the name of a context file but is a pipe, a socket or a device; it is not read.",
        ),
        (
            "not-a-file",
            "project/CLAUDE.md",
            "It has the name of a context file but is a folder; it is not read.",
        ),
    ]
    assert (found.files, {finding.severity.value for finding in found.diagnostics}) == (
        (),
        {"warning"},
    )


def test_a_file_beyond_the_depth_is_told_and_not_read() -> None:
    files = MemoryFiles({"/p/AGENTS.md": "far", "/p/a/AGENTS.md": "near", "/p/a/b/x": ""})
    found = find(files, "/p/a/b", ContextRules(depth=2, up_to="repository"))
    assert [file.text for file in found.files] == ["near"]
    assert said(found) == [("limit-reached", "/p/AGENTS.md", "warning")]
    message = "The file is 2 folders above the working folder; only 2 folders are searched."
    assert found.diagnostics[0].message == message


def test_what_lies_in_a_hidden_folder_is_left_out_without_a_word() -> None:
    files = MemoryFiles({"/p/.hidden/AGENTS.md": "hidden", "/p/AGENTS.md": "seen"})
    found = find(files, "/p/.hidden")
    assert ([file.text for file in found.files], found.diagnostics) == (["seen"], ())


def find_without_repository(files: MemoryFiles, cwd: str) -> ContextFiles:
    return find_context_files(RULES, Places(cwd=cwd, home="/home/me", platform="linux"), files)


def test_without_a_repository_one_looks_up_to_home_and_in_home_itself() -> None:
    files = {
        f"{folder}/AGENTS.md": folder
        for folder in ("/home/me/a/b", "/home/me/a", "/home/me", "/home", "")
    }
    found = find_without_repository(
        MemoryFiles({**files, "/home/me/a/CLAUDE.md": "beside"}), "/home/me/a/b"
    )
    assert [(file.text, file.depth) for file in found.files] == [
        ("/home/me", 2),
        ("/home/me/a", 1),
        ("beside", 1),
        ("/home/me/a/b", 0),
    ]
    assert found.looked_in == ("/home/me/a/b", "/home/me/a", "/home/me")


def test_without_a_repository_and_outside_of_home_one_looks_up_to_the_top() -> None:
    files = {f"{folder}/AGENTS.md": "text" for folder in ("/srv/a", "/srv", "")}
    found = find_without_repository(MemoryFiles(files), "/srv/a")
    assert [(file.path, file.depth) for file in found.files] == [
        ("/AGENTS.md", 2),
        ("/srv/AGENTS.md", 1),
        ("/srv/a/AGENTS.md", 0),
    ]
    assert found.looked_in == ("/srv/a", "/srv", "/")


def test_without_a_repository_at_most_twenty_folders_are_looked_in() -> None:
    cwd = "/home/me" + "/d" * 30
    found = find_without_repository(
        MemoryFiles({"/home/me/AGENTS.md": "far", f"{cwd}/AGENTS.md": "near"}), cwd
    )
    assert ([file.text for file in found.files], len(found.looked_in)) == (["near"], 20)
    assert said(found) == [("limit-reached", "/home/me/AGENTS.md", "warning")]


def test_a_link_that_leads_nowhere_or_round_in_a_circle_is_told(workspace: Workspace) -> None:
    workspace.link("project/AGENTS.md", "gone.md")
    workspace.link("project/CLAUDE.md", "CLAUDE.md")
    found = workspace.open().context_files()
    assert [
        (one.code, workspace.relative(one.file), one.message, one.severity.value)
        for one in found.diagnostics
    ] == [
        (
            "not-a-file",
            f"project/{name}",
            f"It is a broken link to “{target}”; it is not read.",
            "warning",
        )
        for name, target in (("AGENTS.md", "gone.md"), ("CLAUDE.md", "CLAUDE.md"))
    ]
    memory = find(
        MemoryFiles({"/p/x": ""}, {"/p/AGENTS.md": "gone", "/p/CLAUDE.md": "/p/CLAUDE.md"})
    )
    assert said(memory) == [
        ("not-a-file", f"/p/{name}", "warning") for name in ("AGENTS.md", "CLAUDE.md")
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_with_a_warning(encoding: str) -> None:
    found = find(MemoryFiles({"/p/AGENTS.md": "# Überall\n".encode(encoding)}))
    assert [file.text for file in found.files] == ["# Überall\n"]
    assert said(found) == [("utf16", "/p/AGENTS.md", "warning")]


def test_bytes_that_are_not_utf_8_are_replaced_with_a_warning() -> None:
    found = find(MemoryFiles({"/p/AGENTS.md": b"one\ntw\xff\n"}))
    assert [file.text for file in found.files] == ["one\ntw\ufffd\n"]
    assert [(one.code, one.file, one.line, one.message) for one in found.diagnostics] == [
        (
            "not-utf8",
            "/p/AGENTS.md",
            2,
            "Line 2 has bytes that are not UTF-8; they were replaced by U+FFFD.",
        )
    ]


def test_a_character_that_only_the_cut_parts_is_no_finding_of_its_own() -> None:
    found = find(MemoryFiles({"/p/AGENTS.md": b"a" + "ü".encode() * (1 << 20)}))
    assert (said(found), "\ufffd" in found.text) == (
        [("context-cut", "/p/AGENTS.md", "warning")],
        False,
    )
