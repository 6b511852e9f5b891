"""The memories of agents: short Markdown files in the home of their user."""

from __future__ import annotations

import os

import msgspec

from prowess.machine.tree_files import list_entries
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
    """Every memory, those of Prowess first, each folder by name.

    A link is left out: what it leads to is not a memory that could be deleted. Raises `UsageError`,
    `MachineError`.
    """
    memories = []
    for folder in FOLDERS:
        place = os.path.join(facts.home, *folder.split("/"))
        for path in _list_files(place):
            # None where another agent has deleted it since the folder was listed.
            text = load_text(path) or ""
            if text.strip():
                memories.append(Memory(path, text))
    return tuple(memories[:_MOST_MEMORIES])


def _list_files(folder: str) -> list[str]:
    # Most users have no memories.
    plain = [entry for entry in list_entries(folder) if entry.is_file(follow_symlinks=False)]
    return [entry.path for entry in plain if entry.name.endswith(".md")]
