"""Values as a host reads them where it does not use plain YAML 1.2.

Some hosts make text of everything (`values = "text"`), some keep text fields as their author wrote
them (`values = "written"`: `version: 1.10` is not the number 1.1), and some follow YAML 1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any

from prowess.parse.yaml.reader import parse_natively
from prowess.parse.yaml.text_values import render_json, render_scalar, strip_quotes
from prowess.profiles.schema.header import HeaderRules

TEXT_FIELDS = frozenset(
    "name description license compatibility version when_to_use argument-hint model agent"
    " command-tool".split()
)
"""Fields that are text even where an unquoted value looks like a number or a truth word."""

_PLAIN = (int, float, bool)
# What begins a value that is no plain word: quotes, collections, blocks, anchors, aliases and tags.
_MARKS = "\"'[{|>&*!"

_MERGE = "<<"

# Every scan imports this module, and few hosts need these: they are compiled on first use.
_LINE_PAIR = r"(?a:([\w-]+):\s*(.*))"
_TYPED_TAG = r"(?m)^([^\s:#]+):[ \t]+!!(?:binary|timestamp|set|omap|pairs)\b"
_DATE = r"(\d{4})-(\d\d)-(\d\d)"
_TIMESTAMP = (
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?"
    r"(?:[ \t]*(?:Z|([-+])(\d\d?)(?::(\d\d))?))?"
)
_YAML11_INTEGER = r"[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0[0-7_]+|[1-9][\d_]*(?::[0-5]?\d)+|[1-9][\d_]*)"
# JavaScript has no larger whole numbers that are exact.
_MOST_INTEGER = 1 << 53
# What a date that no calendar has becomes: a date all the same, never text.
_NO_DAY = datetime(1970, 1, 1, tzinfo=UTC)


def convert_values(value: dict[str, Any], header: str, rules: HeaderRules) -> dict[str, Any]:
    """The values of a header as the host's own parser would give them."""
    if rules.merge_keys and _MERGE in value:
        value = _merge(value)
    if rules.tags == "defined" and "!" in header:
        value = _read_typed_tags(value, header)
    if rules.leading_zeros == "number" and ": 0" in header:
        value = _read_leading_zeros(value, header)
    if not rules.dates_are_text:
        value = read_yaml11_scalars(value, header)
    if rules.values == "text":
        return render_values(_restore_lines(value, header), structured="metadata")
    if rules.values == "written":
        return keep_literal_text(value, header)
    return value


def has_bad_merge(value: Any) -> bool:
    """Whether `<<` merges something that is not a mapping, at any depth."""
    if type(value) is list:
        return any(map(has_bad_merge, value))
    if type(value) is not dict:
        return False
    merged = _list_merged(value) if _MERGE in value else []
    is_bad = any(type(one) is not dict for one in merged)
    return is_bad or any(map(has_bad_merge, value.values()))


def _list_merged(value: dict[str, Any]) -> list[Any]:
    merged = value[_MERGE]
    return merged if type(merged) is list else [merged]


def _merge(value: dict[str, Any]) -> dict[str, Any]:
    """The fields with those that `<<` adds; a field of the header's own comes before them."""
    fields: dict[str, Any] = {}
    for one in reversed(_list_merged(value)):
        fields |= one
    return fields | {key: item for key, item in value.items() if key != _MERGE}


