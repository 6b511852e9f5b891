"""The switch of one skill set in the files of hosts: what was asked and nothing else, or nothing at
all.
"""

from __future__ import annotations

import tomllib
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.errors import InvalidName, ProwessError
from prowess.settings.edit.host_file import Switch
from prowess.settings.edit.json5 import set_json5
from prowess.settings.edit.yaml import add_entry, remove_entry
from prowess.settings.formats.json5 import parse_json5
from prowess.settings.formats.yaml import parse_yaml
from tests.unit.settings.writers import DOCUMENTS, KEYS, VALUES, Json5Writer, TomlWriter, YamlWriter

FILE = "settings"


def put(data: Any, path: tuple[str, ...], value: object) -> Any:
    if not path:
        return value
    table = data if isinstance(data, dict) else {} if data is None else {"*": data}
    return {**table, path[0]: put(table.get(path[0]), path[1:], value)}


def is_within(text: str, kept: str) -> bool:
    """Whether a text is another one with characters added."""
    rest = iter(text)
    return all(character in rest for character in kept)


@given(
    DOCUMENTS, st.dictionaries(KEYS, VALUES, max_size=3), KEYS, st.randoms(use_true_random=False)
)
def test_json_holds_the_value_and_all_else_wherever_it_was_edited(
    data, table, name, random: Random
):
    data = {**data, "skills": {**table, "entries": data}} if random.random() < 0.7 else data
    writer = Json5Writer(random)
    writer.write(data)
    path = ("skills", "entries", name) if random.random() < 0.8 else ("skills", name)
    edited = set_json5(writer.text, path, value="off", file=FILE)
    if edited is not None:
        assert parse_json5(edited, FILE) == put(parse_json5(writer.text, FILE), path, "off")
        assert set_json5(edited, path, value="off", file=FILE) == edited


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_a_new_key_of_a_json_table_never_costs_a_character(data, random: Random):
    writer = Json5Writer(random)
    writer.write({**data, "skillOverrides": {"x": "on"}})
    edited = set_json5(writer.text, ("skillOverrides", "pdf"), value="off", file=FILE)
    assert edited is not None
    assert is_within(edited, writer.text)


@given(
    DOCUMENTS,
    st.lists(st.sampled_from(["skill:a", "skill:b", "x y", "é"]), max_size=3),
    st.randoms(),
)
def test_a_yaml_list_gets_an_entry_and_loses_it_and_keeps_the_rest(data, entries, random: Random):
    data.pop("list", None)
    writer = YamlWriter(random)
    writer.write({**data, "list": entries} if random.random() < 0.8 else data)
    before = parse_yaml(writer.text, FILE)
    added = add_entry(writer.text, "list", "skill:pdf", file=FILE)
    if added is None:
        return
    assert parse_yaml(added, FILE) == {**before, "list": [*(before.get("list") or []), "skill:pdf"]}
    removed = remove_entry(added, "list", "skill:pdf", file=FILE)
    if removed is not None:
        assert parse_yaml(removed, FILE) == {**before, "list": before.get("list") or []}


@given(DOCUMENTS, KEYS, st.booleans(), st.randoms(use_true_random=False))
def test_a_list_of_tables_in_toml_gets_its_switch_and_keeps_the_rest(
    data, name, enabled, random: Random
):
    held = [{"name": name, "enabled": not enabled}, {"name": f"{name}-other"}][
        : random.randrange(3)
    ]
    data = {**data, "skills": {"config": held}} if held else data
    writer = TomlWriter(random)
    writer.write(data)
    try:
        edited = Switch("skills.config", "override_list", "toml").set(
            writer.text, name, enabled=enabled, file=FILE
        )
    except ProwessError:
        return
    found = tomllib.loads(edited)
    field = "path" if name.startswith("/") else "name"
    switches = [one["enabled"] for one in found["skills"]["config"] if one.get(field) == name]
    assert set(switches) == {enabled}
    found.pop("skills")
    assert found == {key: value for key, value in data.items() if key != "skills"}


@pytest.mark.parametrize(
    ("switch", "text", "by_hand"),
    [
        (
            Switch("skillOverrides", "visibility", "json5"),
            '{"skillOverrides": ["pdf"]}',
            '`"skillOverrides": { "p f": "off" }`',
        ),
        (
            Switch("skills.entries", "overrides", "json5"),
            "{skills: [1]}",
            '`"skills": { "entries": { "p f": { "enabled": false } } }`',
        ),
        (
            Switch("disabledExtensions", "disabled_extensions", "yaml"),
            "disabledExtensions: skill:x\n",
            '`disabledExtensions: ["skill:p f"]`',
        ),
        (
            Switch("skills.config", "override_list", "toml"),
            "skills.config = 1\n",
            '`[[skills.config]]` and below it `name = "p f"`, `enabled = false`',
        ),
    ],
)
def test_what_cannot_be_edited_is_named_with_its_line_and_what_to_write(switch, text, by_hand):
    with pytest.raises(ProwessError) as refused:
        switch.set(text, "p f", enabled=False, file=FILE)
    assert str(refused.value) == (
        f"settings:1: can't disable “p f” safely, so nothing was written; write {by_hand} by hand."
    )


def test_a_name_that_is_no_text_is_not_written():
    with pytest.raises(InvalidName):
        Switch("skillOverrides", "visibility", "json5").set(
            "{}", "\udcff", enabled=False, file=FILE
        )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "a": {\n    "b": "off"\n  }\n}\n'),
        ("// mine\n", '// mine\n{\n  "a": {\n    "b": "off"\n  }\n}\n'),
        ("\ufeff{}", '\ufeff{\n  "a": {\n    "b": "off"\n  }\n}'),
        ('{"a": null}', '{"a": { "b": "off" }}'),
        ('{\n    "x": 1\n}', '{\n    "x": 1,\n    "a": {\n        "b": "off"\n    }\n}'),
        ("{\n}\n", '{\n  "a": {\n    "b": "off"\n  }\n}\n'),
        ('{"a": {}, "a": {"c": 1}}', '{"a": {}, "a": {"c": 1, "b": "off"}}'),
        ('{"a": {"b": true}} // end', '{"a": {"b": "off"}} // end'),
        ('{"a": {\n  "c": 1 } }', '{"a": {\n  "c": 1, "b": "off" } }'),
        ('{"a": [1]}', None),
        ('{"a": {"b": {"c": 1}}}', None),
    ],
)
def test_where_a_value_goes_in_json(before, after):
    assert set_json5(before, ("a", "b"), value="off", file=FILE) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("list:\n- skill:a\n- b\n", "list:\n- b\n"),
        ("list:\n  - skill:a # why\nx: 1\n", "list: []\nx: 1\n"),
        ("list: [skill:a]\n", "list: []\n"),
        ("list: [ 'skill:a', b ]\n", "list: [ b ]\n"),
        ("list: [b, skill:a] # why\n", "list: [b] # why\n"),
        ("x: &l [skill:a]\nlist: *l\n", None),
    ],
)
def test_how_an_entry_leaves_a_yaml_list(before, after):
    assert remove_entry(before, "list", "skill:a", file=FILE) == after


def test_a_byte_order_mark_stays_in_a_yaml_file():
    shorter, longer = "\ufeffd:\n- a\n", "\ufeffd:\n- a\n- b\n"
    assert add_entry(shorter, "d", "b", file="f") == longer
    assert remove_entry(longer, "d", "b", file="f") == shorter
