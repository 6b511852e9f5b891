"""TOML: parsing, and where its keys are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, takewhile
from typing import Any

from prowess.errors import SettingError
from prowess.settings.formats.key_spans import (
    MOST_LEVELS,
    KeySpan,
    Path,
    Token,
    find_too_deep,
    read_tokens,
    scan_brackets,
)
from prowess.settings.formats.syntax import make_depth_error, prepare_text
from prowess.text.toml_guard import TomlError, TomlTooDeep, parse_guarded_toml

# Possessive repeats, so text that is never closed is not matched again in every other way.
TOKEN = re.compile(
    r'''(?P<newline>\n)
    |(?P<skip>[ \t\r]++|\#[^\n]*+)
    |(?P<text>"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}|"(?:[^"\\\n]|\\.)*+"?
        |\'\'\'(?:[^']|'(?!''))*+'{0,5}|'[^'\n]*+'?)
    |(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>=)|(?P<dot>\.)
    |(?P<word>[^\s\[\]{},=\#."']++|.)''',
    re.VERBOSE | re.DOTALL,
)


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises a `SettingError`."""
    text = prepare_text(text, file)
    try:
        return parse_guarded_toml(text, most_levels=MOST_LEVELS)
    except TomlTooDeep as error:
        raise make_depth_error(file, find_too_deep(text, scan_toml) or error.line) from None
    except TomlError as error:
        raise SettingError(file, error.line, None, error.problem) from None


def scan_toml(text: str) -> Iterator[KeySpan]:
    """Every key, table and list item, in the order of the text."""
    tokens = read_tokens(TOKEN, text)
    base: Path = ()
    counts: dict[Path, int] = {}
    for token in tokens:
        if token.kind == "open":
            for span in _read_header(token, tokens, counts):
                base = span.path
                yield span
        elif token.kind in ("word", "text"):
            yield from _read_statement(token, tokens, base)


def _read_header(
    opening: Token, tokens: Iterator[Token], counts: dict[Path, int]
) -> Iterator[KeySpan]:
    """The parts of `[a.b]` or `[[a.b]]`.

    `counts` has the number of tables in each array of tables so far. The path of a header below an
    array continues in its last table.
    """
    inside = list(takewhile(lambda token: token.kind not in ("close", "newline"), tokens))
    # `[[a]]` has its second bracket directly after the first; `[ [a] ]` is not TOML.
    is_array = any(token.kind == "open" and token.start == opening.end for token in inside)
    parts = [token for token in inside if token.kind in ("word", "text")]
    if not parts:
        return
    *above, last = parts
    path: Path = ()
    for part in above:
        path = (*path, _read_key(part.text))
        yield KeySpan(path, "prefix", part.start, part.end, parts[0].start)
        if path in counts:
            last_index = counts[path] - 1
            path = (*path, str(last_index))
    path = (*path, _read_key(last.text))
    span = KeySpan(path, "table", last.start, last.end, parts[0].start)
    if not is_array:
        yield span
        return
    # The name of an array stands for all its tables; the header itself begins one more of them.
    yield span._replace(kind="prefix")
    number = counts.get(path, 0)
    counts[path] = number + 1
    yield span._replace(path=(*path, str(number)))


def _read_statement(first: Token, tokens: Iterator[Token], base: Path) -> Iterator[KeySpan]:
    path = (*base, _read_key(first.text))
    yield KeySpan(path, "key", first.start, first.end, first.start)
    for token in tokens:
        if token.kind == "newline":
            return
        if token.kind == "colon":
            break
        if token.kind in ("word", "text"):
            path = (*path, _read_key(token.text))
            yield KeySpan(path, "key", token.start, token.end, first.start)
    # The value: only brackets can contain keys, and only they can continue on the next line.
    for token in tokens:
        if token.kind == "open":
            yield from scan_brackets(chain((token,), tokens), path, _read_key)
        elif token.kind == "newline":
            return


def _read_key(text: str) -> str:
    """A part of a key: bare or in either kind of quotes."""
    if text[0] not in "\"'":
        return text
    # Only double quotes have escapes in TOML.
    if text[0] == "'" or "\\" not in text:
        return text[1:-1]
    import tomllib

    try:
        return str(tomllib.loads(f"key = {text}")["key"])
    except (ValueError, KeyError):
        # A scanner never raises: the parser reports what is wrong with the text.
        return text
