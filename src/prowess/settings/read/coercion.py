"""Convert the values of settings files: the type each must have, and where it goes.

Settings are named as in the `keys` of a profile: `ignored`, `toggles.enableCodexUser`, `overrides`.
Reading one gives entries: a path in `Settings`, the converted value, and the value in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prowess.model.settings import FEATURES, DeclaredTool, PathList, RemoteSettings
from prowess.profiles.places import expand_user_path
from prowess.profiles.schema.roots import ScanLimits
from prowess.settings.formats.document import SettingValue
from prowess.settings.formats.key_spans import Path
from prowess.settings.read.hooks import read_hooks
from prowess.settings.read.job_settings import read_jobs
from prowess.settings.read.mcp_servers import (
    read_disabled_servers,
    read_folder_servers,
    read_mcp_server,
)
from prowess.settings.read.permission_rules import (
    read_agent,
    read_permissions,
    read_rule_list,
    read_tools,
)
from prowess.settings.read.plugin_switches import (
    read_denied_plugins,
    read_plugin_switch,
    read_plugin_table,
)

Entry = tuple[Path, Any, SettingValue]
Convert = Callable[[SettingValue], Any]
ReadNamed = Callable[[str, SettingValue], Iterator[Entry]]


# Types


def _bool(value: SettingValue) -> bool:
    if not value.document.rule.truthy:
        return value.as_bool()
    # As JavaScript has it: empty lists and tables are true. omp takes the string "false" for true.
    if isinstance(value.data, list | dict):
        return True
    return bool(value.data)


def _string(value: SettingValue) -> str:
    return value.as_string()


def _secret(value: SettingValue) -> str:
    return value.as_string(is_secret=True)


def _strings(value: SettingValue) -> tuple[str, ...]:
    return tuple(_string(item) for item in value.items())


def _names(value: SettingValue) -> tuple[str, ...]:
    """Names, without the blanks around them."""
    return tuple(name.strip() for name in _strings(value))


def _folder(value: SettingValue) -> str:
    document = value.document
    return expand_user_path(_string(value), base=document.base, places=document.places)


def _folders(value: SettingValue) -> tuple[str, ...]:
    return tuple(_folder(item) for item in value.items())


def _absolute_folders(value: SettingValue) -> tuple[str, ...]:
    """Folders of a host to which `~` is an ordinary name."""
    document = value.document
    paths = document.places.paths
    return tuple(str(paths.join(document.base, path)) for path in _strings(value))


def _host(value: SettingValue) -> str:
    """The name of a host. A path would let a project bring rules of its own."""
    host = _string(value)
    has_folder = "/" in host or "\\" in host
    is_name = host != "" and not has_folder and not host.endswith(".toml")
    if not is_name:
        raise value.wrong("the name of a host")
    return host


def _skill_ids(value: SettingValue) -> tuple[str, ...]:
    # As omp writes them in `disabledExtensions`, which other hosts' lists of names are kept with.
    return tuple(f"skill:{name.removeprefix('skill:')}" for name in _strings(value))


def _is_number(data: Any) -> bool:
    # In Python true and false are whole numbers, too.
    return isinstance(data, int | float) and not isinstance(data, bool)


def _count(value: SettingValue) -> int:
    is_whole = _is_number(value.data) and isinstance(value.data, int)
    is_count = is_whole and value.data >= 0
    if not is_count:
        raise value.wrong("a whole number, 0 or more")
    return int(value.data)


def _amount(value: SettingValue) -> float:
    """A number that may have decimals, such as seconds."""
    # In TOML and YAML `inf` and `nan` are numbers.
    is_amount = _is_number(value.data) and 0 <= value.data < float("inf")
    if not is_amount:
        raise value.wrong("a number, 0 or more")
    number: float = value.data
    return number


def _share(value: SettingValue) -> float:
    is_share = _is_number(value.data) and 0 < value.data <= 1
    if not is_share:
        raise value.wrong("a share of the context window, more than 0 and at most 1")
    return float(value.data)


def _one_of(words: dict[str, str]) -> Convert:
    def convert(value: SettingValue) -> str:
        # A list or a table has no hash, so it can't be looked up.
        is_known = isinstance(value.data, str) and value.data in words
        if not is_known:
            raise value.wrong(f"one of {', '.join(words)}")
        return words[value.data]

    return convert


def _anything(value: SettingValue) -> Any:
    return value.data


def _api_key(value: SettingValue) -> Any:
    """An API key, or a table that says where it is stored.

    In a host's file such a table is the host's own. In ours it names an entry of the keyring.
    """
    if not isinstance(value.data, dict):
        return _secret(value)
    is_own = value.document.rule.refuse_unknown
    if is_own and not _names_keyring(value.data):
        raise value.wrong('a string, or { keyring = "SERVICE", account = "NAME" }')
    return value.data


def _names_keyring(table: dict[str, Any]) -> bool:
    if table.keys() not in ({"keyring"}, {"keyring", "account"}):
        return False
    return all(isinstance(part, str) and part for part in table.values())


_VISIBILITY = _one_of(
    {"on": "on", "name-only": "name-only", "user-only": "user-only", "off": "off"}
)
# The words of Claude Code's `skillOverrides`.
_CLAUDE_VISIBILITY = _one_of(
    {"on": "on", "name-only": "name-only", "user-invocable-only": "user-only", "off": "off"}
)


# Tables by name

# What can be set for one skill, and its type. Tables are merged key by key.
_OVERRIDE: dict[str, Convert] = {
    "enabled": _bool,
    "visibility": _VISIBILITY,
    "env": _secret,
    "api_key": _api_key,
    "config": _anything,
}
_OVERRIDE_TABLES = ("env", "config")
_HOST_SPELLINGS = {"apiKey": "api_key"}
HOST_OVERRIDE = ("enabled", "apiKey", "env", "config")


def _read_override(name: str, value: SettingValue) -> Iterator[Entry]:
    is_own = value.document.rule.refuse_unknown
    for key, child in value.children(is_secret=True):
        if is_own:
            child.check_known(key, _OVERRIDE)
        field = _HOST_SPELLINGS.get(key, key)
        # Hosts have keys here that mean nothing to us.
        if field not in _OVERRIDE:
            continue
        path, convert = ("overrides", name, field), _OVERRIDE[field]
        if field not in _OVERRIDE_TABLES:
            yield path, convert(child), child
            continue
        for part, grandchild in child.children(is_secret=True):
            yield (*path, part), convert(grandchild), grandchild


def _read_toggle(name: str, value: SettingValue) -> Iterator[Entry]:
    yield ("toggles", name), _bool(value), value


_LIMITS = ScanLimits()


def _read_limit(name: str, value: SettingValue) -> Iterator[Entry]:
    value.check_known(name, ScanLimits.__struct_fields__)
    # Seconds may have decimals; all other limits are counts.
    has_decimals = isinstance(getattr(_LIMITS, name), float)
    convert = _amount if has_decimals else _count
    yield ("limits", name), convert(value), value


# The keys of `[budget]` that users can set.
_BUDGET: dict[str, Convert] = {
    "share": _share,
    "characters": _count,
    "skills": _count,
    "per_item": _count,
}
BUDGET_NAMES = tuple(_BUDGET)


# Those that only files of hosts set.
_HOST_BUDGET: dict[str, Convert] = {"tokens": _count, "window": _count}


def _read_budget(name: str, value: SettingValue) -> Iterator[Entry]:
    known = _BUDGET
    if not value.document.rule.is_own:
        known = {**_BUDGET, **_HOST_BUDGET}
    value.check_known(name, known)
    yield ("budget", name), known[name](value), value


def _read_visibility(name: str, value: SettingValue) -> Iterator[Entry]:
    yield ("overrides", name, "visibility"), _CLAUDE_VISIBILITY(value), value


_SANDBOX: dict[str, Convert] = {
    "mode": _one_of({"on": "on", "off": "off"}),
    "network": _bool,
    "write": _folders,
    "hide": _folders,
    "memory_mb": _count,
    "processes": _count,
}
# What can be set for one skill.
_SANDBOX_OF_SKILL = ("mode", "network", "write")


def _read_sandbox(name: str, value: SettingValue) -> Iterator[Entry]:
    if name == "skills":
        for skill, table in value.children():
            yield from _read_sandbox_of_skill(skill, table)
        return
    value.check_known(name, (*_SANDBOX, "skills"), table="sandbox")
    yield ("sandbox", name), _SANDBOX[name](value), value


def _read_sandbox_of_skill(skill: str, table: SettingValue) -> Iterator[Entry]:
    for key, child in table.children():
        child.check_known(key, _SANDBOX_OF_SKILL, table=f"sandbox.skills.{skill}")
        yield ("sandbox", "skills", skill, key), _SANDBOX[key](child), child


# What OpenClaw has for one agent, by the keys from its table down. Its other keys are not about
# skills.
_AGENT_ENTRY: dict[tuple[str, ...], tuple[str, Convert]] = {
    ("default",): ("default", _bool),
    ("skills",): ("skills", _names),
    ("workspace",): ("workspace", _folder),
    ("skillsLimits", "maxSkillsPromptChars"): ("characters", _count),
}


def _read_agent_entry(name: str, value: SettingValue) -> Iterator[Entry]:
    for keys, (field, convert) in _AGENT_ENTRY.items():
        found = value.document.find((*value.path, *keys))
        if found is not None:
            yield ("agent_entries", name, field), convert(found), found


def _share_or_never(value: SettingValue) -> float:
    is_share = _is_number(value.data) and 0 <= value.data <= 1
    if not is_share:
        raise value.wrong("a share of the context window, from 0 (never) to 1")
    return float(value.data)


def _minutes_or_never(value: SettingValue) -> float:
    is_time = _is_number(value.data) and 0 <= value.data <= _MOST_MINUTES
    if not is_time:
        raise value.wrong("minutes, or 0 for never")
    return float(value.data)


_MOST_MINUTES = 7 * 24 * 60
_AGENT_VALUES: Mapping[str, Convert] = {
    "model": _string,
    "context_window": _count,
    "compact_at": _share_or_never,
    "dream_after": _minutes_or_never,
    "private_hosts": lambda value: tuple(map(str.lower, _names(value))),
}
_AGENT_KEYS = (*_AGENT_VALUES, "models")


def _read_own_agent(name: str, value: SettingValue) -> Iterator[Entry]:
    """One key of `[agent]`, which is about Prowess's own agent."""
    if name == "models":
        for alias, model in value.children():
            yield ("agent", name, alias), _string(model), model
        return
    value.check_known(name, _AGENT_KEYS, table="agent")
    yield ("agent", name), _AGENT_VALUES[name](value), value


