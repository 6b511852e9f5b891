"""`prowess check`: every finding, file by file, and an exit code for scripts."""

from __future__ import annotations

import json

from tests.cli.terminal import Terminal


def write_findings(terminal: Terminal) -> None:
    """An error, a warning at a line, a collision and a note."""
    terminal.skill("project/.agents/skills/pdf")
    terminal.skill("project/.claude/skills/pdf")
    terminal.write(
        "project/.agents/skills/colon/SKILL.md", "---\nname: colon\ndescription: a: b\n---\nx\n"
    )
    (terminal.project / ".agents/skills/folder/SKILL.md").mkdir(parents=True)


REPORT = """\
.agents/skills/colon/SKILL.md
    3  warning  The value of `description` contains `: `, which YAML reads as a new key.  yaml-unquoted-colon
                Put the value in quotes.

.agents/skills/folder/SKILL.md
       error  SKILL.md is a folder; it must be a regular file.  not-a-file
              Replace it with a regular file.

.claude/skills/pdf/SKILL.md
       warning  The name “pdf” is taken by .agents/skills/pdf/SKILL.md.  name-collision
                Rename or disable one of them.

4 files checked: 1 error, 2 warnings.
"""


def test_findings_stand_under_their_file_with_line_severity_code_and_remedy(terminal):
    write_findings(terminal)
    assert terminal.run("check") == (1, REPORT, "")


def test_without_an_error_the_exit_code_is_0(terminal):
    terminal.skill("project/.agents/skills/pdf")
    assert terminal.run("check") == (0, "1 file checked, no problems found.\n", "")


def test_a_minimum_severity_leaves_the_rest_out_and_says_how_many(terminal):
    write_findings(terminal)
    answer = terminal.run("check", "--severity", "error")
    assert answer == (
        1,
        ".agents/skills/folder/SKILL.md\n"
        "       error  SKILL.md is a folder; it must be a regular file.  not-a-file\n"
        "              Replace it with a regular file.\n"
        "\n"
        "4 files checked: 1 error, 2 warnings. 2 not shown.\n",
        "",
    )
    assert terminal.run("check", "--severity", "grave").code == 2


def test_json_has_every_finding_and_the_counts(terminal):
    write_findings(terminal)
    answer = terminal.run("check", "--json")
    folder = terminal.path("project/.agents/skills")
    lost = terminal.path("project/.claude/skills/pdf/SKILL.md")
    assert (answer.code, json.loads(answer.out)) == (
        1,
        {
            "version": 1,
            "host": "prowess",
            "edition": "current",
            "cwd": str(terminal.project),
            "counts": {"error": 1, "warning": 2, "info": 0},
            "diagnostics": [
                {
                    "code": "yaml-unquoted-colon",
                    "severity": "warning",
                    "message": "The value of `description` contains `: `, which YAML reads as a new key.",
                    "file": f"{folder}/colon/SKILL.md",
                    "line": 3,
                    "field": "description",
                    "hint": "Put the value in quotes.",
                },
                {
                    "code": "not-a-file",
                    "severity": "error",
                    "message": "SKILL.md is a folder; it must be a regular file.",
                    "file": f"{folder}/folder/SKILL.md",
                    "hint": "Replace it with a regular file.",
                },
                {
                    "code": "name-collision",
                    "severity": "warning",
                    "message": f"The name “pdf” is taken by {folder}/pdf/SKILL.md.",
                    "file": lost,
                    "field": "name",
                    "hint": "Rename or disable one of them.",
                    "related": [f"{folder}/pdf/SKILL.md"],
                },
            ],
            "ineligible": [],
        },
    )


def test_findings_that_belong_to_no_skill_are_shown_too(terminal):
    terminal.write("project/.agents/skills", "not a folder")
    terminal.write("project/.claude/skills/x/skill.md", "---\nname: x\n---\n")
    answer = terminal.run("check")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == ".agents/skills"
    assert "root-not-a-folder" in answer.out
    assert (
        ".claude/skills/x/skill.md\n       warning  The file is named skill.md; only SKILL.md is read."
        in answer.out
    )


