"""Read hooks in Claude Code's shape: by event, groups of a matcher and its hooks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import nearest_names
from prowess.model.hooks import USUAL_TIMEOUT, Hook, HookSource
from prowess.model.origin import Origin
from prowess.text.globs import matches_wildcard

# Those of Claude Code. Prowess's agent runs some of them; others are no mistake.
EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Notification",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "SessionEnd",
)

# Names with `.*` or `*` for anything, separated by `|`. No other regular expressions are accepted,
# because the pattern comes from a skill and could be written to take forever.
_ALTERNATIVES = re.compile(r"\^?\(?([\w:./*-]*(?:\|[\w:./*-]*)*)\)?\$?")


def parse_hooks(
    data: object,
    *,
    source: HookSource,
    name: str = "",
    root: str | None = None,
    file: str | None = None,
    types: Sequence[str] = ("command",),
) -> tuple[tuple[Hook, ...], tuple[Diagnostic, ...]]:
    """The hooks in Claude Code's shape, and what is wrong with the rest.

    `data` is a table of events, each with a list of groups: what `hooks` has in a settings file, in
    the header of a skill and in a plugin's `hooks.json`. Only hooks of the given `types` count.
    """
    findings: list[Diagnostic] = []
    if not isinstance(data, Mapping):
        _Report(findings, file).wrong("field-type", "hooks", "must be a table of events")
        return (), tuple(findings)
    checked = check_hooks(data, findings, events=EVENTS, types=types, file=file)
    return list_hooks(checked, source=source, name=name, root=root, file=file), tuple(findings)


def list_hooks(
    hooks: Mapping[str, Any],
    *,
    source: HookSource = "skill",
    name: str = "",
    root: str | None = None,
    file: str | None = None,
) -> tuple[Hook, ...]:
    """Every hook of a checked table, in the order in which they are written."""
    return tuple(
        Hook(
            event=event,
            matcher=group["matcher"],
            kind=hook["type"],
            command=hook.get("command", ""),
            timeout=hook.get("timeout", USUAL_TIMEOUT),
            once=hook.get("once", False),
            source=source,
            name=name,
            root=root,
            origin=Origin(file),
        )
        for event, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
    )


def matches_hook(hook: Hook, subject: str) -> bool:
    """Whether a hook is for a tool, or for another subject of its event."""
    for pattern in _read_matcher(hook.matcher) or ():
        # An empty matcher is for everything.
        if pattern == "" or matches_wildcard(subject, pattern):
            return True
    return False


def is_matcher(text: str) -> bool:
    """Whether a text can be the matcher of a hook."""
    return _read_matcher(text) is not None


class _Report:
    """Collects the problems of one table."""

    def __init__(self, findings: list[Diagnostic], file: str | None) -> None:
        self._findings = findings
        self._file = file

    def wrong(self, code: str, path: str, problem: str) -> None:
        end = "" if problem.endswith("?") else "."
        message = f"`{path}` {problem}{end}"
        self._findings.append(diagnose(code, message, file=self._file, field=path))


def check_hooks(
    hooks: Mapping[str, Any],
    findings: list[Diagnostic],
    *,
    events: Collection[str],
    types: Collection[str],
    file: str | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """The usable part of a table of hooks: by event, groups of a matcher and its hooks.

    An event that is not one of `events` is reported but kept, because an agent may know more. No
    `events` are any.
    """
    report = _Report(findings, file)
    checked: dict[str, list[dict[str, Any]]] = {}
    for event, groups in hooks.items():
        path = f"hooks.{event}"
        if events and event not in events:
            advice = _advise_event(event, events)
            report.wrong("field-value", path, f"is not an event of this host; {advice}")
        if not isinstance(groups, list):
            report.wrong(
                "field-type",
                path,
                "must be a list of groups, each with `hooks` and an optional `matcher`",
            )
            continue
        kept = list(_check_groups(groups, path, types, report))
        if kept:
            checked[event] = kept
    return checked


def _advise_event(event: str, events: Collection[str]) -> str:
    nearest = nearest_names(event, events, most=1)
    if nearest:
        return f"did you mean `{nearest[0]}`?"
    return f"the events are {', '.join(events)}"


def _check_groups(
    groups: list[Any], path: str, types: Collection[str], report: _Report
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
        hooks = list(_check_each(group["hooks"], f"{place}.hooks", types, report))
        if hooks:
            yield {"matcher": matcher, "hooks": hooks}


def _read_matcher(matcher: str) -> tuple[str, ...] | None:
    """The wildcards of a matcher; None if it is not one."""
    alternatives = _ALTERNATIVES.fullmatch(matcher.strip())
    if alternatives is None:
        return None
    return tuple(alternatives[1].replace(".*", "*").split("|"))


def _check_each(
    hooks: list[Any], path: str, types: Collection[str], report: _Report
) -> Iterator[dict[str, Any]]:
    for number, hook in enumerate(hooks):
        place = f"{path}[{number}]"
        if not isinstance(hook, dict) or hook.get("type") not in types:
            report.wrong("field-value", f"{place}.type", f"must be {', '.join(types)}")
        elif hook["type"] == "command" and not _is_filled_text(hook.get("command")):
            report.wrong("field-type", f"{place}.command", "must be the command to run")
        elif not isinstance(hook.get("once", False), bool):
            report.wrong("field-type", f"{place}.once", "must be true or false")
        elif not is_timeout(hook.get("timeout", USUAL_TIMEOUT)):
            report.wrong("field-type", f"{place}.timeout", "must be a number of seconds")
        else:
            yield dict(hook)


def _is_filled_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def is_timeout(value: object) -> bool:
    """Whether a value can be the time limit of a hook, in seconds."""
    # In Python true and false are numbers, too; in YAML so are `.inf` and `.nan`.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < float("inf")
