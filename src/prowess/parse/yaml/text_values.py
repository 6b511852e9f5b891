"""Values and text: a value as JavaScript prints it, and lists or mappings written as text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

# JSON inside a field is metadata; nobody writes more of it than this.
_MOST_JSON = 1 << 18
_MOST_JSON_DEPTH = 64
# How much of a text a message quotes.
_MOST_QUOTED = 40

# Compiled on first use, which most scans never come to.
_BLANKS_OR_COMMAS = r"[\s,]+"
# In `Bash(git add, git log)` and in `src/{a,b}` commas and blanks separate nothing.
_TOOL = r"[^\s,()]*\([^()]*\)|[^\s,]+"
_PATTERN = r"(?:[^,{}\n]|\{[^{}\n]*\}|[{}])+"

# JavaScript prints what is between these without an exponent.
_LEAST_PLAIN_FLOAT, _MOST_PLAIN_FLOAT = 1e-6, 1e21
# Every whole number below this one is a double, exactly.
_MOST_EXACT_FLOAT = 1e15

_NAMES_OF_TYPES: tuple[tuple[type, str], ...] = (
    (type(None), "empty"),
    (Mapping, "a mapping"),
    (list, "a list"),
    (tuple, "a list"),
)


def render_scalar(value: Any) -> str:
    """A scalar as JavaScript prints it: `true`, `1.5`, `1` for 1.0, `null`."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if type(value) is float:
        return _render_float(value)
    return str(value)


def _render_float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        # JavaScript prints -0 without its sign.
        return "0"
    text = repr(value).removesuffix(".0")
    if "e" not in text:
        return text
    # Python begins to write exponents earlier, and writes `e-07` where JavaScript has `e-7`.
    has_no_exponent = _LEAST_PLAIN_FLOAT <= abs(value) < _MOST_PLAIN_FLOAT
    if has_no_exponent:
        from decimal import Decimal

        return format(Decimal(text), "f")
    return text.replace("e-0", "e-")


def is_list_of_scalars(value: Any) -> bool:
    """Whether a value is a list of words, numbers and truth values only."""
    return type(value) is list and all(isinstance(item, (str, int, float)) for item in value)


def render_words(items: list[Any]) -> tuple[str, ...]:
    """The items of such a list as text, trimmed; empty ones are dropped."""
    texts = [render_scalar(item).strip() for item in items]
    return tuple(filter(None, texts))


def render_json(value: Any) -> str:
    """A list or a mapping as compact JSON, as JavaScript prints it: `1` for 1.0."""
    return msgspec.json.encode(_make_numbers_whole(value)).decode()


def _make_numbers_whole(value: Any) -> Any:
    if type(value) is dict:
        return {key: _make_numbers_whole(item) for key, item in value.items()}
    if type(value) is list:
        return [_make_numbers_whole(item) for item in value]
    if type(value) is float:
        return make_whole(value)
    return value


def make_whole(number: float) -> float:
    """A whole number as an integer, unless it is so large that it may have been rounded.

    Larger ones stay as the doubles that JavaScript has, too: the cache stores no more than 64 bits.
    """
    is_exact = abs(number) < _MOST_EXACT_FLOAT
    if is_exact and number.is_integer():
        return int(number)
    return number


def describe(value: Any) -> str:
    """A value in words, short enough for a message."""
    if isinstance(value, str):
        if len(value) > _MOST_QUOTED:
            value = value[: _MOST_QUOTED - 1] + "…"
        return f"“{value}”"
    if isinstance(value, (bool, int, float)):
        return f"`{render_scalar(value)}`"
    for kind, name in _NAMES_OF_TYPES:
        if isinstance(value, kind):
            return name
    # The only other type that a reading of YAML has.
    return "a date"


def parse_json(text: str) -> Any:
    """The value of JSON text; None for anything else, and for what cannot be cached."""
    try:
        value = msgspec.json.decode(text)
        # Fails on lone surrogates and numbers beyond 64 bits, which the cache cannot store.
        msgspec.msgpack.encode(value)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        # The text is a user's: the caller says what it expects in its place.
        return None
    return value


def parse_json5(text: str) -> Any:
    """The value of JSON or JSON5 text; None for anything else, and for what cannot be cached."""
    if len(text) > _MOST_JSON:
        return None
    # Few skills have JSON5 in a field, so most scans do without this parser.
    import pyjson5

    try:
        value = pyjson5.decode(text, _MOST_JSON_DEPTH)
        # As in `parse_json`.
        msgspec.msgpack.encode(value)
    except (pyjson5.Json5Exception, ValueError, OverflowError, RecursionError):
        return None
    return value


def split_names(text: str) -> tuple[str, ...]:
    """Words separated by blanks or commas."""
    return _clean_words(text, re.split(_BLANKS_OR_COMMAS, text))


# Many skills ask for the same tools, in the same words.
@lru_cache(maxsize=256)
def split_tools(text: str) -> tuple[str, ...]:
    """Tools separated by blanks or commas; `Bash(git add *)` is one."""
    return _clean_words(text, re.findall(_TOOL, text))


def split_patterns(text: str) -> tuple[str, ...]:
    """Patterns separated by commas or line ends; `{a,b}` stays together."""
    return _clean_words(text, re.findall(_PATTERN, text))


def split_commas(text: str) -> tuple[str, ...]:
    """Words separated by commas."""
    return _clean_words(text, text.split(","))


def _clean_words(text: str, words: list[str]) -> tuple[str, ...]:
    """The words of a text without blanks and quotes; those of a JSON list as they are there."""
    if text.startswith("["):
        # OpenClaw makes text of every value, and JSON of a list.
        items = parse_json(text)
        is_list = isinstance(items, list) and len(items) > 0
        if is_list and all(isinstance(item, str) for item in items):
            return tuple(items)
    cleaned = [word.strip().strip("\"'") for word in words]
    return tuple(filter(None, cleaned))


def strip_quotes(text: str) -> str:
    """A text without the quotes around it, whatever is between them."""
    first, last = text[:1], text[-1:]
    is_quoted = first in ("'", '"') and last == first
    return text[1:-1] if is_quoted else text
