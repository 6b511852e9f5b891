"""`prowess import`: what other installers left is shown, asked about and locked as it is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from prowess.supply.install import local_fetch
from tests.cli.keyboard import Keyboard
from tests.supply.install.conftest import Desk, two_skills
from tests.supply.install.test_install import load_lock
from tests.workspace import skill_text

# A skill, and what Vercel's installer (its code, run by node) computes for it, and ClawHub's.
ALPHA = {
    "SKILL.md": "---\nname: alpha\ndescription: Does A.\n---\n\nBody\n",
    "scripts/run.sh": "#!/bin/sh\necho a\n",
    "scripts/Run.txt": "x\n",
    "references/a-b.md": "1\n",
    "references/a_b.md": "2\n",
    "references/ab.md": "3\n",
    "LICENSE": "free\n",
}
SKILLS_DIGEST = "1e3e955ba84d34cfb4b105f8a4362380d79591756dfb46e050eace0d87f1107a"
CLAWHUB_DIGEST = "49f28814532605bcee6227e32a19e0252bef8850fc4f9c3340ab2f69815f92c5"


def put(desk: Desk, folder: str, files: dict[str, str] = ALPHA) -> Path:
    """Write a skill as another installer does."""
    for path, text in files.items():
        desk.write(f"{folder}/{path}", text)
    return desk.root / folder


def lock_skills(desk: Desk, **skills: Any) -> None:
    """Write the lock file of Vercel's installer."""
    desk.write("project/skills-lock.json", json.dumps({"version": 1, "skills": skills}))


def entry(folder: Path | str, digest: str = SKILLS_DIGEST, **more: str) -> dict[str, str]:
    """An entry for a skill of a repository."""
    url = f"file://{folder}"
    path = "skills/alpha/SKILL.md"
    shape = {"source": url, "sourceType": "git", "sourceUrl": url, "skillPath": path}
    return {**shape, "computedHash": digest, **more}


