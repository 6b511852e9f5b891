"""Text of a given number of tokens, for measuring what a prompt costs or a window holds."""

from __future__ import annotations

from itertools import cycle, islice

from prowess.activate.slash.dispatch import ToolRun
from prowess.errors import MissingExtra, UsageError
from prowess.present.tokens import ESTIMATE, TokenCounter, get_counter
from prowess.runtime import Skills

USUAL_TOKENS = 1_000
MOST_TOKENS = 200_000
_ENCODING = "o200k_base"
_WORDS = (
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut"
    " labore et dolore magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris"
).split()
_WORDS_PER_SENTENCE = 12


def run_command(arguments: str, skills: Skills, run: ToolRun) -> str:
    """What `/lorem-ipsum N` gives. Raises `UsageError`."""
    wanted = _parse_number(arguments.strip())
    try:
        counter = get_counter(_ENCODING)
    except MissingExtra:
        counter = ESTIMATE
    return make_text(wanted, counter)


def make_text(tokens: int, counter: TokenCounter) -> str:
    """Text of exactly this many tokens, as the counter counts them."""
    # Doubled until it is too long, then halved: counting long texts is slow.
    few, many = 0, 1
    while counter.count(_join(many)) < tokens:
        few, many = many, many * 2
    while many - few > 1:
        middle = (few + many) // 2
        if counter.count(_join(middle)) <= tokens:
            few = middle
        else:
            many = middle
    text = _join(few)
    # A word may be several tokens, so that the last few are filled up one by one.
    while counter.count(text) < tokens:
        text += " a" if text else "a"
    return text


def _join(number: int) -> str:
    words = list(islice(cycle(_WORDS), number))
    lines = [
        " ".join(words[at : at + _WORDS_PER_SENTENCE])
        for at in range(0, number, _WORDS_PER_SENTENCE)
    ]
    return "\n".join(lines)


def _parse_number(text: str) -> int:
    if not text:
        return USUAL_TOKENS
    # `isdigit` alone also accepts superscripts, which `int` does not.
    is_number = text.isascii() and text.isdigit()
    number = int(text) if is_number else 0
    if not 0 < number <= MOST_TOKENS:
        raise UsageError(f"“{text}” is not a number of tokens; give one from 1 to {MOST_TOKENS:,}.")
    return number
