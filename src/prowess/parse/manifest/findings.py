"""What is wrong with the value of a field, for every reader of fields."""

from __future__ import annotations

from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.yaml.text_values import describe

Findings = list[Diagnostic]
"""The diagnostics of one header, to which its readers add their own."""


def report_type(key: str, value: Any, expected: str, hint: str, findings: Findings) -> None:
    """Say that a value is of the wrong type; `expected` is the right one, in words."""
    message = f"`{key}` is {describe(value)}; it must be {expected}."
    findings.append(diagnose("field-type", message, field=key, hint=hint))


def report_value(key: str, value: Any, allowed: str, findings: Findings) -> None:
    """Say that a value is none of those `allowed`."""
    message = f"`{key}` is {describe(value)}; it must be {allowed}."
    findings.append(diagnose("field-value", message, field=key))
