"""One switch of prowess.toml set in place."""

from __future__ import annotations

import json
import os.path
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import InvalidName, ProwessError, SettingError
from prowess.settings.edit.toml import set_skill_enabled, set_toml_value
from tests.unit.settings.writers import KEYS, LEAVES, VALUES, TomlWriter

NAMES = KEYS | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def test_empty_text_becomes_a_fresh_file():
    assert set_skill_enabled("", "pdf", enabled=False) == "[skills.pdf]\nenabled = false\n"


def test_a_name_that_is_no_bare_key_is_quoted():
    assert set_skill_enabled("", 'a."b"\\\n\x01é', enabled=True) == (
        '[skills."a.\\"b\\"\\\\\\n\\u0001é"]\nenabled = true\n'
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The switch is there.
        ("[skills.pdf]\nenabled = true # why\n", "[skills.pdf]\nenabled = false # why\n"),
        ("[skills.'pdf']\n  enabled=true", "[skills.'pdf']\n  enabled=false"),
        ("[skills.pdf]\nenabled = false\n", "[skills.pdf]\nenabled = false\n"),
        ("[skills]\npdf.enabled = true\n", "[skills]\npdf.enabled = false\n"),
        ("[skills]\npdf = {enabled = true}\n", "[skills]\npdf = {enabled = false}\n"),
        ('skills."pdf".enabled = true\n', 'skills."pdf".enabled = false\n'),
        ("skills = { pdf = { enabled = true } }", "skills = { pdf = { enabled = false } }"),
        # A value of a wrong type is replaced too, also where it is equal to the right one.
        ('[skills.pdf]\nenabled = "no" # ?\n', "[skills.pdf]\nenabled = false # ?\n"),
        ("[skills.pdf]\nenabled = 0\n", "[skills.pdf]\nenabled = false\n"),
        # The table is there.
        (
            "# top\n[skills.pdf] # it\nvisibility = 'off'\n\n[limits]\nfile_bytes = 1\n",
            "# top\n[skills.pdf] # it\nenabled = false\nvisibility = 'off'\n\n[limits]\nfile_bytes = 1\n",
        ),
        ("  [skills.pdf]", "  [skills.pdf]\n  enabled = false\n"),
        ("[skills.pdf]\r\n[limits]\r\n", "[skills.pdf]\r\nenabled = false\r\n[limits]\r\n"),
        ("[skills]\npdf = {}\n", "[skills]\npdf = { enabled = false }\n"),
        (
            "[skills]\npdf = {visibility = 'on'}\n",
            "[skills]\npdf = { enabled = false, visibility = 'on'}\n",
        ),
        ("[skills]\n pdf.env.A = 'x'\n", "[skills]\n pdf.enabled = false\n pdf.env.A = 'x'\n"),
        ("skills.pdf.env.A = 'x'\n", "skills.pdf.enabled = false\nskills.pdf.env.A = 'x'\n"),
        ("skills = {pdf.env.A = 'x'}", "skills = {pdf.enabled = false, pdf.env.A = 'x'}"),
        # Something else is there.
        (
            "[skills.pdf.env]\nA = 'x'\n",
            "[skills.pdf.env]\nA = 'x'\n\n[skills.pdf]\nenabled = false\n",
        ),
        ("skills = { a = {} }\n", "skills = { pdf = { enabled = false }, a = {} }\n"),
        ("skills = {}\n", "skills = { pdf = { enabled = false } }\n"),
        (
            "[skills]\na.enabled = true\n",
            "[skills]\na.enabled = true\n\n[skills.pdf]\nenabled = false\n",
        ),
        ("ignore = ['x'] # y", "ignore = ['x'] # y\n\n[skills.pdf]\nenabled = false\n"),
        (
            "\ufeffenabled = true\r\n",
            "\ufeffenabled = true\r\n\r\n[skills.pdf]\r\nenabled = false\r\n",
        ),
        ("[config]\nx = nan\n", "[config]\nx = nan\n\n[skills.pdf]\nenabled = false\n"),
        # What looks like the switch is text.
        (
            'x = """\n[skills.pdf]\nenabled = true\n"""\n',
            'x = """\n[skills.pdf]\nenabled = true\n"""\n\n[skills.pdf]\nenabled = false\n',
        ),
    ],
)
def test_the_switch_is_set_and_all_else_stays(before, after):
    assert set_skill_enabled(before, "pdf", enabled=False) == after


SWITCHES = st.fixed_dictionaries({}, optional={"enabled": LEAVES})
TABLES = st.tuples(st.dictionaries(KEYS, VALUES, max_size=2), SWITCHES).map(
    lambda both: {**both[0], **both[1]}
)


