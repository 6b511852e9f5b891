"""Keys of the hosts' own settings files that are misspelt: reported with file, line and the nearest
known key.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.settings.read.key_suggestions import is_near

OPENCODE = "project/opencode.json"
OMP = "home/.omp/agent/config.yml"
OPENCLAW = "home/.openclaw/openclaw.json"
CLAUDE = "project/.claude/settings.json"


@pytest.mark.parametrize(
    ("host", "file", "text", "line", "key", "nearest"),
    [
        ("opencode", OPENCODE, '{"skills":\n{"pathz": []}}', 2, "skills.pathz", "skills.paths"),
        ("opencode", OPENCODE, '{\n\n"permision": {}}', 3, "permision", "permission"),
        (
            "omp",
            OMP,
            "skills:\n  enableClaudUser: true\n",
            2,
            "skills.enableClaudUser",
            "skills.enableClaudeUser",
        ),
        ("omp", OMP, "disabledExtension: []\n", 1, "disabledExtension", "disabledExtensions"),
        (
            "openclaw",
            OPENCLAW,
            '{"skills": {"entries":\n{"a": {"enable": true}}}}',
            2,
            "skills.entries.a.enable",
            "skills.entries.a.enabled",
        ),
        (
            "openclaw",
            OPENCLAW,
            '{"skills": {"load":\n{"extraDir": []}}}',
            2,
            "skills.load.extraDir",
            "skills.load.extraDirs",
        ),
        (
            "openclaw@documented",
            OPENCLAW,
            '{"skills": {"a":\n{"enable": true}}}',
            2,
            "skills.a.enable",
            "skills.a.enabled",
        ),
        (
            "openclaw@documented",
            OPENCLAW,
            '{"skills": {"load":\n{"extraDir": []}}}',
            2,
            "skills.load.extraDir",
            "skills.load.extraDirs",
        ),
        ("claude-code", CLAUDE, '{\n"skillOverride": {}}', 2, "skillOverride", "skillOverrides"),
        (
            "claude-code",
            CLAUDE,
            '{\n"disableSkilShellExecution": true}',
            2,
            "disableSkilShellExecution",
            "disableSkillShellExecution",
        ),
    ],
)
def test_a_misspelt_key_is_a_warning_that_names_the_nearest(
    terminal, host, file, text, line, key, nearest
):
    terminal.write(file, text)
    message = f"`{key}` is not a known setting and has no effect; did you mean `{nearest}`?"
    found = {
        "code": "setting-ignored",
        "severity": "warning",
        "message": message,
        "file": terminal.path(file),
        "line": line,
        "field": key,
        "hint": f"Write `{nearest}`.",
    }
    assert terminal.json("config", "--host", host)["diagnostics"] == [found]
    assert terminal.json("check", "--host", host)["diagnostics"] == [found]


def test_an_unknown_key_in_a_table_about_skills_is_reported_though_nothing_is_near(terminal):
    terminal.write(OPENCODE, '{"skills": {"zzz": 1}}')
    (found,) = terminal.json("config", "--host", "opencode")["diagnostics"]
    assert (
        found["message"]
        == "`skills.zzz` is not a known setting and has no effect; the known ones are `skills.paths`, `skills.urls`."
    )


REAL: dict[str, tuple[str, dict[str, Any]]] = {
    "opencode": (
        OPENCODE,
        {
            "$schema": "", "theme": "", "keybinds": {}, "logLevel": "", "tui": {}, "command": {}, "watcher": {}, "plugin": [],
            "snapshot": True, "share": "", "autoshare": True, "autoupdate": True, "disabled_providers": [],
            "enabled_providers": [], "model": "", "small_model": "", "default_agent": "", "username": "", "mode": {},
            "agent": {}, "provider": {}, "mcp": {}, "formatter": {}, "lsp": {}, "instructions": [], "layout": "",
            "permission": {"edit": "ask", "bash": {"git *": "allow"}}, "tools": {}, "enterprise": {}, "experimental": {},
            "compaction": {}, "server": {}, "skills": {"paths": [], "urls": []},
        },
    ),
    "openclaw": (
        OPENCLAW,
        {
            "meta": {}, "env": {}, "wizard": {}, "diagnostics": {}, "logging": {}, "update": {}, "browser": {"enabled": True},
            "ui": {}, "auth": {}, "models": {}, "nodeHost": {}, "agents": {"defaults": {"model": "x"}, "list": []},
            "agent": {}, "tools": {}, "bindings": [], "broadcast": {}, "audio": {}, "media": {}, "messages": {},
            "commands": {}, "approvals": {}, "session": {}, "cron": {}, "hooks": {}, "web": {}, "channels": {}, "discovery": {},
            "canvasHost": {}, "talk": {}, "gateway": {}, "memory": {}, "plugins": {}, "security": {}, "mcp": {},
            "skills": {
                "allowBundled": ["a"],
                "load": {"extraDirs": [], "allowSymlinkTargets": [], "watch": True, "watchDebounceMs": 250},
                "install": {"preferBrew": True, "nodeManager": "npm", "allowUploadedArchives": False},
                "workshop": {"autonomous": {"enabled": False}, "approvalPolicy": "pending"},
                "entries": {"a": {"enabled": True, "apiKey": {"source": "env"}, "env": {"X": "1"}, "config": {"any": 1}}},
                "limits": {"maxSkillsInPrompt": 5, "maxSkillFileBytes": 100},
            },
        },
    ),
    "omp": (
        OMP,
        {
            "theme": "dark", "setupVersion": 1, "modelRoles": {}, "enabledModels": [], "skillful": True, "extensions": [],
            "disabledProviders": [], "enabledProviders": [], "disabledExtensions": [], "compaction": {}, "retry": {},
            "skills": {
                "enabled": True, "enableSkillCommands": True, "enableCodexUser": False, "enableAgentsUser": True,
                "enableAgentsProject": True, "customDirectories": [], "ignoredSkills": [], "includeSkills": [],
                "registryUrl": "https://x", "enableOpencodeUser": False,
            },
        },
    ),
    "claude-code": (
        CLAUDE,
        {
            "$schema": "", "apiKeyHelper": "", "cleanupPeriodDays": 1, "env": {}, "permissions": {"allow": [], "defaultMode": "x"},
            "hooks": {}, "model": "", "statusLine": {}, "outputStyle": "", "enabledPlugins": {}, "disableAllHooks": True,
            "skillOverrides": {"a": "off"}, "skillListingBudgetFraction": 0.1, "skillListingMaxDescChars": 5,
            "disableSkillShellExecution": False, "disableBundledSkills": True, "syncClaudeAiSkills": False,
            "strictPluginOnlyCustomization": True, "sandbox": {}, "language": "", "includeCoAuthoredBy": True,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("edition", ["current", "documented"])
@pytest.mark.parametrize("host", REAL)
def test_the_real_keys_of_a_host_raise_no_alarm(terminal, host, edition):
    file, data = REAL[host]
    if (host, edition) == ("omp", "documented"):
        data = {
            **data,
            "skills": {key: data["skills"][key] for key in data["skills"] if "Agents" not in key},
        }
    terminal.write(file, json.dumps(data))
    assert terminal.json("config", "--host", f"{host}@{edition}")["diagnostics"] == []


@pytest.mark.parametrize(
    ("host", "file", "text"),
    [
        ("openclaw", OPENCLAW, '{"skills": {"load": {"extraDirs": ["~/gone"]}}}'),
        ("omp", OMP, "skills: {customDirectories: [~/gone]}"),
        ("opencode", OPENCODE, '{"skills": {"paths": ["~/gone"]}}'),
        ("prowess", "home/.config/prowess/prowess.toml", 'folders = ["~/gone"]'),
    ],
)
def test_a_folder_that_a_setting_names_and_that_is_not_there_is_reported(
    terminal, host, file, text
):
    terminal.write(file, text)
    found = terminal.json("check", "--host", host)["diagnostics"]
    assert [(one["code"], one["file"]) for one in found] == [
        ("root-missing", terminal.path("home/gone"))
    ]


def test_words_are_near_by_one_letter_and_long_ones_by_two():
    assert is_near("skill", "skills")
    assert not is_near("skil", "skills")
    assert is_near("skillOverid", "skillOverride")
    assert not is_near("enabledExtensions", "disabledExtensions")
    assert not is_near("model", "agents")


@pytest.mark.parametrize("host", ["omp", "omp@documented"])
def test_lists_of_disabled_skills_at_the_top_and_below_skills_add_up(terminal, host):
    terminal.skill("project/.omp/skills/a")
    terminal.skill("project/.omp/skills/b")
    text = "disabledExtensions: [skill:a]\nskills:\n  disabledExtensions: [skill:b]\n"
    terminal.write("home/.omp/agent/config.yml", text)
    found = terminal.json("list", "--all", "--host", host)["skills"]
    assert {one["name"]: one["state"] for one in found} == {"a": "disabled", "b": "disabled"}
    assert terminal.json("check", "--host", host)["diagnostics"] == []
