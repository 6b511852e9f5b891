"""prowess.toml edited in place: one switch set, every other byte kept.

There are many ways to write one table in TOML. Each edit here is a proposal; the first that parses
to exactly what was asked is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from prowess.errors import InvalidName, ProwessError
from prowess.profiles.merge import merge
from prowess.settings.formats.key_spans import Mark, Path
from prowess.settings.formats.parser import parse_toml
from prowess.settings.formats.scan_toml import TOKEN, scan_toml

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
_TABLE = re.compile(r"[ \t]*=[ \t]*\{([ \t]*\})?")
_LINE_END = re.compile(r"[^\n]*\n?")


def set_skill_enabled(text: str, name: str, *, enabled: bool, file: str = "the settings") -> str:
    """The text of a prowess.toml with `enabled` set for a skill; comments, order and all else stay
    as they are.

    Raises a `SettingError` where the text is no TOML, and a `ProwessError` where it cannot be
    edited safely.
    """
    return _set_field(text, name, "enabled", "true" if enabled else "false", file=file)


def set_skill_visible(text: str, name: str, *, file: str = "the settings") -> str:
    """The text of a prowess.toml with `visibility = "on"` for a skill, all else as it is; raises
    like its neighbour.
    """
    return _set_field(text, name, "visibility", '"on"', file=file)


def _set_field(text: str, name: str, field: str, word: str, *, file: str) -> str:
    check_name(name)
    skills = parse_toml(text, file).get("skills", {})
    if not isinstance(skills, dict) or not isinstance(skills.get(name, {}), dict):
        raise ProwessError(
            f"{file}: `skills` is not a table of tables, so “{name}” cannot be switched there."
        )
    body = text.removeprefix("\ufeff")
    wanted = merge(_parse(body), {"skills": {name: _parse(f"{field} = {word}")}})
    for proposal in _propose(body, name, field, word):
        if _holds(proposal, name, field, wanted):
            return text[: len(text) - len(body)] + proposal
    raise ProwessError(
        f"{file}: no safe way was found to set `{field}` for the skill “{name}”; "
        f"write `{field} = {word}` under `{_header(name)}` by hand."
    )


def quote_key(name: str) -> str:
    """A part of a TOML key: bare where it can be, else in quotes."""
    if _BARE.fullmatch(name):
        return name
    return (
        '"'
        + "".join(
            _ESCAPES.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in name
        )
        + '"'
    )


def _header(name: str) -> str:
    return f"[skills.{quote_key(name)}]"


def check_name(name: str) -> None:
    """A name that is no text cannot be written to a file."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidName(
            name, "it has bytes that are no text, so it cannot be written to a file"
        ) from None


def _parse(text: str) -> dict[str, Any]:
    """The text parsed for comparison: floats stay text, since `nan` is not equal to itself."""
    import tomllib

    return tomllib.loads(text, parse_float=str)


def _holds(proposal: str, name: str, field: str, wanted: dict[str, Any]) -> bool:
    try:
        data = _parse(proposal)
    except ValueError:
        return False
    # 1 equals True, so the type of the switch itself is compared too.
    return data == wanted and type(data["skills"][name][field]) is type(
        wanted["skills"][name][field]
    )


def _propose(text: str, name: str, field: str, word: str) -> Iterator[str]:
    """Edits in the order of preference, from the switch that is there to a table of its own."""
    switch, table, above = ("skills", name, field), ("skills", name), ("skills",)
    entry = f"{field} = {word}"
    edits: tuple[tuple[Path, Callable[[str, Mark], str]], ...] = (
        (switch, lambda text, mark: replace_value(text, mark, word)),
        (table, lambda text, mark: insert_below_header(text, mark, entry)),
        (table, lambda text, mark: _insert_in_braces(text, mark, entry)),
        (table, lambda text, mark: _insert_beside(text, mark, entry)),
        (
            above,
            lambda text, mark: _insert_in_braces(text, mark, f"{quote_key(name)} = {{ {entry} }}"),
        ),
    )
    marks = list(scan_toml(text))
    for path, edit in edits:
        for mark in marks:
            if mark.path == path:
                yield edit(text, mark)
    yield append_lines(text, [_header(name), entry])
    yield _newline(text).join([f"skills.{quote_key(name)}.{entry}", text])


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def replace_value(text: str, mark: Mark, word: str) -> str:
    """The text with another value for a key; as it is where the value cannot be told."""
    equals = _EQUALS.match(text, mark.end)
    value = TOKEN.match(text, equals.end()) if equals else None
    return text if value is None else text[: value.start()] + word + text[value.end() :]


def insert_below_header(text: str, mark: Mark, entry: str) -> str:
    """The text with an entry as the first of a table that has a header."""
    if mark.kind != "table":
        return text
    at = _line_end(text, mark.end)
    line = f"{_indentation(text, mark.start)}{entry}{_newline(text)}"
    return text[:at] + ("" if text[at - 1] == "\n" else _newline(text)) + line + text[at:]


def _line_end(text: str, at: int) -> int:
    end = _LINE_END.match(text, at)
    return at if end is None else end.end()


def _indentation(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _insert_in_braces(text: str, mark: Mark, entry: str) -> str:
    braces = _TABLE.match(text, mark.end)
    if braces is None:
        return text
    opening = text.index("{", mark.end)
    if braces[1] is not None:
        return f"{text[: opening + 1]} {entry} {text[braces.end() - 1 :]}"
    blank = "" if text[opening + 1] in " \t" else " "
    return f"{text[: opening + 1]} {entry},{blank}{text[opening + 1 :]}"


def _insert_beside(text: str, mark: Mark, entry: str) -> str:
    """Before a dotted key that goes through the skill's table: another dotted key with the same
    beginning.
    """
    if mark.kind != "key" or _DOT.match(text, mark.end) is None:
        return text
    entry = f"{text[mark.group : mark.end]}.{entry}"
    stands_alone = text[text.rfind("\n", 0, mark.group) + 1 : mark.group].strip() == ""
    between = _newline(text) + _indentation(text, mark.group) if stands_alone else ", "
    return text[: mark.group] + entry + between + text[mark.group :]


def append_lines(text: str, lines: list[str]) -> str:
    """The text with lines at its end, after an empty one."""
    newline = _newline(text)
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join(lines) + newline
