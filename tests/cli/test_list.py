"""`prowess list`: what a host sees here, in columns for people and as JSON for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from rich.cells import cell_len

from prowess.model.outcome import State
from tests.cli.terminal import Terminal


def write_mixed_skills(terminal: Terminal) -> None:
    """One skill in each of the states that a small workspace meets."""
    terminal.skill("project/.agents/skills/pdf", description="Reads PDF files.")
    terminal.skill("home/.claude/skills/pdf", description="Another one.")
    terminal.skill(
        "project/.claude/skills/deploy", description="Deploys.", disable_model_invocation="true"
    )
    terminal.skill("project/.claude/skills/sql", description="Writes SQL.", paths='"**/*.sql"')
    terminal.skill(
        "project/.claude/skills/ship",
        description="Ships.",
        metadata='{"openclaw": {"os": ["win32"]}}',
    )
    terminal.skill("project/.claude/skills/old", description="Old.", enabled="false")
    terminal.write("project/.claude/skills/torn/SKILL.md", "---\nname: torn\n")


LISTED = """\
   NAME    STATE       SCOPE    SOURCE          DESCRIPTION
○  deploy  hidden      project  claude:project  Deploys.
●  pdf     ready       project  agents:project  Reads PDF files.
✗  ship    ineligible  project  claude:project  Ships.
◌  sql     dormant     project  claude:project  Writes SQL.

