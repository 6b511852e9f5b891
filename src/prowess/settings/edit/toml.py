"""Edit prowess.toml, and TOML files in general, in place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from prowess.errors import InvalidName, ProwessError
from prowess.profiles.merge import merge
from prowess.settings.formats.key_spans import KeySpan, Path
from prowess.settings.formats.toml import TOKEN, parse_toml, scan_toml

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_DOT = re.compile(r"[ \t]*\.")
_INLINE_TABLE = re.compile(r"[ \t]*=[ \t]*\{([ \t]*\})?")
_REST_OF_LINE = re.compile(r"[^\n]*\n?")
_REST_OF_ENTRY_LINE = re.compile(r"[ \t]*,?[ \t]*(?:#[^\n]*)?\r?\n")
_COMMA_AFTER = re.compile(r"[ \t]*,[ \t]*")
_COMMENT_AFTER = re.compile(r"[ \t]*#[^\r\n]*")
_COMMENTS_BEFORE = re.compile(r"(?:^[ \t]*#[^\n]*\n)+\Z", re.MULTILINE)
_COMMA_BEFORE = re.compile(r",[ \t]*\Z")

# A key, and what is done with the text where that key is found.
_Edit = tuple[Path, Callable[[KeySpan], str]]


# Fields of a skill


def set_skill_enabled(text: str, name: str, *, enabled: bool, file: str = "the settings") -> str:
    """The text of a prowess.toml with `enabled` set for a skill.

    Raises a `SettingError` if the text is not TOML, and a `ProwessError` if there is no safe edit.
    """
    word = "true" if enabled else "false"
    return _set_field(text, name, "enabled", word, file=file)


def set_skill_visibility(
    text: str, name: str, visibility: str, *, file: str = "the settings"
) -> str:
    """The text of a prowess.toml with `visibility` set for a skill. Raises like the above."""
    return _set_field(text, name, "visibility", f'"{visibility}"', file=file)


def _set_field(text: str, name: str, field: str, value: str, *, file: str) -> str:
    check_name(name)
    skills = parse_toml(text, file).get("skills", {})
    can_set = isinstance(skills, dict) and isinstance(skills.get(name, {}), dict)
    if not can_set:
        raise ProwessError(
            f"{file}: `skills` must contain a table for each skill, so “{name}” can't be set there."
        )
    return set_toml_value(text, ("skills", name, field), value, file=file)


def set_toml_value(text: str, path: Path, value: str, *, file: str = "the settings") -> str:
    """The text with a value at a path of keys; `value` is written as TOML, such as `"on"`.

    What else is in the text stays as it is, comments too. Raises a `SettingError` if the text is
    not TOML, and a `ProwessError` if there is no safe edit.
    """
    _check_tables(parse_toml(text, file), path, file)
    *tables, field = path
    bom, body = split_bom(text)
    entry = _parse(f"{quote_key(field)} = {value}")
    added = reduce(lambda inner, key: {key: inner}, reversed(tables), entry)
    wanted = merge(_parse(body), added)
    for proposal in _propose_value(body, path, value):
        is_safe = _is_wanted(proposal, wanted) and _has_same_type(proposal, wanted, path)
        if is_safe:
            return bom + proposal
    header = ".".join(map(quote_key, tables))
    place = f"under `[{header}]`" if tables else "above the first table"
    raise ProwessError(
        f"{file}: can't set `{field}` safely; write `{quote_key(field)} = {value}` {place} by hand."
    )


def _check_tables(data: Any, path: Path, file: str) -> None:
    """Raise if a key above the last one has another value than a table."""
    for key in path[:-1]:
        if key not in data:
            return
        data = data[key]
        if not isinstance(data, dict):
            dotted = ".".join(path)
            raise ProwessError(f"{file}: `{dotted}` can't be set: a key above it is not a table.")


def _has_same_type(proposal: str, wanted: dict[str, Any], path: Path) -> bool:
    # 1 equals True, so comparing the data is not enough.
    return type(_look_up(_parse(proposal), path)) is type(_look_up(wanted, path))


def _look_up(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _propose_value(text: str, path: Path, value: str) -> Iterator[str]:
    """Edits in order of preference, from the value that is there to a new table."""
    table, above = path[:-1], path[:-2]
    entry = f"{quote_key(path[-1])} = {value}"
    dotted = ".".join(map(quote_key, table))
    edits: list[_Edit] = [(path, lambda span: replace_value(text, span, value))]
    if table:
        name = quote_key(table[-1])
        edits += [
            (table, lambda span: insert_below_header(text, span, entry)),
            (table, lambda span: _insert_in_braces(text, span, entry)),
            (table, lambda span: _insert_beside(text, span, entry)),
            (above, lambda span: _insert_in_braces(text, span, f"{name} = {{ {entry} }}")),
        ]
    yield from _apply_edits(text, edits)
    if not table:
        # At the start, because at the end it would belong to the last table.
        yield _newline(text).join([entry, text])
        return
    yield append_lines(text, [f"[{dotted}]", entry])
    yield _newline(text).join([f"{dotted}.{entry}", text])


def _apply_edits(text: str, edits: Iterable[_Edit]) -> Iterator[str]:
    """The text after each edit, wherever the key that the edit is for appears."""
    spans = list(scan_toml(text))
    for path, edit in edits:
        for span in spans:
            if span.path == path:
                yield edit(span)


# A value in any table


def set_toml_flag(text: str, table: Path, name: str, *, value: bool, file: str) -> str | None:
    """The text with true or false for a key of a table; None if there is no safe edit.

    Raises a `SettingError` if the text is not TOML.
    """
    check_name(name)
    parse_toml(text, file)
    bom, body = split_bom(text)
    added: dict[str, Any] = {name: value}
    for part in reversed(table):
        added = {part: added}
    wanted = merge(_parse(body), added)
    word = "true" if value else "false"
    for proposal in _propose_flag(body, table, name, word):
        if _is_wanted(proposal, wanted):
            return bom + proposal
    return None


def _propose_flag(text: str, table: Path, name: str, word: str) -> Iterator[str]:
    """Edits in order of preference, from the value that is there to a new table."""
    entry = f"{quote_key(name)} = {word}"
    edits: tuple[_Edit, ...] = (
        ((*table, name), lambda span: replace_value(text, span, word)),
        (table, lambda span: insert_below_header(text, span, entry)),
        (table, lambda span: _insert_in_braces(text, span, entry)),
        (table, lambda span: _insert_beside(text, span, entry)),
    )
    yield from _apply_edits(text, edits)
    header = ".".join(map(quote_key, table))
    yield append_lines(text, [f"[{header}]", entry])
    yield _newline(text).join([f"{header}.{entry}", text])


# Entries of a list


def add_entry(
    text: str, path: Path, entry: str | Mapping[str, str], *, file: str = "the settings"
) -> str:
    """The text with one more entry at the end of a list; values are written as TOML.

    An entry that is a table becomes one with a header, such as `[[hooks]]`. Raises a `SettingError`
    if the text is not TOML, and a `ProwessError` if there is no safe edit.
    """
    _check_tables(parse_toml(text, file), path, file)
    bom, body = split_bom(text)
    literal = entry if isinstance(entry, str) else _render_inline(entry)
    wanted = _parse(body)
    dotted = ".".join(map(quote_key, path))
    tables = reduce(lambda table, key: table.setdefault(key, {}), path[:-1], wanted)
    present = tables.setdefault(path[-1], [])
    if not isinstance(present, list):
        raise ProwessError(f"{file}: `{dotted}` is not a list.")
    present.append(_parse(f"entry = {literal}")["entry"])
    for proposal in _propose_entry(body, path, entry, literal, count=len(present) - 1):
        if _is_wanted(proposal, wanted):
            return bom + proposal
    raise ProwessError(f"{file}: can't add to `{dotted}` safely; add {literal} by hand.")


def _propose_entry(
    text: str, path: Path, entry: str | Mapping[str, str], literal: str, *, count: int
) -> Iterator[str]:
    """Edits in order of preference: after the last entry, in an empty list, a new list."""
    last = (*path, str(count - 1))
    is_empty = count == 0
    for span in scan_toml(text):
        if span.path == last and span.kind == "item":
            yield from _propose_next_item(text, span, literal)
        elif span.path == path and is_empty:
            # Only the opening bracket is replaced; the closing one is there.
            yield replace_value(text, span, f"[{literal}")
    if not isinstance(entry, str):
        header = ".".join(map(quote_key, path))
        lines = [f"{quote_key(key)} = {value}" for key, value in entry.items()]
        yield append_lines(text, [f"[[{header}]]", *lines])
    elif is_empty:
        yield from _propose_value(text, path, f"[{literal}]")


def _propose_next_item(text: str, span: KeySpan, literal: str) -> Iterator[str]:
    """The edit that puts an item after another one: on a line of its own where that one has one."""
    indent = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    has_own_line = indent.isspace()
    between = f"{_newline(text)}{indent}" if has_own_line else " "
    comma = _COMMA_AFTER.match(text, span.end)
    at = span.end if comma is None else comma.end()
    if has_own_line:
        # A comment behind an item is about that item, so the new one goes below it.
        comment = _COMMENT_AFTER.match(text, at)
        at = at if comment is None else comment.end()
    if comma is None:
        yield f"{text[: span.end]},{text[span.end : at]}{between}{literal}{text[at:]}"
    else:
        yield f"{text[:at]}{between}{literal},{text[at:]}"


def _render_inline(table: Mapping[str, str]) -> str:
    entries = ", ".join(f"{quote_key(key)} = {value}" for key, value in table.items())
    return f"{{ {entries} }}"


def remove_entries(
    text: str, key: str, entries: Sequence[str], *, file: str = "the settings"
) -> str:
    """The text of a prowess.toml without some entries of a top-level list.

    A comment on the line of an entry is removed with it. Raises a `SettingError` if the text is not
    TOML, and a `ProwessError` if there is no safe edit.
    """
    bom, body = split_bom(text)
    while True:
        present = parse_toml(body, file).get(key, [])
        unwanted = [index for index, entry in enumerate(present) if entry in entries]
        if not unwanted:
            return bom + body
        body = _remove_entry(body, key, unwanted[0], present, file=file)


def _remove_entry(text: str, key: str, index: int, present: list[Any], *, file: str) -> str:
    wanted = {**_parse(text), key: [*present[:index], *present[index + 1 :]]}
    for proposal in _propose_removal(text, (key, str(index))):
        if _is_wanted(proposal, wanted):
            return proposal
    raise ProwessError(
        f"{file}: can't remove “{present[index]}” from `{key}` safely; remove it by hand."
    )


def _propose_removal(text: str, path: Path) -> Iterator[str]:
    """Edits in order of preference: the whole line of an entry, then only the entry."""
    for span in scan_toml(text):
        if span.path != path:
            continue
        start = text.rfind("\n", 0, span.start) + 1
        rest = _REST_OF_ENTRY_LINE.match(text, span.end)
        has_own_line = start > 0 and not text[start : span.start].strip()
        if has_own_line and rest is not None:
            yield text[:start] + text[rest.end() :]
        yield from propose_item_removal(text, span.start, span.end)


def propose_item_removal(text: str, start: int, end: int) -> Iterator[str]:
    """Edits that remove an item from a list in brackets, with or without a comma."""
    after = _COMMA_AFTER.match(text, end)
    if after is not None:
        yield text[:start] + text[after.end() :]
    before = _COMMA_BEFORE.search(text[:start])
    if before is not None:
        yield text[: before.start()] + text[end:]
    yield text[:start] + text[end:]


# Tables


def add_table(
    text: str, path: Path, values: Mapping[str, str], *, file: str = "the settings"
) -> str:
    """The text of a prowess.toml with a new table of strings at its end.

    Raises a `SettingError` if the text is not TOML, and a `ProwessError` if there is no safe edit.
    """
    bom, body = split_bom(text)
    wanted: dict[str, Any] = dict(values)
    for part in reversed(path):
        wanted = {part: wanted}
    parse_toml(text, file)
    header = ".".join(map(quote_key, path))
    entries = [f"{key} = {_quote(value)}" for key, value in values.items()]
    proposal = append_lines(body, [f"[{header}]", *entries])
    if _is_wanted(proposal, merge(_parse(body), wanted)):
        return bom + proposal
    raise ProwessError(f"{file}: can't add `[{header}]` safely; write it by hand.")


def remove_table(text: str, path: Path, *, file: str = "the settings") -> str:
    """The text of a prowess.toml without a table that has a header. Raises like the above."""
    bom, body = split_bom(text)
    parse_toml(text, file)
    wanted = _parse(body)
    above = wanted
    for part in path[:-1]:
        above = above.get(part, {})
    above.pop(path[-1], None)
    for proposal in _propose_table_removal(body, path):
        # Without its last table, the one above it may be gone as well.
        if _drop_empty(_parse_or_none(proposal)) == _drop_empty(wanted):
            return bom + proposal
    header = ".".join(map(quote_key, path))
    raise ProwessError(f"{file}: can't remove `[{header}]` safely; remove it by hand.")


def _propose_table_removal(text: str, path: Path) -> Iterator[str]:
    headers = [span for span in scan_toml(text) if span.kind == "table"]
    for index, span in enumerate(headers):
        if span.path != path:
            continue
        start = text.rfind("\n", 0, span.start) + 1
        if index + 1 == len(headers):
            yield text[:start]
            continue
        end = text.rfind("\n", 0, headers[index + 1].start) + 1
        # Comments right above the next table belong to it.
        kept = _COMMENTS_BEFORE.search(text, start, end)
        if kept is not None:
            end = kept.start()
        yield text[:start] + text[end:]


def _drop_empty(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    return {key: _drop_empty(value) for key, value in data.items() if value != {}}


def _parse_or_none(text: str) -> dict[str, Any] | None:
    try:
        return _parse(text)
    except ValueError:
        # The edit broke the file. No data is equal to None, so the next one is tried.
        return None


def _quote(value: str) -> str:
    return f'"{"".join(map(_escape, value))}"'


# Shared with other TOML files


def check_name(name: str) -> None:
    """Raise if a name can't be written to a file."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidName(name, "it is not valid Unicode, so it can't be written") from None


