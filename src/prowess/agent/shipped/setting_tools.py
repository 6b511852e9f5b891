"""The tools of `update-config`: settings of Prowess, each in the right file."""

from __future__ import annotations

from typing import Literal

from prowess.agent.shipped.changes import plan_edits
from prowess.agent.tools.plan import Plan
from prowess.errors import UsageError
from prowess.reports.setting_plan import SettingValue, plan_setting
from prowess.runtime import Skills

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
            raise UsageError(f"`{key}` has this value already in {edit.path}.")
        return plan_edits(
            self._skills,
            f"Set {key}",
            (edit,),
            f"Set `{key}` in {edit.path}.",
            asks_because=_ASKS_BECAUSE,
        )
