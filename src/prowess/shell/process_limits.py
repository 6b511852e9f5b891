"""How much a program can be given: as one value, and with everything that it gets."""

from __future__ import annotations

from collections.abc import Iterable

# Linux takes 128 KiB for one value, with its name and the end of it; macOS takes 1 MiB for
# everything.
MOST_IN_ONE = 130_000
MOST_IN_ALL = 500_000


def explain_size(values: Iterable[str]) -> str | None:
    """What is too large to be given to a program, as the object of a sentence; None where nothing
    is.
    """
    sizes = [len(value.encode("utf-8", "surrogatepass")) for value in values]
    if max(sizes, default=0) > MOST_IN_ONE:
        return f"a value of {max(sizes):,} bytes, and a program can be given {MOST_IN_ONE:,} in one"
    if sum(sizes) > MOST_IN_ALL:
        return (
            f"values of {sum(sizes):,} bytes in total, and a program can be given {MOST_IN_ALL:,}"
        )
    return None
