"""What the program registered with a project: skills in code, and tools that commands go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from prowess.model.skill import Skill
from prowess.ports import FileSystem, SkillSource
from prowess.version import VERSION

if TYPE_CHECKING:
    from prowess.activate.code_skills import DefinedSkills
    from prowess.activate.slash.dispatch import CommandTools
    from prowess.state.unpacked_files import PrivateUnpacker


class Registered:
    """Skills and tools of the program, and the folder to which skills in memory are unpacked.

    Most programs register nothing, so what it takes is imported when it is first asked for.
    """

    def __init__(self) -> None:
        self._skills: DefinedSkills | None = None
        self._tools: CommandTools | None = None
        self._unpacker: PrivateUnpacker | None = None

    @property
    def skills(self) -> DefinedSkills:
        """The skills that are defined in code."""
        from prowess.activate.code_skills import DefinedSkills

        if self._skills is None:
            self._skills = DefinedSkills()
        return self._skills

    @skills.setter
    def skills(self, skills: DefinedSkills) -> None:
        self._skills = skills
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

    @tools.setter
    def tools(self, tools: CommandTools) -> None:
        self._tools = tools

    @property
    def availability(self) -> tuple[bool, ...]:
        """Which of the skills that are defined in code are there just now."""
        if self._skills is None:
            return ()
        return tuple(skill.is_available for skill in self._skills)

    def open_source(self) -> SkillSource | None:
        """The skills in code as a scan takes them; None if there are none."""
        if self._skills is None:
            return None
        from prowess.activate.code_skills import CodeSource
        from prowess.machine.event_loop import wait_for

        return CodeSource(self._skills, self._open_unpacker(), wait_for)

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
