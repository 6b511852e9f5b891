"""Tools for memories: list, sort and save them."""

from __future__ import annotations

import posixpath

from prowess.agent.shipped.changes import plan_edits, plan_reading
from prowess.agent.shipped.remember import TARGETS, SortedMemory, plan_memories
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.runtime import Skills
from prowess.state.edited_files import load_text
from prowess.state.memories import FOLDERS, load_memories


class MemoryTools:
    """The tools of `remember`."""

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
