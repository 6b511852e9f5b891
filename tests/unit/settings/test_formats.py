"""Settings as text: what each format reads, and the line of what it cannot read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import SettingError
from prowess.settings.formats.document import parse_settings
from prowess.settings.formats.json5 import parse_json5
from prowess.settings.formats.toml import parse_toml
from prowess.settings.formats.yaml import parse_yaml

FORMATS = ("toml", "json5", "yaml")


def problem(format_name, text):
    with pytest.raises(SettingError) as raised:
        parse_settings(text, format_name, "/f")
    return str(raised.value)


@pytest.mark.parametrize(
    ("format_name", "text"),
    [
        ("toml", ""),
        ("toml", "\ufeff# nothing\n"),
        ("json5", ""),
        ("json5", "\ufeff // nothing\n/* here */"),
        ("json5", "{}"),
        ("yaml", ""),
        ("yaml", "\ufeff# nothing\n---\n"),
        ("yaml", "{}"),
    ],
)
def test_a_file_without_settings_is_an_empty_table(format_name, text):
    assert parse_settings(text, format_name, "/f") == {}


def test_toml_is_read():
    text = '\ufeffa.b = [1, 2.5]\r\n[c]\r\n"d e" = true\r\n'
    assert parse_toml(text, "/f") == {"a": {"b": [1, 2.5]}, "c": {"d e": True}}


def test_json_with_comments_trailing_commas_and_bare_keys_is_read():
    text = """// a comment
    {"a": [1, 2,], /* another */ b: 'it"s', "c": {d: null, e: 0x10,},}"""
    assert parse_json5(text, "/f") == {"a": [1, 2], "b": 'it"s', "c": {"d": None, "e": 16}}


def test_yaml_is_read_with_words_as_words_and_keys_as_texts():
    text = (
        "a: yes\nb: true\n1: [x, {2: 3}]\nfalse: off\n~: nothing\nd: 2026-01-02\nx: &x [1]\ny: *x\n"
    )
    assert parse_yaml(text, "/f") == {
        "a": "yes",
        "b": True,
        "1": ["x", {"2": 3}],
        "false": "off",
        "null": "nothing",
        "d": "2026-01-02",
        "x": [1],
        "y": [1],
    }


@pytest.mark.parametrize(
    ("format_name", "text", "message"),
    [
        ("toml", "a = 1\nb =\nc = 2\n", "/f:2: not valid TOML (invalid value)."),
        ("toml", "a = 1\n\na = 2\n", "/f:3: not valid TOML (cannot overwrite a value)."),
        ("toml", "a = 1\r\nb = ", "/f:2: not valid TOML (invalid value)."),
        ("toml", "a = [\n1,\n\n\n", "/f:2: not valid TOML (invalid value)."),
        ("toml", "a = " + "9" * 5000, "/f: a number has too many digits."),
        (
            "json5",
            "{a: 1,\n b 2}",
            "/f:2: not valid JSON (expected `:`, found `2`).",
        ),
        (
            "json5",
            '{"é😀": 1,\n\n\n b 2}',
            "/f:4: not valid JSON (expected `:`, found `2`).",
        ),
        (
            "json5",
            "{a: 1\n // x\n b: 2}",
            "/f:3: not valid JSON (expected `,` or `}`, found `b`).",
        ),
        ("json5", "{\n: 1}", "/f:2: not valid JSON (expected a key, found `:`)."),
        (
            "json5",
            "{\r\na: yes}",
            "/f:2: not valid JSON (expected a value, found `y`).",
        ),
        (
            "json5",
            "{a: tru\n}",
            "/f:1: not valid JSON (expected `e`, found the end of the line).",
        ),
        (
            "json5",
            "{a: 1,\n,}",
            "/f:2: not valid JSON (unexpected character).",
        ),
        (
            "json5",
            "{\n a: 'x\n'}",
            "/f:2: not valid JSON (unclosed string).",
        ),
        (
            "json5",
            "{\n\n a: [1,\n",
            "/f:3: not valid JSON (unclosed array).",
        ),
        (
            "json5",
            "{}\n// x\n\n{}",
            "/f:4: not valid JSON (extra text after the last bracket).",
        ),
        (
            "yaml",
            "a: 1\n\tb: 2\n",
            "/f:2: not valid YAML (found a tab character that violates indentation).",
        ),
        (
            "yaml",
            "a: 1\nb: [\n\n",
            "/f:2: not valid YAML (did not find expected node content).",
        ),
        (
            "yaml",
            "x: 1\na: 'y\n\n\n",
            "/f:2: not valid YAML (found unexpected end of stream).",
        ),
        (
            "yaml",
            "s:\n  a: 1\n  b: 2\n  a: 3\n",
            "/f:4: not valid YAML (`a` appears twice).",
        ),
        ("yaml", "a: 1\n\n---\nb: 2\n", "/f:3: not valid YAML (a second document starts here)."),
        (
            "yaml",
            "é: 1\nb: \x01\n",
            "/f:2: not valid YAML (control characters are not allowed).",
        ),
        ("yaml", "a: " + "9" * 25, "/f:1: not valid YAML (a number has too many digits)."),
        (
            "yaml",
            "[a]: 1",
            "/f: not valid YAML (expected a key, found a list or a mapping).",
        ),
        (
            "yaml",
            "- a\n",
            "/f:1: the file must contain keys and values, not a list or a single value.",
        ),
        (
            "json5",
            "[1]",
            "/f:1: the file must contain keys and values, not a list or a single value.",
        ),
        (
            "json5",
            "3",
            "/f:1: the file must contain keys and values, not a list or a single value.",
        ),
    ],
)
def test_wrong_syntax_is_an_error_that_names_the_line(format_name, text, message):
    assert problem(format_name, text) == message


@pytest.mark.parametrize(
    ("format_name", "text", "line"),
    [
        ("toml", "a = 1\nb = " + "[" * 100_000, 2),
        ("toml", "x = 1\n" + ".".join("a" * 500_000) + " = 1", 2),
        ("toml", "a = {}\n[b" + ' . "c"' * 64 + "]", 2),
        ("toml", "a = " + "[" * 65 + "]" * 65, 1),
        ("json5", '{"a":\n' * 100_000, 65),
        ("yaml", "a:\n" + "".join(f"{' ' * depth}a:\n" for depth in range(1, 80)), 65),
    ],
)
def test_settings_nested_without_end_are_refused_at_once(format_name, text, line):
    assert problem(format_name, text) == f"/f:{line}: nested more than 64 levels deep."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x: &x 1\ny: [" + "*x, " * 17 + "]",
            "/f: the file has 17 YAML aliases; at most 16 are allowed.",
        ),
        (
            "x: &x 1\ny: *x\nz: " + "z" * 70_000,
            "/f: a file with YAML aliases can have at most 65,536 characters.",
        ),
        (
            "a: [\n" * 10_001,
            "/f: the file has too many brackets; at most 10,000 are allowed.",
        ),
    ],
)
def test_yaml_that_would_grow_or_keep_the_parser_busy_is_refused(text, message):
    assert problem("yaml", text) == message


def test_globs_in_yaml_are_no_aliases():
    text = "ignored:\n" + "".join(f"  - '*-{n}'\n  - \"*{n}\"\n  - a*\n" for n in range(20))
    assert len(parse_yaml(text, "/f")["ignored"]) == 60


@pytest.mark.parametrize("format_name", FORMATS)
def test_text_over_a_megabyte_is_refused(format_name):
    message = "/f: the file is too large; at most 1,048,576 characters are read."
    assert problem(format_name, "#" * ((1 << 20) + 1)) == message


@pytest.mark.parametrize("format_name", FORMATS)
@given(text=st.text() | st.text("ab01-.:=,#\"'[]{}/*\\&!|>?% \n\t\r\x00"))
def test_any_text_is_a_table_or_a_setting_error_inside_the_text(format_name, text):
    try:
        data = parse_settings(text, format_name, "/f")
    except SettingError as error:
        assert error.file == "/f"
        assert error.key is None
        assert error.line is None or 1 <= error.line <= text.count("\n") + text.count("\r") + 1
    else:
        assert all(isinstance(key, str) for key in data)
