"""`arguments` as a mapping: for each name, what the argument may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.skill import DeclaredArgument
from prowess.parse.yaml.text_values import describe, is_list_of_scalars, render_scalar
from prowess.text.value_pattern import PatternError, parse_pattern

_KEYS = ("pattern", "choices", "options", "required")


def read_declared_arguments(
    arguments: Mapping[str, Any], findings: list[Diagnostic]
) -> tuple[DeclaredArgument, ...]:
    """Every argument with what it may be. What cannot be used of it is added to `findings`."""
    return tuple(_read_argument(str(name), value, findings) for name, value in arguments.items())


def _read_argument(name: str, value: Any, findings: list[Diagnostic]) -> DeclaredArgument:
    """One argument. If its declaration is wrong, no value is allowed; guessing would be lax."""
    table = {} if value is None else value
    problem = _find_problem(table)
    if problem is not None:
        key, why = problem
        field = ".".join(filter(None, ("arguments", name, key)))
        findings.append(diagnose("field-value", f"`{field}` {why}.", field=field))
        return DeclaredArgument(name=name, problem=f"`{field}` {why}")
    return DeclaredArgument(
        name=name,
        pattern=table.get("pattern"),
        choices=tuple(map(render_scalar, table.get("choices") or ())),
        options=table.get("options") is True,
        required=table.get("required") is True,
    )


def _find_problem(table: Any) -> tuple[str, str] | None:
    """The key that cannot be used and why, as the rest of a sentence."""
    if not isinstance(table, Mapping):
        return "", f"is {describe(table)}; it must be a mapping with {', '.join(_KEYS)}"
    for key, value in table.items():
        why = _explain(str(key), value)
        if why is not None:
            return str(key), why
    return None


def _explain(key: str, value: Any) -> str | None:
    if key not in _KEYS:
        return f"is not a known key; the keys are {', '.join(_KEYS)}"
    if key == "choices":
        return _explain_choices(value)
    if key == "pattern":
        return _explain_pattern(value)
    if isinstance(value, bool):
        return None
    return f"is {describe(value)}; it must be true or false"


def _explain_choices(value: Any) -> str | None:
    is_filled = value != []
    if is_filled and is_list_of_scalars(value):
        return None
    return f"is {describe(value)}; it must be a list of at least one word"


def _explain_pattern(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"is {describe(value)}; it must be a string"
    try:
        parse_pattern(value)
    except PatternError as error:
        return f"cannot be used: {error}"
    return None
