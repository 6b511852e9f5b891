"""`prowess validate`: the files that a body refers to."""

from __future__ import annotations

import json

import pytest

from tests.cli.terminal import Terminal

HEAD = "---\nname: x\ndescription: Does x. Use when x.\n---\n"


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys):
    return Terminal(tmp_path, monkeypatch, capsys)


def validate(terminal: Terminal, body: str) -> list[tuple[str, int]]:
    terminal.write("project/x/SKILL.md", HEAD + body)
    (file,) = json.loads(terminal.run("validate", "x", "--json").out)["files"]
    return [(one["code"], one["line"]) for one in file["diagnostics"]]


@pytest.mark.parametrize(
    "body",
    [
        "See `./gone.md`.",
        "See `data/gone.csv`.",
        "{baseDir}/gone.sh",
        "Run `${CLAUDE_SKILL_DIR}/gone.py`.",
        "Run `${SKILL_DIR}/data/gone.py`.",
        '<img src="assets/gone.png">',
        "```bash\npython scripts/gone.py\n```",
        "```bash\nbash ./scripts/gone.sh\n```",
        "```bash\npython {baseDir}/scripts/gone.py\n```",
        "@references/gone.md",
        "[x](assets/broken.md)",
    ],
)
def test_a_file_that_is_not_there_is_missing_wherever_it_is_named(terminal, body):
    terminal.write("project/x/data/here.csv")
    terminal.link("project/x/assets/broken.md", "nowhere.md")
    line = 6 if body.startswith("```") else 5
    assert validate(terminal, body + "\n") == [("file-reference-missing", line)]
    for name in (
        "gone.md",
        "gone.sh",
        "gone.py",
        "assets/gone.png",
        "scripts/gone.py",
        "scripts/gone.sh",
    ):
        terminal.write(f"project/x/{name}")
    for name in ("references/gone.md", "data/gone.csv", "data/gone.py", "assets/nowhere.md"):
        terminal.write(f"project/x/{name}")
    assert validate(terminal, body + "\n") == []


@pytest.mark.parametrize(
    "body",
    [
        "[x](assets/link.md)",
        "`assets/link.md`",
        "[x](assets/folder/file.md)",
        "{baseDir}/assets/link.md",
        "[s](file:///etc/passwd)",
        "[s](/etc/passwd)",
        "{baseDir}/../secret.md",
    ],
)
def test_a_file_outside_is_outside_by_a_link_too(terminal, body):
    terminal.write("project/elsewhere/file.md")
    terminal.link("project/x/assets/link.md", "/etc/passwd")
    terminal.link("project/x/assets/folder", "../../elsewhere")
    assert validate(terminal, body + "\n") == [("file-reference-outside", 5)]


def test_a_link_that_stays_inside_and_a_linked_skill_are_fine(terminal):
    terminal.write("project/x/real.md")
    terminal.link("project/x/assets/link.md", "../real.md")
    assert validate(terminal, "[x](assets/link.md)\n") == []
    terminal.link("project/linked", "x")
    assert (
        json.loads(terminal.run("validate", "linked/SKILL.md", "--json").out)["counts"]["warning"]
        == 0
    )


def test_the_message_says_that_a_link_leads_out(terminal):
    terminal.link("project/x/assets/link.md", "/etc/passwd")
    terminal.write("project/x/SKILL.md", HEAD + "[x](assets/link.md)\n")
    assert (
        "`assets/link.md` is a symlink to a file outside the skill's folder."
        in terminal.run("validate", "x").out
    )
