"""OpenClaw's own fields: what a skill requires of a machine and how it can be installed.

They are under `metadata.openclaw` (`clawdbot` in older skills) and, as its documentation shows
them, beside `name`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from prowess.diagnostics import diagnose
from prowess.model.skill import Requires
from prowess.parse.manifest.field_suggestions import MOST_LOOKED_UP, report_misspelt
from prowess.parse.manifest.findings import Findings, report_type
from prowess.parse.yaml.text_values import (
    describe,
    is_list_of_scalars,
    parse_json,
    parse_json5,
    render_scalar,
    render_words,
    split_commas,
)
from prowess.profiles.schema.header import FieldRules

_KINDS = ("brew", "node", "go", "uv", "download")
# What Node calls systems, and what people call them. Another word is no error, but a likely slip.
_SYSTEMS = frozenset(
    "darwin macos mac osx linux gnu win32 windows win freebsd openbsd netbsd sunos aix android"
    " cygwin haiku".split()
)
_REQUIREMENTS = {"bins": "bins", "anyBins": "any_bins", "env": "env", "config": "config"}

PAGE_FIELDS = ("homepage", "website", "url")
"""Top-level fields for a skill's page, where `metadata` has none; the first with text is used."""

# For show only, so they are read at the top level wherever the other fields are expected.
_SHOWN_FIELDS = {"homepage": PAGE_FIELDS, "emoji": ("emoji",)}


def read_openclaw(
    frontmatter: Mapping[str, Any],
    metadata: Mapping[str, Any],
    fields: FieldRules,
    findings: Findings,
) -> dict[str, Any]:
    """The attributes of a manifest that OpenClaw's fields set, from the places a host looks in.

    Of the keys under `metadata` only the first with a mapping counts; of a field in two places, the
    place that is named first.
    """
    values: dict[str, Any] = {}
    has_block = False
    for place in fields.openclaw_at:
        if place == "top":
            _read_block(frontmatter, "", fields, values, findings)
            continue
        # Searched for even if there was one before: what is wrong with it is reported.
        block = _find_block(metadata, place, fields, findings)
        if block is None or has_block:
            continue
        has_block = True
        prefix = f"metadata.{place}."
        unknown = _list_unknown(block, OPENCLAW_FIELDS)
        report_misspelt(unknown, _BLOCK_KEYS, findings, prefix=prefix, among_few=True)
        _read_block(block, prefix, fields, values, findings)
    for attribute, keys in _SHOWN_FIELDS.items():
        if values.get(attribute) is not None:
            continue
        text = _find_text(frontmatter, keys)
        if text is not None:
            values[attribute] = text
    return values


def _read_block(
    block: Mapping[str, Any],
    prefix: str,
    fields: FieldRules,
    values: dict[str, Any],
    findings: Findings,
) -> None:
    for key, value in block.items():
        field = OPENCLAW_FIELDS.get(key)
        if field is None or value is None:
            continue
        attribute, read = field
        # An earlier place counts, even where its value could not be used.
        if attribute not in values:
            values[attribute] = read(prefix + key, value, fields, findings)


def _find_block(
    metadata: Mapping[str, Any], place: str, fields: FieldRules, findings: Findings
) -> Mapping[str, Any] | None:
    """The mapping under one key of `metadata`; anything else is reported."""
    block = metadata.get(place)
    if isinstance(block, dict):
        return block
    is_empty = block is None or block == ""
    if is_empty:
        return None
    # A host that only looks under `metadata` takes nothing but mappings there.
    takes_text = "top" in fields.openclaw_at
    if takes_text and isinstance(block, str):
        parsed = parse_json5(block)
        if isinstance(parsed, dict):
            return parsed
    expected = "a mapping, or one as JSON or JSON5" if takes_text else "a mapping"
    message = f"`metadata.{place}` is {describe(block)}; it must be {expected}."
    findings.append(diagnose("metadata-unreadable", message, field=f"metadata.{place}"))
    return None


def _list_unknown(block: Mapping[str, Any], known: Container[str]) -> list[str]:
    return [key for key in block if key not in known][:MOST_LOOKED_UP]


