"""`prowess explain NAME`: every file that claimed a name, what each stage did with it, who won and
why.
"""

from __future__ import annotations

import json

import pytest

from tests.cli.terminal import Terminal


def test_the_journey_of_a_name_that_three_files_claim(terminal):
    terminal.skill("project/.agents/skills/pdf")
    terminal.write(
        "project/.claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: a: b\n---\nx\n"
    )
    terminal.skill("home/.claude/skills/pdf")
    scanned = terminal.scan().roots
    roots = len(scanned)
    folders = ("project/.agents/skills", "project/.claude/skills", "home/.claude/skills")
    agents, claude, user = (
        next(root.order + 1 for root in scanned if root.path == terminal.path(folder))
        for folder in folders
    )
    reason = ".agents/skills/pdf/SKILL.md (agents:project) has the same name and is stronger"
    answer = terminal.run("explain", "pdf")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "“pdf” is ready: .agents/skills/pdf/SKILL.md is offered to the model; it won over 2 other files with this name.\n"
        "\n"
        "● .agents/skills/pdf/SKILL.md\n"
        f"  discover  found in .agents/skills, root {agents} of {roots} (project, agents:project)\n"
        "            searched because it is in the working folder\n"
        "  parse     read; its name is pdf\n"
        "  resolve   won over 2 other files with this name\n"
        "            rule: the strongest scope wins (managed, project, user, added, plugin, remote, bundled), "
        "then the first in scan order\n"
        "  gate      it can be offered\n"
        "  present   the model sees its name and full description\n"
        "  state     ready\n"
        "\n"
        "↓ .claude/skills/pdf/SKILL.md\n"
        f"  discover  found in .claude/skills, root {claude} of {roots} (project, claude:project)\n"
        "            searched because it is in the working folder\n"
        "  parse     read; its name is pdf\n"
        "            warning on line 3 (yaml-unquoted-colon): "
        "The value of `description` contains `: `, which YAML reads as a new key.\n"
        f"  resolve   shadowed: {reason}\n"
        f"            because root {agents} is searched before root {claude}\n"
        "  gate      it can be offered\n"
        "  state     shadowed\n"
        "\n"
        "↓ ~/.claude/skills/pdf/SKILL.md\n"
        f"  discover  found in ~/.claude/skills, root {user} of {roots} (user, claude:user)\n"
        "            searched because prowess keeps user skills there\n"
        "  parse     read; its name is pdf\n"
        f"  resolve   shadowed: {reason}\n"
        "            because project is stronger than user\n"
        "  gate      it can be offered\n"
        "  state     shadowed\n"
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "“x” is ready: .agents/skills/x/SKILL.md is offered to the model."),
        (
            {"disable_model_invocation": "true"},
            "“x” is loaded, but hidden from the model: its header says `disable-model-invocation: true`.",
        ),
        (
            {"paths": '"*.sql"'},
            "“x” is loaded, but dormant: it waits for a file that matches *.sql.",
        ),
        (
            {"metadata": '{"openclaw": {"requires": {"bins": ["no-such-program"]}}}'},
            "“x” cannot be used on this machine: the program no-such-program cannot be found.",
        ),
        ({"enabled": "false"}, "“x” is disabled: its header says `enabled: false`."),
    ],
)
def test_the_answer_stands_in_one_sentence_at_the_top(terminal, fields, said):
    terminal.skill("project/.agents/skills/x", **fields)
    answer = terminal.run("explain", "x")
    assert (answer.code, answer.out.splitlines()[0]) == (0, said)


def test_a_file_that_could_not_be_loaded_keeps_its_reason_and_says_what_to_do(terminal):
    terminal.write("project/.agents/skills/torn/SKILL.md", "---\nname: torn\n")
    lines = terminal.run("explain", "torn").out.splitlines()
    assert (
        lines[0]
        == "“torn” could not be loaded: the header that starts on line 1 is never closed by a `---` line."
    )
    assert lines[5:7] == [
        "  parse     invalid: the header that starts on line 1 is never closed by a `---` line",
        "            error on line 1 (header-unclosed): Add a `---` line after the last field.",
    ]
    assert lines[-1] == "  state     invalid"


