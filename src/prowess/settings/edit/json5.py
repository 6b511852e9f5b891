"""Edit a host's JSON file in place: set one value, or add an entry to a list or remove it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from prowess.errors import SettingError
from prowess.settings.formats.json5 import parse_json5, read_json5_tokens, scan_json5
from prowess.settings.formats.key_spans import Path, Token

_UNIT = "  "


def set_json5(text: str, path: Path, *, value: str | bool, file: str) -> str | None:
    """The text with a value set at a path of keys; None if there is no safe edit.

    A single value on the way, such as `"skill": "ask"`, becomes the `*` of a table: that is how
    permissions are written. Raises a `SettingError` if the text is not JSON.
    """
    return _set_value(text, path, value, file=file)


def add_json5_entry(text: str, path: Path, entry: str, *, file: str) -> str | None:
    """The text with an entry added to the list at a path of keys; None if there is no safe edit."""
    data = parse_json5(text, file)
    entries = _look_up(data, path)
    if entries is None:
        return set_json5_list(text, path, [entry], file=file)
    if not isinstance(entries, list):
        return None
    if entry in entries:
        return text
    found = _find_list(text, path)
    if found is None:
        return None
    at = found.close.start if found.is_empty else found.last.end
    shown = json.dumps(entry, ensure_ascii=False)
    edited = f"{text[:at]}{found.comma}{_find_gap(text, found)}{shown}{text[at:]}"
    return edited if _parse(edited, file) == _merge(data, path, [*entries, entry]) else None


def _find_gap(text: str, found: _Table) -> str:
    """What comes before a new last entry: a new line if the first entry has one of its own."""
    if found.is_empty:
        return ""
    line = text.rfind("\n", 0, found.first.start) + 1
    indent = text[line : found.first.start]
    has_own_line = line > found.start and not indent.strip()
    if not has_own_line:
        return " "
    newline = "\r\n" if "\r\n" in text else "\n"
    return f"{newline}{indent}"


def remove_json5_entry(text: str, path: Path, entry: str, *, file: str) -> str | None:
    """The text without an entry of the list at a path of keys; None if there is no safe edit.

    Where the entry itself is not in the list, one that differs only in case is removed.
    """
    data = parse_json5(text, file)
    entries = _look_up(data, path)
    if entries is None:
        return text
    if not isinstance(entries, list):
        return None
    index = _find_alike(entries, entry)
    if index is None:
        return text
    found = _find_list(text, path)
    span = None if found is None else _find_entry(text, found, index)
    if span is None:
        return None
    edited = text[: span[0]] + text[span[1] :]
    rest = [*entries[:index], *entries[index + 1 :]]
    return edited if _parse(edited, file) == _merge(data, path, rest) else None


def _find_alike(entries: list[Any], entry: str) -> int | None:
    """The index of an entry, or else of the first that differs only in case."""
    if entry in entries:
        return entries.index(entry)
    for index, other in enumerate(entries):
        if isinstance(other, str) and other.lower() == entry.lower():
            return index
    return None


def set_json5_list(text: str, path: Path, entries: list[str], *, file: str) -> str | None:
    """The text with a list at a path of keys that is not there yet; None if it can't be added."""
    return _set_value(text, path, entries, file=file)


def _set_value(text: str, path: Path, value: object, *, file: str) -> str | None:
    data = parse_json5(text, file)
    body = text.removeprefix("\ufeff")
    bom = text[: len(text) - len(body)]
    edited = _propose(body, path, value)
    if edited is None or _parse(edited, file) != _merge(data, path, value):
        return None
    return bom + edited


def _look_up(data: Any, path: Path) -> Any:
    for part in path:
        data = data.get(part) if isinstance(data, dict) else None
    return data


def _find_list(text: str, path: Path) -> _Table | None:
    spans = {span.path: span for span in scan_json5(text) if span.kind == "key"}
    if path not in spans:
        return None
    value = _find_value(text, spans[path].end)
    if value is None or value.text != "[":
        return None
    return _find_table(text, value.start)


def _find_entry(text: str, found: _Table, index: int) -> tuple[int, int] | None:
    """Where an entry of a list of plain values is, together with a comma beside it."""
    tokens = list(read_json5_tokens(text, found.start))
    values = [place for place, token in enumerate(tokens) if token.kind in ("word", "text")]
    place = values[index] if index < len(values) else len(tokens)
    is_inside = place < len(tokens) and tokens[place].start < found.close.start
    if not is_inside:
        return None
    # The closing bracket is a token too, so there is always one before and one after.
    before, entry, after = tokens[place - 1 : place + 2]
    if after.kind == "comma":
        # Up to the next entry, so that no blank stays behind; after the last, up to the comma.
        following = tokens[place + 2]
        is_last = following.start >= found.close.start
        return entry.start, after.end if is_last else following.start
    return (before.start if before.kind == "comma" else entry.start), entry.end


def _parse(text: str, file: str) -> Any:
    try:
        return parse_json5(text, file)
    except SettingError:
        return None


