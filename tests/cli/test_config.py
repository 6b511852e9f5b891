"""`prowess config`: every setting with the file and line it came from."""

from __future__ import annotations

import pytest

from tests.cli.terminal import Terminal


def test_every_value_stands_with_its_place_and_every_file_with_whether_it_is_there(terminal):
    terminal.write("home/.config/prowess/prowess.toml", "enabled = true\n")
    terminal.write(
        "project/prowess.toml",
        '\nignore = ["x*"]\n\n[skills.pdf]\nenabled = false\nenv = { KEY = "s3cret" }\n',
    )
    answer = terminal.run("config")
    assert (answer.code, answer.err) == (0, "")
    rows = {line.split()[0]: line.split()[1:] for line in answer.out.splitlines() if line}
    assert rows["SETTING"] == ["VALUE", "FROM"]
    assert rows["enabled"] == ["true", "~/.config/prowess/prowess.toml:1"]
    assert rows["ignore"] == ['["x*"]', "prowess.toml:2"]
    assert rows["include"] == ["[]", "default"]
    assert rows["skills.pdf.enabled"] == ["false", "prowess.toml:5"]
    assert rows["skills.pdf.env.KEY"] == ["(set)", "prowess.toml:6"]
    assert "s3cret" not in answer.out
    assert answer.out.endswith(
        "\nSettings files, in reading order:\n"
        "  read     ~/.config/prowess/prowess.toml\n"
        "  read     prowess.toml\n"
        "  missing  .prowess/prowess.toml\n"
    )


def test_json_has_files_and_settings(terminal):
    terminal.write("home/.omp/agent/config.yml", "skills:\n  enableClaudeUser: true\n")
    shaped = terminal.json("config", "--host", "omp")
    file = terminal.path("home/.omp/agent/config.yml")
    assert (shaped["version"], shaped["host"], shaped["cwd"]) == (1, "omp", str(terminal.project))
    assert [one["path"] for one in shaped["files"] if one["found"]] == [file]
    assert [one["path"] for one in shaped["files"]] == [
        terminal.path("home/.omp/agent/config.yaml"),
        file,
        terminal.path("project/.omp/settings.json"),
        terminal.path("project/.omp/config.yml"),
        terminal.path("project/.claude/settings.json"),
    ]
    values = {setting["key"]: setting for setting in shaped["settings"]}
    assert values["toggles.enableClaudeUser"] == {
        "key": "toggles.enableClaudeUser",
        "written": "skills.enableClaudeUser",
        "value": True,
        "file": file,
        "line": 2,
    }
    assert values["enabled"] == {
        "key": "enabled",
        "written": "skills.enabled",
        "value": True,
        "file": None,
        "line": None,
    }


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
    assert terminal.run("config", "--host", "spec").out == "This host reads no settings files.\n"
    assert terminal.json("config", "--host", "spec")["settings"] == []


def test_what_nobody_set_is_shown_with_what_holds_then(terminal):
    rows = {
        one["key"]: one["value"]
        for one in terminal.json("config")["settings"]
        if one["file"] is None
    }
    assert {
        key: rows[key]
        for key in ("enabled", "skill_commands", "shell_commands", "approvals", "usage")
    } == {
        "enabled": True,
        "skill_commands": None,
        "shell_commands": None,
        "approvals": None,
        "usage": None,
    }
    tables = {key: rows[key] for key in ("permissions", "overrides", "tools", "config")}
    assert tables == {"permissions": [], "overrides": {}, "tools": {}, "config": {}}
    assert [key for key, value in rows.items() if key.startswith("toggles.") and value is True] == [
        "toggles.enableClaudeProject",
        "toggles.enableClaudeUser",
        "toggles.enableCodexUser",
        "toggles.enablePiProject",
        "toggles.enablePiUser",
    ]
    profile = terminal.open().profile
    limits = {
        f"limits.{name}": getattr(profile.limits, name) for name in profile.limits.__struct_fields__
    }
    assert {key: value for key, value in rows.items() if key.startswith("limits.")} == limits
    assert {"workspace", "agent_skills"}.isdisjoint(rows)
    lines = [line.split() for line in terminal.run("config").out.splitlines()]
    assert ["usage", "not", "set", "default"] in lines
    assert ["tools", "none", "default"] in lines


def test_a_host_shows_what_its_own_files_can_set_and_nothing_else(terminal):
    keys = [one["key"] for one in terminal.json("config", "--host", "opencode")["settings"]]
    assert keys == ["custom_folders", "remote_urls", "permissions", "mcp_servers"]
    rows = {
        one["key"]: one["value"]
        for one in terminal.json("config", "--host", "openclaw")["settings"]
    }
    assert {
        key: value
        for key, value in rows.items()
        if key.startswith(("limits.", "config", "work", "agent"))
    } == {
        "workspace": None,
        "agent_skills": None,
        "agent_entries": {},
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
        {
            "key": "config.browser.enabled",
            "written": "browser.enabled",
            "value": False,
            "file": file,
            "line": 2,
        },
        {
            "key": "config.browser.evaluateEnabled",
            "written": "browser.evaluateEnabled",
            "value": True,
            "file": None,
            "line": None,
        },
        {
            "key": "config.weather.apiKey",
            "written": "weather.apiKey",
            "value": "(set)",
            "file": file,
            "line": 5,
        },
        {
            "key": "config.weather.days",
            "written": "weather.days",
            "value": 3,
            "file": file,
            "line": 5,
        },
        {
            "key": "config.weather.units",
            "written": "weather.units",
            "value": "(set)",
            "file": file,
            "line": 4,
        },
    ]
    own = str(terminal.write("project/prowess.toml", '[config.weather]\nunits = "metric"\n'))
    shaped = terminal.json("config")["settings"]
    units = "config.weather.units"
    assert {"key": units, "written": units, "value": "metric", "file": own, "line": 2} in shaped


