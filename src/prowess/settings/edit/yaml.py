"""Edit a host's YAML file in place: add an entry to a top-level list, or remove one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prowess.errors import SettingError
from prowess.settings.edit.toml import propose_item_removal, split_bom
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
    bom, body = split_bom(text)
    proposals = _propose_addition(body, key, quote_entry(entry))
    edited = _choose(proposals, {**data, key: [*present, entry]}, file)
    return None if edited is None else bom + edited


def remove_entry(text: str, key: str, entry: str, *, file: str) -> str | None:
    """The text without an entry of a list; None if there is no safe edit."""
    bom, body = split_bom(text)
    # A list may have the entry more than once.
    while True:
        data = parse_yaml(body, file)
        present = data.get(key)
        if not isinstance(present, list) or entry not in present:
            return bom + body
        index = present.index(entry)
        wanted = {**data, key: [*present[:index], *present[index + 1 :]]}
        edited = _choose(_propose_removal(body, key, index), wanted, file)
        if edited is None:
            return None
        body = edited


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
        is_line_open = bool(text) and not text.endswith("\n")
        gap = newline if is_line_open else ""
        yield f"{text}{gap}{key}:{newline}  - {entry}{newline}"
        return
    empty = _EMPTY_LIST.match(text, named.end)
    if empty is not None:
        yield f"{text[: empty.start(1)]}[{entry}]{text[empty.end(1) :]}"
    if not items:
        yield _insert_line(text, named.end, f"  - {entry}{newline}", newline)
        return
    last = items[-1]
    line = text.rfind("\n", 0, last.start) + 1
    indent = text[line : last.start]
    is_block = not indent.strip()
    if is_block:
        yield _insert_line(text, last.start, f"{indent}- {entry}{newline}", newline)
    # In brackets, on however many lines.
    yield f"{text[: last.end]}, {entry}{text[last.end :]}"


def _insert_line(text: str, after: int, line: str, newline: str) -> str:
    """The text with a line added below the one at an offset."""
    line_break = text.find("\n", after)
    is_last_line = line_break < 0
    if is_last_line:
        return f"{text}{newline}{line}"
    end = line_break + 1
    return f"{text[:end]}{line}{text[end:]}"


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
