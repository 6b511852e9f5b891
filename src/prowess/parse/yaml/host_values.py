"""Values as a host reads them where it does not use plain YAML 1.2.

Some hosts make text of everything (`values = "text"`), some keep text fields as their author wrote
them (`values = "written"`: `version: 1.10` is not the number 1.1), and some follow YAML 1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import takewhile, zip_longest
from typing import Any, NamedTuple

from prowess.parse.yaml.reader import may_have_zeros, parse_natively
from prowess.parse.yaml.text_values import (
    make_whole,
    render_json,
    render_scalar,
    strip_quotes,
)
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
# Only ASCII digits make numbers and dates.
_LEADING_ZEROS = r"(?a)[-+]?0\d+"
# Numbers to the native parser that are text in YAML 1.2, and in YAML 1.1.
_NO_NUMBER = r"[-+]?0b|[-+]0[ox]"
_NO_YAML11_NUMBER = r"[-+]?0o"
_DATE = r"(?a)(\d{4})-(\d\d)-(\d\d)"
_TIMESTAMP = (
    r"(?a)(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?"
    r"(?:[ \t]*(?:Z|([-+])(\d\d?)(?::(\d\d))?))?"
)
_YAML11_INTEGER = (
    r"(?a)[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0[0-7_]+|[1-9][\d_]*(?::[0-5]?\d)+|[1-9][\d_]*)"
)
_NUMBER_STARTS = frozenset("+-0123456789")
# JavaScript has no larger whole numbers that are exact.
_MOST_INTEGER = 1 << 53
# What a date that no calendar has becomes.
_NO_DAY = datetime(1970, 1, 1, tzinfo=UTC)


def convert_values(value: dict[str, Any], header: str, rules: HeaderRules) -> dict[str, Any]:
    """The values of a header as the host's own parser would give them."""
    if rules.merge_keys and _MERGE in value:
        value = _merge(value)
    if rules.tags == "defined" and "!" in header:
        value = _read_typed_tags(value, header)
    if rules.leading_zeros == "number" and may_have_zeros(header):
        value = _read_leading_zeros(value, header)
    # opencode alone: js-yaml 3 follows YAML 1.1.
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
    if _MERGE in value:
        # opencode drops a skill with `<<: 3` anywhere in its header.
        for merged in _list_merged(value):
            if type(merged) is not dict:
                return True
    return any(map(has_bad_merge, value.values()))


def _list_merged(value: dict[str, Any]) -> list[Any]:
    merged = value[_MERGE]
    return merged if type(merged) is list else [merged]


def _merge(value: dict[str, Any]) -> dict[str, Any]:
    """The fields with those that `<<` adds; a field of the header's own comes before them."""
    fields: dict[str, Any] = {}
    # Of two merged mappings the first one wins.
    for merged in reversed(_list_merged(value)):
        fields |= merged
    own = {key: item for key, item in value.items() if key != _MERGE}
    return fields | own