@pytest.mark.parametrize(
    ("host", "winner", "rule", "why"),
    [
        (
            "spec",
            ".agents/skills",
            "the first in scan order wins",
            "because root 1 is searched before root 2",
        ),
        (
            "opencode",
            ".agents/skills",
            "the last in scan order wins",
            "because root 4 is searched after root 2, and the last wins",
        ),
    ],
)
def test_who_won_follows_the_rule_of_the_host(terminal, host, winner, rule, why):
    terminal.skill("project/.agents/skills/x")
    terminal.skill("home/.agents/skills/x")
    lines = terminal.run("explain", "x", "--host", host).out.splitlines()
    assert lines[0].startswith(f"“x” is ready: {winner}/x/SKILL.md ")
    assert f"            rule: {rule}" in lines
    assert f"            {why}" in lines


def test_priorities_are_named_where_they_decide(terminal):
    terminal.skill("project/.omp/skills/x")
    terminal.skill("project/.agents/skills/x")
    lines = terminal.run("explain", "x", "--host", "omp").out.splitlines()
    assert "            because its source has priority 100, this one 70" in lines


def test_a_root_that_is_switched_off_says_by_what_and_the_other_edition_differs(terminal):
    terminal.skill("home/.claude/skills/notes")
    lines = terminal.run("explain", "notes", "--host", "omp").out.splitlines()
    assert lines[:2] == [
        "“notes” is disabled: its source is switched off by enableClaudeUser.",
        "omp@documented differs: ready, ~/.claude/skills/notes/SKILL.md.",
    ]
    assert "            the root is disabled by enableClaudeUser" in lines


def test_a_folder_named_by_a_setting_names_the_setting_and_its_place(terminal):
    terminal.write("project/prowess.toml", 'folders = ["more"]\n')
    terminal.skill("project/more/x")
    said = "            searched because `folders` lists it (prowess.toml:1)"
    assert said in terminal.run("explain", "x").out.splitlines()


def test_json_tells_the_same_journey(terminal):
    terminal.skill("project/.agents/skills/x", disable_model_invocation="true")
    location = terminal.path("project/.agents/skills/x/SKILL.md")
    told = terminal.json("explain", "x")
    (claim,) = told.pop("claims")
    assert told == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "name": "x",
        "answer": "“x” is loaded, but hidden from the model: its header says `disable-model-invocation: true`.",
        "editions": [],
        "elsewhere": [],
    }
    root = terminal.path("project/.agents/skills")
    roots = len(terminal.scan().roots)
    assert (claim["location"], claim["state"], claim["diagnostics"]) == (location, "hidden", [])
    assert claim["journey"] == [
        {
            "stage": "discover",
            "says": [
                f"found in {root}, root 3 of {roots} (project, agents:project)",
                "searched because it is in the working folder",
            ],
        },
        {"stage": "parse", "says": ["read; its name is x"]},
        {"stage": "resolve", "says": ["no other file claims this name"]},
        {"stage": "gate", "says": ["hidden: its header says `disable-model-invocation: true`"]},
    ]


def test_a_name_nobody_has_gives_the_nearest_ones(terminal):
    terminal.skill("project/.agents/skills/pdf")
    assert terminal.run("explain", "pfd") == (
        3,
        "prowess finds no skill named “pfd” here.\nDid you mean “pdf”?\n",
        "",
    )


def test_a_name_that_only_other_hosts_see_names_them(terminal):
    terminal.skill("project/.claude/skills/x")
    assert terminal.run("explain", "x", "--host", "codex") == (
        3,
        "codex finds no skill named “x” here.\n"
        "prowess sees it: ready, .claude/skills/x/SKILL.md\n"
        "claude-code sees it: ready, .claude/skills/x/SKILL.md\n"
        "opencode sees it: ready, .claude/skills/x/SKILL.md\n"
        "omp sees it: ready, .claude/skills/x/SKILL.md\n"
        "copilot sees it: ready, .claude/skills/x/SKILL.md\n"
        "crush sees it: ready, .claude/skills/x/SKILL.md\n",
        "",
    )


