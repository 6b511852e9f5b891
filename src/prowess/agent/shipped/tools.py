"""Tools of the skills that ship. A model has each while the skill that needs it is loaded."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from prowess.agent.shipped.remember import TARGETS, SortedMemory, plan_memories
from prowess.agent.tools.differences import render_difference
from prowess.agent.tools.plan import Access, IsCancelled, Plan
from prowess.errors import UsageError
from prowess.machine.atomic_write import write_folder_aside
from prowess.model.permission import Action
from prowess.reports.setting_plan import SettingValue, plan_setting
from prowess.reports.skill_folders import choose_project_folder, choose_user_folder
from prowess.reports.skill_template import check_name, render_skill
from prowess.runtime import Skills
from prowess.state.debug_log import LogFollower, start_debug_log
from prowess.state.edited_files import FileEdit, apply_edits, backup_folder, load_text
from prowess.state.memories import FOLDERS, load_memories

Whose = Literal["project", "user"]
_MOST_SECONDS = 120
_MOST_LOG = 50_000
_LOG_PAUSE = 0.2

# The skills with which a model has each tool.
TOOLS_OF_SKILLS: Mapping[str, tuple[str, ...]] = {
    "ListMemories": ("remember",),
    "SortMemories": ("remember",),
    "SetSetting": ("update-config",),
    "StartDebugLog": ("debug",),
    "FollowDebugLog": ("debug",),
    "SaveSkill": ("skillify", "run-skill-generator"),
}


class ShippedTools:
    """The tools themselves; each returns what it would do, which is shown and judged first."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._follower: LogFollower | None = None

    @property
    def by_name(self) -> dict[str, Callable[..., Plan]]:
        """Every tool by its name."""
        return {
            "ListMemories": self.list_memories,
            "SortMemories": self.sort_memories,
            "SetSetting": self.set_setting,
            "StartDebugLog": self.start_debug_log,
            "FollowDebugLog": self.follow_debug_log,
            "SaveSkill": self.save_skill,
        }

    def list_memories(self) -> Plan:
        """List every memory, with its file and its text."""

        def run(is_cancelled: IsCancelled) -> str:
            memories = load_memories(self._skills.facts)
            if not memories:
                return f"There are no memories in ~/{' or ~/'.join(FOLDERS)}."
            return "\n\n".join(f"{one.path}\n{one.text.strip()}" for one in memories)

        return _plan_reading("List memories", run)

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
        return self._plan_edits("Sort memories", plan.edits, done)

    def set_setting(self, key: str, value: SettingValue, whose: Whose = "project") -> Plan:
        """Set a setting of Prowess in the right prowess.toml.

        Args:
            key: The key, dotted, such as `agent.model`.
            value: The value.
            whose: The settings to change: of this project, or of the user for all projects.
        """
        edit = plan_setting(self._skills, key, value, user=whose == "user")
        if edit.old == edit.new:
            raise UsageError(f"`{key}` has this value already in {edit.path}.")
        return self._plan_edits(f"Set {key}", (edit,), f"Set `{key}` in {edit.path}.")

    def start_debug_log(self) -> Plan:
        """Turn the debug log on for this process, as PROWESS_DEBUG=1 does from the start."""
        facts = self._skills.facts

        def run(is_cancelled: IsCancelled) -> str:
            path = start_debug_log(facts)
            self._follower = LogFollower(path)
            return f"The debug log is on: {path}. For another process: PROWESS_DEBUG=1 prowess …"

        return _plan_reading("Start debug log", run)

    def follow_debug_log(self, seconds: float = 10.0) -> Plan:
        """Wait for new lines in the debug log, as `tail -f` does, and return them.

        Args:
            seconds: How long to wait, at most 120.
        """
        if not 0 < seconds <= _MOST_SECONDS:
            raise UsageError(f"`seconds` is {seconds:g}; it must be from 1 to {_MOST_SECONDS}.")

        def run(is_cancelled: IsCancelled) -> str:
            follower = self._follower
            if follower is None:
                raise UsageError("The debug log is not on yet; call StartDebugLog first.")
            return _follow(follower, seconds, is_cancelled) or "No new lines."

        return _plan_reading(f"Follow debug log for {seconds:g} s", run)

    def save_skill(
        self,
        name: str,
        description: str,
        body: str,
        files: dict[str, str] | None = None,
        whose: Whose = "project",
    ) -> Plan:
        """Write a new skill. It is checked strictly first; a mistake is named and nothing written.

        Args:
            name: Lowercase letters, digits and single hyphens.
            description: What it does and when to use it, in one or two sentences.
            body: The instructions, as Markdown.
            files: More files, by their path in the skill's folder, such as `scripts/check.py`.
            whose: Whose it is: of this project, or of the user for all projects.
        """
        check_name(name)
        rendered = render_skill(name, description, body=body, files=files)
        choose = choose_user_folder if whose == "user" else choose_project_folder
        folder = posixpath.join(choose(self._skills), name)
        if self._skills.project.files.find_kind(folder) is not None:
            raise UsageError(f"{folder} exists already; choose another name.")

        def run(is_cancelled: IsCancelled) -> str:
            write_folder_aside(folder, rendered.files, executable=rendered.executable)
            return f"Created {folder}. It is there from the next turn on."

        edits = [
            FileEdit(posixpath.join(folder, path), None, data.decode())
            for path, data in sorted(rendered.files.items())
        ]
        return _plan_change(f"Save skill {name}", edits, run)

    def _plan_edits(self, title: str, edits: Iterable[FileEdit], done: str) -> Plan:
        wanted = tuple(edits)
        backups = backup_folder(self._skills.facts, title.split(maxsplit=1)[0].lower())

        def run(is_cancelled: IsCancelled) -> str:
            apply_edits(wanted, backups)
            kept = any(edit.old is not None for edit in wanted)
            return f"{done} What was there before is in {backups}." if kept else done

        return _plan_change(title, wanted, run)


def _follow(follower: LogFollower, seconds: float, is_cancelled: IsCancelled) -> str:
    end = time.monotonic() + seconds
    found = ""
    while not is_cancelled() and len(found) < _MOST_LOG:
        found += follower.read_new(_MOST_LOG - len(found))
        if time.monotonic() >= end:
            break
        time.sleep(_LOG_PAUSE)
    return found


def _plan_reading(title: str, run: Callable[[IsCancelled], str]) -> Plan:
    """Something that only reads what is Prowess's own."""
    return Plan(
        title=title,
        permissions=("read",),
        accesses=(Access(names=(title,)),),
        default=Action.ALLOW,
        run=run,
    )


def _plan_change(title: str, edits: Iterable[FileEdit], run: Callable[[IsCancelled], str]) -> Plan:
    """A change of a user's files, which a person sees whole and approves."""
    wanted = tuple(edits)
    diff = "\n".join(render_difference(one.path, one.old or "", one.new or "") for one in wanted)
    return Plan(
        title=title,
        permissions=("edit",),
        accesses=tuple(Access(names=(one.path,)) for one in wanted) or (Access(names=(title,)),),
        default=Action.ASK,
        run=run,
        diff=diff,
        is_write=True,
    )
