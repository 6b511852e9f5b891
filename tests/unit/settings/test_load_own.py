"""prowess.toml: its own keys, and how two files come together."""

from __future__ import annotations

import msgspec

from prowess.diagnostics import Diagnostic, Severity
from prowess.model.settings import Origin, Override, Settings
from tests.unit.settings.hosts import (
    OPENCLAW,
    OPENCLAW_FILE,
    PROWESS,
    PROWESS_PROJECT,
    PROWESS_USER,
    REPOSITORY,
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
    settings = load(PROWESS, {PROWESS_PROJECT: PROWESS_TEXT})
    lines = {key: origin.line for key, origin in settings.origins.items()}
    assert {origin.file for origin in settings.origins.values()} == {PROWESS_PROJECT}
    assert msgspec.structs.replace(settings, origins={}) == Settings(
        toggles={"bundled": False},
        disabled_extensions=("skill:pdf", "skill:docs"),
        ignored=("draft-*",),
        included=("team-*", "pdf"),
        custom_folders=("/home/me/skills", f"{REPOSITORY}/extra", "/opt/skills"),
        plugin_folders=(f"{REPOSITORY}/plugins/one",),
        trusted_links=("/home/me/code/shared",),
        limits={"file_bytes": 500_000},
        overrides={
            "pdf": Override(
                enabled=False, visibility="user-only", env={"TOKEN": "t"}, api_key="k", config={"pages": 3}
            ),
            "a.b": Override(visibility="name-only"),
        },
        raw={"weather": {"apiKey": "w"}},
        files=(PROWESS_PROJECT,),
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


def test_overrides_of_two_files_merge_field_by_field():
    user = '[skills.pdf]\nenabled = false\nenv = { A = "1", B = "2" }\napi_key = "k"\n[skills.docs]\nenabled = true\n'
    project = '[skills.pdf]\nenabled = true\nenv.B = "3"\n'
    settings = load(PROWESS, {PROWESS_USER: user, PROWESS_PROJECT: project})
    assert settings.overrides == {
        "pdf": Override(enabled=True, env={"A": "1", "B": "3"}, api_key="k"),
        "docs": Override(enabled=True),
    }
    assert settings.origin("overrides.pdf.enabled") == Origin(PROWESS_PROJECT, 2)
    assert settings.origin("overrides.pdf.env.A") == Origin(PROWESS_USER, 3)
    assert settings.origin("overrides.pdf.env.B") == Origin(PROWESS_PROJECT, 3)


def test_a_key_replaces_the_place_of_a_key():
    two = msgspec.json.decode(msgspec.json.encode(OPENCLAW))
    two["settings"]["more"] = {**two["settings"]["main"], "at": ["/etc/openclaw.json"]}
    two["settings_order"] = ["more", "main"]
    place = '{skills: {entries: {x: {apiKey: {source: "env", id: "X"}}}}}'
    key = '{skills: {entries: {x: {apiKey: "k"}}}}'
    assert load(two, {"/etc/openclaw.json": place, OPENCLAW_FILE: key}).overrides == {"x": Override(api_key="k")}
    assert load(two, {"/etc/openclaw.json": key, OPENCLAW_FILE: place}).overrides == {
        "x": Override(api_key_from={"source": "env", "id": "X"})
    }


def test_a_toggle_that_the_host_does_not_have_is_reported():
    settings = load(PROWESS, {PROWESS_USER: "[toggles]\nbundeld = true\nother = false\n"})
    assert settings.toggles == {"bundled": True, "bundeld": True, "other": False}
    assert settings.diagnostics == (
        Diagnostic(
            code="setting-ignored",
            severity=Severity.WARNING,
            message="`toggles.bundeld` has no effect: Prowess has no toggle of that name.",
            file=PROWESS_USER,
            line=2,
            field="toggles.bundeld",
            hint="The nearest toggle is `bundled`.",
        ),
        Diagnostic(
            code="setting-ignored",
            severity=Severity.WARNING,
            message="`toggles.other` has no effect: Prowess has no toggle of that name.",
            file=PROWESS_USER,
            line=3,
            field="toggles.other",
            hint="Remove it, or correct its name.",
        ),
    )
