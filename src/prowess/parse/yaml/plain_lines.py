"""Headers of plain lines, which YAML can read in one way only, read without the parser.

Most headers are a few lines of `key: value`, and the native parser takes longer for those than
anything else that a scan does with them. Any line that could mean something else, or nothing, is
left to the parser. Property tests check that the two never differ.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_KEY = r"[A-Za-z][A-Za-z0-9_-]{0,63}:"
# Text that begins with a letter, or in quotes without escapes. What begins with anything else may
# be a number, a list or a mark.
_VALUE = r"""(?:[A-Za-z][ -~]*|"[ !#-\[\]-~]*"|'[ -&(-~]*')\n"""
_HEADER = rf"(?:{_KEY}(?: {_VALUE}|\n(?:  {_KEY} {_VALUE})+))+"
_QUOTES = ("'", '"')
# Words that are not text, as a value or as a key.
_NOT_TEXT = frozenset(("true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL"))


@cache
def _compile_header() -> re.Pattern[str]:
    # On first use: a scan that finds everything in its cache reads no header.
    return re.compile(_HEADER)


def parse_plain_lines(text: str) -> dict[str, Any] | None:
    """The fields of a header, all text or mappings of text; None if it needs the parser."""
    if _compile_header().fullmatch(text) is None:
        return None
    lines = text.split("\n")
    lines.pop()
    # A second colon in a line is an error, ` #` a comment, and blanks at the end are dropped.
    colons = text.count(": ") + text.count(":\n")
    has_one_colon_each = colons == len(lines)
    if not has_one_colon_each or " #" in text or " \n" in text:
        return None
    fields: dict[str, Any] = {}
    # The mapping that indented lines belong to: that of the last key without a value.
    inner: dict[str, Any] = {}
    for line in lines:
        key, colon, value = line.partition(": ")
        if not colon:
            key = key[:-1]
        target = fields
        if key[0] == " ":
            key, target = key[2:], inner
        # A key that appears twice is an error, which the parser explains.
        if key in target or key in _NOT_TEXT or value in _NOT_TEXT:
            return None
        if colon:
            target[key] = value[1:-1] if value[0] in _QUOTES else value
        else:
            inner = target[key] = {}
    return fields
