"""`prowess init`: what it makes, what it leaves alone, what it says."""

from __future__ import annotations

import tomllib

import msgspec
import pytest

from prowess.reports.project_setup import TEMPLATE
from prowess.settings.read.settings_file import OWN_KEYS
from tests.cli.terminal import Terminal


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def test_an_empty_project_gets_a_settings_file_and_a_folder_for_skills(terminal):
    answer = terminal.run("init")
    assert answer == (
        0,
        "Created prowess.toml\nCreated .agents/skills/\n\nNo skills here yet. Create one with `prowess new NAME`.\n",
        "",
    )
    assert terminal.tree() == [".agents/skills/", "prowess.toml"]
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == TEMPLATE


def test_the_settings_file_that_is_made_changes_nothing(terminal):
    before = terminal.open().settings()
    terminal.run("init")
    after = terminal.open().settings()
    assert tomllib.loads(TEMPLATE) == {}
    assert after.files == (terminal.path("project/prowess.toml"),)
    assert after == msgspec.structs.replace(before, files=after.files, project_files=after.files)


def test_every_setting_that_the_template_explains_is_one_that_is_read(terminal):
    lines = [line.removeprefix("# ") for line in TEMPLATE.splitlines()]
    settings = [line for line in lines if line.startswith("[") or " = " in line.split("`")[0]]
    terminal.write("project/prowess.toml", "\n".join(settings))
    assert terminal.open().settings().files == (terminal.path("project/prowess.toml"),)
    explained = set(tomllib.loads("\n".join(settings)))
    assert explained == {key.partition(".")[0] for key in OWN_KEYS}


def test_what_is_there_is_never_overwritten(terminal):
    terminal.write("project/prowess.toml", "enabled = true\n")
    terminal.write("project/.agents/skills/.keep")
    answer = terminal.run("init")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[:2] == [
        "prowess.toml already exists; left unchanged",
        ".agents/skills/ already exists; left unchanged",
    ]
    assert (terminal.project / "prowess.toml").read_text(encoding="utf-8") == "enabled = true\n"


def test_a_link_that_leads_nowhere_counts_as_there(terminal):
    terminal.link("project/prowess.toml", "elsewhere.toml")
    assert terminal.json("init")["kept"] == [terminal.path("project/prowess.toml")]
    assert not (terminal.project / "elsewhere.toml").exists()


def test_it_says_which_skills_are_found_already(terminal):
    terminal.skill("project/.claude/skills/one")
    terminal.skill("project/.claude/skills/two", hide="true")
    terminal.skill("home/.agents/skills/three")
    answer = terminal.run("init")
    assert answer.out.splitlines()[3:] == [
        "Found 3 files in 2 folders, 2 ready to use:",
        "  .claude/skills    2",
        "  ~/.agents/skills  1",
        "Run `prowess list` to see them, `prowess new NAME` to create another.",
    ]


def test_the_same_as_json(terminal):
    terminal.skill("project/.claude/skills/one")
    assert terminal.json("init") == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "folder": str(terminal.project),
        "created": [terminal.path("project/prowess.toml")],
        "kept": [terminal.path("project/.claude/skills")],
        "skills_folder": terminal.path("project/.claude/skills"),
        "found": {
            "counts": {"ready": 1},
            "roots": [{"path": terminal.path("project/.claude/skills"), "files": 1}],
            "settings": [terminal.path("project/prowess.toml")],
        },
    }


def test_a_file_in_the_way_of_the_folder_is_a_sentence(terminal):
    terminal.write("project/.agents", "I am a file")
    answer = terminal.run("init")
    where = terminal.path("project/.agents/skills")
    assert answer == (4, "", f"prowess: Could not create the folder {where}: Not a directory.\n")
    assert terminal.tree() == [".agents"]


@pytest.mark.parametrize(
    ("host", "folder"),
    [
        ("prowess", ".agents/skills"),
        ("opencode", ".agents/skills"),
        ("codex", ".agents/skills"),
        ("claude-code", ".claude/skills"),
    ],
)
def test_the_folder_for_skills_is_one_that_the_host_reads_and_new_uses_it(terminal, host, folder):
    made = terminal.json("init", "--host", host)
    assert (made["host"], made["skills_folder"]) == (host, terminal.path(f"project/{folder}"))
    assert terminal.json("new", "pdf", "--host", host)["folder"] == terminal.path(
        f"project/{folder}/pdf"
    )
    assert [skill.name for skill in terminal.open(host)] == ["pdf"]


def test_a_project_with_a_folder_for_skills_is_given_no_second_one(terminal):
    terminal.skill("project/.claude/skills/one")
    terminal.run("init")
    assert terminal.tree() == [".claude/skills/one/SKILL.md", "prowess.toml"]


def test_a_host_that_does_not_read_the_folder_that_is_there_gets_its_own(terminal):
    terminal.skill("project/.agents/skills/one")
    assert terminal.json("init", "--host", "claude-code")["created"] == [
        terminal.path("project/prowess.toml"),
        terminal.path("project/.claude/skills"),
    ]
