"""`prowess install`: what is shown, asked, written and noted."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from prowess.model.tree import Tree
from prowess.state.install_lock import LockContent
from tests.supply.install.conftest import Desk, two_skills
from tests.workspace import skill_text


def load_lock(desk: Desk, path: str = "project/prowess.lock") -> LockContent:
    import msgspec

    return msgspec.json.decode((desk.root / path).read_bytes(), type=LockContent)


def test_one_skill_of_a_folder_is_shown_installed_and_noted(desk: Desk) -> None:
    desk.source(
        {
            "SKILL.md": skill_text(
                "alpha",
                "Does A.",
                "Now !`date`.\nSee https://example.com/x and http://me@other.example/y.\n",
                allowed_tools="Bash(git *)",
            ),
            "scripts/run.sh": "#!/bin/sh\n",
        },
        "project/parts/one",
    )
    answer = desk.run("install", "./parts/one", "--yes")
    assert answer == (
        0,
        "alpha  Does A.\n"
        "  from              ./parts/one\n"
        "  to                .agents/skills/alpha (new)\n"
        f"  files             2 files, {answer.out.split(' bytes')[0].split()[-1]} bytes: SKILL.md,"
        " scripts/run.sh\n"
        "  scripts           scripts/run.sh\n"
        "  runs when loaded  date\n"
        "  wants tools       Bash(git *)\n"
        "  names hosts       example.com\n"
        "                    other.example\n"
        "\n"
        "Installed alpha; recorded in prowess.lock.\n",
        "",
    )
    assert sorted(desk.installed()) == ["alpha/SKILL.md", "alpha/scripts/run.sh"]
    (entry,) = load_lock(desk).skills
    assert (entry.name, entry.source, entry.kind, entry.path, entry.targets) == (
        "alpha",
        "./parts/one",
        "folder",
        "",
        (".agents/skills/alpha",),
    )
    assert entry.get_tree().digest == entry.tree


def test_nothing_is_written_without_an_answer_or_in_a_dry_run(desk: Desk) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    answer = desk.run("install", source)
    assert (answer.code, answer.err) == (
        5,
        "Not a terminal, so nothing was installed; use `--yes` to skip the prompt.\n",
    )
    shape = desk.json("install", source, "--dry-run")
    assert (shape["installed"], [one["name"] for one in shape["skills"]]) == (False, ["alpha"])
    assert desk.run("install", source, "--json").code == 5
    assert desk.tree() == []
    assert desk.tree("home") == []


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            "---\nname: pdf\ndescription: [\n---\n",
            "warning: SKILL.md:3: The value of `description`",
        ),
        ("---\nname: pdf\n", "error: SKILL.md:1: The header that starts on line 1 is never closed"),
        ("Reads.\n", "warning: SKILL.md:1: The file does not start with a `---` line"),
    ],
)
def test_what_is_wrong_with_the_header_is_shown_before_anything_is_installed(
    desk: Desk, header: str, expected: str
) -> None:
    source = desk.source({"SKILL.md": header}, "pdf")
    shown = desk.run("install", str(source), "--dry-run")
    assert (shown.code, desk.tree()) == (0, [])
    assert expected in " ".join(shown.out.split())
    assert desk.run("install", str(source), "--yes").code == 0


def test_the_json_has_everything_the_question_shows(desk: Desk) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha", "Does A."), "run.py": "print()\n"}))
    (skill,) = desk.json("install", source, "--yes")["skills"]
    assert {key: skill[key] for key in ("name", "description", "scripts", "commands", "tools")} == {
        "name": "alpha",
        "description": "Does A.",
        "scripts": ["run.py"],
        "commands": [],
        "tools": [],
    }
    assert skill["targets"] == [
        {"folder": desk.path("project/.agents/skills/alpha"), "action": "create"}
    ]
    assert [file["path"] for file in skill["files"]] == ["SKILL.md", "run.py"]


def test_of_several_skills_somebody_has_to_choose(desk: Desk) -> None:
    source = str(desk.source(two_skills()))
    answer = desk.run("install", source, "--yes")
    assert (answer.code, answer.err) == (
        2,
        f"prowess: {source} has 2 skills: alpha, beta. Choose with --skill NAME or --all.\n",
    )
    assert desk.run("install", source, "--skill", "beta", "--yes").code == 0
    assert sorted(desk.installed()) == ["beta/SKILL.md"]
    assert desk.run("install", source, "--all", "--yes").code == 0
    assert [one.name for one in load_lock(desk).skills] == ["alpha", "beta"]
    missing = desk.run("install", source, "--skill", "alpa", "--yes")
    assert (missing.code, missing.err.splitlines()[-1]) == (3, "Did you mean “alpha”?")


def test_installing_the_same_again_leaves_the_lock_file_as_it_is(desk: Desk) -> None:
    source = str(desk.source(two_skills()))
    desk.run("install", source, "--all", "--yes")
    before = (desk.project / "prowess.lock").read_bytes()
    answer = desk.run("install", source, "--all", "--yes")
    assert (answer.code, "(unchanged)" in answer.out) == (0, True)
    assert (desk.project / "prowess.lock").read_bytes() == before


def test_the_lock_file_is_sorted_and_has_one_fact_per_line(desk: Desk) -> None:
    source = str(desk.source(two_skills()))
    desk.run("install", source, "--skill", "beta", "--skill", "alpha", "--yes")
    lines = (desk.project / "prowess.lock").read_text().splitlines()
    names = [line.split('"')[3] for line in lines if line.strip().startswith('"name"')]
    assert names == ["alpha", "beta"]
    assert max(map(len, lines)) < 120
    shape = json.loads("\n".join(lines))
    assert list(shape["skills"][0]["files"]) == ["SKILL.md", "scripts/run.sh"]


def test_a_folder_that_is_not_noted_is_never_replaced(desk: Desk) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    mine = desk.skill("project/.agents/skills/alpha", description="Mine.")
    answer = desk.run("install", source, "--yes")
    assert answer.code == 2
    assert answer.err.splitlines() == [
        f"prowess: {mine.parent} already exists: it is not in prowess.lock. Nothing was written.",
        "Remove it first, or choose another folder name with --as NAME.",
    ]
    assert "Mine." in mine.read_text()


def test_two_sources_may_have_the_same_name(desk: Desk) -> None:
    one = str(desk.source({"SKILL.md": skill_text("alpha", "First.")}, "one"))
    two = str(desk.source({"SKILL.md": skill_text("alpha", "Second.")}, "two"))
    assert desk.run("install", one, "--yes").code == 0
    answer = desk.run("install", two, "--yes")
    assert (answer.code, f"it is “alpha” from {one}" in answer.err) == (2, True)
    assert desk.run("install", two, "--as", "alpha-two", "--yes").code == 0
    entries = load_lock(desk).skills
    assert [(entry.name, entry.source, entry.targets) for entry in entries] == [
        ("alpha", one, (".agents/skills/alpha",)),
        ("alpha", two, (".agents/skills/alpha-two",)),
    ]


def test_folders_that_differ_only_by_case_are_one_folder(desk: Desk) -> None:
    one = str(desk.source({"SKILL.md": skill_text("alpha", "First.")}, "one"))
    two = str(desk.source({"SKILL.md": skill_text("beta", "Second.")}, "two"))
    assert desk.run("install", one, "--yes").code == 0
    for source in (two, one):
        answer = desk.run("install", source, "--as", "Alpha", "--yes")
        assert (answer.code, answer.err.splitlines()[0]) == (
            2,
            f"prowess: {desk.project}/.agents/skills/Alpha already exists:"
            " .agents/skills/alpha is in prowess.lock, and only case differs. Nothing was written.",
        )
    assert list(desk.installed()) == ["alpha/SKILL.md"]


def test_a_folder_here_is_not_taken_for_a_repository_of_a_stranger(desk: Desk) -> None:
    desk.write("project/src/alpha/SKILL.md", skill_text("alpha"))
    for text in ("src/alpha", "src/alpha@x", "src/alpha/#main"):
        answer = desk.run("install", text, "--yes")
        assert (answer.code, answer.err.splitlines()) == (
            2,
            [
                f"prowess: Cannot install from “{text}”: it is a folder here, and could be a"
                " repository on GitHub.",
                f"Write ./src/alpha for the folder, or github:{text} for the repository.",
            ],
        )
    assert desk.run("install", "src", "--yes").err.splitlines() == [
        "prowess: Cannot install from “src”: a folder needs ./ before its name.",
        "Write ./src.",
    ]
    assert desk.run("install", "./src/alpha", "--yes").code == 0


def test_the_folders_of_several_agents_follow_their_profiles_or_the_table(desk: Desk) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    targets = ("--to", "claude-code", "--to", "cursor", "--to", "windsurf", "--to", "opencode")
    assert desk.run("install", source, *targets, "--yes").code == 0
    assert load_lock(desk).skills[0].targets == (
        ".agents/skills/alpha",
        ".claude/skills/alpha",
        ".windsurf/skills/alpha",
    )
    answer = desk.run("install", source, "--to", "windsrf", "--yes")
    assert (answer.code, answer.err.splitlines()[-1]) == (2, "Did you mean “windsurf”?")


def test_a_user_gets_skills_for_all_projects(desk: Desk) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    answer = desk.run("install", source, "--user", "--to", "goose", "--yes")
    assert answer.code == 0
    # Not as a path of the project.
    assert "\n  to     ~/" in answer.out
    assert desk.tree() == []
    assert (desk.home / ".config/goose/skills/alpha/SKILL.md").is_file()
    entry = load_lock(desk, "home/.config/prowess/prowess.lock").skills[0]
    assert entry.targets == ("~/.config/goose/skills/alpha",)


def test_links_lead_to_one_read_only_copy_for_all_projects(desk: Desk) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha"), "a/b.txt": "b"}))
    assert desk.run("install", source, "--link", "--to", "claude-code", "--yes").code == 0
    folder = desk.project / ".claude/skills/alpha"
    store = desk.home / ".local/share/prowess/store/trees"
    assert os.path.realpath(folder).startswith(str(store))
    assert (folder / "SKILL.md").stat().st_mode & 0o222 == 0
    assert (folder / "a").stat().st_mode & 0o222 == 0
    assert len(list(store.iterdir())) == 1


@pytest.mark.parametrize("layout", ["", "alpha/"])
@pytest.mark.parametrize("suffix", ["zip", "skill", "tar.gz"])
def test_archives_have_their_files_at_the_top_or_in_one_folder(
    desk: Desk, layout: str, suffix: str
) -> None:
    text = skill_text("alpha")
    files = desk.source({f"{layout}SKILL.md": text, f"{layout}scripts/a.sh": "#!/bin/sh\n"})
    kind = "gztar" if suffix == "tar.gz" else "zip"
    made = Path(shutil.make_archive(str(desk.root / "made"), kind, files))
    archive = made.rename(desk.root / f"x.{suffix}")
    assert desk.run("install", str(archive), "--yes").code == 0
    assert desk.installed() == {
        "alpha/SKILL.md": text.encode(),
        "alpha/scripts/a.sh": b"#!/bin/sh\n",
    }
    assert os.access(desk.project / ".agents/skills/alpha/scripts/a.sh", os.X_OK)
    assert load_lock(desk).skills[0].resolved.startswith("sha256:")


def test_an_archive_with_another_digest_is_refused(desk: Desk) -> None:
    with zipfile.ZipFile(desk.root / "x.zip", "w") as archive:
        archive.writestr("SKILL.md", skill_text("alpha"))
    answer = desk.run("install", f"{desk.root}/x.zip#sha256={'0' * 64}", "--yes")
    assert (answer.code, "its SHA-256 is " in answer.err) == (5, True)
    assert desk.tree() == []


def test_the_digest_of_a_tree_depends_on_every_name_mode_and_byte() -> None:
    from prowess.model.tree import TreeFile

    base = {"a": TreeFile("1" * 64), "b": TreeFile("2" * 64)}
    others = [
        {"a": TreeFile("1" * 64)},
        {"a": TreeFile("1" * 64), "c": TreeFile("2" * 64)},
        {"a": TreeFile("2" * 64), "b": TreeFile("1" * 64)},
        {"a": TreeFile("1" * 64, is_executable=True), "b": TreeFile("2" * 64)},
        {f"a\n- {'2' * 64} 1:b": TreeFile("1" * 64)},
    ]
    digests = {Tree(files).digest for files in (base, *others)}
    assert len(digests) == 6
    assert Tree(dict(reversed(base.items()))).digest == Tree(base).digest
