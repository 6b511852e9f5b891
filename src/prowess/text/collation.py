"""How people sort words: the order of the English locale, in which some hosts list skills.

It follows the Unicode Collation Algorithm as far as names of skills need it: blanks, punctuation,
symbols, currencies, digits, letters; accents and case decide only between words that are otherwise
the same.
"""

from __future__ import annotations

# The marks in their order. Other punctuation and other symbols have their places among them.
_BLANKS = "\t\n\v\f\r "
_PUNCTUATION = "_-,;:!?.'\"()[]{}@*/\\&#%"
_SYMBOLS = "`^+<=>|~"
_CURRENCIES = "¤¢$£¥"

_OTHER_PUNCTUATION = len(_BLANKS + _PUNCTUATION) + 1
_OTHER_SYMBOL = _OTHER_PUNCTUATION + len(_SYMBOLS) + 1
_OTHER_CURRENCY = _OTHER_SYMBOL + len(_CURRENCIES) + 1

# What a character becomes; all of it sorts before the digits. Control characters don't count.
_CONTROLS: dict[int, str | None] = {
    code: None for code in (*range(32), *range(127, 160)) if chr(code) not in _BLANKS
}
_BEFORE_DIGITS: dict[int, str | None] = _CONTROLS | {
    ord(mark): chr(rank)
    for first, marks in (
        (1, _BLANKS + _PUNCTUATION),
        (_OTHER_PUNCTUATION + 1, _SYMBOLS),
        (_OTHER_SYMBOL + 1, _CURRENCIES),
    )
    for rank, mark in enumerate(marks, start=first)
}
_GROUPS = {"P": _OTHER_PUNCTUATION, "S": _OTHER_SYMBOL, "Sc": _OTHER_CURRENCY}

# Letters that sort with others and after them, as if they had an accent.
_ACCENT = "\u0338"
_LIKE = {
    ord(letter): like + _ACCENT
    for letter, like in {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "đ": "d", "Đ": "D", "ł": "l", "Ł": "L", "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T",
    }.items()
}  # fmt: skip
# Letters of their own that follow another one.
_AFTER = {ord("ı"): "i\U0010ffff", ord("ŋ"): "n\U0010ffff", ord("þ"): "z\U0010ffff"}


def collate(text: str) -> tuple[str, str, str]:
    """A sort key: letters first, then accents, then lower before upper case.

    Texts that only differ in how they are encoded have the same key.
    """
    if text.isascii():
        folded = text.lower().translate(_BEFORE_DIGITS)
        return (folded, folded, text.swapcase())
    import unicodedata

    decomposed = unicodedata.normalize("NFD", text.translate(_LIKE))
    # Characters that cannot be seen do not count.
    name = "".join(char for char in decomposed if unicodedata.category(char) != "Cf")
    # Without accents, and with `ﬁ` as two letters.
    plain = unicodedata.normalize("NFKD", name)
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    # Upper and lower case are exchanged because `a` sorts before `A` here, unlike by code.
    return (_rank(letters), _rank(name), name.swapcase())


def _rank(text: str) -> str:
    """A text whose characters sort as those of the locale do."""
    folded = text.casefold().translate(_AFTER).translate(_BEFORE_DIGITS)
    return "".join(char if char < "\x80" else _rank_other(char) for char in folded)


def _rank_other(char: str) -> str:
    """A character that is in none of the tables."""
    import unicodedata

    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category[0] == "Z":
        return chr(len(_BLANKS))
    group = _GROUPS.get(category, _GROUPS.get(category[0]))
    return char if group is None else chr(group) + char
