"""Fields that are text by definition, kept as their author wrote them: `version: 1.10` is not the
number 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from prowess.parse.yaml.native import read_natively

TEXT_FIELDS = frozenset(
    "name description license compatibility version when_to_use argument-hint model agent"
    " command-tool".split()
)
"""The fields that a header may write without quotes though they look like numbers or truth words."""

_PLAIN = (int, float, bool)
# What begins a value that is no plain word: quotes, collections, blocks, anchors, aliases and tags.
_MARKS = "\"'[{|>&*!"


def _has_unwritten(fields: dict[str, Any]) -> bool:
    """Whether a field that is text was read as something else."""
    for key, value in fields.items():
        kind = type(value)
        if kind is str:
            continue
        if kind is dict:
            if key == "metadata" and type(value.get("version")) in _PLAIN:
                return True
        elif kind in _PLAIN and key in TEXT_FIELDS:
            return True
    return False


def keep_written(fields: dict[str, Any], header: str | bytes) -> dict[str, Any]:
    """The fields with the text that stands in the header wherever a field that is text was read as
    something else.

    The version of a skill may stand below `metadata`, too. Where the text cannot be found the value
    stays.
    """
    if not _has_unwritten(fields):
        return fields
    lines = (header if isinstance(header, str) else header.decode()).split("\n")
    kept = dict(fields)
    for key, value in fields.items():
        if key in TEXT_FIELDS and _is_plain(value):
            kept[key] = _find_text(lines, key, value)
        elif key == "metadata" and type(value) is dict and _is_plain(value.get("version")):
            text = _find_text(_lines_below(lines, key), "version", value["version"])
            kept[key] = {**value, "version": text}
    return kept


def _is_plain(value: Any) -> bool:
    return type(value) in _PLAIN


def _lines_below(lines: Sequence[str], key: str) -> list[str]:
    """The lines below a key, moved to the left as far as the first of them is indented."""
    below: list[str] = []
    inside = False
    for line in lines:
        if line[:1] not in ("", " ", "\t", "#"):
            inside = _key_of(line) == key
        elif inside and line.strip():
            below.append(line)
    indent = len(below[0]) - len(below[0].lstrip()) if below else 0
    return [line[indent:] for line in below]


def _key_of(line: str) -> str:
    return line.partition(":")[0].rstrip().strip("\"'")


def _find_text(lines: Sequence[str], key: str, value: Any) -> Any:
    """The text that was read as a value, from the line of its key; the value itself where no line
    has it.
    """
    found = value
    for text in _list_texts(lines, key):
        if text and text[0] not in _MARKS and _reads_as(text, value):
            found = text
    return found


def _list_texts(lines: Sequence[str], key: str) -> Iterator[str]:
    """What stands behind a key, or on the line below it; the last one is the one that counts."""
    for number, line in enumerate(lines):
        if _key_of(line) == key:
            text = _without_comment(line.partition(":")[2])
            below = lines[number + 1] if number + 1 < len(lines) else ""
            yield text or (_without_comment(below) if below[:1].isspace() else "")


def _without_comment(text: str) -> str:
    text = text.strip()
    return "" if text.startswith("#") else text.partition(" #")[0].partition("\t#")[0].rstrip()


def _reads_as(text: str, value: Any) -> bool:
    try:
        return repr(read_natively(f"k: {text}\n")) == repr({"k": value})
    except Exception:
        return False