def _read_feature(name: str, value: SettingValue) -> Iterator[Entry]:
    value.check_known(name, FEATURES, table="features")
    yield ("features", name), _bool(value), value


_SOURCE_KEYS: dict[str, Convert] = {"url": _string, "enabled": _bool, "private": _bool}
_SOURCE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SOURCE_NAME_RULE = (
    "use up to 64 letters, digits, `.`, `_` and `-`, and begin with a letter or a digit"
)


def is_source_name(name: str) -> bool:
    """Whether a table of `[sources]` may have this name."""
    return _SOURCE_NAME.fullmatch(name) is not None


def _read_remote(name: str, value: SettingValue) -> Iterator[Entry]:
    """A remote source as a whole: if two files name it, the later one counts, not a mixture."""
    if not is_source_name(name):
        raise value.refuse(f"is not a name: {SOURCE_NAME_RULE}")
    fields = dict(value.children())
    for key, child in fields.items():
        child.check_known(key, _SOURCE_KEYS, table=f"sources.{name}")
    if "url" not in fields:
        raise value.refuse("has no `url`; add the address of the server")
    converted = {key: _SOURCE_KEYS[key](child) for key, child in fields.items()}
    yield ("sources", name), RemoteSettings(**converted), value


_NETWORK: dict[str, Convert] = {
    "offline": _bool,
    "seconds": _amount,
    "refresh_seconds": _amount,
    "max_age_hours": _amount,
    "retry_minutes": _amount,
}