def quote_key(name: str) -> str:
    """A part of a TOML key, in quotes if it needs them."""
    return name if _BARE.fullmatch(name) else _quote(name)


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    is_control = character < " " or character == "\x7f"
    return f"\\u{ord(character):04x}" if is_control else character


def replace_value(text: str, span: KeySpan, value: str) -> str:
    """The text with another value for a key; unchanged if the value can't be located."""
    equals = _EQUALS.match(text, span.end)
    found = TOKEN.match(text, equals.end()) if equals else None
    if found is None:
        return text
    return text[: found.start()] + value + text[found.end() :]


def insert_below_header(text: str, span: KeySpan, entry: str) -> str:
    """The text with a new first entry in a table that has a header."""
    if span.kind != "table":
        return text
    rest = _REST_OF_LINE.match(text, span.end)
    at = span.end if rest is None else rest.end()
    gap = "" if text[at - 1] == "\n" else _newline(text)
    line = f"{_indentation(text, span.start)}{entry}{_newline(text)}"
    return text[:at] + gap + line + text[at:]


def _insert_in_braces(text: str, span: KeySpan, entry: str) -> str:
    braces = _INLINE_TABLE.match(text, span.end)
    if braces is None:
        return text
    inside = text.index("{", span.end) + 1
    is_empty = braces[1] is not None
    if is_empty:
        return f"{text[:inside]} {entry} {text[braces.end() - 1 :]}"
    blank = "" if text[inside] in " \t" else " "
    return f"{text[:inside]} {entry},{blank}{text[inside:]}"


