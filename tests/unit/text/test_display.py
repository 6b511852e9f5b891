"""Text that is safe to print, short paths, counted nouns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.text.display import count_words, escape_line, escape_text, first_line, shorten_path


@given(st.text())
def test_escaped_text_never_controls_a_terminal_and_plain_text_is_untouched(text):
    escaped = escape_text(text)
    assert all(one in "\n\t\u200c\u200d" or ord(one) >= 32 for one in escaped)
    assert not any(
        "\x7f" <= one <= "\x9f" or "\u2028" <= one <= "\u202e" or "\u2066" <= one <= "\u2069"
        for one in escaped
    )
    assert escape_text(escaped) == escaped
    assert "\n" not in escape_line(text)
    assert first_line(text) == first_line(text.strip())
    if text.isprintable():
        assert escaped == text


def test_joined_emoji_and_scripts_stay_whole():
    family = "👩\u200d👩\u200d👧 نمی\u200cخواهم ❤️"
    assert escape_text(family) == family


def test_small_words_and_numbers():
    assert [count_words(number, "skill") for number in (0, 1, 2, 1200)] == [
        "0 skills",
        "1 skill",
        "2 skills",
        "1,200 skills",
    ]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/me/p/a", "a"),
        ("/home/me/p", "."),
        ("/home/me/x", "~/x"),
        ("/home/me", "~"),
        ("/home/me2/x", "/home/me2/x"),
        ("/etc/\x1b", "/etc/\\x1b"),
    ],
)
def test_a_path_is_relative_inside_the_working_folder_and_has_a_tilde_inside_home(path, shown):
    assert shorten_path(path, cwd="/home/me/p", home="/home/me") == shown


def test_a_path_stays_whole_without_folders_or_where_a_folder_is_the_root():
    assert shorten_path("/a/b") == "/a/b"
    assert shorten_path("/a/b", cwd="/", home="/") == "/a/b"
