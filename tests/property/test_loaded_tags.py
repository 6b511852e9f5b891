"""A loaded skill is recognised in the messages as long as it is whole, and nothing else is."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from prowess.activate.ledger import digest_activation
from prowess.activate.loaded_tags import add_tag, find_loaded, find_survivors_in
from prowess.text.markup import escape_tags

DIGEST = "0123456789abcdef" * 2
# Texts that look like tags, beside any others.
PIECES = st.sampled_from(
    [
        "<skill_loaded ",
        f'\n<skill_loaded name="x" digest="{DIGEST}" text="{DIGEST[:16]}" characters="3"/>',
        'characters="0"/>',
        "</skill_loaded>",
        "< SKILL_LOADED",
        "\n\n",
        "\n",
        '"',
    ]
)
TEXTS = st.lists(st.one_of(st.text(max_size=20), PIECES), max_size=8).map("".join)
NAMES = st.text(max_size=20)


@given(NAMES, TEXTS, st.integers(min_value=0, max_value=3))
def test_what_is_whole_is_found_exactly_once(name: str, text: str, media: int) -> None:
    written = add_tag(text, name=name, digest=DIGEST, media=media)
    (found,) = find_loaded([written])
    assert (found.digest, found.has_media) == (DIGEST, media > 0)
    assert found.text == escape_tags(text, "skill_loaded")


@given(TEXTS)
def test_text_without_a_tag_of_ours_is_nothing(text: str) -> None:
    assert list(find_loaded([escape_tags(text, "skill_loaded")])) == []


@given(TEXTS.filter(bool), st.data())
def test_what_was_shortened_anywhere_is_not_found(text: str, data: st.DataObject) -> None:
    written = add_tag(text, name="x", digest=DIGEST)
    start = data.draw(st.integers(min_value=0, max_value=len(written) - 2))
    end = data.draw(st.integers(min_value=start + 1, max_value=len(written) - 1))
    shortened = written[:start] + written[end:]
    for found in find_loaded([shortened]):
        # Only a number or a name in the tag itself can be shortened without a trace in the text.
        assert found.text == escape_tags(text, "skill_loaded")


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_all_that_was_given_back_is_found_oldest_first(texts: list[str]) -> None:
    letters = string.hexdigits[: len(texts)]
    parts = [
        add_tag(text, name=letter, digest=letter * 32)
        for letter, text in zip(letters, texts, strict=True)
    ]
    found = list(find_survivors_in("\n\n".join(("They were loaded.", *parts))))
    assert [one.digest[0] for one in found] == list(reversed(letters))
    assert [one.text for one in found] == [
        escape_tags(text, "skill_loaded") for text in reversed(texts)
    ]


@given(st.tuples(NAMES, NAMES, NAMES, NAMES), st.tuples(NAMES, NAMES, NAMES, NAMES))
def test_what_differs_in_anything_has_another_digest(
    one: tuple[str, str, str, str], other: tuple[str, str, str, str]
) -> None:
    digests = [
        digest_activation(name, digest=digest, location=location, arguments=arguments)
        for name, digest, location, arguments in (one, other)
    ]
    assert (digests[0] == digests[1]) is (one == other)


@given(TEXTS.filter(bool), st.data())
def test_a_changed_text_of_the_same_length_is_not_found(text: str, data: st.DataObject) -> None:
    body = escape_tags(text, "skill_loaded")
    place = data.draw(st.integers(min_value=0, max_value=len(body) - 1))
    written = add_tag(text, name="x", digest=DIGEST)
    changed = f"{written[:place]}{'b' if written[place] == 'a' else 'a'}{written[place + 1 :]}"
    assert list(find_survivors_in(f"They were loaded.\n\n{changed}")) == []
    assert list(find_loaded([changed])) == []
