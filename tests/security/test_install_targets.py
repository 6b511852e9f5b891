"""Where a lock file, an option or a file in the way must not lead an install."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from prowess.errors import UsageError
from prowess.supply.install.installer import open_installer
from prowess.supply.install.targets import find_place
from tests.supply.install.conftest import Desk, desk
from tests.workspace import skill_text

__all__ = ["desk"]


@pytest.mark.parametrize(
    ("targets", "problem"),
    [
        ([".git/hooks"], "is part of git's own files"),
        (["a/.GIT/x"], "is part of git's own files"),
        (["./.agents/skills/pdf"], "is not a plain path"),
        ([".agents/skills/../x"], "is not a plain path"),
        (["a\u0000b"], "has control characters"),
        (["a\nb"], "has control characters"),
        ([], "it has no targets"),
        ([".agents/skills/pdf", ".agents/skills/pdf/scripts"], "is inside the target"),
    ],
)
def test_a_lock_file_leads_only_into_plain_folders_of_the_project(
    desk: Desk, targets: list[str], problem: str
) -> None:
    install(desk)
    change_lock(desk, targets=targets)
    before = list_files(desk.project)
    for command in (["sync"], ["sync", "--theirs"], ["verify"], ["remove", "pdf", "--yes"]):
        answer = desk.run(*command)
        assert answer.code == 4, command
        assert problem in answer.err
    assert list_files(desk.project) == before


@pytest.mark.parametrize("name", ["../esc", "a/b", ".git", "..", ".", "a\nb"])
def test_a_folder_is_named_by_one_plain_name(desk: Desk, name: str) -> None:
    for scope in ([], ["--user"]):
        answer = desk.run("install", make_source(desk), "--as", name, "--yes", *scope)
        assert (answer.code, "cannot be the name of a folder" in answer.err) == (2, True)
    assert not (desk.root / "esc").exists()


def test_a_file_in_the_way_is_not_touched(desk: Desk) -> None:
    install(desk)
    change_lock(desk, targets=["main.py"])
    shutil.rmtree(desk.project / ".agents")
    precious = desk.project / "main.py"
    precious.write_text("precious\n")
    for command in (
        ["sync"],
        ["sync", "--theirs"],
        ["verify"],
        ["install", make_source(desk), "--yes"],
        ["remove", "pdf", "--yes"],
        ["remove", "pdf", "--yes", "--force"],
    ):
        answer = desk.run(*command)
        assert answer.code == 4, command
        assert "it is a file, not a folder" in answer.err
        assert precious.read_text() == "precious\n"
        assert not [one for one in desk.project.iterdir() if "staged" in one.name]


@pytest.mark.parametrize("content", ["{}", '{"version": 1}', '{"version":1,"name":"x"}', None])
def test_without_a_lock_file_nothing_counts_as_verified(desk: Desk, content: str | None) -> None:
    install(desk)
    lock = desk.project / "prowess.lock"
    if content is None:
        lock.unlink()
    else:
        lock.write_text(content)
    assert desk.run("verify", "--frozen").code in (2, 4)


def test_edits_that_a_killed_program_left_beside_a_folder_stop_its_removal(desk: Desk) -> None:
    install(desk)
    folder = desk.project / ".agents/skills/pdf"
    (folder / "SKILL.md").write_text("my edits\n")
    folder.rename(folder.with_name(".pdf.old"))
    answer = desk.run("remove", "pdf", "--yes")
    assert answer.code != 0
    assert (folder / "SKILL.md").read_text() == "my edits\n"


def test_what_is_edited_while_the_question_is_open_is_not_overwritten(desk: Desk) -> None:
    install(desk)
    file = desk.project / ".agents/skills/pdf/SKILL.md"
    file.write_text("mine\n")
    skills = desk.open()
    place = find_place(skills, user=False)
    desk.source({"SKILL.md": skill_text("pdf", "Reads more.")}, "pdf")
    with open_installer(place) as installer:
        fetched = installer.fetch(installer.parse(str(desk.root / "pdf"), cwd=skills.cwd))
        lock = place.open_lock().load()
        wanted = [installer.want(fetched.source, one, (), lock) for one in fetched.skills]
        planned = installer.plan(wanted)
        file.write_text("mine, and more\n")
        with pytest.raises(UsageError, match="have changed since"):
            installer.apply(planned, overwrite=True)
    assert file.read_text() == "mine, and more\n"


def test_only_one_way_to_treat_edits_can_be_chosen(desk: Desk) -> None:
    install(desk)
    answer = desk.run("update", "--ours", "--theirs", "--yes")
    assert (answer.code, "Use one of --ours, --theirs and --merge." in answer.err) == (2, True)


def test_pack_replaces_archives_only_and_publish_needs_skills(desk: Desk) -> None:
    source = Path(make_source(desk))
    before = (source / "SKILL.md").read_bytes()
    answer = desk.run("pack", str(source), "--output", str(source / "SKILL.md"))
    assert (answer.code, "is not an archive" in answer.err) == (2, True)
    assert (source / "SKILL.md").read_bytes() == before
    assert desk.run("publish", "site", str(source)).code == 0
    site = list_files(desk.project / "site")
    assert desk.run("publish", "site", "site").code == 2
    assert list_files(desk.project / "site") == site


def make_source(desk: Desk) -> str:
    return str(desk.source({"SKILL.md": skill_text("pdf", "Reads PDF files.")}, "pdf"))


def install(desk: Desk) -> None:
    answer = desk.run("install", make_source(desk), "--yes")
    assert answer.code == 0, answer.err


def change_lock(desk: Desk, **values: object) -> None:
    lock = desk.project / "prowess.lock"
    content = json.loads(lock.read_text())
    content["skills"][0] |= values
    lock.write_text(json.dumps(content))


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}
