"""The one place where text from a skill is made fit for markup.

Two steps, always in this order. Tidying takes out what no prompt should hold: control characters, halves of
surrogate pairs and non-characters become U+FFFD, and where a format needs one line every run of blanks and
line breaks becomes one blank. Escaping then makes sure that the text stays inside its tag or its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LOOSE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_MARKDOWN = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "\\": "\\\\",
        "`": "\\`",
        "*": "\\*",
        "[": "\\[",
        "]": "\\]",
        "~": "\\~",
        "|": "\\|",
    }
)
# Every tag that a section with injected bodies is made of begins so.
_BODY_TAG = re.compile(r"<(?=\s*/?\s*(?:always_skills|skill_content)\b)", re.IGNORECASE)


def tidy_line(text: str) -> str:
    """The text on one line, without control characters."""
    line = " ".join(text.split())
    return line if line.isprintable() else _UNPRINTABLE.sub("\ufffd", line)


def tidy_block(text: str) -> str:
    """The text with its line breaks, all written alike, and without control characters."""
    if text.isprintable():
        return text
    return _UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def escape_angles(text: str) -> str:
    """`<` and `>` as entities; enough to keep a text from closing a tag, too little to be read back exactly."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def escape_text(text: str) -> str:
    """`&`, `<` and `>` as entities."""
    return escape_angles(text.replace("&", "&amp;"))


def escape_xml(text: str) -> str:
    """All five characters that XML reserves as entities; also fit for an attribute."""
    return escape_text(text).replace('"', "&quot;").replace("'", "&#39;")


def escape_xml_apos(text: str) -> str:
    """The same, with the other spelling of an apostrophe."""
    return escape_text(text).replace('"', "&quot;").replace("'", "&apos;")


def escape_markdown(text: str) -> str:
    """A text that Markdown shows letter by letter; an underscore inside a word may stand."""
    return _LOOSE_UNDERSCORE.sub(r"\\_", text.translate(_MARKDOWN))


def escape_json(text: str) -> str:
    """A JSON string without its quotes."""
    return msgspec.json.encode(text)[1:-1].decode()


def escape_body(body: str) -> str:
    """A body that cannot close the tag it stands in. All else stays: a body holds code, which entities would spoil."""
    return _BODY_TAG.sub("&lt;", tidy_block(body))


ESCAPES: dict[str, Callable[[str], str]] = {
    "xml": escape_xml,
    "xml-apos": escape_xml_apos,
    "text": escape_text,
    "angles": escape_angles,
    "markdown": escape_markdown,
    "json": escape_json,
}