def _read_typed_tags(value: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields, with a list for each value that its tag makes neither text nor a number."""
    # opencode drops a skill whose name is `!!binary`; where text is expected, so is a list.
    tagged = {match[1] for match in re.finditer(_TYPED_TAG, header)}
    typed = dict(value)
    for key in tagged & value.keys():
        typed[key] = [value[key]]
    return typed


def _read_leading_zeros(value: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields with `0755` as the number that YAML 1.2 has for it. The native parser makes text
    of it, and a number of `0b11` and `-0x1f`, which are text in YAML 1.2.
    """
    texts = _index_lines(header)
    converted = dict(value)
    for key, item in value.items():
        if type(item) is int:
            converted[key] = _undo_number(item, texts.get(key, ()), _NO_NUMBER)
        elif type(item) is str and re.fullmatch(_LEADING_ZEROS, item):
            is_unquoted = _is_unquoted(texts.get(key, ()), item)
            converted[key] = make_whole(float(item)) if is_unquoted else item
    return converted


def _undo_number(number: int, texts: Sequence[str], unknown: str) -> int | str:
    """The text of a number if it begins as none that the host's parser knows, else the number."""
    text = _drop_comment(texts[0]) if texts else ""
    return text if re.match(unknown, text) else number


def _restore_lines(value: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields, with the text of their line for null, and for brackets with a colon inside where
    a field is text.

    OpenClaw reads a header line by line, too, and falls back to that for these values.
    """
    empty: list[str] = []
    bracketed: list[str] = []
    for key, item in value.items():
        if item is None:
            empty.append(key)
        elif type(item) in (dict, list) and key in TEXT_FIELDS:
            bracketed.append(key)
    if not empty and not bracketed:
        return value
    lines = _read_lines(header)
    restored = dict(value)
    for key in empty:
        if key in lines:
            restored[key] = lines[key].text
    for key in bracketed:
        line = lines.get(key)
        if line is None or not line.is_inline:
            continue
        # `[see: x]` was a sentence; `[a, b]` stays the list that it is.
        if ":" in line.text:
            restored[key] = line.text
    return restored


class _LineText(NamedTuple):
    """The text of a key, and whether it is on the same line."""

    text: str
    is_inline: bool


def _read_lines(header: str) -> dict[str, _LineText]:
    """The text after each key at the margin, or else the indented lines below it."""
    texts: dict[str, _LineText] = {}
    lines = header.split("\n")
    for index, line in enumerate(lines):
        pair = re.fullmatch(_LINE_PAIR, line)
        if pair is None:
            continue
        key, inline = pair[1], pair[2].strip()
        text = strip_quotes(inline) if inline else _join_indented(lines[index + 1 :])
        if text:
            texts[key] = _LineText(text, is_inline=inline != "")
    return texts


def _join_indented(lines: Sequence[str]) -> str:
    """The empty and indented lines at the beginning, as one text."""
    indented = takewhile(lambda line: line[:1] in ("", " ", "\t"), lines)
    return "\n".join(indented).strip()


def find_wrong_type(value: dict[str, Any], rules: HeaderRules) -> str | None:
    """What is wrong with a field whose type makes the host reject the header as a whole."""
    for name in rules.scalar_fields:
        field = _find_dotted(value, name)
        if type(field) is dict:
            return f"`{name}` is a mapping; it must be text"
        if type(field) is list:
            return f"`{name}` is a list; it must be text"
    for name in rules.mapping_fields:
        field = value.get(name)
        if field is not None and type(field) is not dict:
            return f"`{name}` must be a mapping"
    return None


def _find_dotted(value: dict[str, Any], name: str) -> Any:
    """The value of `metadata.version` or of a name without a dot; None if there is none."""
    outer, _, inner = name.partition(".")
    field = value.get(outer)
    if not inner:
        return field
    return field.get(inner) if type(field) is dict else None


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
    is_inside = False
    for line in lines:
        is_at_margin = line[:1] not in ("", " ", "\t", "#")
        if is_at_margin:
            is_inside = _get_key(line) == key
        elif is_inside and line.strip():
            below.append(line)
    if not below:
        return []
    indent = len(below[0]) - len(below[0].lstrip())
    return [line[indent:] for line in below]


def _get_key(line: str) -> str:
    return line.partition(":")[0].rstrip().strip("\"'")


def _find_text(lines: Sequence[str], key: str, value: Any) -> Any:
    """The text that was parsed as a value, from the line of its key; else the value itself."""
    written = value
    for text in _list_texts(lines, key):
        is_plain = text != "" and text[0] not in _MARKS
        if is_plain and _parses_as(text, value):
            # A key may appear twice; the last one counts.
            written = text
    return written


def _list_texts(lines: Sequence[str], key: str) -> Iterator[str]:
    """What follows a key on its line, or on the line below."""
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if _get_key(line) != key:
            continue
        text = _drop_comment(line.partition(":")[2])
        is_below = not text and below[:1].isspace()
        if is_below:
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
        # A part of a line may be no YAML at all; then it is not what was parsed.
        return False


def read_yaml11_scalars(frontmatter: dict[str, Any], header: str) -> dict[str, Any]:
    """The fields with unquoted values as YAML 1.1 has them: dates, and numbers like `012`, `1:30`.

    Dates are in UTC, so that they come back unchanged from a cache.
    """
    numbers: list[str] = []
    words: list[str] = []
    for key, value in frontmatter.items():
        if type(value) is int:
            numbers.append(key)
        elif type(value) is str and value[:1] in _NUMBER_STARTS:
            words.append(key)
    if not numbers and not words:
        return frontmatter
    texts = _index_lines(header)
    for key in numbers:
        # Octal numbers are written with `0o` in YAML 1.2 only.
        frontmatter[key] = _undo_number(frontmatter[key], texts.get(key, ()), _NO_YAML11_NUMBER)
    for key in words:
        if _is_unquoted(texts.get(key, ()), frontmatter[key]):
            frontmatter[key] = _read_yaml11_scalar(frontmatter[key])
    return frontmatter


def _index_lines(header: str) -> dict[str, list[str]]:
    """What follows the colon of every line, by the key before it."""
    texts: dict[str, list[str]] = {}
    for line in header.split("\n"):
        name, _, rest = line.partition(":")
        texts.setdefault(name.rstrip().strip("\"'"), []).append(rest.strip())
    return texts


def _is_unquoted(texts: Sequence[str], value: str) -> bool:
    """Whether a value is on one of its lines as it is, alone or before a comment."""
    for text in texts:
        if text.startswith(value):
            rest = text[len(value) :]
            return not rest or rest.lstrip().startswith("#")
    return False


def _read_yaml11_scalar(value: str) -> datetime | int | str:
    moment = _read_date(value)
    if moment is not None:
        return moment
    if not re.fullmatch(_YAML11_INTEGER, value):
        return value
    number = _read_integer(value)
    return value if number is None else number


def _read_date(value: str) -> datetime | None:
    match = re.fullmatch(_DATE, value) or re.fullmatch(_TIMESTAMP, value)
    if match is None:
        return None
    year, month, day, *clock = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), tzinfo=UTC)
        if clock:
            moment += _read_clock(clock)
    except (ValueError, OverflowError):
        # JavaScript has a date for the 31st of February; it is never text.
        return _NO_DAY
    return moment


def _read_clock(clock: Sequence[str]) -> timedelta:
    """The time of day in UTC, from midnight; fractions of a second are dropped."""
    hour, minute, second, _, sign, hours, minutes = clock
    time = timedelta(hours=int(hour), minutes=int(minute), seconds=int(second))
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return time + offset if sign == "-" else time - offset


def _read_integer(value: str) -> int | None:
    digits = value.replace("_", "")
    try:
        total = _read_digits(digits)
    except ValueError:
        # `0b_` has no digits, and Python converts at most 4,300 of them; both stay text.
        return None
    return total if abs(total) < _MOST_INTEGER else None


def _read_digits(digits: str) -> int:
    if digits[0] in "+-":
        # The sign is that of the whole number: `-1:30` is -90.
        number = _read_digits(digits[1:])
        return -number if digits[0] == "-" else number
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
