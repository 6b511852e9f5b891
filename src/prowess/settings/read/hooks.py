"""Read hooks from settings files. Hooks of all files add up, as permission rules do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from prowess.model.hooks import AGENT_EVENTS, HOOK_TYPES, USUAL_TIMEOUT, Hook, HookSource
from prowess.settings.formats.document import SettingValue
from prowess.settings.formats.key_spans import Path
from prowess.text.hooks import is_matcher, is_timeout, parse_hooks

HOOKS = ("hooks",)
DIAGNOSTICS = ("diagnostics",)
"""The path of a finding about a file of a host, the rest of which counts."""

Entry = tuple[Path, Any, SettingValue]

_KEYS = ("event", "matcher", "command", "timeout", "once")


def read_hooks(value: SettingValue) -> Iterator[Entry]:
    """The hooks of a file: a list of tables in prowess.toml, Claude Code's shape in others."""
    rule = value.document.rule
    source: HookSource = "project" if rule.is_project else "user"
    if rule.refuse_unknown:
        yield from _read_own_hooks(value, source)
    else:
        yield from _read_host_hooks(value, source)


def _read_own_hooks(value: SettingValue, source: HookSource) -> Iterator[Entry]:
    if not isinstance(value.data, list):
        raise value.wrong("a list of tables, each written `[[hooks]]`")
    for item in value.items():
        yield HOOKS, _read_hook(item, source), item


def _read_host_hooks(value: SettingValue, source: HookSource) -> Iterator[Entry]:
    hooks, diagnostics = parse_hooks(
        value.data, source=source, file=value.document.file, types=HOOK_TYPES
    )
    for hook in hooks:
        # In Claude Code only hooks of skills run once.
        yield HOOKS, msgspec.structs.replace(hook, once=False, origin=value.origin), value
    for diagnostic in diagnostics:
        # `hooks.Stop[0].command` is a path of four keys.
        path = tuple(re.findall(r"[^.\[\]]+", diagnostic.field or ""))
        line = value.document.find_line(path)
        yield DIAGNOSTICS, msgspec.structs.replace(diagnostic, line=line), value


def _read_hook(item: SettingValue, source: HookSource) -> Hook:
    fields = dict(item.children())
    for name, child in fields.items():
        child.check_known(name, _KEYS, table="hooks")
    for name in ("event", "command"):
        if name not in fields:
            raise item.refuse(f"has no `{name}`")
    event = fields["event"].as_string()
    command = fields["command"].as_string()
    matcher = fields["matcher"].as_string() if "matcher" in fields else ""
    if event not in AGENT_EVENTS:
        raise fields["event"].wrong(f"one of {', '.join(AGENT_EVENTS)}")
    if not command.strip():
        raise fields["command"].wrong("the command to run")
    if not is_matcher(matcher):
        raise fields["matcher"].wrong("names of tools, separated by `|`, with `*` as a wildcard")
    return Hook(
        event=event,
        command=command,
        matcher=matcher,
        timeout=_read_timeout(fields.get("timeout")),
        once=_read_once(fields.get("once")),
        source=source,
        origin=item.origin,
    )


def _read_timeout(value: SettingValue | None) -> float:
    if value is None:
        return USUAL_TIMEOUT
    if not is_timeout(value.data):
        raise value.wrong("a number of seconds")
    return float(value.data)


def _read_once(value: SettingValue | None) -> bool:
    return False if value is None else value.as_bool()