def test_a_folder_of_that_name_whose_skill_has_another_is_told(terminal):
    terminal.skill("project/.agents/skills/pdf-tools", name="pdf")
    answer = terminal.run("explain", "pdf-tools")
    assert answer.code == 3
    lines = answer.out.splitlines()
    assert "claude-code" not in answer.out
    assert "A folder has this name, but its skill has another:" in lines
    assert "  parse     read; its name is pdf" in lines


def test_json_for_a_name_that_is_not_here(terminal):
    terminal.skill("project/.claude/skills/pdf")
    answer = terminal.run("explain", "pfd", "--host", "codex", "--json")
    assert (answer.code, json.loads(answer.out)) == (
        3,
        {
            "version": 1,
            "host": "codex",
            "edition": "current",
            "cwd": str(terminal.project),
            "name": "pfd",
            "answer": None,
            "claims": [],
            "nearest": [],
            "elsewhere": [],
            "misnamed": [],
            "cut": [],
        },
    )


def test_the_name_in_the_header_finds_a_skill_that_goes_by_its_folder(terminal):
    terminal.skill("project/.claude/skills/folder", name="Shown")
    lines = terminal.run("explain", "Shown", "--host", "claude-code").out.splitlines()
    assert lines[0] == "“Shown” is ready: .claude/skills/folder/SKILL.md is offered to the model."
    assert "  parse     read; its header says Shown, but this host uses the folder: folder" in lines


def test_a_name_in_the_header_that_the_host_does_not_show_leads_to_its_file(terminal):
    terminal.skill("project/.claude/skills/folder", name="Not Shown")
    answer = terminal.run("explain", "Not Shown", "--host", "claude-code")
    assert "claude-code finds no skill named “Not Shown” here." in answer.out + answer.err
    said = "read; its header says Not Shown, but this host uses the folder: folder"
    assert said in answer.out + answer.err


def test_very_many_claims_are_told_in_part_to_people_and_whole_to_programs(terminal):
    for number in range(60):
        terminal.skill(f"project/.agents/skills/f{number:02}", name="x")
    assert terminal.run("explain", "x").out.endswith(
        "\n10 more files claim this name; --json shows all of them.\n"
    )
    assert len(terminal.json("explain", "x")["claims"]) == 60


def explain_gate(terminal: Terminal, *arguments: str) -> list[str]:
    """What is said of the gate, of the catalog and of the state, line by line."""
    lines = terminal.run("explain", *arguments).out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("  gate "))
    return [line[12:] for line in lines[start:]]


def test_a_denied_skill_names_its_rule_and_the_line_it_stands_on(terminal):
    terminal.skill("project/.agents/skills/deploy")
    terminal.write("project/prowess.toml", '[permissions.skill]\n"*" = "allow"\n"dep*" = "deny"\n')
    lines = terminal.run("explain", "deploy").out.splitlines()
    reason = "the rule `skill.dep*: deny` in prowess.toml:3 denies it"
    assert lines[0] == f"“deploy” is not permitted here: {reason}."
    assert lines[-2:] == [f"  gate      denied: {reason}", "  state     denied"]


def test_rules_for_one_agent_hold_for_that_agent(terminal):
    terminal.skill("project/.agents/skills/x")
    terminal.write("project/prowess.toml", '[agents.plan.permissions]\nskill = "deny"\n')
    assert explain_gate(terminal, "x")[-1] == "ready"
    assert explain_gate(terminal, "x", "--agent", "plan") == [
        "denied: the rule `skill: deny` in prowess.toml:2 denies it",
        "denied",
    ]


