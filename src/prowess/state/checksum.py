"""A short name for some bytes, the same in every process and on every machine."""

from __future__ import annotations

# A prime: the remainder depends on every byte.
_PRIME = (1 << 61) - 1


def compute_checksum(data: bytes) -> str:
    """Sixteen digits that differ for bytes that differ, unless somebody makes them equal.

    Computed by hand: every command needs one, and loading zlib or hashlib takes a hundred times as
    long.
    """
    return f"{int.from_bytes(data, 'little') % _PRIME:016x}"
