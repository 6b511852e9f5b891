"""The memories of agents: short Markdown files in the home of their user."""

from __future__ import annotations

import os
import re
from itertools import count

import msgspec

from prowess.model.facts import Facts
from prowess.state.edited_files import load_text

FOLDERS = (".prowess/memories", ".claude/memories")
"""Where memories are, below the home folder. New ones go into the first."""

_MOST_MEMORIES = 500
_MOST_NAME = 50


class Memory(msgspec.Struct, frozen=True):
    """One memory: its file, and its text."""

    path: str
    text: str


def choose_memory_file(facts: Facts, title: str) -> str:
    """The file for a new memory, named after its title; no such file exists yet."""
    folder = os.path.join(facts.home, *FOLDERS[0].split("/"))
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_MOST_NAME].rstrip("-")
    name = words or "memory"
    taken = set(_list_names(folder))
    numbers = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return os.path.join(folder, next(f"{one}.md" for one in numbers if f"{one}.md" not in taken))


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
