"""`prowess pack`: a skill becomes one archive, always the same bytes, which can be installed again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.cli.terminal import Terminal

SKILL = "---\nname: deploy\ndescription: Deploys the service. Use when asked to deploy.\n---\n\nDo it.\n"


@pytest.fixture
def skill(terminal: Terminal) -> Path:
    terminal.write("project/skills/deploy/SKILL.md", SKILL)
    terminal.write("project/skills/deploy/references/notes.md", "notes\n")
    script = terminal.write("project/skills/deploy/scripts/run.py", "print(1)\n")
    script.chmod(0o755)
    return script.parent.parent


def test_a_skill_becomes_an_archive_with_its_folder_in_it(terminal: Terminal, skill: Path) -> None:
    answer = terminal.run("pack", "skills/deploy")
    made = terminal.project / "deploy.skill"
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    assert answer == (
        0,
        f"Packed deploy (3 files, {made.stat().st_size:,} bytes)\n  deploy.skill  sha256:{digest}\n",
        "",
    )
    with zipfile.ZipFile(made) as archive:
        assert [(one.filename, oct(one.external_attr >> 16)) for one in archive.infolist()] == [
            ("deploy/SKILL.md", "0o100644"),
            ("deploy/references/notes.md", "0o100644"),
            ("deploy/scripts/run.py", "0o100755"),
        ]


def test_the_same_files_make_the_same_bytes_whenever_and_wherever(
    terminal: Terminal, skill: Path
) -> None:
    terminal.run("pack", "skills/deploy", "-o", "one.skill")
    copy = terminal.project / "elsewhere" / "deploy"
    # Another order of making, other times, other rights for others.
    for path in sorted((one for one in skill.rglob("*") if one.is_file()), reverse=True):
        place = copy / path.relative_to(skill)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
        os.chmod(place, 0o700 if os.access(path, os.X_OK) else 0o600)
        os.utime(place, (1, 1))
    terminal.run("pack", "elsewhere/deploy", "-o", "two.skill")
    one, two = terminal.project / "one.skill", terminal.project / "two.skill"
    assert one.read_bytes() == two.read_bytes()


def test_packing_again_changes_nothing(terminal: Terminal, skill: Path) -> None:
    terminal.run("pack", "skills/deploy")
    made = terminal.project / "deploy.skill"
    before = made.stat()
    assert terminal.run("pack", "skills/deploy").out.startswith("Unchanged: deploy ")
    after = made.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_what_is_left_out_is_said(terminal: Terminal, skill: Path) -> None:
    for path in (".git/config", "__pycache__/a.pyc", "node_modules/x/y.js", ".DS_Store", ".env"):
        terminal.write(f"project/skills/deploy/{path}", "x")
    terminal.write("project/skills/deploy/deploy.skill", "old")
    shown = terminal.json("pack", "skills/deploy")["skills"][0]
    assert shown["files"] == ["SKILL.md", "references/notes.md", "scripts/run.py"]
    assert shown["left_out"] == [
        ".DS_Store",
        ".env",
        "__pycache__/a.pyc",
        "deploy.skill",
        "node_modules/x/y.js",
    ]
    assert "  left out: .DS_Store, .env, " in terminal.run("pack", "skills/deploy").out


def test_a_skill_with_errors_is_not_packed(terminal: Terminal) -> None:
    terminal.write("project/skills/bad/SKILL.md", "---\nname: Bad Name\n---\n")
    answer = terminal.run("pack", "skills/bad")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("prowess: skills/bad/SKILL.md cannot be shared: ")
    assert list(terminal.project.glob("*.skill")) == []


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda top: os.symlink("/etc/passwd", top / "link"), "link is a symlink"),
        (lambda top: os.mkfifo(top / "pipe"), "pipe is a symlink or a special file"),
        (lambda top: (top / "a\\b").write_text(""), "has a backslash or a colon"),
        (lambda top: (top / "a\nb").write_text(""), "cannot be printed"),
        (
            lambda top: [(top / name).write_text("") for name in ("notes", "NOTES")],
            "NOTES and notes are one file on some systems",
        ),
        (
            lambda top: [(top / f"{number}.md").write_text("") for number in range(513)],
            "it has 516 files; at most 512",
        ),
    ],
    ids="link pipe backslash newline case many".split(),
)
def test_what_could_not_be_unpacked_again_is_refused(
    terminal: Terminal, skill: Path, make: object, problem: str
) -> None:
    assert callable(make)
    make(skill)
    answer = terminal.run("pack", "skills/deploy")
    assert (answer.code, answer.out) == (1, "")
    assert problem in answer.err


def test_several_skills_are_packed_at_once(terminal: Terminal, skill: Path) -> None:
    terminal.write("project/skills/review/SKILL.md", SKILL.replace("deploy", "review"))
    assert terminal.run("pack", "-o", "out/").code == 0
    assert sorted(os.listdir(terminal.project / "out")) == ["deploy.skill", "review.skill"]
    answer = terminal.run("pack", "-o", "one.skill")
    assert (answer.code, "one.skill is one file" in answer.err) == (2, True)


def test_two_skills_of_one_name_are_refused(terminal: Terminal, skill: Path) -> None:
    shutil.copytree(skill, terminal.project / "other" / "deploy")
    answer = terminal.run("pack")
    assert (answer.code, "are both named “deploy”" in answer.err) == (2, True)


def test_a_dry_run_writes_nothing(terminal: Terminal, skill: Path) -> None:
    answer = terminal.run("pack", "skills/deploy", "--dry-run")
    assert (answer.code, answer.out.startswith("Would pack deploy ")) == (0, True)
    assert not (terminal.project / "deploy.skill").exists()


def test_a_packed_skill_is_installed_as_it_was(terminal: Terminal, skill: Path) -> None:
    terminal.run("pack", "skills/deploy")
    shutil.rmtree(skill)
    answer = terminal.run("install", "deploy.skill", "--yes", "--json")
    assert answer.code == 0, answer.err
    folder = terminal.project / ".agents" / "skills" / "deploy"
    assert (folder / "SKILL.md").read_text() == SKILL
    assert os.access(folder / "scripts" / "run.py", os.X_OK)
    assert not os.access(folder / "references" / "notes.md", os.X_OK)
    assert json.loads(answer.out)
