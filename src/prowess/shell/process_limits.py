"""What a program can be given: no NUL, whole characters, and not too much of them."""

from __future__ import annotations

from collections.abc import Iterable

# Linux takes 128 KiB for one value, with its name and the end of it; macOS takes 1 MiB for all.
MOST_IN_ONE = 130_000
MOST_IN_ALL = 500_000


def find_ungivable(values: Iterable[str]) -> str | None:
    """What cannot be given to a program, as the object of a sentence; None where all can be."""
    sizes = []
    for value in values:
        if "\0" in value:
            return "a NUL character, which cannot be passed to a program"
        try:
            # As Python hands them to programs: bytes that are no UTF-8 survive as they are.
            sizes.append(len(value.encode("utf-8", "surrogateescape")))
        except UnicodeEncodeError:
            return "an unpaired surrogate, which cannot be passed to a program"
    largest, total = max(sizes, default=0), sum(sizes)
    if largest > MOST_IN_ONE:
        return f"a value of {largest:,} bytes; the limit is {MOST_IN_ONE:,}"
    if total > MOST_IN_ALL:
        return f"values of {total:,} bytes in total; the limit is {MOST_IN_ALL:,}"
    return None
