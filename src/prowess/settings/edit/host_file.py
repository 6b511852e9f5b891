"""The switch of one skill in a host's own settings file: where it is, how it is set, how it looks
by hand.

Which switch a file has follows from what its keys stand for. A host that has several is switched by
the first here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from prowess.errors import ProwessError
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.edit.json5 import set_json5
from prowess.settings.edit.prowess_toml import (
    append_lines,
    check_name,
    insert_below_header,
    quote_key,
    replace_value,
)
from prowess.settings.edit.yaml import add_entry, quote_entry, remove_entry
from prowess.settings.formats.document import join_key
from prowess.settings.formats.key_lines import find_line
from prowess.settings.formats.key_spans import Path
from prowess.settings.formats.parser import parse_toml
from prowess.settings.formats.scan_toml import scan_toml


class Wish(NamedTuple):
    """The skill that is to be switched, and whether on or off."""

    name: str
    enabled: bool

    @property
    def word(self) -> str:
        return "true" if self.enabled else "false"


class Switch(msgspec.Struct, frozen=True):
    """A way to switch one skill in a file: the key that holds it, what the key stands for, and the
    file's format.
    """

    key: str
    setting: str
    format: str

    def find_path(self, name: str) -> Path:
        """The key of one skill, as the file has it."""
        above = tuple(self.key.split("."))
        return (*above, *_BELOW[self.setting](name))

    def render(self, name: str, *, enabled: bool) -> str:
        """What to write by hand."""
        return _BY_HAND[self.format](self, Wish(name, enabled))

    def set(self, text: str, name: str, *, enabled: bool, file: str) -> str:
        """The text with the switch set, all else as it is; raises where it cannot be edited safely."""
        check_name(name)
        edited = _EDITS[self.format](self, text, Wish(name, enabled), file)
        if edited is not None:
            return edited
        line = find_line(text, self.format, tuple(self.key.split(".")))  # type: ignore[arg-type]
        place = file if line is None else f"{file}:{line}"
        word = "on" if enabled else "off"
        raise ProwessError(
            f"{place}: no safe way was found to switch “{name}” {word} there, so nothing was"
            f" written; write {self.render(name, enabled=enabled)} by hand."
        )


def find_switch(rule: SettingsFileRule) -> Switch | None:
    """The switch that a settings file has for one skill; None where it has none."""
    for setting in _BELOW:
        for key, held in rule.keys.items():
            is_possible = rule.format in _EDITS and setting in _FORMATS[rule.format]
            if held == setting and is_possible:
                return Switch(key, setting, rule.format)
    return None


# What stands below the key for one skill. The order is that of preference.
_BELOW: dict[str, Callable[[str], Path]] = {
    "visibility": lambda name: (name,),
    "overrides": lambda name: (name, "enabled"),
    "disabled_extensions": lambda name: (),
    "override_list": lambda name: (),
    "permissions": lambda name: ("skill", name),
}
# What each format can be edited for.
_FORMATS = {
    "json5": ("visibility", "overrides", "permissions"),
    "yaml": ("disabled_extensions",),
    "toml": ("override_list",),
}
# The words for on and off.
_WORDS: dict[str, tuple[str | bool, str | bool]] = {
    "visibility": ("on", "off"),
    "overrides": (True, False),
    "permissions": ("allow", "deny"),
}


def _set_json5(switch: Switch, text: str, wish: Wish, file: str) -> str | None:
    value = _WORDS[switch.setting][0 if wish.enabled else 1]
    return set_json5(text, switch.find_path(wish.name), value=value, file=file)


def _set_yaml(switch: Switch, text: str, wish: Wish, file: str) -> str | None:
    if "." in switch.key:
        return None
    edit = remove_entry if wish.enabled else add_entry
    return edit(text, switch.key, f"skill:{wish.name}", file=file)


def _set_toml(switch: Switch, text: str, wish: Wish, file: str) -> str | None:
    """`enabled` in every table of the list that is about the skill; a new table where there is
    none.
    """
    name, enabled = wish
    path, field = tuple(switch.key.split(".")), _name_field(name)
    held = _look_up(parse_toml(text, file), path)
    if not isinstance(held, list):
        return None
    about = [
        place
        for place, table in enumerate(held)
        if isinstance(table, dict) and table.get(field) == name
    ]
    new = text
    for place in about:
        new = _set_in_table(new, (*path, str(place)), wish.word)
    if not about:
        new = append_lines(text, _list_toml(switch, wish))
    wanted = [
        {**table, "enabled": enabled} if place in about else table
        for place, table in enumerate(held)
    ]
    wanted += [] if about else [{field: name, "enabled": enabled}]
    try:
        return new if _look_up(parse_toml(new, file), path) == wanted else None
    except ProwessError:
        return None


def _set_in_table(text: str, table: Path, word: str) -> str:
    marks = {mark.path: mark for mark in scan_toml(text)}
    if (*table, "enabled") in marks:
        return replace_value(text, marks[(*table, "enabled")], word)
    return insert_below_header(text, marks[table], f"enabled = {word}") if table in marks else text


def _look_up(data: Any, path: Path) -> Any:
    for part in path:
        data = data.get(part, {} if part != path[-1] else []) if isinstance(data, dict) else None
    return data


def _name_field(name: str) -> str:
    return "path" if name.startswith("/") else "name"


def _list_toml(switch: Switch, wish: Wish) -> list[str]:
    quoted = quote_key(wish.name)
    text = quoted if quoted.startswith('"') else f'"{quoted}"'
    return [f"[[{switch.key}]]", f"{_name_field(wish.name)} = {text}", f"enabled = {wish.word}"]


_EDITS: dict[str, Callable[[Switch, str, Wish, str], str | None]] = {
    "json5": _set_json5,
    "yaml": _set_yaml,
    "toml": _set_toml,
}


def _render_json5(switch: Switch, wish: Wish) -> str:
    shown = json.dumps(_WORDS[switch.setting][0 if wish.enabled else 1])
    for part in reversed(switch.find_path(wish.name)):
        shown = f"{json.dumps(part, ensure_ascii=False)}: {shown}"
        shown = f"{{ {shown} }}"
    return f"`{shown[2:-2]}`"


def _render_yaml(switch: Switch, wish: Wish) -> str:
    entry = quote_entry(f"skill:{wish.name}")
    return f"`{switch.key}` without `{entry}`" if wish.enabled else f"`{switch.key}: [{entry}]`"


def _render_toml(switch: Switch, wish: Wish) -> str:
    lines = _list_toml(switch, wish)
    return " and below it ".join([f"`{lines[0]}`", f"`{lines[1]}`, `{lines[2]}`"])


_BY_HAND: dict[str, Callable[[Switch, Wish], str]] = {
    "json5": _render_json5,
    "yaml": _render_yaml,
    "toml": _render_toml,
}


def name_key(switch: Switch, name: str) -> str:
    """The key that was written, for people."""
    return join_key(switch.find_path(name))
