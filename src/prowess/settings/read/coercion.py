"""Values as files have them, made into settings: which type each must have, and where it goes.

A setting is named as in a profile's `keys`: `ignored`, `toggles.enableCodexUser`, `overrides`. What
is read comes out as entries: a path in `Settings`, the value, and where it stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from prowess.model.settings import DeclaredTool
from prowess.profiles.places import expand_user_path
from prowess.profiles.schema.roots import Limits
from prowess.settings.formats.document import Value
from prowess.settings.formats.key_spans import Path
from prowess.settings.read.permission_rules import (
    read_agent,
    read_permissions,
    read_rule_list,
    read_tools,
)

Entry = tuple[Path, Any, Value]
Convert = Callable[[Value], Any]
ReadNamed = Callable[[str, Value], Iterator[Entry]]

_VISIBILITY = {"on": "on", "name-only": "name-only", "user-only": "user-only", "off": "off"}
_CLAUDE_VISIBILITY = {
    "on": "on",
    "name-only": "name-only",
    "user-invocable-only": "user-only",
    "off": "off",
}


def _bool(value: Value) -> bool:
    if not isinstance(value.data, bool):
        raise value.wrong("true or false")
    return value.data


def _text(value: Value) -> str:
    if not isinstance(value.data, str):
        raise value.wrong("a text")
    return value.data


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(_text(item) for item in value.items())


def _folder(value: Value) -> str:
    document = value.document
    return expand_user_path(_text(value), base=document.base, places=document.places)


def _folders(value: Value) -> tuple[str, ...]:
    return tuple(_folder(item) for item in value.items())


def _skill_ids(value: Value) -> tuple[str, ...]:
    return tuple(name if name.startswith("skill:") else f"skill:{name}" for name in _texts(value))


def _count(value: Value) -> int:
    if not isinstance(value.data, int) or isinstance(value.data, bool) or value.data < 0:
        raise value.wrong("a whole number, 0 or more")
    return value.data


def _amount(value: Value) -> float:
    """A number that may have decimals, such as seconds."""
    number = value.data
    if (
        not isinstance(number, (int, float))
        or isinstance(number, bool)
        or not 0 <= number < float("inf")
    ):
        raise value.wrong("a number, 0 or more")
    return number


def _share(value: Value) -> float:
    if (
        not isinstance(value.data, (int, float))
        or isinstance(value.data, bool)
        or not 0 < value.data <= 1
    ):
        raise value.wrong("a share of the context window, more than 0 and at most 1")
    return float(value.data)


def _one_of(words: dict[str, str]) -> Convert:
    def convert(value: Value) -> str:
        if not isinstance(value.data, str) or value.data not in words:
            raise value.wrong(f"one of {', '.join(words)}")
        return words[value.data]

    return convert


def _secret(value: Value) -> str:
    if not isinstance(value.data, str):
        raise value.wrong("a text", is_secret=True)
    return value.data


def _key_or_place(value: Value) -> Any:
    """A key, or a table that says where the key is kept: in a host's file the host's own, in ours a
    keyring.
    """
    if not isinstance(value.data, dict):
        return _secret(value)
    if value.document.rule.refuse_unknown:
        texts = all(isinstance(part, str) and part for part in value.data.values())
        if not texts or "keyring" not in value.data or value.data.keys() - {"keyring", "account"}:
            raise value.wrong(
                'a text, or the place of one: { keyring = "SERVICE", account = "NAME" }'
            )
    return value.data


def _as_is(value: Value) -> Any:
    return value.data


# The fields of an override: the name here, whether it is a table that merges key by key, and its
# type.
_OVERRIDE: dict[str, tuple[str, bool, Convert]] = {
    "enabled": ("enabled", False, _bool),
    "visibility": ("visibility", False, _one_of(_VISIBILITY)),
    "env": ("env", True, _secret),
    "api_key": ("api_key", False, _key_or_place),
    "apiKey": ("api_key", False, _key_or_place),
    "config": ("config", True, _as_is),
}
_OWN_OVERRIDE = [name for name, (field, _, _) in _OVERRIDE.items() if name == field]
HOST_OVERRIDE = ("enabled", "apiKey", "env", "config")


def _read_override(name: str, value: Value) -> Iterator[Entry]:
    for key, child in value.children(is_secret=True):
        if value.document.rule.refuse_unknown and key not in _OWN_OVERRIDE:
            raise child.unknown(_OWN_OVERRIDE)
        if key not in _OVERRIDE:
            continue
        field, is_table, convert = _OVERRIDE[key]
        path = ("overrides", name, field)
        if is_table:
            parts = child.children(is_secret=True)
            yield from (
                ((*path, part), convert(grandchild), grandchild) for part, grandchild in parts
            )
        else:
            yield path, convert(child), child


def _read_toggle(name: str, value: Value) -> Iterator[Entry]:
    yield ("toggles", name), _bool(value), value


_LIMITS = Limits()


def _read_limit(name: str, value: Value) -> Iterator[Entry]:
    if name not in Limits.__struct_fields__:
        raise value.unknown(list(Limits.__struct_fields__))
    convert = _amount if isinstance(getattr(_LIMITS, name), float) else _count
    yield ("limits", name), convert(value), value


def _read_budget(name: str, value: Value) -> Iterator[Entry]:
    if name not in _BUDGET:
        raise value.unknown(list(_BUDGET))
    yield ("budget", name), _BUDGET[name](value), value


def _read_visibility(name: str, value: Value) -> Iterator[Entry]:
    yield ("overrides", name, "visibility"), _one_of(_CLAUDE_VISIBILITY)(value), value


_MODE = _one_of({"on": "on", "off": "off"})
_SANDBOX: dict[str, Convert] = {
    "mode": _MODE,
    "network": _bool,
    "write": _folders,
    "hide": _folders,
    "memory_mb": _count,
    "processes": _count,
}
# What can be different for one skill.
_SANDBOX_OF_SKILL = ("mode", "network", "write")


def _read_sandbox(name: str, value: Value) -> Iterator[Entry]:
    if name == "skills":
        for skill, table in value.children():
            for key, child in table.children():
                if key not in _SANDBOX_OF_SKILL:
                    known = [f"sandbox.skills.{skill}.{one}" for one in _SANDBOX_OF_SKILL]
                    raise child.unknown(known)
                yield ("sandbox", "skills", skill, key), _SANDBOX[key](child), child
    elif name in _SANDBOX:
        yield ("sandbox", name), _SANDBOX[name](value), value
    else:
        raise value.unknown([f"sandbox.{one}" for one in (*_SANDBOX, "skills")])


_DECLARED = ("command", "description")


def _read_declared_tool(name: str, value: Value) -> Iterator[Entry]:
    """A program that commands can go to, whole: of two files the later one declares all of it."""
    fields = dict(value.children())
    for key, child in fields.items():
        if key not in _DECLARED:
            raise child.unknown([f"tools.{name}.{known}" for known in _DECLARED])
    if "command" not in fields:
        raise value.refuse(
            "has no `command`; it must be a list: the program and each of its arguments"
        )
    described = _text(fields["description"]) if "description" in fields else None
    yield (
        ("tools", name),
        DeclaredTool(command=_command(fields["command"]), description=described),
        value,
    )


def _command(value: Value) -> tuple[str, ...]:
    if not isinstance(value.data, list) or not value.data or value.data[0] == "":
        raise value.wrong("a list: the program and each of its arguments")
    program, *arguments = value.items()
    # A program with a folder in front lies where the file says, wherever the command is typed.
    is_path = "/" in _text(program) or "\\" in _text(program)
    return (
        _folder(program) if is_path else _text(program),
        *(_text(argument) for argument in arguments),
    )


def _read_override_list(value: Value) -> Iterator[Entry]:
    """Switches as a list of tables, each about a skill of a name or at a path; one that names
    neither says nothing.
    """
    for item in value.items():
        fields = dict(item.children())
        if "enabled" not in fields:
            continue
        for field in ("name", "path"):
            if field in fields:
                about = _text(fields[field]) if field == "name" else _folder(fields[field])
                yield ("overrides", about, "enabled"), _bool(fields["enabled"]), fields["enabled"]


# What a user may set of the catalog's budget.
_BUDGET: dict[str, Convert] = {
    "share": _share,
    "characters": _count,
    "skills": _count,
    "per_item": _count,
}
BUDGET_NAMES = tuple(_BUDGET)

# Settings with one value: the field of `Settings` it fills, and its type.
_SINGLE: dict[str, tuple[str, Convert]] = {
    "enabled": ("enabled", _bool),
    "enabled_providers": ("enabled_providers", _texts),
    "disabled_providers": ("disabled_providers", _texts),
    "disabled_extensions": ("disabled_extensions", _texts),
    "disabled": ("disabled_extensions", _skill_ids),
    "ignored": ("ignored", _texts),
    "included": ("included", _texts),
    "custom_folders": ("custom_folders", _folders),
    "remote_urls": ("remote_urls", _texts),
    "plugin_folders": ("plugin_folders", _folders),
    "trusted_links": ("trusted_links", _folders),
    "workspace": ("workspace", _folder),
    "allowed_bundled": ("allowed_bundled", _texts),
    "agent_skills": ("agent_skills", _texts),
    "skill_commands": ("skill_commands", _bool),
    "shell_commands": ("shell_commands", _bool),
    "no_shell_commands": ("shell_commands", lambda value: not _bool(value)),
    "usage": ("usage", _bool),
    "approvals": ("approvals", _one_of({"memory": "memory", "disk": "disk"})),
}
# Settings that are a table by name; `toggles.NAME` is one entry of such a table.
_NAMED: dict[str, ReadNamed] = {
    "toggles": _read_toggle,
    "limits": _read_limit,
    "budget": _read_budget,
    "visibility": _read_visibility,
    "overrides": _read_override,
    "declared_tools": _read_declared_tool,
    "sandbox": _read_sandbox,
    "agents": read_agent,
    "rules": read_rule_list,
}
# Settings that are read as a whole: rules, of which those of every file hold together, and lists of
# tables.
_WHOLE: dict[str, Callable[[Value], Iterator[Entry]]] = {
    "permissions": read_permissions,
    "tools": read_tools,
    "override_list": _read_override_list,
}


def is_setting(setting: str) -> bool:
    """Whether a profile may name this setting."""
    head, dot, name = setting.partition(".")
    return setting in _SINGLE or setting in _WHOLE or (head in _NAMED and (not dot or bool(name)))


# The fields of `Settings` that tables by name and rules fill, where they are called otherwise
# there.
_FILLED = {
    "visibility": "overrides",
    "override_list": "overrides",
    "declared_tools": "tools",
    "agents": "permissions",
    "rules": "permissions",
    "tools": "permissions",
}


def find_field(setting: str) -> tuple[str, str | None]:
    """The field of `Settings` that a setting fills, and the name in it where it fills only one
    entry of a table.
    """
    if setting in _SINGLE:
        return _SINGLE[setting][0], None
    head, _, name = setting.partition(".")
    field = _FILLED.get(head, head)
    return field, name or None if field == head else None


def read_setting(setting: str, value: Value) -> Iterator[Entry]:
    """The entries that a value of the file gives for a setting."""
    head, _, name = setting.partition(".")
    if setting in _SINGLE:
        field, convert = _SINGLE[setting]
        yield (field,), convert(value), value
    elif setting in _WHOLE:
        yield from _WHOLE[setting](value)
    elif name:
        yield from _NAMED[head](name, value)
    else:
        for child_name, child in value.children(is_secret=head == "overrides"):
            yield from _NAMED[head](child_name, child)


def read_named(setting: str, name: str, value: Value) -> Iterator[Entry]:
    """The entries of one name in a setting that is a table by name."""
    yield from _NAMED[setting](name, value)
