"""Read which plugins are on or off, as each host writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prowess.settings.formats.document import SettingValue
from prowess.settings.formats.key_spans import Path

Entry = tuple[Path, Any, SettingValue]


def read_plugin_table(name: str, value: SettingValue) -> Iterator[Entry]:
    """A table for a plugin, with `enabled` in it, as in Codex and OpenClaw."""
    if not isinstance(value.data, dict):
        return
    enabled = dict(value.children()).get("enabled")
    if enabled is not None:
        yield ("enabled_plugins", name), enabled.as_bool(), enabled


def read_plugin_switch(name: str, value: SettingValue) -> Iterator[Entry]:
    """True or false for a plugin."""
    # Claude Code also has lists here, which choose versions; a plugin with one is on.
    is_version_list = isinstance(value.data, list) and not value.document.rule.is_own
    is_on = is_version_list or value.as_bool()
    yield ("enabled_plugins", name), is_on, value


def read_denied_plugins(value: SettingValue) -> Iterator[Entry]:
    """A list of plugins that are off, as OpenClaw has beside its tables."""
    for item in value.items():
        yield ("enabled_plugins", item.as_string()), False, item
