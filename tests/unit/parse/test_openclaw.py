"""OpenClaw's fields, at the top as its book shows them and under `metadata` as its release wants
them.
"""

from __future__ import annotations

import pytest

from prowess.model.skill import Manifest, Requires
from prowess.parse.manifest.fields import read_manifest
from prowess.profiles.load import load_profile
from prowess.profiles.schema.header import FieldRules
from tests.unit.parse.rules import OPENCLAW, read_fields

CURRENT = FieldRules(openclaw_at=("openclaw", "clawdbot"))
PROWESS = FieldRules(openclaw_at=("openclaw", "clawdbot", "top"))


def read(header, fields, rules=OPENCLAW):
    manifest, diagnostics = read_manifest(read_fields(header, rules).frontmatter, fields=fields)
    return manifest, [(finding.code, finding.field) for finding in diagnostics]


@pytest.mark.seed("W-05", "W-06", "W-09", "W-10", "W-11", "W-12")
def test_the_book_has_all_fields_at_the_top():
    header = """\
always: false
skillKey: weather
primaryEnv: OPENWEATHER_KEY
emoji: 🌤
homepage: https://example.org/weather
os: [darwin, linux, win32]
requires:
  bins: [curl]
  anyBins: [wget, curl]
  env: [OPENWEATHER_KEY]
  config: [weather.apiKey]
install:
  - kind: brew
    formula: wttr
    bins: [wttr]
  - kind: node
    package: weather-cli
"""
    profile = load_profile("openclaw@documented")
    assert read(header, profile.fields, profile.header) == (
        Manifest(
            always=False,
            skill_key="weather",
            primary_env="OPENWEATHER_KEY",
            emoji="🌤",
            homepage="https://example.org/weather",
            os=("darwin", "linux", "win32"),
            requires=Requires(
                bins=("curl",),
                any_bins=("wget", "curl"),
                env=("OPENWEATHER_KEY",),
                config=("weather.apiKey",),
            ),
            install=(
                {"kind": "brew", "formula": "wttr", "bins": ["wttr"]},
                {"kind": "node", "package": "weather-cli"},
            ),
        ),
        [],
    )


@pytest.mark.seed("W-06")
def test_none_of_the_fields_of_the_book_is_needed():
    profile = load_profile("openclaw@documented")
    assert read("description: d\n", profile.fields, profile.header) == (
        Manifest(description="d"),
        [],
    )


def test_the_release_looks_below_metadata_only():
    assert read("requires: {bins: [a]}\nos: [linux]\nalways: true\n", CURRENT) == (Manifest(), [])


@pytest.mark.seed("A-10", "A-11")
@pytest.mark.parametrize(
    "header",
    [
        'metadata:\n  { "openclaw": { "requires": { "bins": ["uv"], "env": ["API_KEY"] } } }\n',
        "metadata:\n  openclaw:\n    requires:\n      bins: [uv]\n      env: [API_KEY]\n",
        'metadata: {"openclaw":{"requires":{"bins":["uv",],"env":["API_KEY",],},},}\n',
        'metadata: \'{openclaw:{requires:{bins:["uv"],env:"API_KEY"}}} // why\'\n',
        'metadata: {"clawdbot": {"requires": {"bins": "uv", "env": ["API_KEY"]}}}\n',
    ],
)
def test_requirements_stand_below_metadata_as_yaml_json_or_json5(header):
    profile = load_profile("openclaw@documented")
    manifest, found = read(header, profile.fields, profile.header)
    assert (manifest.requires, found) == (Requires(bins=("uv",), env=("API_KEY",)), [])


@pytest.mark.parametrize("value", ["5", "[]", "'{requires: {bins: [x'", '\'{"os": ["linux"]}\''])
def test_a_block_that_is_no_mapping_is_reported_and_the_next_one_counts(value):
    manifest, found = read(f"metadata: {{openclaw: {value}, clawdbot: {{emoji: a}}}}\n", CURRENT)
    assert (manifest.emoji, manifest.os, found) == (
        "a",
        (),
        [("metadata-unreadable", "metadata.openclaw")],
    )


def test_the_place_that_is_named_first_wins_field_by_field():
    header = "os: [darwin]\nemoji: a\nmetadata: {openclaw: {os: [linux], skillKey: k}, clawdbot: {homepage: h}}\n"
    below_first, _ = read(header, PROWESS)
    assert (below_first.os, below_first.emoji, below_first.skill_key) == (("linux",), "a", "k")
    assert below_first.homepage is None
    top_first, _ = read(header, FieldRules(openclaw_at=("top", "openclaw")))
    assert (top_first.os, top_first.emoji, top_first.skill_key) == (("darwin",), "a", "k")


