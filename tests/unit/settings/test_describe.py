"""Every setting with its place, secrets masked."""

from __future__ import annotations

from prowess.model.settings import Origin, Override, Settings
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.describe import describe_settings


def test_every_value_is_shown_in_order_with_its_place_and_no_secret():
    here = Origin("/p/prowess.toml", 3)
    settings = Settings(
        enabled=False,
        toggles={"b": True, "a": False},
        ignored=("x",),
        workspace="/w",
        limits={"file_bytes": 5},
        overrides={
            "pdf": Override(
                enabled=True,
                visibility="off",
                env={"Z": "secret", "A": "secret"},
                api_key="secret",
                config={
                    "size": 3,
                    "apiToken": "secret",
                    "deep": {"password": "secret", "n": 1},
                    "list": [{"key": "secret"}],
                },
            ),
            "docs": Override(api_key_from={"source": "env", "id": "X"}),
        },
        raw={"token": "secret"},
        origins={"enabled": here, "toggles.b": here, "overrides.pdf.env.A": here},
        files=("/p/prowess.toml",),
    )
    default = Origin()
    keys = {
        field: field
        for field in ("enabled", "toggles", "ignored", "workspace", "overrides", "agent_skills")
    }
    file = SettingsFileRule(
        at=("{cwd}/s.toml",), format="toml", keys={**keys, "bytes": "limits.file_bytes"}
    )
    profile = Profile(name="mine", settings_order=("main",), settings={"main": file})
    assert describe_settings(settings, profile) == [
        ("enabled", False, here),
        ("toggles.a", False, default),
        ("toggles.b", True, here),
        ("ignored", ("x",), default),
        ("workspace", "/w", default),
        ("agent_skills", None, default),
        ("limits.file_bytes", 5, default),
        ("overrides.docs.api_key", "(set)", default),
        ("overrides.pdf.enabled", True, default),
        ("overrides.pdf.visibility", "off", default),
        ("overrides.pdf.env.A", "(set)", here),
        ("overrides.pdf.env.Z", "(set)", default),
        ("overrides.pdf.api_key", "(set)", default),
        ("overrides.pdf.config.apiToken", "(set)", default),
        ("overrides.pdf.config.deep", {"password": "(set)", "n": 1}, default),
        ("overrides.pdf.config.list", [{"key": "(set)"}], default),
        ("overrides.pdf.config.size", 3, default),
    ]