def digest_files(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file with its content and the time it was written."""
    files = [one for one in folder.rglob("*") if one.is_file()]
    return {
        str(one.relative_to(folder)): (
            hashlib.sha256(one.read_bytes()).hexdigest(),
            one.stat().st_mtime_ns,
        )
        for one in files
        if ".git" not in one.parts
    }


def upstream(desk: Desk, **changes: str) -> Path:
    """A repository with the skill in it."""
    return desk.repository({f"skills/alpha/{path}": text for path, text in ALPHA.items()} | changes)


# Vercel's skills


def test_a_skill_of_vercels_lock_file_is_locked_as_it_is(desk: Desk) -> None:
    folder = upstream(desk)
    commit = desk.do_git(folder, "rev-parse", "HEAD")
    put(desk, "project/.agents/skills/alpha")
    (desk.project / ".claude/skills").mkdir(parents=True)
    os.symlink("../../.agents/skills/alpha", desk.project / ".claude/skills/alpha")
    lock_skills(desk, alpha=entry(folder))
    before = digest_files(desk.project)
    answer = desk.run("import", "--yes")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        "alpha\n"
        f"  from         file://{folder}/skills/alpha at {commit[:12]}\n"
        "  in           .agents/skills/alpha\n"
        "  linked from  .claude/skills/alpha\n"
        "  recorded by  Vercel's skills, skills-lock.json\n"
        "  files        as they were installed; the source has the same files\n"
        "\n"
        "Imported alpha; recorded in prowess.lock.\n"
    )
    after = digest_files(desk.project)
    del after["prowess.lock"]
    assert after == before
    (locked,) = load_lock(desk).skills
    assert (locked.identity, locked.resolved, locked.targets, locked.pinned) == (
        ("alpha", f"file://{folder}", "skills/alpha"),
        commit,
        (".agents/skills/alpha",),
        None,
    )
    assert desk.run("verify", "--frozen").code == 0
    assert desk.run("import").out == "Nothing to import. 1 folder in prowess.lock already.\n"


def test_an_imported_skill_is_outdated_updated_and_restored(desk: Desk) -> None:
    folder = upstream(desk)
    put(desk, "project/.agents/skills/alpha")
    lock_skills(desk, alpha=entry(folder))
    assert desk.run("import", "--yes").code == 0
    # Another machine has neither the folder nor the store.
    before = desk.installed()
    shutil.rmtree(desk.project / ".agents")
    shutil.rmtree(desk.home / ".local")
    assert desk.run("sync", "--frozen").code == 0
    assert desk.installed() == before
    desk.repository({"skills/alpha/LICENSE": "costs\n"})
    (row,) = desk.json("outdated")["skills"]
    assert row["state"] == "outdated"
    assert desk.run("update", "--yes").code == 0
    assert desk.installed()["alpha/LICENSE"] == b"costs\n"
    assert desk.run("verify").code == 0


def test_a_skill_that_was_edited_before_is_pinned_so_that_no_update_loses_it(desk: Desk) -> None:
    folder = upstream(desk)
    put(desk, "project/.agents/skills/alpha", {**ALPHA, "LICENSE": "mine\n"})
    lock_skills(desk, alpha=entry(folder))
    (skill,) = desk.json("import", "--yes")["skills"]
    assert (skill["files"], skill["upstream"]) == ("changed", "different")
    assert skill["pinned"] == "edited before it was imported"
    assert desk.run("update", "--yes").code == 0
    assert desk.installed()["alpha/LICENSE"] == b"mine\n"
    assert desk.run("verify").code == 0


def test_a_newer_source_is_no_edit(desk: Desk) -> None:
    folder = upstream(desk)
    put(desk, "project/.agents/skills/alpha")
    desk.repository({"skills/alpha/LICENSE": "costs\n"})
    lock_skills(desk, alpha=entry(folder))
    (skill,) = desk.json("import", "--yes")["skills"]
    assert (skill["files"], skill["upstream"]) == ("unchanged", "different")
    assert (skill["pinned"], skill["resolved"]) == (None, "")
    assert desk.run("update", "--yes").code == 0
    assert desk.installed()["alpha/LICENSE"] == b"costs\n"


def test_files_that_programs_left_are_no_edit(desk: Desk) -> None:
    put(desk, "project/.agents/skills/alpha")
    desk.write("project/.agents/skills/alpha/scripts/__pycache__/x.pyc", b"\0")
    lock_skills(desk, alpha=entry("/nowhere.git"))
    (skill,) = desk.json("import", "--offline", "--dry-run")["skills"]
    assert (skill["files"], skill["upstream"]) == ("unchanged", "not-asked")


def test_copies_for_several_agents_are_one_skill_and_an_edited_copy_is_left_out(desk: Desk) -> None:
    folder = upstream(desk)
    put(desk, "project/.agents/skills/alpha")
    put(desk, "project/.claude/skills/alpha")
    put(desk, "project/.qwen/skills/alpha", {**ALPHA, "LICENSE": "mine\n"})
    lock_skills(desk, alpha=entry(folder))
    answer = desk.run("import", "--yes")
    assert (answer.code, answer.err) == (
        0,
        "Not imported: alpha in .qwen/skills/alpha (Vercel's skills): its files differ from those in"
        f" {desk.project}/.agents/skills/alpha.\n",
    )
    (locked,) = load_lock(desk).skills
    assert locked.targets == (".agents/skills/alpha", ".claude/skills/alpha")
    assert desk.run("verify").code == 0


def test_records_without_a_folder_and_folders_without_a_record_are_shown(desk: Desk) -> None:
    put(desk, "project/.agents/skills/mine", {"SKILL.md": skill_text("mine")})
    lock_skills(desk, gone=entry("/nowhere.git"))
    answer = desk.run("import", "--offline")
    assert answer == (
        0,
        "Nothing to import.\n",
        "Not imported: gone is in skills-lock.json, but has no folder here.\n"
        "Not imported: no installer recorded .agents/skills/mine.\n",
    )


@pytest.mark.parametrize(
    ("fields", "kind", "source", "path"),
    [
        ({"sourceType": "github", "source": "a/b"}, "git", "a/b", "skills/alpha"),
        (
            {
                "sourceType": "github",
                "source": "a/b",
                "sourceUrl": "https://git.example.com/a/b",
                "ref": "v1",
            },
            "git",
            "https://git.example.com/a/b.git",
            "skills/alpha",
        ),
        (
            {"sourceType": "gitlab", "source": "a/b", "sourceUrl": "https://gitlab.com/a/b.git"},
            "git",
            "gitlab:a/b",
            "skills/alpha",
        ),
        (
            {
                "sourceType": "well-known",
                "source": "example.com",
                "sourceUrl": "https://example.com/docs/.well-known/agent-skills/alpha/SKILL.md",
            },
            "site",
            "https://example.com/docs",
            "alpha",
        ),
        ({"sourceType": "local", "source": "parts"}, "folder", "./parts", "skills/alpha"),
        (
            {"sourceType": "node_modules", "source": "@a/b", "skillPath": "SKILL.md"},
            "folder",
            "./node_modules/@a/b",
            "",
        ),
    ],
)
def test_every_type_of_source_becomes_one_of_prowess(
    desk: Desk, fields: dict[str, str], kind: str, source: str, path: str
) -> None:
    put(desk, "project/.agents/skills/alpha")
    given = {"skillPath": "skills/alpha/SKILL.md", "computedHash": SKILLS_DIGEST, **fields}
    lock_skills(desk, alpha=given)
    assert desk.run("import", "--yes", "--offline").err == ""
    (locked,) = load_lock(desk).skills
    assert (locked.kind, locked.source, locked.path) == (kind, source, path)
    assert locked.ref == fields.get("ref", "")
    assert desk.run("verify").code == 0


def test_the_lock_file_of_a_user_has_the_tree_of_git(desk: Desk) -> None:
    folder = upstream(desk)
    (folder / "skills/alpha/scripts/run.sh").chmod(0o755)
    desk.commit(folder)
    tree = desk.do_git(folder, "rev-parse", "HEAD:skills/alpha")
    copied = put(desk, "home/.agents/skills/alpha")
    (copied / "scripts/run.sh").chmod(0o755)
    shape = entry(folder)
    del shape["computedHash"]
    lock = {"version": 3, "skills": {"alpha": {**shape, "skillFolderHash": tree}}}
    desk.write("home/.agents/.skill-lock.json", json.dumps(lock))
    (skill,) = desk.json("import", "--user", "--yes", "--offline")["skills"]
    assert (skill["files"], skill["folders"]) == ("unchanged", [str(copied)])
    assert desk.run("verify", "--user").code == 0
    assert [one["state"] for one in desk.json("outdated", "--user")["skills"]] == ["current"]


def refuse_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a folder is hashed to fetch it."""

    def load(folder: str, **options: Any) -> None:
        raise AssertionError(f"{folder} was read")

    monkeypatch.setattr(local_fetch, "load_tree", load)


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_folder_outside_the_project_that_a_clone_names_is_not_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, is_linked: bool
) -> None:
    outside = put(desk, "outside/skills/alpha").parent.parent
    put(desk, "project/.agents/skills/alpha")
    os.symlink(outside, desk.project / "parts")
    source = "./parts" if is_linked else str(outside)
    given = {"sourceType": "local", "source": source, "skillPath": "skills/alpha/SKILL.md"}
    lock_skills(desk, alpha={**given, "computedHash": SKILLS_DIGEST})
    refuse_to_read(monkeypatch)
    (skill,) = desk.json("import", "--dry-run")["skills"]
    said = f"{source} is outside the project, and only a file of the project names it"
    assert (skill["upstream"], skill["problem"]) == ("not-asked", said)
    assert "source not checked" in desk.run("import", "--dry-run").out


