"""`prowess show NAME`: what a skill says, which files it has, what it costs."""

from __future__ import annotations

import hashlib

from prowess.machine.files import LocalFiles
from prowess.reports.skill_details import load_files
from tests.cli.terminal import Terminal
from tests.workspace import skill_text

BODY = "# PDF\n\nRead [the guide](guide.md).\n"


def write_pdf(terminal: Terminal) -> str:
    """A skill with files and links; gives its digest."""
    text = skill_text(
        "pdf", "Reads PDF files.", body=BODY, license="MIT", allowed_tools="Read Write"
    )
    terminal.write("project/.agents/skills/pdf/SKILL.md", text)
    terminal.write("project/.agents/skills/pdf/guide.md", "12345")
    terminal.write("project/.agents/skills/pdf/scripts/run.py", "1")
    terminal.link("project/.agents/skills/pdf/scripts/same.md", "../guide.md")
    terminal.link("project/.agents/skills/pdf/lost", "nowhere")
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_a_skill_is_shown_with_its_facts_its_files_and_its_body(terminal):
    digest = write_pdf(terminal)
    assert terminal.run("show", "pdf") == (
        0,
        "pdf\n"
        "Reads PDF files.\n"
        "\n"
        "state          ● ready\n"
        "file           .agents/skills/pdf/SKILL.md\n"
        "source         agents:project (project)\n"
        "license        MIT\n"
        "allowed-tools  Read, Write\n"
        f"digest         {digest}\n"
        "cost           about 5 tokens in every request, 12 tokens more when used (an estimate)\n"
        "\n"
        "      122  SKILL.md\n"
        "        5  guide.md\n"
        "           lost (broken symlink)\n"
        "        1  scripts/run.py\n"
        "        5  scripts/same.md (symlink)\n"
        "\n" + BODY,
        "",
    )


def test_raw_prints_the_body_as_it_is_and_nothing_else(terminal):
    write_pdf(terminal)
    assert terminal.run("show", "pdf", "--raw") == (0, BODY, "")


def test_json_has_everything_about_the_skill(terminal):
    digest = write_pdf(terminal)
    root = terminal.path("project/.agents/skills")
    assert terminal.json("show", "pdf") == {
        "version": 1,
        "host": "prowess",
        "edition": "current",
        "cwd": str(terminal.project),
        "skill": {
            "name": "pdf",
            "description": "Reads PDF files.",
            "location": f"{root}/pdf/SKILL.md",
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
            "frontmatter": {
                "name": "pdf",
                "description": "Reads PDF files.",
                "license": "MIT",
                "allowed-tools": "Read Write",
            },
            "manifest": {
                "name": "pdf",
                "description": "Reads PDF files.",
                "license": "MIT",
                "allowed_tools": ["Read", "Write"],
            },
            "digest": digest,
            "content": BODY,
            "cost": {"listed_tokens": 5, "body_tokens": 12},
            "files": [
                {"path": "SKILL.md", "kind": "file", "size": 122, "link": False},
                {"path": "guide.md", "kind": "file", "size": 5, "link": False},
                {"path": "lost", "kind": "broken", "size": None, "link": True},
                {"path": "scripts/run.py", "kind": "file", "size": 1, "link": False},
                {"path": "scripts/same.md", "kind": "file", "size": 5, "link": True},
            ],
            "more_files": False,
            "diagnostics": [],
        },
    }


def test_a_name_that_is_not_here_is_an_error_with_the_nearest_names(terminal):
    terminal.skill("project/.agents/skills/pdf")
    assert terminal.run("show", "pfd") == (
        3,
        "",
        "prowess: There is no skill named “pfd” here.\nDid you mean “pdf”?\n",
    )


def test_a_skill_that_could_not_be_read_is_shown_with_the_reason(terminal):
    terminal.write("project/.agents/skills/torn/SKILL.md", "---\nname: torn\n")
    answer = terminal.run("show", "torn")
    assert (answer.code, answer.err) == (1, "")
    assert answer.out.splitlines()[:5] == [
        "torn",
        "",
        "state   ! invalid: The header that starts on line 1 is never closed by a `---` line",
        "file    .agents/skills/torn/SKILL.md",
        "source  agents:project (project)",
    ]
    assert terminal.run("show", "torn", "--json").code == 1


def test_a_folder_with_very_many_files_is_listed_in_part(terminal):
    terminal.skill("project/.agents/skills/big")
    for number in range(250):
        terminal.write(f"project/.agents/skills/big/data/{number:03}.txt")
    terminal.write("project/.agents/skills/big/zzz/last.txt")
    outcome = terminal.scan().find("big")
    listed = load_files(outcome, LocalFiles())
    paths = [file.path for file in listed.files]
    assert (paths[:2], len(paths), listed.has_more) == (
        ["SKILL.md", "data/000.txt"],
        200,
        True,
    )
    assert "           and more; only the first 200 are shown\n" in terminal.run("show", "big").out


def test_links_to_folders_are_shown_and_never_entered(terminal):
    terminal.skill("project/.agents/skills/loop")
    terminal.link("project/.agents/skills/loop/again", ".")
    listed = load_files(terminal.scan().find("loop"), LocalFiles())
    found = [(file.path, file.kind, file.link) for file in listed.files]
    assert (found, listed.has_more) == (
        [("SKILL.md", "file", False), ("again", "folder", True)],
        False,
    )


def test_a_command_is_a_single_file(terminal):
    terminal.write("project/.claude/commands/ship.md", "Ship it.\n")
    terminal.write("project/.claude/commands/other.md", "Other.\n")
    listed = load_files(terminal.scan("claude-code").find("ship"), LocalFiles())
    assert ([file.path for file in listed.files], listed.has_more) == (["ship.md"], False)


def test_a_body_reaches_people_without_anything_that_steers_a_terminal(terminal):
    text = skill_text("a", body="\x1b]0;title\x07 red\x1b[31m\r\n<b>tag</b> [bold]x[/bold]\n")
    terminal.write("project/.agents/skills/a/SKILL.md", text)
    out = terminal.run("show", "a").out
    assert out.endswith("\\x1b]0;title\\x07 red\\x1b[31m\n<b>tag</b> [bold]x[/bold]\n")
    assert (
        terminal.run("show", "a", "--raw").out
        == "\x1b]0;title\x07 red\x1b[31m\r\n<b>tag</b> [bold]x[/bold]\n"
    )
