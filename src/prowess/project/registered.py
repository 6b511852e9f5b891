"""What the program registered with a project: skills in code, and tools that commands go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from prowess.model.skill import Skill
from prowess.ports import FileSystem, SkillSource
from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.activate.code_skills import DefinedSkill, DefinedSkills
    from prowess.activate.slash.dispatch import CommandTool, CommandTools
    from prowess.state.unpacked_files import PrivateUnpacker


class Registered:
    """Skills and tools of the program, and the folder to which skills in memory are unpacked.

    `skills` are those defined in code. Most programs register nothing, so what it takes is imported
    when it is first asked for.
    """

    def __init__(self) -> None:
        self.skills: DefinedSkills | None = None
        self._tools: CommandTools | None = None
        self._unpacker: PrivateUnpacker | None = None

    def add_skills(self, *skills: DefinedSkill, replace: bool) -> None:
        """Add skills. Without `replace`, a name that is taken raises `InvalidName`."""
        self._keep_skills(self._list_skills().register(*skills, replace=replace))

    def remove_skills(self, *names: str) -> None:
        """Remove skills by name. Raises `UnknownSkill`."""
        self._keep_skills(self._list_skills().remove(*names))

    def _list_skills(self) -> DefinedSkills:
        from prowess.activate.code_skills import DefinedSkills

        return DefinedSkills() if self.skills is None else self.skills

    def _keep_skills(self, skills: DefinedSkills) -> None:
        self.skills = skills
        # Another skill of the same name may have other files. What earlier snapshots unpacked is
        # removed with them.
        self._unpacker = None

    @property
    def tools(self) -> CommandTools:
        """The tools that were registered for commands to go to."""
        from prowess.activate.slash.dispatch import CommandTools

        if self._tools is None:
            self._tools = CommandTools()
        return self._tools

    def add_tool(self, tool: CommandTool) -> None:
        """Add a tool; it replaces one of the same name."""
        self._tools = self.tools.add(tool)

    def open_source(self) -> SkillSource | None:
        """The skills in code as a scan takes them; None if there are none."""
        if self.skills is None:
            return None
        from prowess.activate.code_skills import CodeSource
        from prowess.machine.event_loop import wait_for

        return CodeSource(self.skills, self._open_unpacker(), wait_for)

    def unpack(self, skill: Skill, files: FileSystem) -> str:
        """The folder of a skill, for programs: one in memory is unpacked, anew when it changes.

        Raises `MachineError`.
        """
        if not skill.is_in_memory:
            return skill.folder
        import hashlib

        from prowess.state.unpacked_files import collect_files

        found = collect_files(files, skill.folder)
        digest = hashlib.sha256(msgspec.msgpack.encode(sorted(found.items()))).hexdigest()
        return self._open_unpacker().unpack(f"{skill.name}-{digest[:16]}", found)

    def close(self) -> None:
        """Remove what was unpacked."""
        if self._unpacker is not None:
            self._unpacker.close()
            self._unpacker = None

    def _open_unpacker(self) -> PrivateUnpacker:
        from prowess.state.unpacked_files import PrivateUnpacker

        if self._unpacker is None:
            self._unpacker = PrivateUnpacker(version=VERSION)
        return self._unpacker
