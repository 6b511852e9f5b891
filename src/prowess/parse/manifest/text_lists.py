"""Lists and mappings that were written as text."""

from __future__ import annotations

import re
from typing import Any

import msgspec

_MOST_JSON = 1 << 18

# Compiled when they are first needed, which for most headers is never.
_BLANKS_OR_COMMAS = r"[\s,]+"
_TOOL = r"[^\s,()]*\([^()]*\)|[^\s,]+"
_PATTERN = r"(?:[^,{}\n]|\{[^{}\n]*\}|[{}])+"


def unpack_json(text: str) -> Any:
    """JSON that can be kept in a cache (no halves of characters, no numbers beyond 64 bits); None
    for anything else.
    """
    try:
        value = msgspec.json.decode(text)
        msgspec.msgpack.encode(value)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None
    return value


def decode_json(text: str) -> Any:
    """JSON or JSON5 that can be kept in a cache; None for anything else."""
    if len(text) > _MOST_JSON:
        return None
    import pyjson5

    try:
        value = pyjson5.decode(text, 64)
        # Halves of characters and numbers beyond 64 bits could not be kept in a cache.
        msgspec.msgpack.encode(value)
    except (pyjson5.Json5Exception, ValueError, OverflowError, RecursionError):
        return None
    return value


def _unpack(text: str) -> tuple[str, ...] | None:
    """The items of a JSON list of words; None where the text is none."""
    items = unpack_json(text) if text.startswith("[") else None
    if isinstance(items, list) and all(isinstance(item, str) for item in items):
        return tuple(items)
    return None


def _clean(words: list[str]) -> tuple[str, ...]:
    return tuple(clean for word in words if (clean := word.strip().strip("\"'")))


def split_names(text: str) -> tuple[str, ...]:
    """Words with blanks or commas between them."""
    return _unpack(text) or _clean(re.split(_BLANKS_OR_COMMAS, text))


def split_tools(text: str) -> tuple[str, ...]:
    """Tools with blanks or commas between them; `Bash(git add *)` is one."""
    return _unpack(text) or _clean(re.findall(_TOOL, text))


def split_patterns(text: str) -> tuple[str, ...]:
    """Patterns with commas or line ends between them; `{a,b}` stays together."""
    return _unpack(text) or _clean(re.findall(_PATTERN, text))


def split_commas(text: str) -> tuple[str, ...]:
    """Words with commas between them."""
    return _unpack(text) or _clean(text.split(","))
