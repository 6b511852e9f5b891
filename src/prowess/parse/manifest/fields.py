"""From a header's fields to a manifest: every field of the standard and of the hosts, checked.

Only the keys that are there are read, each through the table of fields. A value that cannot be used
becomes a diagnostic, and the field counts as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.skill import DeclaredArgument, Manifest
from prowess.parse.manifest.field_suggestions import MOST_LOOKED_UP, report_misspelt
from prowess.parse.manifest.findings import Findings, report_type, report_value
from prowess.parse.manifest.openclaw import OPENCLAW_FIELDS, OPENCLAW_KEYS, read_openclaw
from prowess.parse.yaml.text_values import (
    describe,
    is_list_of_scalars,
    parse_json5,
    render_scalar,
    render_words,
    split_names,
    split_patterns,
    split_tools,
)
from prowess.profiles.schema.header import FieldRules

ReadField = Callable[[str, Any, FieldRules, Findings], Any]

_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_MOST_DIGITS = 9


class Field(msgspec.Struct, frozen=True):
    """A field of a header: the attribute of the manifest that holds it, and how it is read."""

    attribute: str
    read: ReadField


def _read_text(key: str, value: Any, fields: FieldRules, findings: Findings) -> str | None:
    if type(value) is str:
        return value
    if isinstance(value, (bool, int, float)):
        return render_scalar(value)
    if value is not None:
        report_type(key, value, "a string", "Write it as one string.", findings)
    return None


def _read_hint(key: str, value: Any, fields: FieldRules, findings: Findings) -> str | None:
    # `argument-hint: [file]` is a list in YAML, and to everybody else a hint.
    if is_list_of_scalars(value):
        return "[" + ", ".join(render_scalar(item) for item in value) + "]"
    return _read_text(key, value, fields, findings)


def _read_flag(key: str, value: Any, fields: FieldRules, findings: Findings) -> bool | None:
    if value is True or value is False:
        return bool(value)
    if value is None:
        return None
    # For omp, Copilot and pi the text “true” sets no flag.
    if fields.flags_need_booleans:
        report_value(key, value, "true or false", findings)
        return None
    if isinstance(value, (str, int, float)):
        word = render_scalar(value).strip().lower()
        if word in fields.true_words:
            return True
        if word in fields.false_words:
            return False
    allowed = ", ".join((*fields.true_words, *fields.false_words))
    report_value(key, value, f"one of {allowed}", findings)
    return None


def _read_mapping(
    key: str, value: Any, fields: FieldRules, findings: Findings
) -> Mapping[str, Any] | None:
    if isinstance(value, dict):
        return value
    if value is not None:
        report_type(key, value, "a mapping", "Write indented `key: value` lines.", findings)
    return None


def _read_metadata(
    key: str, value: Any, fields: FieldRules, findings: Findings
) -> Mapping[str, Any]:
    if type(value) is dict:
        return value
    if value is None or value == "":
        return {}
    # OpenClaw also reads `metadata` that is JSON or JSON5 in a string.
    parsed = parse_json5(value) if isinstance(value, str) else None
    if isinstance(parsed, dict):
        return parsed
    message = f"`metadata` is {describe(value)}; it must be a mapping, or one as JSON or JSON5."
    findings.append(diagnose("metadata-unreadable", message, field=key))
    return {}


def _read_words(*words: str, or_number: bool = False) -> ReadField:
    """A reader of a field that is one of a few words."""
    allowed = f"one of {', '.join(words)}" if len(words) > 1 else f"`{words[0]}`"
    if or_number:
        allowed += ", or a whole number"

    def read(key: str, value: Any, fields: FieldRules, findings: Findings) -> str | None:
        text = _read_text(key, value, fields, findings)
        word = (text or "").strip().lower()
        if word in words:
            return word
        # Nothing and blanks are a field that was left empty, which is no mistake.
        if word:
            report_value(key, value, allowed, findings)
        return None

    return read


_read_effort_word = _read_words(*_EFFORTS, or_number=True)


def _read_effort(key: str, value: Any, fields: FieldRules, findings: Findings) -> str | int | None:
    # The exact type: for `isinstance`, true is a number.
    if type(value) is int:
        return value
    is_number = isinstance(value, str) and value.strip().isdecimal()
    # Python refuses to convert thousands of digits, and nobody means more than a few.
    if is_number and len(value) <= _MOST_DIGITS:
        return int(value)
    word: str | None = _read_effort_word(key, value, fields, findings)
    return word


def _read_list(split: Callable[[str], tuple[str, ...]]) -> ReadField:
    """A reader of a field that is a list, or a line of text to be split."""

    def read(key: str, value: Any, fields: FieldRules, findings: Findings) -> tuple[str, ...]:
        if type(value) is str:
            return split(value)
        if value is None:
            return ()
        if is_list_of_scalars(value):
            return render_words(value)
        hint = "Write a list of words, or all of them on one line."
        report_type(key, value, "a list of words", hint, findings)
        return ()

    return read


_read_names = _read_list(split_names)


def _read_arguments(
    key: str, value: Any, fields: FieldRules, findings: Findings
) -> tuple[str, ...] | tuple[DeclaredArgument, ...]:
    if type(value) is dict:
        # Few skills declare their arguments this way, so scans do without this module.
        from prowess.parse.manifest.declared_arguments import read_declared_arguments

        return read_declared_arguments(value, findings)
    names: tuple[str, ...] = _read_names(key, value, fields, findings)
    return names


FIELDS: dict[str, Field] = {
    # The standard
    "name": Field("name", _read_text),
    "description": Field("description", _read_text),
    "license": Field("license", _read_text),
    "compatibility": Field("compatibility", _read_text),
    "metadata": Field("metadata", _read_metadata),
    "allowed-tools": Field("allowed_tools", _read_list(split_tools)),
    # Claude Code; other hosts have taken some of them over
    "disallowed-tools": Field("disallowed_tools", _read_list(split_tools)),
    "when_to_use": Field("when_to_use", _read_text),
    "argument-hint": Field("argument_hint", _read_hint),
    "arguments": Field("arguments", _read_arguments),
    "version": Field("version", _read_text),
    "model": Field("model", _read_text),
    "effort": Field("effort", _read_effort),
    "context": Field("context", _read_words("inline", "fork")),
    "background": Field("background", _read_flag),
    "agent": Field("agent", _read_text),
    "hooks": Field("hooks", _read_mapping),
    "paths": Field("paths", _read_list(split_patterns)),
    "shell": Field("shell", _read_words("bash", "powershell", "none")),
    "user-invocable": Field("user_invocable", _read_flag),
    "disable-model-invocation": Field("disable_model_invocation", _read_flag),
    "aliases": Field("aliases", _read_list(split_names)),
    # omp
    "globs": Field("globs", _read_list(split_patterns)),
    "hide": Field("hide", _read_flag),
    "alwaysApply": Field("always_apply", _read_flag),
    "enabled": Field("enabled", _read_flag),
    # OpenClaw; its other fields are in a table of their own, because of the places they can be in
    "command-dispatch": Field("command_dispatch", _read_words("tool")),
    "command-tool": Field("command_tool", _read_text),
    "command-arg-mode": Field("command_arg_mode", _read_words("raw")),
}

# OpenClaw takes its three command fields with underscores too.
for _key in ("command-dispatch", "command-tool", "command-arg-mode"):
    FIELDS[_key.replace("-", "_")] = FIELDS[_key]

KNOWN_FIELDS = frozenset((*FIELDS, *OPENCLAW_FIELDS))
FIELD_NAMES = tuple(sorted(KNOWN_FIELDS))
"""The known fields in a stable order, among which the nearest one to a wrong key is found."""


def to_camel_case(key: str) -> str:
    """`allowed-tools` as `allowedTools`."""
    first, *others = key.split("-")
    return first + "".join(word.capitalize() for word in others)


_WITH_CAMEL_CASE = FIELDS | {
    to_camel_case(key): field for key, field in FIELDS.items() if "-" in key
}


def read_manifest(
    frontmatter: Mapping[str, Any], *, fields: FieldRules
) -> tuple[Manifest, tuple[Diagnostic, ...]]:
    """What the author declared, and what could not be used of it."""
    findings: Findings = []
    values: dict[str, Any] = {}
    others: list[str] = []
    table = _WITH_CAMEL_CASE if fields.camel_case else FIELDS
    for key, value in frontmatter.items():
        field = table.get(key)
        if field is None:
            others.append(key)
            continue
        read = field.read
        if read is _read_text and type(value) is str:
            # Nearly all values are text that is meant to be text; a call would cost more than that.
            values[field.attribute] = value
        else:
            values[field.attribute] = read(key, value, fields, findings)
    if others:
        # Whether OpenClaw's keys count or not, they are not misspelt.
        unknown = [key for key in others if key not in OPENCLAW_KEYS]
        report_misspelt(unknown[:MOST_LOOKED_UP], FIELD_NAMES, findings)
    if "arguments" in values:
        _separate_declared(values)
    metadata = values.get("metadata") or {}
    # Most headers have neither, and need no call.
    may_have_openclaw = others or metadata
    if may_have_openclaw and _has_openclaw(others, metadata, fields):
        values.update(read_openclaw(frontmatter, metadata, fields, findings))
    return Manifest(**values), tuple(findings)


def _separate_declared(values: dict[str, Any]) -> None:
    """Put declared arguments in a field of their own; `arguments` keeps their names."""
    arguments = values.get("arguments")
    if not arguments or type(arguments[0]) is not DeclaredArgument:
        return
    values["declared_arguments"] = arguments
    # `ARGUMENTS` declares the whole line, which has no place among the words.
    names = [argument.name for argument in arguments]
    values["arguments"] = tuple(name for name in names if name != "ARGUMENTS")


def _has_openclaw(others: list[str], metadata: Mapping[str, Any], fields: FieldRules) -> bool:
    """Whether there may be fields of OpenClaw in a place where this host looks for them."""
    if not fields.openclaw_at:
        return False
    if not OPENCLAW_KEYS.isdisjoint(others):
        return True
    return not metadata.keys().isdisjoint(fields.openclaw_at)