def test_a_folder_of_gh_outside_the_project_is_not_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = put(desk, "outside")
    header = f"name: alpha\ndescription: Does A.\nmetadata:\n  local-path: {outside}\n"
    put(desk, "project/.github/skills/alpha", {**ALPHA, "SKILL.md": f"---\n{header}---\nBody\n"})
    refuse_to_read(monkeypatch)
    (skill,) = desk.json("import", "--dry-run")["skills"]
    assert skill["upstream"] == "not-asked"


def test_a_folder_of_the_project_is_asked(desk: Desk) -> None:
    put(desk, "project/parts/skills/alpha")
    put(desk, "project/.agents/skills/alpha")
    given = {"sourceType": "local", "source": "parts", "skillPath": "skills/alpha/SKILL.md"}
    lock_skills(desk, alpha={**given, "computedHash": SKILLS_DIGEST})
    (skill,) = desk.json("import", "--dry-run")["skills"]
    assert skill["upstream"] == "same"


# gh skill


def gh_text(folder: Path, tree: str, body: str = "Body\n", **more: str) -> str:
    """SKILL.md as `gh skill` writes it anew."""
    marks = {
        "github-path": "skills/alpha",
        "github-ref": "refs/heads/main",
        "github-repo": f"file://{folder}",
        "github-tree-sha": tree,
        **more,
    }
    lines = "".join(f"    {key}: {value}\n" for key, value in sorted(marks.items()))
    return f"---\ndescription: Does A.\nmetadata:\n{lines}name: alpha\n---\n{body}"


