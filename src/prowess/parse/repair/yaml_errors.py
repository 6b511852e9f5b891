"""A header that could not be read, and which of its entries and values are at fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.lines import Line, plain_text
from prowess.parse.repair.line_reader import Entry, Value, find_values, isolate, split_entries
from prowess.parse.yaml.reader import Trouble, is_sound
from prowess.profiles.schema.roots import Limits

# An entry that needs no reader to be known for sound.
_PLAIN_ENTRY = re.compile(r"[A-Za-z_][\w-]*:(?: [A-Za-z][\w ./-]*)?", re.ASCII)


class Repaired(NamedTuple):
    """The lines of a header after a repair, and what was changed."""

    lines: list[Line]
    diagnostics: list[Diagnostic]


class Damage:
    """What a repair gets to see; what it asks for is worked out once.

    `text` are the lines as the reader was given them, `original` the lines as they stand in the
    file.
    """

    def __init__(
        self,
        lines: list[Line],
        text: str,
        trouble: Trouble,
        *,
        original: list[Line],
        limits: Limits,
        thorough: bool,
    ) -> None:
        self.lines = lines
        self.text = text
        self.trouble = trouble
        self.original = original
        self.limits = limits
        self.thorough = thorough

    @cached_property
    def all_entries(self) -> list[Entry]:
        """Every entry of the header."""
        return split_entries(self.lines)

    @cached_property
    def entries(self) -> list[Entry]:
        """The entries that cannot be read even alone; a quick look ends with the one where the
        reader stopped.
        """
        if not self.thorough and self.trouble.line is not None:
            place = self.trouble.line - 1
            found = [entry for entry in self.all_entries if entry.first <= place <= entry.last]
            if found and not self._is_sound(found[0]):
                return found
        return [entry for entry in self.all_entries if not self._is_sound(entry)]

    @cached_property
    def values(self) -> list[Value]:
        """The values, inside broken entries, that cannot be read even alone."""
        return [
            value
            for entry in self.entries
            for value in find_values(self.lines, entry)
            if not is_sound(isolate(self.lines, value), self.limits)
        ]

    def _is_sound(self, entry: Entry) -> bool:
        if entry.first == entry.last and _PLAIN_ENTRY.fullmatch(self.lines[entry.first].text):
            return True
        lines = self.lines[entry.first : entry.last + 1]
        if (
            not entry.key
            and len(self.all_entries) > 1
            and any(line.text.lstrip(" ") != line.text for line in lines)
        ):
            return False
        return is_sound(plain_text(lines), self.limits)


Repairer = Callable[[Damage], Repaired | None]


class Patch(NamedTuple):
    """New lines for the lines `first` to `last` of a header, and the diagnostic that says so."""

    first: int
    last: int
    lines: Sequence[Line]
    diagnostic: Diagnostic | None = None


def apply_patches(lines: Sequence[Line], patches: Iterable[Patch]) -> Repaired | None:
    """Put patches, which do not overlap and stand in order, into a header; None where there are
    none.
    """
    mended: list[Line] = []
    diagnostics = []
    place = 0
    for patch in patches:
        mended.extend(lines[place : patch.first])
        mended.extend(patch.lines)
        place = patch.last + 1
        if patch.diagnostic is not None:
            diagnostics.append(patch.diagnostic)
    if place == 0:
        return None
    mended.extend(lines[place:])
    return Repaired(mended, diagnostics)


def report(code: str, message: str, line: Line, key: str) -> Diagnostic:
    """The diagnostic of a repair on a line of the file."""
    return diagnose(code, message, line=line.number, field=key or None)


def name_value(key: str) -> str:
    """A value in words."""
    return f"The value of `{key}`" if key else "An item of a list"
