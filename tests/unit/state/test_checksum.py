"""Short names for bytes, which must stay the same from one process to the next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prowess.state.checksum import compute_checksum

BYTES = st.binary()


def test_a_name_is_the_same_in_every_process() -> None:
    assert compute_checksum(b"ab") == "0000000000006261"


@given(BYTES)
def test_a_name_is_a_short_file_name(data: bytes) -> None:
    name = compute_checksum(data)
    assert len(name) == 16
    assert set(name) <= set("0123456789abcdef")


@given(BYTES, st.integers(0, 200), st.integers(1, 255))
def test_one_other_byte_gives_another_name(data: bytes, at: int, change: int) -> None:
    at %= len(data) + 1
    other = (data + b"\0")[:at] + bytes([(data + b"\0")[at] ^ change]) + data[at + 1 :]
    assert compute_checksum(other) != compute_checksum(data)