def test_a_skill_with_the_marks_of_gh_is_compared_with_its_source(desk: Desk) -> None:
    folder = upstream(desk)
    tree = desk.do_git(folder, "rev-parse", "HEAD:skills/alpha")
    put(desk, "project/.github/skills/alpha", {**ALPHA, "SKILL.md": gh_text(folder, tree)})
    # It makes every file below scripts/ a program.
    (desk.project / ".github/skills/alpha/scripts/Run.txt").chmod(0o755)
    (skill,) = desk.json("import", "--yes")["skills"]
    assert (skill["tool"], skill["files"], skill["upstream"]) == ("gh", "unchanged", "different")
    assert (skill["ref"], skill["path"], skill["pinned"]) == ("main", "skills/alpha", None)
    assert desk.run("verify").code == 0
    assert desk.run("update", "--yes").code == 0
    assert desk.installed(".github/skills")["alpha/SKILL.md"] == ALPHA["SKILL.md"].encode()


def test_what_gh_pinned_stays_pinned_and_an_edit_is_seen(desk: Desk) -> None:
    folder = upstream(desk)
    desk.do_git(folder, "tag", "v1")
    text = gh_text(folder, "0" * 40, **{"github-pinned": "v1", "github-ref": "refs/tags/v1"})
    put(desk, "project/.github/skills/alpha", {**ALPHA, "SKILL.md": text})
    (skill,) = desk.json("import", "--dry-run")["skills"]
    assert (skill["ref"], skill["pinned"], skill["files"]) == ("v1", "pinned to v1", "unchanged")
    desk.write("project/.github/skills/alpha/SKILL.md", f"{text}Mine.\n")
    (skill,) = desk.json("import", "--dry-run")["skills"]
    assert (skill["files"], skill["pinned"]) == ("unknown", "may have been edited before import")


# ClawHub


def clawhub_origin(**more: Any) -> str:
    origin = {
        "version": 1,
        "registry": "https://clawhub.ai",
        "slug": "alpha",
        "installedVersion": "1.2.0",
        "installedAt": 1770000000000,
        "fingerprint": CLAWHUB_DIGEST,
    }
    return json.dumps({**origin, **more})