def _read_network(name: str, value: SettingValue) -> Iterator[Entry]:
    value.check_known(name, _NETWORK, table="network")
    yield ("network", name), _NETWORK[name](value), value


_TOOL_KEYS = ("command", "description")


def _read_declared_tool(name: str, value: SettingValue) -> Iterator[Entry]:
    """A tool as a whole: if two files declare it, the later one counts, not a mixture."""
    fields = dict(value.children())
    for key, child in fields.items():
        child.check_known(key, _TOOL_KEYS, table=f"tools.{name}")
    if "command" not in fields:
        raise value.refuse("has no `command`; add a list with the program and its arguments")
    command = _command(fields["command"])
    description = None
    if "description" in fields:
        description = _string(fields["description"])
    yield ("tools", name), DeclaredTool(command=command, description=description), value


def _command(value: SettingValue) -> tuple[str, ...]:
    is_list = isinstance(value.data, list) and value.data
    names_program = is_list and value.data[0] != ""
    if not names_program:
        raise value.wrong("a list with the program and its arguments")
    first, *rest = value.items()
    program = _string(first)
    # A program with a folder is relative to the file, wherever the command is run.
    has_folder = "/" in program or "\\" in program
    if has_folder:
        program = _folder(first)
    return (program, *map(_string, rest))


