"""The header of a Markdown file, as YAML that can be read like a settings file."""

from __future__ import annotations

import json
import re

# A header that is never closed goes to the end of the file, as in opencode.
_HEADER = re.compile(r"---[^\S\n]*\n(.*?)(?:^---|\Z)", re.DOTALL | re.MULTILINE)
# opencode repairs no key that has a hyphen in it.
_PLAIN_PAIR = re.compile(r"([A-Za-z_][\w]*)[ \t]*:[ \t]*([^\s\"'].*)", re.ASCII)
_BLOCK_MARKS = (">", "|")


def take_header(text: str) -> str:
    """The header of a file, on the same lines as in the file; "" if it has none."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    header = _HEADER.match(text)
    return "" if header is None else f"\n{header[1]}"


def quote_colons(header: str) -> str:
    """The header with every plain value quoted that contains a colon, as opencode reads it if it
    cannot be parsed otherwise.
    """
    return "\n".join(map(_quote_colon, header.split("\n")))


def _quote_colon(line: str) -> str:
    pair = _PLAIN_PAIR.fullmatch(line)
    if pair is None:
        return line
    value = pair[2].strip()
    if ":" not in value or value in _BLOCK_MARKS:
        return line
    return f"{pair[1]}: {json.dumps(value, ensure_ascii=False)}"
