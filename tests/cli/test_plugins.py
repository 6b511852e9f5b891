"""`prowess plugins`: the list, and the switches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.terminal import Terminal

CLAUDE = "home/.claude/plugins"


@pytest.fixture(autouse=True)
def _no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages of the developer's own Python must not change an answer."""
    monkeypatch.setattr("prowess.machine.facts._holds_packages", lambda path: False)


def write_json(terminal: Terminal, path: str, data: Any) -> None:
    terminal.write(path, json.dumps(data))


@pytest.fixture
def installed(terminal: Terminal) -> Terminal:
    """A plugin of Claude Code with one of everything."""
    folder = f"{CLAUDE}/cache/tools"
    entry = {"scope": "user", "installPath": terminal.path(folder), "version": "1.0.0"}
    listed = {"version": 2, "plugins": {"tools@market": [entry]}}
    write_json(terminal, f"{CLAUDE}/installed_plugins.json", listed)
    manifest = {"name": "tools", "version": "1.0.0", "description": "Tools."}
    write_json(terminal, f"{folder}/.claude-plugin/plugin.json", manifest)
    hook = {"type": "command", "command": "echo hi"}
    hooks = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}
    write_json(terminal, f"{folder}/hooks/hooks.json", hooks)
    servers = {"mcpServers": {"db": {"command": "${CLAUDE_PLUGIN_ROOT}/serve", "env": {"K": "s"}}}}
    write_json(terminal, f"{folder}/.mcp.json", servers)
    terminal.skill(f"{folder}/skills/pdf", "")
    terminal.skill(f"{folder}/skills/xls", "")
    terminal.write(f"{folder}/commands/hello.md", "Hello\n")
    terminal.write(f"{folder}/agents/reviewer.md", "---\ndescription: d\n---\nReview.\n")
    return terminal


def read_plugins(terminal: Terminal, *options: str) -> list[dict[str, Any]]:
    answer = terminal.run("plugins", "--json", *options)
    assert (answer.code, answer.err) == (0, "")
    shaped = json.loads(answer.out)
    plugins: list[dict[str, Any]] = shaped["plugins"]
    return plugins


def test_every_plugin_is_listed_with_what_it_brings(installed: Terminal):
    answer = installed.run("plugins", "--host", "claude-code")
    assert answer.code == 0
    heading, row = answer.out.splitlines()
    assert heading.split() == ["PLUGIN", "STATE", "BRINGS", "FROM"]
    assert "tools@market 1.0.0" in row
    assert "off" in row
    assert "2 skills, 1 command, 1 agent, 1 hook, 1 MCP server" in row


def test_the_list_as_json_has_every_part_and_no_secret(installed: Terminal):
    [plugin] = read_plugins(installed, "--host", "claude-code")
    folder = installed.path(f"{CLAUDE}/cache/tools")
    assert {key: plugin[key] for key in ("id", "enabled", "trusted", "owner", "version")} == {
        "id": "tools@market",
        "enabled": False,
        "trusted": True,
        "owner": "user",
        "version": "1.0.0",
    }
    assert [one["name"] for one in plugin["skills"]] == ["tools:pdf", "tools:xls"]
    assert plugin["agents"] == [f"{folder}/agents/reviewer.md"]
    assert plugin["hooks"] == [{"event": "PreToolUse", "matcher": "Bash", "command": "echo hi"}]
    assert plugin["servers"] == [
        {"name": "tools:db", "transport": "stdio", "target": f"{folder}/serve"}
    ]


def test_without_plugins_that_is_said(terminal: Terminal):
    answer = terminal.run("plugins", "--host", "claude-code")
    assert (answer.code, answer.out) == (0, "Claude Code has no plugins here.\n")


@pytest.mark.parametrize("name", ["tools", "tools@market"])
def test_a_plugin_is_switched_in_prowess_toml(installed: Terminal, name: str):
    text = "# Mine\nignore = []\n\n[limits] # small\nfile_bytes = 1_000\n"
    installed.write("project/prowess.toml", text)
    answer = installed.run("plugins", "enable", name)
    assert (answer.code, answer.out) == (
        0,
        'Set `enabled_plugins."tools@market"` to true in prowess.toml.\n'
        "The plugin tools@market is on.\n",
    )
    written = (installed.project / "prowess.toml").read_text(encoding="utf-8")
    assert written == text + '\n[enabled_plugins]\n"tools@market" = true\n'
    assert {skill.name for skill in installed.open()} == {"tools:pdf", "tools:xls", "tools:hello"}
    installed.run("plugins", "disable", name)
    written = (installed.project / "prowess.toml").read_text(encoding="utf-8")
    assert written == text + '\n[enabled_plugins]\n"tools@market" = false\n'
    again = installed.run("plugins", "disable", name)
    assert "already; nothing was written" in again.out


def test_a_plugin_is_switched_for_the_user(installed: Terminal):
    answer = installed.run("plugins", "enable", "tools", "--user", "--json")
    shaped = json.loads(answer.out)
    assert (shaped["enabled"], shaped["created"]) == (True, True)
    assert shaped["file"] == installed.path("home/.config/prowess/prowess.toml")


