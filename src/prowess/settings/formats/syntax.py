"""What the parsers of the three formats share: limits, the shape of a file, and error messages."""

from __future__ import annotations

import re
from typing import Any

from prowess.errors import SettingError
from prowess.settings.formats.key_spans import MOST_LEVELS, Scan, find_too_deep
from prowess.text.toml_guard import is_deeper

MOST_CHARACTERS = 1 << 20


def prepare_text(text: str, file: str) -> str:
    """The text without a byte order mark. Raises a `SettingError` if it is too long."""
    if len(text) > MOST_CHARACTERS:
        problem = f"the file is too large; at most {MOST_CHARACTERS:,} characters are read"
        raise SettingError(file, None, None, problem)
    return text.removeprefix("\ufeff")


def check_shape(data: Any, text: str, scan: Scan, file: str) -> dict[str, Any]:
    """The data, if it is a table that is not nested too deeply. Raises a `SettingError`."""
    if not isinstance(data, dict):
        problem = "the file must contain keys and values, not a list or a single value"
        raise SettingError(file, 1, None, problem)
    if is_deeper(data, MOST_LEVELS):
        raise make_depth_error(file, find_too_deep(text, scan))
    return data


def make_depth_error(file: str, line: int | None) -> SettingError:
    """The error for settings that are nested too deeply."""
    return SettingError(file, line, None, f"nested more than {MOST_LEVELS} levels deep")


def line_at(text: str, offset: int) -> int:
    """The line of an offset."""
    return text.count("\n", 0, offset) + 1


def last_line(text: str) -> int:
    """The last line that is not blank."""
    return line_at(text, len(text.rstrip()))


def split_message(message: str, position: str) -> tuple[str, re.Match[str] | None, str]:
    """A parser's message in three parts: the reason, the position, and the rest."""
    found = re.search(position, message)
    if found is None:
        return _lower_first(message), None, ""
    return _lower_first(message[: found.start()]), found, message[found.end() :]


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]
