"""The text of a profile file as plain tables. The reader of TOML is fast on ordinary files only;
here it is guarded.
"""

from __future__ import annotations

import re
from typing import Any

MOST_LEVELS = 32

# Possessive repeats: text that never closes must not be tried again in another way.
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_LEVELS}}}"
_TEXTS = r"""\"{3}(?:[^"\\]|\\.|"(?!""))*+"*+|'{3}(?:[^']|'(?!''))*+'*+|"(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?"""
_BRACKET = rf"(?s){_TEXTS}|\#[^\n]*+|[\[\]{{}}]"
_PLACE = r" \(at (?:line (\d+), column \d+|end of document)\)$"


class Malformed(Exception):
    """A text that is no profile at all: what is wrong, and the line."""

    def __init__(self, problem: str, line: int | None) -> None:
        self.problem = problem
        self.line = line
        super().__init__(problem)


def parse_profile_text(text: str) -> dict[str, Any]:
    """The tables of a profile file that somebody wrote. Raises `Malformed`."""
    import tomllib

    text = text.replace("\r\n", "\n")
    long_key = re.search(_LONG_KEY, text)
    if long_key is not None:
        raise _nested(text, long_key.start())
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise _nested(text, _find_deep(text)) from None
    except tomllib.TOMLDecodeError as error:
        raise _explain(str(error), text) from None
    except ValueError:
        raise Malformed(
            "a number in it has too many digits to be read; write a shorter one", None
        ) from None
    if _is_deep(found):
        raise _nested(text, _find_deep(text))
    return found


def _explain(message: str, text: str) -> Malformed:
    place = re.search(_PLACE, message)
    line = int(place[1]) if place and place[1] else text.rstrip("\n").count("\n") + 1
    reason = message[: place.start()] if place else message
    return Malformed(f"it is not TOML ({reason[:1].lower()}{reason[1:]}); correct the line", line)


def _nested(text: str, start: int) -> Malformed:
    problem = (
        f"it is nested more than {MOST_LEVELS} levels deep, which no profile needs; write it"
        " flatter"
    )
    return Malformed(problem, text.count("\n", 0, start) + 1)


def _is_deep(found: Any) -> bool:
    """Whether tables and lists lie in each other too often; looked at level by level, so that no
    stack can run out.
    """
    level = [found]
    for _ in range(MOST_LEVELS):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


def _find_deep(text: str) -> int:
    """Where more brackets are open than may be."""
    depth = 0
    for token in re.finditer(_BRACKET, text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > MOST_LEVELS:
            return token.start()
    return 0
