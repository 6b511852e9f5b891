"""Tools for memories: `remember` lists and sorts them, and a model can save new ones."""

from __future__ import annotations

import posixpath

from prowess.agent.shipped.changes import plan_edits, plan_reading
from prowess.agent.shipped.remember import TARGETS, SortedMemory, plan_memories
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.errors import UsageError
from prowess.runtime import Skills
from prowess.state.edited_files import FileEdit, load_text
from prowess.state.memories import (
    FOLDERS,
    choose_memory_file,
    load_memories,
    normalize_memory,
)

_MOST_CHARACTERS = 2_000


class MemoryTools:
    """The tools of `remember`, and the one of the feature `memory`."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def list_memories(self) -> Plan:
        """List every memory, with its file and its text."""

        def run(is_cancelled: IsCancelled) -> str:
            memories = load_memories(self._skills.facts)
            if not memories:
                return f"There are no memories in ~/{' or ~/'.join(FOLDERS)}."
            return "\n\n".join(f"{one.path}\n{one.text.strip()}" for one in memories)

        return plan_reading("List memories", run)

    def sort_memories(self, memories: list[SortedMemory]) -> Plan:
        """Keep, delete or promote memories. Every memory must be in the list.

        Args:
            memories: For each its file, the verdict, the reason, and for a promoted one the kind.
        """
        project = self._skills.snapshot.repository or self._skills.cwd
        targets = {name: load_text(posixpath.join(project, name)) for name in TARGETS.values()}
        plan = plan_memories(
            load_memories(self._skills.facts), memories, project=project, targets=targets
        )
        done = f"{len(plan.edits)} files changed or removed, {len(plan.kept)} memories kept."
        return plan_edits(self._skills, "Sort memories", plan.edits, done)

    def save_memory(self, title: str, text: str) -> Plan:
        """Remember something for later sessions.

        Use it for what the user told you and would have to tell you again: a preference, a
        decision, a command that works. Not for what the project's files say, and never for secrets.

        Args:
            title: A few words, which become the name of the file.
            text: What to remember, in a sentence or two that are clear without this session.
        """
        said = text.strip()
        if not 0 < len(said) <= _MOST_CHARACTERS:
            raise UsageError(f"A memory has 1 to {_MOST_CHARACTERS:,} characters.")
        # A model forgets what it saved in another session, and would save it again.
        wanted = normalize_memory(said)
        for memory in load_memories(self._skills.facts):
            if normalize_memory(memory.text) == wanted:
                raise UsageError(f"{memory.path} already says that.")
        edit = FileEdit(choose_memory_file(self._skills.facts, title), None, f"{said}\n")
        return plan_edits(self._skills, "Save memory", (edit,), f"Saved in {edit.path}.")