@given(
    skills=st.dictionaries(KEYS, TABLES, max_size=3) | st.none(),
    more=st.dictionaries(KEYS, VALUES, max_size=2),
    random=st.randoms(use_true_random=False),
    name=NAMES,
    enabled=st.booleans(),
)
def test_the_edit_says_what_was_asked_and_changes_one_place(skills, more, random, name, enabled):
    data = more if skills is None else {**more, "skills": skills}
    writer = TomlWriter(random)
    writer.write(data)
    edited = set_skill_enabled(writer.text, name, enabled=enabled)
    table = (skills or {}).get(name, {})
    assert tomllib.loads(edited) == {
        **data,
        "skills": {**(skills or {}), name: {**table, "enabled": enabled}},
    }
    lost = _lost_text(writer.text, edited)
    assert (
        any(lost in text for text in _ways_to_write(table["enabled"]))
        if "enabled" in table
        else lost == ""
    )
    assert set_skill_enabled(edited, name, enabled=enabled) == edited
    switched = set_skill_enabled(edited, name, enabled=not enabled)
    assert set_skill_enabled(switched, name, enabled=enabled) == edited


def _ways_to_write(value: object) -> list[str]:
    return [json.dumps(value), f"'{value}'", f'"""\n{value}"""']


def _lost_text(before: str, after: str) -> str:
    """What the edit took out, where it changed one place."""
    kept = len(os.path.commonprefix([before, after]))
    rest = os.path.commonprefix([before[kept:][::-1], after[kept:][::-1]])
    return before[kept : len(before) - len(rest)]


def test_text_that_is_no_toml_is_an_error_with_its_line():
    with pytest.raises(SettingError) as raised:
        set_skill_enabled(
            "enabled = true\nenabled = false\n", "pdf", enabled=True, file="/p/prowess.toml"
        )
    assert str(raised.value) == "/p/prowess.toml:2: not valid TOML (cannot overwrite a value)."


@pytest.mark.parametrize("text", ["skills = 3", "skills.pdf = true", "[[skills]]\nname = 'pdf'\n"])
def test_skills_that_are_no_table_of_tables_are_left_alone(text):
    with pytest.raises(ProwessError) as raised:
        set_skill_enabled(text, "pdf", enabled=True, file="/p/prowess.toml")
    assert str(raised.value) == (
        "/p/prowess.toml: `skills` must contain a table for each skill, so “pdf” can't be set "
        "there."
    )


def test_a_switch_that_cannot_be_replaced_safely_is_left_to_the_user():
    with pytest.raises(ProwessError) as raised:
        set_skill_enabled(
            "[skills.pdf]\nenabled = [1]\n", "pdf", enabled=True, file="/p/prowess.toml"
        )
    assert str(raised.value) == (
        "/p/prowess.toml: can't set `enabled` safely; write `enabled = "
        "true` under `[skills.pdf]` by hand."
    )


def test_a_name_that_no_file_can_hold_is_refused():
    with pytest.raises(InvalidName) as raised:
        set_skill_enabled("", "\udc80", enabled=True)
    assert raised.value.why == "it is not valid Unicode, so it can't be written"


@pytest.mark.parametrize(
    ("text", "path", "value", "after"),
    [
        ("", ("usage",), "true", "usage = true\n"),
        (
            "# mine\n[limits]\nx = 1\n",
            ("usage",),
            "true",
            "usage = true\n# mine\n[limits]\nx = 1\n",
        ),
        ("usage = false # why\n", ("usage",), "true", "usage = true # why\n"),
        ("[agent]\n# which\n", ("agent", "model"), '"a:b"', '[agent]\nmodel = "a:b"\n# which\n'),
        ("x = 1\n", ("agent", "models", "h"), '"a:b"', 'x = 1\n\n[agent.models]\nh = "a:b"\n'),
        ("agent = { model = 'a:b' }\n", ("agent", "model"), '"c:d"', 'agent = { model = "c:d" }\n'),
    ],
)
def test_a_value_is_set_where_it_belongs_and_all_else_stays(text, path, value, after):
    assert set_toml_value(text, path, value) == after


def test_a_list_is_left_to_the_user():
    with pytest.raises(ProwessError, match=r"write `ignore = .* above the first table by hand"):
        set_toml_value("ignore = ['a']\n", ("ignore",), '["b"]')


def test_a_value_below_one_that_is_no_table_is_refused():
    with pytest.raises(ProwessError, match=r"`agent\.model` can't be set: a key above it is no"):
        set_toml_value("agent = 3\n", ("agent", "model"), '"a:b"')
