"""`prowess validate`: what is found, how it is printed, what is fixed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from prowess.diagnostics import CODES
from tests.cli.terminal import Terminal
from tests.workspace import skill_text

GOOD = skill_text("good", "Does good. Use when good is needed.")
COLON = (
    "---\nname: fixable # its name\ndescription: Use when: it breaks\nlicense: MIT\n---\nDo it.\n"
)
FIXED = (
    '---\nname: fixable # its name\ndescription: "Use when: it breaks"\nlicense: MIT\n---\nDo it.\n'
)


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def codes(answer) -> dict[str, list[str]]:
    """The codes of each file in a JSON answer, by the name of its folder."""
    found = json.loads(answer.out)["files"]
    return {
        os.path.basename(os.path.dirname(one["file"])): [d["code"] for d in one["diagnostics"]]
        for one in found
    }


def test_a_file_a_folder_and_a_folder_of_skills_can_be_named(terminal):
    terminal.write("project/skills/good/SKILL.md", GOOD)
    terminal.write("project/skills/group/other/SKILL.md", skill_text("other", "Use when other."))
    clean = (0, "1 skill checked, no problems found.\n", "")
    assert terminal.run("validate", "skills/good/SKILL.md") == clean
    assert terminal.run("validate", "skills/good") == clean
    assert terminal.run("validate", "skills") == (0, "2 skills checked, no problems found.\n", "")
    assert terminal.run("validate") == (0, "2 skills checked, no problems found.\n", "")
    assert terminal.run(
        "validate", "skills", "skills/good", "./skills/good/SKILL.md"
    ).out.startswith("2 skills")


def test_hidden_folders_are_searched_and_what_git_ignores_is_not(terminal):
    terminal.git()
    terminal.write("project/.gitignore", "build/\n")
    for folder in (
        ".claude/skills/a",
        "packages/web/.opencode/skills/b",
        "build/skills/c",
        "node_modules/x/d",
        ".git/e",
    ):
        terminal.write(f"project/{folder}/SKILL.md", GOOD)
    assert set(codes(terminal.run("validate", "--json"))) == {"a", "b"}
    assert set(codes(terminal.run("validate", "build/skills", "--json"))) == {"c"}


def test_findings_stand_under_their_file_with_line_and_code(terminal):
    terminal.write(
        "project/one/SKILL.md",
        "---\nname: two\ndescription: Use when one.\n---\nSee [it](missing.md).\n",
    )
    answer = terminal.run("validate")
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert lines[0] == "one/SKILL.md"
    assert [[*line.split()[:2], line.split()[-1]] for line in lines if line.strip()[:1].isdigit()][
        :2
    ] == [
        ["2", "error", "name-mismatch"],
        ["5", "warning", "file-reference-missing"],
    ]
    assert lines[-1] == "1 skill checked: 1 error, 1 warning."


def test_errors_fail_and_strict_lets_warnings_fail_too(terminal):
    terminal.write("project/warned/SKILL.md", skill_text("warned", "Use when warned.", body=""))
    assert terminal.run("validate").code == 0
    assert terminal.run("validate", "--strict").code == 1
    terminal.write("project/broken/SKILL.md", "---\nname: broken\n")
    assert terminal.run("validate").code == 1


def test_notes_never_fail(terminal):
    terminal.write("project/noted/SKILL.md", skill_text("noted", "Use when noted.", hide="true"))
    answer = terminal.run("validate", "--strict", "--json")
    assert (answer.code, codes(answer)) == (0, {"noted": ["field-unknown"]})


def test_json_has_counts_and_every_file_with_its_findings(terminal):
    file = terminal.write(
        "project/warned/SKILL.md", skill_text("warned", "Use when warned.", body="")
    )
    good = terminal.write("project/good/SKILL.md", GOOD)
    answer = terminal.run("validate", "--json")
    assert json.loads(answer.out) == {
        "version": 1,
        "counts": {"error": 0, "warning": 1, "info": 0},
        "files": [
            {"file": str(good), "diagnostics": [], "mendable": False},
            {
                "file": str(file),
                "diagnostics": [
                    {
                        "code": "body-empty",
                        "severity": "warning",
                        "message": "There is nothing below the header.",
                        "file": str(file),
                        "line": 5,
                        "hint": CODES["body-empty"].hint,
                    }
                ],
                "mendable": False,
            },
        ],
        "notes": [],
        "not_checked": 0,
    }
    assert terminal.run("validate", "--format", "json") == answer


@pytest.mark.parametrize("arguments", [["nope"], ["nope", "good", "neither"]])
def test_every_path_that_is_not_there_is_named(terminal, arguments):
    terminal.write("project/good/SKILL.md", GOOD)
    missing = ", ".join(f"“{path}”" for path in arguments if path != "good")
    assert terminal.run("validate", *arguments) == (
        2,
        "",
        f"prowess: No such file or folder: {missing}\n",
    )


def test_nothing_to_validate_is_a_sentence_and_no_success(terminal):
    where = str(terminal.project)
    sentence = f"prowess: No SKILL.md found in “{where}”."
    assert terminal.run("validate") == (2, "", f"{sentence}\n")


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_a_lone_file_of_another_name_is_an_error_in_every_format(terminal, form):
    terminal.write("project/pdf/skill.md", GOOD)
    answer = terminal.run("validate", "--format", form)
    assert (answer.code, answer.err) == (1, "")
    assert "wrong-file-name" in answer.out
    assert "pdf/skill.md" in answer.out


def test_a_skill_inside_another_is_a_finding_and_not_checked(terminal):
    terminal.write("project/pdf/SKILL.md", GOOD.replace("good", "pdf"))
    terminal.write("project/pdf/x/y/SKILL.md", "no header")
    shape = json.loads(terminal.run("validate", "--json").out)
    assert [one["file"] for one in shape["files"]] == [terminal.path("project/pdf/SKILL.md")]
    (note,) = [one for one in shape["notes"] if one["code"] == "inside-skill"]
    assert note["file"] == terminal.path("project/pdf/x/y/SKILL.md")
    assert "opencode" in note["message"]


def test_a_skill_that_is_too_deep_names_the_hosts_and_the_depth(terminal):
    terminal.write("project/.claude/skills/group/good/SKILL.md", GOOD)
    answer = terminal.run("validate", "--json")
    (found,) = [
        one["message"]
        for file in json.loads(answer.out)["files"]
        for one in file["diagnostics"]
        if one["code"] == "too-deep"
    ]
    assert found == (
        "The skill is 2 folders below `.claude/skills`; Claude Code and oh-my-pi search only 1"
        " deep."
    )
    assert (answer.code, terminal.run("validate", "--host", "claude-code").code) == (0, 1)
    assert terminal.run("validate", "--host", "copilot").code == 0


def test_a_file_of_another_name_is_checked_and_that_is_said(terminal):
    terminal.write("project/good/skill.md", GOOD)
    assert codes(terminal.run("validate", "good/skill.md", "--json")) == {
        "good": ["wrong-file-name"]
    }


def test_hostile_files_cost_a_finding_each_and_nothing_else(terminal):
    terminal.write("project/good/SKILL.md", GOOD)
    (terminal.project / "pipe").mkdir()
    os.mkfifo(terminal.project / "pipe/SKILL.md")
    (terminal.project / "folder/SKILL.md").mkdir(parents=True)
    terminal.link("project/broken/SKILL.md", "nowhere")
    terminal.link("project/escape/SKILL.md", "/etc/hostname")
    terminal.write("project/huge/SKILL.md", GOOD + "x" * 2_000_000)
    terminal.write("project/wide/SKILL.md", GOOD.encode("utf-16"))
    terminal.write(
        "project/bytes/SKILL.md", b"---\nname: bytes\ndescription: Use when \xff.\n---\nx\n"
    )
    terminal.write("project/empty/SKILL.md", b"")
    answer = terminal.run("validate", "--json")
    assert (answer.code, codes(answer)) == (
        1,
        {
            "good": [],
            "pipe": ["not-a-file"],
            "folder": ["not-a-file"],
            "broken": ["not-a-file"],
            "escape": ["link-escapes"],
            "huge": ["file-too-large"],
            "wide": ["utf16"],
            "bytes": ["not-utf8"],
            "empty": ["empty-file"],
        },
    )


@pytest.mark.parametrize("path", ["pipe", "/dev/zero"])
def test_a_pipe_or_a_device_that_is_named_itself_is_not_read(terminal, path):
    os.mkfifo(terminal.project / "pipe")
    answer = terminal.run("validate", path, "--json")
    assert answer.code == 1
    assert [one["code"] for one in json.loads(answer.out)["files"][0]["diagnostics"]] == [
        "wrong-file-name",
        "file-unreadable",
    ]


def test_what_a_skill_says_cannot_steer_the_terminal(terminal):
    terminal.write(
        "project/evil/SKILL.md",
        '---\nname: "e\\x1b[2Jvil"\ndescription: Use when [red]bold[/red].\n---\nx\n',
    )
    out = terminal.run("validate").out
    assert "\x1b" not in out
    assert "e\\x1b[2Jvil" in out


# Fixing


def test_fix_fixes_the_header_keeps_the_rest_and_validates_again(terminal):
    file = terminal.write("project/fixable/SKILL.md", COLON)
    file.chmod(0o600)
    assert terminal.run("validate").out.endswith(
        "1 skill checked: 1 error. Run with --fix to fix 1 file.\n"
    )
    answer = terminal.run("validate", "--fix")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "Fixed fixable/SKILL.md:"
    assert answer.out.splitlines()[1].startswith("  line 3: The value of `description` ")
    assert answer.out.splitlines()[-1] == "1 skill checked, no problems found. Fixed 1 file."
    assert file.read_text(encoding="utf-8") == FIXED
    assert file.stat().st_mode & 0o777 == 0o600
    assert terminal.run("validate", "--fix") == (0, "1 skill checked, no problems found.\n", "")


def test_fix_keeps_line_ends_and_the_byte_order_mark(terminal):
    file = terminal.write(
        "project/fixable/SKILL.md", b"\xef\xbb\xbf" + COLON.replace("\n", "\r\n").encode()
    )
    assert terminal.run("validate", "--fix").code == 0
    assert file.read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()


def test_a_dry_run_shows_the_difference_and_writes_nothing(terminal):
    file = terminal.write("project/fixable/SKILL.md", COLON)
    answer = terminal.run("validate", "--fix", "--dry-run")
    assert answer == (
        0,
        "--- a/fixable/SKILL.md\n"
        "+++ b/fixable/SKILL.md\n"
        "@@ -1,6 +1,6 @@\n"
        " ---\n"
        " name: fixable # its name\n"
        "-description: Use when: it breaks\n"
        '+description: "Use when: it breaks"\n'
        " license: MIT\n"
        " ---\n"
        " Do it.\n"
        "\n"
        "1 skill checked, no problems found. Would fix 1 file.\n",
        "",
    )
    assert file.read_text(encoding="utf-8") == COLON


@pytest.mark.needs("git")
def test_the_difference_is_a_patch(terminal):
    file = terminal.write("project/fixable/SKILL.md", COLON.rstrip("\n") + "\x0c\u2028end")
    answer = terminal.run("validate", "--fix", "--dry-run", "--json")
    fix = json.loads(answer.out)["files"][0]["mended"]
    assert fix["written"] is False
    subprocess.run(["git", "apply"], input=fix["diff"].encode(), cwd=terminal.project, check=True)
    assert file.read_bytes().decode() == FIXED.rstrip("\n") + "\x0c\u2028end"


def test_bytes_that_are_no_text_are_never_written_back(terminal):
    broken = COLON.encode().replace(b"Do it.", b"Do \xff it.")
    file = terminal.write("project/fixable/SKILL.md", broken)
    answer = terminal.run("validate", "--fix", "--json")
    assert (answer.code, codes(answer)) == (1, {"fixable": ["not-utf8", "yaml-unquoted-colon"]})
    assert file.read_bytes() == broken


def test_ctrl_c_while_mending_leaves_the_old_file(terminal, monkeypatch):
    file = terminal.write("project/fixable/SKILL.md", COLON)

    def interrupted(source: str, target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    assert terminal.run("validate", "--fix").code == 130
    assert terminal.tree() == ["fixable/SKILL.md"]
    assert file.read_text(encoding="utf-8") == COLON


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--dry-run"], "--dry-run needs --fix."),
        (
            ["--json", "--format", "sarif"],
            "Use --json or --format sarif, not both.",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(terminal, arguments, sentence):
    answer = terminal.run("validate", *arguments)
    assert answer.code == 2
    assert sentence in answer.err


# Forms for machines


def test_github_gets_one_workflow_command_for_each_finding(terminal, monkeypatch):
    terminal.git()
    terminal.write("project/a, b/100%/SKILL.md", "---\nname: x\n")
    monkeypatch.chdir(terminal.project / "a, b")
    hint = CODES["header-unclosed"].hint
    assert terminal.run("validate", "--format", "github") == (
        1,
        "::error file=a%2C b/100%25/SKILL.md,line=1,title=header-unclosed::"
        f"The header that starts on line 1 is never closed by a `---` line. {hint}\n",
        "",
    )


def test_sarif_has_a_rule_for_each_code_and_a_place_for_each_finding(terminal):
    terminal.git()
    terminal.write(
        "project/sp ace/SKILL.md", skill_text("sp-ace", "Use when needed.", body="[x](gone.md)\n")
    )
    answer = terminal.run("validate", "--format", "sarif")
    assert answer.code == 1
    log = json.loads(answer.out)
    (run,) = log["runs"]
    assert (log["version"], log["$schema"]) == (
        "2.1.0",
        "https://json.schemastore.org/sarif-2.1.0.json",
    )
    assert run["tool"]["driver"]["name"] == "Prowess"
    assert run["tool"]["driver"]["rules"] == [
        {
            "id": code,
            "shortDescription": {"text": CODES[code].summary},
            "help": {"text": CODES[code].hint},
            "defaultConfiguration": {"level": "warning"},
        }
        for code in ("name-mismatch", "file-reference-missing")
    ]
    assert run["originalUriBaseIds"] == {"ROOT": {"uri": f"file://{terminal.project}/"}}
    assert [(one["ruleId"], one["ruleIndex"], one["level"]) for one in run["results"]] == [
        ("name-mismatch", 0, "error"),
        ("file-reference-missing", 1, "warning"),
    ]
    assert run["results"][1]["message"] == {
        "text": f"`gone.md` is referenced but does not exist. {CODES['file-reference-missing'].hint}"
    }
    assert run["results"][1]["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "sp%20ace/SKILL.md", "uriBaseId": "ROOT"},
                "region": {"startLine": 5},
            }
        }
    ]


def test_sarif_without_findings_is_a_whole_log(terminal):
    terminal.write("project/good/SKILL.md", GOOD)
    (run,) = json.loads(terminal.run("validate", "--format", "sarif").out)["runs"]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


def test_it_works_as_a_program(tmp_path):
    (tmp_path / "good").mkdir()
    (tmp_path / "good/SKILL.md").write_text(GOOD, encoding="utf-8")
    command = [sys.executable, "-m", "prowess", "validate", "good"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        "1 skill checked, no problems found.\n",
        "",
    )


def test_validating_for_a_host_says_whether_it_would_load_the_skill(terminal):
    terminal.write("project/x/SKILL.md", "---\ndescription: Does it. Use when asked.\n---\nBody\n")
    code, out, _ = terminal.run(
        "validate", "x", "--host", "opencode", "--host", "claude-code", "--json"
    )
    assert code == 1
    found = json.loads(out)["files"][0]["diagnostics"]
    refused = [one["message"] for one in found if one["code"] == "host-refuses"]
    assert refused == [
        "opencode would not load the skill: The header has no `name`; this host requires one."
    ]


def test_a_long_body_that_goes_into_every_request_is_warned_of(terminal):
    head = "---\nname: x\ndescription: Does it. Use when asked.\nalways: true\n---\n"
    terminal.write("project/x/SKILL.md", head + "Do this and then that, with care.\n" * 100)
    found = json.loads(terminal.run("validate", "x", "--json").out)["files"][0]["diagnostics"]
    assert "always-long" in [one["code"] for one in found]
    terminal.write("project/x/SKILL.md", head + "Do this.\n")
    found = json.loads(terminal.run("validate", "x", "--json").out)["files"][0]["diagnostics"]
    assert "always-long" not in [one["code"] for one in found]


def test_a_file_that_cannot_be_written_is_an_error_and_the_others_are_fixed(terminal, monkeypatch):
    files = [
        terminal.write(f"project/{name}/SKILL.md", COLON.replace("fixable", name))
        for name in ("a", "b", "c")
    ]
    real = os.replace

    def refuse(source: str, target: str) -> None:
        if target == str(files[1]):
            raise PermissionError(13, "Permission denied")
        real(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    answer = terminal.run("validate", "--fix")
    assert (answer.code, answer.err) == (1, "")
    assert [
        line for line in answer.out.splitlines() if line.startswith("Fixed ") and line.endswith(":")
    ] == [
        "Fixed a/SKILL.md:",
        "Fixed c/SKILL.md:",
    ]
    assert "The file can be fixed but not written: Permission denied." in answer.out
    assert answer.out.endswith("3 skills checked: 2 errors. Fixed 2 files.\n")
    assert files[1].read_text(encoding="utf-8") == COLON.replace("fixable", "b")
    assert terminal.tree() == ["a/SKILL.md", "b/SKILL.md", "c/SKILL.md"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_ctrl_c_while_fixing_shows_what_was_fixed_before(terminal, monkeypatch, form):
    files = [
        terminal.write(f"project/{name}/SKILL.md", COLON.replace("fixable", name))
        for name in ("a", "b", "c")
    ]
    real = os.replace

    def interrupted(source: str, target: str) -> None:
        if target == str(files[1]):
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    answer = terminal.run("validate", "--fix", "--format", form)
    assert (answer.code, answer.err.strip()) == (130, "Stopped.")
    if form == "text":
        assert answer.out.startswith("Fixed a/SKILL.md:\n")
        assert answer.out.endswith("Fixed 1 file. Stopped before 2 files.\n")
    else:
        told = json.loads(answer.out)
        assert [("mended" in one, one["file"]) for one in told["files"]] == [(True, str(files[0]))]
        assert told["not_checked"] == 2
    assert files[1].read_text(encoding="utf-8") == COLON.replace("fixable", "b")
    assert terminal.tree() == ["a/SKILL.md", "b/SKILL.md", "c/SKILL.md"]


# Codes that are ignored


@pytest.mark.parametrize("code", ["yaml-unquoted-colon", "repaired-colon"])
def test_a_code_can_be_ignored_by_its_name_and_by_its_former_name(terminal, code):
    terminal.write("project/fixable/SKILL.md", COLON)
    assert terminal.run("validate").code == 1
    answer = terminal.run("validate", "--json", "--ignore", code)
    assert (answer.code, codes(answer)) == (0, {"fixable": []})
    assert json.loads(answer.out)["counts"] == {"error": 0, "warning": 0, "info": 0}
    assert terminal.run("validate", "--ignore", "body-empty").code == 1


def test_notes_that_belong_to_no_skill_can_be_ignored_too(terminal):
    terminal.write("project/good/SKILL.md", GOOD)
    terminal.write("project/other/skill.md", GOOD)
    assert "wrong-file-name" in terminal.run("validate").out
    assert terminal.run("validate", "--strict", "--ignore", "wrong-file-name").code == 0


def test_an_unknown_code_is_refused_with_the_nearest_one(terminal):
    answer = terminal.run("validate", "--ignore", "yaml-unquoted-colour")
    assert answer.code == 2
    assert "There is no diagnostic code “yaml-unquoted-colour”" in answer.err
    assert "yaml-unquoted-colon" in answer.err


def test_sarif_names_the_former_code_of_a_rule(terminal):
    terminal.write("project/fixable/SKILL.md", COLON)
    (run,) = json.loads(terminal.run("validate", "--format", "sarif").out)["runs"]
    [rule] = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["deprecatedIds"]) == ("yaml-unquoted-colon", ["repaired-colon"])


def test_all_hosts_refuse_in_one_finding_that_names_them(terminal):
    terminal.write(
        "project/.agents/skills/good/SKILL.md", GOOD.replace("Does good.", "Does: good.")
    )
    shape = json.loads(terminal.run("validate", "--host", "all", "--json").out)
    (found,) = [
        one
        for file in shape["files"]
        for one in file["diagnostics"]
        if one["code"] == "host-refuses"
    ]
    assert found["hosts"] == ["copilot", "pi", "crush"]
    assert found["message"].startswith("GitHub Copilot CLI, pi and Crush would not load the skill")
