"""The ways of escaping that a catalog's formats name. What every stage needs is in
`prowess.text.markup`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from prowess.text.markup import escape_angles, escape_tags, escape_text, escape_xml, tidy_block

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


def escape_xml_apos(text: str) -> str:
    """All five characters that XML reserves as entities, with the other spelling of an apostrophe."""
    return escape_text(text).replace('"', "&quot;").replace("'", "&apos;")


def escape_markdown(text: str) -> str:
    """A text that Markdown shows letter by letter; an underscore inside a word may stand."""
    return _LOOSE_UNDERSCORE.sub(r"\\_", text.translate(_MARKDOWN))


def escape_json(text: str) -> str:
    """A JSON string without its quotes."""
    return msgspec.json.encode(text)[1:-1].decode()


def escape_body(body: str) -> str:
    """A body that cannot close the tag it stands in. All else stays: a body holds code, which
    entities would spoil.
    """
    return escape_tags(tidy_block(body), "always_skills", "skill_content")


ESCAPES: dict[str, Callable[[str], str]] = {
    "xml": escape_xml,
    "xml-apos": escape_xml_apos,
    "text": escape_text,
    "angles": escape_angles,
    "markdown": escape_markdown,
    "json": escape_json,
}
