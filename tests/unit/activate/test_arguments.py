"""Arguments become words: by blanks and quotes without losing any text, or as a host reads them."""

from __future__ import annotations

import pytest

from prowess.activate.body.arguments import (
    check_arguments,
    find_options,
    list_names,
    split_arguments,
    split_words,
)
from prowess.errors.activation import ArgumentRefused
from prowess.model.skill import DeclaredArgument


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


DECLARED = (
    DeclaredArgument(name="who", choices=("me", "you")),
    DeclaredArgument(name="count", pattern="[0-9]+", required=True),
)


@pytest.mark.parametrize(
    ("declared", "text", "sentence"),
    [
        (DECLARED, "me 3", None),
        (DECLARED, "you 3 and more", None),
        (DECLARED, "us 3", "The argument `who` of the skill is “us”; allowed: me, you."),
        (DECLARED, "me x", "The argument `count` of the skill is “x”; it must match `[0-9]+`."),
        (DECLARED, "me", "The argument `count` of the skill is missing; it must match `[0-9]+`."),
        (DECLARED, "", "The argument `count` of the skill is missing; it must match `[0-9]+`."),
        (
            (DeclaredArgument(name="who", required=True),),
            "",
            "The argument `who` of the skill is missing; it is required.",
        ),
        (
            (DeclaredArgument(name="ARGUMENTS", pattern="[a-z ]*"),),
            "a b 1",
            "The argument `ARGUMENTS` of the skill is “a b 1”; it must match `[a-z ]*`.",
        ),
        (
            (DeclaredArgument(name="who", problem="`x` is wrong"),),
            "a",
            "The argument `who` of the skill is “a”; no value is allowed, because `x` is wrong.",
        ),
    ],
)
def test_arguments_are_compared_with_what_the_header_declares(declared, text, sentence):
    names = list_names(("who", "count"))
    if sentence is None:
        check_arguments(declared, names, split_words(text), text)
        return
    with pytest.raises(ArgumentRefused) as caught:
        check_arguments(declared, names, split_words(text), text)
    assert str(caught.value) == sentence


def test_what_holds_for_the_first_argument_holds_for_the_whole_text():
    names = list_names(("who", "count"))
    first, second, whole = (
        DeclaredArgument(name=name, options=True) for name in ("who", "count", "ARGUMENTS")
    )
    assert find_options((first,), names) == {0, -1}
    assert find_options((second,), names) == {1}
    assert find_options((whole,), names) == {-1}
    assert find_options(DECLARED, names) == frozenset()
