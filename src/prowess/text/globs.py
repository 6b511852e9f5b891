"""Glob patterns over skill names, as omp's settings have them.

`*` and `?` do not cross a `/`, `**` does; `[a-c]`, `[!a]`, `{a,b}` and a backslash work as in a
shell; a leading `!` turns the pattern round. A leading dot is nothing special.

A pattern is matched by following every way through it at once, one bit for each place in it, so
that no pattern can make a match cost more than its own length for each character of the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache


def matches_any(name: str, patterns: tuple[str, ...]) -> str | None:
    """The first pattern that matches a name, None where none does."""
    return next((pattern for pattern in patterns if _compile(pattern)(name)), None)


class _Matcher:
    """A pattern as places in a row, each a bit.

    A token leads from its place to the next; a star also stays where it is. `jumps` are the ways
    that take no character, in an order in which one pass finds all: past a star, into each branch
    of braces, out of each.
    """

    def __init__(self, pattern: str) -> None:
        self.negated = pattern.startswith("!")
        self.tokens: dict[int, str] = {}
        self.jumps: list[tuple[int, int]] = []
        self.end = 1 << self._lay_out(pattern[1:] if self.negated else pattern)
        self.steps: dict[str, tuple[int, int]] = {}

    def __call__(self, name: str) -> bool:
        places = self._jump(1)
        for character in name:
            step = self.steps.get(character)
            moves, stays = self._learn(character) if step is None else step
            places = self._jump((places & moves) << 1 | places & stays)
            if not places:
                break
        return bool(places & self.end) is not self.negated

    def _jump(self, places: int) -> int:
        for start, target in self.jumps:
            if places & start:
                places |= target
        return places

    def _learn(self, character: str) -> tuple[int, int]:
        """From which places a character leads on, and at which it stays."""
        moves = stays = 0
        for place, token in self.tokens.items():
            if token in ("*", "**"):
                stays |= (token == "**" or character != "/") << place
            else:
                moves |= _takes(token, character) << place
        self.steps[character] = moves, stays
        return moves, stays

    def _lay_out(self, pattern: str) -> int:
        """Give every token its place; returns the place behind the last."""
        place = 0
        open_braces: list[tuple[int, list[int]]] = []
        for token, is_brace in _list_tokens(pattern):
            if is_brace and token == "{":
                open_braces.append((len(self.jumps), []))
                self.jumps.append((1 << place, 2 << place))
            elif is_brace and token == ",":
                jump, ends = open_braces[-1]
                ends.append(place)
                self.jumps[jump] = (self.jumps[jump][0], self.jumps[jump][1] | 2 << place)
            elif is_brace:
                self._close(open_braces.pop()[1], place)
            else:
                self.tokens[place] = token
                if token in ("*", "**"):
                    self.jumps.append((1 << place, 2 << place))
            place += 1
        while open_braces:
            self._close(open_braces.pop()[1], place)
            place += 1
        return place

    def _close(self, ends: list[int], place: int) -> None:
        self.jumps.append((sum(1 << end for end in (*ends, place)), 2 << place))


@lru_cache(maxsize=512)
def _compile(pattern: str) -> _Matcher:
    return _Matcher(pattern)


def _list_tokens(pattern: str) -> Iterator[tuple[str, bool]]:
    """The tokens of a pattern, and whether each is a brace, or a comma between braces."""
    place = depth = 0
    last_brace = pattern.rfind("}")
    while place < len(pattern):
        token = _next_token(pattern, place)
        place += len(token)
        if token == "{" and place <= last_brace:
            depth += 1
            yield token, True
        elif token == "}" and depth:
            depth -= 1
            yield token, True
        else:
            yield token, token == "," and depth > 0


def _next_token(pattern: str, place: int) -> str:
    if pattern.startswith("**", place):
        return "**"
    if pattern[place] == "\\":
        return pattern[place : place + 2]
    if pattern[place] == "[":
        end = pattern.find("]", place + 2)
        # What is no range stands for itself, character by character.
        if end > 0 and _compile_range(pattern[place : end + 1]) is not None:
            return pattern[place : end + 1]
    return pattern[place]


def _takes(token: str, character: str) -> bool:
    if token == "?":
        return character != "/"
    if token[0] == "[" and len(token) > 1:
        taken = _compile_range(token)
        return taken is not None and taken.fullmatch(character) is not None
    return character == (token[1] if token[0] == "\\" and len(token) > 1 else token)


@lru_cache(maxsize=512)
def _compile_range(token: str) -> re.Pattern[str] | None:
    negated = token[1] in "!^"
    inner = (
        token[2 if negated else 1 : -1]
        .replace("\\", "\\\\")
        .replace("[", "\\[")
        .replace("^", "\\^")
    )
    try:
        return re.compile(f"[{'^' if negated else ''}{inner}]", re.DOTALL)
    except re.error:
        return None


def matches_wildcard(text: str, pattern: str) -> bool:
    """Whether a pattern covers a whole text: `*` is any characters, `?` one, and a ` *` at the end
    may be missing.

    Never slower than the product of both lengths, whatever the pattern.
    """
    if pattern == "*":
        return True
    if "*" not in pattern and "?" not in pattern:
        return text == pattern
    if pattern.endswith(" *") and _covers(text, pattern[:-2]):
        return True
    return _covers(text, pattern)


def _covers(text: str, pattern: str) -> bool:
    place = taken = 0
    star, resume = -1, 0
    while place < len(text):
        wanted = pattern[taken] if taken < len(pattern) else ""
        if wanted == "*":
            star, resume = taken, place
            taken += 1
        elif wanted == "?" or wanted == text[place]:
            place += 1
            taken += 1
        elif star >= 0:
            resume += 1
            place, taken = resume, star + 1
        else:
            return False
    return not pattern[taken:].strip("*")
