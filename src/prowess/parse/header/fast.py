"""From the bytes of a SKILL.md to its header, under a host's rules; never raises, whatever the
bytes.

Nearly every header is as it should be, and a scan reads thousands: those take the short way here.
Everything else is `prowess.parse.header.slow`, which is imported when it is needed.
"""

from __future__ import annotations

from prowess.parse.header.result import HeaderReading, find_lead
from prowess.parse.yaml.host_values import keep_literal_text
from prowess.parse.yaml.reader import is_clean, parse_natively
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import Limits

__all__ = ["HeaderReading", "read_header"]

# The first line of nearly every body lies within so many bytes.
_LEAD_BYTES = 400

# So few brackets cannot be nested too deeply; more are counted.
_FEW_BRACKETS = 16
_SAFE_DEPTH = 64
_COLLECTIONS = (dict, list)
# Where a header has none of these, which one look tells, it need not be looked through for each of
# them.
_RARE = b"\r!&[{"


def read_header(data: bytes, *, rules: HeaderRules, limits: Limits) -> HeaderReading:
    """Read the header from the beginning of a file."""
    reading = _read_plain(data, rules, limits)
    if reading is not None:
        return reading
    from prowess.parse.header.slow import read_any_header

    return read_any_header(data, rules, limits)


def _read_plain(data: bytes, rules: HeaderRules, limits: Limits) -> HeaderReading | None:
    """The short way for a header that is as it should be; None for anything that needs a second
    look.
    """
    end = data.find(b"\n---", 3)
    if (
        end < 0
        or data[end + 4 : end + 5] != b"\n"
        or not data.startswith(b"---\n")
        or end > limits.header_bytes > 0
    ):
        return None
    header = data[4 : end + 1]
    if b" #" in header or (
        len(header.translate(None, _RARE)) < len(header) and _needs_care(header)
    ):
        return None
    if (rules.close == "anywhere" and b"---" in header) or (
        rules.strip_comments and b"<!--" in data
    ):
        return None
    try:
        if not data.isascii():
            data.decode()
        value = parse_natively(header.decode())
    except Exception:
        return None
    if type(value) is not dict:
        return None
    depth = (limits.yaml_depth or _SAFE_DEPTH) - 1
    has_numbers = False
    for key, item in value.items():
        kind = type(item)
        if type(key) is not str or (kind in _COLLECTIONS and not is_clean(item, depth, tags=False)):
            return None
        if kind is not str:
            has_numbers = (
                has_numbers or kind is not dict or type(item.get("version", "")) is not str
            )
    if rules.values == "written" and rules.dates_are_text:
        value = keep_literal_text(value, header) if has_numbers else value
    elif rules.values == "text" or not rules.dates_are_text:
        from prowess.parse.yaml.host_values import convert_values

        value = convert_values(value, header.decode(), rules)
    return HeaderReading(value, _find_lead(data, end + 5))


def _needs_care(header: bytes) -> bool:
    """Whether there may be other line ends, tags or aliases, or enough brackets for nesting to be
    counted.
    """
    if b"\r" in header or b"!" in header or (b"&" in header and b"*" in header):
        return True
    return (b"[" in header or b"{" in header) and header.count(b"[") + header.count(
        b"{"
    ) > _FEW_BRACKETS


def _find_lead(data: bytes, start: int) -> str:
    line, _, rest = data[start : start + _LEAD_BYTES].lstrip().partition(b"\n")
    if rest and (lead := find_lead(line.decode())):
        return lead
    return find_lead(data[start:].decode(errors="replace"))
