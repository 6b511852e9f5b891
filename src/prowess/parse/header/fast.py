"""From the bytes of a SKILL.md to its header, under a host's rules; never raises.

Nearly every header is plain, and a scan reads thousands: those take the short way here. Everything
else goes through `prowess.parse.header.slow`, which is imported when it is needed.
"""

from __future__ import annotations

import re
from typing import Any

from prowess.parse.header.result import HeaderReading
from prowess.parse.yaml.host_values import convert_values, find_wrong_type, keep_literal_text
from prowess.parse.yaml.reader import is_clean, parse_natively
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import Limits

__all__ = ["HeaderReading", "read_header"]

_OPENING = b"---\n"

# So few brackets cannot be nested too deeply; where there are more, the slow way counts levels.
_FEW_BRACKETS = 16
_SAFE_DEPTH = 64
_COLLECTIONS = (dict, list)
_TEXT = {str}
# What the parser takes for the end of a line, and most hosts do not.
_SEPARATOR = re.compile("[\x85\u2028\u2029]")


def read_header(data: bytes, *, rules: HeaderRules, limits: Limits) -> HeaderReading:
    """Read the header at the beginning of a file."""
    reading = _read_plain(data, rules, limits)
    if reading is not None:
        return reading
    from prowess.parse.header.slow import read_any_header

    return read_any_header(data, rules, limits)


def _read_plain(data: bytes, rules: HeaderRules, limits: Limits) -> HeaderReading | None:
    """The short way; None for a header that needs a second look."""
    end = _find_plain_end(data, limits)
    if end < 0:
        return None
    header = data[len(_OPENING) : end + 1]
    if _has_specials(header) or _differs_for_host(data, header, rules):
        return None
    try:
        text = header.decode()
        if not data.isascii():
            # Bytes in the body that are not UTF-8 are reported, too.
            data.decode()
            if _SEPARATOR.search(text):
                return None
        value = parse_natively(text)
    except Exception:
        return None
    if type(value) is not dict or set(map(type, value)) != _TEXT:
        return None
    if rules.fallback and _needs_fallback(value, rules):
        return None
    if rules.scalar_fields and find_wrong_type(value, rules) is not None:
        return None
    # Of the values of a scan nearly all are text, and so is all of `metadata`: only others need a
    # look, and C finds them faster than a loop.
    others = [item for item in value.values() if type(item) is not str and not _is_text(item)]
    depth = (limits.yaml_depth or _SAFE_DEPTH) - 1
    for item in others:
        if type(item) in _COLLECTIONS and not is_clean(item, depth, tags=False):
            return None
    if others or rules.values == "text" or not rules.dates_are_text:
        value = _convert_values(value, header, rules)
    return HeaderReading(value, undecoded=data[end + len(b"\n---\n") :])


def _needs_fallback(value: dict[str, Any], rules: HeaderRules) -> bool:
    from prowess.parse.repair.fallbacks import needs_fallback

    return needs_fallback(value, rules)


def _is_text(item: Any) -> bool:
    """Whether a value is a mapping of nothing but text."""
    return type(item) is dict and set(map(type, item)) == set(map(type, item.values())) == _TEXT


def _find_plain_end(data: bytes, limits: Limits) -> int:
    """Where the line before a plain closing fence ends; -1 where the fences are anything else."""
    end = data.find(b"\n---", 3)
    if end < 0 or data[end + 4 : end + 5] != b"\n" or not data.startswith(_OPENING):
        return -1
    return -1 if end > limits.header_bytes > 0 else end


def _has_specials(header: bytes) -> bool:
    """Whether there may be comments, odd line ends, tags, aliases, or deeply nested brackets."""
    if b" #" in header or b"\r" in header or b"!" in header:
        return True
    if b"&" in header and b"*" in header:
        return True
    return header.count(b"[") + header.count(b"{") > _FEW_BRACKETS


def _differs_for_host(data: bytes, header: bytes, rules: HeaderRules) -> bool:
    """Whether the host ends the header elsewhere, strips something first, or merges mappings."""
    if rules.close == "anywhere" and b"---" in header:
        return True
    if rules.tabs == "spaces" and b"\t" in header:
        return True
    if rules.merge_keys and b"<<" in header:
        return True
    if rules.leading_zeros == "number" and b": 0" in header:
        return True
    return rules.strip_comments and b"<!--" in data


def _convert_values(value: dict[str, Any], header: bytes, rules: HeaderRules) -> dict[str, Any]:
    """The values as the host makes them of their text; nothing to do where all are text anyway."""
    if rules.values == "written" and rules.dates_are_text:
        return keep_literal_text(value, header.decode())
    if rules.values == "text" or not rules.dates_are_text:
        return convert_values(value, header.decode(), rules)
    return value
