"""An entry put into a list at the top of a host's YAML file or taken out of it, every other byte
kept.

As in `edit`, by proposals; the first that parses to exactly what was asked is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from prowess.errors import SettingError
from prowess.settings.formats.key_spans import Mark
from prowess.settings.formats.parser import parse_yaml
from prowess.settings.formats.scan_yaml import scan_yaml

_PLAIN = re.compile(r"[A-Za-z0-9_][\w-]*(:[A-Za-z0-9_][\w-]*)?")
_EMPTY_LIST = re.compile(r"[ \t]*:[ \t]*(\[[ \t]*\])")
_COLON = re.compile(r"[ \t]*:")
_COMMA_AFTER = re.compile(r"[ \t]*,[ \t]*")
_COMMA_BEFORE = re.compile(r",[ \t]*\Z")


def add_entry(text: str, key: str, entry: str, *, file: str) -> str | None:
    """The text with an entry at the end of a list; None where that cannot be done safely."""
    data = parse_yaml(text, file)
    held = data.get(key)
    if held is not None and not isinstance(held, list):
        return None
    if held and entry in held:
        return text
    wanted = {**data, key: [*(held or []), entry]}
    return _choose(text, _propose_adding(text, key, quote_entry(entry)), wanted, file)


def remove_entry(text: str, key: str, entry: str, *, file: str) -> str | None:
    """The text without an entry of a list; None where that cannot be done safely."""
    while True:
        data = parse_yaml(text, file)
        held = data.get(key)
        if not isinstance(held, list) or entry not in held:
            return text
        place = held.index(entry)
        wanted = {**data, key: [*held[:place], *held[place + 1 :]]}
        edited = _choose(text, _propose_removing(text, key, place), wanted, file)
        if edited is None:
            return None
        text = edited


def quote_entry(entry: str) -> str:
    """An entry as YAML has it: plain where that is safe, else in quotes."""
    return entry if _PLAIN.fullmatch(entry) else json.dumps(entry, ensure_ascii=False)


def _choose(text: str, proposals: Iterator[str], wanted: dict[str, Any], file: str) -> str | None:
    for proposal in proposals:
        try:
            if parse_yaml(proposal, file) == wanted:
                return proposal
        except SettingError:
            continue
    return None


def _propose_adding(text: str, key: str, entry: str) -> Iterator[str]:
    newline = "\r\n" if "\r\n" in text else "\n"
    named, items = _find_list(text, key)
    if named is None:
        gap = "" if not text or text.endswith("\n") else newline
        yield f"{text}{gap}{key}:{newline}  - {entry}{newline}"
        return
    empty = _EMPTY_LIST.match(text, named.end)
    if empty is not None:
        yield f"{text[: empty.start(1)]}[{entry}]{text[empty.end(1) :]}"
    indent = text[text.rfind("\n", 0, items[-1].start) + 1 : items[-1].start] if items else "  "
    end = text.find("\n", items[-1].start if items else named.end) + 1
    if not indent.strip():
        yield (
            f"{text[:end]}{indent}- {entry}{newline}{text[end:]}"
            if end
            else f"{text}{newline}{indent}- {entry}{newline}"
        )
    if items:
        yield f"{text[: items[-1].end]}, {entry}{text[items[-1].end :]}"


def _propose_removing(text: str, key: str, place: int) -> Iterator[str]:
    named, items = _find_list(text, key)
    if named is None or place >= len(items):
        return
    mark = items[place]
    start, end = text.rfind("\n", 0, mark.start) + 1, text.find("\n", mark.start) + 1 or len(text)
    if start and not text[start : mark.start].strip():
        yield text[:start] + text[end:]
        colon = _COLON.match(text, named.end)
        if colon is not None:
            yield f"{text[: colon.end()]} []{text[colon.end() : start]}{text[end:]}"
    after, before = _COMMA_AFTER.match(text, mark.end), _COMMA_BEFORE.search(text[: mark.start])
    if after is not None:
        yield text[: mark.start] + text[after.end() :]
    if before is not None:
        yield text[: before.start()] + text[mark.end :]
    yield text[: mark.start] + text[mark.end :]


def _find_list(text: str, key: str) -> tuple[Mark | None, list[Mark]]:
    marks = list(scan_yaml(text))
    named = next((mark for mark in marks if mark.path == (key,)), None)
    return named, [
        mark
        for mark in marks
        if len(mark.path) == 2 and mark.path[0] == key and mark.kind == "item"
    ]