def test_always_below_metadata_has_to_be_a_real_truth_value():
    assert read("metadata: {openclaw: {always: true}}\n", CURRENT)[0].always is True
    assert read('metadata: {openclaw: {always: "true"}}\n', CURRENT) == (
        Manifest(metadata={"openclaw": {"always": "true"}}),
        [("field-value", "metadata.openclaw.always")],
    )


@pytest.mark.parametrize(
    "value", ["not json", "[1, 2]", "{", "5", '{"a":"\\ud800"}', "{a: 1" + "0" * 40 + "}"]
)
def test_metadata_that_is_no_mapping_counts_as_none(value):
    manifest, found = read_manifest({"metadata": value}, fields=CURRENT)
    assert manifest == Manifest()
    assert [(finding.code, finding.field) for finding in found] == [
        ("metadata-unreadable", "metadata")
    ]


def test_ways_to_install_that_nobody_knows_are_left_out():
    value = [{"kind": "apt"}, {"type": "UV", "package": "x"}, "brew", {"kind": 3}]
    manifest, found = read_manifest({"install": value}, fields=PROWESS)
    assert manifest.install == ({"type": "UV", "package": "x", "kind": "uv"},)
    assert [finding.field for finding in found] == [
        "install[0].kind",
        "install[2].kind",
        "install[3].kind",
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("os", 5),
        ("requires", "x"),
        ("install", "x"),
        ("requires", {"bins": {"a": 1}}),
        ("skillKey", ["a"]),
        ("os", [[1]]),
    ],
)
def test_values_of_the_wrong_kind_are_reported(field, value):
    _, found = read_manifest({field: value}, fields=PROWESS)
    assert [finding.code for finding in found] == ["field-type"]


@pytest.mark.seed("A-04", "A-05", "A-06")
def test_the_command_fields_are_read_and_a_comment_behind_a_value_is_no_part_of_it():
    header = """\
command-dispatch: tool # optional: straight to the tool
command-tool: sessions_send # optional: which
command-arg-mode: raw # optional: how
"""
    profile = load_profile("openclaw@documented")
    assert read(header, profile.fields, profile.header) == (
        Manifest(command_dispatch="tool", command_tool="sessions_send", command_arg_mode="raw"),
        [],
    )
    assert read("command_dispatch: tool\ncommand_tool: x\n", CURRENT)[0] == Manifest(
        command_dispatch="tool", command_tool="x"
    )


@pytest.mark.seed("W-07")
def test_a_folded_description_may_hold_a_colon():
    profile = load_profile("openclaw@documented")
    header = "description: >\n  Get the weather.\n  NOT for: historical data.\n"
    frontmatter = read_fields(header, profile.header).frontmatter
    assert frontmatter == {"description": "Get the weather. NOT for: historical data."}


@pytest.mark.parametrize(
    ("header", "manifest"),
    [
        (
            "homepage: https://a\nwebsite: https://b\nurl: https://c\n",
            Manifest(homepage="https://a"),
        ),
        ("url: https://c\nwebsite: https://b\n", Manifest(homepage="https://b")),
        ("url: https://c\n", Manifest(homepage="https://c")),
        ("website: ''\nurl: https://c\n", Manifest(homepage="https://c")),
        ("emoji: 🌤\n", Manifest(emoji="🌤")),
        ("requires: {bins: [a]}\nurl: https://c\n", Manifest(homepage="https://c")),
    ],
)
@pytest.mark.parametrize("fields", [CURRENT, load_profile("openclaw").fields])
def test_the_release_shows_a_page_and_a_picture_from_the_top(header, manifest, fields):
    assert read(header, fields) == (manifest, [])


def test_a_page_below_metadata_comes_before_one_at_the_top():
    header = "url: https://c\nemoji: 🌧\nmetadata: {openclaw: {homepage: 'https://m', emoji: 🌤}}\n"
    manifest, found = read(header, CURRENT)
    assert (manifest.homepage, manifest.emoji, found) == ("https://m", "🌤", [])


def test_a_host_without_openclaws_fields_shows_none_of_it():
    assert read("url: https://c\nemoji: 🌧\n", FieldRules(openclaw_at=())) == (Manifest(), [])