def _merge(data: Any, path: Path, value: object) -> Any:
    if not path:
        return value
    if data is None:
        table: dict[str, Any] = {}
    else:
        table = data if isinstance(data, dict) else {"*": data}
    return {**table, path[0]: _merge(table.get(path[0]), path[1:], value)}


def _nest(path: Path, value: object) -> Any:
    for part in reversed(path):
        value = {part: value}
    return value


def _propose(text: str, path: Path, value: object) -> str | None:
    """The text with the value replaced, or added to the deepest table of the path that exists."""
    # Of a key that appears twice, the last counts.
    spans = {span.path: span for span in scan_json5(text) if span.kind == "key"}
    lengths = range(1, len(path) + 1)
    depth = max((length for length in lengths if path[:length] in spans), default=0)
    missing = _nest(path[depth:], value)
    if depth == 0:
        return _propose_at_top(text, missing)
    found = _find_value(text, spans[path[:depth]].end)
    if found is None:
        return None
    if found.kind in ("word", "text"):
        return text[: found.start] + _render_value(found, missing) + text[found.end :]
    # An existing table can take new keys, but a list can't, and neither can be replaced.
    can_insert = found.text == "{" and depth < len(path)
    return _insert(text, found.start, missing) if can_insert else None


def _propose_at_top(text: str, entry: Any) -> str | None:
    first = next(read_json5_tokens(text), None)
    if first is None:
        return f"{text}{_render_lines(entry, '', _UNIT)}\n"
    is_table = first.kind == "open" and first.text == "{"
    return _insert(text, first.start, entry) if is_table else None


def _render_value(old: Token, new: Any) -> str:
    if not isinstance(new, dict):
        return json.dumps(new)
    if old.text == "null":
        return f"{{ {_render_inline(new)} }}"
    return f'{{ "*": {old.text}, {_render_inline(new)} }}'


def _find_value(text: str, after: int) -> Token | None:
    tokens = read_json5_tokens(text, after)
    colon = next(tokens, None)
    if colon is None or colon.kind != "colon":
        return None
    return next(tokens, None)


class _Table(NamedTuple):
    """The braces of a table, the token after the first, and the token before the last."""

    start: int
    first: Token
    last: Token
    close: Token

    @property
    def is_empty(self) -> bool:
        return self.first is self.close

    @property
    def comma(self) -> str:
        """The comma that a new last entry needs in front of it."""
        return "" if self.is_empty or self.last.kind == "comma" else ","


def _find_table(text: str, start: int) -> _Table | None:
    tokens = read_json5_tokens(text, start)
    last = opening = next(tokens)
    first, depth = None, 1
    for token in tokens:
        first = first or token
        depth += (token.kind == "open") - (token.kind == "close")
        if depth == 0:
            return _Table(opening.start, first, last, token)
        last = token
    return None


def _insert(text: str, start: int, entry: dict[str, Any]) -> str | None:
    """The text with a new last entry in the table at an offset.

    It gets a line of its own if the table has several lines.
    """
    table = _find_table(text, start)
    if table is None:
        return None
    close = table.close.start
    is_whole_file = start == next(read_json5_tokens(text)).start
    is_bare = table.is_empty and "\n" not in text[start:close]
    # A file with nothing but `{}` has no layout to keep, so it gets the usual one.
    if is_whole_file and is_bare:
        return text[:start] + _render_lines(entry, "", _UNIT) + text[table.close.end :]
    line = text.rfind("\n", 0, close) + 1
    margin = text[line:close]
    has_several_lines = line > start and not margin.strip()
    if not has_several_lines:
        return _insert_inline(text, table, entry)
    lines = _render_lines(entry, margin, _find_unit(text, table, margin)).split("\n")[1:-1]
    newline = "\r\n" if "\r\n" in text else "\n"
    end = start + 1 if table.is_empty else table.last.end
    return text[:end] + table.comma + text[end:line] + newline.join([*lines, ""]) + text[line:]


def _insert_inline(text: str, table: _Table, entry: dict[str, Any]) -> str:
    at = table.close.start if table.is_empty else table.last.end
    blank = " " if table.is_empty else ""
    return f"{text[:at]}{table.comma} {_render_inline(entry)}{blank}{text[at:]}"


def _find_unit(text: str, table: _Table, margin: str) -> str:
    """How far the entries of a table are indented from its closing brace."""
    if table.is_empty:
        return _UNIT
    line = text.rfind("\n", 0, table.first.start) + 1
    indent = text[line : table.first.start]
    has_own_line = line > table.start and not indent.strip()
    if not has_own_line or not indent.startswith(margin):
        return _UNIT
    return indent.removeprefix(margin) or _UNIT


def _render_inline(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False)[1:-1]


def _render_lines(entry: dict[str, Any], margin: str, unit: str) -> str:
    lines = json.dumps(entry, ensure_ascii=False, indent=unit).split("\n")
    return f"\n{margin}".join(lines)
