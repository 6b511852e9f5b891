"""The native YAML reader behind guards: no text may crash it, hang it or fill the memory.

It reads YAML 1.2 in microseconds, but copies an aliased value once for every alias, slows down on
deep flow collections, turns `!tag x` into a mapping, refuses numbers beyond 64 bits and lets the
keys `1` and `true` collide. What it is given is bounded first, what it gives is settled after.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any, NamedTuple

from prowess.parse.manifest.scalars import render_scalar
from prowess.parse.yaml.native import is_settled, read_natively
from prowess.profiles.schema.roots import Limits

# Aliases may not make the values larger than this many bytes of text.
_MOST_EXPANDED = 1 << 20

# The reader gives up at 128 levels by itself; Python's own recursion is safe with that.
_DEEPEST = 128

_ALIAS = re.compile(r"(?<![^\s\[\]{},:])\*[\w-]")
_ANCHOR = re.compile(r"(?<![^\s\[\]{},:])&[\w-]")
_BRACKET = re.compile(r"[\[\]{}]")
_PLACE = re.compile(r"at line (\d+) column (\d+)")
_POSITION = re.compile(r"at position (\d+)")
_DUPLICATE = re.compile(r"duplicate entry with key (.+?)(?: at line|$)", re.DOTALL)
_WORD_KEY = re.compile(
    r"^([ ]*(?:- +)*)(true|false|null|~|[-+.]?\d[\w.+-]*|[-+]?\.(?:inf|nan))(?=[ \t]*:(?:[ \t]|$))",
    re.M | re.I,
)

_REASONS = (
    ("recursion limit", "yaml-nesting", "it is nested too deeply"),
    ("repetition limit", "yaml-aliases", "its aliases grow without bound"),
    (
        "mapping values are not allowed",
        "yaml-invalid",
        "a value holds a colon and is not in quotes",
    ),
    (
        "expected comment or line break",
        "yaml-invalid",
        "text follows a block mark (`|` or `>`) on the same line",
    ),
    ("tab character", "yaml-invalid", "a tab is used for indentation"),
    (
        "cannot start any token",
        "yaml-invalid",
        "a value begins with a reserved character or a line with a tab",
    ),
    ("block sequence entries", "yaml-invalid", "a list begins on the line of its key"),
    ("mapping keys are not allowed", "yaml-invalid", "a value begins with `? `"),
    (
        "unknown anchor",
        "yaml-invalid",
        "a value begins with `*`, which refers to an anchor that does not exist",
    ),
    ("alphabetic or numeric", "yaml-invalid", "a value begins with `*` or `&`"),
    ("duplicate entry", "yaml-invalid", "a key stands twice"),
    ("unknown escape", "yaml-invalid", "a backslash in double quotes begins no known escape"),
    (
        "escape code",
        "yaml-invalid",
        "a backslash in double quotes begins an escape that means nothing",
    ),
    ("unexpected end of stream", "yaml-invalid", "a quote is never closed"),
    ("expected ',' or", "yaml-invalid", "a bracket is never closed"),
    ("expected ':'", "yaml-invalid", "a line is neither `key: value` nor indented"),
    ("expected key", "yaml-invalid", "text follows a closed value, or the indentation changes"),
    ("control characters", "yaml-invalid", "it holds a control character"),
    ("integer", "yaml-invalid", "a number is too large"),
    ("more than one document", "yaml-invalid", "it holds more than one document"),
    ("unhashable", "yaml-invalid", "a list or a mapping is used as a key"),
)


class Trouble(NamedTuple):
    """Why a header could not be read: the code of a diagnostic, the reason in words, and where it
    is.

    `line` and `column` count from 1 inside the header. `key` is the one that stands twice, where
    that is why.
    """

    code: str
    why: str
    line: int | None = None
    column: int | None = None
    key: str | None = None
    number: bool = False


class Loaded(NamedTuple):
    """A value that was read, and the tags that were taken off it; or the trouble that kept it from
    being read.
    """

    value: Any
    trouble: Trouble | None = None
    tags: tuple[str, ...] = ()


class _Unsettled(Exception):
    """A value has keys that are not text, tags, or too many levels."""


def load(text: str, limits: Limits) -> Loaded:
    """Read YAML; never raises, whatever the text."""
    refused = _refuse(text, limits)
    if refused is not None:
        return Loaded(None, refused)
    try:
        value = read_natively(text)
    except Exception as error:
        return Loaded(None, _explain(str(error), text))
    if is_settled(value, limits.yaml_depth or _DEEPEST, tags="!" in text):
        return Loaded(value)
    return _settle(text, value, limits)


def is_sound(text: str, limits: Limits) -> bool:
    """Whether a piece of YAML can be read as it is, as a mapping or as nothing."""
    if _refuse(text, limits) is not None:
        return False
    try:
        value = read_natively(text)
    except Exception:
        return False
    if type(value) is not dict:
        return value is None
    return "!" not in text or not load(text, limits).tags


def is_bracketed_safely(text: str, depth: int) -> bool:
    """Whether flow collections are nested at most so deep; the reader is slow, not wrong, beyond
    that.
    """
    if text.count("[") + text.count("{") <= depth:
        return True
    level = 0
    for match in _BRACKET.finditer(text):
        level = level + 1 if match[0] in "[{" else max(level - 1, 0)
        if level > depth:
            return False
    return True


def _refuse(text: str, limits: Limits) -> Trouble | None:
    depth = limits.yaml_depth or _DEEPEST
    if not is_bracketed_safely(text, depth):
        return Trouble("yaml-nesting", f"its brackets are nested more than {depth} levels deep")
    if "&" not in text or "*" not in text or not _ANCHOR.search(text):
        return None
    aliases = sum(1 for _ in _ALIAS.finditer(text))
    if limits.yaml_aliases and aliases > limits.yaml_aliases:
        return Trouble(
            "yaml-aliases", f"it has {aliases} aliases; at most {limits.yaml_aliases} are read"
        )
    # The worst that n aliases can do, each holding the ones before it, is to repeat the text
    # e^(n/e) times.
    if math.exp(min(aliases, 100) / math.e) * len(text) > _MOST_EXPANDED:
        return Trouble("yaml-aliases", f"its {aliases} aliases could repeat the text without bound")
    return None


def _explain(message: str, text: str) -> Trouble:
    code, why = next(
        ((code, why) for sign, code, why in _REASONS if sign in message), ("yaml-invalid", "")
    )
    place = _PLACE.search(message)
    line, column = (int(place[1]), int(place[2])) if place else (None, None)
    if (position := _POSITION.search(message)) is not None:
        line = text.encode()[: int(position[1])].count(b"\n") + 1
    duplicate = _DUPLICATE.search(message)
    key = duplicate[1].strip('"') if duplicate else None
    if key is not None:
        why = f"the key `{key}` stands twice"
    number = "invalid type: integer" in message
    return Trouble(code, why or "the YAML reader refused it", line, column, key, number)


def _settle(text: str, value: Any, limits: Limits) -> Loaded:
    # Keys that are numbers or truth words may have collided; as text they cannot.
    quoted = _WORD_KEY.sub(r'\1"\2"', text)
    if quoted != text:
        # The first reading stands where quoting the keys breaks something else.
        with suppress(ValueError):
            value = read_natively(quoted)
    tags: list[str] = []
    try:
        settled = _settled(value, limits.yaml_depth or _DEEPEST, tags if "!" in text else None)
    except _Unsettled:
        depth = limits.yaml_depth or _DEEPEST
        return Loaded(None, Trouble("yaml-nesting", f"it is nested more than {depth} levels deep"))
    return Loaded(settled, None, tuple(tags))


def _settled(value: Any, depth: int, tags: list[str] | None) -> Any:
    if type(value) is list:
        if depth <= 0:
            raise _Unsettled
        return [_settled(item, depth - 1, tags) for item in value]
    if type(value) is not dict:
        return value
    if depth <= 0:
        raise _Unsettled
    if tags is not None and len(value) == 1:
        [(key, item)] = value.items()
        if type(key) is str and key.startswith("!"):
            tags.append("!" if key == "!!" else key)
            return _settled(item, depth, tags)
    return {
        key if type(key) is str else render_scalar(key): _settled(item, depth - 1, tags)
        for key, item in value.items()
    }
