"""`prowess config`: every setting with the file and line it came from."""

from __future__ import annotations

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    return terminal


def test_every_value_stands_with_its_place_and_every_file_with_whether_it_is_there(terminal):
    terminal.write("home/.config/prowess/prowess.toml", "enabled = true\n")
    terminal.write(
        "project/prowess.toml", '\nignore = ["x*"]\n\n[skills.pdf]\nenabled = false\nenv = { KEY = "s3cret" }\n'
    )
    answer = terminal.run("config")
    assert (answer.code, answer.err) == (0, "")
    rows = {line.split()[0]: line.split()[1:] for line in answer.out.splitlines() if line}
    assert rows["SETTING"] == ["VALUE", "FROM"]
    assert rows["enabled"] == ["true", "~/.config/prowess/prowess.toml:1"]
    assert rows["ignored"] == ['["x*"]', "prowess.toml:2"]
    assert rows["included"] == ["[]", "default"]
    assert rows["overrides.pdf.enabled"] == ["false", "prowess.toml:5"]
    assert rows["overrides.pdf.env.KEY"] == ["(set)", "prowess.toml:6"]
    assert "s3cret" not in answer.out
    assert answer.out.endswith(
        "\nSettings files, in the order of reading:\n"
        "  read       ~/.config/prowess/prowess.toml\n"
        "  read       prowess.toml\n"
        "  not there  .prowess/prowess.toml\n"
    )


def test_json_has_files_and_settings(terminal):
    terminal.write("home/.omp/agent/config.yml", "skills:\n  enableClaudeUser: true\n")
    shaped = terminal.json("config", "--host", "omp")
    file = terminal.path("home/.omp/agent/config.yml")
    assert (shaped["version"], shaped["host"], shaped["cwd"]) == (1, "omp", str(terminal.project))
    assert shaped["files"] == [{"path": file, "found": True}]
    values = {setting["key"]: setting for setting in shaped["settings"]}
    assert values["toggles.enableClaudeUser"] == {
        "key": "toggles.enableClaudeUser",
        "value": True,
        "file": file,
        "line": 2,
    }
    assert values["enabled"] == {"key": "enabled", "value": True, "file": None, "line": None}


def test_a_wrong_setting_is_an_error_that_names_file_line_and_key(terminal):
    terminal.write("project/prowess.toml", '# mine\nenabled = "perhaps"\n')
    answer = terminal.run("config")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"prowess: {terminal.path('project/prowess.toml')}:2: `enabled` ")


def test_a_setting_without_effect_is_reported(terminal):
    terminal.write("project/prowess.toml", "[toggles]\nenableNothing = true\n")
    out = terminal.run("config").out
    assert "prowess.toml\n    2  warning  `toggles.enableNothing` has no effect" in out


def test_a_host_without_settings_files_says_only_that(terminal):
    for host in ("codex", "spec"):
        assert terminal.run("config", "--host", host).out == "This host reads no settings files.\n"
        assert terminal.json("config", "--host", host)["settings"] == []


def test_what_nobody_set_is_shown_with_what_holds_then(terminal):
    rows = {one["key"]: one["value"] for one in terminal.json("config")["settings"] if one["file"] is None}
    assert {key: rows[key] for key in ("enabled", "skill_commands", "shell_commands", "approvals", "usage")} == {
        "enabled": True,
        "skill_commands": None,
        "shell_commands": None,
        "approvals": None,
        "usage": None,
    }
    tables = {key: rows[key] for key in ("permissions", "overrides", "tools", "toggles", "config")}
    assert tables == {"permissions": [], "overrides": {}, "tools": {}, "toggles": {}, "config": {}}
    profile = terminal.open().profile
    limits = {f"limits.{name}": getattr(profile.limits, name) for name in profile.limits.__struct_fields__}
    assert {key: value for key, value in rows.items() if key.startswith("limits.")} == limits
    assert {"workspace", "agent_skills"}.isdisjoint(rows)
    text = terminal.run("config").out
    assert "\nusage                    not set  default\n" in text
    assert "\ntools                    none     default\n" in text


def test_a_host_shows_what_its_own_files_can_set_and_nothing_else(terminal):
    keys = [one["key"] for one in terminal.json("config", "--host", "opencode")["settings"]]
    assert keys == ["custom_folders", "permissions"]
    rows = {one["key"]: one["value"] for one in terminal.json("config", "--host", "openclaw")["settings"]}
    assert {key: value for key, value in rows.items() if key.startswith(("limits.", "config", "work", "agent"))} == {
        "workspace": None,
        "agent_skills": None,
        "limits.file_bytes": 256_000,
        "limits.items_per_folder": 300,
        "limits.skills_per_root": 200,
        "config.browser.enabled": True,
        "config.browser.evaluateEnabled": True,
    }


def test_what_skills_can_require_is_shown_with_its_line_and_without_secrets(terminal):
    config = '{\n"browser": {"enabled": false},\n"weather": {\n"units": "metric",\n"apiKey": "s3cret", "days": 3}}'
    file = str(terminal.write("home/.openclaw/openclaw.json", config))
    shaped = terminal.json("config", "--host", "openclaw@documented")["settings"]
    assert [one for one in shaped if one["key"].startswith("config.")] == [
        {"key": "config.browser.enabled", "value": False, "file": file, "line": 2},
        {"key": "config.browser.evaluateEnabled", "value": True, "file": None, "line": None},
        {"key": "config.weather.apiKey", "value": "(set)", "file": file, "line": 5},
        {"key": "config.weather.days", "value": 3, "file": file, "line": 5},
        {"key": "config.weather.units", "value": "(set)", "file": file, "line": 4},
    ]
    own = str(terminal.write("project/prowess.toml", '[config.weather]\nunits = "metric"\n'))
    shaped = terminal.json("config")["settings"]
    assert {"key": "config.weather.units", "value": "metric", "file": own, "line": 2} in shaped


def test_entries_of_several_files_have_a_place_each(terminal):
    user = str(terminal.write("home/.config/prowess/prowess.toml", 'disabled = ["a"]\n'))
    own = str(terminal.write("project/prowess.toml", '\ndisabled = ["b"]\n'))
    shaped = {one["key"]: one for one in terminal.json("config")["settings"]}
    assert shaped["disabled_extensions"] == {
        "key": "disabled_extensions",
        "value": ["skill:a", "skill:b"],
        "file": own,
        "line": 2,
        "entries": [{"value": "skill:a", "file": user, "line": 1}, {"value": "skill:b", "file": own, "line": 2}],
    }
    assert '["skill:a","skill:b"]  ~/.config/prowess/prowess.toml:1, prowess.toml:2\n' in terminal.run("config").out
