"""The hooks of a skill: their events, the tools they are for, and whether they run once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import nearest_names
from prowess.profiles.schema.commands import RequestRules
from prowess.text.globs import matches_wildcard

# Names with `.*` or `*` for anything, separated by `|`. No other regular expressions are accepted,
# because the pattern comes from a skill and could be written to take forever.
_ALTERNATIVES = re.compile(r"\^?\(?([\w:./*-]*(?:\|[\w:./*-]*)*)\)?\$?")


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One hook: its event, the tools it is for ("" for all), its kind, and all fields as written.

    With `once` it runs only the first time.
    """

    event: str
    matcher: str
    kind: str
    fields: Mapping[str, Any]
    once: bool = False

    def matches(self, subject: str) -> bool:
        """Whether the hook is for a tool, or for another subject of its event."""
        patterns = _read_matcher(self.matcher) or ()
        return any(pattern == "" or matches_wildcard(subject, pattern) for pattern in patterns)


def list_hooks(hooks: Mapping[str, Any]) -> tuple[Hook, ...]:
    """Every hook of a checked table, in the order in which they are written."""
    return tuple(
        Hook(
            event=event,
            matcher=group["matcher"],
            kind=hook["type"],
            once=hook.get("once", False),
            fields=hook,
        )
        for event, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
    )


class _Report:
    """Collects the problems of one table."""

    def __init__(self, found: list[Diagnostic], file: str | None) -> None:
        self._found = found
        self._file = file

    def wrong(self, code: str, path: str, problem: str) -> None:
        end = "" if problem.endswith("?") else "."
        message = f"`{path}` {problem}{end}"
        self._found.append(diagnose(code, message, file=self._file, field=path))


def check_hooks(
    hooks: Mapping[str, Any],
    rules: RequestRules,
    found: list[Diagnostic],
    *,
    file: str | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """The usable part of a table of hooks: by event, groups of a matcher and its hooks.

    An event that the host does not know is reported but kept, because an agent may know more.
    """
    report = _Report(found, file)
    checked: dict[str, list[dict[str, Any]]] = {}
    for event, groups in hooks.items():
        path = f"hooks.{event}"
        if rules.hook_events and event not in rules.hook_events:
            nearest = nearest_names(event, rules.hook_events, most=1)
            instead = (
                f"did you mean `{nearest[0]}`?"
                if nearest
                else f"the events are {', '.join(rules.hook_events)}"
            )
            report.wrong("field-value", path, f"is not an event of this host; {instead}")
        if not isinstance(groups, list):
            report.wrong(
                "field-type",
                path,
                "must be a list of groups, each with `hooks` and an optional `matcher`",
            )
            continue
        kept = list(_check_groups(groups, path, rules, report))
        if kept:
            checked[event] = kept
    return checked


def _check_groups(
    groups: list[Any], path: str, rules: RequestRules, report: _Report
) -> Iterator[dict[str, Any]]:
    for number, group in enumerate(groups):
        place = f"{path}[{number}]"
        if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
            report.wrong("field-type", place, "must be a mapping with a list of `hooks`")
            continue
        matcher = group.get("matcher", "")
        if not isinstance(matcher, str) or _read_matcher(matcher) is None:
            report.wrong(
                "field-value",
                f"{place}.matcher",
                "must be names of tools, separated by `|`, with `*` as a wildcard",
            )
            continue
        hooks = list(_check_each(group["hooks"], f"{place}.hooks", rules, report))
        if hooks:
            yield {"matcher": matcher, "hooks": hooks}


def _read_matcher(matcher: str) -> tuple[str, ...] | None:
    """The wildcards of a matcher; None if it is not one."""
    alternatives = _ALTERNATIVES.fullmatch(matcher.strip())
    return None if alternatives is None else tuple(alternatives[1].replace(".*", "*").split("|"))


def _check_each(
    hooks: list[Any], path: str, rules: RequestRules, report: _Report
) -> Iterator[dict[str, Any]]:
    for number, hook in enumerate(hooks):
        place = f"{path}[{number}]"
        kind = hook.get("type") if isinstance(hook, dict) else None
        if kind not in rules.hook_types:
            report.wrong("field-value", f"{place}.type", f"must be {', '.join(rules.hook_types)}")
        elif kind == "command" and not (
            isinstance(hook.get("command"), str) and hook["command"].strip()
        ):
            report.wrong("field-type", f"{place}.command", "must be the command to run")
        elif not isinstance(hook.get("once", False), bool):
            report.wrong("field-type", f"{place}.once", "must be true or false")
        else:
            yield dict(hook)
