"""`prowess doctor NAME`: what a skill is missing on this machine, how to fix it, nothing is run."""

from __future__ import annotations

import json

import pytest

from prowess.model.sandbox import SandboxSupport
from prowess.reports.requirements import Requirement, Way, report_requirements
from tests.cli.terminal import Terminal

WEATHER = """\
---
name: weather
description: Tells the weather.
metadata:
  openclaw:
    os: [linux, darwin]
    primaryEnv: WEATHER_KEY
    requires:
      bins: [sh, no-such-jq]
      anyBins: [no-such-a, no-such-b]
      env: [WEATHER_KEY, HOME]
      config: [weather.station]
    install:
      - {kind: brew, formula: jq, bins: [no-such-jq], label: Install jq by Homebrew}
      - {kind: uv, package: no-such-a, bins: [no-such-a]}
      - {kind: node, package: "jq; rm -rf ~", bins: [no-such-jq], label: Install jq by npm}
---
Look out of the window.
"""


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal(tmp_path, monkeypatch, capsys)
    terminal.git()
    monkeypatch.setattr("prowess.machine.facts._find_bin", lambda name: name in ("sh", "npm"))
    return terminal


@pytest.fixture
def on_linux(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")


WHOLE = """\
.agents/skills/weather/SKILL.md
✓  system          linux or darwin
✓  program         sh
✗  program         no-such-jq is missing
                   Install jq by Homebrew (needs brew, which is not installed)
                   $ brew install jq
                   Install jq by npm: no command shown, because `package` is not the name of a package
✗  one program of  no-such-a or no-such-b is missing
                   Install no-such-a with uv (needs uv, which is not installed)
                   $ uv tool install no-such-a
✗  variable        WEATHER_KEY is missing
                   set it in your shell or in its startup file
                   $ export WEATHER_KEY=VALUE
                   set `skills.weather.env.WEATHER_KEY` in ~/.config/prowess/prowess.toml
                   set `skills.weather.api_key` in ~/.config/prowess/prowess.toml
✓  variable        HOME
✗  setting         weather.station is missing
                   set `config.weather.station` in ~/.config/prowess/prowess.toml

“weather” cannot be used on this machine: the program no-such-jq cannot be found; \
none of the programs no-such-a or no-such-b can be found; the environment variable WEATHER_KEY is not set; \
the setting weather.station is not set.
Nothing was run. Review these commands before you run them.
"""


def test_everything_that_is_missing_is_shown_with_what_fixes_it(terminal, on_linux):
    terminal.write("project/.agents/skills/weather/SKILL.md", WEATHER)
    assert terminal.run("doctor", "weather") == (1, WHOLE, "")


def test_what_it_advises_really_fixes_it(terminal, monkeypatch):
    terminal.write("project/.agents/skills/weather/SKILL.md", WEATHER)
    terminal.write(
        "home/.config/prowess/prowess.toml",
        'skills.weather.api_key = "secret"\nconfig.weather.station = "north"\n',
    )
    monkeypatch.setattr("prowess.machine.facts._find_bin", lambda name: True)
    answer = terminal.run("doctor", "weather")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[-1] == "“weather” can be used on this machine."
    assert "✗" not in answer.out
    assert "secret" not in answer.out
    monkeypatch.setenv("WEATHER_KEY", "secret")
    terminal.write("home/.config/prowess/prowess.toml", 'config.weather.station = "north"\n')
    assert terminal.run("doctor", "weather").code == 0


def test_each_host_names_its_own_file_and_keys(terminal, on_linux):
    terminal.write("project/skills/weather/SKILL.md", WEATHER)
    workspace = {"agents": {"defaults": {"workspace": str(terminal.project)}}}
    terminal.write("home/.openclaw/openclaw.json", json.dumps(workspace))
    lines = terminal.run("doctor", "weather", "--host", "openclaw").out.splitlines()
    assert [line.strip() for line in lines if ".openclaw/" in line] == [
        "set `skills.entries.weather.env.WEATHER_KEY` in ~/.openclaw/openclaw.json",
        "set `skills.entries.weather.apiKey` in ~/.openclaw/openclaw.json",
        "set `weather.station` in ~/.openclaw/openclaw.json",
    ]


def test_a_skill_key_of_its_own_is_what_is_set(terminal):
    header = "---\nname: weather\ndescription: d\nmetadata: {openclaw: {skillKey: my.key, requires: {env: [NO_SUCH]}}}\n"
    terminal.write("project/.agents/skills/weather/SKILL.md", f"{header}---\nx\n")
    assert '`skills."my.key".env.NO_SUCH`' in terminal.run("doctor", "weather").out


def test_json_tells_the_same_and_the_exit_code_too(terminal, on_linux):
    terminal.write("project/.agents/skills/weather/SKILL.md", WEATHER)
    answer = terminal.run("doctor", "weather", "--json")
    told = json.loads(answer.out)
    assert (answer.code, told["eligible"], told["name"], told["skill"]["state"]) == (
        1,
        False,
        "weather",
        "ineligible",
    )
    assert [(one["kind"], one["names"], one["met"]) for one in told["requirements"]] == [
        ("os", ["linux", "darwin"], True),
        ("program", ["sh"], True),
        ("program", ["no-such-jq"], False),
        ("one-of-programs", ["no-such-a", "no-such-b"], False),
        ("variable", ["WEATHER_KEY"], False),
        ("variable", ["HOME"], True),
        ("setting", ["weather.station"], False),
    ]
    assert told["requirements"][2]["ways"] == [
        {
            "says": "Install jq by Homebrew (needs brew, which is not installed)",
            "command": "brew install jq",
            "ready": False,
        },
        {
            "says": "Install jq by npm: no command shown, because `package` is not the name of a package",
            "command": None,
            "ready": False,
        },
    ]
    assert told["verdict"].startswith(
        "“weather” cannot be used on this machine: the program no-such-jq "
    )


def test_another_system_cannot_be_fixed(terminal, on_linux):
    terminal.skill(
        "project/.agents/skills/mac",
        metadata="{openclaw: {os: [darwin], requires: {bins: [no-such]}}}",
    )
    assert terminal.run("doctor", "mac").out.splitlines()[1:3] == [
        "✗  system   darwin only",
        "            this machine runs linux",
    ]


def test_a_skill_that_asks_for_nothing_is_well(terminal):
    terminal.skill("project/.agents/skills/x")
    assert terminal.run("doctor", "x") == (
        0,
        ".agents/skills/x/SKILL.md\nIt has no requirements.\n\n“x” can be used on this machine.\n",
        "",
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"hide": "true"}, "However, it is hidden: its header says `hide: true`."),
        ({"enabled": "false"}, "However, it is disabled: its header says `enabled: false`."),
    ],
)
def test_what_else_keeps_a_skill_back_is_told_too(terminal, fields, said):
    terminal.skill("project/.agents/skills/x", **fields)
    answer = terminal.run("doctor", "x")
    assert (answer.code, answer.out.splitlines()[-1]) == (
        0,
        f"“x” can be used on this machine. {said}",
    )


