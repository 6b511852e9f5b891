"""The tools of `skillify` and `run-skill-generator`: write a new skill."""

from __future__ import annotations

import posixpath
from typing import Literal

from prowess.agent.shipped.changes import plan_change
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.errors import UsageError
from prowess.machine.atomic_write import write_folder_aside
from prowess.reports.skill_folders import choose_project_folder, choose_user_folder
from prowess.reports.skill_template import check_name, render_skill
from prowess.runtime import Skills
from prowess.state.edited_files import FileEdit


class SkillTools:
    """The tools that write skills."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def save_skill(
        self,
        name: str,
        description: str,
        body: str,
        files: dict[str, str] | None = None,
        whose: Literal["project", "user"] = "project",
    ) -> Plan:
        """Write a new skill. It is checked strictly first; a mistake is named and nothing written.

        Args:
            name: Lowercase letters, digits and single hyphens.
            description: What it does and when to use it, in one or two sentences.
            body: The instructions, as Markdown.
            files: More files, by their path in the skill's folder, such as `scripts/check.py`.
            whose: Whose it is: of this project, or of the user for all projects.
        """
        # Before the name becomes part of a path.
        check_name(name)
        rendered = render_skill(name, description, body=body, files=files)
        choose = choose_user_folder if whose == "user" else choose_project_folder
        folder = posixpath.join(choose(self._skills), name)
        if self._skills.project.files.find_kind(folder) is not None:
            raise UsageError(f"{folder} already exists; choose another name.")

        def run(is_cancelled: IsCancelled) -> str:
            write_folder_aside(folder, rendered.files, executable=rendered.executable)
            return f"Created {folder}. It is available from the next turn on."

        edits = [
            FileEdit(posixpath.join(folder, path), None, data.decode())
            for path, data in sorted(rendered.files.items())
        ]
        return plan_change(self._skills, f"Save skill {name}", edits, run)
