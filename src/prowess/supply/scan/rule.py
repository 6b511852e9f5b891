"""What a rule of the scan is, and what it reads."""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import msgspec

from prowess.diagnostics import Severity
from prowess.supply.scan.command_line import CommandLine, parse_command_lines
from prowess.supply.scan.confusables import fold

INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that take no room, as they are written in a set of a regular expression."""

_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
# Marks of Markdown that split a phrase for a program, not for a reader.
_EMPHASIS = re.compile(r"(?<![\w*_])[*_]{1,3}(?=\w)|(?<=\w)[*_]{1,3}(?![\w*_])")
_NEWLINE = re.compile("\n")


class Kind(Enum):
    """Which parts of a skill's files a rule reads."""

    FILE = "the whole text of a file"
    PROSE = "instructions"
    COMMENT = "comments that a rendered page does not show"
    COMMANDS = "shell commands"
    CODE = "code that is not shell"
    NAME = "names"


class Passage:
    """A part of a file of one kind, and the line on which it begins."""

    def __init__(self, kind: Kind, text: str, line: int = 1) -> None:
        self.kind = kind
        self.text = text
        self.line = line

    @cached_property
    def plain(self) -> str:
        """The text as a person reads it, on the same lines.

        Invisible characters and emphasis are removed; look-alike letters are those they look like.
        """
        text = self.text
        if not text.isascii():
            visible = _INVISIBLE.sub("", text)
            text = fold(unicodedata.normalize("NFKC", visible))
        return _EMPHASIS.sub("", text)

    @cached_property
    def command_lines(self) -> tuple[tuple[int, CommandLine], ...]:
        """The commands, each with its line; only those that a rule could be about are parsed."""
        found = parse_command_lines(self.text)
        return tuple((self.line + before, command) for before, command in found)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in _NEWLINE.finditer(self.text)]

    def find_line(self, at: int) -> int:
        """The line in the file of an index of `text`."""
        return self.line + bisect.bisect_left(self._line_ends, at)

    def find_plain_line(self, at: int) -> int:
        """The line in the file of an index of `plain`."""
        # Removing characters keeps lines, so they can be counted in the plain text as well.
        return self.line + self.plain.count("\n", 0, at)


class Match(NamedTuple):
    """What a rule found: the line, the reason, and its severity where it is not the rule's own."""

    line: int
    reason: str
    severity: Severity | None = None


class ScanRule(msgspec.Struct, frozen=True):
    """One thing that the scan looks for.

    `reads` are the parts of a file that `match` is given; `summary` says what is wrong, and `hint`
    what to do about it.
    """

    code: str
    severity: Severity
    summary: str
    hint: str
    reads: tuple[Kind, ...]
    match: Callable[[Passage], Iterator[Match]]
