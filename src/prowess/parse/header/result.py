"""What reading a header gives."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic


class Reading(msgspec.Struct, frozen=True):
    """What a header says: its fields, the first line of the body, and what was found on the way.

    It holds no path, so that it can be kept for every copy of a file. `valid` is False where this
    host would not load the file because of how it is written.
    """

    frontmatter: dict[str, Any]
    lead: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    valid: bool = True
