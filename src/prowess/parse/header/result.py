"""What reading a header gives: its fields and the first line of the body."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.text.utf16 import count_utf16, take_utf16

_DEEPEST_HEADING = 6
_MARKED_HEADING = r"#+\s+(.+)"
# Claude Code cuts a first line of more than 100 UTF-16 units to 97 and three dots.
_MOST_UNITS, _KEPT_UNITS = 100, 97


class HeaderReading(msgspec.Struct, frozen=True):
    """What a header says: its fields, the beginning of the body behind it, and diagnostics.

    It has no path, so that it can be kept for every copy of a file. Where nobody had to look at the
    body, it is in `data` from `body_start` on, not yet decoded or even copied. `valid` is False
    where this host would not load the file because of how it is written.
    """

    frontmatter: dict[str, Any]
    body: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    valid: bool = True
    data: bytes = b""
    body_start: int = 0

    @property
    def text(self) -> str:
        """The body, decoded. Few headers need it, so this is done when it is asked for."""
        # The end of what was read may be in the middle of a character, which no first line needs.
        return self.body or self.data[self.body_start :].decode(errors="replace")

    @property
    def lead(self) -> str:
        """The first line of the body."""
        return find_lead(self.text)


def find_lead(body: str) -> str:
    """The first line of a body that is not empty, without heading marks; "" if there is none.

    Some hosts use it where the description is missing.
    """
    line = body.lstrip().partition("\n")[0].partition("\r")[0].rstrip()
    if not line.startswith("#"):
        return line
    rest = line.lstrip("#")
    level = len(line) - len(rest)
    # As in Markdown: `#tag` is text, and so are more marks than headings have levels.
    is_heading = level <= _DEEPEST_HEADING and rest[:1] in ("", " ", "\t")
    return rest.lstrip() if is_heading else line


def find_short_lead(body: str) -> str:
    """The first line that is not empty, as Claude Code takes it: a mark alone is text, and a long
    line is cut.
    """
    line = body.lstrip().partition("\n")[0].rstrip()
    heading = re.fullmatch(_MARKED_HEADING, line)
    text = heading[1] if heading else line
    if count_utf16(text) <= _MOST_UNITS:
        return text
    return take_utf16(text, _KEPT_UNITS) + "..."
