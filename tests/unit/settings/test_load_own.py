"""prowess.toml: its own keys, and how two files come together."""

from __future__ import annotations

import msgspec
import pytest

from prowess.diagnostics import Diagnostic, Severity
from prowess.model.settings import Origin, Override, Settings
from tests.unit.settings.hosts import (
    CWD,
    OPENCLAW,
    OPENCLAW_FILE,
    PROWESS,
    PROWESS_PROJECT,
    PROWESS_USER,
    load,
)

PROWESS_TEXT = """\
enabled = true
disabled = ["skill:pdf", "docs"]
ignore = ["draft-*"]
include = ["team-*", "pdf"]
folders = ["~/skills", "extra", "/opt/skills"]
plugins = ["plugins/one"]

[toggles]
bundled = false

[discovery]
trusted_links = ["../shared"]

[limits]
file_bytes = 500_000

[config]
weather.apiKey = "w"

[skills.pdf]
enabled = false
visibility = "user-only"
env.TOKEN = "t"
api_key = "k"
config = { pages = 3 }

[skills."a.b"]
visibility = "name-only"
"""


def test_every_key_of_our_own_file_is_read():
    settings = load(PROWESS, {PROWESS_USER: PROWESS_TEXT})
    lines = {key: origin.line for key, origin in settings.origins.items()}
    assert {origin.file for origin in settings.origins.values()} == {PROWESS_USER}
    assert msgspec.structs.replace(settings, origins={}, entries={}) == Settings(
        toggles={"bundled": False},
        disabled_extensions=("skill:pdf", "skill:docs"),
        ignored=("draft-*",),
        included=("team-*", "pdf"),
        custom_folders=("/home/me/skills", "/home/me/.config/prowess/extra", "/opt/skills"),
        plugin_folders=("/home/me/.config/prowess/plugins/one",),
        trusted_links=("/home/me/.config/shared",),
        limits={"file_bytes": 500_000},
        overrides={
            "pdf": Override(
                enabled=False,
                visibility="user-only",
                env={"TOKEN": "t"},
                api_key="k",
                config={"pages": 3},
            ),
            "a.b": Override(visibility="name-only"),
        },
        raw={"weather": {"apiKey": "w"}},
        files=(PROWESS_USER,),
    )
    assert lines == {
        "enabled": 1,
        "disabled_extensions": 2,
        "ignored": 3,
        "included": 4,
        "custom_folders": 5,
        "plugin_folders": 6,
        "toggles.bundled": 9,
        "trusted_links": 12,
        "limits.file_bytes": 15,
        "overrides.pdf.enabled": 21,
        "overrides.pdf.visibility": 22,
        "overrides.pdf.env.TOKEN": 23,
        "overrides.pdf.api_key": 24,
        "overrides.pdf.config.pages": 25,
        "overrides.a.b.visibility": 28,
    }


def test_overrides_of_two_files_merge_field_by_field_and_a_project_replaces_none_of_its_users_variables():
    user = '[skills.pdf]\nenabled = true\nenv = { A = "1", B = "2" }\napi_key = "k"\n[skills.docs]\nenabled = true\n'
    project = '[skills.pdf]\nenabled = false\nenv.B = "3"\nenv.C = "4"\napi_key = "stolen"\n'
    settings = load(PROWESS, {PROWESS_USER: user, PROWESS_PROJECT: project})
    assert settings.overrides == {
        "pdf": Override(enabled=False, env={"A": "1", "B": "2", "C": "4"}, api_key="k"),
        "docs": Override(enabled=True),
    }
    assert settings.origin("overrides.pdf.enabled") == Origin(PROWESS_PROJECT, 2)
    assert settings.origin("overrides.pdf.env.A") == Origin(PROWESS_USER, 3)
    assert settings.origin("overrides.pdf.env.C") == Origin(PROWESS_PROJECT, 4)
    assert [(one.code, one.field) for one in settings.diagnostics] == [
        ("setting-ignored", "skills.pdf.env.B"),
        ("setting-ignored", "skills.pdf.api_key"),
    ]


INNER = f"{CWD}/prowess.toml"
UNDOING = {
    "enabled": ("enabled = false\n", "enabled = true\n"),
    "usage": ("usage = false\n", "usage = true\n"),
    "shell_commands": ("shell_commands = false\n", "shell_commands = true\n"),
    "approvals": ("", 'approvals = "disk"\n'),
    "node_manager": ("", 'node_manager = "bun"\n'),
    "tools.lint": ('tools.lint.command = ["a"]\n', 'tools.lint.command = ["b"]\n'),
    "skills.pdf.enabled": ("skills.pdf.enabled = false\n", "skills.pdf.enabled = true\n"),
    "skills.pdf.visibility": ('skills.pdf.visibility = "off"\n', 'skills.pdf.visibility = "on"\n'),
    "limits.file_bytes": ("limits.file_bytes = 10\n", "limits.file_bytes = 11\n"),
    "limits.skills_per_root": ("", "limits.skills_per_root = 100_001\n"),
    "limits.seconds_per_root": ("", "limits.seconds_per_root = 0\n"),
    "discovery.trusted_links": (
        'discovery.trusted_links = ["~/a"]\n',
        'discovery.trusted_links = ["~"]\n',
    ),
}


