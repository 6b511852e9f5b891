"""How people sort words: the order of the English locale, which some hosts list skills in."""

from __future__ import annotations

# Where people sort words, all marks stand before digits, and digits before letters. The marks in
# their order:
_MARKS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
_BEFORE_DIGITS = {ord(mark): place for place, mark in enumerate(_MARKS, start=1)}


def collate(text: str) -> tuple[str, str, str, str]:
    """A key to sort by: letters first, then accents, then small before capital ones. Total, so it
    is stable.
    """
    name = letters = text
    if not name.isascii():
        import unicodedata

        name = unicodedata.normalize("NFD", name)
        letters = "".join(char for char in name if not unicodedata.combining(char))
    folded = letters.casefold().translate(_BEFORE_DIGITS)
    return (folded, name.casefold().translate(_BEFORE_DIGITS), name.swapcase(), text)
