"""What a skill asks of the agent that carries it out, read from its header as a host heeds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prowess.activate.hooks import check_hooks
from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.activation import Requests
from prowess.model.skill import Manifest
from prowess.profiles.schema.commands import RequestRules

_AS_IT_IS = "inherit"


def read_requests(
    manifest: Manifest,
    rules: RequestRules,
    *,
    file: str | None = None,
    expand: Callable[[str], str] | None = None,
) -> tuple[Requests, tuple[Diagnostic, ...]]:
    """What a header asks for, and what of it has no effect. A field that the host does not heed
    counts as not there.

    `expand` fills the variables in the names of tools (`Bash(${CLAUDE_SKILL_DIR}/run *)`).
    """
    found: list[Diagnostic] = []
    fork = _heeds(rules, "context") and manifest.context == "fork"
    return Requests(
        model=_read_model(manifest) if _heeds(rules, "model") else None,
        effort=_read_effort(manifest, rules, found, file) if _heeds(rules, "effort") else None,
        fork=fork,
        background=_read_background(manifest, rules, found, file, fork=fork),
        agent=_read_agent(manifest, rules, found, file, fork=fork),
        allowed_tools=_read_tools(manifest.allowed_tools, expand)
        if _heeds(rules, "allowed-tools")
        else (),
        disallowed_tools=_read_tools(manifest.disallowed_tools, expand)
        if _heeds(rules, "disallowed-tools")
        else (),
        hooks=_read_hooks(manifest, rules, found, file),
    ), tuple(found)


def _heeds(rules: RequestRules, field: str) -> bool:
    return field in rules.fields


def _read_model(manifest: Manifest) -> str | None:
    model = (manifest.model or "").strip()
    return None if model in ("", _AS_IT_IS) else model


def _read_tools(tools: tuple[str, ...], expand: Callable[[str], str] | None) -> tuple[str, ...]:
    return tools if expand is None else tuple(expand(tool) for tool in tools)


def _read_effort(
    manifest: Manifest, rules: RequestRules, found: list[Diagnostic], file: str | None
) -> str | int | None:
    effort = manifest.effort
    if (
        effort is None
        or effort in rules.efforts
        or (isinstance(effort, int) and rules.numeric_effort)
    ):
        return effort
    allowed = ", ".join(rules.efforts) + (" or a number" if rules.numeric_effort else "")
    message = f"`effort` is “{effort}”; here it may be {allowed}."
    found.append(diagnose("field-value", message, file=file, field="effort"))
    return None


def _read_background(
    manifest: Manifest,
    rules: RequestRules,
    found: list[Diagnostic],
    file: str | None,
    *,
    fork: bool,
) -> bool | None:
    declared = manifest.background if _heeds(rules, "background") else None
    if fork:
        return rules.background if declared is None else declared
    if declared is not None:
        found.append(_idle("background", file))
    return None


def _read_agent(
    manifest: Manifest,
    rules: RequestRules,
    found: list[Diagnostic],
    file: str | None,
    *,
    fork: bool,
) -> str | None:
    agent = (manifest.agent or "").strip() if _heeds(rules, "agent") else ""
    if agent and not fork:
        found.append(_idle("agent", file))
    return agent if agent and fork else None


def _idle(field: str, file: str | None) -> Diagnostic:
    message = f"`{field}` has no effect without `context: fork`."
    hint = f"Add `context: fork`, or remove `{field}`."
    return diagnose("field-value", message, file=file, field=field, hint=hint)


def _read_hooks(
    manifest: Manifest, rules: RequestRules, found: list[Diagnostic], file: str | None
) -> Mapping[str, Any]:
    if manifest.hooks is None or not _heeds(rules, "hooks"):
        return {}
    return check_hooks(manifest.hooks, rules, found, file=file)
