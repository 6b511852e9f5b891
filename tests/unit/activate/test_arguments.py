"""Arguments become words: by blanks and quotes without losing any text, or as a host reads them."""

from __future__ import annotations

import pytest

from prowess.activate.body.arguments import list_names, split_arguments


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        ("   ", ()),
        ("one", ("one",)),
        ("  one \t two\nthree ", ("one", "two", "three")),
        ("it's a test", ("it's", "a", "test")),
        ('say "hello world" twice', ("say", "hello world", "twice")),
        ("'it's fine' now", ("it's fine", "now")),
        ('"" x', ("", "x")),
        ('"never closed', ('"never', "closed")),
        ('a="b c" d', ('a="b', 'c"', "d")),
        ('{"k": "v w"}', ('{"k":', '"v', 'w"}')),
        ('5" x 6" board', ('5"', "x", '6"', "board")),
        (r'"c\"d" e', (r"c\"d", "e")),
        ("a && b; c | d > e # f", ("a", "&&", "b;", "c", "|", "d", ">", "e", "#", "f")),
        ("(x) [y z]", ("(x)", "[y", "z]")),
        ("天气 北京", ("天气", "北京")),
    ],
)
def test_prowess_loses_no_text(text: str, words: tuple[str, ...]) -> None:
    assert split_arguments(text, "words") == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ()),
        ('"two words" x', ("two words", "x")),
        ("it's a test", ("it's a test",)),
        ("a b it's c d", ("a", "b", "it's c d")),
        ("a; b", ("a",)),
        ("a|b", ("a",)),
        ("a > b", ("a",)),
        ("a && b", ("a",)),
        ("a # b", ("a",)),
        ("a#b c", ("a#b", "c")),
        ("a\nb", ("a",)),
        ("a (x y) b", ("a", "b")),
        ("a (never closed b", ("a",)),
        ('a="b c" d', ("d",)),
        ('x a="b c"', ("x", "a=b c")),
        ("[a b]", ("b]",)),
        ("x [a b]", ("x", "[a", "b]")),
        (r"a\ b", ("a b",)),
        (r"\"x", (r"\"x",)),
        (r'"c\"d"', (r"c\"d",)),
        ("'a b'c d", ("'a b'c", "d")),
        ("d 'a b'c", ("d", "a bc")),
        ("a *.md {b,c} ~", ("a", "*.md", "{b,c}", "~")),
        ("$HOME $USER x$y", ("$HOME", "x$y")),
        ("a $(b c) d$(e f)", ("a", "d$(e f)")),
    ],
)
def test_claude_code_reads_arguments_like_a_line_of_shell(
    text: str, words: tuple[str, ...]
) -> None:
    assert split_arguments(text, "shell") == words


def test_a_name_of_digits_is_dropped_and_the_names_after_it_move_up() -> None:
    assert list_names(["1", "issue", "22", "branch.name", "issue"]) == {
        "issue": 0,
        "branch.name": 1,
    }


@pytest.mark.parametrize("strategy", ["words", "shell"])
@pytest.mark.parametrize("piece", ['"a ', "'a ", "(a ", "$(a ", '\\"a ', '"a" ', "` ` ", '"\'" '])
def test_long_arguments_take_no_longer_than_their_length_asks(strategy: str, piece: str) -> None:
    text = piece * 50_000
    assert len(split_arguments(text, strategy)) <= 100_000  # type: ignore[arg-type]
