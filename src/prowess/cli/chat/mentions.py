"""Files that are named with `@` in a typed text."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

# Not in an address of mail. Languages without blanks between words have none before an `@`.
_MENTION = re.compile(r'(?<![!-~])@(?:"([^"\n]+)"|((?:[^\s@]|(?<=[!-~])@)+))')
# What ends a sentence or a clause, and is rarely the end of a file's name.
_PUNCTUATION = ".,;:!?)]}'\""
_WIDE_PUNCTUATION = re.compile(r"[，。、；：！？）】》」』”’]")
_NOT_ASCII = re.compile(r"[^!-~]")


class Mentions(NamedTuple):
    """The files and folders that a text names, and names of which there are none."""

    found: tuple[str, ...]
    missing: tuple[str, ...]


NO_MENTIONS = Mentions((), ())


def find_mentions(text: str, cwd: str) -> Mentions:
    """What a text names after `@`; a word that names no file stays a word of the text."""
    # By path: a file that is named twice is read once.
    found: dict[str, None] = {}
    missing: dict[str, None] = {}
    for quoted, word in _MENTION.findall(text):
        path = quoted or _choose_spelling(word, cwd)
        if path is not None and _exists(path, cwd):
            found[path] = None
            continue
        # The last spelling is the one without the punctuation of the sentence.
        named = quoted or _list_spellings(word)[-1]
        missing[named] = None
    return Mentions(tuple(found), tuple(missing))


def quote_mention(path: str) -> str:
    """How a path is typed as a mention."""
    return f'@"{path}"' if any(map(str.isspace, path)) else f"@{path}"


def _choose_spelling(word: str, cwd: str) -> str | None:
    # Text may follow a name without a blank, as in `@a.txt的内容`.
    for spelling in (*_list_spellings(word), _NOT_ASCII.split(word)[0]):
        if spelling and _exists(spelling, cwd):
            return spelling
    return None


def _list_spellings(word: str) -> list[str]:
    """What of a word may be the name: all of it, or what is before the punctuation."""
    clause = _WIDE_PUNCTUATION.split(word)[0]
    spellings = (word, word.rstrip(_PUNCTUATION), clause, clause.rstrip(_PUNCTUATION))
    return [one for one in spellings if one]


def _exists(path: str, cwd: str) -> bool:
    try:
        return os.path.exists(os.path.join(cwd, os.path.expanduser(path)))
    except ValueError:
        # A null character.
        return False
