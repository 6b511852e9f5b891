"""Descriptions are shortened with a mark, at a sentence or at a word."""

from __future__ import annotations

import pytest

from prowess.present.budget import cut_at_sentence, cut_with_dots, cut_with_ellipsis


def test_the_mark_counts_among_the_characters():
    assert cut_with_ellipsis("abcdef", 4) == "abc…"
    assert cut_with_dots("abcdef", 4) == "a..."


def test_a_text_that_fits_is_not_touched():
    assert cut_with_ellipsis("abcd", 4) == "abcd"
    assert cut_with_dots("abcd", 4) == "abcd"


def test_where_not_even_the_mark_fits_nothing_is_left():
    assert (cut_with_ellipsis("abc", 0), cut_with_dots("abcd", 2)) == ("", "")


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Short text.", "Short text."),
        (
            f"Reads every kind of table there is in a file. {'More about it. ' * 9}",
            "Reads every kind of table there is in a file.",
        ),
        (f"Yes. {'word ' * 40}", f"Yes. {'word ' * 19}".rstrip() + "…"),
        (f"{'x' * 150}", f"{'x' * 99}…"),
        (
            "把表格从文件里读出来并检查每一行。" + "然后再做别的事情" * 20,
            "把表格从文件里读出来并检查每一行。",
        ),
    ],
)
def test_a_long_text_ends_with_its_first_sentence_or_at_a_word(text, cut):
    assert cut_at_sentence(text, 100) == cut
