"""What reading a header gives: its fields and the first line of the body."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic

_DEEPEST_HEADING = 6


class HeaderReading(msgspec.Struct, frozen=True):
    """What a header says: its fields, the beginning of the body behind it, and diagnostics.

    It has no path, so that it can be kept for every copy of a file. `undecoded` is the body where
    nobody had to look at it. `valid` is False where this host would not load the file because of
    how it is written.
    """

    frontmatter: dict[str, Any]
    body: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    valid: bool = True
    undecoded: bytes = b""

    @property
    def lead(self) -> str:
        """The first line of the body. Few headers need it, so it is found when it is asked for."""
        # The end of what was read may be in the middle of a character, which no first line needs.
        return find_lead(self.body or self.undecoded.decode(errors="replace"))


def find_lead(body: str) -> str:
    """The first line of a body that is not empty, without heading marks; "" if there is none.

    Some hosts use it where the description is missing.
    """
    line = body.lstrip().partition("\n")[0].partition("\r")[0].rstrip()
    if not line.startswith("#"):
        return line
    rest = line.lstrip("#")
    is_heading = len(line) - len(rest) <= _DEEPEST_HEADING and rest[:1] in ("", " ", "\t")
    return rest.lstrip() if is_heading else line
