"""Edit a host's JSON file in place: set one value, or add an entry to a list or remove it."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from prowess.errors import SettingError
from prowess.settings.edit.toml import split_bom
from prowess.settings.formats.json5 import parse_json5, read_json5_tokens, scan_json5
from prowess.settings.formats.key_spans import Path, Token

_UNIT = "  "
_COMMENTS_AFTER = re.compile(r"(?:[ \t]*(?:/\*[^\r\n]*?\*/|//[^\r\n]*))*")
_END_OF_LINE = re.compile(r"[ \t]*\r?\n")
_BLANKS = re.compile(r"\s*")


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
    bom, body = split_bom(text)
    found = _find_list(body, path)
    if found is None:
        return None
    edited = _append_entry(body, found, json.dumps(entry, ensure_ascii=False))
    wanted = _merge(data, path, [*entries, entry])
    return bom + edited if _parse(edited, file) == wanted else None


def _append_entry(text: str, found: _Table, entry: str) -> str:
    """The text with a new last entry, on a line of its own if the first has one."""
    if found.is_empty:
        close = found.close.start
        return text[:close] + entry + text[close:]
    end = found.last.end
    indent = _find_own_indent(text, found.first.start, after=found.start)
    if indent is None:
        return f"{text[:end]}{found.comma} {entry}{text[end:]}"
    # A comment behind the last entry is about that one, so the new one goes below it.
    line_end = _match_end(_COMMENTS_AFTER, text, end)
    newline = "\r\n" if "\r\n" in text else "\n"
    above = f"{text[:end]}{found.comma}{text[end:line_end]}"
    return f"{above}{newline}{indent}{entry}{text[line_end:]}"


def _find_own_indent(text: str, start: int, *, after: int) -> str | None:
    """What is before the first token of a line; None if the line has others, or an offset on it."""
    line = text.rfind("\n", 0, start) + 1
    indent = text[line:start]
    has_own_line = line > after and not indent.strip()
    return indent if has_own_line else None


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a pattern that may match nothing ends."""
    match = pattern.match(text, at)
    return at if match is None else match.end()


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
    bom, body = split_bom(text)
    found = _find_list(body, path)
    edited = None if found is None else _cut_entry(body, found, index)
    if edited is None:
        return None
    wanted = _merge(data, path, [*entries[:index], *entries[index + 1 :]])
    return bom + edited if _parse(edited, file) == wanted else None


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
    bom, body = split_bom(text)
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


def _cut_entry(text: str, found: _Table, index: int) -> str | None:
    """The text without an entry of a list of plain values; a comment on its line goes with it."""
    tokens = list(read_json5_tokens(text, found.start))
    values = [place for place, token in enumerate(tokens) if token.kind in ("word", "text")]
    place = values[index] if index < len(values) else len(tokens)
    is_inside = place < len(tokens) and tokens[place].start < found.close.start
    if not is_inside:
        return None
    # The closing bracket is a token too, so there is always one before and one after.
    before, entry, after = tokens[place - 1 : place + 2]
    has_comma_after = after.kind == "comma"
    start, end = entry.start, after.end if has_comma_after else entry.end
    line = _find_own_line(text, start, end, after=found.start)
    if line is not None:
        start, end = line
    elif has_comma_after:
        # Up to the next entry or its comment, so that no blank stays behind.
        end = _match_end(_BLANKS, text, end)
    leaves_comma = before.kind == "comma" and not has_comma_after
    if not leaves_comma:
        return text[:start] + text[end:]
    # JSON has no comma after the last entry. A comment behind that comma is not about this entry.
    between = text[before.end : start]
    is_only_blank = line is None and not between.strip()
    kept = "" if is_only_blank else between
    return text[: before.start] + kept + text[end:]


def _find_own_line(text: str, start: int, end: int, *, after: int) -> tuple[int, int] | None:
    """The line of an entry that shares it with nothing but comments."""
    indent = _find_own_indent(text, start, after=after)
    rest = _END_OF_LINE.match(text, _match_end(_COMMENTS_AFTER, text, end))
    if indent is None or rest is None:
        return None
    return start - len(indent), rest.end()


def _parse(text: str, file: str) -> Any:
    try:
        return parse_json5(text, file)
    except SettingError:
        # The edit broke the file. No data is equal to None, so it is not taken.
        return None


def _merge(data: Any, path: Path, value: object) -> Any:
    if not path:
        return value
    table: dict[str, Any] = {}
    if isinstance(data, dict):
        table = data
    elif data is not None:
        # A single value stands for everything, as `"skill": "ask"` in opencode's permissions.
        table = {"*": data}
    first, rest = path[0], path[1:]
    return {**table, first: _merge(table.get(first), rest, value)}


def _nest(path: Path, value: object) -> Any:
    for part in reversed(path):
        value = {part: value}
    return value


def _propose(text: str, path: Path, value: object) -> str | None:
    """The text with the value replaced, or added to the deepest table of the path that exists."""
    # Of a key that appears twice, the last counts.
    spans = {span.path: span for span in scan_json5(text) if span.kind == "key"}
    depth = len(path)
    while depth > 0 and path[:depth] not in spans:
        depth -= 1
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
        # The file is empty or has nothing but comments, which stay above the new table.
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
    margin = _find_own_indent(text, close, after=start)
    if margin is None:
        return _insert_inline(text, table, entry)
    line = close - len(margin)
    unit = _find_unit(text, table, margin)
    # Without the braces: the table has them.
    lines = _render_lines(entry, margin, unit).split("\n")[1:-1]
    newline = "\r\n" if "\r\n" in text else "\n"
    added = newline.join([*lines, ""])
    end = start + 1 if table.is_empty else table.last.end
    return text[:end] + table.comma + text[end:line] + added + text[line:]


def _insert_inline(text: str, table: _Table, entry: dict[str, Any]) -> str:
    at = table.close.start if table.is_empty else table.last.end
    blank = " " if table.is_empty else ""
    return f"{text[:at]}{table.comma} {_render_inline(entry)}{blank}{text[at:]}"


def _find_unit(text: str, table: _Table, margin: str) -> str:
    """How far the entries of a table are indented from its closing brace."""
    if table.is_empty:
        return _UNIT
    indent = _find_own_indent(text, table.first.start, after=table.start)
    if indent is None or not indent.startswith(margin):
        return _UNIT
    return indent.removeprefix(margin) or _UNIT


def _render_inline(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False)[1:-1]


def _render_lines(entry: dict[str, Any], margin: str, unit: str) -> str:
    lines = json.dumps(entry, ensure_ascii=False, indent=unit).split("\n")
    return f"\n{margin}".join(lines)
