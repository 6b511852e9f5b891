"""From the bytes of a SKILL.md to its header, under a host's rules; never raises.

Nearly every header is plain, and a scan reads thousands: those take the short way here. Everything
else goes through `prowess.parse.header.slow`. That, the YAML parser and the values of other hosts
are imported when they are needed: a warm scan seldom reads a header that needs them.
"""

from __future__ import annotations

import re
from typing import Any

from prowess.parse.header.result import HeaderReading
from prowess.parse.yaml.plain_lines import parse_plain_lines
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import ScanLimits

__all__ = ["HeaderReading", "read_header"]

_OPENING = b"---\n"
_CLOSING = b"\n---\n"

# So few brackets cannot be nested too deeply; where there are more, the slow way counts levels.
_FEW_BRACKETS = 16
_SAFE_DEPTH = 64
_COLLECTIONS = (dict, list)
# These close a header at dashes that do not begin a line, too.
_LATE_CLOSINGS = ("anywhere", "trimmed")
# What the parser takes for the end of a line, and most hosts do not.
_SEPARATOR = "[\x85\u2028\u2029]"


def read_header(data: bytes, *, rules: HeaderRules, limits: ScanLimits) -> HeaderReading:
    """Read the header at the beginning of a file."""
    reading = _read_plain(data, rules, limits)
    if reading is not None:
        return reading
    from prowess.parse.header.slow import read_any_header

    return read_any_header(data, rules, limits)


def _read_plain(data: bytes, rules: HeaderRules, limits: ScanLimits) -> HeaderReading | None:
    """The short way; None for a header that needs a second look."""
    end = _find_plain_end(data, limits)
    if end < 0:
        return None
    header = _decode_plain(data, end, rules)
    if header is None:
        return None
    fields = parse_plain_lines(header)
    others: list[Any] = []
    if fields is None:
        # The parser makes text of `0755`, where some hosts have a number.
        if rules.leading_zeros == "number" and _may_have_zeros(header):
            return None
        # Plain lines are text by construction; what the parser makes of others has to be checked.
        parsed = _parse_checked(header, limits)
        if parsed is None:
            return None
        fields, others = parsed
    has_own_reading = rules.fallback or rules.scalar_fields
    if has_own_reading and _needs_second_look(fields, rules):
        return None
    # Where all values are text, only these hosts make something else of them.
    if others or rules.values == "text" or not rules.dates_are_text:
        fields = _convert_values(fields, header, rules)
    return HeaderReading(fields, data=data, body_start=end + len(_CLOSING))


def _decode_plain(data: bytes, end: int, rules: HeaderRules) -> str | None:
    """The text between the fences; None if the host could see anything but plain YAML in it."""
    # After a blank line the line end before the fence is the fence's: a block that keeps its blank
    # lines (`|+`) has one less. Without a line end the parser would shorten other blocks.
    stop = end if data[end - 1 : end] == b"\n" else end + 1
    try:
        header = data[len(_OPENING) : stop].decode()
        if not data.isascii():
            # Bytes in the body that are not UTF-8 are reported, too, which the slow way does.
            data.decode()
    except UnicodeDecodeError:
        return None
    if _has_specials(header) or _differs_for_host(data, header, rules):
        return None
    if not header.isascii() and re.search(_SEPARATOR, header):
        return None
    return header


def _parse_checked(header: str, limits: ScanLimits) -> tuple[dict[str, Any], list[Any]] | None:
    """The fields of a header and those of its values that are not text; None if anything in it is
    invalid, or nested too deeply.
    """
    from prowess.parse.yaml.reader import is_clean, parse_natively

    try:
        fields = parse_natively(header)
    except Exception:
        # Whatever the parser raises, no file may end a scan; the slow way reports the reason.
        return None
    if type(fields) is not dict or not fields:
        return None
    others = _find_others(fields)
    if others is None:
        return None
    # The header itself is the first level.
    depth = (limits.yaml_depth or _SAFE_DEPTH) - 1
    for item in others:
        if type(item) in _COLLECTIONS and not is_clean(item, depth, tags=False):
            return None
    return fields, others


