"""`/remember`: memories are kept, deleted, or promoted to the files that every session reads.

The model sorts them. What comes of it is planned here, shown, and carried out after approval.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from prowess.errors import UsageError
from prowess.state.edited_files import FileEdit
from prowess.state.memories import Memory, normalize_memory

Verdict = Literal["keep", "delete", "promote"]
Kind = Literal["project", "claude", "personal"]

# Where a promoted memory goes, by its kind: for every agent in the project, for Claude Code there,
# or for this user alone.
TARGETS: dict[Kind, str] = {
    "project": "AGENTS.md",
    "claude": "CLAUDE.md",
    "personal": "CLAUDE.local.md",
}
HEADING = "## Remembered"


@dataclass(frozen=True)
class SortedMemory:
    """What the model decided about one memory.

    A promoted memory has a `kind`; `text` is what to write, if that is not the memory itself.
    """

    file: str
    verdict: Verdict
    reason: str = ""
    kind: Kind | None = None
    text: str | None = None


class MemoryPlan(msgspec.Struct, frozen=True):
    """The changes in the order in which they are made: promotions, deletions, duplicates last."""

    edits: tuple[FileEdit, ...]
    kept: tuple[str, ...]


def plan_memories(
    memories: Sequence[Memory],
    decisions: Iterable[SortedMemory],
    *,
    project: str,
    targets: dict[str, str | None],
) -> MemoryPlan:
    """What to do about all memories. Raises `UsageError` where one is missing or unknown.

    `targets` has the text of every file that memories are promoted to, by its name in `project`.
    """
    decided = _match(memories, decisions)
    duplicates = _find_duplicates(memories)
    promoted = dict(targets)
    removed: list[Memory] = []
    kept: list[str] = []
    for memory in memories:
        if memory.path in duplicates:
            # The first of them decides about all.
            continue
        decision = decided[memory.path]
        if decision.verdict == "keep":
            kept.append(memory.path)
            continue
        removed.append(memory)
        if decision.verdict == "promote":
            name = _get_target(decision)
            promoted[name] = add_memory(promoted.get(name), decision.text or memory.text)
    removed += [memory for memory in memories if memory.path in duplicates]
    # A memory is deleted only after it is in the file that it was promoted to.
    edits = [
        FileEdit(posixpath.join(project, name), targets.get(name), text)
        for name, text in promoted.items()
        if text != targets.get(name)
    ]
    edits += [FileEdit(memory.path, memory.text, None) for memory in removed]
    return MemoryPlan(tuple(edits), tuple(kept))


def _get_target(decision: SortedMemory) -> str:
    """The file that a memory is promoted to. Raises `UsageError`."""
    if decision.kind is None:
        kinds = ", ".join(TARGETS)
        raise UsageError(f"{decision.file} cannot be promoted without a kind: one of {kinds}.")
    return TARGETS[decision.kind]


def add_memory(text: str | None, memory: str) -> str:
    """A file with a memory as one more entry of its section; unchanged if it has that entry."""
    entry = f"- {' '.join(memory.split())}"
    text = text or ""
    if entry in text.splitlines():
        return text
    if HEADING not in text.splitlines():
        return f"{text.rstrip()}\n\n{HEADING}\n\n{entry}\n".lstrip("\n")
    lines = text.splitlines()
    # After the last entry of the section, which ends at the next heading.
    start = lines.index(HEADING) + 1
    end = next((at for at in range(start, len(lines)) if lines[at].startswith("#")), len(lines))
    while end > start and not lines[end - 1].strip():
        end -= 1
    before = [""] if end == start else []
    lines[end:end] = [*before, entry]
    return "\n".join(lines) + "\n"


def _match(
    memories: Sequence[Memory], decisions: Iterable[SortedMemory]
) -> dict[str, SortedMemory]:
    known = {memory.path for memory in memories}
    decided: dict[str, SortedMemory] = {}
    for decision in decisions:
        if decision.file not in known:
            raise UsageError(f"There is no memory {decision.file}.")
        if decision.file in decided:
            raise UsageError(f"{decision.file} was sorted twice.")
        decided[decision.file] = decision
    # A model that forgets one must not keep or delete it by that.
    missing = [memory.path for memory in memories if memory.path not in decided]
    if missing:
        raise UsageError(f"Not sorted yet: {', '.join(missing)}.")
    return decided


def _find_duplicates(memories: Sequence[Memory]) -> set[str]:
    """The memories that say the same as an earlier one, apart from white space and case."""
    seen: set[str] = set()
    duplicates = set()
    for memory in memories:
        said = normalize_memory(memory.text)
        if said in seen:
            duplicates.add(memory.path)
        seen.add(said)
    return duplicates