@pytest.mark.parametrize(
    ("key", "user", "project"), [(key, *texts) for key, texts in UNDOING.items()]
)
def test_a_project_can_neither_trust_itself_nor_undo_what_its_user_decided(
    key: str, user: str, project: str
):
    alone = load(PROWESS, {PROWESS_USER: user})
    settings = load(PROWESS, {PROWESS_USER: user, PROWESS_PROJECT: "\n" + project})
    kept = {"files": alone.files, "project_files": (), "diagnostics": ()}
    assert msgspec.structs.replace(settings, **kept) == alone
    assert [
        (found.code, found.file, found.line, found.field) for found in settings.diagnostics
    ] == [("setting-ignored", PROWESS_PROJECT, 2, key)]


def test_a_project_can_lower_a_limit_and_switch_its_own_skills_on_again():
    outer = "limits.file_bytes = 10\nlimits.yaml_depth = 8\nskills.pdf.enabled = false\n"
    inner = "limits.file_bytes = 20\nskills.pdf.enabled = true\n"
    settings = load(
        PROWESS, {PROWESS_USER: "limits.file_bytes = 30\n", PROWESS_PROJECT: outer, INNER: inner}
    )
    assert (settings.limits, settings.overrides) == (
        {"file_bytes": 20, "yaml_depth": 8},
        {"pdf": Override(enabled=True)},
    )
    assert settings.diagnostics == ()
    assert settings.project_files == (PROWESS_PROJECT, INNER)


def test_lists_of_what_is_left_out_add_up():
    user = 'disabled = ["a", "b"]\nignore = ["x-*"]\n'
    settings = load(
        PROWESS, {PROWESS_USER: user, PROWESS_PROJECT: 'disabled = ["b", "c"]\nignore = []\n'}
    )
    assert settings.disabled_extensions == ("skill:a", "skill:b", "skill:c")
    assert settings.ignored == ("x-*",)


def test_which_folders_a_project_named_can_be_told():
    files = {PROWESS_USER: 'folders = ["a"]\n', PROWESS_PROJECT: 'plugins = ["b"]\n'}
    settings = load(PROWESS, files)
    assert not settings.is_from_project("custom_folders")
    assert settings.is_from_project("plugin_folders")
    assert not settings.is_from_project("ignored")


@pytest.mark.parametrize(
    ("overrides", "key", "expected"),
    [
        ({}, "k", None),
        ({"k": Override(enabled=True), "n": Override(visibility="on")}, "k", "k"),
        ({"n": Override(visibility="on")}, "k", "n"),
        ({"n": Override()}, None, "n"),
        ({"k": Override(enabled=True), "n": Override(enabled=False)}, "k", "n"),
        ({"k": Override(), "n": Override(visibility="off")}, "k", "n"),
    ],
)
def test_what_is_set_for_a_skill_is_found_by_its_key_or_its_name(overrides, key, expected):
    found = Settings(overrides=overrides).find_override(key, "n")
    assert found == (None if expected is None else (expected, overrides[expected]))


def test_a_key_replaces_the_place_of_a_key():
    two = msgspec.json.decode(msgspec.json.encode(OPENCLAW))
    two["settings"]["more"] = {**two["settings"]["main"], "at": ["/etc/openclaw.json"]}
    two["settings_order"] = ["more", "main"]
    place = '{skills: {entries: {x: {apiKey: {source: "env", id: "X"}}}}}'
    key = '{skills: {entries: {x: {apiKey: "k"}}}}'
    assert load(two, {"/etc/openclaw.json": place, OPENCLAW_FILE: key}).overrides == {
        "x": Override(api_key="k")
    }
    assert load(two, {"/etc/openclaw.json": key, OPENCLAW_FILE: place}).overrides == {
        "x": Override(api_key_from={"source": "env", "id": "X"})
    }


def test_a_toggle_that_the_host_does_not_have_is_reported():
    settings = load(PROWESS, {PROWESS_USER: "[toggles]\nbundeld = true\nother = false\n"})
    assert settings.toggles == {"bundled": True}
    assert settings.diagnostics == (
        Diagnostic(
            code="setting-ignored",
            severity=Severity.WARNING,
            message="`toggles.bundeld` has no effect: Prowess has no toggle `bundeld`; its toggles are `bundled`.",
            file=PROWESS_USER,
            line=2,
            field="toggles.bundeld",
            hint="Did you mean `bundled`?",
        ),
        Diagnostic(
            code="setting-ignored",
            severity=Severity.WARNING,
            message="`toggles.other` has no effect: Prowess has no toggle `other`; its toggles are `bundled`.",
            file=PROWESS_USER,
            line=3,
            field="toggles.other",
            hint="Remove it, or correct its name.",
        ),
    )


def test_an_entry_of_lists_that_add_up_has_the_place_where_it_stands():
    user = 'disabled = ["a"]\nignore = ["x-*"]\n'
    project = 'ignore = [\n  "y-*",\n  "x-*",\n]\ndisabled = ["b"]\n'
    settings = load(PROWESS, {PROWESS_USER: user, PROWESS_PROJECT: project})
    assert settings.entries == {
        "disabled_extensions": {
            "skill:a": Origin(PROWESS_USER, 1),
            "skill:b": Origin(PROWESS_PROJECT, 5),
        },
        "ignored": {"x-*": Origin(PROWESS_PROJECT, 3), "y-*": Origin(PROWESS_PROJECT, 2)},
    }
    assert settings.entry_origin("ignored", "unknown") == settings.origin("ignored")