def _read_override_list(value: SettingValue) -> Iterator[Entry]:
    """A list of tables, each of which enables or disables the skill with a name or at a path."""
    for item in value.items():
        fields = dict(item.children())
        # Codex allows other keys in these tables; without this one there is nothing to read.
        if "enabled" not in fields:
            continue
        enabled = fields["enabled"]
        name, path = fields.get("name"), fields.get("path")
        # Codex ignores an entry with both.
        has_both = name is not None and path is not None
        if has_both:
            continue
        if name is not None:
            yield ("overrides", _string(name), "enabled"), _bool(enabled), enabled
        # It also ignores a path that is not that of a SKILL.md.
        if path is not None and _string(path).endswith("/SKILL.md"):
            yield ("overrides", _folder(path), "enabled"), _bool(enabled), enabled


def _read_plugin_only(value: SettingValue) -> Iterator[Entry]:
    """Whether only plugins may add skills: for everything, or for the kinds in a list.

    Claude Code's managed settings have `strictPluginOnlyCustomization` in both forms.
    """
    is_list = isinstance(value.data, list)
    is_locked = "skills" in _strings(value) if is_list else _bool(value)
    yield ("toggles", "plugin_only"), is_locked, value


# What makes an entry of a path list a filter.
_FILTER_MARKS = ("!", "+", "-")


def _read_path_list(name: str, value: SettingValue) -> Iterator[Entry]:
    """A list of paths to search and of filters on what is found, as Pi has it."""
    document = value.document
    filters: list[str] = []
    paths: list[str] = []
    for entry in _strings(value):
        has_wildcard = "*" in entry or "?" in entry
        if has_wildcard or entry.startswith(_FILTER_MARKS):
            filters.append(entry)
            continue
        path = expand_user_path(entry.strip(), base=document.base, places=document.places)
        paths.append(path)
    found = PathList(document.base, tuple(paths), tuple(filters))
    yield ("skill_paths", name), found, value


def _read_trusted_folder(name: str, value: SettingValue) -> Iterator[Entry]:
    # Gemini CLI ignores entries that are not words.
    if isinstance(value.data, str):
        yield ("trusted_folders", name), value.data, value


# Settings

_NODE_MANAGERS = ("npm", "pnpm", "yarn", "bun")

