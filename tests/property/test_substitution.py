"""Laws of filling a body: what has no placeholder stays, what is put in is not read again, and no
text is lost.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.activate.body.arguments import split_words
from prowess.activate.body.substitution import Given, Substitution, substitute
from prowess.errors.activation import CommandRefused
from prowess.model.facts import Facts
from prowess.profiles.load import known_hosts, load_profile
from prowess.profiles.schema.profile import Profile
from prowess.shell.command_runner import Draft, Surroundings, draft_body
from prowess.shell.embedded_commands import find_commands
from prowess.testing import make_facts

PROFILES = [load_profile(host) for host in (*known_hosts(), "claude-code@documented")]
OWN = load_profile("prowess")
FACTS = make_facts()

# Text in which the characters that mean something are far more frequent than chance would have
# them.
PIECES = [
    "$",
    "$0",
    "$1",
    "$ARGUMENTS",
    "$ARGUMENTS[0]",
    "$who",
    "${SKILL_DIR}",
    "\\",
    "!",
    "`",
    "!`",
    "```",
    "```!",
    "\n",
]
PIECES += [
    "'",
    '"',
    " ",
    "\t",
    ";",
    "#",
    "(",
    ")",
    "[",
    "{",
    "a=",
    "&&",
    "it's",
    "é",
    "\u2028",
    "~~~",
    "> ",
    "- ",
]
texts = st.one_of(
    st.text(), st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=25).map("".join)
)
profiles = st.sampled_from(PROFILES)


def draft(
    body: str, arguments: str, profile: Profile = OWN, facts: Facts = FACTS, **options: str
) -> Draft:
    given_ = Given(arguments=arguments, folder="/s", session="c", project="/p", effort="low")
    around = Surroundings(facts=facts, cwd=options.get("cwd"))
    return draft_body(
        body,
        given_,
        around,
        arguments=profile.arguments,
        embedded=profile.embedded,
        names=("who", "what"),
    )


@given(texts, profiles)
def test_a_body_without_a_placeholder_stays_as_it_is(body: str, profile: Profile) -> None:
    body = body.replace("$", "S")
    assert substitute(body, profile.arguments, Given(folder="/s"), names=("who",)) == (body, ())


@given(texts, texts, profiles)
def test_arguments_are_added_or_put_in_but_never_both_and_never_lost(
    body: str, arguments: str, profile: Profile
) -> None:
    plain = body.replace("$", "S")
    raw = arguments.strip()
    text, _ = substitute(plain, profile.arguments, Given(arguments=arguments))
    added = {"labelled": f"\n\nARGUMENTS: {raw}", "plain": f"\n\n{raw}", "never": ""}[
        profile.arguments.append
    ]
    if not profile.arguments.guard_marks:
        assert text == plain + (added if raw else "")
    if profile.arguments.placeholders and raw and not profile.arguments.guard_marks:
        # A blank before it, since a body that ends with a backslash would escape it.
        assert (
            substitute(f"{plain} $ARGUMENTS", profile.arguments, Given(arguments=raw))[0]
            == f"{plain} {raw}"
        )


@given(texts)
def test_prowess_s_words_hold_every_character_of_the_arguments_but_blanks_and_grouping_quotes(
    text: str,
) -> None:
    words = split_words(text)
    left = iter("".join(text.split()))
    kept = "".join("".join(words).split())
    dropped = []
    for character in kept:
        for found in left:
            if found == character:
                break
            dropped.append(found)
        else:
            pytest.fail(f"{character!r} is not in the arguments")
    dropped += list(left)
    assert set(dropped) <= {'"', "'"}
    assert len(dropped) % 2 == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), max_size=6))
def test_words_without_blanks_and_quotes_come_back_as_they_were(words: list[str]) -> None:
    plain = [re.sub(r"[\s\"']", "x", word) for word in words]
    assert split_words(" ".join(plain)) == tuple(plain)


@given(texts, texts, profiles)
def test_filling_never_raises_and_never_reads_what_it_put_in(
    body: str, arguments: str, profile: Profile
) -> None:
    """What a placeholder became is found again, whole and in order, between the pieces of the body."""
    filling = Substitution(
        profile.arguments, Given(arguments=arguments, folder="/s"), names=("who",)
    )
    references = list(filling.find_references(body))
    assert [reference.start for reference in references] == sorted(
        {reference.start for reference in references}
    )
    expected, place = [], 0
    for reference in references:
        assert place <= reference.start < reference.end <= len(body)
        expected += [body[place : reference.start], reference.value]
        place = reference.end
    if not profile.arguments.guard_marks:
        assert filling.fill(body) == "".join(expected) + body[place:]


@given(texts, texts, texts)
def test_arguments_make_no_commands_and_unmake_none(body: str, one: str, other: str) -> None:
    texts = [command.text for command in find_commands(body).commands]
    for arguments in (one, other):
        try:
            assert [command.text for command in draft(body, arguments).commands] == texts
        except CommandRefused as refused:
            assert refused.command in texts


@given(texts)
def test_commands_do_not_overlap_and_stand_where_they_are_said_to_stand(body: str) -> None:
    place = 0
    for command in find_commands(body).commands:
        assert place <= command.start < command.end <= len(body)
        assert body.startswith(("!`", "```!"), command.start)
        assert body.endswith("`", 0, command.end)
        assert command.text.split("\n")[0] in body.split("\n")[command.line - 1]
        place = command.end