def _read_typed_tags(value: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields, with a list for each value that its tag makes neither text nor a number."""
    tagged = [match[1] for match in re.finditer(_TYPED_TAG, header)]
    return {key: [item] if key in tagged else item for key, item in value.items()}


def _read_leading_zeros(value: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields with `0755` as the number that YAML 1.2 has for it. The native parser makes text
    of it, and a number of `0b11`, which is text in YAML 1.2.
    """
    texts = _index_lines(header)
    found = dict(value)
    for key, item in value.items():
        is_zeros = type(item) is str and re.fullmatch(r"[-+]?0\d+", item) is not None
        if is_zeros and _is_unquoted(texts.get(key, ()), item):
            found[key] = int(item)
        elif type(item) is int:
            text = next(iter(texts.get(key, ())), "")
            found[key] = text if text.lstrip("+-").startswith("0b") else item
    return found


def _restore_lines(value: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields, with the text of their line for null, and for brackets with a colon inside where
    a field is text.

    OpenClaw reads a header line by line, too, and falls back to that for these values.
    """
    lines: dict[str, tuple[str, bool]] | None = None
    restored: dict[str, str] = {}
    for key, item in value.items():
        is_structured = type(item) in (dict, list) and key in TEXT_FIELDS
        if item is not None and not is_structured:
            continue
        lines = _read_lines(header) if lines is None else lines
        text, is_inline = lines.get(key, ("", False))
        if text and (item is None or (is_inline and ":" in text)):
            restored[key] = text
    return {**value, **restored} if restored else value


def _read_lines(header: str) -> dict[str, tuple[str, bool]]:
    """The text after each key at the margin, or else the indented lines below it; and whether it is
    on the line of the key.
    """
    found: dict[str, tuple[str, bool]] = {}
    lines = header.split("\n")
    for index, line in enumerate(lines):
        pair = re.fullmatch(_LINE_PAIR, line)
        if pair is None:
            continue
        inline = pair[2].strip()
        text = strip_quotes(inline)
        if not inline:
            end = index + 1
            while end < len(lines) and (not lines[end] or lines[end][0] in " \t"):
                end += 1
            text = "\n".join(lines[index + 1 : end]).strip()
        if text:
            found[pair[1]] = text, bool(inline)
    return found


def find_wrong_type(value: dict[str, Any], rules: HeaderRules) -> str | None:
    """What is wrong with a field whose type makes the host reject the header as a whole."""
    for name in rules.scalar_fields:
        outer, _, inner = name.partition(".")
        found = value.get(outer)
        if inner:
            found = found.get(inner) if type(found) is dict else None
        if type(found) is dict or type(found) is list:
            kind = "a mapping" if type(found) is dict else "a list"
            return f"`{name}` is {kind}; it must be text"
    for name in rules.mapping_fields:
        found = value.get(name)
        if found is not None and type(found) is not dict:
            return f"`{name}` must be a mapping"
    return None


def render_values(frontmatter: dict[str, Any], *, structured: str) -> dict[str, Any]:
    """Every value as trimmed text, lists and mappings as JSON; empty ones are dropped.

    The key `structured` keeps its list or mapping.
    """
    texts: dict[str, Any] = {}
    for key, value in frontmatter.items():
        if value is None:
            continue
        if type(value) not in (dict, list):
            texts[key] = render_scalar(value).strip()
        elif key == structured:
            texts[key] = value
        else:
            texts[key] = render_json(value)
    return texts


def keep_literal_text(fields: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields, with the text of the header wherever a text field was parsed as something else.

    A skill's version may also be under `metadata`. A value whose text cannot be found is kept.
    """
    parsed = [key for key, value in fields.items() if _was_parsed(key, value)]
    if not parsed:
        return fields
    lines = header.split("\n")
    kept = dict(fields)
    for key in parsed:
        value = fields[key]
        if key == "metadata":
            below = _list_lines_below(lines, key)
            kept[key] = {**value, "version": _find_text(below, "version", value["version"])}
        else:
            kept[key] = _find_text(lines, key, value)
    return kept


def _was_parsed(key: str, value: Any) -> bool:
    """Whether a text field was parsed as a number or a truth value."""
    if key == "metadata":
        return type(value) is dict and type(value.get("version")) in _PLAIN
    return key in TEXT_FIELDS and type(value) in _PLAIN


def _list_lines_below(lines: Sequence[str], key: str) -> list[str]:
    """The lines below a key, moved to the left as far as the first of them is indented."""
    below: list[str] = []
    inside = False
    for line in lines:
        if line[:1] not in ("", " ", "\t", "#"):
            inside = _get_key(line) == key
        elif inside and line.strip():
            below.append(line)
    indent = len(below[0]) - len(below[0].lstrip()) if below else 0
    return [line[indent:] for line in below]


def _get_key(line: str) -> str:
    return line.partition(":")[0].rstrip().strip("\"'")


def _find_text(lines: Sequence[str], key: str, value: Any) -> Any:
    """The text that was parsed as a value, from the line of its key; else the value itself."""
    found = value
    for text in _list_texts(lines, key):
        if text and text[0] not in _MARKS and _parses_as(text, value):
            # A key may appear twice; the last one counts.
            found = text
    return found


def _list_texts(lines: Sequence[str], key: str) -> Iterator[str]:
    """What follows a key on its line, or on the line below."""
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if _get_key(line) != key:
            continue
        text = _drop_comment(line.partition(":")[2])
        if not text and below[:1].isspace():
            text = _drop_comment(below)
        yield text


def _drop_comment(text: str) -> str:
    text = text.strip()
    if text.startswith("#"):
        return ""
    return text.partition(" #")[0].partition("\t#")[0].rstrip()


def _parses_as(text: str, value: Any) -> bool:
    try:
        # Compared as text, because True == 1 == 1.0.
        return repr(parse_natively(f"k: {text}\n")) == repr({"k": value})
    except Exception:
        return False


def read_yaml11_scalars(frontmatter: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields with unquoted values as YAML 1.1 has them: dates, and numbers like `012`, `1:30`.

    Dates are in UTC, so that they come back unchanged from a cache.
    """
    texts: dict[str, list[str]] | None = None
    for key, value in frontmatter.items():
        if type(value) is int and "0o" in header:
            # Octal numbers are written with `0o` in YAML 1.2 only.
            texts = texts or _index_lines(header)
            text = next(iter(texts.get(key, ())), "")
            frontmatter[key] = text if text.lstrip("+-").startswith("0o") else value
            continue
        if type(value) is not str or not value[:1].isdigit():
            continue
        texts = texts or _index_lines(header)
        if _is_unquoted(texts.get(key, ()), value):
            frontmatter[key] = _read_yaml11_scalar(value)
    return frontmatter


def _index_lines(header: str) -> dict[str, list[str]]:
    """What follows the colon of every line, by what precedes it."""
    texts: dict[str, list[str]] = {}
    for line in header.split("\n"):
        name, _, rest = line.partition(":")
        texts.setdefault(name.rstrip(), []).append(rest.strip())
    return texts


def _is_unquoted(texts: Sequence[str], value: str) -> bool:
    for text in texts:
        if text.startswith(value):
            rest = text[len(value) :]
            return not rest or rest.lstrip().startswith("#")
    return False


def _read_yaml11_scalar(value: str) -> datetime | int | str:
    moment = _read_date(value)
    if moment is not None:
        return moment
    number = _read_integer(value) if re.fullmatch(_YAML11_INTEGER, value) else None
    return value if number is None else number


def _read_date(value: str) -> datetime | None:
    match = re.fullmatch(_DATE, value) or re.fullmatch(_TIMESTAMP, value)
    if match is None:
        return None
    year, month, day, *clock = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), tzinfo=UTC)
        for part in _read_clock(clock) if clock else ():
            moment += part
    except (ValueError, OverflowError):
        return _NO_DAY
    return moment


def _read_clock(clock: Sequence[str]) -> tuple[timedelta, timedelta]:
    """The time of day, and what makes it UTC; fractions of a second are dropped."""
    hour, minute, second, _, sign, hours, minutes = clock
    time = timedelta(hours=int(hour), minutes=int(minute), seconds=int(second))
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return time, offset if sign == "-" else -offset


def _read_integer(value: str) -> int | None:
    digits = value.replace("_", "")
    try:
        total = _read_digits(digits)
    except ValueError:
        return None
    return total if abs(total) < _MOST_INTEGER else None


def _read_digits(digits: str) -> int:
    if ":" in digits:
        # YAML 1.1 has numbers to the base 60: `1:30` is 90.
        total = 0
        for part in digits.split(":"):
            total = total * 60 + int(part)
        return total
    if digits[:2].lower() in ("0b", "0x"):
        return int(digits, 0)
    is_octal = digits.startswith("0") and len(digits) > 1
    return int(digits, 8 if is_octal else 10)
