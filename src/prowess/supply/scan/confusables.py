"""Letters that look like ASCII letters, by Unicode's table of confusable characters (UTS 39).

Only letters of scripts that are in use are listed, without those that compatibility normalization
(NFKC) turns into ASCII letters by itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

_LOOKALIKES: Mapping[str, str] = {
    "A": "\u0391\u0410\u13aa\u15c5\ua4ee",
    "a": "\u0251\u03b1\u0430",
    "B": "\u0392\u0412\u13f4\u15f7\ua4d0\ua7b4\U00010301",
    "b": "\u0184\u042c\u13cf\u1472\u15af",
    "C": "\u03f9\u0421\u13df\u2ca4\ua4da\U00010302\U00010415",
    "c": "\u03f2\u0441\u1d04\u2ca5\uabaf\U0001043d",
    "D": "\u13a0\u15de\u15ea\ua4d3",
    "d": "\u0501\u13e7\u146f\ua4d2",
    "E": "\u0395\u0415\u13ac\u2d39\ua4f0",
    "e": "\u0435\u04bd\uab32",
    "F": "\u03dc\u15b4\ua4dd\ua798",
    "f": "\u0584\u1e9d\ua799\uab35",
    "G": "\u050c\u13c0\u13f3\ua4d6",
    "g": "\u018d\u0261\u0581\u1d83",
    "H": "\u0397\u041d\u13bb\u157c\u2c8e\ua4e7",
    "h": "\u04bb\u0570\u13c2",
    "i": "\u0131\u0269\u026a\u037a\u03b9\u0456\u04cf\u13a5\u1fbe\ua647\uab75",
    "J": "\u037f\u0408\u13ab\u148d\ua4d9\ua7b2",
    "j": "\u03f3\u0458",
    "K": "\u039a\u041a\u13e6\u2c94\ua4d7",
    "L": "\u13de\u14aa\u2cd0\ua4e1\U0001041b",
    "l": "\u0196\u01c0\u0399\u0406\u04c0\u2c92\u2d4f\ua4f2\U00010309",
    "M": "\u039c\u03fa\u041c\u13b7\u15f0\u2c98\ua4df\U00010311",
    "N": "\u039d\u2c9a\ua4e0",
    "n": "\u0578\u057c",
    "O": "\u039f\u041e\u0555\u2c9e\u2d54\ua4f3\U00010404\U000104c2",
    "o": "\u03bf\u03c3\u043e\u0585\u10ff\u1d0f\u1d11\u2c9f\uab3d\U0001042c\U000104ea",
    "P": "\u03a1\u0420\u13e2\u146d\u2ca2\ua4d1",
    "p": "\u03c1\u03f1\u0440\u2ca3",
    "Q": "\u2d55",
    "q": "\u051b\u0563\u0566",
    "R": "\u01a6\u13a1\u13d2\u1587\ua4e3\U000104b4",
    "r": "\u0433\u1d26\u2c85\uab47\uab48\uab81",
    "S": "\u0405\u054f\u13d5\u13da\ua4e2\U00010420",
    "s": "\u01bd\u0455\ua731\uabaa\U00010448",
    "T": "\u03a4\u0422\u13a2\u2ca6\ua4d4\U00010315",
    "U": "\u054d\u144c\ua4f4\U000104ce",
    "u": "\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52\U000104f6",
    "V": "\u0474\u13d9\u142f\u2d38\ua4e6",
    "v": "\u03bd\u0475\u1d20\uaba9",
    "W": "\u051c\u13b3\u13d4\ua4ea",
    "w": "\u026f\u0461\u051d\u0561\u1d21\uab83",
    "X": "\u03a7\u0425\u2cac\u2d5d\ua4eb\ua7b3\U00010317",
    "x": "\u0445\u1541\u157d",
    "Y": "\u03a5\u03d2\u0423\u04ae\u13a9\u13bd\u2ca8\ua4ec",
    "y": "\u0263\u028f\u03b3\u0443\u04af\u10e7\u1d8c\u1eff\uab5a",
    "Z": "\u0396\u13c3\ua4dc",
    "z": "\u1d22\uab93",
}
_FOLDED = {ord(one): letter for letter, many in _LOOKALIKES.items() for one in many}


def fold(text: str) -> str:
    """The text with each look-alike letter as the ASCII letter that it looks like."""
    return text if text.isascii() else text.translate(_FOLDED)


def find_letter(character: str) -> str | None:
    """The ASCII letter that another character looks like; None if there is none."""
    if character.isascii():
        return None
    # Wide and mathematical letters are folded by Unicode itself, so the table need not have them.
    folded = fold(unicodedata.normalize("NFKC", character))
    is_letter = len(folded) == 1 and folded.isascii() and folded.isalpha()
    return folded if is_letter else None
