"""`prowess enable` and `prowess disable` with `--host`: the host's own file is written, all else in
it kept.
"""

from __future__ import annotations

import json

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    for folder in ("project/.agents/skills", "project/.claude/skills"):
        terminal.skill(f"{folder}/pdf")
        terminal.skill(f"{folder}/doc")
    return terminal


def states(terminal: Terminal, host: str, name: str = "pdf") -> set[str]:
    """How the files of that name end, but for those that another beats."""
    shown = terminal.json("list", "--all", "--host", host)["skills"]
    return {one["state"] for one in shown if one["name"] == name} - {"shadowed"}


HOSTS = {
    "claude-code": ("project/.claude/settings.local.json", "skillOverrides.pdf", "disabled"),
    "opencode": ("project/opencode.json", "permission.skill.pdf", "denied"),
    "openclaw": ("home/.openclaw/openclaw.json", "skills.entries.pdf.enabled", "disabled"),
    "omp": ("home/.omp/agent/config.yml", "disabledExtensions", "disabled"),
    "omp@documented": ("home/.omp/agent/config.yml", "disabledExtensions", "disabled"),
    "codex": ("home/.codex/config.toml", "skills.config", "disabled"),
}


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_switched_in_its_own_file_and_back(terminal, host):
    file, key, state = HOSTS[host]
    answer = terminal.json("disable", "pdf", "--host", host)
    assert (answer["file"], answer["created"], answer["changed"]) == (
        terminal.path(file),
        True,
        True,
    )
    assert (answer["key"], answer["skill"]["state"]) == (key, state)
    assert (states(terminal, host), states(terminal, host, "doc")) == ({state}, {"ready"})
    again = terminal.run("disable", "pdf", "--host", host)
    assert (again.code, "nothing was written" in again.out) == (0, True)
    assert terminal.json("enable", "pdf", "--host", host)["skill"]["state"] == "ready"
    assert states(terminal, host) == {"ready"}
    assert not (terminal.project / "prowess.toml").exists()


def test_people_are_told_what_was_written_where_and_for_whom(terminal):
    assert terminal.run("disable", "pdf", "--host", "omp") == (
        0,
        "Disabled “pdf” with `disabledExtensions` in new file ~/.omp/agent/config.yml, for all your projects.\n"
        "It is now disabled: it is listed as `skill:pdf` (~/.omp/agent/config.yml:2).\n",
        "",
    )
    assert terminal.run("enable", "doc", "--host", "claude-code") == (
        0,
        "“doc” is not disabled; nothing was written.\nIt is ready.\n",
        "",
    )


def test_the_users_own_file_of_a_host_that_has_one(terminal):
    assert terminal.json("disable", "pdf", "--user", "--host", "claude-code")[
        "file"
    ] == terminal.path("home/.claude/settings.json")
    assert terminal.json("disable", "pdf", "--user", "--host", "opencode")["file"] == terminal.path(
        "home/.config/opencode/opencode.json"
    )
    assert states(terminal, "claude-code") == {"disabled"}


