"""OpenClaw's own fields: what a skill needs of a machine and how it may be had.

They stand under `metadata.openclaw` (`clawdbot` in older skills) and, as its book shows them,
beside `name`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.skill import Requires
from prowess.parse.manifest.field_suggestions import MOST_LOOKED_UP, report_misspelt
from prowess.parse.yaml.text_values import (
    describe,
    parse_json,
    parse_json5,
    render_scalar,
    split_commas,
)
from prowess.profiles.schema.header import FieldRules

Findings = list[Diagnostic]

_KINDS = ("brew", "node", "go", "uv", "download")
_SYSTEMS = frozenset(
    "darwin macos mac osx linux gnu win32 windows win freebsd openbsd netbsd sunos aix android"
    " cygwin haiku".split()
)
_REQUIREMENTS = {"bins": "bins", "anyBins": "any_bins", "env": "env", "config": "config"}

PAGE_FIELDS = ("homepage", "website", "url")
"""Fields at the top that name a skill's page, where `metadata` does not; the first that says something counts."""


def read_openclaw(
    frontmatter: Mapping[str, Any], metadata: Mapping[str, Any], fields: FieldRules, found: Findings
) -> dict[str, Any]:
    """The attributes of a manifest that OpenClaw's fields set, from the places a host looks at.

    Of the keys under `metadata` only the first that holds a mapping counts; a field that stands in
    two places is taken from the one that is named first. A page and an emoji are for show only, so
    they count at the top wherever the other fields are looked for.
    """
    values: dict[str, Any] = {}
    seen_block = False
    for place in fields.openclaw_at:
        block = frontmatter
        prefix = "" if place == "top" else f"metadata.{place}."
        if prefix:
            below = _find_block(metadata, place, fields, found)
            if seen_block or below is None:
                continue
            block, seen_block = below, True
            report_misspelt(
                _list_unknown(block, OPENCLAW_FIELDS),
                _BLOCK_KEYS,
                found,
                prefix=prefix,
                among_few=True,
            )
        for key, value in block.items():
            field = OPENCLAW_FIELDS.get(key)
            if field is not None and field[0] not in values and value is not None:
                values[field[0]] = field[1](prefix + key, value, fields, found)
    for attribute, keys in (("homepage", PAGE_FIELDS), ("emoji", ("emoji",))):
        if values.get(attribute) is None and (text := _find_text(frontmatter, keys)):
            values[attribute] = text
    return values


def _find_block(
    metadata: Mapping[str, Any], place: str, fields: FieldRules, found: Findings
) -> Mapping[str, Any] | None:
    """What stands below one key of `metadata`; anything but a mapping is reported and counts as not
    there.
    """
    block = metadata.get(place)
    if isinstance(block, dict):
        return block
    if block is None or block == "":
        return None
    # A host that looks below `metadata` only also takes nothing but mappings there.
    reads_text = "top" in fields.openclaw_at
    decoded = parse_json5(block) if reads_text and isinstance(block, str) else None
    if isinstance(decoded, dict):
        return decoded
    allowed = "it has to be a mapping" + (", or JSON or JSON5 text of one" if reads_text else "")
    message = f"`metadata.{place}` is {describe(block)}; {allowed}."
    found.append(diagnose("metadata-unreadable", message, field=f"metadata.{place}"))
    return None


def _list_unknown(block: Mapping[str, Any], known: Container[str]) -> list[str]:
    return [key for key in block if key not in known][:MOST_LOOKED_UP]


def _find_text(frontmatter: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    texts = (value.strip() for key in keys if isinstance(value := frontmatter.get(key), str))
    return next((text for text in texts if text), None)


def _refuse(key: str, allowed: str, found: Findings) -> None:
    found.append(diagnose("field-type", f"`{key}` cannot be used; {allowed}.", field=key))


def _unpack(value: Any) -> Any:
    """A list or a mapping that was turned into JSON text on the way."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        unpacked = parse_json(value)
        return value if unpacked is None else unpacked
    return value


def _read_text(key: str, value: Any, fields: FieldRules, found: Findings) -> str | None:
    if isinstance(value, (str, bool, int, float)):
        return render_scalar(value).strip() or None
    _refuse(key, "it has to be text", found)
    return None


def _read_always(key: str, value: Any, fields: FieldRules, found: Findings) -> bool | None:
    # Below `metadata` the host takes real truth values only; at the top it has made text of
    # everything.
    if isinstance(value, bool):
        return value
    if key == "always" and isinstance(value, (str, int)) and not fields.flags_need_booleans:
        word = render_scalar(value).strip().lower()
        if word in fields.true_words or word in fields.false_words:
            return word in fields.true_words
    found.append(
        diagnose("field-value", f"`{key}` has to be true or false, not in quotes.", field=key)
    )
    return None


def _read_words(key: str, value: Any, fields: FieldRules, found: Findings) -> tuple[str, ...]:
    value = _unpack(value)
    if isinstance(value, str):
        return split_commas(value)
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
        return tuple(text for item in value if (text := render_scalar(item).strip()))
    _refuse(key, "it has to be a list of words, or words with commas between them", found)
    return ()


def _read_systems(key: str, value: Any, fields: FieldRules, found: Findings) -> tuple[str, ...]:
    words = _read_words(key, value, fields, found)
    unknown = [word for word in words if word.lower() not in _SYSTEMS]
    if unknown:
        message = (
            f"`{key}` names {describe(', '.join(unknown))}, which no machine is; it may be darwin,"
            " linux, win32."
        )
        found.append(diagnose("field-value", message, field=key))
    return words


def _read_requires(key: str, value: Any, fields: FieldRules, found: Findings) -> Requires:
    value = _unpack(value)
    if not isinstance(value, dict):
        _refuse(key, f"it has to be a mapping with {', '.join(_REQUIREMENTS)}", found)
        return Requires()
    unknown = _list_unknown(value, _REQUIREMENTS)
    report_misspelt(unknown, tuple(_REQUIREMENTS), found, prefix=f"{key}.", among_few=True)
    return Requires(
        **{
            attribute: _read_words(f"{key}.{name}", value[name], fields, found)
            for name, attribute in _REQUIREMENTS.items()
            if value.get(name) is not None
        }
    )


def _read_install(
    key: str, value: Any, fields: FieldRules, found: Findings
) -> tuple[Mapping[str, Any], ...]:
    value = _unpack(value)
    if not isinstance(value, list):
        _refuse(key, "it has to be a list of ways to install", found)
        return ()
    recipes = []
    for number, recipe in enumerate(value):
        kind = recipe.get("kind", recipe.get("type")) if isinstance(recipe, dict) else None
        word = kind.strip().lower() if isinstance(kind, str) else ""
        if word in _KINDS:
            recipes.append({**recipe, "kind": word})
        else:
            message = f"`{key}[{number}].kind` may be {', '.join(_KINDS)}; this one is left out."
            found.append(diagnose("field-value", message, field=f"{key}[{number}].kind"))
    return tuple(recipes)


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
"""Every key at the top of a header that may matter to OpenClaw."""
