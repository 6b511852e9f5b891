"""A value set in a host's JSON file, every other byte kept: comments, order, the way it is laid
out.

The edit is a proposal; it is taken only where it parses to exactly what was asked.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from prowess.settings.formats.key_spans import Mark, Path, Token
from prowess.settings.formats.parser import parse_json5
from prowess.settings.formats.scan_json5 import read_json5_tokens, scan_json5

_UNIT = "  "


def set_json5(text: str, path: Path, *, value: str | bool, file: str) -> str | None:
    """The text with a value set at a path of keys; None where that cannot be done safely.

    What stands on the way as a single value, such as `"skill": "ask"`, becomes the `*` of a table:
    that is how permissions say it. Raises a `SettingError` where the text is no JSON.
    """
    data = parse_json5(text, file)
    body = text.removeprefix("\ufeff")
    edited = _propose(body, path, value)
    if edited is None or _parse(edited, file) != _merge(data, path, value):
        return None
    return text[: len(text) - len(body)] + edited


def _parse(text: str, file: str) -> Any:
    from prowess.errors import SettingError

    try:
        return parse_json5(text, file)
    except SettingError:
        return None


def _merge(data: Any, path: Path, value: object) -> Any:
    if not path:
        return value
    table = data if isinstance(data, dict) else {} if data is None else {"*": data}
    return {**table, path[0]: _merge(table.get(path[0]), path[1:], value)}


def _nest(path: Path, value: Any) -> Any:
    return value if not path else {path[0]: _nest(path[1:], value)}


def _propose(text: str, path: Path, value: object) -> str | None:
    """The edit: at the value itself where it is there, else in the deepest table on the way that
    is.
    """
    # Of a key that stands twice the last counts.
    marks: dict[Path, Mark] = {mark.path: mark for mark in scan_json5(text) if mark.kind == "key"}
    depth = max((count for count in range(1, len(path) + 1) if path[:count] in marks), default=0)
    held = (
        _find_value(text, marks[path[:depth]].end) if depth else next(read_json5_tokens(text), None)
    )
    if held is None:
        return None if depth else f"{text}{_lay_out(_nest(path, value), '', _UNIT)}\n"
    if held.kind == "open":
        return (
            _insert(text, held.start, _nest(path[depth:], value))
            if held.text == "{" and depth < len(path)
            else None
        )
    if held.kind not in ("word", "text") or not depth:
        return None
    new = _nest(path[depth:], value)
    if isinstance(new, dict) and held.text != "null":
        return f'{text[: held.start]}{{ "*": {held.text}, {_on_line(new)} }}{text[held.end :]}'
    return (
        text[: held.start]
        + (f"{{ {_on_line(new)} }}" if isinstance(new, dict) else json.dumps(new))
        + text[held.end :]
    )


def _find_value(text: str, after: int) -> Token | None:
    tokens = read_json5_tokens(text, after)
    colon = next(tokens, None)
    return next(tokens, None) if colon is not None and colon.kind == "colon" else None


class _Table(NamedTuple):
    """The braces of a table, and the tokens behind the first and before the last."""

    start: int
    first: Token
    last: Token
    close: Token

    @property
    def is_empty(self) -> bool:
        return self.first is self.close


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
    """The entry as the last of a table: on a line of its own where the table has several, else
    beside the others.
    """
    table = _find_table(text, start)
    if table is None:
        return None
    line = text.rfind("\n", 0, table.close.start) + 1
    margin = text[line : table.close.start]
    if table.is_empty and start == _first(text) and "\n" not in text[start : table.close.start]:
        return text[:start] + _lay_out(entry, "", _UNIT) + text[table.close.end :]
    if line <= start or margin.strip():
        blank = " " if table.is_empty else ""
        comma = "" if table.is_empty or table.last.kind == "comma" else ","
        at = table.close.start if table.is_empty else table.last.end
        return f"{text[:at]}{comma} {_on_line(entry)}{blank}{text[at:]}"
    unit = _find_unit(text, table, margin)
    lines = _lay_out(entry, margin, unit).split("\n")[1:-1]
    newline = "\r\n" if "\r\n" in text else "\n"
    comma = "" if table.is_empty or table.last.kind == "comma" else ","
    end = start + 1 if table.is_empty else table.last.end
    return text[:end] + comma + text[end:line] + newline.join([*lines, ""]) + text[line:]


def _first(text: str) -> int:
    token = next(read_json5_tokens(text), None)
    return -1 if token is None else token.start


def _find_unit(text: str, table: _Table, margin: str) -> str:
    """By how much the entries of a table are indented against its closing brace."""
    line = text.rfind("\n", 0, table.first.start) + 1
    indent = text[line : table.first.start]
    is_own_line = line > table.start and not indent.strip() and not table.is_empty
    return (
        indent.removeprefix(margin) or _UNIT if is_own_line and indent.startswith(margin) else _UNIT
    )


def _on_line(entry: dict[str, Any]) -> str:
    shown = json.dumps(entry, ensure_ascii=False)
    return shown[1:-1]


def _lay_out(entry: dict[str, Any], margin: str, unit: str) -> str:
    return f"\n{margin}".join(json.dumps(entry, ensure_ascii=False, indent=unit).split("\n"))
