"""JSON5, and with it JSON and JSONC: parsing, and where the keys are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from prowess.errors import SettingError
from prowess.settings.formats.key_spans import (
    MOST_LEVELS,
    KeySpan,
    Token,
    read_tokens,
    scan_brackets,
)
from prowess.settings.formats.syntax import check_shape, line_at, make_depth_error, prepare_text

# Possessive repeats, so text that is never closed is not matched again in every other way.
_TOKEN = re.compile(
    r"""(?P<skip>\s++|//[^\n]*+|/\*.*?(?:\*/|\Z))
    |(?P<text>"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?)
    |(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)
    |(?P<word>[^\s\[\]{},:"'/]++|.)""",
    re.VERBOSE | re.DOTALL,
)

# What the parser's messages look like. Used for errors only, so not compiled on import.
_POSITION = r"near (\d+)"
_UNCLOSED = r"Unclosed b'(\w+)'"
_EXPECTED = r"Expected (?:b'([^']+)'|U\+([0-9a-fA-F]+))(?: or U\+([0-9a-fA-F]+))?"
_WORDS = {
    "colon": "`:`",
    "comma": "`,`",
    "IdentifierStart": "a key",
    "JSON5Value": "a value",
    "NumericLiteral": "number",
    "literal": "word",
}


def parse_json5(text: str, file: str) -> dict[str, Any]:
    """JSON with comments, trailing commas, single quotes and unquoted keys.

    Raises a `SettingError`.
    """
    import pyjson5

    text = prepare_text(text, file)
    try:
        return check_shape(pyjson5.decode(text, maxdepth=MOST_LEVELS), text, scan_json5, file)
    except pyjson5.Json5NestingTooDeep as error:
        raise make_depth_error(file, _find_error_line(text, error)) from None
    except pyjson5.Json5DecoderException as error:
        # An empty file, or one with nothing but comments, sets nothing.
        if str(error.message).startswith("No JSON data"):
            return {}
        problem = f"not valid JSON ({_explain(error)})"
        raise SettingError(file, _find_error_line(text, error), None, problem) from None


def parse_json(text: str, file: str) -> dict[str, Any]:
    """JSON exactly as the standard has it. Raises a `SettingError`."""
    import json

    text = prepare_text(text, file)
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise make_depth_error(file, None) from None
    except json.JSONDecodeError as error:
        problem = f"not valid JSON ({_describe_strictly(error)})"
        raise SettingError(file, error.lineno, None, problem) from None
    except ValueError as error:
        # NaN or Infinity, or a number with more digits than Python reads.
        raise SettingError(file, None, None, f"not valid JSON ({error})") from None
    return check_shape(data, text, scan_json5, file)


def _refuse_constant(word: str) -> Any:
    # Python reads NaN and Infinity, which the hosts' parsers refuse.
    raise ValueError(f"{word} is not a number in JSON")


def _describe_strictly(error: Any) -> str:
    if error.doc[error.pos : error.pos + 2] in ("//", "/*"):
        return "comments are not allowed"
    message = str(error.msg)
    return message[:1].lower() + message[1:]


def _find_error_line(text: str, error: Exception) -> int:
    position = re.search(_POSITION, str(error))
    offset = 0
    if position is not None:
        # The parser counts from 1.
        offset = max(int(position[1]) - 1, 0)
    if str(error.args[0]).startswith("Extra data"):
        # The parser reports the end of the value; the extra text starts at the next token.
        offset = next((token.start for token in read_json5_tokens(text, offset + 1)), offset)
    return line_at(text, offset)


def _explain(error: Any) -> str:
    # The parser names characters by their numbers and tokens by the names in its grammar.
    message = str(error.message)
    unclosed = re.match(_UNCLOSED, message)
    if unclosed is not None:
        return f"unclosed {_WORDS.get(unclosed[1], unclosed[1])}"
    if message.startswith("Extra data"):
        return "extra text after the last bracket"
    expected = re.match(_EXPECTED, message)
    if expected is None:
        return "unexpected character"
    word, character, other = expected.groups()
    allowed = _WORDS.get(word, f"a {word}") if word else _name_code(character)
    if other:
        allowed += f" or {_name_code(other)}"
    return f"expected {allowed}, found {_name_character(str(error.character))}"


def _name_code(digits: str) -> str:
    return f"`{chr(int(digits, 16))}`"


def _name_character(character: str) -> str:
    if character.isprintable():
        return f"`{character}`"
    return "the end of the line" if character in "\r\n" else "whitespace"


def scan_json5(text: str) -> Iterator[KeySpan]:
    """Every key and list item, in the order of the text."""
    yield from scan_brackets(read_json5_tokens(text), (), _read_key)


def read_json5_tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The tokens of a text from an offset on."""
    return read_tokens(_TOKEN, text, start)


def _read_key(text: str) -> str:
    is_quoted = text[0] in "\"'"
    if "\\" not in text:
        return text[1:-1] if is_quoted else text
    import pyjson5

    try:
        return str(pyjson5.decode(text if is_quoted else f'"{text}"'))
    except (pyjson5.Json5Exception, ValueError):
        # A scanner never raises: the parser reports what is wrong with the text.
        return text
