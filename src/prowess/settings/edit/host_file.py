"""Enable or disable one skill in a host's own settings file.

How a file does that follows from the settings its keys stand for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from prowess.errors import ProwessError
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.edit.json5 import add_json5_entry, remove_json5_entry, set_json5
from prowess.settings.edit.toml import (
    append_lines,
    check_name,
    insert_below_header,
    quote_key,
    replace_value,
)
from prowess.settings.edit.yaml import add_entry, quote_entry, remove_entry
from prowess.settings.formats.document import Format, find_line, join_key
from prowess.settings.formats.key_spans import Path
from prowess.settings.formats.toml import parse_toml, scan_toml


class Change(NamedTuple):
    """The skill to change, and whether to enable or disable it; `value` is a word for more."""

    name: str
    enabled: bool
    value: str | None = None

    @property
    def word(self) -> str:
        return "true" if self.enabled else "false"


class Switch(msgspec.Struct, frozen=True):
    """How a file enables or disables a skill: the key, its setting, and the format."""

    key: str
    setting: str
    format: Format

    def find_path(self, name: str) -> Path:
        """The path of keys for one skill."""
        return (*self.key.split("."), *_BELOW[self.setting](name))

    def set(self, text: str, name: str, *, enabled: bool, file: str) -> str:
        """The text with the skill enabled or disabled. Raises if there is no safe edit."""
        return self._edit(text, Change(name, enabled), "enable" if enabled else "disable", file)

    def set_visibility(self, text: str, name: str, visibility: str, *, file: str) -> str:
        """The text with `on`, `name-only`, `user-only` or `off` for a skill. Raises like `set`.

        Only where the setting is `visibility`.
        """
        value = _VISIBILITY_WORDS.get(visibility, visibility)
        change = Change(name, visibility != "off", value)
        return self._edit(text, change, "switch", file)

    def _edit(self, text: str, change: Change, verb: str, file: str) -> str:
        check_name(change.name)
        edit = _EDITS[self.format]
        edited = edit(self, text, change, file)
        if edited is not None:
            return edited
        line = find_line(text, self.format, tuple(self.key.split(".")))
        place = file if line is None else f"{file}:{line}"
        by_hand = _BY_HAND[self.format](self, change)
        raise ProwessError(
            f"{place}: can't {verb} “{change.name}” safely, so nothing was written; "
            f"write {by_hand} by hand."
        )


def find_switch(rule: SettingsFileRule) -> Switch | None:
    """How a settings file enables or disables a skill; None if it can't."""
    # Of several keys for one setting, the first.
    keys = {setting: key for key, setting in reversed(rule.keys.items())}
    editable = _EDITABLE.get(rule.format, ())
    for setting in _BELOW:
        if setting in keys and setting in editable:
            return Switch(keys[setting], setting, rule.format)
    return None


def name_key(switch: Switch, name: str) -> str:
    """The dotted key for one skill."""
    return join_key(switch.find_path(name))


# What is below the key for one skill, in order of preference. opencode has no switch for a skill
# but a permission.
_BELOW: dict[str, Callable[[str], Path]] = {
    "visibility": lambda name: (name,),
    "overrides": lambda name: (name, "enabled"),
    "disabled_extensions": lambda name: (),
    "disabled": lambda name: (),
    "override_list": lambda name: (),
    "permissions": lambda name: ("skill", name),
}
# The settings that can be edited in each format.
_EDITABLE = {
    "json": ("visibility", "overrides", "disabled", "permissions"),
    "json5": ("visibility", "overrides", "disabled", "permissions"),
    "yaml": ("disabled_extensions",),
    "toml": ("override_list",),
}
# The values for enabled and disabled.
_VALUES: dict[str, tuple[str | bool, str | bool]] = {
    "visibility": ("on", "off"),
    "overrides": (True, False),
    "permissions": ("allow", "deny"),
}


# How hosts spell what we call otherwise.
_VISIBILITY_WORDS = {"user-only": "user-invocable-only"}


def _get_value(switch: Switch, change: Change) -> str | bool:
    if change.value is not None:
        return change.value
    enabled, disabled = _VALUES[switch.setting]
    return enabled if change.enabled else disabled


# Edits


