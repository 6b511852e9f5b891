"""Read which plugins are on or off, as each host writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prowess.settings.formats.document import SettingValue
from prowess.settings.formats.key_spans import Path

Entry = tuple[Path, Any, SettingValue]


def read_plugin_table(name: str, value: SettingValue) -> Iterator[Entry]:
    """A table for a plugin, with `enabled` in it."""
    fields = dict(value.children()) if isinstance(value.data, dict) else {}
    if "enabled" in fields:
        yield ("enabled_plugins", name), _read_bool(fields["enabled"]), fields["enabled"]


def read_plugin_switch(name: str, value: SettingValue) -> Iterator[Entry]:
    """True or false for a plugin."""
    # Claude Code also has lists here, which choose versions; a plugin with one is on.
    is_list = isinstance(value.data, list) and not value.document.rule.is_own
    yield ("enabled_plugins", name), True if is_list else _read_bool(value), value


def read_denied_plugins(value: SettingValue) -> Iterator[Entry]:
    """A list of plugins that are off."""
    for item in value.items():
        if not isinstance(item.data, str):
            raise item.wrong("a string")
        yield ("enabled_plugins", item.data), False, item


def _read_bool(value: SettingValue) -> bool:
    if not isinstance(value.data, bool):
        raise value.wrong("true or false")
    return value.data