def test_a_host_that_does_not_look_at_requirements_says_so(terminal):
    terminal.write("project/.claude/skills/weather/SKILL.md", WEATHER)
    answer = terminal.run("doctor", "weather", "--host", "claude-code")
    assert (answer.code, answer.out.splitlines()[-1]) == (
        0,
        "“weather” can be used on this machine: claude-code does not check requirements.",
    )


def test_a_skill_that_could_not_be_read_is_ill(terminal):
    terminal.write("project/.agents/skills/torn/SKILL.md", "---\nname: torn\n")
    answer = terminal.run("doctor", "torn")
    assert (answer.code, answer.err) == (1, "")
    assert (
        "error  The header that starts on line 1 is never closed by a `---` line.  header-unclosed"
        in answer.out
    )
    assert answer.out.splitlines()[-1].startswith(
        "“torn” could not be read, so its requirements are unknown: "
    )
    assert json.loads(terminal.run("doctor", "torn", "--json").out)["requirements"] == []


def test_a_name_nobody_has_is_an_error_that_names_the_nearest(terminal):
    terminal.skill("project/.agents/skills/weather")
    assert terminal.run("doctor", "wether") == (
        3,
        "",
        "prowess: There is no skill named “wether” here.\nDid you mean “weather”?\n",
    )


