"""The origin of a setting."""

from __future__ import annotations

import msgspec


class Origin(msgspec.Struct, frozen=True):
    """The file and line where a setting was set. A default has neither."""

    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        if self.file is None:
            return "default"
        if self.line is None:
            return self.file
        return f"{self.file}:{self.line}"