def test_a_rule_that_asks_or_allows_is_told_and_silence_is_not(terminal):
    terminal.skill("project/.agents/skills/x")
    shown = "the model sees its name and full description"
    assert explain_gate(terminal, "x") == ["it can be offered", shown, "ready"]
    assert explain_gate(terminal, "x", "--ask", "x") == [
        "it can be offered",
        "permission: ask, because the rule `ask: Skill(x)` on the command line requires approval",
        shown,
        "ready",
    ]
    assert explain_gate(terminal, "x", "--allow", "x")[1] == (
        "permission: allow, because the rule `allow: Skill(x)` on the command line allows it"
    )
    terminal.skill("project/.agents/skills/x", allowed_tools="Read")
    assert (
        explain_gate(terminal, "x")[1]
        == "permission: ask, because its header has `allowed-tools`, which requires approval"
    )


def test_claude_code_shows_what_it_denies_and_explain_says_so(terminal):
    terminal.skill("project/.claude/skills/x")
    terminal.write("project/.claude/settings.json", '{"permissions": {"deny": ["Skill(x)"]}}\n')
    assert explain_gate(terminal, "x", "--host", "claude-code") == [
        "it can be offered",
        "permission: deny, because the rule `deny: Skill(x)` in .claude/settings.json:1 denies it",
        "the model sees its name and full description",
        "ready",
    ]


def test_what_the_model_is_shown_of_a_skill_is_told_with_the_reason(terminal):
    terminal.skill("project/.agents/skills/named")
    terminal.skill("project/.agents/skills/rules", always="true")
    terminal.skill("project/.agents/skills/long", description="word " * 400)
    terminal.write("project/prowess.toml", '[skills.named]\nvisibility = "name-only"\n')
    told = {name: explain_gate(terminal, name)[1] for name in ("named", "rules", "long")}
    assert told == {
        "named": "the model sees only its name: the settings show only its name",
        "rules": "its full text is in every request: its header says `always: true`",
        "long": "the model sees its name and part of its description: "
        "its text has 1,999 characters; at most 1,024 are shown per skill",
    }


def test_a_budget_that_cannot_be_used_does_not_hide_the_other_stages(terminal, monkeypatch):
    terminal.skill("project/.claude/skills/x")
    monkeypatch.setenv("SLASH_COMMAND_TOOL_CHAR_BUDGET", "lots")
    assert explain_gate(terminal, "x", "--host", "claude-code") == [
        "it can be offered",
        "there is no catalog: SLASH_COMMAND_TOOL_CHAR_BUDGET is “lots”; it must be a number of characters, 1 or more",
        "ready",
    ]


@pytest.mark.parametrize(
    ("file", "text", "line", "reason"),
    [
        (
            "home/.config/prowess/prowess.toml",
            'disabled = ["pdf"]\n',
            1,
            "it is listed as `skill:pdf`",
        ),
        (
            "project/prowess.toml",
            'ignore = [\n  "a",\n  "p*",\n]\n',
            3,
            "its name matches the ignored pattern `p*`",
        ),
        (
            "project/prowess.toml",
            '\ninclude = ["x"]\n',
            2,
            "its name matches no pattern in the include list",
        ),
        ("project/prowess.toml", "\nenabled = false\n", 2, "all skills are switched off"),
        (
            "project/prowess.toml",
            "[skills.pdf]\nenabled = false\n",
            2,
            "it is switched off in the settings",
        ),
        (
            "project/prowess.toml",
            '[skills.pdf]\n\nvisibility = "off"\n',
            3,
            "it is switched off in the settings",
        ),
    ],
)
def test_a_setting_that_disables_a_skill_is_named_with_its_file_and_line(
    terminal, file, text, line, reason
):
    terminal.skill("project/.claude/skills/pdf")
    # The lists of both files add up; each entry has a place of its own.
    other = "project" if file.startswith("home") else "home/.config/prowess"
    terminal.write(f"{other}/prowess.toml", 'disabled = ["x"]\nignore = ["y"]\n')
    terminal.write(file, text)
    origin = {"file": terminal.path(file), "line": line}
    claim = terminal.json("explain", "pdf")["claims"][0]
    assert (claim["state"], claim["reason"], claim["origin"]) == ("disabled", reason, origin)
    assert terminal.json("show", "pdf")["skill"]["origin"] == origin
    where = file.removeprefix("project/").replace("home/", "~/")
    told = terminal.run("explain", "pdf").out
    assert told.splitlines()[0] == f"“pdf” is disabled: {reason} ({where}:{line})."
    assert f"  resolve   disabled: {reason} ({where}:{line})\n" in told
    assert f"state   – disabled: {reason} ({where}:{line})\n" in terminal.run("show", "pdf").out


