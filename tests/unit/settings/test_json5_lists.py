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
