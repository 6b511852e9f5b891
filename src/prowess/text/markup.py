"""Makes text from a skill safe for markup, for every stage that writes some.

Two steps, always in this order. Tidying removes what no prompt should have: control characters,
halves of surrogate pairs and non-characters become U+FFFD, and where one line is needed every run
of blanks and line breaks becomes one blank. Escaping then makes sure that the text stays inside its
tag or its line.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Controls, formats (zero-width and bidirectional characters), line separators, halves of pairs.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0001-\U000e007f]+"
)
_NOT_IN_A_PATH = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def tidy_line(text: str) -> str:
    """The text on one line, without control characters."""
    line = " ".join(text.split())
    # Nearly every text is printable, which is found out much faster than a search takes.
    return line if line.isprintable() else _UNPRINTABLE.sub("\ufffd", line)


def tidy_spaces(text: str) -> str:
    """The text on one line, with its own spaces: what cannot be seen becomes a space."""
    is_plain = text.isascii() and text.isprintable()
    return text if is_plain else _UNSEEN.sub(" ", text)


def tidy_block(text: str) -> str:
    """The text with its line breaks, all written alike, and without control characters."""
    if text.isprintable():
        return text
    with_line_feeds = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNPRINTABLE.sub("\ufffd", with_line_feeds)


def tidy_path(path: str) -> str:
    """A path on one line. Its blanks stay, because a path with other blanks is another path."""
    return path if path.isprintable() else _NOT_IN_A_PATH.sub("\ufffd", path)


def escape_angles(text: str) -> str:
    """`<` and `>` as entities; keeps a text from closing a tag, but cannot be undone exactly."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def escape_text(text: str) -> str:
    """`&`, `<` and `>` as entities."""
    return escape_angles(text.replace("&", "&amp;"))


def escape_xml(text: str) -> str:
    """All five characters that XML reserves as entities; also safe in an attribute."""
    return escape_text(text).replace('"', "&quot;").replace("'", "&#39;")


def escape_tags(text: str, *tags: str) -> str:
    """A text that can neither open nor close one of these tags, however they are spelled.

    Everything else stays: bodies and paths have code, ampersands and angle brackets that entities
    would spoil.
    """
    if "<" not in text:
        return text
    return _compile_tags(tags).sub("&lt;", text)


@lru_cache(maxsize=16)
def _compile_tags(tags: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, tags))
    # Blanks and any case, because a model takes `< / Skill >` for the end of `<skill>`, too.
    return re.compile(rf"<(?=\s*/?\s*(?:{names})\b)", re.IGNORECASE)
