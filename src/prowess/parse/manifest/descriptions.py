"""The description of a skill, under the rules of a host.

A profile names the function that takes it from the header; what that one refuses becomes a finding.
Where there is none, some hosts look for one in the body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.parse.header.result import HeaderReading, find_short_lead
from prowess.parse.manifest.findings import Findings
from prowess.parse.yaml.text_values import describe, render_scalar
from prowess.profiles.schema.header import Description, FieldRules
from prowess.text.utf16 import count_utf16

MOST_DESCRIPTION = 1024

MISSING = object()
"""Stands for a field that a header does not have; null is one that it has."""


def name_authority(fields: FieldRules) -> str:
    """Who sets the rules, as messages say it; only the profile of the standard is strict."""
    return "the standard" if fields.strict else "this host"


def is_absent(value: Any) -> bool:
    """Whether a field is missing or null."""
    return value is MISSING or value is None


def is_falsy(value: Any) -> bool:
    """Whether a value is false in JavaScript, where empty lists and mappings are true."""
    if isinstance(value, (bool, int, float)):
        is_nan = value != value
        return not value or is_nan
    return is_absent(value) or value == ""


def join_list(items: list[Any]) -> str:
    """A list as JavaScript makes text of it: null is nothing, a list in it is joined as well."""
    return ",".join(map(_render_item, items))


def _render_item(item: Any) -> str:
    if item is None:
        return ""
    if type(item) is list:
        return join_list(item)
    if type(item) is dict:
        return "[object Object]"
    return render_scalar(item)


def choose_description(
    value: Any,
    reading: HeaderReading,
    fields: FieldRules,
    findings: Findings,
    *,
    empty: str | None,
    needed: bool,
) -> tuple[str | None, str | None]:
    """The description and, for a skill that is hidden without one, the reason.

    `value` is what the header has. `empty` replaces the rules' text for a skill that has no
    description and no body to take one from.
    """
    description = _DESCRIPTIONS[fields.description](value, fields, findings, needed=needed)
    # With `paragraphs`, a description that is there stays even where it is empty.
    is_given = fields.body_description == "paragraphs" and value is not MISSING
    if description or is_given:
        return description, None
    instead = fields.empty_description if empty is None else empty
    description = _find_fallback(description, reading, fields, instead, findings)
    if description is not None:
        return description, None
    return None, _report_missing(value, fields, findings, needed=needed)


def _trim(text: str, fields: FieldRules) -> str:
    if fields.one_line:
        # Codex makes one space of every run of white space.
        return " ".join(text.split())
    if fields.trim_line_end:
        # Copilot takes off the last line end of a block and keeps blanks.
        return text.rstrip("\r\n")
    return text.strip() if fields.trim else text


def _take_text(value: Any, fields: FieldRules, findings: Findings, *, needed: bool) -> str | None:
    if type(value) is str:
        return _trim(value, fields)
    if value is not MISSING:
        authority = name_authority(fields)
        message = f"`description` is {describe(value)}; {authority} only accepts a string."
        findings.append(_report_description(message, Severity.ERROR))
    elif needed:
        findings.append(_report_missing_description(fields))
    return None


def _take_required_text(
    value: Any, fields: FieldRules, findings: Findings, *, needed: bool
) -> str | None:
    text = _take_text(value, fields, findings, needed=needed)
    if text is not None and not text.strip():
        hint = "Write what the skill does and when to use it."
        findings.append(_report_missing_description(fields, problem="is blank", hint=hint))
    return text


def _take_scalar(value: Any, fields: FieldRules, findings: Findings, *, needed: bool) -> str | None:
    text = None
    if type(value) is str:
        text = _trim(value, fields)
    elif isinstance(value, (bool, int, float)):
        text = _trim(render_scalar(value), fields)
    elif not is_absent(value):
        message = f"`description` is {describe(value)}, not a string; it counts as missing."
        findings.append(_report_description(message))
    is_blank = text is None or not text.strip()
    if needed and is_blank:
        findings.append(_report_missing_description(fields))
    return text


def _take_text_or_empty(
    value: Any, fields: FieldRules, findings: Findings, *, needed: bool
) -> str | None:
    if needed and is_falsy(value):
        findings.append(_report_missing_description(fields))
    if type(value) is str:
        return _trim(value, fields)
    if not is_absent(value):
        message = f"`description` is {describe(value)}, not a string; it counts as empty."
        findings.append(_report_description(message))
    return ""


def _take_any_text(
    value: Any, fields: FieldRules, findings: Findings, *, needed: bool
) -> str | None:
    if type(value) is list:
        value = join_list(value)
    elif isinstance(value, (bool, int, float)):
        value = render_scalar(value)
    elif value is None:
        # Null is no text: it is reported as missing.
        value = MISSING
    # What is left is a mapping, which these hosts refuse as well.
    return _take_required_text(value, fields, findings, needed=needed)


_DESCRIPTIONS: dict[Description, Callable[..., str | None]] = {
    "text": _take_text,
    # The standard and pi
    "required-text": _take_required_text,
    "text-or-number": _take_scalar,
    # omp
    "text-or-empty": _take_text_or_empty,
    # Crush and Qwen Code
    "any-text": _take_any_text,
}


def _report_description(message: str, severity: Severity | None = None) -> Diagnostic:
    hint = "Write it as one string."
    return diagnose("field-type", message, field="description", severity=severity, hint=hint)


def _report_missing_description(
    fields: FieldRules, *, problem: str = "is missing", hint: str | None = None
) -> Diagnostic:
    message = f"`description` {problem}; {name_authority(fields)} requires one."
    return diagnose("description-missing", message, field="description", hint=hint)


def _find_fallback(
    description: str | None,
    reading: HeaderReading,
    fields: FieldRules,
    empty: str | None,
    findings: Findings,
) -> str | None:
    """What the host uses where there is no description: the body's first line or a fixed word."""
    if not fields.description_from_body:
        return description
    # Copilot, in silence: for it a skill needs no description.
    if fields.body_description == "paragraphs":
        return _join_paragraphs(reading.text)
    # Claude Code cuts a long line; for Prowess itself it is the whole line.
    is_cut = fields.body_description == "short-line"
    lead = find_short_lead(reading.text) if is_cut else reading.lead
    if lead:
        message = f"`description` is missing; the first line of the body is used: {describe(lead)}."
        findings.append(diagnose("description-from-body", message, field="description"))
        return lead
    return description if empty is None else empty


