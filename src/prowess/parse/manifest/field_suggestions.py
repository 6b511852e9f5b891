"""Keys that are nearly known: another way of writing one, or a slip of the keyboard."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from prowess.diagnostics import Diagnostic, Severity, diagnose

MOST_LOOKED_UP = 200
"""So many unknown keys of one header are compared with the known ones; nobody means more."""

# Words of their own, however close they are to a field.
_OTHER_WORDS = frozenset(
    "mode modes modal content contents contest required shelf installed installer event".split()
)
# A slip in a short word makes another word more often than not; a long one may hold two.
_SHORT, _LONG = 5, 9


@lru_cache(maxsize=4096)
def find_near(key: str, known: tuple[str, ...], *, among_few: bool = False) -> str | None:
    """The known key that was meant by an unknown one, where there is hardly a doubt.

    Keys that are written alike but for case, `-` and `_` are the same word. Otherwise one slip is
    forgiven, two in a long word, and none in a short one unless the key stands `among_few`, where
    other words are not expected.
    """
    word = _fold(key)
    if not word or len(key) > 64:
        return None
    folded = {_fold(one): one for one in reversed(known)}
    if word in folded:
        return folded[word]
    if not among_few and (word in _OTHER_WORDS or word[:-1] in folded):
        # More than one of what a field holds, such as `agents`, is meant as that.
        return None
    for slips in (1, 2):
        for other, one in folded.items():
            if slips <= _allowed(word, other, among_few=among_few) and _is_within(
                word, other, slips
            ):
                return one
    return None


def _fold(key: str) -> str:
    return key.lower().replace("-", "").replace("_", "").replace(" ", "")


def _allowed(word: str, other: str, *, among_few: bool) -> int:
    """How many slips may lie between two words."""
    if abs(len(word) - len(other)) > 2:
        return 0
    if len(other) < _SHORT and not among_few:
        # Letters that changed places make no other word.
        return 1 if sorted(word) == sorted(other) else 0
    return 2 if len(other) >= _LONG else 1


def _is_within(one: str, other: str, slips: int) -> bool:
    """Whether so many letters left out, put in, replaced or swapped make one word of the other."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    if slips == 0 or not (one and other):
        return len(one) + len(other) <= slips
    if one[:2] == other[1::-1] and len(one) > 1 and _is_within(one[2:], other[2:], slips - 1):
        return True
    rests = ((one[1:], other), (one, other[1:]), (one[1:], other[1:]))
    return any(_is_within(left, right, slips - 1) for left, right in rests)


def report_misspelt(
    keys: Iterable[str],
    known: tuple[str, ...],
    found: list[Diagnostic],
    *,
    prefix: str = "",
    among_few: bool = False,
) -> None:
    """Warn of every key that was meant to be a known one."""
    for key in keys:
        near = find_near(key, known, among_few=among_few)
        if near is not None:
            message = f"`{prefix}{key}` is not a known field; `{prefix}{near}` is."
            found.append(
                diagnose("field-unknown", message, field=prefix + key, severity=Severity.WARNING)
            )
