"""Ways to shorten a description to a number of characters."""

from __future__ import annotations

import re
from collections.abc import Callable

_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
# Shorter ones are mere words or abbreviations; a character of Chinese or Japanese says as much as a
# word.
_LEAST_SENTENCE = 40
_LEAST_WIDE_SENTENCE = 12


def cut_with_ellipsis(text: str, most: int) -> str:
    """At most so many characters, the last of them `…` where anything was cut."""
    return _cut_with_mark(text, most, "…")


def cut_with_dots(text: str, most: int) -> str:
    """At most so many characters, the last three of them `...` where anything was cut."""
    return _cut_with_mark(text, most, "...")


def _cut_with_mark(text: str, most: int, mark: str) -> str:
    if len(text) <= most:
        return text
    return text[: most - len(mark)] + mark if most >= len(mark) else ""


def cut_at_sentence(text: str, most: int) -> str:
    """The first sentence, where it is neither a mere word nor too long; else what fits, cut at a
    word.
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    for end in _SENTENCE_END.finditer(line, 0, most):
        if end.end() >= (_LEAST_SENTENCE if end[0].isascii() else _LEAST_WIDE_SENTENCE):
            return line[: end.end()]
    words, _, _ = line[:most].rpartition(" ")
    return (words or line[: most - 1]).rstrip() + "…"


CUTS: dict[str, Callable[[str, int], str]] = {
    "ellipsis": cut_with_ellipsis,
    "dots": cut_with_dots,
    "sentence": cut_at_sentence,
}
