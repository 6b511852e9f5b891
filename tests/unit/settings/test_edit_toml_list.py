"""Entries added to a list in prowess.toml and taken out of it: nothing else changes."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import ProwessError
from prowess.settings.edit.toml import add_entry, remove_entries


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('disabled = ["a"]', "disabled = []"),
        ('disabled = ["a", "b"] # these', 'disabled = ["b"] # these'),
        ('disabled = ["b", "a"]', 'disabled = ["b"]'),
        ('disabled = ["b", "a", "c"]', 'disabled = ["b", "c"]'),
        ('disabled = [ "b" , "a" ]', 'disabled = [ "b"  ]'),
        ("disabled = ['a', \"skill:a\"]", "disabled = []"),
        (
            'disabled = [\n  "b", # stays\n  "a", # goes\n  "c",\n]\n',
            'disabled = [\n  "b", # stays\n  "c",\n]\n',
        ),
        ('disabled = [\n  "b",\n  "a"\n]\n', 'disabled = [\n  "b",\n]\n'),
        ('disabled = [\r\n  "a",\r\n  "c",\r\n]\r\n', 'disabled = [\r\n  "c",\r\n]\r\n'),
        ('\ufeffdisabled = ["a"]', "\ufeffdisabled = []"),
        ('# "a"\nignore = ["a"]\ndisabled = ["a"]', '# "a"\nignore = ["a"]\ndisabled = []'),
        ('disabled = ["b"]', 'disabled = ["b"]'),
        ("enabled = true", "enabled = true"),
    ],
)
def test_an_entry_goes_and_the_rest_stays(before, after):
    assert remove_entries(before, "disabled", ("a", "skill:a")) == after


def test_text_that_is_no_toml_is_an_error():
    with pytest.raises(ProwessError):
        remove_entries("disabled = [", "disabled", ("a",))


@given(
    st.lists(st.sampled_from(["a", "b", "c", "x y", 'quo"te'])),
    st.sampled_from([", ", ",", " , ", ",\n", ", # why\n  "]),
    st.sampled_from(["", " ", "\n  "]),
)
def test_whatever_the_list_looks_like_exactly_the_entry_goes(entries, between, pad):
    import json

    text = f"x = 1\ndisabled = [{pad}{between.join(map(json.dumps, entries))}{pad}]\ny = 2\n"
    data = tomllib.loads(remove_entries(text, "disabled", ("a",)))
    assert data == {"x": 1, "disabled": [entry for entry in entries if entry != "a"], "y": 2}


@pytest.mark.parametrize(
    ("text", "path", "entry", "expected"),
    [
        ("", ("a",), '"x"', 'a = ["x"]\n'),
        ("a = []\n", ("a",), '"x"', 'a = ["x"]\n'),
        ("a = [1] # why\n", ("a",), "2", "a = [1, 2] # why\n"),
        ("a = [1,]\n", ("a",), "2", "a = [1, 2,]\n"),
        ("a = [\n  1, # one\n]\n", ("a",), "2", "a = [\n  1, # one\n  2,\n]\n"),
        ("a = [\n  1 # one\n]\n", ("a",), "2", "a = [\n  1, # one\n  2\n]\n"),
        ("a = [\n  1\n]\n", ("a",), "2", "a = [\n  1,\n  2\n]\n"),
        ("[t]\nb = 1\n", ("t", "a"), "2", "[t]\na = [2]\nb = 1\n"),
        ("x = 1\n", ("h",), {"e": '"s"'}, 'x = 1\n\n[[h]]\ne = "s"\n'),
        ("[[h]]\ne = 1\n", ("h",), {"e": "2"}, "[[h]]\ne = 1\n\n[[h]]\ne = 2\n"),
    ],
)
def test_an_entry_goes_to_the_end_of_its_list_and_the_rest_stays(text, path, entry, expected):
    assert add_entry(text, path, entry) == expected


def test_a_list_that_cannot_be_edited_safely_is_left_to_the_user():
    with pytest.raises(ProwessError, match=r"can.t add to `h` safely"):
        add_entry("h = [{ e = 1 }]\n", ("h",), {"e": "2"})


def test_what_is_not_a_list_gets_no_entry():
    with pytest.raises(ProwessError, match="`a` is not a list"):
        add_entry("a = 1\n", ("a",), "2")


@pytest.mark.parametrize("text", ["t = 1\n", "t = []\n", "[[t]]\na = 1\n"])
def test_a_list_below_what_is_no_table_gets_no_entry(text):
    with pytest.raises(ProwessError, match=r"`t\.a` can.t be set: a key above it is not a table"):
        add_entry(text, ("t", "a"), "2")