def _needs_second_look(value: dict[str, Any], rules: HeaderRules) -> bool:
    """Whether the host reads this header in another way, or refuses the type of a value."""
    # Gemini CLI reads a header line by line unless its name and description are text.
    if rules.fallback:
        from prowess.parse.repair.fallbacks import needs_fallback

        if needs_fallback(value, rules):
            return True
    # Codex refuses the whole header for a list or a mapping where it expects text.
    if not rules.scalar_fields:
        return False
    from prowess.parse.yaml.host_values import find_wrong_type

    return find_wrong_type(value, rules) is not None


def _find_others(value: dict[Any, Any]) -> list[Any] | None:
    """The values that are not text; None if a key isn't.

    Of the values of a scan nearly all are text, and so is all of `metadata`: only others need a
    closer look.
    """
    others = []
    for key, item in value.items():
        if type(key) is not str:
            # As text, `1` and `true` may collide with other keys; the slow way sees to that.
            return None
        if type(item) is not str and not _is_text(item):
            others.append(item)
    return others


def _is_text(item: Any) -> bool:
    """Whether a value is a mapping of nothing but text, and not an empty one."""
    if type(item) is not dict:
        return False
    for key, value in item.items():
        if type(key) is not str or type(value) is not str:
            return False
    return bool(item)


def _find_plain_end(data: bytes, limits: ScanLimits) -> int:
    """Where the line before a plain closing fence ends; -1 where the fences are anything else."""
    if data[: len(_OPENING)] != _OPENING:
        return -1
    # From the end of the first line on: the closing fence of an empty header follows at once.
    end = data.find(b"\n---", len(_OPENING) - 1)
    if end < 0 or data[end : end + len(_CLOSING)] != _CLOSING:
        return -1
    # The slow way reports how large the header is.
    is_too_large = end > limits.header_bytes > 0
    return -1 if is_too_large else end


# These checks search text: in bytes, `in` first takes its operand for a number, and making the
# error that it then drops takes ten times as long as the search.


def _has_specials(header: str) -> bool:
    """Whether there may be comments, odd line ends, tags, aliases, or deeply nested brackets.

    It errs on the safe side: a `!` in a sentence only costs the slow way.
    """
    if " #" in header or "\r" in header or "!" in header:
        return True
    if "&" in header and "*" in header:
        return True
    has_brackets = "[" in header or "{" in header
    return has_brackets and header.count("[") + header.count("{") > _FEW_BRACKETS


def _may_have_zeros(header: str) -> bool:
    """Whether a value may begin with a zero, perhaps after a sign."""
    has_zero = " 0" in header or "\t0" in header
    has_signed_zero = "-0" in header or "+0" in header
    if not has_zero and not has_signed_zero:
        return False
    from prowess.parse.yaml.reader import may_have_zeros

    return may_have_zeros(header)


def _differs_for_host(data: bytes, header: str, rules: HeaderRules) -> bool:
    """Whether the host ends the header elsewhere, strips something first, or merges mappings."""
    # Claude Code closes a header at `---` in the middle of a line, too; Codex and Crush where
    # there are blanks before it.
    if rules.close in _LATE_CLOSINGS and "---" in header:
        return True
    # omp makes two spaces of a tab, also inside text.
    if rules.tabs == "spaces" and "\t" in header:
        return True
    # The parser follows YAML 1.2, which has no merging; for it `<<` is a key like any other.
    if rules.merge_keys and "<<" in header:
        return True
    # omp strips comments from the whole file before it looks for fences.
    return rules.strip_comments and b"<!--" in data


def _convert_values(value: dict[str, Any], header: str, rules: HeaderRules) -> dict[str, Any]:
    """The values as the host makes them of their text; nothing to do where all are text anyway."""
    from prowess.parse.yaml.host_values import convert_values, keep_literal_text

    if rules.values == "written" and rules.dates_are_text:
        return keep_literal_text(value, header)
    if rules.values == "text" or not rules.dates_are_text:
        return convert_values(value, header, rules)
    return value