def test_a_setting_of_another_host_is_named_too(terminal):
    terminal.skill("project/.claude/skills/pdf")
    settings = terminal.write(
        "project/.claude/settings.json", '{\n"skillOverrides": {\n"pdf": "user-invocable-only"}}'
    )
    claim = terminal.json("explain", "pdf", "--host", "claude-code")["claims"][0]
    assert (claim["state"], claim["origin"]) == ("hidden", {"file": str(settings), "line": 3})
    config = terminal.write(
        "home/.omp/agent/config.yml", "skills:\n  ignoredSkills:\n    - a\n    - pdf\n"
    )
    claim = terminal.json("explain", "pdf", "--host", "omp")["claims"][0]
    assert (claim["state"], claim["origin"]) == ("disabled", {"file": str(config), "line": 4})
    terminal.write("home/.omp/agent/config.yml", "skills:\n  enableClaudeProject: false\n")
    claim = terminal.json("explain", "pdf", "--host", "omp")["claims"][0]
    assert (claim["state"], claim["origin"]) == ("disabled", {"file": str(config), "line": 2})


def test_a_skill_inside_another_is_skipped_and_names_the_hosts_that_read_it(terminal):
    terminal.skill("project/.claude/skills/outer")
    terminal.skill("project/.claude/skills/outer/x/inner")
    code, out, _ = terminal.run("explain", "inner", "--host", "claude-code")
    assert code == 0
    assert out.startswith(
        "“inner” was found but not read: it is inside another skill, outer; this host does not"
        " search there.\nThese hosts read it: opencode, crush.\n"
    )
    listed = terminal.json("list", "--all", "--host", "claude-code")["skills"]
    assert {one["name"]: one["state"] for one in listed} == {"outer": "ready", "inner": "skipped"}
    assert [one["name"] for one in terminal.json("list", "--host", "opencode")["skills"]] == [
        "inner",
        "outer",
    ]


def test_a_file_that_is_not_named_skill_md_is_said(terminal):
    terminal.write("project/.claude/skills/x/skill.md", "---\nname: x\n---\n")
    answer = terminal.run("explain", "x", "--host", "claude-code")
    assert ".claude/skills/x/skill.md: The file is named skill.md; only SKILL.md is read." in (
        answer.out
    )
    shape = json.loads(terminal.run("explain", "x", "--host", "claude-code", "--json").out)
    assert [one["code"] for one in shape["misnamed"]] == ["wrong-file-name"]


def test_a_folder_that_a_list_of_paths_names_says_which_file_lists_it(terminal):
    terminal.skill("home/more/x")
    terminal.write("home/.pi/agent/settings.json", '{"skills": ["~/more", "!y"]}')
    out = terminal.run("explain", "x", "--host", "pi").out
    assert "searched because `skills` lists it (~/.pi/agent/settings.json:1)" in out
    rows = terminal.json("config", "--host", "pi")["settings"]
    assert [row["value"] for row in rows] == [[terminal.path("home/more"), "!y"]]


def test_a_folder_that_two_rules_name_is_counted_once(terminal):
    terminal.skill("home/.agents/skills/x")
    out = terminal.run("explain", "x", "--host", "copilot").out
    assert "root 5 of 5 (user, personal-agents)" in out