KEPT = [
    (
        "claude-code",
        "project/.claude/settings.json",
        '{\n\t"model": "opus",\n\t"skillOverrides": {\n\t\t"doc": "name-only"\n\t}\n}\n',
        '{\n\t"model": "opus",\n\t"skillOverrides": {\n\t\t"doc": "name-only",\n\t\t"pdf": "off"\n\t}\n}\n',
    ),
    (
        "claude-code",
        "project/.claude/settings.json",
        '{"skillOverrides": {"pdf": "name-only"}, "x": 1}',
        '{"skillOverrides": {"pdf": "off"}, "x": 1}',
    ),
    (
        "claude-code",
        "project/.claude/settings.json",
        "{}\n",
        '{\n  "skillOverrides": {\n    "pdf": "off"\n  }\n}\n',
    ),
    (
        "opencode",
        "project/opencode.jsonc",
        "// ours\r\n{\r\n  /* rules */ \"permission\": {\r\n    'skill': 'ask', // for now\r\n  },\r\n}\r\n",
        '// ours\r\n{\r\n  /* rules */ "permission": {\r\n'
        '    \'skill\': { "*": \'ask\', "pdf": "deny" }, // for now\r\n  },\r\n}\r\n',
    ),
    (
        "opencode",
        "project/opencode.json",
        '{\n  "permission": { "skill": { "*": "allow" } } // all\n}\n',
        '{\n  "permission": { "skill": { "*": "allow", "pdf": "deny" } } // all\n}\n',
    ),
    (
        "opencode",
        "project/opencode.json",
        '{ "permission": "allow" }',
        '{ "permission": { "*": "allow", "skill": {"pdf": "deny"} } }',
    ),
    (
        "openclaw",
        "home/.openclaw/openclaw.json",
        "{\n  // mine\n  skills: {\n    entries: {\n      doc: { enabled: true }, // keep\n      // the end\n    },\n  },\n}\n",
        "{\n  // mine\n  skills: {\n    entries: {\n      doc: { enabled: true }, // keep\n      // the end\n"
        '      "pdf": {\n        "enabled": false\n      }\n    },\n  },\n}\n',
    ),
    (
        "openclaw",
        "home/.openclaw/openclaw.json",
        "{ skills: { entries: { pdf: { env: {} } } } }",
        '{ skills: { entries: { pdf: { env: {}, "enabled": false } } } }',
    ),
    (
        "omp",
        "home/.omp/agent/config.yml",
        "# mine\ndisabledExtensions: # these\n  - skill:old # gone\n\nskills:\n  enabled: true\n",
        "# mine\ndisabledExtensions: # these\n  - skill:old # gone\n  - skill:pdf\n\nskills:\n  enabled: true\n",
    ),
    (
        "omp",
        "home/.omp/agent/config.yml",
        "disabledExtensions: [ 'skill:old' ] # these\nmodel: x\n",
        "disabledExtensions: [ 'skill:old', skill:pdf ] # these\nmodel: x\n",
    ),
    (
        "omp",
        "home/.omp/agent/config.yml",
        "disabledExtensions: []\n",
        "disabledExtensions: [skill:pdf]\n",
    ),
    (
        "omp",
        "home/.omp/agent/config.yml",
        "model: x",
        "model: x\ndisabledExtensions:\n  - skill:pdf\n",
    ),
    (
        "codex",
        "home/.codex/config.toml",
        '# mine\nmodel = "x"\n\n[[skills.config]]\nname = "pdf" # this\nenabled = true # yet\n\n[tui]\na = 1\n',
        '# mine\nmodel = "x"\n\n[[skills.config]]\nname = "pdf" # this\nenabled = false # yet\n\n[tui]\na = 1\n',
    ),
]


@pytest.mark.parametrize(("host", "file", "before", "after"), KEPT)
def test_comments_order_and_layout_are_kept(terminal, host, file, before, after):
    place = terminal.write(file, before)
    answer = terminal.json("disable", "pdf", "--host", host)
    assert (answer["file"], place.read_bytes().decode()) == (str(place), after)
    assert states(terminal, host) == {HOSTS[host][2]}
    assert terminal.json("enable", "pdf", "--host", host)["skill"]["state"] == "ready"


