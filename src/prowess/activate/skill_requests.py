"""What a skill asks of its agent: the fields of its header that the host heeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.activation import SkillRequests
from prowess.model.skill import Manifest
from prowess.profiles.schema.commands import RequestRules
from prowess.text.hooks import check_hooks

_INHERIT = "inherit"
_get_requests = attrgetter(
    "model",
    "effort",
    "context",
    "background",
    "agent",
    "allowed_tools",
    "disallowed_tools",
    "hooks",
)
_NO_REQUESTS = _get_requests(Manifest())


def read_requests(
    manifest: Manifest,
    rules: RequestRules,
    *,
    file: str | None = None,
    expand: Callable[[str], str] | None = None,
) -> tuple[SkillRequests, tuple[Diagnostic, ...]]:
    """What a header asks for, and what of it has no effect.

    A field that the host does not heed counts as missing. `expand` fills the variables in the names
    of tools (`Bash(${CLAUDE_SKILL_DIR}/run *)`).
    """
    # Most skills ask for nothing.
    if _get_requests(manifest) == _NO_REQUESTS:
        return SkillRequests(), ()
    reader = _RequestReader(manifest, rules, file)
    requests = SkillRequests(
        model=reader.read_model(),
        effort=reader.read_effort(),
        fork=reader.fork,
        background=reader.read_background(),
        agent=reader.read_agent(),
        allowed_tools=reader.read_tools("allowed-tools", manifest.allowed_tools, expand),
        disallowed_tools=reader.read_tools("disallowed-tools", manifest.disallowed_tools, expand),
        hooks=reader.read_hooks(),
    )
    return requests, tuple(reader.diagnostics)


class _RequestReader:
    """Reads the requests of one header."""

    def __init__(self, manifest: Manifest, rules: RequestRules, file: str | None) -> None:
        self._manifest = manifest
        self._rules = rules
        self._file = file
        self.diagnostics: list[Diagnostic] = []
        self.fork = self._heeds("context") and manifest.context == "fork"

    def read_model(self) -> str | None:
        # `inherit` keeps the model of the conversation, as no field at all does.
        model = (self._manifest.model or "").strip()
        if not self._heeds("model") or model in ("", _INHERIT):
            return None
        return model

    def read_effort(self) -> str | int | None:
        effort, rules = self._manifest.effort, self._rules
        if effort is None or not self._heeds("effort"):
            return None
        is_number = isinstance(effort, int) and rules.numeric_effort
        if is_number or effort in rules.efforts:
            return effort
        allowed = ", ".join(rules.efforts)
        if rules.numeric_effort:
            allowed += " or a number"
        message = f"`effort` is “{effort}”; use {allowed}."
        self.diagnostics.append(diagnose("field-value", message, file=self._file, field="effort"))
        return None

    def read_background(self) -> bool | None:
        declared = self._manifest.background if self._heeds("background") else None
        if not self.fork:
            self._check_unused("background", is_declared=declared is not None)
            return None
        return self._rules.background if declared is None else declared

    def read_agent(self) -> str | None:
        declared = self._manifest.agent if self._heeds("agent") else None
        agent = (declared or "").strip()
        if not self.fork:
            self._check_unused("agent", is_declared=bool(agent))
            return None
        return agent or None

    def read_tools(
        self, field: str, tools: tuple[str, ...], expand: Callable[[str], str] | None
    ) -> tuple[str, ...]:
        if not self._heeds(field):
            return ()
        return tools if expand is None else tuple(expand(tool) for tool in tools)

    def read_hooks(self) -> Mapping[str, Any]:
        hooks = self._manifest.hooks
        if hooks is None or not self._heeds("hooks"):
            return {}
        return check_hooks(
            hooks,
            self.diagnostics,
            events=self._rules.hook_events,
            types=self._rules.hook_types,
            file=self._file,
        )

    def _heeds(self, field: str) -> bool:
        return field in self._rules.fields

    def _check_unused(self, field: str, *, is_declared: bool) -> None:
        """Report a field that only has an effect in a fork."""
        if not is_declared:
            return
        message = f"`{field}` has no effect without `context: fork`."
        hint = f"Add `context: fork`, or remove `{field}`."
        self.diagnostics.append(
            diagnose("field-value", message, file=self._file, field=field, hint=hint)
        )
