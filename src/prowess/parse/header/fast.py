"""From the bytes of a SKILL.md to its header, under a host's rules; never raises.

Nearly every header is plain, and a scan reads thousands: those take the short way here. Everything
else goes through `prowess.parse.header.slow`, which is imported when it is needed.
"""

from __future__ import annotations

from typing import Any

from prowess.parse.header.result import HeaderReading, find_lead
from prowess.parse.yaml.host_values import convert_values, keep_literal_text
from prowess.parse.yaml.reader import is_clean, parse_natively
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import Limits

__all__ = ["HeaderReading", "read_header"]

_OPENING = b"---\n"

# The first line of nearly every body is within this many bytes.
_LEAD_BYTES = 400

# So few brackets cannot be nested too deeply; where there are more, the slow way counts levels.
_FEW_BRACKETS = 16
_SAFE_DEPTH = 64
_COLLECTIONS = (dict, list)
# One pass shows that a header has none of these, which saves a search for each of them.
_RARE = b"\r!&[{"


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
        if not data.isascii():
            # Bytes in the body that are not UTF-8 are reported, too.
            data.decode()
        value = parse_natively(header.decode())
    except Exception:
        return None
    if type(value) is not dict:
        return None
    depth = (limits.yaml_depth or _SAFE_DEPTH) - 1
    has_numbers = False
    for key, item in value.items():
        if type(key) is not str:
            return None
        kind = type(item)
        if kind is str:
            continue
        if kind in _COLLECTIONS and not is_clean(item, depth, tags=False):
            return None
        # Of the numbers inside mappings only `metadata.version` may have been meant as text.
        if kind is not dict or type(item.get("version", "")) is not str:
            has_numbers = True
    value = _convert_values(value, header, rules, has_numbers=has_numbers)
    return HeaderReading(value, _find_lead(data, end + len(b"\n---\n")))


def _find_plain_end(data: bytes, limits: Limits) -> int:
    """Where the line before a plain closing fence ends; -1 where the fences are anything else."""
    end = data.find(b"\n---", 3)
    if end < 0 or data[end + 4 : end + 5] != b"\n" or not data.startswith(_OPENING):
        return -1
    return -1 if end > limits.header_bytes > 0 else end


def _has_specials(header: bytes) -> bool:
    """Whether there may be comments, odd line ends, tags, aliases, or deeply nested brackets."""
    if b" #" in header:
        return True
    if len(header.translate(None, _RARE)) == len(header):
        return False
    if b"\r" in header or b"!" in header or (b"&" in header and b"*" in header):
        return True
    return header.count(b"[") + header.count(b"{") > _FEW_BRACKETS


def _differs_for_host(data: bytes, header: bytes, rules: HeaderRules) -> bool:
    """Whether the host ends the header elsewhere, or strips comments first."""
    if rules.close == "anywhere" and b"---" in header:
        return True
    return rules.strip_comments and b"<!--" in data


def _convert_values(
    value: dict[str, Any], header: bytes, rules: HeaderRules, *, has_numbers: bool
) -> dict[str, Any]:
    if rules.values == "written" and rules.dates_are_text:
        return keep_literal_text(value, header.decode()) if has_numbers else value
    if rules.values == "text" or not rules.dates_are_text:
        return convert_values(value, header.decode(), rules)
    return value


def _find_lead(data: bytes, start: int) -> str:
    line, _, rest = data[start : start + _LEAD_BYTES].lstrip().partition(b"\n")
    if rest and (lead := find_lead(line.decode())):
        return lead
    # The line is longer, or there is none: the whole body has to be searched.
    return find_lead(data[start:].decode(errors="replace"))
