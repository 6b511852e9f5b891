"""Where a setting stands: the line of a dotted key in TOML, JSON5 or YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Literal

from prowess.settings.formats.key_spans import Mark, Path

Format = Literal["toml", "json5", "yaml"]

# More than any settings file has; text made to be endless is not followed further.
MOST_LEVELS = 64
MOST_MARKS = 50_000


def find_line(text: str, format_name: Format, path: Path) -> int | None:
    """The line where a key stands (list items are "0", "1", …), else the line of the nearest key
    above it.

    None where the text has neither. Never raises, whatever the text.
    """
    return find_nearest(list_lines(text, format_name), path)


def find_nearest(lines: Mapping[Path, int], path: Path) -> int | None:
    """The line of a key, else of the nearest key above it."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return None


def list_lines(text: str, format_name: Format) -> dict[Path, int]:
    """The line of every key and list item.

    A TOML table has the line of its header, else of the first key in it. A key that JSON5 holds
    twice has the line of the last, which is the one that counts.
    """
    lines: dict[Path, int] = {}
    for mark, line in _marks_with_lines(text, format_name):
        if format_name == "json5" or mark.kind == "table" or mark.path not in lines:
            lines[mark.path] = line
    return lines


def find_too_deep(text: str, format_name: Format) -> int | None:
    """The line of the first key that lies more than `MOST_LEVELS` deep."""
    return next(
        (
            line
            for mark, line in _marks_with_lines(text, format_name)
            if len(mark.path) > MOST_LEVELS
        ),
        None,
    )


def find_repeated(text: str, format_name: Format) -> tuple[Path, int] | None:
    """The first key that stands a second time, and the line where it does."""
    seen: set[Path] = set()
    for mark, line in _marks_with_lines(text, format_name):
        if mark.path in seen:
            return mark.path, line
        seen.add(mark.path)
    return None


def _marks_with_lines(text: str, format_name: Format) -> Iterator[tuple[Mark, int]]:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    line, counted = 1, 0
    for mark in islice(_SCANNERS[format_name](text), MOST_MARKS):
        line += text.count("\n", counted, mark.start)
        counted = mark.start
        yield mark, line
        if len(mark.path) > MOST_LEVELS:
            return


# Each scanner is imported when a file of its format is there: their patterns take longer to make
# than to use.
def _scan_toml(text: str) -> Iterator[Mark]:
    from prowess.settings.formats.scan_toml import scan_toml

    return scan_toml(text)


def _scan_json5(text: str) -> Iterator[Mark]:
    from prowess.settings.formats.scan_json5 import scan_json5

    return scan_json5(text)


def _scan_yaml(text: str) -> Iterator[Mark]:
    from prowess.settings.formats.scan_yaml import scan_yaml

    return scan_yaml(text)


_SCANNERS: dict[Format, Callable[[str], Iterator[Mark]]] = {
    "toml": _scan_toml,
    "json5": _scan_json5,
    "yaml": _scan_yaml,
}