def _find_text(frontmatter: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """The text of the first of the keys that has any."""
    for key in keys:
        value = frontmatter.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _parse_packed(value: Any) -> Any:
    """A list or a mapping that this host has made JSON text of."""
    may_be_json = isinstance(value, str) and value[:1] in ("[", "{")
    if not may_be_json:
        return value
    parsed = parse_json(value)
    return value if parsed is None else parsed


def _read_text(key: str, value: Any, fields: FieldRules, findings: Findings) -> str | None:
    if isinstance(value, (str, bool, int, float)):
        return render_scalar(value).strip() or None
    report_type(key, value, "a string", "Write it as one string.", findings)
    return None


def _read_always(key: str, value: Any, fields: FieldRules, findings: Findings) -> bool | None:
    if isinstance(value, bool):
        return value
    # Under `metadata` the host takes only booleans; at the top it has made text of everything.
    takes_words = key == "always" and not fields.flags_need_booleans
    if takes_words and isinstance(value, (str, int)):
        word = render_scalar(value).strip().lower()
        if word in fields.true_words:
            return True
        if word in fields.false_words:
            return False
    message = f"`{key}` must be true or false, without quotes."
    findings.append(diagnose("field-value", message, field=key))
    return None


def _read_words(key: str, value: Any, fields: FieldRules, findings: Findings) -> tuple[str, ...]:
    value = _parse_packed(value)
    if isinstance(value, str):
        return split_commas(value)
    if is_list_of_scalars(value):
        return render_words(value)
    hint = "Write a list of words, or words separated by commas."
    report_type(key, value, "a list of words", hint, findings)
    return ()


def _read_systems(key: str, value: Any, fields: FieldRules, findings: Findings) -> tuple[str, ...]:
    words = _read_words(key, value, fields, findings)
    unknown = ", ".join(word for word in words if word.lower() not in _SYSTEMS)
    if unknown:
        message = f"`{key}` contains {describe(unknown)}, which is not an operating system."
        hint = "Use darwin, linux or win32."
        findings.append(diagnose("field-value", message, field=key, hint=hint))
    return words


def _read_requires(key: str, value: Any, fields: FieldRules, findings: Findings) -> Requires:
    value = _parse_packed(value)
    if not isinstance(value, dict):
        hint = f"Write indented lines with {', '.join(_REQUIREMENTS)}."
        report_type(key, value, "a mapping", hint, findings)
        return Requires()
    unknown = _list_unknown(value, _REQUIREMENTS)
    report_misspelt(unknown, tuple(_REQUIREMENTS), findings, prefix=f"{key}.", among_few=True)
    requirements: dict[str, tuple[str, ...]] = {}
    for name, attribute in _REQUIREMENTS.items():
        words = value.get(name)
        if words is not None:
            requirements[attribute] = _read_words(f"{key}.{name}", words, fields, findings)
    return Requires(**requirements)


def _read_install(
    key: str, value: Any, fields: FieldRules, findings: Findings
) -> tuple[Mapping[str, Any], ...]:
    value = _parse_packed(value)
    if not isinstance(value, list):
        hint = "Write a list of mappings, each with a `kind`."
        report_type(key, value, "a list of ways to install", hint, findings)
        return ()
    recipes = []
    for number, recipe in enumerate(value):
        kind = _find_kind(recipe)
        if kind in _KINDS:
            # OpenClaw takes it in upper case, too.
            recipes.append({**recipe, "kind": kind})
            continue
        field = f"{key}[{number}].kind"
        message = f"`{field}` must be one of {', '.join(_KINDS)}; this item is ignored."
        findings.append(diagnose("field-value", message, field=field))
    return tuple(recipes)


def _find_kind(recipe: Any) -> str | None:
    if not isinstance(recipe, dict):
        return None
    # OpenClaw reads `type` where there is no `kind`.
    kind = recipe.get("kind", recipe.get("type"))
    return kind.strip().lower() if isinstance(kind, str) else None


OPENCLAW_FIELDS: dict[str, tuple[str, Callable[[str, Any, FieldRules, Findings], Any]]] = {
    "always": ("always", _read_always),
    "skillKey": ("skill_key", _read_text),
    "primaryEnv": ("primary_env", _read_text),
    "emoji": ("emoji", _read_text),
    "homepage": ("homepage", _read_text),
    "os": ("os", _read_systems),
    "requires": ("requires", _read_requires),
    "install": ("install", _read_install),
}

_BLOCK_KEYS = tuple(OPENCLAW_FIELDS)

OPENCLAW_KEYS = frozenset((*OPENCLAW_FIELDS, *PAGE_FIELDS))
"""Every top-level key of a header that may matter to OpenClaw."""
