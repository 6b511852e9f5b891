"""A short name for a text, the same in every process and on every machine."""

from __future__ import annotations

# A prime: the remainder depends on every byte.
_PRIME = (1 << 61) - 1


def compute_checksum(text: str) -> str:
    """Sixteen digits that differ for texts that differ, unless somebody makes them equal.

    Computed by hand: every command needs one, and loading zlib or hashlib takes a hundred times as
    long.
    """
    data = text.encode("utf-8", "replace")
    return f"{int.from_bytes(data, 'little') % _PRIME:016x}"
