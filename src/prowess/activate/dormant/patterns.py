"""The patterns that a skill waits for, as its header writes them: like `.gitignore`, with `{a,b}`
besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prowess.text.gitignore import Pattern, parse_class, parse_pattern

# Braces that stand in one another or side by side; more are no pattern that a person wrote.
_MOST_BRACES = 64
_MOST_CHARACTERS = 4_096


def parse_patterns(
    texts: Sequence[str], *, most: int
) -> tuple[list[Pattern], list[tuple[str, str]]]:
    """The patterns in their order, and those that mean nothing, each with the reason; they disable
    only themselves.
    """
    patterns: list[Pattern] = []
    broken: list[tuple[str, str]] = []
    for text in texts:
        spellings = _expand_within(text, most - len(patterns))
        if spellings is None:
            broken.append(
                (
                    text,
                    (
                        f"with its braces it stands for too much; at most {most:,} patterns are"
                        " matched"
                    ),
                )
            )
            continue
        parsed = [parse_pattern(spelling) for spelling in spellings]
        patterns += [pattern for pattern in parsed if pattern is not None]
        if not any(parsed):
            broken.append((text, "it can match no file"))
    return patterns, broken


def _expand_within(text: str, most: int) -> list[str] | None:
    if (
        len(text) > _MOST_CHARACTERS
        or text.count("{") > _MOST_BRACES
        or _count_spellings(text) > most
    ):
        return None
    return list(expand_braces(text))


def _count_spellings(text: str) -> int:
    """How many texts the braces stand for, known before a single one is made."""
    found = _find_braces(text)
    if found is None:
        return 1
    _, end, choices = found
    return sum(map(_count_spellings, choices)) * _count_spellings(text[end:])


def expand_braces(text: str) -> Iterator[str]:
    """Every text that `{a,b}` stands for, as in a shell; braces without a comma are plain
    characters.
    """
    found = _find_braces(text)
    if found is None:
        yield text
        return
    start, end, choices = found
    for choice in choices:
        for rest in expand_braces(choice + text[end:]):
            yield text[:start] + rest


def _find_braces(text: str) -> tuple[int, int, list[str]] | None:
    """Where the first braces with a choice begin and end, and what may be chosen."""
    place = 0 if "[" in text or "\\" in text else text.find("{")
    while 0 <= place < len(text):
        if text[place] == "{":
            found = _find_choices(text, place)
            if found is not None:
                return place, *found
        place = _step(text, place)
    return None


def _find_choices(text: str, place: int) -> tuple[int, list[str]] | None:
    """Where braces end, and the texts between their commas; None where they do not end or have no
    comma.
    """
    depth, start = 0, place + 1
    choices: list[str] = []
    while place < len(text):
        char = text[place]
        if char == "{":
            depth += 1
        elif char == "," and depth == 1:
            choices.append(text[start:place])
            start = place + 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return (place + 1, [*choices, text[start:place]]) if choices else None
        place = _step(text, place)
    return None


def _step(text: str, place: int) -> int:
    """The next place to look at; what a backslash or a bracket holds is passed over."""
    if text[place] == "\\":
        return place + 2
    if text[place] == "[":
        found = parse_class(text, place)
        return place + 1 if found is None else found[1]
    return place + 1


def covers(patterns: Sequence[Pattern], names: Sequence[str]) -> bool:
    """Whether the patterns mean a file, given as the names of its path.

    As git does it: the last pattern that matches decides, and what lies in a folder that is meant
    is meant, whatever later patterns say of it.
    """
    for count in range(1, len(names) + 1):
        head = names[:count]
        is_folder = count < len(names)
        last = next(
            (one for one in reversed(patterns) if one.matches(head, is_folder=is_folder)), None
        )
        if last is not None and not last.negated:
            return True
    return False
