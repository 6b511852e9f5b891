"""What makes text from a skill fit for markup, for every stage that writes some.

Two steps, always in this order. Tidying takes out what no prompt should hold: control characters,
halves of surrogate pairs and non-characters become U+FFFD, and where one line is needed every run
of blanks and line breaks becomes one blank. Escaping then makes sure that the text stays inside its
tag or its line.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NOT_IN_A_PATH = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def tidy_line(text: str) -> str:
    """The text on one line, without control characters."""
    line = " ".join(text.split())
    return line if line.isprintable() else _UNPRINTABLE.sub("\ufffd", line)


def tidy_block(text: str) -> str:
    """The text with its line breaks, all written alike, and without control characters."""
    if text.isprintable():
        return text
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def tidy_path(path: str) -> str:
    """A path on one line. Its blanks stay as they are, since a path with other blanks leads
    elsewhere.
    """
    return path if path.isprintable() else _NOT_IN_A_PATH.sub("\ufffd", path)


def escape_angles(text: str) -> str:
    """`<` and `>` as entities; enough to keep a text from closing a tag, too little to be read back
    exactly.
    """
    return text.replace("<", "&lt;").replace(">", "&gt;")


def escape_text(text: str) -> str:
    """`&`, `<` and `>` as entities."""
    return escape_angles(text.replace("&", "&amp;"))


def escape_xml(text: str) -> str:
    """All five characters that XML reserves as entities; also fit for an attribute."""
    return escape_text(text).replace('"', "&quot;").replace("'", "&#39;")


def escape_tags(text: str, *tags: str) -> str:
    """A text that can neither open nor close one of these tags, however they are spelled.

    All else stays as it is: bodies and paths hold code, ampersands and angle brackets that entities
    would spoil.
    """
    return _find_tags(tags).sub("&lt;", text) if "<" in text else text


@lru_cache(maxsize=16)
def _find_tags(tags: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(map(re.escape, tags))})\b)", re.IGNORECASE)
