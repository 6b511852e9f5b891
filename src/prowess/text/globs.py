"""Patterns over names: the wildcards of permission rules, and the globs of omp's settings.

Neither can be made slow by its pattern: a match costs at most the product of both lengths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache


def matches_wildcard(text: str, pattern: str) -> bool:
    """Whether a pattern covers a whole text: `*` is any characters, `?` is one.

    A ` *` at the end may be missing, so that `git *` also covers a bare `git`.
    """
    if pattern == "*":
        return True
    if "*" not in pattern and "?" not in pattern:
        return text == pattern
    if pattern.endswith(" *") and _covers(text, pattern[:-2]):
        return True
    return _covers(text, pattern)


def _covers(text: str, pattern: str) -> bool:
    """Match greedily; at a mismatch let only the last star take one character more.

    A star before it need not: whatever it would take, the last one can take as well. That is why
    the cost is bounded by the product of both lengths.
    """
    position = taken = 0
    # The last star in the pattern, and where in the text what follows it is tried.
    star, resume = -1, 0
    while position < len(text):
        wanted = pattern[taken] if taken < len(pattern) else ""
        if wanted == "*":
            star, resume = taken, position
            taken += 1
        elif wanted in ("?", text[position]):
            position += 1
            taken += 1
        elif star >= 0:
            resume += 1
            position, taken = resume, star + 1
        else:
            return False
    # At the end of the text only stars, which take nothing, may be left.
    return not pattern[taken:].strip("*")


def find_match(name: str, globs: tuple[str, ...]) -> str | None:
    """The first glob that matches a name; None if none does.

    `*` and `?` do not cross a `/`, `**` does; `[a-c]`, `[!a]`, `{a,b}` and a backslash work as in a
    shell; a leading `!` inverts the glob. A leading dot is nothing special.
    """
    matching = (glob for glob in globs if _compile(glob)(name))
    return next(matching, None)


class _Matcher:
    """A glob as a row of states, each a bit, so that all ways through it are followed at once.

    A token leads from its state to the next; a star also stays where it is. `jumps` lead on without
    a character, in an order in which one pass finds all: past a star, into each branch of braces,
    out of each.
    """

    def __init__(self, glob: str) -> None:
        self.negated = glob.startswith("!")
        self.tokens: dict[int, str] = {}
        self.jumps: list[tuple[int, int]] = []
        self.end = 1 << self._lay_out(glob[1:] if self.negated else glob)
        self.steps: dict[str, tuple[int, int]] = {}

    def __call__(self, name: str) -> bool:
        states = self._jump(1)
        for character in name:
            step = self.steps.get(character)
            if step is None:
                step = self._learn(character)
            moves, stays = step
            states = self._jump((states & moves) << 1 | states & stays)
            if not states:
                break
        return bool(states & self.end) is not self.negated

    def _jump(self, states: int) -> int:
        for start, target in self.jumps:
            if states & start:
                states |= target
        return states

    def _learn(self, character: str) -> tuple[int, int]:
        """From which states a character leads on, and in which it stays."""
        moves = stays = 0
        for state, token in self.tokens.items():
            if token == "**":
                stays |= 1 << state
            elif token == "*":
                stays |= (character != "/") << state
            else:
                moves |= _takes(token, character) << state
        self.steps[character] = moves, stays
        return moves, stays

    def _lay_out(self, glob: str) -> int:
        """Give every token its state; returns the state after the last."""
        state = 0
        # For each open brace the jump into its branches, which grows with every comma, and the
        # states at which branches end.
        open_braces: list[tuple[int, list[int]]] = []
        for token, is_brace in _list_tokens(glob):
            if not is_brace:
                self._add_token(state, token)
            elif token == "{":
                open_braces.append((len(self.jumps), []))
                self.jumps.append((1 << state, 2 << state))
            elif token == ",":
                jump, ends = open_braces[-1]
                ends.append(state)
                start, targets = self.jumps[jump]
                self.jumps[jump] = (start, targets | 2 << state)
            else:
                self._close_brace(open_braces.pop()[1], state)
            state += 1
        # A brace that is never closed ends with the glob.
        while open_braces:
            self._close_brace(open_braces.pop()[1], state)
            state += 1
        return state

    def _add_token(self, state: int, token: str) -> None:
        self.tokens[state] = token
        if token in ("*", "**"):
            self.jumps.append((1 << state, 2 << state))

    def _close_brace(self, ends: list[int], state: int) -> None:
        branches = sum(1 << end for end in (*ends, state))
        self.jumps.append((branches, 2 << state))


@lru_cache(maxsize=512)
def _compile(glob: str) -> _Matcher:
    return _Matcher(glob)


def _list_tokens(glob: str) -> Iterator[tuple[str, bool]]:
    """The tokens of a glob, and whether each is a brace, or a comma between braces."""
    position = depth = 0
    # A brace after the last closing one opens nothing, and is a character.
    last_brace = glob.rfind("}")
    while position < len(glob):
        token = _next_token(glob, position)
        position += len(token)
        if token == "{" and position <= last_brace:
            depth += 1
            yield token, True
        elif token == "}" and depth:
            depth -= 1
            yield token, True
        else:
            yield token, token == "," and depth > 0


def _next_token(glob: str, position: int) -> str:
    if glob.startswith("**", position):
        return "**"
    if glob[position] == "\\":
        return glob[position : position + 2]
    if glob[position] == "[":
        # Not at the first place after the bracket: there it is one of the characters.
        end = glob.find("]", position + 2)
        bracket = glob[position : end + 1]
        # A bracket that is not a valid range stands for itself, character by character.
        if bracket and _compile_range(bracket) is not None:
            return bracket
    return glob[position]


def _takes(token: str, character: str) -> bool:
    if token == "?":
        return character != "/"
    if len(token) == 1:
        return character == token
    if token[0] == "[":
        taken = _compile_range(token)
        return taken is not None and taken.fullmatch(character) is not None
    # What is left is a backslash and the character that it protects.
    return character == token[1]


# A range of characters, or a character.
_MEMBER = r"(?s)(?P<first>.)-(?P<last>.)|."


def _escape_member(member: re.Match[str]) -> str:
    # Also `&`, `|`, `~` and `-`: Python warns of two in a row, which may mean more to it one day.
    if member["first"] is None:
        return re.escape(member[0])
    return f"{re.escape(member['first'])}-{re.escape(member['last'])}"


@lru_cache(maxsize=512)
def _compile_range(token: str) -> re.Pattern[str] | None:
    negated = token[1] in "!^"
    inner = token[1 + negated : -1]
    members = "".join(map(_escape_member, re.finditer(_MEMBER, inner)))
    sign = "^" if negated else ""
    try:
        return re.compile(f"[{sign}{members}]", re.DOTALL)
    except re.error:
        # Such as `[z-a]`.
        return None