@pytest.mark.seed("W-29")
def test_a_skill_of_clawhub_from_a_repository_has_its_commit_and_pin(desk: Desk) -> None:
    folder = upstream(desk)
    commit = desk.do_git(folder, "rev-parse", "HEAD")
    put(desk, "project/skills/alpha")
    desk.write("project/skills/alpha/.clawhub/origin.json", clawhub_origin(installedVersion=commit))
    known = {
        "version": commit,
        "installedAt": 1770000000000,
        "sourceKind": "github",
        "sourceRepository": f"file://{folder}",
        "sourcePath": "skills/alpha",
        "pinned": True,
        "pinReason": "works for us",
    }
    lock = {"version": 1, "skills": {"alpha": known}}
    desk.write("project/.clawhub/lock.json", json.dumps(lock))
    (skill,) = desk.json("import", "--yes")["skills"]
    assert (skill["tool"], skill["files"], skill["upstream"]) == ("clawhub", "unchanged", "same")
    assert (skill["resolved"], skill["pinned"]) == (commit, "works for us")
    (locked,) = load_lock(desk).skills
    assert sorted(locked.files) == sorted(ALPHA)
    assert desk.run("verify", "--frozen").code == 0
    desk.run("pin", "alpha", "--remove")
    assert [one["state"] for one in desk.json("outdated")["skills"]] == ["current"]


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ({"ownerHandle": "me"}, "clawhub:@me/alpha"),
        ({"registry": "https://hub.example/"}, "clawhub+https://hub.example/alpha"),
    ],
)
def test_a_skill_of_a_registry_has_its_version_and_none_of_its_notes(
    desk: Desk, origin: dict[str, str], source: str
) -> None:
    put(desk, "project/skills/alpha")
    desk.write("project/skills/alpha/.clawhub/origin.json", clawhub_origin(**origin))
    (skill,) = desk.json("import", "--yes", "--offline")["skills"]
    assert (skill["source"], skill["resolved"], skill["files"]) == (source, "1.2.0", "unchanged")
    (locked,) = load_lock(desk).skills
    assert (locked.kind, sorted(locked.files)) == ("clawhub", sorted(ALPHA))
    assert desk.run("verify", "--frozen").code == 0


# Hostile and broken files


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON ("),
        ("[]", "it is not an object with `skills`"),
        ('{"version": 1, "skills": []}', "it is not an object with `skills`"),
        ('{"version": 2, "skills": {}}', "it has version 2; Prowess reads version 1"),
        ('{"skills": {}}', "it has version None; Prowess reads version 1"),
        ("[" * 100_000, "it is not JSON ("),
        (
            '{"version": 1, "skills": {}}' + " " * (1 << 23),
            "it has 8,388,636 bytes; at most 8,388,608 are read",
        ),
        (
            json.dumps({"version": 1, "skills": {str(one): {} for one in range(5001)}}),
            "it has 5,001 skills; at most 5,000 are read",
        ),
    ],
)
def test_a_file_that_is_no_lock_file_gets_a_sentence(desk: Desk, text: str, reason: str) -> None:
    desk.write("project/skills-lock.json", text)
    answer = desk.run("import", "--yes")
    assert (answer.code, answer.out) == (4, "Nothing to import.\n")
    assert answer.err.startswith(f"Cannot use skills-lock.json: {reason}")
    assert desk.tree() == ["skills-lock.json"]


def test_a_lock_file_that_is_a_link_or_a_pipe_gets_a_sentence(desk: Desk) -> None:
    secret = desk.write("home/secret.json", '{"version": 1, "skills": {"secret": 1}}')
    os.symlink(secret, desk.project / "skills-lock.json")
    (desk.project / ".clawhub").mkdir()
    os.mkfifo(desk.project / ".clawhub/lock.json")
    answer = desk.run("import", "--yes")
    assert (answer.code, "secret" in answer.err) == (4, False)
    assert "Cannot use skills-lock.json: it is a symlink.\n" in answer.err
    assert "Cannot use .clawhub/lock.json: " in answer.err


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"source": 7}, "its entry is malformed (Expected `str`, got `int` - at `$.source`)"),
        ({"sourceType": "notion"}, "Prowess cannot install from “notion” sources"),
        ({"skillPath": "../../x/SKILL.md"}, "its path '../../x' is refused: the path points"),
        ({"skillPath": "/etc/SKILL.md"}, "its path '/etc' is refused: the path is absolute"),
        ({"sourceType": "github", "source": "./x", "sourceUrl": ""}, "Prowess cannot install from"),
        ({"ref": "--upload-pack=x"}, "Prowess cannot install from"),
        ({"sourceUrl": "ext::sh -c x"}, "Prowess cannot install from"),
        ({"sourceUrl": "https://me:pw@x.example/r.git"}, "Prowess cannot install from"),
        ({"sourceUrl": "https://x\u0007.example/r.git"}, "Prowess cannot install from"),
    ],
)
def test_an_entry_that_cannot_be_used_says_why_and_costs_only_itself(
    desk: Desk, fields: dict[str, Any], reason: str
) -> None:
    put(desk, "project/.agents/skills/alpha")
    put(desk, "project/.agents/skills/beta", {"SKILL.md": skill_text("beta")})
    base: dict[str, Any] = dict(entry("/nowhere.git"))
    lock_skills(desk, alpha={**base, **fields}, beta=base)
    answer = desk.run("import", "--yes", "--offline")
    assert answer.code == 0
    assert answer.err.startswith(
        f"Not imported: alpha in .agents/skills/alpha (Vercel's skills): {reason}"
    )
    assert [one.name for one in load_lock(desk).skills] == ["beta"]


