"""The five source toggles: what they switch off is still found, and names the toggle with its file
and line.
"""

from __future__ import annotations

import pytest

from tests.cli.terminal import Terminal

TOGGLES = (
    "enableCodexUser",
    "enableClaudeUser",
    "enableClaudeProject",
    "enablePiUser",
    "enablePiProject",
)


def write_everywhere(terminal: Terminal) -> None:
    """A skill in the folder of every source, called after the folder."""
    for folder in (".prowess", ".agents", ".claude", ".opencode", ".omp", ".codex", ".github"):
        terminal.skill(f"project/{folder}/skills/p{folder.replace('.', '-')}")
    terminal.skill("project/skills/p-plain")
    terminal.write("project/.claude/commands/p-command.md", "---\ndescription: d\n---\nDo it.\n")
    for folder in (".prowess", ".agents", ".claude", ".omp/agent", ".codex", ".config/opencode"):
        terminal.skill(
            f"home/{folder}/skills/u-{folder.strip('.').replace('.', '').replace('/', '-')}"
        )


def find_disabled(terminal: Terminal, *arguments: str) -> dict[str, str]:
    shown = terminal.json("list", "--all", *arguments)["skills"]
    return {one["name"]: one["reason"] for one in shown if one["state"] == "disabled"}


@pytest.mark.parametrize(
    ("toggle", "names"),
    [
        ("enableCodexUser", ["u-codex"]),
        ("enableClaudeUser", ["u-claude"]),
        ("enableClaudeProject", ["p-claude", "p-command"]),
        ("enablePiUser", ["u-omp-agent"]),
        ("enablePiProject", ["p-omp"]),
    ],
)
def test_a_toggle_in_our_own_file_switches_off_the_roots_of_its_source_and_no_other(
    terminal, toggle, names
):
    write_everywhere(terminal)
    assert find_disabled(terminal) == {}
    terminal.write("project/prowess.toml", f"[toggles]\n{toggle} = false\n")
    assert find_disabled(terminal) == dict.fromkeys(
        names, f"its source is switched off by {toggle}"
    )
    assert terminal.json("check")["diagnostics"] == []
    for one in terminal.json("list", "--all")["skills"]:
        if one["name"] in names:
            assert one["origin"] == {"file": terminal.path("project/prowess.toml"), "line": 2}


def test_with_all_five_off_only_our_own_folders_are_left(terminal):
    write_everywhere(terminal)
    terminal.write(
        "project/prowess.toml", "[toggles]\n" + "".join(f"{one} = false\n" for one in TOGGLES)
    )
    assert [one["name"] for one in terminal.json("list")["skills"]] == ["p-prowess", "u-prowess"]
    disabled = find_disabled(terminal)
    assert disabled["p-agents"] == "its source is switched off because every source toggle is off"
    assert disabled["p-claude"] == "its source is switched off by enableClaudeProject"
    found = {one["name"]: one for one in terminal.json("list", "--all")["skills"]}
    assert found["p-agents"]["origin"] == {"file": terminal.path("project/prowess.toml"), "line": 2}


def test_folders_of_one_distance_keep_their_order(terminal):
    for folder in (
        "skills",
        ".github/skills",
        ".codex/skills",
        ".omp/skills",
        ".opencode/skills",
        ".claude/skills",
    ):
        terminal.skill(f"project/{folder}/x")
    terminal.skill("project/.agents/skills/x")
    terminal.skill("project/.prowess/skills/x")
    terminal.skill("project/deep/skills/x")
    (terminal.project / "deep").mkdir(exist_ok=True)
    order = [".prowess/", ".agents/", ".claude/", ".opencode/", ".omp/", ".codex/", ".github/", ""]
    for folder in order:
        shown = terminal.json("list")["skills"]
        assert [one["location"] for one in shown] == [
            terminal.path(f"project/{folder}skills/x/SKILL.md")
        ]
        (terminal.project / f"{folder}skills/x/SKILL.md").unlink()


def test_a_project_cannot_switch_on_what_its_user_switched_off(terminal):
    terminal.skill("home/.claude/skills/pdf")
    terminal.write("home/.config/prowess/prowess.toml", "[toggles]\nenableClaudeUser = false\n")
    terminal.write("project/prowess.toml", "[toggles]\nenableClaudeUser = true\n")
    assert find_disabled(terminal) == {"pdf": "its source is switched off by enableClaudeUser"}
    assert [one["field"] for one in terminal.json("check")["diagnostics"]] == [
        "toggles.enableClaudeUser"
    ]


def test_an_unknown_toggle_names_those_there_are_the_nearest_first(terminal):
    terminal.write("project/prowess.toml", "[toggles]\nenableClaudeUsr = false\n")
    [found] = terminal.json("check")["diagnostics"]
    assert found["message"] == (
        "`toggles.enableClaudeUsr` has no effect: Prowess has no toggle `enableClaudeUsr`; "
        "its toggles are `enableClaudeUser`, `enableCodexUser`, `enableClaudeProject`, "
        "`enablePiUser`, `enablePiProject`."
    )
    assert (found["file"], found["line"]) == (terminal.path("project/prowess.toml"), 2)


def test_why_a_source_is_off_is_a_sentence_whatever_switched_it_off(terminal):
    terminal.skill("home/.agents/skills/pdf")
    terminal.skill("home/.config/opencode/skills/doc")
    lines = "".join(f"  {one}: false\n" for one in TOGGLES)
    terminal.write("home/.omp/agent/config.yml", f"skills:\n{lines}")
    shown = terminal.json("list", "--all", "--host", "omp@documented")["skills"]
    assert {one["name"]: one["reason"] for one in shown} == {
        "doc": "its source is switched off because every source toggle is off",
        "pdf": "its source is switched off because every source toggle is off",
    }
    assert find_disabled(terminal, "--host", "omp") == {
        "doc": "its source is switched off because opencode is not in enabledProviders"
    }
    told = terminal.run("explain", "doc", "--host", "omp@documented").out
    assert "switched off by every source" not in told
