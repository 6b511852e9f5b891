"""The tools of `keybindings`: show the keys of the chat, and change them in the key file."""

from __future__ import annotations

import json

from prowess.agent.key_bindings import key_file_path, list_bindings, parse_keys
from prowess.agent.shipped.changes import plan_edits, plan_reading
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.errors import UsageError
from prowess.runtime import Skills
from prowess.settings.edit.toml import set_toml_value
from prowess.state.edited_files import FileEdit, load_text


class KeyTools:
    """The tools of `keybindings`."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills
        self._file = key_file_path(skills.facts.home)

    def list_keys(self) -> Plan:
        """List the actions of the chat, the keys of each, and what it does."""

        def run(is_cancelled: IsCancelled) -> str:
            bindings = parse_keys(load_text(self._file) or "", self._file)
            lines = [
                f"{action}: {', '.join(keys) or 'no key'} ({summary})"
                for action, keys, summary in list_bindings(bindings)
            ]
            return "\n".join((f"The key file is {self._file}.", *lines))

        return plan_reading("List keys", run)

    def set_keys(self, keys: dict[str, list[str]]) -> Plan:
        """Give actions of the chat other keys. A key that is taken or reserved is refused.

        Args:
            keys: For each action all its keys, such as {"follow-up": ["ctrl+k", "f5"]}. An empty
                list leaves the action without a key.
        """
        if not keys:
            raise UsageError("Name at least one action.")
        old = load_text(self._file)
        new = old or ""
        for action, wanted in keys.items():
            literal = json.dumps(wanted, ensure_ascii=False)
            new = set_toml_value(new, (action,), literal, file=self._file)
        # Checked as the chat will read it, so that two actions can swap their keys.
        parse_keys(new, self._file)
        if new == old:
            raise UsageError(f"{self._file} already has these keys.")
        done = f"Changed {self._file}. The next chat uses these keys."
        edit = FileEdit(self._file, old, new)
        return plan_edits(self._skills, f"Set keys of {', '.join(keys)}", (edit,), done)