def test_entries_of_several_files_have_a_place_each(terminal):
    user = str(terminal.write("home/.config/prowess/prowess.toml", 'disabled = ["a"]\n'))
    own = str(terminal.write("project/prowess.toml", '\ndisabled = ["b"]\n'))
    shaped = {one["key"]: one for one in terminal.json("config")["settings"]}
    assert shaped["disabled_extensions"] == {
        "key": "disabled_extensions",
        "written": "disabled",
        "value": ["skill:a", "skill:b"],
        "file": own,
        "line": 2,
        "entries": [
            {"value": "skill:a", "file": user, "line": 1},
            {"value": "skill:b", "file": own, "line": 2},
        ],
    }
    assert (
        '["skill:a","skill:b"]  ~/.config/prowess/prowess.toml:1, prowess.toml:2\n'
        in terminal.run("config").out
    )


def read_rows(terminal: Terminal, host: str) -> dict[str, str]:
    out = terminal.run("config", "--host", host).out.partition("\n\n")[0]
    return {
        line.split()[0]: line.split()[1]
        for line in out.splitlines()[1:]
        if not line.startswith(" ")
    }


def test_keys_are_shown_as_the_file_of_the_host_has_them(terminal):
    terminal.write(
        "home/.omp/agent/config.yml",
        "disabledExtensions: [skill:a]\nskills:\n  ignoredSkills: [b]\n",
    )
    terminal.write(
        "project/.claude/settings.json",
        '{"skillOverrides": {"x": "off"}, "disableSkillShellExecution": true}',
    )
    terminal.write(
        "home/.openclaw/openclaw.json", '{skills: {entries: {x: {enabled: false, apiKey: "k"}}}}'
    )
    terminal.write(
        "project/opencode.json",
        '{"permission": {"skill": "ask"}, "agent": {"plan": {"tools": {"skill": false}}}}',
    )
    terminal.write(
        "project/prowess.toml", 'disabled = ["a"]\nfolders = ["."]\n[skills.x]\nenabled = false\n'
    )
    own = read_rows(terminal, "prowess")
    assert {
        "disabled",
        "ignore",
        "include",
        "folders",
        "plugins",
        "discovery.trusted_links",
        "skills.x.enabled",
    } <= set(own)
    assert not {"disabled_extensions", "ignored", "custom_folders", "overrides.x.enabled"} & set(
        own
    )
    omp = read_rows(terminal, "omp")
    assert (omp["disabledExtensions"], omp["skills.ignoredSkills"]) == ('["skill:a"]', '["b"]')
    assert (omp["skills.enableClaudeUser"], omp["skills.enabled"]) == ("false", "true")
    claude = read_rows(terminal, "claude-code")
    assert (claude["skillOverrides.x"], claude["disableSkillShellExecution"]) == ("off", "true")
    assert claude["skillListingBudgetFraction"] == "0.01"
    openclaw = read_rows(terminal, "openclaw")
    assert (openclaw["skills.entries.x.enabled"], openclaw["skills.entries.x.apiKey"]) == (
        "false",
        "(set)",
    )
    assert "skills.limits.maxSkillFileBytes" in openclaw
    opencode = read_rows(terminal, "opencode")
    assert {"skills.paths", "permission", "agent.plan"} <= set(opencode)
    shaped = terminal.json("config")["settings"]
    names = {one["key"]: one["written"] for one in shaped}
    assert (names["disabled_extensions"], names["overrides.x.enabled"]) == (
        "disabled",
        "skills.x.enabled",
    )
    shaped = terminal.json("config", "--host", "claude-code")["settings"]
    [shell] = [one for one in shaped if one["key"] == "shell_commands"]
    assert (shell["value"], shell["written"]) == (False, "disableSkillShellExecution")


def test_seconds_may_have_decimals_and_are_shown_as_people_write_them(terminal):
    assert read_rows(terminal, "prowess")["limits.seconds_per_root"] == "60"
    terminal.write("project/prowess.toml", "[limits]\nseconds_per_root = 0.5\n")
    assert read_rows(terminal, "prowess")["limits.seconds_per_root"] == "0.5"
    for wrong in ("-0.5", "nan", "inf", "true"):
        terminal.write("project/prowess.toml", f"[limits]\nseconds_per_root = {wrong}\n")
        answer = terminal.run("config")
        assert (answer.code, "must be a number, 0 or more; got " in answer.err) == (2, True)
    terminal.write("project/prowess.toml", "[limits]\nfile_bytes = 0.5\n")
    assert "a whole number, 0 or more" in terminal.run("config").err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[agent]\ncompact_at = 7\n", "a share of the context window, from 0 (never) to 1"),
        ('[permissions]\nallow = "Bash"\n', 'write it as `bash = "allow"`'),
        ('[permissions]\ndeny = ["Bash"]\n', 'write it as `bash = "deny"`'),
    ],
)
def test_a_wrong_value_says_what_can_be_written(terminal, text, said):
    terminal.write("home/.config/prowess/prowess.toml", text)
    answer = terminal.run("config")
    assert answer.code == 2
    assert said in " ".join(answer.err.split())


def test_the_help_says_that_lists_add_up(terminal):
    told = " ".join(terminal.run("config", "--help").out.split())
    assert "A later file replaces values of an earlier one" not in told
    assert "the lists `disabled` and `ignore` of all files add up" in told
