"""The line of every key, in the three formats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.settings.formats.document import Format, find_line, list_lines, parse_settings
from prowess.settings.formats.key_spans import MOST_LEVELS
from tests.unit.settings.writers import DOCUMENTS, Json5Writer, TomlWriter, Writer, YamlWriter

WRITERS: dict[Format, type[Writer]] = {"toml": TomlWriter, "json5": Json5Writer, "yaml": YamlWriter}
FORMATS: tuple[Format, ...] = ("toml", "json5", "yaml")


@pytest.mark.parametrize("format_name", FORMATS)
@given(data=DOCUMENTS, random=st.randoms(use_true_random=False), windows=st.booleans())
def test_every_key_of_a_written_document_is_found_on_its_line(format_name, data, random, windows):
    writer = WRITERS[format_name](random)
    writer.write(data)  # type: ignore[attr-defined]
    text = writer.text.replace("\n", "\r\n") if windows else writer.text
    assert parse_settings(text, format_name, "file") == data
    assert list_lines(text, format_name) == writer.lines


@pytest.mark.parametrize("format_name", FORMATS)
@given(
    text=st.text() | st.text("ab01-.:=,#\"'[]{}/*\\&!|>?% \n\t\r"),
    path=st.lists(st.text(max_size=2), max_size=3),
)
def test_finding_a_line_never_raises_and_stays_inside_the_text(format_name, text, path):
    lines = list_lines(text, format_name)
    last = text.count("\n") + text.count("\r") + 1
    assert all(1 <= line <= last for line in lines.values())
    found = find_line(text, format_name, tuple(path))
    assert found is None or found in lines.values()


TOML = """\
# the first line
enabled = true
toggles.enableCodexUser = false
folders = [
  "a",  # ]
  '''b
c''', "d",
]

[skills."a.b".env]
KEY = "x"
[skills]
pdf = { enabled = false, env.A = "}", config = { list = [1, 2] } }
[skills."a.b"]
visibility = 'off'
[[extra]]
n = 1
[[extra]]
n = 2
[extra.deep]
m = 3
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("enabled", 2),
        ("toggles", 3),
        ("toggles enableCodexUser", 3),
        ("folders", 4),
        ("folders 0", 5),
        ("folders 1", 6),
        ("folders 2", 7),
        ("skills a.b env KEY", 11),
        ("skills", 12),
        ("skills pdf", 13),
        ("skills pdf env A", 13),
        ("skills pdf config list 1", 13),
        ("skills a.b", 14),
        ("skills a.b visibility", 15),
        ("extra 0 n", 17),
        ("extra 1", 18),
        ("extra 1 deep m", 21),
        ("skills a.b missing", 14),
        ("missing", None),
    ],
)
def test_a_key_of_toml_is_found(path, line):
    assert find_line(TOML, "toml", tuple(path.split())) == line


JSON5 = """\
// {"a": 1}
{
  "skills": { paths: ["~/x", // ]
    'y'],
    /* "urls": [
    */ "urls": []
  },
  'tab\\tle': {"twice": 1,
  "twice": 2}, last: 0x10,
}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("skills",), 3),
        (("skills", "paths"), 3),
        (("skills", "paths", "0"), 3),
        (("skills", "paths", "1"), 4),
        (("skills", "urls"), 6),
        (("tab\tle", "twice"), 9),
        (("last",), 9),
        (("last", "deeper"), 9),
        (("a",), None),
    ],
)
def test_a_key_of_json5_is_found(path, line):
    assert find_line(JSON5, "json5", path) == line


YAML = """\
# skills: no
---
skills:
  enabled: true # enabled: false
  "customDirectories":
  - ~/a
  - b
  text: |
    ignoredSkills: no

    - no
  ignoredSkills: ["a", 'b',
    {c: d}]
  plain: text that goes on
    over a line
  quoted: "with

    a: blank"
  'it''s': {x: 1, y: [2]}
disabledExtensions:
    - skill:x
    -
      name: y
      deep: &anchor
        z: 1
    - - one
      - two: 2
last: http://example.org:80/#a
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("skills", 3),
        ("skills enabled", 4),
        ("skills customDirectories", 5),
        ("skills customDirectories 1", 7),
        ("skills text", 8),
        ("skills ignoredSkills", 12),
        ("skills ignoredSkills 1", 12),
        ("skills ignoredSkills 2 c", 13),
        ("skills plain", 14),
        ("skills quoted", 16),
        ("skills it's y 0", 19),
        ("disabledExtensions 0", 21),
        ("disabledExtensions 1", 22),
        ("disabledExtensions 1 deep z", 25),
        ("disabledExtensions 2 0", 26),
        ("disabledExtensions 2 1 two", 27),
        ("last", 28),
        ("missing", None),
    ],
)
def test_a_key_of_yaml_is_found(path, line):
    assert find_line(YAML, "yaml", tuple(path.split())) == line


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        ("toml", "a = " + "[" * 100_000),
        ("toml", ".".join("a" * 100_000) + " = 1"),
        ("json5", '{"a":' * 100_000),
        ("yaml", "- " * 100_000),
        ("yaml", "a: [\n" * 100_000),
    ],
)
def test_text_that_nests_without_end_is_followed_only_so_far(format_name, text):
    assert max(len(path) for path in list_lines(text, format_name)) == MOST_LEVELS + 1


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        ("toml", '"' * 500_001),
        ("toml", 'a = """' + "\\" * 500_001),
        ("json5", "{'" + "\\" * 500_001),
        ("json5", "/*" * 250_000),
        ("yaml", "a" + " " * 500_000),
        ("yaml", "&" * 500_000),
        ("yaml", "a" + " :a" * 200_000),
        ("yaml", "a: '" + "''" * 250_000 + "x"),
    ],
)
def test_half_a_megabyte_of_nothing_is_scanned_at_once(format_name, text):
    assert len(list_lines(text, format_name)) <= MOST_LEVELS + 1
