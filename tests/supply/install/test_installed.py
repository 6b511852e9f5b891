"""Installed skills: restored, verified, updated, pinned and removed, and never lost."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from prowess.machine.tree_files import remove_tree
from tests.supply.install.conftest import Desk, two_skills
from tests.supply.install.test_install import load_lock
from tests.workspace import skill_text

ALPHA = "project/.agents/skills/alpha"
LINES = [f"Line {number}.\n" for number in range(1, 21)]


def body(**changed: str) -> str:
    """A SKILL.md of many lines, some of them changed (`_3="…"`)."""
    lines = list(LINES)
    for number, text in changed.items():
        lines[int(number[1:]) - 1] = f"{text}\n"
    return skill_text("alpha", "Does A.", "".join(lines))


@pytest.fixture
def upstream(desk: Desk) -> Path:
    """A repository with one skill, which is installed."""
    folder = desk.repository({"skills/alpha/SKILL.md": body(), "skills/alpha/run.sh": "old\n"})
    assert desk.run("install", f"file://{folder}", "--yes").code == 0
    return folder


# Sync and verify


def test_everything_that_was_installed_is_restored_from_the_store_offline(desk: Desk) -> None:
    folder = desk.repository(two_skills())
    desk.run(
        "install", f"file://{folder}", "--all", "--yes", "--to", "claude-code", "--to", "codex"
    )
    before = desk.installed(), desk.installed(".claude/skills")
    shutil.rmtree(desk.project / ".agents")
    shutil.rmtree(desk.project / ".claude/skills/beta")
    shutil.rmtree(folder)
    lock = (desk.project / "prowess.lock").read_bytes()
    shape = desk.json("sync", "--frozen", "--offline")
    assert [os.path.relpath(one, desk.project) for one in shape["restored"]] == [
        ".agents/skills/alpha",
        ".agents/skills/beta",
        ".claude/skills/beta",
    ]
    assert shape["unchanged"] == 1
    assert (desk.installed(), desk.installed(".claude/skills")) == before
    assert (desk.project / "prowess.lock").read_bytes() == lock
    assert desk.run("verify", "--frozen") == (
        0,
        "4 installed folders checked, 6 files, no differences.\n",
        "",
    )


def test_a_clone_without_the_store_is_restored_from_the_locked_commit(
    desk: Desk, upstream: Path
) -> None:
    before = desk.installed()
    desk.repository({"skills/alpha/SKILL.md": body(_1="Newer.")})
    remove_tree(str(desk.home / ".local"))
    shutil.rmtree(desk.project / ".agents")
    offline = desk.run("sync", "--offline")
    assert (offline.code, "is not in the store" in offline.err) == (4, True)
    assert desk.run("sync", "--frozen") == (
        0,
        "Restored .agents/skills/alpha.\n1 folder restored, 0 unchanged.\n",
        "",
    )
    assert desk.installed() == before


def test_a_source_that_has_something_else_now_is_not_used_to_restore(desk: Desk) -> None:
    source = desk.source({"SKILL.md": skill_text("alpha")})
    desk.run("install", str(source), "--yes")
    desk.source({"SKILL.md": skill_text("alpha", "Other.")})
    remove_tree(str(desk.home / ".local"))
    shutil.rmtree(desk.project / ".agents")
    answer = desk.run("sync")
    assert (answer.code, "is no longer what the lock file says" in answer.err) == (4, True)
    assert not (desk.project / ".agents/skills/alpha").exists()


def test_verify_lists_each_changed_missing_and_added_file(desk: Desk, upstream: Path) -> None:
    assert desk.run("verify").code == 0
    desk.write(f"{ALPHA}/SKILL.md", "changed")
    desk.write(f"{ALPHA}/new.txt", "new")
    (desk.root / ALPHA / "run.sh").unlink()
    os.symlink("/etc/passwd", desk.root / ALPHA / "link")
    answer = desk.run("verify")
    assert (answer.code, answer.out) == (
        1,
        ".agents/skills/alpha: changed\n"
        "  changed SKILL.md\n"
        "  missing run.sh\n"
        "  added   link\n"
        "  added   new.txt\n"
        "  Run `prowess sync --theirs` to restore what was installed. `prowess update` keeps your"
        " changes with --ours or --merge.\n"
        "1 installed folder checked, 1 different from prowess.lock.\n",
    )
    shape = json.loads(desk.run("verify", "--json").out)
    assert shape["problems"][0]["changes"] == {
        "changed": ["SKILL.md"],
        "missing": ["run.sh"],
        "added": ["link", "new.txt"],
    }


def test_a_mode_that_was_changed_is_a_change(desk: Desk, upstream: Path) -> None:
    (desk.root / ALPHA / "run.sh").chmod(0o755)
    assert "changed run.sh" in desk.run("verify").out


def test_skills_that_nobody_noted_are_a_problem_in_ci_only(desk: Desk, upstream: Path) -> None:
    desk.skill("project/.agents/skills/mine")
    assert desk.run("verify").code == 0
    answer = desk.run("verify", "--frozen")
    assert (answer.code, ".agents/skills/mine: unknown\n" in answer.out) == (1, True)


@pytest.mark.parametrize("place", [".claude/skills", ".windsurf/skills", "skills/deep/down"])
def test_skills_in_any_folder_that_an_agent_reads_are_a_problem_in_ci(
    desk: Desk, upstream: Path, place: str
) -> None:
    desk.skill(f"project/{place}/mine")
    assert desk.run("verify").code == 0
    answer = desk.run("verify", "--frozen")
    assert (answer.code, f"{place}/mine: unknown\n" in answer.out) == (1, True)
    assert desk.run("verify", "--frozen", "--own", place).code == 0
    assert desk.run("verify", "--own", place).code == 2


@pytest.mark.parametrize("option", ["--copy", "--link"])
def test_exported_skills_are_no_problem_in_ci(desk: Desk, upstream: Path, option: str) -> None:
    exported = ("export", "--to", "claude-code", *(["--copy"] if option == "--copy" else []))
    assert desk.run(*exported).code == 0
    assert (desk.project / ".claude/skills/alpha/SKILL.md").is_file()
    assert desk.run("verify", "--frozen").code == 0


@pytest.mark.parametrize("option", ["--copy", "--link"])
def test_a_skill_that_was_installed_for_an_agent_does_not_block_an_export(
    desk: Desk, option: str
) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    agents = ("--to", "claude-code", "--to", "windsurf", "--to", "codex")
    assert desk.run("install", source, *agents, option, "--yes").code == 0
    answer = desk.run("export", "--to", "windsurf", "--to", "codex", "--to", "goose", "--json")
    actions = {one["host"]: one["action"] for one in json.loads(answer.out)["skills"]}
    assert (answer.code, actions) == (
        0,
        {"windsurf": "reads", "codex": "reads", "goose": "create"},
    )
    assert ".windsurf/skills/alpha\n" in desk.run("export", "--to", "windsurf").out


def test_edited_folders_stay_unless_told_otherwise_and_fail_in_ci(
    desk: Desk, upstream: Path
) -> None:
    desk.write(f"{ALPHA}/run.sh", "mine\n")
    frozen = desk.run("sync", "--frozen")
    assert (frozen.code, frozen.err.splitlines()[0]) == (
        1,
        "prowess: Changed since it was installed: alpha. Nothing was written.",
    )
    plain = desk.run("sync")
    assert (plain.code, "was not restored" in plain.err) == (0, True)
    assert desk.installed()["alpha/run.sh"] == b"mine\n"
    assert desk.run("sync", "--theirs", "--backup").code == 0
    assert desk.installed()["alpha/run.sh"] == b"old\n"
    (kept,) = (desk.home / ".local/state/prowess/backups").glob("*/alpha/run.sh")
    assert kept.read_text() == "mine\n"


def test_a_damaged_copy_in_the_store_is_found_and_fetched_again(desk: Desk, upstream: Path) -> None:
    (stored,) = (desk.home / ".local/share/prowess/store/trees").glob("*/run.sh")
    stored.chmod(0o644)
    stored.write_text("damaged\n")
    shutil.rmtree(desk.project / ".agents")
    offline = desk.run("sync", "--offline")
    assert offline.code == 4
    assert not (desk.project / ".agents/skills/alpha").exists()
    assert desk.run("sync").code == 0
    assert desk.installed()["alpha/run.sh"] == b"old\n"


def test_ten_projects_keep_one_copy_with_links(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    inodes = set()
    for number in range(10):
        project = desk.root / f"p{number}"
        (project / ".git").mkdir(parents=True)
        monkeypatch.chdir(project)
        assert desk.run("install", source, "--link", "--yes").code == 0
        inodes.add((project / ".agents/skills/alpha/SKILL.md").stat().st_ino)
        assert desk.run("verify").code == 0
        assert [one["name"] for one in desk.json("list")["skills"]] == ["alpha"]
    assert len(inodes) == 1


# Update


def test_an_update_brings_the_new_commit_and_outdated_shows_it_before(
    desk: Desk, upstream: Path
) -> None:
    assert desk.run("outdated").out == "All installed skills are up to date.\n"
    old = load_lock(desk).skills[0]
    desk.repository({"skills/alpha/SKILL.md": body(_2="Newer."), "skills/alpha/b.txt": "b"})
    new = desk.do_git(upstream, "rev-parse", "HEAD")
    (row,) = desk.json("outdated")["skills"]
    assert (row["installed"], row["latest"], row["state"]) == (old.resolved, new, "outdated")
    assert load_lock(desk).skills[0] == old
    assert desk.run("update", "--yes").code == 0
    assert desk.installed()["alpha/SKILL.md"] == body(_2="Newer.").encode()
    assert load_lock(desk).skills[0].resolved == new
    assert desk.run("verify").code == 0
    assert desk.run("update", "--yes").out == "Nothing to update.\n"


def test_a_commit_that_does_not_touch_the_skill_is_no_update(desk: Desk, upstream: Path) -> None:
    desk.repository({"README.md": "Other."})
    assert desk.run("outdated").out == "All installed skills are up to date.\n"


def test_local_edits_stop_an_update_and_are_shown(desk: Desk, upstream: Path) -> None:
    desk.write(f"{ALPHA}/SKILL.md", body(_3="Mine."))
    desk.repository({"skills/alpha/SKILL.md": body(_18="Theirs.")})
    before = desk.installed(), (desk.project / "prowess.lock").read_bytes()
    answer = desk.run("update", "--yes")
    assert answer.code == 1
    assert "-Line 3.\n+Mine.\n" in answer.out
    assert answer.err.splitlines() == [
        "prowess: Changed since it was installed: alpha. Nothing was written.",
        "Keep your changes with --ours, drop them with --theirs, or combine both with --merge;"
        " --backup saves them first.",
    ]
    assert (desk.installed(), (desk.project / "prowess.lock").read_bytes()) == before


def test_installing_again_does_not_replace_edits_either(desk: Desk, upstream: Path) -> None:
    desk.write(f"{ALPHA}/SKILL.md", body(_3="Mine."))
    answer = desk.run("install", f"file://{upstream}", "--yes")
    assert (answer.code, answer.err.splitlines()[-1]) == (
        1,
        "Use `prowess update` with --ours, --theirs or --merge; --backup saves your version first.",
    )
    assert desk.installed()["alpha/SKILL.md"] == body(_3="Mine.").encode()


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--ours", body(_3="Mine.")),
        ("--theirs", body(_18="Theirs.")),
        ("--merge", body(_3="Mine.", _18="Theirs.")),
    ],
)
def test_edits_are_kept_dropped_or_merged(
    desk: Desk, upstream: Path, option: str, expected: str
) -> None:
    desk.write(f"{ALPHA}/SKILL.md", body(_3="Mine."))
    desk.write(f"{ALPHA}/notes.txt", "mine")
    desk.repository({"skills/alpha/SKILL.md": body(_18="Theirs."), "skills/alpha/new.txt": "new"})
    assert desk.run("update", option, "--backup", "--yes").code == 0
    found = desk.installed()
    assert found["alpha/SKILL.md"] == expected.encode()
    assert found["alpha/new.txt"] == b"new"
    assert ("alpha/notes.txt" in found) == (option != "--theirs")
    (kept,) = (desk.home / ".local/state/prowess/backups").glob("*/alpha/notes.txt")
    assert kept.read_text() == "mine"
    assert load_lock(desk).skills[0].resolved == desk.do_git(upstream, "rev-parse", "HEAD")


def test_a_merge_with_conflicts_writes_nothing(desk: Desk, upstream: Path) -> None:
    desk.write(f"{ALPHA}/SKILL.md", body(_3="Mine."))
    desk.repository({"skills/alpha/SKILL.md": body(_3="Theirs.")})
    before = desk.installed(), (desk.project / "prowess.lock").read_bytes()
    answer = desk.run("update", "--merge", "--yes")
    assert (answer.code, answer.err.splitlines()[0]) == (
        1,
        "prowess: “alpha” cannot be merged: conflicts in SKILL.md. Nothing was written.",
    )
    assert (desk.installed(), (desk.project / "prowess.lock").read_bytes()) == before


def test_the_leftovers_of_programs_are_no_edits(desk: Desk, upstream: Path) -> None:
    desk.write(f"{ALPHA}/scripts/__pycache__/run.cpython-311.pyc", b"\0")
    desk.write(f"{ALPHA}/.DS_Store", b"\0")
    assert desk.run("verify").code == 0
    assert desk.run("sync").out == "0 folders restored, 1 unchanged.\n"
    desk.repository({"skills/alpha/SKILL.md": body(_3="Theirs.")})
    assert desk.run("update", "--yes").code == 0
    desk.write(f"{ALPHA}/.DS_Store", b"\0")
    assert desk.run("remove", "alpha", "--yes").code == 0


def test_what_programs_leave_behind_is_a_problem_in_ci(desk: Desk, upstream: Path) -> None:
    desk.write(f"{ALPHA}/__pycache__/run.cpython-311.pyc", b"\0")
    answer = desk.run("verify", "--frozen")
    assert (answer.code, "added   __pycache__/run.cpython-311.pyc" in answer.out) == (1, True)
    assert desk.run("sync", "--frozen").code == 1
    assert desk.run("sync", "--frozen", "--theirs").code == 0
    assert desk.run("verify", "--frozen").code == 0


def test_a_compiled_file_that_was_installed_is_one_of_the_files(desk: Desk) -> None:
    folder = desk.repository({"SKILL.md": body(), "__pycache__/run.pyc": b"\0"})
    desk.run("install", f"file://{folder}", "--yes")
    assert desk.run("verify", "--frozen").code == 0
    (desk.root / "project/.agents/skills/alpha/__pycache__/run.pyc").write_bytes(b"1")
    assert "changed __pycache__/run.pyc" in desk.run("verify").out


def test_a_pinned_skill_stays_and_says_so(desk: Desk, upstream: Path) -> None:
    version = load_lock(desk).skills[0].resolved
    assert desk.run("pin", "alpha", "--reason", "broken in 2.0").out == (
        f"alpha is pinned to {version[:12]}.\n"
    )
    desk.repository({"skills/alpha/SKILL.md": body(_3="Theirs.")})
    answer = desk.run("update", "--yes")
    assert (answer.out, answer.err) == (
        "Nothing to update.\n",
        f"alpha is pinned at {version[:12]}.\n",
    )
    assert load_lock(desk).skills[0].pinned == "broken in 2.0"
    desk.run("pin", "alpha", "--remove")
    assert desk.run("update", "--yes").code == 0
    assert load_lock(desk).skills[0].resolved != version


def test_a_skill_that_is_gone_upstream_stays_installed(desk: Desk) -> None:
    folder = desk.repository(two_skills())
    desk.run("install", f"file://{folder}", "--all", "--yes")
    shutil.rmtree(folder / "skills/alpha")
    desk.commit(folder)
    answer = desk.run("update", "--yes")
    assert (answer.code, "alpha is gone: " in answer.err) == (0, True)
    assert "alpha/SKILL.md" in desk.installed()
    shutil.rmtree(folder)
    assert desk.run("outdated").code == 4


@pytest.mark.parametrize("how", ["renamed", "removed", "moved"])
def test_a_skill_that_its_author_renamed_or_removed_does_not_stop_the_others(
    desk: Desk, how: str
) -> None:
    folder = desk.repository(two_skills())
    desk.run("install", f"file://{folder}", "--all", "--yes")
    desk.write("upstream/skills/beta/SKILL.md", skill_text("beta", "Newer."))
    alpha = folder / "skills/alpha"
    if how == "renamed":
        desk.write("upstream/skills/alpha/SKILL.md", skill_text("gamma", "Does A."))
    elif how == "moved":
        desk.write("upstream/skills/alpha/SKILL.md", skill_text("alpha", "Moved."))
        alpha.rename(folder / "skills/other")
    else:
        shutil.rmtree(alpha)
    desk.commit(folder)
    answer = desk.run("update", "--yes")
    assert answer.code == 0
    source = f"file://{folder}"
    notes = {
        "renamed": f"alpha was renamed: {source} has “gamma” instead. It stays as it is;"
        " install it under its new name and remove this one.\n",
        "removed": f"alpha is gone: {source} no longer has “alpha”. It stays installed;"
        " `prowess remove` removes it.\n",
        "moved": "",
    }
    assert answer.err == notes[how]
    updated = "alpha, beta" if how == "moved" else "beta"
    assert answer.out.endswith(f"Updated {updated}.\n")
    assert b"Newer." in desk.installed()["beta/SKILL.md"]
    expected = b"Moved." if how == "moved" else b"Does A."
    assert expected in desk.installed()["alpha/SKILL.md"]
    assert [one.name for one in load_lock(desk).skills] == ["alpha", "beta"]
    assert desk.run("verify", "--frozen").code == 0


def test_a_file_here_and_a_folder_upstream_are_a_conflict(desk: Desk, upstream: Path) -> None:
    desk.write(f"{ALPHA}/docs", "mine\n")
    desk.repository({"skills/alpha/docs/a.md": "theirs\n", "skills/alpha/b.md": "b\n"})
    answer = desk.run("update", "--merge", "--yes")
    assert (answer.code, answer.err.splitlines()[0]) == (
        1,
        "prowess: “alpha” cannot be merged: conflicts in docs. Nothing was written.",
    )
    assert desk.run("update", "--ours", "--yes").code == 0
    found = desk.installed()
    assert (found["alpha/docs"], found["alpha/b.md"]) == (b"mine\n", b"b\n")


def test_an_installed_branch_or_tag_is_followed_and_a_commit_is_not(desk: Desk) -> None:
    folder = desk.repository({"SKILL.md": body()})
    desk.do_git(folder, "branch", "stable")
    first = desk.do_git(folder, "rev-parse", "HEAD")
    desk.repository({"SKILL.md": body(_1="Second.")})
    desk.run("install", f"file://{folder}#stable", "--yes")
    assert load_lock(desk).skills[0].resolved == first
    assert desk.run("update", "--yes").out == "Nothing to update.\n"
    desk.run("install", f"file://{folder}#{first[:10]}", "--yes", "--user")
    assert load_lock(desk, "home/.config/prowess/prowess.lock").skills[0].resolved == first
    assert desk.run("update", "--user", "--yes").out == "Nothing to update.\n"


# Remove


def test_removing_takes_the_folders_and_the_entry(desk: Desk) -> None:
    source = str(desk.source(two_skills()))
    desk.run("install", source, "--all", "--yes", "--to", "claude-code", "--to", "codex")
    assert desk.run("remove", "alpha").code == 5
    assert desk.run("remove", "alpha", "--dry-run").code == 0
    assert "alpha/SKILL.md" in desk.installed()
    assert desk.run("remove", "alpha", "--yes").code == 0
    assert list(desk.installed()) == list(desk.installed(".claude/skills")) == ["beta/SKILL.md"]
    assert [one.name for one in load_lock(desk).skills] == ["beta"]


NOT_MANAGED = "Prowess did not install it, so it cannot manage it."


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("remove", "Delete the folder to remove it."),
        ("pin", NOT_MANAGED),
        ("update", NOT_MANAGED),
        ("outdated", NOT_MANAGED),
    ],
)
def test_a_name_that_is_not_installed_is_said_to_be_not_installed(
    desk: Desk, upstream: Path, command: str, hint: str
) -> None:
    assert desk.run(command, "alhpa") == (
        3,
        "",
        "prowess: “alhpa” is not installed here.\nDid you mean “alpha”?\n",
    )
    assert desk.run(command, "zzz") == (
        3,
        "",
        "prowess: “zzz” is not installed here.\nInstalled: alpha.\n",
    )
    desk.skill("project/.agents/skills/mine")
    assert desk.run(command, "mine") == (
        3,
        "",
        "prowess: “mine” was not installed by Prowess; there is a skill of that name in "
        f"{desk.project}/.agents/skills/mine.\n{hint}\n",
    )
    assert "prowess.lock has no skills" in desk.run(command, "zzz", "--user").err


@pytest.mark.parametrize("command", ["remove", "pin", "update", "outdated"])
def test_what_is_installed_elsewhere_is_not_called_a_plain_folder(
    desk: Desk, upstream: Path, command: str
) -> None:
    assert desk.run(command, "alpha", "--user") == (
        3,
        "",
        "prowess: “alpha” is not installed here.\n"
        "prowess.lock has no skills; --user means those for all your projects.\n",
    )
    # Nobody knows what a lock file that cannot be read has installed.
    desk.skill("project/.agents/skills/mine")
    desk.write("project/prowess.lock", "{")
    assert "“mine” is not installed here" in desk.run(command, "mine", "--user").err


def test_edits_are_not_removed_without_a_word(desk: Desk, upstream: Path) -> None:
    desk.write(f"{ALPHA}/run.sh", "mine\n")
    answer = desk.run("remove", "alpha", "--yes")
    assert (answer.code, answer.err.splitlines()[-1]) == (
        1,
        "Use --backup to keep a copy, or --force to lose the changes.",
    )
    assert desk.run("remove", "alpha", "--yes", "--backup").code == 0
    (kept,) = (desk.home / ".local/state/prowess/backups").glob("*/alpha/run.sh")
    assert kept.read_text() == "mine\n"
    assert not (desk.root / ALPHA).exists()


def test_removing_a_link_leaves_the_store(desk: Desk) -> None:
    source = str(desk.source({"SKILL.md": skill_text("alpha")}))
    desk.run("install", source, "--link", "--yes")
    assert desk.run("remove", "alpha", "--yes").code == 0
    assert not os.path.lexists(desk.root / ALPHA)
    assert len(list((desk.home / ".local/share/prowess/store/trees").iterdir())) == 1


def test_a_name_from_two_sources_needs_the_source(desk: Desk) -> None:
    one = str(desk.source({"SKILL.md": skill_text("alpha", "First.")}, "one"))
    two = str(desk.source({"SKILL.md": skill_text("alpha", "Second.")}, "two"))
    desk.run("install", one, "--yes")
    desk.run("install", two, "--as", "alpha-two", "--yes")
    answer = desk.run("remove", "alpha", "--yes")
    assert (answer.code, f"name one of {one}@alpha, {two}@alpha" in answer.err) == (2, True)
    assert desk.run("remove", f"{one}@alpha", "--yes").code == 0
    assert list(desk.installed()) == ["alpha-two/SKILL.md"]
