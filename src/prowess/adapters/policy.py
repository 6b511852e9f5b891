"""What a skill is granted of what its header asks for: a model, an effort, tools, a sub-agent."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.activation import Activation, SkillRequests

FIELDS = ("model", "effort", "allowed-tools", "disallowed-tools", "context")
"""The fields that a policy is about, as headers name them."""

_NOT_APPLIED = "this adapter cannot apply it"
_NOT_GRANTED = "the policy does not grant it"
_EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")


class GrantedRequests(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a skill is granted until the user's next message.

    `model` is the name that the skill asked for, which the policy translates.
    """

    model: str | None = None
    effort: str | None = None
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    fork: bool = False

    def allows(self, tool: str) -> bool:
        """Whether a tool needs no approval."""
        return _names(self.allowed_tools, tool) and not self.forbids(tool)

    def forbids(self, tool: str) -> bool:
        """Whether a tool is not available."""
        return _names(self.disallowed_tools, tool)


class SkillPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What skills may have of what they ask for. The defaults only restrict and never spend more.

    - `models`: the models that skills may choose, by the names that headers use; the values are
      what your library takes for a model. Other names are not granted.
    - `effort`: whether a skill may choose how hard the model thinks.
    - `allowed_tools`: whether tools that a trusted skill names need no approval until the user's
      next message.
    - `disallowed_tools`: whether tools that a skill names are taken away for that long.
    - `fork`: whether a skill with `context: fork` is followed by a sub-agent, whose answer is the
      result of the call.
    """

    models: Mapping[str, Any] = msgspec.field(default_factory=dict)
    effort: bool = False
    allowed_tools: bool = False
    disallowed_tools: bool = True
    fork: bool = False

    def grant(
        self, activation: Activation, applied: Container[str]
    ) -> tuple[GrantedRequests, tuple[Diagnostic, ...]]:
        """What a skill is granted, and a diagnostic for each request that is not.

        `applied` are the fields of headers that the library can do something about.
        """
        asked = _list_requests(activation.requests)
        refused = dict(self._list_refusals(activation))
        for field, value in asked.items():
            if value and field not in applied:
                refused[field] = _NOT_APPLIED
        left = {field: value for field, value in asked.items() if field not in refused}
        effort = left.get("effort")
        granted = GrantedRequests(
            model=left.get("model"),
            effort=None if effort is None else str(effort),
            allowed_tools=left.get("allowed-tools", ()),
            disallowed_tools=left.get("disallowed-tools", ()),
            fork=left.get("context", False),
        )
        findings = [_diagnose(activation, field, reason) for field, reason in refused.items()]
        return granted, tuple(findings)

    def _list_refusals(self, activation: Activation) -> Iterator[tuple[str, str]]:
        """The fields that a skill asks for and is not granted, and why."""
        asked = activation.requests
        if asked.model is not None and asked.model not in self.models:
            yield "model", f"the policy has no model “{asked.model}”"
        if asked.effort is not None:
            yield from self._refuse_effort(asked.effort)
        if asked.allowed_tools:
            yield from self._refuse_allowed_tools(is_trusted=activation.trusted)
        if asked.disallowed_tools and not self.disallowed_tools:
            yield "disallowed-tools", "the policy does not apply it"
        if asked.fork and not self.fork:
            yield "context", _NOT_GRANTED
        if asked.hooks:
            yield "hooks", _NOT_APPLIED

    def _refuse_effort(self, effort: str | int) -> Iterator[tuple[str, str]]:
        if not self.effort:
            yield "effort", _NOT_GRANTED
        elif effort not in _EFFORTS:
            yield "effort", f"“{effort}” is not one of {', '.join(_EFFORTS)}"

    def _refuse_allowed_tools(self, *, is_trusted: bool) -> Iterator[tuple[str, str]]:
        if not self.allowed_tools:
            yield "allowed-tools", _NOT_GRANTED
        elif not is_trusted:
            # Or a cloned project could spare itself every question.
            yield "allowed-tools", "the skill's project is not trusted"


def merge_granted(all_granted: Iterable[GrantedRequests]) -> GrantedRequests:
    """What several skills together are granted: the last model and effort, and all tools."""
    merged = GrantedRequests()
    for granted in all_granted:
        merged = GrantedRequests(
            model=granted.model or merged.model,
            effort=granted.effort or merged.effort,
            allowed_tools=(*merged.allowed_tools, *granted.allowed_tools),
            disallowed_tools=(*merged.disallowed_tools, *granted.disallowed_tools),
        )
    return merged


def parse_granted(data: Any) -> GrantedRequests | None:
    """What was granted, as an adapter kept it beside a result; None for anything else."""
    kept = data.get("prowess_granted") if isinstance(data, Mapping) else None
    if kept is None:
        return None
    try:
        return msgspec.convert(kept, GrantedRequests)
    except msgspec.ValidationError:
        return None


def keep_granted(granted: GrantedRequests | None) -> dict[str, Any] | None:
    """What an adapter keeps beside a result, where the model does not see it."""
    if granted is None:
        return None
    return {"prowess_granted": msgspec.to_builtins(granted)}


def _names(patterns: Iterable[str], tool: str) -> bool:
    """Whether a tool is named as a whole. `Bash(git *)` is about some calls, so it names none."""
    return tool.casefold() in (pattern.casefold() for pattern in patterns)


def _list_requests(asked: SkillRequests) -> dict[str, Any]:
    """What a skill asks for, by the fields of its header."""
    values = (asked.model, asked.effort, asked.allowed_tools, asked.disallowed_tools, asked.fork)
    return dict(zip(FIELDS, values, strict=True))


def _diagnose(activation: Activation, field: str, reason: str) -> Diagnostic:
    message = f"The skill “{activation.name}” asks for `{field}`, which is not granted: {reason}."
    return diagnose("request-not-granted", message, field=field)
