"""Unknown keys that are nearly known ones: another spelling, or a typing error."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from posixpath import commonprefix

from prowess.diagnostics import Diagnostic, Severity, diagnose

MOST_LOOKED_UP = 200
"""At most this many unknown keys of one header are compared with the known ones."""

# The longest field has less than half of these; a longer key is no slip of the finger.
_MOST_LETTERS = 64

# Words of their own, however close they are to a field.
_OTHER_WORDS = frozenset(
    "mode modes modal content contents contest required shelf installed installer event".split()
)
# An error in a short word usually makes another word; a long one may have two.
_SHORT, _LONG = 5, 9


@lru_cache(maxsize=4096)
def find_near(key: str, known: tuple[str, ...], *, among_few: bool = False) -> str | None:
    """The known key that was meant by an unknown one, if there is hardly a doubt.

    Keys that differ only in case, `-` and `_` are the same. Otherwise one typing error is forgiven,
    two in a long word, and none in a short one unless the key is `among_few`, where other words are
    not expected.
    """
    word = _fold(key)
    if not word or len(key) > _MOST_LETTERS:
        return None
    # Reversed, so that the first of two keys that fold alike is suggested.
    folded = {_fold(known_key): known_key for known_key in reversed(known)}
    if word in folded:
        return folded[word]
    if not among_few:
        # A field such as `agents` is meant as written.
        is_plural = word[:-1] in folded
        if is_plural or word in _OTHER_WORDS:
            return None
    allowed = {other: _count_allowed(word, other, among_few=among_few) for other in folded}
    # A key that is one error away is more likely than any that is two away.
    for errors in (1, 2):
        for other, most_errors in allowed.items():
            if errors <= most_errors and _is_within(word, other, errors):
                return folded[other]
    return None


def _fold(key: str) -> str:
    return key.lower().replace("-", "").replace("_", "").replace(" ", "")


def _count_allowed(word: str, other: str, *, among_few: bool) -> int:
    """How many typing errors may lie between two words."""
    if abs(len(word) - len(other)) > 2:
        return 0
    if len(other) < _SHORT and not among_few:
        # Swapped letters make no other word.
        has_same_letters = sorted(word) == sorted(other)
        return 1 if has_same_letters else 0
    return 2 if len(other) >= _LONG else 1


def _is_within(one: str, other: str, errors: int) -> bool:
    """Whether so many letters left out, added, replaced or swapped turn one word into the other."""
    same = len(commonprefix((one, other)))
    one, other = one[same:], other[same:]
    if errors == 0 or not one or not other:
        return len(one) + len(other) <= errors
    # The first letters differ, so one of these happened here: swapped, added, left out, replaced.
    other_two_swapped = other[1::-1]
    is_swap = len(one) > 1 and one[:2] == other_two_swapped
    if is_swap and _is_within(one[2:], other[2:], errors - 1):
        return True
    rest_of_one, rest_of_other = one[1:], other[1:]
    added = (rest_of_one, other)
    left_out = (one, rest_of_other)
    replaced = (rest_of_one, rest_of_other)
    pairs = (added, left_out, replaced)
    return any(_is_within(left, right, errors - 1) for left, right in pairs)


def report_misspelt(
    keys: Iterable[str],
    known: tuple[str, ...],
    findings: list[Diagnostic],
    *,
    prefix: str = "",
    among_few: bool = False,
) -> None:
    """Warn about every key that was meant to be a known one."""
    for key in keys:
        near = find_near(key, known, among_few=among_few)
        if near is not None:
            findings.append(describe_misspelt(prefix + key, prefix + near))


def describe_misspelt(key: str, near: str) -> Diagnostic:
    """The warning about a key that was meant to be another one."""
    message = f"Unknown field `{key}`; did you mean `{near}`?"
    return diagnose("field-unknown", message, field=key, severity=Severity.WARNING)