@pytest.mark.parametrize("name", ["X; rm -rf ~", "$(reboot)", "A=1 B", "-x", "1A", "Ä"])
def test_a_name_that_no_shell_can_set_never_becomes_a_command(terminal, name):
    fields = json.dumps({"openclaw": {"requires": {"env": [name]}}})
    terminal.skill("project/.agents/skills/x", metadata=fields)
    skills = terminal.open()
    assert report_requirements(skills, "x").missing == (
        Requirement(
            "variable",
            (name,),
            False,
            (Way("no shell can set a variable with this name; ask the author to rename it"),),
        ),
    )
    assert "export" not in terminal.run("doctor", "x").out


def test_nothing_is_ever_run(terminal, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError(f"ran {arguments}")

    for name in ("os.system", "subprocess.Popen", "os.posix_spawn", "os.execvpe"):
        monkeypatch.setattr(name, refuse)
    terminal.write("project/.agents/skills/weather/SKILL.md", WEATHER)
    for arguments in (("doctor", "weather"), ("check",), ("explain", "weather")):
        assert terminal.run(*arguments).code in (0, 1)


def test_what_an_author_wrote_cannot_steer_the_terminal(terminal):
    fields = {
        "openclaw": {
            "requires": {"bins": ["\x1b[31mx"]},
            "install": [{"kind": "brew", "formula": "\x1b]0;x\x07", "label": "\x1b[2J\u202e"}],
        }
    }
    terminal.skill("project/.agents/skills/x", metadata=json.dumps(fields))
    for arguments in (("doctor", "x"), ("check",)):
        out = terminal.run(*arguments).out
        assert out.replace("\n", "").isprintable()


def test_without_a_name_it_shows_what_keeps_skills_in_bounds(terminal):
    (terminal.home / ".ssh").mkdir()
    assert terminal.run("doctor") == (
        0,
        "Programs started by skills run in a sandbox (sandlock).\n"
        "  can write    .\n"
        "  cannot read  ~/.ssh\n"
        "  network      no\n"
        "  memory       4,096 MB\n"
        "  processes    256\n"
        "\n"
        f"{terminal.project} is not trusted: commands in its skills do not run.\n"
        "  `prowess trust` shows what would run, and asks.\n",
        "",
    )
    terminal.run("trust", "--yes")
    shown = terminal.json("doctor")
    assert shown["trusted"]["root"] == shown["project"] == str(terminal.project)
    assert shown["sandbox"]["policy"]["writable"] == [str(terminal.project)]
    assert shown["sandbox"]["confined"] is True


def test_it_says_where_the_sandbox_is_off_or_missing(terminal, monkeypatch):
    support = SandboxSupport(engine=None, reason="bubblewrap: the program is not installed")
    monkeypatch.setattr("prowess.reports.machine_report.find_support", lambda: support)
    assert terminal.run("doctor").out.splitlines()[0] == (
        "No sandbox is available, so you are asked before every run: bubblewrap: the program is not"
        " installed."
    )
    terminal.write("home/.config/prowess/prowess.toml", '[sandbox]\nmode = "off"\n')
    assert terminal.run("doctor").out.splitlines()[0] == (
        "The sandbox is off (`[sandbox] mode`): programs run with your permissions."
    )
    assert terminal.json("doctor")["sandbox"]["policy"] is None
