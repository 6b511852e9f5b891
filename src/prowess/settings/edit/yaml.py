"""Edit a host's YAML file in place: add an entry to a top-level list, or remove one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prowess.errors import SettingError
from prowess.settings.edit.toml import propose_item_removal
from prowess.settings.formats.key_spans import KeySpan
from prowess.settings.formats.yaml import parse_yaml, scan_yaml

_PLAIN = re.compile(r"[A-Za-z0-9_][\w-]*(:[A-Za-z0-9_][\w-]*)?")
_EMPTY_LIST = re.compile(r"[ \t]*:[ \t]*(\[[ \t]*\])")
_COLON = re.compile(r"[ \t]*:")


def add_entry(text: str, key: str, entry: str, *, file: str) -> str | None:
    """The text with an entry at the end of a list; None if there is no safe edit."""
    data = parse_yaml(text, file)
    present = data.get(key)
    # A key without a value is null in YAML, and may become a list.
    if present is None:
        present = []
    if not isinstance(present, list):
        return None
    if entry in present:
        return text
    proposals = _propose_addition(text, key, quote_entry(entry))
    return _choose(proposals, {**data, key: [*present, entry]}, file)


def remove_entry(text: str, key: str, entry: str, *, file: str) -> str | None:
    """The text without an entry of a list; None if there is no safe edit."""
    while True:
        data = parse_yaml(text, file)
        present = data.get(key)
        if not isinstance(present, list) or entry not in present:
            return text
        index = present.index(entry)
        wanted = {**data, key: [*present[:index], *present[index + 1 :]]}
        edited = _choose(_propose_removal(text, key, index), wanted, file)
        if edited is None:
            return None
        text = edited


def quote_entry(entry: str) -> str:
    """An entry of a YAML list, in quotes if it needs them."""
    return entry if _PLAIN.fullmatch(entry) else json.dumps(entry, ensure_ascii=False)


def _choose(proposals: Iterator[str], wanted: dict[str, Any], file: str) -> str | None:
    for proposal in proposals:
        try:
            if parse_yaml(proposal, file) == wanted:
                return proposal
        except SettingError:
            # This edit would break the file; the next may not.
            continue
    return None


def _propose_addition(text: str, key: str, entry: str) -> Iterator[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    named, items = _find_list(text, key)
    if named is None:
        gap = "" if not text or text.endswith("\n") else newline
        yield f"{text}{gap}{key}:{newline}  - {entry}{newline}"
        return
    empty = _EMPTY_LIST.match(text, named.end)
    if empty is not None:
        yield f"{text[: empty.start(1)]}[{entry}]{text[empty.end(1) :]}"
    if not items:
        yield _insert_line(text, named.end, f"  - {entry}{newline}", newline)
        return
    last = items[-1]
    indent = text[text.rfind("\n", 0, last.start) + 1 : last.start]
    if not indent.strip():
        yield _insert_line(text, last.start, f"{indent}- {entry}{newline}", newline)
    yield f"{text[: last.end]}, {entry}{text[last.end :]}"


def _insert_line(text: str, after: int, line: str, newline: str) -> str:
    """The text with a line added below the one at an offset."""
    end = text.find("\n", after) + 1
    return f"{text[:end]}{line}{text[end:]}" if end else f"{text}{newline}{line}"


def _propose_removal(text: str, key: str, index: int) -> Iterator[str]:
    named, items = _find_list(text, key)
    if named is None or index >= len(items):
        return
    span = items[index]
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start) + 1 or len(text)
    has_own_line = start > 0 and not text[start : span.start].strip()
    if has_own_line:
        yield text[:start] + text[end:]
        colon = _COLON.match(text, named.end)
        if colon is not None:
            # A key without entries would be null, so the last one leaves an empty list.
            yield f"{text[: colon.end()]} []{text[colon.end() : start]}{text[end:]}"
    yield from propose_item_removal(text, span.start, span.end)


def _find_list(text: str, key: str) -> tuple[KeySpan | None, list[KeySpan]]:
    """A top-level key and the items of its list."""
    named: KeySpan | None = None
    items: list[KeySpan] = []
    for span in scan_yaml(text):
        if span.path == (key,):
            named = named or span
        elif span.path[:-1] == (key,) and span.kind == "item":
            items.append(span)
    return named, items
