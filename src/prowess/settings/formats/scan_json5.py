"""Where keys stand in JSON5."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prowess.settings.formats.key_spans import Mark, Token, read_tokens, walk_flow

_JSON5 = re.compile(
    r"""(?P<skip>\s++|//[^\n]*+|/\*.*?(?:\*/|\Z))
    |(?P<text>"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?)
    |(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)
    |(?P<word>[^\s\[\]{},:"'/]++|.)""",
    re.VERBOSE | re.DOTALL,
)


def scan_json5(text: str) -> Iterator[Mark]:
    """Every key and list item of a JSON5 text, in the order of the text."""
    yield from walk_flow(read_json5_tokens(text), (), _read_json5_key)


def read_json5_tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a JSON5 text from an offset on."""
    return read_tokens(_JSON5, text, start)


def _read_json5_key(text: str) -> str:
    quoted = text[0] in "\"'"
    if "\\" not in text:
        return text[1:-1] if quoted else text
    import pyjson5

    try:
        return str(pyjson5.decode(text if quoted else f'"{text}"'))
    except (pyjson5.Json5Exception, ValueError):
        return text
