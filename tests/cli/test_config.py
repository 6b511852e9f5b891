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


def test_a_host_without_settings_files_says_so(terminal):
    assert terminal.run("config", "--host", "codex").out.endswith("\nThis host reads no settings files.\n")