@pytest.mark.parametrize(
    ("options", "file"),
    [
        ((), "project/.claude/settings.local.json"),
        (("--user",), "home/.claude/settings.json"),
    ],
)
def test_a_plugin_is_switched_in_claude_codes_own_file(
    installed: Terminal, options: tuple[str, ...], file: str
):
    installed.write(file, '{\n  "model": "opus"\n}\n')
    installed.run("plugins", "enable", "tools", "--host", "claude-code", *options)
    written = json.loads((installed.root / file).read_text(encoding="utf-8"))
    assert written == {"model": "opus", "enabledPlugins": {"tools@market": True}}
    [plugin] = read_plugins(installed, "--host", "claude-code")
    assert plugin["enabled"] is True
    assert plugin["switched_in"].startswith(installed.path(file))


def test_a_plugin_is_switched_in_the_files_of_openclaw_and_codex(terminal: Terminal):
    write_json(
        terminal, "home/.openclaw/extensions/v/openclaw.plugin.json", {"id": "voice", "skills": []}
    )
    terminal.run("plugins", "disable", "voice", "--host", "openclaw")
    config = json.loads((terminal.root / "home/.openclaw/openclaw.json").read_text("utf-8"))
    assert config == {"plugins": {"entries": {"voice": {"enabled": False}}}}
    terminal.write("home/.codex/config.toml", '[plugins."p@m"]\nenabled = true\n')
    terminal.skill("home/.codex/plugins/cache/m/p/1.0/skills/s")
    terminal.run("plugins", "disable", "p", "--host", "codex")
    text = (terminal.root / "home/.codex/config.toml").read_text("utf-8")
    assert text == '[plugins."p@m"]\nenabled = false\n'


def test_an_unknown_plugin_is_no_plugin(installed: Terminal):
    answer = installed.run("plugins", "enable", "tool")
    assert answer.code == 3
    assert "There is no plugin “tool”." in answer.err
    assert "Did you mean “tools”" in answer.err


def test_a_host_without_such_a_setting_says_so(terminal: Terminal):
    terminal.write("home/.omp/agent/config.yml", f'extensions: ["{terminal.path("ext")}"]\n')
    terminal.skill("ext/skills/a")
    answer = terminal.run("plugins", "disable", "ext", "--host", "omp")
    assert answer.code == 2
    assert "has no setting for a plugin" in answer.err


@pytest.mark.parametrize("option", ["--extension", "-e", "--plugin-dir"])
def test_every_scan_can_load_an_extension(terminal: Terminal, option: str):
    terminal.skill("ext/skills/a")
    answer = terminal.run("list", "--host", "omp", option, terminal.path("ext"), "--json")
    assert [one["name"] for one in json.loads(answer.out)["skills"]] == ["a"]
    [plugin] = read_plugins(terminal, "--host", "omp", option, terminal.path("ext"))
    assert (plugin["id"], plugin["origin"]) == ("ext@extension", "--extension")


def test_a_plugin_that_a_project_brings_is_not_trusted(terminal: Terminal):
    terminal.write("project/prowess.toml", 'plugins = ["tools"]\n')
    terminal.skill("project/tools/skills/a")
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    write_json(terminal, "project/tools/hooks/hooks.json", hooks)
    # Those that ship come after it.
    plugin, *others = read_plugins(terminal)
    assert {one["owner"] for one in others} == {"bundled"}
    assert (plugin["enabled"], plugin["trusted"], len(plugin["hooks"])) == (True, False, 1)
    assert "on, not trusted" in terminal.run("plugins").out
    terminal.run("trust", "--yes")
    assert read_plugins(terminal)[0]["trusted"] is True


@pytest.mark.parametrize("owner", ["project", "home"])
def test_skills_of_a_plugin_between_skills_belong_to_the_plugin(terminal: Terminal, owner: str):
    folder = f"{owner}/.claude/skills/pp"
    write_json(terminal, f"{folder}/.claude-plugin/plugin.json", {"name": "pp"})
    terminal.skill(f"{folder}/skills/x", "")
    terminal.skill(f"{folder}/skills/deep/y", "")
    terminal.skill("home/.agents/skills/x", "")

    def list_states() -> dict[str, str]:
        answer = terminal.json("list", "--all")
        assert len({one["name"] for one in answer["skills"]}) == len(answer["skills"])
        return {one["name"]: one["state"] for one in answer["skills"]}

    assert list_states() == {"x": "ready", "pp:x": "ready", "pp:y": "ready"}
    terminal.run("plugins", "disable", "pp@skills-dir")
    assert list_states() == {"x": "ready", "pp:x": "disabled", "pp:y": "disabled"}


@pytest.mark.parametrize("host", ["prowess", "claude-code"])
@pytest.mark.parametrize("name", ["pp:x", "pp:greet"])
def test_a_body_can_name_the_folder_of_its_plugin(terminal: Terminal, host: str, name: str):
    folder = "home/.claude/skills/pp"
    write_json(terminal, f"{folder}/.claude-plugin/plugin.json", {"name": "pp"})
    terminal.skill(f"{folder}/skills/x", "", body="Run ${CLAUDE_PLUGIN_ROOT}/bin/go.\n")
    terminal.write(f"{folder}/commands/greet.md", "Run ${CLAUDE_PLUGIN_ROOT}/bin/go.\n")
    answer = terminal.run("activate", name, "--host", host)
    assert f"Run {terminal.path(folder)}/bin/go." in answer.out


def test_the_folder_of_a_plugin_is_left_as_it_is_elsewhere(terminal: Terminal):
    terminal.skill("home/.claude/skills/x", "", body="Run ${CLAUDE_PLUGIN_ROOT}/bin/go.\n")
    answer = terminal.run("activate", "x")
    assert "Run ${CLAUDE_PLUGIN_ROOT}/bin/go." in answer.out
    assert "because the skill is in no plugin" in answer.err
