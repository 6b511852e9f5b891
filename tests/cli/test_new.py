"""`prowess new`: skills from a template, whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def test_a_new_skill_goes_into_the_standard_folder_and_validates_without_findings(terminal):
    answer = terminal.run("new", "pdf-tools")
    assert answer == (
        0,
        "Created .agents/skills/pdf-tools:\n  SKILL.md\n"
        "Next: write the instructions, then run `prowess validate .agents/skills/pdf-tools`.\n",
        "",
    )
    assert terminal.run("validate", "--strict") == (0, "1 skill checked, no problems found.\n", "")
    assert terminal.ends(terminal.scan()) == {"project/.agents/skills/pdf-tools/SKILL.md": "ready"}


def test_resources_come_with_an_example_each_and_still_validate(terminal):
    terminal.run("new", "pdf", "--resources", "assets, scripts,references")
    assert terminal.tree() == [
        ".agents/skills/pdf/SKILL.md",
        ".agents/skills/pdf/assets/template.md",
        ".agents/skills/pdf/references/details.md",
        ".agents/skills/pdf/scripts/example.py",
    ]
    assert terminal.run("validate") == (0, "1 skill checked, no problems found.\n", "")
    script = terminal.project / ".agents/skills/pdf/scripts/example.py"
    assert subprocess.run([script], capture_output=True, text=True).stdout == "Replace this.\n"


def test_every_host_of_the_standard_folder_can_use_it(terminal):
    terminal.run(
        "new", "pdf", "--description", "Reads PDF files. Use when: a PDF is named # or linked."
    )
    for host in ("prowess", "spec", "opencode", "omp", "openclaw", "codex"):
        skill = terminal.open(host).get("pdf")
        assert (host, skill.description) == (
            host,
            "Reads PDF files. Use when: a PDF is named # or linked.",
        )


def test_the_nearest_skill_folder_of_the_project_is_used(terminal, monkeypatch):
    terminal.git()
    terminal.skill("project/.claude/skills/other")
    (terminal.project / "deep/down").mkdir(parents=True)
    monkeypatch.chdir(terminal.project / "deep/down")
    assert terminal.json("new", "one")["folder"] == terminal.path("project/.claude/skills/one")
    (terminal.project / "deep/.opencode/skills").mkdir(parents=True)
    assert terminal.json("new", "two")["folder"] == terminal.path(
        "project/deep/.opencode/skills/two"
    )


def test_a_plain_folder_called_skills_counts_only_where_it_holds_a_skill(terminal):
    terminal.write("project/skills/README.txt", "about people")
    assert terminal.json("new", "one")["folder"] == terminal.path("project/.agents/skills/one")
    terminal.write("project/.agents/skills/one/SKILL.md", "")
    (terminal.project / ".agents/skills/one/SKILL.md").unlink()
    (terminal.project / ".agents/skills/one").rmdir()
    (terminal.project / ".agents/skills").rmdir()
    terminal.skill("project/skills/real")
    assert terminal.json("new", "two")["folder"] == terminal.path("project/skills/two")


def test_without_any_skill_folder_the_repository_root_gets_one(terminal, monkeypatch):
    terminal.git()
    (terminal.project / "deep").mkdir()
    monkeypatch.chdir(terminal.project / "deep")
    assert terminal.json("new", "one")["folder"] == terminal.path("project/.agents/skills/one")


def test_the_place_can_be_named(terminal):
    assert terminal.json("new", "one", "--in", "here/there")["folder"] == terminal.path(
        "project/here/there/one"
    )
    assert terminal.json("new", "two", "--user")["folder"] == terminal.path(
        "home/.agents/skills/two"
    )
    answer = terminal.run("new", "three", "--user", "--in", "x")
    assert answer.code == 2
    assert "Use --in or --user, not both." in answer.err


def test_json_has_the_place_the_files_and_who_else_claims_the_name(terminal):
    other = terminal.skill("project/.claude/skills/pdf")
    assert terminal.json("new", "pdf", "--in", ".agents/skills", "--resources", "assets") == {
        "version": 1,
        "name": "pdf",
        "folder": terminal.path("project/.agents/skills/pdf"),
        "location": terminal.path("project/.agents/skills/pdf/SKILL.md"),
        "files": ["SKILL.md", "assets/template.md"],
        "also_claimed_by": [str(other)],
    }


def test_another_file_with_the_name_is_pointed_out(terminal):
    terminal.skill("project/.claude/skills/pdf")
    answer = terminal.run("new", "pdf", "--in", ".agents/skills")
    line = ".claude/skills/pdf/SKILL.md has the same name; `prowess explain pdf` shows which one loads."
    assert answer.out.splitlines()[2] == line


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "it is empty"),
        (
            "PDF-Tools",
            "it has uppercase letters; only lowercase is allowed; try “pdf-tools”",
        ),
        (
            "pdf tools",
            "it contains a space; only a-z, 0-9 and single hyphens are allowed; try “pdf-tools”",
        ),
        (
            "pdf_tools",
            "it contains “_”; only a-z, 0-9 and single hyphens are allowed; try “pdf-tools”",
        ),
        (
            "../evil",
            "it contains “.”; only a-z, 0-9 and single hyphens are allowed; try “evil”",
        ),
        (
            "a\x1bb",
            "it contains U+001B; only a-z, 0-9 and single hyphens are allowed; try “a-b”",
        ),
        ("-pdf", "hyphens must be single, between letters or digits; try “pdf”"),
        (
            "pdf--tools",
            "hyphens must be single, between letters or digits; try “pdf-tools”",
        ),
        (
            "straße",
            "it contains “ß”; only a-z, 0-9 and single hyphens are allowed; try “stra-e”",
        ),
        ("a" * 65, f"it has 65 characters; at most 64 are allowed; try “{'a' * 64}”"),
    ],
)
def test_a_name_that_the_standard_forbids_is_refused_with_the_rule_and_a_better_one(
    terminal, name, why
):
    answer = terminal.run("new", "--", name)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.endswith(f"” cannot be the name of a skill: {why}.\n")
    assert terminal.tree() == []


def test_what_is_there_is_refused_and_stays(terminal):
    terminal.write("project/.agents/skills/pdf/notes.txt", "mine")
    answer = terminal.run("new", "pdf")
    where = terminal.path("project/.agents/skills/pdf")
    assert answer == (
        2,
        "",
        f"prowess: {where} already exists. Nothing was written.\n",
    )
    assert terminal.tree() == [".agents/skills/pdf/notes.txt"]


@pytest.mark.parametrize("description", ["", "   ", "x" * 1025])
def test_a_description_that_would_not_validate_is_refused(terminal, description):
    answer = terminal.run("new", "pdf", "--description", description)
    assert (answer.code, answer.out, terminal.tree()) == (2, "", [])
    assert answer.err.startswith(
        "prowess: Nothing was created because the skill would be invalid: "
    )


def test_an_unknown_resource_names_the_known_ones(terminal):
    answer = terminal.run("new", "pdf", "--resources", "script")
    assert answer.code == 2
    assert "“script” is not one of scripts, references, assets." in answer.err


def test_ctrl_c_leaves_no_half_made_skill(terminal, monkeypatch):
    real = os.rename

    def interrupted(source: str, target: str) -> None:
        assert sorted(os.listdir(source)) == ["SKILL.md"]
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupted)
    answer = terminal.run("new", "pdf")
    assert (answer.code, answer.out, answer.err.strip()) == (130, "", "Stopped.")
    assert terminal.tree() == [".agents/skills/"]
    monkeypatch.setattr(os, "rename", real)
    assert terminal.run("new", "pdf").code == 0


def test_a_folder_that_cannot_be_written_is_a_sentence(terminal):
    terminal.write("project/taken", "a file")
    answer = terminal.run("new", "pdf", "--in", "taken")
    where = terminal.path("project/taken/pdf")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err == f"prowess: Could not create the folder {where}: File exists.\n"


def test_it_works_as_a_program(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path / "home")}
    made = subprocess.run(
        [sys.executable, "-m", "prowess", "new", "pdf"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert (tmp_path / ".agents/skills/pdf/SKILL.md").is_file()


def test_a_new_skill_for_a_host_goes_where_that_host_looks(terminal):
    assert (
        terminal.run("new", "one", "--host", "claude-code")[1].splitlines()[0]
        == "Created .claude/skills/one:"
    )
    assert (
        terminal.run("new", "two", "--host", "omp")[1].splitlines()[0]
        == "Created .claude/skills/two:"
    )
    assert (
        terminal.run("new", "three", "--host", "claude-code", "--user")[1].splitlines()[0]
        == "Created ~/.claude/skills/three:"
    )
    assert sorted(skill.name for skill in terminal.scan("claude-code").skills) == [
        "one",
        "three",
        "two",
    ]


def test_of_folders_side_by_side_the_one_that_most_agents_read_is_taken_and_our_own_last(terminal):
    for folder in (".prowess", ".claude", ".agents"):
        (terminal.project / folder / "skills").mkdir(parents=True)
    assert terminal.json("new", "one")["folder"] == terminal.path("project/.agents/skills/one")
    os.rename(terminal.project / ".agents", terminal.project / "away")
    assert terminal.json("new", "two")["folder"] == terminal.path("project/.claude/skills/two")
    os.rename(terminal.project / ".claude", terminal.project / "gone")
    assert terminal.json("new", "three")["folder"] == terminal.path("project/.prowess/skills/three")


def test_the_hint_about_another_claim_names_the_host(terminal):
    terminal.skill("home/.config/opencode/skills/h2")
    out = terminal.run("new", "h2", "--user", "--host", "opencode").out
    assert "`prowess explain h2 --host opencode` shows which one loads." in out
