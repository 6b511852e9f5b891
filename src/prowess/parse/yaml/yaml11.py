"""Values as a host reads them where it does not take YAML 1.2 at its word: all text, or YAML 1.1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from prowess.parse.manifest.scalars import render_json, render_scalar
from prowess.parse.yaml.literal_text import keep_written
from prowess.profiles.schema.header import HeaderRules

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIMESTAMP = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?"
    r"(?:[ \t]*(?:Z|([-+])(\d\d?)(?::(\d\d))?))?"
)
_OLD_INTEGER = re.compile(
    r"[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0[0-7_]+|[1-9][\d_]*(?::[0-5]?\d)+|[1-9][\d_]*)",
)


def reread(value: dict[str, Any], header: str, rules: HeaderRules) -> dict[str, Any]:
    """The values of a header as the host's own reader would give them."""
    if not rules.dates_are_text:
        value = read_old_scalars(value, header)
    if rules.values == "text":
        value = values_as_text(value, structured="metadata")
    elif rules.values == "written":
        value = keep_written(value, header)
    return value


def values_as_text(frontmatter: dict[str, Any], *, structured: str) -> dict[str, Any]:
    """Every value as trimmed text, lists and mappings as JSON, empty ones dropped; one key stays as
    it is.
    """
    texts: dict[str, Any] = {}
    for key, value in frontmatter.items():
        if value is None:
            continue
        if type(value) in (dict, list):
            texts[key] = value if key == structured else render_json(value)
        else:
            texts[key] = render_scalar(value).strip()
    return texts


def read_old_scalars(frontmatter: dict[str, Any], header: str) -> dict[str, Any]:
    """What a reader of YAML 1.1 makes of unquoted values: dates are moments, `012` and `1:30` are
    numbers.

    Moments are in UTC, so that they come back unchanged from a cache.
    """
    lines: dict[str, list[str]] | None = None
    for key, value in frontmatter.items():
        if type(value) is not str or not value[:1].isdigit():
            continue
        lines = lines or _index_lines(header)
        if not _stands_bare(lines.get(key, ()), value):
            continue
        older: datetime | int | None = _read_moment(value)
        if older is None and _OLD_INTEGER.fullmatch(value):
            older = _read_integer(value)
        if older is not None:
            frontmatter[key] = older
    return frontmatter


def _index_lines(header: str) -> dict[str, list[str]]:
    """What stands behind the colon of every line, by what stands before it."""
    lines: dict[str, list[str]] = {}
    for line in header.split("\n"):
        name, _, rest = line.partition(":")
        lines.setdefault(name.rstrip(), []).append(rest.strip())
    return lines


def _stands_bare(texts: Sequence[str], value: str) -> bool:
    for text in texts:
        if text.startswith(value):
            return text == value or text[len(value) :].lstrip().startswith("#")
    return False


def _read_moment(value: str) -> datetime | None:
    match = _DATE.fullmatch(value) or _TIMESTAMP.fullmatch(value)
    if match is None:
        return None
    year, month, day, *clock = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), tzinfo=UTC)
        if clock:
            hour, minute, second, _, sign, hours, minutes = clock
            shift = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
            moment += timedelta(hours=int(hour), minutes=int(minute), seconds=int(second))
            moment += shift if sign == "-" else -shift
    except (ValueError, OverflowError):
        # Not a day of any calendar, yet no text either.
        return datetime(1970, 1, 1, tzinfo=UTC)
    return moment


def _read_integer(value: str) -> int | None:
    digits = value.replace("_", "")
    try:
        if ":" in digits:
            total = 0
            for part in digits.split(":"):
                total = total * 60 + int(part)
        elif digits[:2].lower() in ("0b", "0x"):
            total = int(digits, 0)
        else:
            total = int(digits, 8) if digits.startswith("0") and len(digits) > 1 else int(digits)
    except ValueError:
        return None
    return total if abs(total) < 1 << 53 else None