# Settings with a single value: the field of `Settings` and the type.
_SINGLE: dict[str, tuple[str, Convert]] = {
    "enabled": ("enabled", _bool),
    "enabled_providers": ("enabled_providers", _strings),
    "disabled_providers": ("disabled_providers", _strings),
    "disabled_extensions": ("disabled_extensions", _strings),
    "disabled": ("disabled_extensions", _skill_ids),
    # These three are Qwen Code's, which has skills that are off until they are named.
    "default_disabled": ("default_disabled", _strings),
    "enabled_names": ("enabled_names", _strings),
    "disabled_levels": ("disabled_levels", _strings),
    "ignored": ("ignored", _strings),
    "included": ("included", _strings),
    "custom_folders": ("custom_folders", _folders),
    # Copilot's, which takes `~` for an ordinary name.
    "absolute_folders": ("custom_folders", _absolute_folders),
    "folder_trust": ("folder_trust", _bool),
    "remote_urls": ("remote_urls", _strings),
    "plugin_folders": ("plugin_folders", _folders),
    # Codex's, which finds the top of a project by other names than `.git`.
    "root_markers": ("root_markers", _strings),
    "catalog": ("catalog", _bool),
    "trusted_links": ("trusted_links", _folders),
    "workspace": ("workspace", _folder),
    "allowed_bundled": ("allowed_bundled", _names),
    "agent_skills": ("agent_skills", _names),
    "skill_commands": ("skill_commands", _bool),
    "shell_commands": ("shell_commands", _bool),
    # Claude Code has the switch the other way round: `disableSkillShellExecution`.
    "no_shell_commands": ("shell_commands", lambda value: not _bool(value)),
    "usage": ("usage", _bool),
    "approvals": ("approvals", _one_of({"memory": "memory", "disk": "disk"})),
    "trust": ("trust", _one_of({"repository": "repository", "content": "content"})),
    "host": ("host", _host),
    "node_manager": ("node_manager", _one_of({name: name for name in _NODE_MANAGERS})),
}
# Settings that are tables by name; `toggles.NAME` is one entry of such a table.
_NAMED: dict[str, ReadNamed] = {
    "toggles": _read_toggle,
    "limits": _read_limit,
    "budget": _read_budget,
    "visibility": _read_visibility,
    "overrides": _read_override,
    "declared_tools": _read_declared_tool,
    "sandbox": _read_sandbox,
    "agent": _read_own_agent,
    "mcp_servers": read_mcp_server,
    "features": _read_feature,
    "sources": _read_remote,
    "network": _read_network,
    "jobs": read_jobs,
    "agents": read_agent,
    "agent_entries": _read_agent_entry,
    "rules": read_rule_list,
    "skill_paths": _read_path_list,
    "trusted_folders": _read_trusted_folder,
    "enabled_plugins": read_plugin_table,
    "plugin_switches": read_plugin_switch,
}
# Settings that are read as a whole.
_WHOLE: dict[str, Callable[[SettingValue], Iterator[Entry]]] = {
    "permissions": read_permissions,
    "hooks": read_hooks,
    "tools": read_tools,
    "override_list": _read_override_list,
    "plugin_only": _read_plugin_only,
    "mcp_disabled": read_disabled_servers,
    "mcp_folders": read_folder_servers,
    "denied_plugins": read_denied_plugins,
}
# The field of `Settings` that these fill, where it has another name.
_FILLED = {
    "visibility": "overrides",
    "override_list": "overrides",
    "plugin_only": "toggles.plugin_only",
    "plugin_switches": "enabled_plugins",
    "denied_plugins": "enabled_plugins",
    "declared_tools": "tools",
    "mcp_disabled": "mcp_servers",
    "mcp_folders": "mcp_servers",
    "agents": "permissions",
    "rules": "permissions",
    "tools": "permissions",
}


_SECRET_TABLES = ("overrides", "mcp_servers")


def is_setting(setting: str) -> bool:
    """Whether a profile may map a key to this setting."""
    if setting in _SINGLE or setting in _WHOLE:
        return True
    head, dot, name = setting.partition(".")
    # `toggles` is the whole table and `toggles.x` one entry, but `toggles.` is nothing.
    return head in _NAMED and bool(name) == bool(dot)


def get_field(setting: str) -> tuple[str, str | None]:
    """The field of `Settings` that a setting fills, and the name if it fills one entry only."""
    if setting in _SINGLE:
        return _SINGLE[setting][0], None
    head, _, name = setting.partition(".")
    if head in _FILLED:
        field, _, entry = _FILLED[head].partition(".")
        return field, entry or None
    return head, name or None


def read_setting(setting: str, value: SettingValue) -> Iterator[Entry]:
    """The entries of a setting."""
    head, _, name = setting.partition(".")
    if setting in _SINGLE:
        field, convert = _SINGLE[setting]
        yield (field,), convert(value), value
    elif setting in _WHOLE:
        yield from _WHOLE[setting](value)
    elif name:
        yield from read_named(head, name, value)
    else:
        for child_name, child in value.children(is_secret=head in _SECRET_TABLES):
            yield from read_named(head, child_name, child)


def read_named(setting: str, name: str, value: SettingValue) -> Iterator[Entry]:
    """The entries of one name in a setting that is a table by name."""
    yield from _NAMED[setting](name, value)