prowess finds 7 files: 1 ready, 1 hidden, 1 dormant, 1 ineligible, 1 shadowed, 1 disabled, 1 invalid. --all shows 3 more.
Run `prowess explain NAME` to see why a skill is in its state.
"""


def test_the_list_shows_what_the_host_shows_and_counts_the_rest(terminal):
    write_mixed_skills(terminal)
    assert terminal.run("list") == (0, LISTED, "")


def test_all_shows_every_candidate_and_why_those_that_were_not_read_were_not(terminal):
    write_mixed_skills(terminal)
    answer = terminal.run("list", "--all")
    assert answer.code == 0
    assert answer.out.splitlines()[1:8] == [
        "○  deploy  hidden      project  claude:project  Deploys.",
        "–  old     disabled    project  claude:project  Old.",
        "●  pdf     ready       project  agents:project  Reads PDF files.",
        "↓  pdf     shadowed    user     claude:user     Another one.",
        "✗  ship    ineligible  project  claude:project  Ships.",
        "◌  sql     dormant     project  claude:project  Writes SQL.",
        "!  torn    invalid     project  claude:project  The header that starts on line 1 is never closed by a `---` line",
    ]


def test_json_has_a_version_and_every_skill_with_its_state_and_reason(terminal):
    terminal.skill("project/.agents/skills/pdf", description="Reads PDF files.")
    terminal.skill("home/.claude/skills/pdf", description="Another one.")
    root, lost = terminal.path("project/.agents/skills"), terminal.path("home/.claude/skills")
    won = f"{root}/pdf/SKILL.md"
    assert terminal.json("list", "--all") == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "counts": {"shadowed": 1, "ready": 1},
        "skills": [
            {
                "name": "pdf",
                "description": "Reads PDF files.",
                "location": won,
                "folder": f"{root}/pdf",
                "scope": "project",
                "source": {
                    "provider": "agents",
                    "level": "project",
                    "path": root,
                    "loaded_from": "skills",
                    "label": "agents:project",
                },
                "state": "ready",
            },
            {
                "name": "pdf",
                "description": "Another one.",
                "location": f"{lost}/pdf/SKILL.md",
                "folder": f"{lost}/pdf",
                "scope": "user",
                "source": {
                    "provider": "claude",
                    "level": "user",
                    "path": lost,
                    "loaded_from": "skills",
                    "label": "claude:user",
                },
                "state": "shadowed",
                "reason": terminal.scan().claims("pdf")[1].reason,
                "by": won,
            },
        ],
        "diagnostics": [],
    }


def test_every_skill_that_is_not_ready_has_a_reason_in_json(terminal):
    write_mixed_skills(terminal)
    skills = terminal.json("list", "--all")["skills"]
    assert {skill["state"] for skill in skills if skill["state"] != "ready"} == {
        "hidden", "disabled", "shadowed", "ineligible", "dormant", "invalid",
    }  # fmt: skip
    assert [
        skill["name"] for skill in skills if skill["state"] != "ready" and not skill["reason"]
    ] == []


def test_every_state_has_a_mark_of_its_own():
    from prowess.cli.terminal.tables import MARKS

    assert set(MARKS) == set(State)
    assert len({mark for mark, _ in MARKS.values()}) == len(State)
    assert {cell_len(mark) for mark, _ in MARKS.values()} == {1}


def test_a_host_with_two_editions_says_in_one_line_where_they_differ(terminal):
    terminal.skill("home/.claude/skills/notes", description="Takes notes.")
    terminal.skill("project/.omp/skills/same", description="Alike.")
    assert terminal.run("list", "--host", "omp") == (
        0,
        "   NAME  STATE  SCOPE    SOURCE          DESCRIPTION\n"
        "●  same  ready  project  native:project  Alike.\n"
        "\n"
        "omp finds 2 files: 1 ready, 1 disabled. --all shows 1 more.\n"
        "1 skill differs in omp@documented: notes.\n"
        "Run `prowess explain NAME` to see why a skill is in its state.\n",
        "",
    )
    documented = terminal.run("list", "--host", "omp@documented")
    assert (
        "omp@documented finds 2 files: 2 ready.\n1 skill differs in omp@current: notes.\n"
        in documented.out
    )


def test_many_differing_names_are_cut_and_counted(terminal):
    for number in range(11):
        terminal.skill(f"home/.claude/skills/n{number:02}")
    line = (
        "11 skills differ in omp@documented: n00, n01, n02, n03, n04, n05, n06, n07 and 3 more.\n"
    )
    assert line in terminal.run("list", "--host", "omp").out


def test_a_folder_without_skills_says_so_and_what_to_do(terminal):
    assert terminal.run("list") == (
        0,
        "prowess finds no skills in /" + str(terminal.project)[1:] + ".\n"
        "Run `prowess` to see which folders are searched, `prowess new NAME` to create one.\n",
        "",
    )


def test_only_the_first_line_of_a_description_is_shown(terminal):
    terminal.write(
        "project/.agents/skills/a/SKILL.md", "---\nname: a\ndescription: |\n  One.\n  Two.\n---\n"
    )
    assert "agents:project  One.\n" in terminal.run("list").out


def test_what_a_skill_says_is_never_markup_and_never_reaches_the_terminal_raw(terminal):
    terminal.write(
        "project/.agents/skills/a/SKILL.md",
        '---\nname: a\ndescription: "[red]x[/red] :smile: \\e[31m \\a \\u202e \\r \\x9b end"\n---\n',
    )
    answer = terminal.run("list")
    assert r"[red]x[/red] :smile: \x1b[31m \x07 \u202e \x9b end" in answer.out
    assert [one for one in answer.out if one != "\n" and not one.isprintable()] == []


def test_wide_characters_stay_aligned(terminal):
    terminal.skill("project/.agents/skills/日本語", description="One.")
    terminal.skill("project/.agents/skills/plain", description="Two.")
    heading, *lines = terminal.run("list").out.splitlines()[:3]
    place = heading.index("SOURCE")
    assert [cell_len(line[: line.index("agents:project")]) for line in lines] == [place, place]


def test_a_name_that_is_not_text_is_still_listed(terminal):
    folder = os.fsencode(terminal.project) + b"/.agents/skills/\xff"
    os.makedirs(folder)
    with open(folder + b"/SKILL.md", "w") as file:
        file.write("---\ndescription: d\n---\n")
    assert "●  \\udcff  ready" in terminal.run("list").out
    assert [skill["name"] for skill in terminal.json("list")["skills"]] == ["?"]


def test_added_folders_are_searched_and_bare_leaves_everything_else_out(terminal):
    terminal.skill("project/.claude/skills/mine")
    terminal.skill("other/.claude/skills/theirs")
    other = terminal.path("other")
    names = {
        skill["name"]: skill["scope"]
        for skill in terminal.json("list", "--add-dir", other)["skills"]
    }
    assert names == {"mine": "project", "theirs": "added"}
    assert [
        skill["name"] for skill in terminal.json("list", "--bare", "--add-dir", other)["skills"]
    ] == ["theirs"]


def test_an_added_folder_that_is_not_there_is_an_error(terminal):
    answer = terminal.run("list", "--add-dir", "nowhere")
    assert (answer.code, answer.out) == (2, "")
    assert (
        answer.err.splitlines()[-1]
        == "Error: Invalid value for '--add-dir': “nowhere” does not exist."
    )
    terminal.write("project/file")
    last = terminal.run("list", "--add-dir", "file").err.splitlines()[-1]
    assert last == "Error: Invalid value for '--add-dir': “file” is not a folder."


def test_a_host_that_does_not_exist_is_an_error_that_names_the_hosts(terminal):
    assert terminal.run("list", "--host", "opencod") == (
        2,
        "",
        "prowess: There is no host “opencod”; the hosts are "
        "prowess, spec, claude-code, opencode, openclaw, omp, codex, "
        "gemini, copilot, pi, qwen, crush.\nDid you mean “opencode”?\n",
    )
    assert terminal.run("list", "--host", "codex@documented").code == 2


def test_a_profile_file_can_be_the_host(terminal):
    terminal.write("project/mine.toml", 'name = "mine"\nextends = "claude-code"\n')
    terminal.skill("project/.claude/skills/a")
    assert terminal.json("list", "--host", "./mine.toml")["host"] == "mine"


def test_a_wrong_setting_is_an_error_that_names_its_place(terminal):
    terminal.write("project/prowess.toml", 'enabled = "perhaps"\n')
    answer = terminal.run("list")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"prowess: {terminal.path('project/prowess.toml')}:1: `enabled` ")


def test_the_order_does_not_depend_on_the_order_of_writing(terminal):
    for name in ("b", "C", "a", "D"):
        terminal.skill(f"project/.agents/skills/{name}")
    assert [skill["name"] for skill in terminal.json("list")["skills"]] == ["a", "b", "C", "D"]


def test_the_json_list_imports_nothing_that_it_does_not_need(terminal):
    terminal.skill("project/.agents/skills/a")
    program = (
        "import sys; from prowess.cli import main; code = main(['list', '--json']);"
        "print(*sorted(name for name in sys.modules), file=sys.stderr)"
    )
    for _ in ("cold", "warm"):
        answer = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        imported = set(answer.stderr.split())
    assert json.loads(answer.stdout)["counts"] == {"ready": 1}
    heavy = {
        "rich",
        "difflib",
        "pathspec",
        "platformdirs",
        "pyjson5",
        "hashlib",
        "markdown_it",
        "asyncio",
        "subprocess",
        "http",
        "ssl",
        "urllib.request",
    }
    assert imported & heavy == set()


def test_a_denied_skill_shows_its_rule_and_the_line_it_stands_on(terminal):
    terminal.skill("project/.agents/skills/deploy", description="Deploys.")
    terminal.skill("project/.agents/skills/pdf", description="Reads PDF files.")
    terminal.write("project/prowess.toml", '[permissions.skill]\ndeploy = "deny"\n')
    assert terminal.run("list") == (
        0,
        "   NAME    STATE   SCOPE    SOURCE          DESCRIPTION\n"
        "⊘  deploy  denied  project  agents:project  the rule `skill.deploy: deny` in prowess.toml:2 denies it\n"
        "●  pdf     ready   project  agents:project  Reads PDF files.\n"
        "\n"
        "prowess finds 2 files: 1 ready, 1 denied.\n"
        "Run `prowess explain NAME` to see why a skill is in its state.\n",
        "",
    )
    (denied, _) = terminal.json("list")["skills"]
    assert (denied["state"], denied["rule"], denied["reason"]) == (
        "denied",
        "skill.deploy: deny",
        f"the rule `skill.deploy: deny` in {terminal.path('project/prowess.toml')}:2 denies it",
    )


def test_rules_and_agents_can_be_given_for_once(terminal):
    terminal.skill("project/.agents/skills/deploy")
    terminal.write("project/prowess.toml", '[agents.plan.permissions]\nskill = "deny"\n')

    def states(*arguments: str) -> list[str]:
        return [skill["state"] for skill in terminal.json("list", *arguments)["skills"]]

    assert states() == ["ready"]
    assert states("--deny", "dep*") == ["denied"]
    assert states("--deny", "Skill(deploy)") == ["denied"]
    assert states("--deny", "other") == ["ready"]
    assert states("--agent", "plan") == ["denied"]
    assert states("--agent", "other") == ["ready"]
    assert terminal.run("list", "--deny", "Skill(").code == 2


def test_what_a_touched_file_wakes_is_listed_as_awake(terminal):
    terminal.skill("project/.agents/skills/sql", paths='"*.sql"')
    terminal.skill("project/.agents/skills/css", paths='"*.css"')
    terminal.skill("project/web/.agents/skills/below")

    def list_states(*options: str) -> dict[str, str]:
        return {one["name"]: one["state"] for one in terminal.json("list", *options)["skills"]}

    asleep = list_states("--all")
    assert asleep == {"sql": "dormant", "css": "dormant"}
    assert list_states("--all", "--touched", "db/a.sql") == {"sql": "ready", "css": "dormant"}
    both = list_states("--all", "--touched", "a.css", "--touched", terminal.path("project/b.sql"))
    assert both == {"sql": "ready", "css": "ready"}
    assert "below" in str(list_states("--all", "--touched", "web/index.html"))
    assert list_states("--all") == asleep
    assert terminal.run("list", "--touched", "x", "--unused") == (
        2,
        "",
        "prowess: --touched and --unused cannot be used together.\n",
    )


def test_a_scan_that_a_limit_cut_short_says_so_below_the_table_and_in_json(terminal):
    for name in ("a", "b", "c"):
        terminal.skill(f"project/.agents/skills/{name}")
    terminal.write("project/prowess.toml", "[limits]\nfolders_per_root = 2\n")
    [found] = terminal.json("list")["diagnostics"]
    assert (found["code"], found["file"]) == (
        "limit-reached",
        terminal.path("project/.agents/skills"),
    )
    for arguments in (["list"], ["list", "--all"]):
        out = terminal.run(*arguments).out
        [line] = [line for line in out.splitlines() if line.startswith(".agents/skills: ")]
        assert line == f".agents/skills: {found['message']}"


@pytest.mark.parametrize("host", ["opencode", "omp", "openclaw", "codex"])
def test_a_host_without_added_folders_says_that_the_option_does_nothing(terminal, host):
    terminal.skill("project/.agents/skills/pdf")
    terminal.skill("more/.claude/skills/doc")
    more = terminal.path("more")
    before = terminal.json("list", "--host", host)
    after = terminal.json("list", "--host", host, "--add-dir", more)
    assert (after["skills"], before["diagnostics"]) == (before["skills"], [])
    [found] = after["diagnostics"]
    assert (found["code"], found["severity"], found["file"]) == ("option-ignored", "warning", more)
    answer = terminal.run("list", "--host", host, "--add-dir", more)
    assert (answer.code, answer.err) == (0, "")
    assert [line for line in answer.out.splitlines() if "--add-dir" in line] == [
        f"{more}: {found['message']}"
    ]
    for command in (["show", "pdf"], ["explain", "pdf"], ["catalog"], ["compare"]):
        named = ["--host", host, "--add-dir", more]
        answer = terminal.run(*command, *named)
        assert (answer.code, answer.err) == (0, f"prowess: {found['message']}\n"), command
    answer = terminal.run("check", "--host", host, "--add-dir", more)
    assert (answer.code, answer.err, answer.out.count(found["message"])) == (0, "", 1)


@pytest.mark.parametrize("host", ["prowess", "claude-code"])
def test_a_host_with_added_folders_says_nothing_of_them(terminal, host):
    terminal.skill("more/.claude/skills/doc")
    shown = terminal.json("list", "--host", host, "--add-dir", terminal.path("more"))
    assert ([one["name"] for one in shown["skills"]], shown["diagnostics"]) == (["doc"], [])


def test_a_source_that_no_skill_is_from_is_an_error_that_names_those_there_are(terminal):
    answer = terminal.run("list", "--source", "other")
    assert (answer.code, answer.err) == (
        2,
        "prowess: No skill here is from “other”: there are no skills here.\n",
    )
    terminal.skill("project/.claude/skills/a")
    answer = terminal.run("list", "--source", "other")
    assert (answer.code, answer.err) == (
        2,
        "prowess: No skill here is from “other”; the sources are claude, claude:project, project.\n",
    )
    assert terminal.run("list", "--source", "claude").code == 0
