"""The tools of `update-config`: settings of Prowess, each in the right file."""

from __future__ import annotations

from typing import Literal

from prowess.agent.shipped.changes import plan_edits
from prowess.agent.tools.plan import Plan
from prowess.errors import UsageError
from prowess.reports.setting_plan import (
    SettingEntry,
    SettingValue,
    plan_setting,
    plan_setting_entry,
)
from prowess.runtime import Skills
from prowess.state.edited_files import FileEdit

# A rule that allows edits does not mean the rules themselves, the sandbox or hooks.
_ASKS_BECAUSE = "it changes how Prowess itself works"


class SettingTools:
    """The tools of `update-config`."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def set_setting(
        self, key: str, value: SettingValue, whose: Literal["project", "user"] = "project"
    ) -> Plan:
        """Set a setting of Prowess in the right prowess.toml.

        Args:
            key: The key, dotted, such as `agent.model`.
            value: The value.
            whose: The settings to change: of this project, or of the user for all projects.
        """
        edit = plan_setting(self._skills, key, value, user=whose == "user")
        if edit.old == edit.new:
            raise UsageError(f"`{key}` already has this value in {edit.path}.")
        return self._plan(f"Set {key}", edit, f"Set `{key}` in {edit.path}.")

    def add_setting(
        self, key: str, entry: SettingEntry, whose: Literal["project", "user"] = "project"
    ) -> Plan:
        """Add an entry to a list in the settings of Prowess, such as a hook to `hooks`.

        Args:
            key: The key of the list, dotted, such as `hooks` or `sandbox.hide`.
            entry: The entry. A hook is a table with `event`, `command`, and if it is not for every
                tool, `matcher`.
            whose: The settings to change: of this project, or of the user for all projects.
        """
        edit = plan_setting_entry(self._skills, key, entry, user=whose == "user")
        return self._plan(f"Add to {key}", edit, f"Added an entry to `{key}` in {edit.path}.")

    def _plan(self, title: str, edit: FileEdit, done: str) -> Plan:
        return plan_edits(self._skills, title, (edit,), done, asks_because=_ASKS_BECAUSE)