def test_names_never_lead_out_of_the_project(desk: Desk) -> None:
    put(desk, "home/outside")
    entries = {"../../home/outside": entry("/x.git"), str(desk.home / "outside"): entry("/x.git")}
    lock_skills(desk, **entries)
    shape = desk.json("import", "--yes", "--offline")
    assert (shape["skills"], len(shape["missing"])) == ([], 2)


def test_folders_that_are_links_or_have_links_are_left_out(desk: Desk) -> None:
    put(desk, "home/outside")
    (desk.project / ".agents/skills").mkdir(parents=True)
    os.symlink(desk.home / "outside", desk.project / ".agents/skills/alpha")
    put(desk, "project/.agents/skills/beta", {"SKILL.md": skill_text("beta")})
    os.symlink("/etc/passwd", desk.project / ".agents/skills/beta/passwd")
    lock_skills(desk, alpha=entry("/x.git"), beta=entry("/x.git"))
    shape = desk.json("import", "--yes", "--offline")
    assert shape["skills"] == []
    assert {one["name"]: one["reason"] for one in shape["left_out"]} == {
        "alpha": "its folder is a symlink to somewhere else",
        "beta": "passwd is a symlink or a special file",
    }


def test_a_source_that_cannot_be_asked_costs_only_what_it_would_have_said(desk: Desk) -> None:
    put(desk, "project/.agents/skills/alpha")
    lock_skills(desk, alpha=entry(desk.root / "gone.git"))
    (skill,) = desk.json("import", "--yes")["skills"]
    assert (skill["files"], skill["upstream"], skill["pinned"]) == ("unchanged", "failed", None)
    assert skill["problem"]
    assert desk.run("verify").code == 0


# Questions


def test_nothing_is_imported_without_an_answer(desk: Desk) -> None:
    put(desk, "project/.agents/skills/alpha")
    lock_skills(desk, alpha=entry("/x.git"))
    answer = desk.run("import", "--offline", "--json")
    assert (answer.code, json.loads(answer.out)["error"]["kind"]) == (5, "not-asked")
    assert desk.run("import", "--offline", "--dry-run").code == 0
    assert not (desk.project / "prowess.lock").exists()


@pytest.mark.parametrize(("key", "code"), [("y\n", 0), ("n\n", 5)])
def test_importing_asks(desk: Desk, key: str, code: int) -> None:
    put(desk, "project/.agents/skills/alpha")
    lock_skills(desk, alpha=entry("/x.git"))
    keyboard = Keyboard("import", "--offline")
    keyboard.type(key, after="Import 1 skill? [y/N]")
    assert keyboard.end()[0] == code
    assert (desk.project / "prowess.lock").exists() == (code == 0)


def test_what_prowess_installed_is_not_imported_again(desk: Desk) -> None:
    folder = desk.repository(two_skills())
    assert desk.run("install", f"file://{folder}", "--all", "--yes").code == 0
    shape = desk.json("import")
    assert (shape["skills"], shape["known"]) == ([], 2)
