"""Short names for texts, which must stay the same from one process to the next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prowess.state.checksum import compute_checksum

TEXTS = st.text(st.characters(exclude_characters="\0"))


def test_a_name_is_the_same_in_every_process() -> None:
    assert compute_checksum("ab") == "0000000000006261"


@given(TEXTS)
def test_a_name_is_a_short_file_name(text: str) -> None:
    name = compute_checksum(text)
    assert len(name) == 16
    assert set(name) <= set("0123456789abcdef")


@given(TEXTS, st.characters(exclude_characters="\0"), st.integers(0, 200))
def test_one_more_character_gives_another_name(text: str, character: str, at: int) -> None:
    longer = text[:at] + character + text[at:]
    assert compute_checksum(longer) != compute_checksum(text)
