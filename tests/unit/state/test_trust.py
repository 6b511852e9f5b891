"""Trust: a project's skills run nothing until the user says so, and nothing in a project can say it
instead.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import msgspec
import pytest

from prowess.diagnostics import diagnose
from prowess.errors import MachineError
from prowess.errors.activation import TooWide
from prowess.machine.project_identity import find_identity, has_identity
from prowess.model.skill import LoadedFrom, Scope
from prowess.state.trust import Trusted, TrustFile, trust_path
from prowess.testing import make_facts
from tests.workspace import Workspace


@pytest.fixture
def trust(workspace: Workspace) -> TrustFile:
    path = workspace.home / ".local" / "state" / "prowess" / "trust.json"
    return TrustFile(str(path), home=str(workspace.home), today=lambda: "2026-11-15")


def test_it_is_kept_in_the_state_folder_and_never_in_a_project() -> None:
    assert trust_path(make_facts("/home/me")) == "/home/me/.local/state/prowess/trust.json"
    assert trust_path(make_facts(env={"PROWESS_STATE_DIR": "/mine"})) == "/mine/trust.json"
    assert TrustFile.of(make_facts("/home/me")).path == "/home/me/.local/state/prowess/trust.json"


def test_the_user_s_own_skills_are_trusted_and_a_project_s_are_not(
    workspace: Workspace, trust: TrustFile
) -> None:
    workspace.git()
    workspace.skill("home/.prowess/skills/mine")
    workspace.skill("managed/skills/theirs")
    workspace.skill("project/.prowess/skills/here")
    workspace.skill("added/.prowess/skills/more")
    skills = workspace.open(add_dirs=[workspace.path("added")])
    names = ("mine", "theirs", "here", "more")
    assert [trust.is_trusted(skills.get(name)) for name in names] == [True, True, False, False]
    trust.trust(str(workspace.project))
    assert [trust.is_trusted(skills.get(name)) for name in names] == [True, True, True, False]
    assert not os.path.exists(workspace.project / ".prowess" / "trust.json")


def test_what_comes_from_elsewhere_is_never_trusted(workspace: Workspace, trust: TrustFile) -> None:
    workspace.skill("home/.prowess/skills/mine")
    skill = workspace.open().get("mine")
    source = msgspec.structs.replace(skill.source, loaded_from=LoadedFrom.MCP)
    bundled = msgspec.structs.replace(skill, scope=Scope.BUNDLED)
    remote = msgspec.structs.replace(skill, scope=Scope.REMOTE)
    asked = (skill, bundled, remote, msgspec.structs.replace(skill, source=source))
    assert [trust.is_trusted(one) for one in asked] == [True, True, False, False]


def test_trust_is_given_to_the_whole_repository_by_its_real_path(
    workspace: Workspace, trust: TrustFile
) -> None:
    workspace.git()
    (workspace.project / "a" / "b").mkdir(parents=True)
    workspace.link("link", str(workspace.project))
    expected = Trusted(str(workspace.project), "2026-11-15", find_identity(str(workspace.project)))
    assert trust.trust(workspace.path("link/a")) == expected
    assert trust.load() == [expected]
    asked = ("project", "project/a/b", "link", "link/a", ".", "home", "project/missing")
    assert [trust.is_trusted_folder(workspace.path(path)) for path in asked] == [True] * 4 + [
        False,
        False,
        True,
    ]


def test_a_repository_inside_a_trusted_one_is_a_project_of_its_own(
    workspace: Workspace, trust: TrustFile
) -> None:
    workspace.git()
    workspace.write("project/vendor/other/.git", "gitdir: elsewhere\n")
    trust.trust(str(workspace.project))
    assert trust.is_trusted_folder(workspace.path("project/vendor"))
    assert not trust.is_trusted_folder(workspace.path("project/vendor/other"))


def test_a_folder_without_a_repository_stands_for_itself_and_what_is_below_it(
    workspace: Workspace, trust: TrustFile
) -> None:
    (workspace.project / "a").mkdir()
    workspace.git("project/clone")
    trust.trust(str(workspace.project))
    asked = ("project/a", "project/clone", "project-2", ".")
    assert [trust.is_trusted_folder(workspace.path(path)) for path in asked] == [
        True,
        False,
        False,
        False,
    ]


def test_a_link_that_leads_out_of_a_trusted_project_is_trusted_only_where_it_leads_to(
    workspace: Workspace, trust: TrustFile
) -> None:
    workspace.git()
    workspace.git("elsewhere")
    workspace.skill("elsewhere/x")
    workspace.write("project/.claude/skills/mixed/run.sh", "evil")
    workspace.link("project/.claude/skills/x", workspace.path("elsewhere/x"))
    workspace.link("project/.claude/skills/mixed/SKILL.md", workspace.path("elsewhere/x/SKILL.md"))
    skills = workspace.open("claude-code")
    linked, mixed = (
        skills.get("x"),
        msgspec.structs.replace(
            skills.get("x"),
            folder=workspace.path("project/.claude/skills/mixed"),
            location=workspace.path("project/.claude/skills/mixed/SKILL.md"),
        ),
    )
    seen = []
    for folder in ("project", "elsewhere"):
        trust.trust(workspace.path(folder))
        seen.append((trust.is_trusted(linked), trust.is_trusted(mixed)))
    trust.distrust(workspace.path("project"))
    seen.append((trust.is_trusted(linked), trust.is_trusted(mixed)))
    assert seen == [(False, False), (True, True), (False, False)]


@pytest.mark.parametrize("folder", ["/", "home", "."])
def test_what_holds_the_whole_home_cannot_be_trusted(
    workspace: Workspace, trust: TrustFile, folder: str
) -> None:
    path = folder if folder == "/" else os.path.normpath(workspace.path(folder))
    with pytest.raises(TooWide) as caught:
        trust.trust(path)
    assert (
        str(caught.value)
        == f"{path} covers your whole home folder, so it cannot be trusted as one project; name the project's own folder."
    )
    assert trust.load() == []


def test_a_home_that_is_a_repository_does_not_make_everything_in_it_one_project(
    workspace: Workspace, trust: TrustFile
) -> None:
    workspace.git("home")
    (workspace.home / "a").mkdir()
    (workspace.home / "b").mkdir()
    trust.trust(workspace.path("home/a"))
    assert [trust.is_trusted_folder(workspace.path(path)) for path in ("home/a", "home/b")] == [
        True,
        False,
    ]


def test_trust_can_be_taken_back(workspace: Workspace, trust: TrustFile) -> None:
    workspace.git()
    trust.trust(str(workspace.project))
    assert trust.distrust(workspace.path("project/a")) is True
    assert trust.distrust(str(workspace.project)) is False
    assert (trust.load(), trust.is_trusted_folder(str(workspace.project))) == ([], False)


def test_a_project_that_is_gone_can_still_be_forgotten(
    workspace: Workspace, trust: TrustFile
) -> None:
    (workspace.root / "gone").mkdir()
    trust.trust(workspace.path("gone"))
    (workspace.root / "gone").rmdir()
    with pytest.raises(MachineError):
        trust.trust(workspace.path("gone"))
    assert trust.distrust(workspace.path("gone")) is True


def test_the_file_is_readable_json_private_and_in_order(
    workspace: Workspace, trust: TrustFile
) -> None:
    for name in ("b", "a", "b"):
        (workspace.root / name).mkdir(exist_ok=True)
        trust.trust(workspace.path(name))
    path = Path(trust.path)
    assert json.loads(path.read_text()) == {
        "version": 1,
        "trusted": [
            {
                "root": workspace.path(name),
                "since": "2026-11-15",
                "identity": find_identity(workspace.path(name)),
            }
            for name in ("a", "b")
        ],
    }
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert sorted(item.name for item in path.parent.iterdir()) == ["trust.json", "trust.json.lock"]


@pytest.mark.parametrize(
    ("text", "mode", "reason"),
    [
        (
            '{"version": 1, "trusted": [{"root": "ROOT", "since": "x"}]}',
            0o666,
            "other users can write to the file",
        ),
        ('{"version": 9, "trusted": []}', 0o600, "another version of Prowess wrote the file"),
        ("{", 0o600, "the file cannot be read (Input data was truncated)"),
    ],
)
def test_a_file_that_cannot_be_relied_on_trusts_nothing_and_is_put_aside_by_the_next_change(
    workspace: Workspace, trust: TrustFile, text: str, mode: int, reason: str
) -> None:
    path = Path(trust.path)
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("ROOT", str(workspace.project)))
    path.chmod(mode)
    assert trust.is_trusted_folder(str(workspace.project)) is False
    assert trust.diagnostics == (
        diagnose(
            "state-unreadable",
            f"The list of trusted projects is ignored because {reason}; no project is trusted.",
            file=str(path),
        ),
    )
    trust.trust(str(workspace.project))
    assert trust.is_trusted_folder(str(workspace.project)) is True
    assert (trust.load()[0].root, len(trust.diagnostics)) == (str(workspace.project), 0)
    assert Path(f"{path}.unusable").exists()


def test_no_answer_is_lost_where_several_are_given_at_once(
    workspace: Workspace, trust: TrustFile
) -> None:
    names = [f"p{number}" for number in range(8)]
    for name in names:
        (workspace.root / name).mkdir()
    threads = [threading.Thread(target=trust.trust, args=(workspace.path(name),)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [trusted.root for trusted in trust.load()] == [workspace.path(name) for name in names]


def git(folder: Path, *words: str) -> None:
    names = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *names, "-C", str(folder), *words], check=True, capture_output=True)


def make_repository(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    (folder / "file").write_text(text)
    git(folder, "add", "file")
    git(folder, "commit", "-qm", text)


@pytest.mark.needs("git")
def test_trust_in_a_repository_outlives_its_commits_and_its_folder(
    workspace: Workspace, trust: TrustFile
) -> None:
    make_repository(workspace.project, "first")
    assert trust.trust(str(workspace.project)).identity.startswith("commit:")
    git(workspace.project, "commit", "--allow-empty", "-qm", "second")
    assert trust.is_trusted_folder(str(workspace.project))
    shutil.copytree(workspace.project, workspace.root / "copy")
    shutil.rmtree(workspace.project)
    (workspace.root / "copy").rename(workspace.project)
    assert trust.is_trusted_folder(str(workspace.project))


@pytest.mark.needs("git")
def test_trust_lapses_where_another_repository_takes_the_place(
    workspace: Workspace, trust: TrustFile
) -> None:
    make_repository(workspace.project, "mine")
    trust.trust(str(workspace.project))
    shutil.rmtree(workspace.project)
    make_repository(workspace.project, "theirs")
    assert not trust.is_trusted_folder(str(workspace.project))
    trust.trust(str(workspace.project))
    assert trust.is_trusted_folder(str(workspace.project))
    assert len(trust.load()) == 1


def test_trust_in_a_folder_lapses_where_another_folder_takes_the_place(
    workspace: Workspace, trust: TrustFile
) -> None:
    trust.trust(str(workspace.project))
    workspace.project.rename(workspace.root / "old")
    workspace.project.mkdir()
    assert not trust.is_trusted_folder(str(workspace.project))


@pytest.mark.needs("git")
def test_asking_git_runs_nothing_that_the_repository_configures(
    workspace: Workspace, trust: TrustFile
) -> None:
    make_repository(workspace.project, "first")
    canary = workspace.root / "canary"
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "gc.recentObjectsHook",
    ):
        git(workspace.project, "config", key, f"touch {canary}")
    git(workspace.project, "config", "protocol.ext.allow", "always")
    git(workspace.project, "config", "remote.origin.url", f"ext::sh -c 'touch {canary}'")
    git(workspace.project, "config", "remote.origin.promisor", "true")
    git(workspace.project, "config", "extensions.partialClone", "origin")
    trust.trust(str(workspace.project))
    missing = Trusted(str(workspace.project), "2026-11-15", f"commit:{'0' * 39}1")
    assert not has_identity(missing.root, missing.identity)
    assert trust.is_trusted_folder(str(workspace.project))
    assert not canary.exists()


@pytest.mark.parametrize("scope", [Scope.USER, Scope.MANAGED, Scope.BUNDLED])
def test_a_skill_of_the_project_is_never_the_user_s_whatever_a_profile_says(
    workspace: Workspace, scope: Scope
) -> None:
    workspace.skill("project/.prowess/skills/here")
    claimed = msgspec.structs.replace(workspace.open().get("here"), scope=scope)
    trust = TrustFile.of(workspace.facts(), cwd=str(workspace.project))
    assert not trust.is_trusted(claimed)


def test_a_user_s_skill_is_the_user_s_only_where_users_keep_configuration(
    workspace: Workspace, trust: TrustFile
) -> None:
    workspace.skill("home/.prowess/skills/mine")
    mine = workspace.open().get("mine")
    workspace.skill("home/downloads/theirs")
    theirs = workspace.path("home/downloads/theirs/SKILL.md")
    moved = msgspec.structs.replace(mine, file=theirs, folder=os.path.dirname(theirs))
    assert [trust.is_trusted(mine), trust.is_trusted(moved)] == [True, False]


@pytest.mark.parametrize(
    ("mode", "reason"), [(0o777, "other users can write to its folder"), (0o700, None)]
)
def test_a_list_in_a_folder_that_others_can_write_is_not_used(
    workspace: Workspace, trust: TrustFile, mode: int, reason: str | None
) -> None:
    trust.trust(str(workspace.project))
    Path(trust.path).parent.chmod(mode)
    assert trust.is_trusted_folder(str(workspace.project)) is (reason is None)
    assert [reason in one.message for one in trust.diagnostics if reason] == (
        [True] if reason else []
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_list_that_belongs_to_another_user_is_not_used(
    workspace: Workspace, trust: TrustFile
) -> None:
    trust.trust(str(workspace.project))
    os.chown(trust.path, 12_345, 12_345)
    assert not trust.is_trusted_folder(str(workspace.project))
    assert "the file belongs to another user" in trust.diagnostics[0].message