def test_file_names_cannot_steer_the_terminal(terminal):
    terminal.write("project/.agents/skills/\x1b[31m/SKILL.md", "")
    answer = terminal.run("check")
    assert ".agents/skills/\\x1b[31m/SKILL.md" in answer.out
    assert "\x1b" not in answer.out


def write_ineligible(terminal: Terminal) -> None:
    fields = {
        "requires": {"bins": ["no-such-jq", "no-such-tool"], "env": ["NO_SUCH_KEY"]},
        "install": [{"kind": "uv", "package": "jq", "bins": ["no-such-jq"]}],
    }
    terminal.skill("project/.agents/skills/w", metadata=json.dumps({"openclaw": fields}))


REASON = "the programs no-such-jq, no-such-tool cannot be found; the environment variable NO_SUCH_KEY is not set"


def test_what_cannot_be_offered_here_is_told_with_the_command_that_would_mend_it(terminal):
    write_ineligible(terminal)
    assert terminal.run("check") == (
        0,
        "1 skill cannot be used on this machine:\n"
        f"  w  {REASON}\n"
        "     no-such-jq: uv tool install jq\n"
        "     no-such-tool: the skill does not say how to install it on this machine\n"
        "     NO_SUCH_KEY: export NO_SUCH_KEY=VALUE\n"
        "Run `prowess doctor NAME` for details.\n"
        "\n"
        "1 file checked, no other problems found.\n",
        "",
    )


def test_json_has_what_is_missing_and_every_way_to_mend_it(terminal):
    write_ineligible(terminal)
    (found,) = terminal.json("check")["ineligible"]
    assert (found["name"], found["location"], found["reason"]) == (
        "w",
        terminal.path("project/.agents/skills/w/SKILL.md"),
        REASON,
    )
    assert [(one["kind"], one["names"], one["ways"][0]["command"]) for one in found["missing"]] == [
        ("program", ["no-such-jq"], "uv tool install jq"),
        ("program", ["no-such-tool"], None),
        ("variable", ["NO_SUCH_KEY"], "export NO_SUCH_KEY=VALUE"),
    ]


def test_all_hosts_are_asked_and_each_problem_names_those_that_have_it(terminal):
    terminal.write(
        "project/.agents/skills/a/SKILL.md", "---\nname: a\ndescription: Use when: x\n---\nBody\n"
    )
    terminal.skill("project/.claude/skills/g/b")
    code, out, err = terminal.run("check", "--host", "all")
    assert (code, err) == (1, "")
    assert "in copilot, pi, crush\n" in out
    assert "this host searches 1 deep.  too-deep" in out
    assert "in claude-code, omp\n" in out
    shape = json.loads(terminal.run("check", "--host", "all", "--json").out)
    assert [one["name"] for one in shape["hosts"]][:2] == ["claude-code", "opencode"]
    found = {one["code"]: one["hosts"] for one in shape["diagnostics"]}
    assert found["yaml-invalid"] == ["copilot", "pi", "crush"]
    assert found["too-deep"] == ["claude-code", "omp"]


def test_what_is_good_everywhere_is_success(terminal):
    terminal.skill("project/.agents/skills/a", description="Does a. Use when a is needed.")
    assert terminal.run("check", "--host", "all") == (
        0,
        "10 hosts asked, no problems found.\n",
        "",
    )
    assert terminal.run("validate", "--host", "all").code == 0


def test_the_default_host_is_set_by_a_variable_or_a_file(terminal, monkeypatch):
    terminal.skill("project/.agents/skills/a")
    assert terminal.json("list")["host"] == "prowess"
    terminal.write("project/prowess.toml", 'host = "claude-code"\n')
    assert terminal.json("list")["host"] == "claude-code"
    monkeypatch.setenv("PROWESS_HOST", "qwen-code")
    assert terminal.json("list")["host"] == "qwen"
    assert terminal.json("list", "--host", "pi")["host"] == "pi"


def test_a_default_host_is_a_name_never_a_path(terminal):
    terminal.write("project/prowess.toml", 'host = "./evil.toml"\n')
    answer = terminal.run("list")
    assert answer.code == 2
    assert "`host` must be the name of a host" in answer.err
