"""The memories of agents: short Markdown files in the home of their user."""

from __future__ import annotations

import os

import msgspec

from prowess.model.facts import Facts
from prowess.state.edited_files import load_text
from prowess.state.own_documents import choose_document_path

FOLDERS = (".prowess/memories", ".claude/memories")
"""Where memories are, below the home folder. New ones go into the first."""

_MOST_MEMORIES = 500


class Memory(msgspec.Struct, frozen=True):
    """One memory: its file, and its text."""

    path: str
    text: str


def choose_memory_file(facts: Facts, title: str) -> str:
    """The file for a new memory, named after its title; no such file exists yet."""
    return choose_document_path(facts, FOLDERS[0], title, default="memory")


def normalize_memory(text: str) -> str:
    """What a memory says, apart from white space and case."""
    return " ".join(text.casefold().split())


def load_memories(facts: Facts) -> tuple[Memory, ...]:
    """Every memory, those of Prowess first, each folder by name. Raises `UsageError`.

    A link is left out: what it leads to is not a memory that could be deleted.
    """
    found = []
    for folder in FOLDERS:
        place = os.path.join(facts.home, *folder.split("/"))
        for name in _list_names(place):
            text = load_text(os.path.join(place, name))
            if text is not None and text.strip():
                found.append(Memory(os.path.join(place, name), text))
    return tuple(found[:_MOST_MEMORIES])


def _list_names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as items:
            return sorted(
                item.name
                for item in items
                if item.name.endswith(".md") and item.is_file(follow_symlinks=False)
            )
    except (FileNotFoundError, NotADirectoryError):
        return []
