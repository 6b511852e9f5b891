"""Characters that a host reads as text and the native YAML parser does not.

The parser rejects raw control characters and ends a line at U+0085, U+2028 and U+2029, as YAML 1.1
does. The parsers of most hosts read them as text. Before a header is parsed for such a host, each
of these characters is exchanged for a private one that nothing else in the header uses.
"""

from __future__ import annotations

import re
from typing import Any

from prowess.profiles.schema.header import HeaderRules

LINE_SEPARATORS = "\x85\u2028\u2029"
"""What ends a line in YAML 1.1 only."""

# The parser takes tabs and line feeds; a carriage return is a line end everywhere.
_CONTROLS = "".join(map(chr, (*range(1, 9), 11, 12, *range(14, 32), *range(127, 160))))
_NUL = "\0"
_PRIVATE_USE = range(0xE000, 0xF900)


def find_odd_characters(header: str, rules: HeaderRules) -> str:
    """The characters of a header that the host reads as text and the parser would not."""
    odd = ""
    if rules.line_separators == "text":
        odd += LINE_SEPARATORS
    if rules.raw_controls != "reject":
        odd += _CONTROLS.replace("\x85", "")
    if rules.raw_controls == "allow":
        odd += _NUL
    if not odd:
        return ""
    return "".join(sorted(set(re.findall(f"[{odd}]", header))))


class OddCharacters:
    """A pair of translations: odd characters to private ones, and back."""

    def __init__(self, odd: str, header: str) -> None:
        used = set(header)
        free = (private for private in map(chr, _PRIVATE_USE) if private not in used)
        # There are a hundred times as many private ones as odd ones; should a header use nearly all
        # of them, odd ones without a partner stay as they are.
        pairs = list(zip(odd, free, strict=False))
        self._hidden = str.maketrans(dict(pairs))
        self._restored = str.maketrans({private: character for character, private in pairs})

    def hide(self, text: str) -> str:
        """The text as the parser can read it."""
        return text.translate(self._hidden)

    def restore(self, value: Any) -> Any:
        """A parsed value with the characters that its author wrote."""
        if type(value) is str:
            return value.translate(self._restored)
        if type(value) is list:
            return [self.restore(item) for item in value]
        if type(value) is dict:
            return {self.restore(key): self.restore(item) for key, item in value.items()}
        return value
