"""Adding and removing entries of a list in a host's JSON file."""

from __future__ import annotations

import pytest

from prowess.settings.edit.json5 import add_json5_entry, remove_json5_entry

PATH = ("skills", "disabled")
LINES = """{
  // mine
  "skills": {
    "disabled": [
      "a",
      "b"
    ]
  }
}
"""


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("", '{\n  "skills": {\n    "disabled": [\n      "x"\n    ]\n  }\n}\n'),
        ('{"skills": {"disabled": []}}', '{"skills": {"disabled": ["x"]}}'),
        ('{"skills": {"disabled": ["a"]}}', '{"skills": {"disabled": ["a", "x"]}}'),
        ('{"skills": {"disabled": ["a",]}}', '{"skills": {"disabled": ["a", "x"]}}'),
        ('{"skills": {"disabled": ["x"]}}', '{"skills": {"disabled": ["x"]}}'),
        (LINES, LINES.replace('"b"', '"b",\n      "x"')),
        ('{"skills": {"disabled": "a"}}', None),
    ],
)
def test_an_entry_is_added_at_the_end(text, edited):
    assert add_json5_entry(text, PATH, "x", file="f") == edited


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("{}", "{}"),
        ('{"skills": {"disabled": ["x"]}}', '{"skills": {"disabled": []}}'),
        ('{"skills": {"disabled": ["x", "a"]}}', '{"skills": {"disabled": ["a"]}}'),
        ('{"skills": {"disabled": ["a", "x"]}}', '{"skills": {"disabled": ["a"]}}'),
        ('{"skills": {"disabled": ["X", "x"]}}', '{"skills": {"disabled": ["X"]}}'),
        ('{"skills": {"disabled": ["a", "X"]}}', '{"skills": {"disabled": ["a"]}}'),
        (LINES.replace('"a"', '"x"'), LINES.replace('"a",\n      ', "")),
    ],
)
def test_an_entry_is_removed_with_its_comma(text, edited):
    assert remove_json5_entry(text, PATH, "x", file="f") == edited


def make_list(*lines: str) -> str:
    listed = "".join(f"      {line}\n" for line in lines)
    return f'{{\n  "skills": {{\n    "disabled": [\n{listed}    ]\n  }}\n}}\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (['"a" // about a'], ['"a", // about a', '"x"']),
        (['"a", // about a'], ['"a", // about a', '"x"']),
        (['"a" /* one */ // two'], ['"a", /* one */ // two', '"x"']),
        (['"a"', "// about nothing"], ['"a",', '"x"', "// about nothing"]),
    ],
)
def test_a_comment_stays_with_its_entry_when_another_is_added(before, after):
    edited = add_json5_entry(make_list(*before), PATH, "x", file="f")
    assert edited == make_list(*after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (['"a", // about a', '"x"'], ['"a" // about a']),
        (['"a", // about a', '"x" // about x'], ['"a" // about a']),
        (['"a",', '"x", // about x'], ['"a",']),
        (['"x", // about x', "// about a", '"a"'], ["// about a", '"a"']),
        (['"x", /* about', "a */", '"a"'], ["/* about", "a */", '"a"']),
        (['"x" // about x'], []),
    ],
)
def test_a_comment_on_another_entry_stays_when_one_is_removed(before, after):
    edited = remove_json5_entry(make_list(*before), PATH, "x", file="f")
    assert edited == make_list(*after)


def test_a_comment_stays_where_the_list_ends_on_the_line_of_the_entry():
    text = '{"skills": {"disabled": ["a", // about a\n"x"]}}'
    edited = '{"skills": {"disabled": ["a" // about a\n]}}'
    assert remove_json5_entry(text, PATH, "x", file="f") == edited


def test_a_byte_order_mark_stays():
    text = '\ufeff{"skills": {"disabled": ["a"]}}'
    longer = '\ufeff{"skills": {"disabled": ["a", "x"]}}'
    assert add_json5_entry(text, PATH, "x", file="f") == longer
    assert remove_json5_entry(longer, PATH, "x", file="f") == text
