"""Parse TOML that someone else wrote.

The parser of the standard library takes minutes for some texts and overflows the stack for others.
Such texts are rejected here, with the line.
"""

from __future__ import annotations

import re
from typing import Any

# Possessive repeats, so text that is never closed is not matched again in every other way.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = r"(?<![\w-])PART(?:[ \t]*+\.[ \t]*+PART){LEVELS}".replace("PART", _PART)
_STRINGS = (
    r"""\"{3}(?:[^"\\]|\\.|"(?!""))*+"*+"""
    r"""|'{3}(?:[^']|'(?!''))*+'*+"""
    r"""|"(?:[^"\\\n]|\\.)*+"?"""
    r"""|'[^'\n]*+'?"""
)
_BRACKET = rf"(?s){_STRINGS}|\#[^\n]*+|[\[\]{{}}]"
_POSITION = r" \(at (?:line (\d+), column \d+|end of document)\)$"
_DEPTH_CHANGE = {"[": 1, "{": 1, "]": -1, "}": -1}


class TomlError(Exception):
    """A text that is not TOML or is refused: the problem and the line, if known."""

    def __init__(self, problem: str, line: int | None) -> None:
        self.problem = problem
        self.line = line
        super().__init__(problem)


class TomlTooDeep(TomlError):
    """A text that is nested too deeply. The line is that of a long key or of a bracket."""


def parse_guarded_toml(text: str, *, most_levels: int) -> dict[str, Any]:
    """The tables of a TOML text. Raises `TomlError`."""
    import tomllib

    text = text.replace("\r\n", "\n")
    # Dotted keys with thousands of parts cost the parser quadratic time.
    long_key = re.search(_LONG_KEY.replace("LEVELS", str(most_levels)), text)
    if long_key is not None:
        raise _make_depth_error(text, long_key.start(), most_levels)
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise _make_depth_error(text, _find_deep_bracket(text, most_levels), most_levels) from None
    except tomllib.TOMLDecodeError as error:
        raise _explain(str(error), text) from None
    except ValueError:
        # Python refuses to convert integers of more than 4,300 digits.
        raise TomlError("a number has too many digits", None) from None
    if is_deeper(tables, most_levels):
        raise _make_depth_error(text, _find_deep_bracket(text, most_levels), most_levels)
    return tables


def is_deeper(data: Any, most_levels: int) -> bool:
    """Whether tables and lists are nested more deeply than allowed.

    Goes level by level, so deep data can't overflow the stack.
    """
    level = [data]
    for _ in range(most_levels + 1):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += value.values()
            elif isinstance(value, list):
                below += value
        if not below:
            return False
        level = below
    return True


def _explain(message: str, text: str) -> TomlError:
    position = re.search(_POSITION, message)
    reason = message[: position.start()] if position else message
    # Without a number the problem is at the end of the document.
    line = text.rstrip().count("\n") + 1
    if position is not None and position[1]:
        line = int(position[1])
    return TomlError(f"not valid TOML ({reason[:1].lower()}{reason[1:]})", line)


def _make_depth_error(text: str, start: int, most_levels: int) -> TomlTooDeep:
    line = text.count("\n", 0, start) + 1
    return TomlTooDeep(f"nested more than {most_levels} levels deep", line)


def _find_deep_bracket(text: str, most_levels: int) -> int:
    depth = 0
    for token in re.finditer(_BRACKET, text):
        depth += _DEPTH_CHANGE.get(token[0], 0)
        if depth > most_levels:
            return token.start()
    return 0
