"""The lists of the page on precedence are in the order in which each host decides."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from prowess import State
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "concepts" / "precedence.md"
HOSTS = {
    "Prowess": "prowess",
    "Claude Code": "claude-code",
    "opencode": "opencode",
    "OpenClaw": "openclaw",
    "oh-my-pi": "omp",
    "Gemini CLI": "gemini",
    "GitHub Copilot CLI": "copilot",
    "pi": "pi",
    "Qwen Code": "qwen",
    "The standard": "spec",
}
# Where the folders of the page lie on the made-up machine, whose working folder is a part of a
# repository.
PLACES = {
    "~/": "home/",
    "/etc/prowess/": "managed/",
    "/etc/claude-code/": "managed/",
    "../": "project/",
}


def list_folders(title: str) -> list[str]:
    """The folders of a host's list, strongest first; what stands behind a semicolon needs a switch."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    items = re.findall(r"^\d+\. (.*(?:\n   .*)*)", section, re.MULTILINE)
    return [
        path
        for item in items
        for path in re.findall(r"`([~./\w-]*(?:skills?|commands))`", item.partition(";")[0])
    ]


def locate(folder: str) -> str:
    start = next((start for start in PLACES if folder.startswith(start)), "")
    return PLACES.get(start, "project/part/") + folder.removeprefix(start)


def pairs() -> list[tuple[str, str, str]]:
    lists = {title: list_folders(title) for title in HOSTS}
    return [(title, *pair) for title, folders in lists.items() for pair in pairwise(folders)]


@pytest.mark.parametrize(("title", "stronger", "weaker"), pairs())
def test_of_two_neighbours_in_a_list_the_first_wins(workspace, title, stronger, weaker):
    workspace.git()
    (workspace.project / "part").mkdir()
    files = {}
    for folder in (weaker, stronger):
        path = (
            f"{locate(folder)}/pdf.md"
            if folder.endswith("commands")
            else f"{locate(folder)}/pdf/SKILL.md"
        )
        workspace.write(path, "---\nname: pdf\ndescription: Reads PDF files.\n---\nText\n")
        files[folder] = path
    env = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    ends = workspace.ends(workspace.scan(HOSTS[title], cwd="project/part", env=env))
    assert ends == {files[stronger]: State.READY.value, files[weaker]: State.SHADOWED.value}


def test_every_host_that_chooses_has_a_list():
    assert {title: len(list_folders(title)) for title in HOSTS} == {
        "Prowess": 35,
        "Claude Code": 6,
        "opencode": 10,
        "OpenClaw": 4,
        "oh-my-pi": 12,
        "Gemini CLI": 4,
        "GitHub Copilot CLI": 8,
        "pi": 5,
        "Qwen Code": 4,
        "The standard": 3,
    }
