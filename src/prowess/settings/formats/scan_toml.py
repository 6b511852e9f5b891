"""Where keys stand in TOML: statements, headers, and what lies inside arrays and inline tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from prowess.settings.formats.key_spans import Mark, Path, Token, read_tokens, walk_flow

# Possessive repeats: text that never closes must not be tried again in another way.
TOKEN = re.compile(
    r'''(?P<newline>\n)
    |(?P<skip>[ \t\r]++|\#[^\n]*+)
    |(?P<text>"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}|"(?:[^"\\\n]|\\.)*+"?|\'\'\'(?:[^']|'(?!''))*+'{0,5}|'[^'\n]*+'?)
    |(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>=)|(?P<dot>\.)
    |(?P<word>[^\s\[\]{},=\#."']++|.)''',
    re.VERBOSE | re.DOTALL,
)


def scan_toml(text: str) -> Iterator[Mark]:
    """Every key, table and list item of a TOML text, in the order of the text."""
    tokens = read_tokens(TOKEN, text)
    base: Path = ()
    counts: dict[Path, int] = {}
    for token in tokens:
        if token.kind == "open":
            for mark in _read_header(token, tokens, counts):
                base = mark.path
                yield mark
        elif token.kind in ("word", "text"):
            yield from _read_statement(token, tokens, base)


def read_toml_key(text: str) -> str:
    """A part of a key as it is written: bare or in either kind of quotes."""
    if text[0] not in "\"'":
        return text
    if text[0] == "'" or "\\" not in text:
        return text[1:-1]
    import tomllib

    try:
        return str(tomllib.loads(f"key = {text}")["key"])
    except (ValueError, KeyError):
        return text


def _read_header(
    opening: Token, tokens: Iterator[Token], counts: dict[Path, int]
) -> Iterator[Mark]:
    """The parts of `[a.b]` or `[[a.b]]`. Below an array of tables the path goes on in its last
    table.
    """
    parts: list[Token] = []
    is_array = False
    for token in tokens:
        if token.kind in ("close", "newline"):
            break
        if token.kind == "open":
            is_array = token.start == opening.end
        elif token.kind in ("word", "text"):
            parts.append(token)
    path: Path = ()
    for part in parts:
        path = (*path, read_toml_key(part.text))
        is_last = part is parts[-1]
        is_named = is_last and not is_array
        yield Mark(path, "table" if is_named else "prefix", part.start, part.end, parts[0].start)
        if is_last and is_array:
            counts[path] = counts.get(path, 0) + 1
        if not is_named and path in counts:
            path = (*path, str(counts[path] - 1))
            if is_last:
                yield Mark(path, "table", part.start, part.end, parts[0].start)


def _read_statement(first: Token, tokens: Iterator[Token], base: Path) -> Iterator[Mark]:
    path = (*base, read_toml_key(first.text))
    yield Mark(path, "key", first.start, first.end, first.start)
    for token in tokens:
        if token.kind == "newline":
            return
        if token.kind == "colon":
            break
        if token.kind in ("word", "text"):
            path = (*path, read_toml_key(token.text))
            yield Mark(path, "key", token.start, token.end, first.start)
    for token in tokens:
        if token.kind == "open":
            yield from walk_flow(chain((token,), tokens), path, read_toml_key)
        elif token.kind == "newline":
            return
