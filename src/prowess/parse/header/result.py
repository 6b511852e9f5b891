"""What reading a header gives: its fields and the first line of the body."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic

_DEEPEST_HEADING = 6


class HeaderReading(msgspec.Struct, frozen=True):
    """What a header says: its fields, the first line of the body, and the findings on the way.

    It has no path, so that it can be kept for every copy of a file. `valid` is False where this
    host would not load the file because of how it is written.
    """

    frontmatter: dict[str, Any]
    lead: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    valid: bool = True


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
