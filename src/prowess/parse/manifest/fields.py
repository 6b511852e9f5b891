"""From a header's fields to a manifest: every field of the standard and of the hosts, checked.

Only the keys that are there are looked at, each through the table of fields. A value that cannot be
used becomes a diagnostic, and the field counts as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.skill import Manifest
from prowess.parse.manifest.field_suggestions import MOST_LOOKED_UP, report_misspelt
from prowess.parse.manifest.openclaw import OPENCLAW_FIELDS, OPENCLAW_KEYS, read_openclaw
from prowess.parse.yaml.text_values import (
    describe,
    parse_json5,
    render_scalar,
    split_names,
    split_patterns,
    split_tools,
)
from prowess.profiles.schema.header import FieldRules

Findings = list[Diagnostic]
Reader = Callable[[str, Any, FieldRules, Findings], Any]


class Field(msgspec.Struct, frozen=True):
    """A field of a header: the attribute of the manifest that holds it, how it is read, and the
    words it may be.
    """

    attribute: str
    read: Reader


def _refuse(key: str, value: Any, allowed: str, found: Findings) -> None:
    found.append(diagnose("field-type", f"`{key}` is {describe(value)}; {allowed}.", field=key))


def _read_text(key: str, value: Any, fields: FieldRules, found: Findings) -> str | None:
    if type(value) is str:
        return value
    if isinstance(value, (bool, int, float)):
        return render_scalar(value)
    if value is not None:
        _refuse(key, value, "it has to be text", found)
    return None


def _read_hint(key: str, value: Any, fields: FieldRules, found: Findings) -> str | None:
    # `argument-hint: [file]` is a list to YAML and a hint to everybody else.
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
        return "[" + ", ".join(render_scalar(item) for item in value) + "]"
    return _read_text(key, value, fields, found)


def _read_flag(key: str, value: Any, fields: FieldRules, found: Findings) -> bool | None:
    if value is True or value is False:
        return bool(value)
    if value is None:
        return None
    if not fields.flags_need_booleans and isinstance(value, (str, int, float)):
        word = render_scalar(value).strip().lower()
        if word in fields.true_words:
            return True
        if word in fields.false_words:
            return False
    allowed = (
        "true or false"
        if fields.flags_need_booleans
        else ", ".join((*fields.true_words, *fields.false_words))
    )
    found.append(
        diagnose("field-value", f"`{key}` is {describe(value)}; it may be {allowed}.", field=key)
    )
    return None


def _read_mapping(
    key: str, value: Any, fields: FieldRules, found: Findings
) -> Mapping[str, Any] | None:
    if isinstance(value, dict):
        return value
    if value is not None:
        _refuse(key, value, "it has to be a mapping", found)
    return None


def _read_metadata(key: str, value: Any, fields: FieldRules, found: Findings) -> Mapping[str, Any]:
    if type(value) is dict:
        return value
    if value is None or value == "":
        return {}
    decoded = parse_json5(value) if isinstance(value, str) else None
    if isinstance(decoded, dict):
        return decoded
    message = (
        f"`metadata` is {describe(value)}; it has to be a mapping, or JSON or JSON5 text of one."
    )
    found.append(diagnose("metadata-unreadable", message, field=key))
    return {}


def _words(*words: str, or_number: bool = False) -> Reader:
    """A reader of a field that is one of a few words."""
    allowed = ", ".join(words) + (" or a whole number" if or_number else "")
    hint = "Use one of the words named, or a whole number." if or_number else None

    def read(key: str, value: Any, fields: FieldRules, found: Findings) -> str | None:
        text = _read_text(key, value, fields, found)
        if text is None or (word := text.strip().lower()) == "":
            return None
        if word in words:
            return word
        message = f"`{key}` is {describe(value)}; it may be {allowed}."
        found.append(diagnose("field-value", message, field=key, hint=hint))
        return None

    return read


_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_read_effort_word = _words(*_EFFORTS, or_number=True)


def _read_effort(key: str, value: Any, fields: FieldRules, found: Findings) -> str | int | None:
    if type(value) is int:
        return value
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
        return int(value)
    word: str | None = _read_effort_word(key, value, fields, found)
    return word


def _list(split: Callable[[str], tuple[str, ...]]) -> Reader:
    """A reader of a field that is a list, or text that is taken apart."""

    def read(key: str, value: Any, fields: FieldRules, found: Findings) -> tuple[str, ...]:
        if type(value) is str:
            return split(value)
        if value is None:
            return ()
        if type(value) is list and all(isinstance(item, (str, int, float)) for item in value):
            return tuple(text for item in value if (text := render_scalar(item).strip()))
        _refuse(key, value, "it has to be a list of words, or one line of them", found)
        return ()

    return read


FIELDS: dict[str, Field] = {
    "name": Field("name", _read_text),
    "description": Field("description", _read_text),
    "license": Field("license", _read_text),
    "compatibility": Field("compatibility", _read_text),
    "metadata": Field("metadata", _read_metadata),
    "allowed-tools": Field("allowed_tools", _list(split_tools)),
    "disallowed-tools": Field("disallowed_tools", _list(split_tools)),
    "when_to_use": Field("when_to_use", _read_text),
    "argument-hint": Field("argument_hint", _read_hint),
    "arguments": Field("arguments", _list(split_names)),
    "version": Field("version", _read_text),
    "model": Field("model", _read_text),
    "effort": Field("effort", _read_effort),
    "context": Field("context", _words("inline", "fork")),
    "background": Field("background", _read_flag),
    "agent": Field("agent", _read_text),
    "hooks": Field("hooks", _read_mapping),
    "paths": Field("paths", _list(split_patterns)),
    "globs": Field("globs", _list(split_patterns)),
    "shell": Field("shell", _words("bash", "powershell")),
    "user-invocable": Field("user_invocable", _read_flag),
    "disable-model-invocation": Field("disable_model_invocation", _read_flag),
    "hide": Field("hide", _read_flag),
    "alwaysApply": Field("always_apply", _read_flag),
    "enabled": Field("enabled", _read_flag),
    "command-dispatch": Field("command_dispatch", _words("tool")),
    "command-tool": Field("command_tool", _read_text),
    "command-arg-mode": Field("command_arg_mode", _words("raw")),
    "aliases": Field("aliases", _list(split_names)),
}

# OpenClaw takes its three command fields with underscores too.
for _key in ("command-dispatch", "command-tool", "command-arg-mode"):
    FIELDS[_key.replace("-", "_")] = FIELDS[_key]

KNOWN_FIELDS = frozenset((*FIELDS, *OPENCLAW_FIELDS))
FIELD_NAMES = tuple(sorted(KNOWN_FIELDS))
"""The known fields in a stable order, for whoever looks for the nearest one."""


def to_camel_case(key: str) -> str:
    """`allowed-tools` as `allowedTools`."""
    first, *others = key.split("-")
    return first + "".join(word.capitalize() for word in others)


_CAMEL_CASE = {to_camel_case(key): field for key, field in FIELDS.items() if "-" in key}


def read_manifest(
    frontmatter: Mapping[str, Any], *, fields: FieldRules
) -> tuple[Manifest, tuple[Diagnostic, ...]]:
    """What the author declared, and what could not be used of it."""
    found: Findings = []
    values: dict[str, Any] = {}
    unknown: list[str] = []
    has_openclaw = False
    for key, value in frontmatter.items():
        field = FIELDS.get(key)
        if field is None:
            if key in OPENCLAW_KEYS:
                has_openclaw = True
                continue
            field = _CAMEL_CASE.get(key) if fields.camel_case else None
            if field is None:
                unknown.append(key)
                continue
        values[field.attribute] = field.read(key, value, fields, found)
    if unknown:
        report_misspelt(unknown[:MOST_LOOKED_UP], FIELD_NAMES, found)
    metadata = values.get("metadata")
    if fields.openclaw_at and (
        has_openclaw or (metadata and any(place in metadata for place in fields.openclaw_at))
    ):
        values.update(read_openclaw(frontmatter, metadata or {}, fields, found))
    return Manifest(**values), tuple(found)
