"""What was typed after a skill's name, made into words.

A strategy may lose what it does not take for a word; the whole text is always there beside the
words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from prowess.errors.activation import ArgumentRefused
from prowess.model.skill import DeclaredArgument
from prowess.profiles.schema.body import Split
from prowess.text.value_pattern import parse_pattern

Words = tuple[str, ...]
WHOLE = "ARGUMENTS"
"""The name under which a header declares what the whole text may be."""

_BLANKS = re.compile(r"\s*")
_PLAIN_WORD = re.compile(r"\S+")
_QUOTES = "\"'"
# A quote that ends a word; one after a backslash does not.
_CLOSING = {quote: re.compile(rf"(?<!\\){quote}(?=\s|$)") for quote in _QUOTES}


def split_arguments(text: str, strategy: Split) -> Words:
    """The words of the arguments, by the strategy of a host."""
    return _STRATEGIES[strategy](text)


def list_names(declared: Iterable[str]) -> Mapping[str, int]:
    """The names that stand for arguments, each with its place. A name of digits is none; the next
    takes its place.
    """
    names = [name for name in declared if not name.isdigit()]
    return {name: names.index(name) for name in names}


def check_arguments(
    declared: Sequence[DeclaredArgument], names: Mapping[str, int], words: Words, whole: str
) -> None:
    """Compare what was given with what the header declares. Raises `ArgumentRefused`."""
    for argument in declared:
        at = names.get(argument.name, len(words))
        value = whole if argument.name == WHOLE else "".join(words[at : at + 1])
        allowed = _explain_refusal(argument, value)
        if allowed is not None:
            raise ArgumentRefused(argument.name, value, allowed)


def _explain_refusal(argument: DeclaredArgument, value: str) -> str | None:
    """What is allowed in place of a value; None where the value is."""
    # Failing safe: a pattern that cannot be read must not let everything through.
    if argument.problem is not None:
        return f"no value is allowed, because {argument.problem}"
    # What may be left out need not match anything.
    may_be_missing = not argument.required
    if may_be_missing and not value:
        return None
    if argument.choices and value not in argument.choices:
        return f"allowed: {', '.join(argument.choices)}"
    pattern = argument.pattern
    if pattern is not None and not parse_pattern(pattern).matches(value):
        return f"it must match `{pattern}`"
    return None if value else "it is required"


def find_options(declared: Sequence[DeclaredArgument], names: Mapping[str, int]) -> frozenset[int]:
    """The places of the arguments that may begin with `-`; -1 is the whole text.

    The whole text begins with the first argument, so what holds for that one holds for it.
    """
    by_name = {**names, WHOLE: -1}
    with_options = [argument.name for argument in declared if argument.options]
    # -2 is nowhere: the declaration of a name that the header does not list.
    places = {by_name.get(name, -2) for name in with_options}
    if 0 in places:
        places.add(-1)
    return frozenset(places)


def split_words(text: str) -> Words:
    """Words with blanks between them. Quotes keep blanks together where they stand around whole
    words.

    Everything else stays as it is, so no text is lost: `it's a test` has three words, `say "hello
    world"` two.
    """
    words: list[str] = []
    unclosed: set[str] = set()
    place = _end(_BLANKS, text, 0)
    while place < len(text):
        first = text[place]
        closing = None
        # Where none closes it, none further on does either; looking again for each quote would
        # take the square of the length.
        if first in _QUOTES and first not in unclosed:
            closing = _CLOSING[first].search(text, place + 1)
        if closing is not None:
            words.append(text[place + 1 : closing.start()])
            place = closing.end()
        else:
            unclosed.add(first)
            start, place = place, _end(_PLAIN_WORD, text, place)
            words.append(text[start:place])
        place = _end(_BLANKS, text, place)
    return tuple(words)


_SHELL_BLANKS = re.compile(r"[ \t]*")
_SHELL_END = frozenset(";|<>&\n\r")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_EXPANSION = re.compile(r"\$(?:[A-Za-z0-9_]+|\{[^}]*\}|\(.*\)|[@*#?$!-])", re.DOTALL)


def split_shell(text: str) -> Words:
    """Words as Claude Code sees them, which reads arguments like a line of shell and keeps only
    what is a word there.

    A quote that is never closed takes the rest with its word. Whatever follows `;`, `|`, `<`, `>`,
    `&`, a line's end or a `#` at the start of a word is lost, and so is a group in round brackets,
    an assignment before the first word, a first word that begins with `[`, and any other word that
    is one variable and nothing else.
    """
    words: list[str] = []
    is_first = True
    place = _end(_SHELL_BLANKS, text, 0)
    while place < len(text) and text[place] not in _SHELL_END and text[place] != "#":
        if text[place] in "()":
            place = _skip_group(text, place)
        else:
            start = place
            word, place = _read_shell_word(text, start, is_first=is_first)
            is_assignment = is_first and _ASSIGNMENT.match(text, start) is not None
            if is_first:
                is_lost = text[start] == "["
            else:
                is_lost = _EXPANSION.fullmatch(text, start, place) is not None
            if not is_assignment and not is_lost:
                words.append(word)
            # As in a shell, several assignments may come before the first word.
            is_first = is_assignment
        place = _end(_SHELL_BLANKS, text, place)
    return tuple(words)


def _read_shell_word(text: str, start: int, *, is_first: bool) -> tuple[str, int]:
    """The word at a place and where it ends. Quotes are taken off, but not from a first word that
    is partly quoted.
    """
    parts: list[str] = []
    quoted = 0
    place = start
    while place < len(text) and text[place] not in _SHELL_END and text[place] not in " \t()":
        character = text[place]
        end = place + 1
        part = character
        if character in _QUOTES:
            closing = _find_closing(text, place)
            if closing is None:
                return text[start:], len(text)
            end = closing + 1
            part = text[place + 1 : closing]
            quoted += 1
        elif character == "\\" and end < len(text):
            end += 1
            escaped = text[place + 1]
            # The host leaves the backslash before a quote, unlike a shell.
            part = f"\\{escaped}" if escaped in _QUOTES else escaped
        elif text.startswith("$(", place):
            end = _skip_group(text, place + 1)
            part = text[place:end]
        parts.append(part)
        place = end
    is_mixed = 0 < quoted < len(parts)
    keeps_quotes = is_first and is_mixed
    return text[start:place] if keeps_quotes else "".join(parts), place


def _find_closing(text: str, opening: int) -> int | None:
    """Where a quote is closed; a backslash saves the next character from that in double quotes."""
    quote = text[opening]
    place = opening + 1
    while place < len(text):
        if text[place] == "\\" and quote == '"':
            place += 1
        elif text[place] == quote:
            return place
        place += 1
    return None


def _skip_group(text: str, opening: int) -> int:
    """The place after the round bracket that closes this one, or the end where none does."""
    depth = 0
    for place in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth <= 0:
            return place + 1
    return len(text)


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match is not None else place


_STRATEGIES: Mapping[Split, Callable[[str], Words]] = {"words": split_words, "shell": split_shell}
