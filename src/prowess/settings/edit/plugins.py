"""Turn a plugin on or off in a settings file, in place."""

from __future__ import annotations

import msgspec

from prowess.errors import ProwessError
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.edit.json5 import set_json5
from prowess.settings.edit.toml import set_toml_flag
from prowess.settings.formats.document import Format, join_key
from prowess.settings.formats.key_spans import Path

# How each setting is written: whether a plugin has a table of its own with `enabled` in it.
_HAS_TABLE = {"plugin_switches": False, "enabled_plugins": True}


class PluginSwitch(msgspec.Struct, frozen=True):
    """How a file turns a plugin on or off: the key above its plugins, and the format."""

    key: Path
    has_table: bool
    format: Format

    def find_path(self, id: str) -> Path:
        """The path of keys for one plugin."""
        return (*self.key, id, "enabled") if self.has_table else (*self.key, id)

    def render_key(self, id: str) -> str:
        """The dotted key for one plugin."""
        return join_key(self.find_path(id))

    def set(self, text: str, id: str, *, enabled: bool, file: str) -> str:
        """The text with a plugin on or off. Raises if there is no safe edit."""
        path = self.find_path(id)
        if self.format == "toml":
            edited = set_toml_flag(text, path[:-1], path[-1], value=enabled, file=file)
        else:
            edited = set_json5(text, path, value=enabled, file=file)
        if edited is None:
            word = "true" if enabled else "false"
            raise ProwessError(
                f"{file}: can't edit the file safely, so nothing was written; set"
                f" `{join_key(path)}` to {word} by hand."
            )
        return edited


def find_plugin_switch(rule: SettingsFileRule) -> PluginSwitch | None:
    """How a settings file turns plugins on and off; None if it can't."""
    if rule.is_own:
        return PluginSwitch(("enabled_plugins",), has_table=False, format=rule.format)
    if rule.format == "yaml":
        return None
    for key, setting in rule.keys.items():
        if setting in _HAS_TABLE:
            path = tuple(key.removesuffix(".*").split("."))
            return PluginSwitch(path, _HAS_TABLE[setting], rule.format)
    return None
