"""Tables of made-up profiles, and the machine on which their settings files lie."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from prowess.errors import SettingError
from prowess.model.settings import Settings
from prowess.profiles.places import Places, name_places
from prowess.profiles.schema.profile import Profile
from prowess.settings.load import load_settings
from prowess.testing import MemoryFiles, make_facts

IGNORED = "The whole settings file is ignored: "
HOME, CWD, REPOSITORY = "/home/me", "/home/me/code/app/src", "/home/me/code/app"
CONFIG = {"config": ["$XDG_CONFIG_HOME", "{home}/.config"]}

TOGGLES = (
    "enableCodexUser",
    "enableClaudeUser",
    "enableClaudeProject",
    "enablePiUser",
    "enablePiProject",
)
OMP = {
    "name": "omp",
    "title": "oh-my-pi",
    "places": {"omp": ["$PI_CODING_AGENT_DIR", "{home}/.omp/agent"]},
    "toggles": {name: {"default": name.startswith("enablePi")} for name in TOGGLES},
    "settings_order": ["main"],
    "settings": {
        "main": {
            "at": ["{omp}/config.yml"],
            "format": "yaml",
            "keys": {
                "skills.enabled": "enabled",
                "skills.enableSkillCommands": "skill_commands",
                **{f"skills.{name}": f"toggles.{name}" for name in TOGGLES},
                "skills.customDirectories": "custom_folders",
                "skills.ignoredSkills": "ignored",
                "skills.includeSkills": "included",
                "disabledExtensions": "disabled_extensions",
                "disabledProviders": "disabled_providers",
                "enabledProviders": "enabled_providers",
            },
        }
    },
}
OMP_FILE = "/home/me/.omp/agent/config.yml"

_OPENCODE = {
    "format": "json5",
    "substitute_env": True,
    "keys": {"skills.paths": "custom_folders", "skills.urls": "remote_urls"},
}
OPENCODE = {
    "name": "opencode",
    "places": CONFIG,
    "settings_order": ["global", "project"],
    "settings": {
        "global": {
            "at": ["{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"],
            **_OPENCODE,
        },
        "project": {"at": ["{ancestor}/opencode.json", "{ancestor}/opencode.jsonc"], **_OPENCODE},
    },
}
OPENCODE_GLOBAL = "/home/me/.config/opencode/opencode.json"

OPENCLAW = {
    "name": "openclaw",
    "places": {"config_file": ["$OPENCLAW_CONFIG_PATH", "{home}/.openclaw/openclaw.json"]},
    "settings_order": ["main"],
    "settings": {
        "main": {
            "at": ["{config_file}"],
            "format": "json5",
            "keys": {
                "skills.load.extraDirs": "custom_folders",
                "skills.load.allowSymlinkTargets": "trusted_links",
                "skills.allowBundled": "allowed_bundled",
                "skills.entries": "overrides",
                "skills.limits.maxSkillsLoadedPerSource": "limits.skills_per_root",
                "agents.defaults.skills": "agent_skills",
                "agents.defaults.workspace": "workspace",
            },
        }
    },
}
OPENCLAW_FILE = "/home/me/.openclaw/openclaw.json"

CLAUDE = {
    "name": "claude-code",
    "toggles": {"disableBundledSkills": {"default": False}},
    "settings_order": ["user", "project", "managed"],
    "settings": {
        name: {
            "at": [at],
            "format": "json5",
            "keys": {
                "skillOverrides": "visibility",
                "disableBundledSkills": "toggles.disableBundledSkills",
            },
        }
        for name, at in {
            "user": "{home}/.claude/settings.json",
            "project": "{cwd}/.claude/settings.json",
            "managed": "/etc/claude-code/managed-settings.json",
        }.items()
    },
}
CLAUDE_USER, CLAUDE_PROJECT = "/home/me/.claude/settings.json", f"{CWD}/.claude/settings.json"

_OWN = {"format": "toml", "refuse_unknown": True, "relative_to": "file"}
PROWESS = {
    "name": "prowess",
    "title": "Prowess",
    "places": CONFIG,
    "toggles": {"bundled": {}},
    "settings_order": ["user", "project"],
    "settings": {
        "user": {"at": ["{config}/prowess/prowess.toml"], **_OWN},
        "project": {"at": ["{ancestor}/prowess.toml", "{ancestor}/.prowess/prowess.toml"], **_OWN},
    },
}
PROWESS_USER, PROWESS_PROJECT = (
    "/home/me/.config/prowess/prowess.toml",
    f"{REPOSITORY}/prowess.toml",
)


def places_of(profile: Profile, env: dict[str, str] | None = None) -> Places:
    facts = make_facts(HOME, env=env)
    return name_places(profile.places, cwd=CWD, facts=facts, repository=REPOSITORY, given={})


def load(
    table: dict[str, Any], files: dict[str, Any] | MemoryFiles, env: dict[str, str] | None = None
) -> Settings:
    profile = msgspec.convert(table, Profile)
    files = files if isinstance(files, MemoryFiles) else MemoryFiles(files)
    return load_settings(profile, places_of(profile, env), make_facts(HOME, env=env), files)


def problem(table, files, env=None):
    with pytest.raises(SettingError) as raised:
        load(table, files, env)
    return str(raised.value)


def ignored(table, files, env=None):
    """Why a file of a host is ignored as a whole, in the words of an error."""
    settings = load(table, files, env)
    [finding] = settings.diagnostics
    assert (finding.code, settings.files) == ("settings-ignored", ())
    line = f":{finding.line}" if finding.line is not None else ""
    return f"{finding.file}{line}: {finding.message.removeprefix(IGNORED)}"