def _insert_beside(text: str, span: KeySpan, entry: str) -> str:
    """The text with a dotted key in front of another one that goes through the same table."""
    leads_on = span.kind == "key" and _DOT.match(text, span.end) is not None
    if not leads_on:
        return text
    start = span.group
    line_start = text.rfind("\n", 0, start) + 1
    has_own_line = text[line_start:start].strip() == ""
    between = _newline(text) + _indentation(text, start) if has_own_line else ", "
    return f"{text[:start]}{text[start : span.end]}.{entry}{between}{text[start:]}"


def append_lines(text: str, lines: list[str]) -> str:
    """The text with lines added at the end, after a blank one."""
    newline = _newline(text)
    gap = ""
    if text:
        gap = newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join(lines) + newline


def _indentation(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def split_bom(text: str) -> tuple[str, str]:
    """The byte order mark, if there is one, and the rest: spans are found without it."""
    body = text.removeprefix("\ufeff")
    return text[: len(text) - len(body)], body


def _parse(text: str) -> dict[str, Any]:
    """The data for a comparison. Floats stay strings, because `nan` is not equal to itself."""
    import tomllib

    return tomllib.loads(text, parse_float=str)


def _is_wanted(proposal: str, wanted: dict[str, Any]) -> bool:
    try:
        return _parse(proposal) == wanted
    except ValueError:
        # The edit broke the file, so the next one is tried.
        return False
