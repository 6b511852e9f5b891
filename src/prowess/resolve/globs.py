"""Glob patterns over skill names, as omp's settings have them.

`*` and `?` do not cross a `/`, `**` does; `[a-c]`, `[!a]`, `{a,b}` and a backslash work as in a shell; a
leading `!` turns the pattern round. A leading dot is nothing special.
"""

from __future__ import annotations

import re
from functools import lru_cache


def matches_any(name: str, patterns: tuple[str, ...]) -> str | None:
    """The first pattern that matches a name, None where none does."""
    return next((pattern for pattern in patterns if _compile(pattern)(name)), None)


class _Matcher:
    def __init__(self, pattern: str) -> None:
        self.negated = pattern.startswith("!")
        self.regex = re.compile(_translate(pattern[1:] if self.negated else pattern), re.DOTALL)

    def __call__(self, name: str) -> bool:
        return (self.regex.fullmatch(name) is not None) is not self.negated


@lru_cache(maxsize=512)
def _compile(pattern: str) -> _Matcher:
    return _Matcher(pattern)


def _translate(pattern: str) -> str:
    out: list[str] = []
    open_braces = 0
    place = 0
    while place < len(pattern):
        token = _next_token(pattern, place)
        place += len(token)
        if token == "{" and "}" in pattern[place:]:
            open_braces += 1
            out.append("(?:")
        elif token == "}" and open_braces:
            open_braces -= 1
            out.append(")")
        elif token == "," and open_braces:
            out.append("|")
        else:
            out.append(_WORDS.get(token) or _translate_token(token))
    return "".join(out) + ")" * open_braces


_WORDS = {"**": ".*", "*": "[^/]*", "?": "[^/]"}


def _next_token(pattern: str, place: int) -> str:
    if pattern.startswith("**", place):
        return "**"
    if pattern[place] == "\\":
        return pattern[place : place + 2]
    if pattern[place] == "[":
        end = pattern.find("]", place + 2)
        if end > 0:
            return pattern[place : end + 1]
    return pattern[place]


def _translate_token(token: str) -> str:
    if token[0] == "[" and len(token) > 2:
        negated = token[1] in "!^"
        inner = token[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
        try:
            re.compile(f"[{inner}]")
        except re.error:
            return re.escape(token)
        return f"[^{inner}]" if negated else f"[{inner}]"
    return re.escape(token[1:] if token[0] == "\\" and len(token) > 1 else token)
