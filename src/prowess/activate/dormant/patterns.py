"""The patterns that a skill waits for, as its header writes them: `.gitignore` with `{a,b}`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prowess.text.gitignore import Pattern, parse_class, parse_pattern

# More braces, nested or side by side, are not a pattern that a person wrote.
_MOST_BRACES = 64
_MOST_CHARACTERS = 4_096


def parse_patterns(
    texts: Sequence[str], *, most: int
) -> tuple[list[Pattern], list[tuple[str, str]]]:
    """The patterns in order, and the texts that are none, each with its problem."""
    patterns: list[Pattern] = []
    broken: list[tuple[str, str]] = []
    for text in texts:
        spellings = _expand_within(text, most - len(patterns))
        if spellings is None:
            problem = f"its braces expand to too many patterns; the limit is {most:,}"
            broken.append((text, problem))
            continue
        parsed = [parse_pattern(spelling) for spelling in spellings]
        patterns += [pattern for pattern in parsed if pattern is not None]
        if not any(parsed):
            broken.append((text, "it cannot match any file"))
    return patterns, broken


def _expand_within(text: str, most: int) -> list[str] | None:
    # Bounds the recursion below, which goes one deeper with every brace.
    if len(text) > _MOST_CHARACTERS or text.count("{") > _MOST_BRACES:
        return None
    if _count_spellings(text) > most:
        return None
    return list(expand_braces(text))


def _count_spellings(text: str) -> int:
    """How many texts the braces expand to, counted before any of them is made."""
    found = _find_braces(text)
    if found is None:
        return 1
    _, end, choices = found
    return sum(map(_count_spellings, choices)) * _count_spellings(text[end:])


def expand_braces(text: str) -> Iterator[str]:
    """Every text that `{a,b}` expands to, as in a shell; braces without a comma stay."""
    found = _find_braces(text)
    if found is None:
        yield text
        return
    start, end, choices = found
    for choice in choices:
        for rest in expand_braces(choice + text[end:]):
            yield text[:start] + rest


def _find_braces(text: str) -> tuple[int, int, list[str]] | None:
    """Where the first braces with a choice start and end, and the choices."""
    # Only brackets and backslashes can hide a brace; without them the first one is found at once.
    may_hide = "[" in text or "\\" in text
    position = 0 if may_hide else text.find("{")
    while 0 <= position < len(text):
        if text[position] == "{":
            found = _find_choices(text, position)
            if found is not None:
                return position, *found
        position = _advance(text, position)
    return None


def _find_choices(text: str, opening: int) -> tuple[int, list[str]] | None:
    """Where braces end, and the texts between their commas; None for an open end or no comma."""
    depth, start = 0, opening + 1
    choices: list[str] = []
    position = opening
    while position < len(text):
        char = text[position]
        if char == "{":
            depth += 1
        elif char == "," and depth == 1:
            choices.append(text[start:position])
            start = position + 1
        elif char == "}":
            depth -= 1
        if depth == 0:
            last = text[start:position]
            return (position + 1, [*choices, last]) if choices else None
        position = _advance(text, position)
    return None


def _advance(text: str, position: int) -> int:
    """The next position; an escaped character and a bracket expression are skipped whole."""
    if text[position] == "\\":
        return position + 2
    if text[position] == "[":
        found = parse_class(text, position)
        return position + 1 if found is None else found[1]
    return position + 1


def covers(patterns: Sequence[Pattern], names: Sequence[str]) -> bool:
    """Whether the patterns match a file, given as the names in its path.

    As in git the last matching pattern decides, and everything in a matching folder matches,
    whatever later patterns say.
    """
    for count in range(1, len(names) + 1):
        last = _find_last_match(patterns, names[:count], is_folder=count < len(names))
        if last is not None and not last.negated:
            return True
    return False


def _find_last_match(
    patterns: Sequence[Pattern], names: Sequence[str], *, is_folder: bool
) -> Pattern | None:
    for pattern in reversed(patterns):
        if pattern.matches(names, is_folder=is_folder):
            return pattern
    return None
