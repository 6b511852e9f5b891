"""How people sort words: the order of the English locale, in which some hosts list skills."""

from __future__ import annotations

# Punctuation sorts before other symbols, those before currencies, digits and letters. The marks in
# their order:
_MARKS = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~"
_BEFORE_DIGITS = {ord(mark): rank for rank, mark in enumerate(_MARKS, start=1)}
# A character of private use, for the place of all other symbols.
_SYMBOL = "\ue000"
_BEFORE_DIGITS |= {ord(_SYMBOL): len(_MARKS) + 1, ord("$"): len(_MARKS) + 2}


def collate(text: str) -> tuple[str, str, str, str]:
    """A sort key: letters first, then accents, then lower before upper case.

    The text itself comes last, so that no two texts have the same key.
    """
    name = letters = text
    if not name.isascii():
        import unicodedata

        name = unicodedata.normalize("NFD", name)
        letters = "".join(
            _SYMBOL + char if unicodedata.category(char) == "So" else char
            for char in name
            if not unicodedata.combining(char)
        )
    folded = letters.casefold().translate(_BEFORE_DIGITS)
    return (folded, name.casefold().translate(_BEFORE_DIGITS), name.swapcase(), text)