def _join_paragraphs(body: str) -> str:
    """The lines of a body without headings, as one line of at most 1,024 characters."""
    lines = (line.strip() for line in body.splitlines())
    text = " ".join(line for line in lines if line and not line.startswith("#"))
    return text[:MOST_DESCRIPTION]


def _report_missing(
    value: Any, fields: FieldRules, findings: Findings, *, needed: bool
) -> str | None:
    """Why a skill without any description is hidden, if it is; else it may be worth a warning."""
    # opencode lists a skill without a description, but never offers it to the model.
    if fields.description_hidden_when_missing and value is MISSING:
        return "it has no description"
    if fields.description_from_body and not needed:
        message = "`description` is missing, and there is no body to take one from."
        severity = Severity.WARNING
        findings.append(
            diagnose("description-missing", message, field="description", severity=severity)
        )
    return None


# Crush, in Go, counts bytes; Copilot, in JavaScript, counts UTF-16 units.
_UNITS: dict[str, Callable[[str], int]] = {
    "characters": len,
    "utf16": count_utf16,
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
}


def check_lengths(texts: dict[str, str | None], fields: FieldRules, findings: Findings) -> None:
    """Refuse a description, or a `compatibility`, that is longer than the host accepts."""
    limits = {
        "description": (fields.most_description, "description-too-long"),
        "compatibility": (fields.most_compatibility, "field-too-long"),
    }
    measure = _UNITS[fields.length_units]
    unit = "bytes" if fields.length_units == "bytes" else "characters"
    for field, (most, code) in limits.items():
        length = measure(texts.get(field) or "")
        if length > most > 0:
            message = f"`{field}` has {length:,} {unit}; this host accepts at most {most:,}."
            findings.append(diagnose(code, message, field=field, severity=Severity.ERROR))