def _set_json5(switch: Switch, text: str, change: Change, file: str) -> str | None:
    if switch.setting == "disabled":
        edit = remove_json5_entry if change.enabled else add_json5_entry
        return edit(text, switch.find_path(change.name), change.name, file=file)
    value = _get_value(switch, change)
    return set_json5(text, switch.find_path(change.name), value=value, file=file)


def _set_yaml(switch: Switch, text: str, change: Change, file: str) -> str | None:
    # Only top-level lists can be edited in YAML.
    if "." in switch.key:
        return None
    edit = remove_entry if change.enabled else add_entry
    return edit(text, switch.key, f"skill:{change.name}", file=file)


def _set_toml(switch: Switch, text: str, change: Change, file: str) -> str | None:
    """Set `enabled` in every table of the list that is about the skill, or add a table."""
    path, field = tuple(switch.key.split(".")), _name_field(change.name)
    wanted = _look_up(parse_toml(text, file), path)
    if not isinstance(wanted, list):
        return None
    # Of several tables for one skill the last counts in Codex; all are set, so that none surprises.
    about = [index for index, table in enumerate(wanted) if _is_about(table, field, change.name)]
    edited = text
    for index in about:
        edited = _set_in_table(edited, (*path, str(index)), change.word)
        wanted[index]["enabled"] = change.enabled
    if not about:
        edited = append_lines(text, _list_toml(switch, change))
        wanted.append({field: change.name, "enabled": change.enabled})
    try:
        found = _look_up(parse_toml(edited, file), path)
    except ProwessError:
        # The edit broke the file, so it is not safe.
        return None
    return edited if found == wanted else None


def _is_about(table: Any, field: str, name: str) -> bool:
    return isinstance(table, dict) and table.get(field) == name


def _set_in_table(text: str, table: Path, word: str) -> str:
    spans = {span.path: span for span in scan_toml(text)}
    enabled = spans.get((*table, "enabled"))
    if enabled is not None:
        return replace_value(text, enabled, word)
    if table in spans:
        return insert_below_header(text, spans[table], f"enabled = {word}")
    return text


def _look_up(data: Any, path: Path) -> Any:
    """The list at a path; an empty one if there is nothing, None if there is something else."""
    *tables, last = path
    for part in tables:
        data = data.get(part, {}) if isinstance(data, dict) else None
    return data.get(last, []) if isinstance(data, dict) else None


def _name_field(name: str) -> str:
    # Codex takes either, but ignores a table with both.
    return "path" if name.startswith("/") else "name"


def _list_toml(switch: Switch, change: Change) -> list[str]:
    quoted = quote_key(change.name)
    value = quoted if quoted.startswith('"') else f'"{quoted}"'
    field = _name_field(change.name)
    return [f"[[{switch.key}]]", f"{field} = {value}", f"enabled = {change.word}"]


_EDITS: dict[Format, Callable[[Switch, str, Change, str], str | None]] = {
    "json": _set_json5,
    "json5": _set_json5,
    "yaml": _set_yaml,
    "toml": _set_toml,
}


# What to write by hand


def _render_json5(switch: Switch, change: Change) -> str:
    is_list = switch.setting == "disabled"
    if is_list and change.enabled:
        return f"`{switch.key}` without `{_quote_json(change.name)}`"
    shown = _quote_json([change.name] if is_list else _get_value(switch, change))
    first, *rest = switch.find_path(change.name)
    for part in reversed(rest):
        shown = f"{{ {_quote_json(part)}: {shown} }}"
    return f"`{_quote_json(first)}: {shown}`"


def _quote_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _render_yaml(switch: Switch, change: Change) -> str:
    entry = quote_entry(f"skill:{change.name}")
    if change.enabled:
        return f"`{switch.key}` without `{entry}`"
    return f"`{switch.key}: [{entry}]`"


def _render_toml(switch: Switch, change: Change) -> str:
    header, name, enabled = _list_toml(switch, change)
    return f"`{header}` and below it `{name}`, `{enabled}`"


_BY_HAND: dict[Format, Callable[[Switch, Change], str]] = {
    "json": _render_json5,
    "json5": _render_json5,
    "yaml": _render_yaml,
    "toml": _render_toml,
}