@pytest.mark.parametrize(
    ("host", "file", "text", "said"),
    [
        (
            "claude-code",
            "project/.claude/settings.json",
            '{\n  "skillOverrides": {"pdf": "on"},\n  "skillOverrides": {"pdf": "off", "pdf": "on"}\n}',
            None,
        ),
        (
            "omp",
            "home/.omp/agent/config.yml",
            "x: &list [skill:old]\ndisabledExtensions: *list\n",
            "home/.omp/agent/config.yml:2: can't disable “pdf” safely, so nothing was written; "
            "write `disabledExtensions: [skill:pdf]` by hand.",
        ),
        (
            "codex",
            "home/.codex/config.toml",
            'skills.config = [{ name = "doc", enabled = true }]\n',
            "home/.codex/config.toml:1: can't disable “pdf” safely, so nothing was written; "
            'write `[[skills.config]]` and below it `name = "pdf"`, `enabled = false` by hand.',
        ),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_named_with_what_to_write(
    terminal, host, file, text, said
):
    place = terminal.write(file, text)
    code, out, err = terminal.run("disable", "pdf", "--host", host)
    if said is None:
        assert (
            code,
            json.loads(terminal.run("list", "--json", "--all", "--host", host).out)["version"],
        ) == (0, 1)
        assert states(terminal, host) == {"disabled"}
        return
    assert (code, out, err) == (2, "", f"prowess: {terminal.root}/{said}\n")
    assert place.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("host", "file", "text", "reason"),
    [
        (
            "omp",
            "home/.omp/agent/config.yml",
            "skills:\n  enabled: false\n",
            "“pdf” stays disabled in oh-my-pi: all skills are switched off (~/.omp/agent/config.yml:2).",
        ),
        (
            "omp",
            "home/.omp/agent/config.yml",
            "skills:\n  ignoredSkills: [pdf]\n",
            "“pdf” stays disabled in oh-my-pi: its name matches the ignored pattern `pdf` (~/.omp/agent/config.yml:2).",
        ),
    ],
)
def test_what_the_switch_does_not_decide_is_named_and_nothing_is_written(
    terminal, host, file, text, reason
):
    place = terminal.write(file, text)
    code, out, err = terminal.run("enable", "pdf", "--host", host)
    assert (code, out) == (2, "")
    assert err == f"prowess: {reason} Nothing was written.\n"
    assert place.read_text(encoding="utf-8") == text


def test_a_later_pattern_of_the_same_file_that_undoes_the_switch_is_noticed(terminal):
    text = '{"permission": {"skill": {"pdf": "ask", "p*": "allow"}}}'
    place = terminal.write("project/opencode.json", text)
    code, out, err = terminal.run("disable", "pdf", "--host", "opencode")
    assert (code, out, err) == (
        2,
        "",
        "prowess: “pdf” would still be ready in opencode. Nothing was written.\n",
    )
    assert place.read_text(encoding="utf-8") == text


def test_a_host_without_a_switch_says_so(terminal):
    said = (
        "prowess: Agent Skills standard has no setting for a single skill. Nothing was written.\n"
    )
    code, out, err = terminal.run("disable", "pdf", "--host", "spec")
    assert (code, out, err.partition(" has no setting")[2]) == (
        2,
        "",
        said.partition(" has no setting")[2],
    )


def test_codex_is_switched_by_the_path_of_a_file_too(terminal):
    location = terminal.path("project/.agents/skills/pdf/SKILL.md")
    terminal.write(
        "home/.codex/config.toml", f'[[skills.config]]\npath = "{location}"\nenabled = false\n'
    )
    assert (states(terminal, "codex"), states(terminal, "codex", "doc")) == (
        {"disabled"},
        {"ready"},
    )
    assert terminal.json("enable", "pdf", "--host", "codex")["skill"]["state"] == "ready"
    text = (terminal.home / ".codex/config.toml").read_text(encoding="utf-8")
    assert text == f'[[skills.config]]\npath = "{location}"\nenabled = true\n'


def test_a_skill_with_a_key_of_its_own_is_switched_by_that_key(terminal):
    metadata = '{"openclaw": {"skillKey": "papers"}}'
    terminal.skill("project/.agents/skills/pdf", metadata=metadata)
    terminal.skill("project/.claude/skills/pdf", metadata=metadata)
    assert (
        terminal.json("disable", "pdf", "--host", "openclaw")["key"]
        == "skills.entries.papers.enabled"
    )
    assert states(terminal, "openclaw") == {"disabled"}


@pytest.mark.parametrize("command", ["enable", "disable"])
def test_the_help_says_what_is_written_where(terminal, command):
    told = terminal.run(command, "--help").out
    for words in (
        "skillOverrides",
        "permission.skill",
        "skills.entries",
        "disabledExtensions",
        "[[skills.config]]",
    ):
        assert words in told


@pytest.mark.parametrize(
    ("host", "file", "key"),
    [
        ("gemini", "project/.gemini/settings.json", "skills.disabled"),
        ("qwen", "project/.qwen/settings.json", "skills.disabled"),
        ("copilot", "home/.copilot/settings.json", "disabledSkills"),
        ("crush", "project/crush.json", "options.disabled_skills"),
    ],
)
def test_a_list_of_disabled_names_is_edited(terminal, monkeypatch, host, file, key):
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    terminal.skill("project/.agents/skills/a")
    terminal.skill("project/.agents/skills/b")

    def list_states() -> list[str]:
        found = terminal.json("list", "--all", "--host", host)["skills"]
        return [one["state"] for one in found if one["name"] in ("a", "b")]

    shape = terminal.json("disable", "a", "--host", host)
    assert (shape["key"], shape["file"]) == (key, terminal.path(file))
    assert list_states() == ["disabled", "ready"]
    terminal.json("disable", "b", "--host", host)
    terminal.json("enable", "a", "--host", host)
    assert list_states() == ["ready", "disabled"]
