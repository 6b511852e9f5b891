"""Digits are read as numbers, whatever else is in their place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.text.digits import find_number


@given(st.integers(0, 10**18 - 1))
def test_digits_are_the_number_they_stand_for(number: int) -> None:
    assert find_number(str(number)) == number


@pytest.mark.parametrize("text", ["", "-1", "1.0", "1_000", " 1", "²", "9" * 19, "9" * 5_000])
def test_any_other_text_is_no_number(text: str) -> None:
    assert find_number(text) is None
