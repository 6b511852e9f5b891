"""A project cannot trust itself: what its links and its settings reach for beyond it is refused,
and told.
"""

from __future__ import annotations

import pytest

from prowess.model.skill import Scope
from prowess.model.snapshot import Snapshot
from tests.unit.conversation.ports import Recorder
from tests.workspace import Workspace

SECRET = "[default]\naws_secret_access_key = AKIA\n"
USER_FILE = "home/.config/prowess/prowess.toml"


def codes(workspace: Workspace, snapshot: Snapshot) -> list[tuple[str, str | None]]:
    return [(found.code, workspace.relative(found.file)) for found in snapshot.diagnostics]


def plant(workspace: Workspace, folder: str = "project") -> None:
    """A SKILL.md that is a link to the user's credentials."""
    workspace.write("home/.aws/credentials", SECRET)
    workspace.link(
        f"{folder}/.agents/skills/help/SKILL.md", workspace.path("home/.aws/credentials")
    )


@pytest.mark.parametrize("target", ["../..", "../../home", "/"])
def test_a_root_that_is_a_link_out_of_the_project_is_refused_and_makes_nothing_known(
    workspace: Workspace, target: str
) -> None:
    workspace.git()
    plant(workspace)
    workspace.link("project/.claude/skills", target)
    snapshot = workspace.scan()
    assert workspace.ends(snapshot) == {"project/.agents/skills/help/SKILL.md": "invalid"}
    assert codes(workspace, snapshot) == [("link-escapes", "project/.claude/skills")]


def test_a_link_above_the_root_is_seen_through(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("elsewhere/skills/x")
    workspace.link("project/.agents", workspace.path("elsewhere"))
    snapshot = workspace.scan()
    assert workspace.ends(snapshot) == {}
    assert codes(workspace, snapshot) == [("link-escapes", "project/.agents/skills")]


@pytest.mark.parametrize("git", [True, False])
def test_a_root_that_is_a_link_within_the_project_is_searched(
    workspace: Workspace, git: bool
) -> None:
    if git:
        workspace.git()
    workspace.skill("project/tools/skills/x")
    workspace.link("project/.claude/skills", "../tools/skills")
    snapshot = workspace.scan()
    assert workspace.ends(snapshot) == {"project/.claude/skills/x/SKILL.md": "ready"}
    assert codes(workspace, snapshot) == []


def test_a_root_may_be_a_link_to_what_the_user_trusts(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("elsewhere/x")
    workspace.link("project/.claude/skills", "../../elsewhere")
    workspace.write(USER_FILE, f'[discovery]\ntrusted_links = ["{workspace.path("elsewhere")}"]\n')
    assert workspace.ends(workspace.scan()) == {"project/.claude/skills/x/SKILL.md": "ready"}


def test_a_users_own_root_may_be_a_link_to_anywhere(workspace: Workspace) -> None:
    workspace.skill("elsewhere/x")
    workspace.link("home/.claude/skills", workspace.path("elsewhere"))
    assert workspace.ends(workspace.scan()) == {"home/.claude/skills/x/SKILL.md": "ready"}


def test_a_repository_that_is_home_makes_nothing_known(workspace: Workspace) -> None:
    workspace.git("home")
    plant(workspace, "home/project")
    workspace.link("home/project/.claude/skills", "../..")
    snapshot = workspace.scan(cwd="home/project")
    assert workspace.ends(snapshot) == {"home/project/.agents/skills/help/SKILL.md": "invalid"}
    assert codes(workspace, snapshot) == [("link-escapes", "home/project/.claude/skills")]


def test_an_added_folder_bounds_its_roots(workspace: Workspace) -> None:
    workspace.skill("elsewhere/x")
    workspace.skill("added/inner/y")
    workspace.link("added/.claude/skills", "../../elsewhere")
    workspace.link("added/.agents/skills", "../inner")
    snapshot = workspace.scan(add_dirs=[workspace.path("added")])
    assert workspace.ends(snapshot) == {"added/.agents/skills/y/SKILL.md": "ready"}
    assert codes(workspace, snapshot) == [("link-escapes", "added/.claude/skills")]


@pytest.mark.parametrize(("key", "root"), [("folders", "home"), ("plugins", "home/skills")])
def test_a_folder_outside_that_a_project_names_is_refused(
    workspace: Workspace, key: str, root: str
) -> None:
    workspace.git()
    plant(workspace)
    workspace.skill("home/skills/x")
    workspace.write("project/prowess.toml", f'{key} = ["~"]\n')
    snapshot = workspace.scan()
    assert workspace.ends(snapshot) == {"project/.agents/skills/help/SKILL.md": "invalid"}
    assert codes(workspace, snapshot) == [("link-escapes", root)]
    assert "trusted_links" in (snapshot.diagnostics[0].hint or "")


def test_a_folder_outside_that_a_user_names_is_searched(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("elsewhere/x")
    workspace.write(USER_FILE, f'folders = ["{workspace.path("elsewhere")}"]\n')
    assert workspace.ends(workspace.scan()) == {"elsewhere/x/SKILL.md": "ready"}


def test_a_folder_inside_that_a_project_names_is_searched(workspace: Workspace) -> None:
    workspace.git()
    workspace.skill("project/tools/x")
    workspace.write("project/prowess.toml", 'folders = ["tools"]\n')
    assert workspace.ends(workspace.scan()) == {"project/tools/x/SKILL.md": "ready"}


def test_a_project_cannot_trust_links_itself(workspace: Workspace) -> None:
    workspace.git()
    plant(workspace)
    workspace.write("project/prowess.toml", '[discovery]\ntrusted_links = ["~"]\n')
    snapshot = workspace.scan()
    assert workspace.ends(snapshot) == {"project/.agents/skills/help/SKILL.md": "invalid"}
    assert [(found.code, found.line, found.field) for found in snapshot.diagnostics] == [
        ("setting-ignored", 2, "discovery.trusted_links")
    ]


def test_a_context_file_that_leads_out_of_the_project_is_not_read(workspace: Workspace) -> None:
    workspace.git()
    workspace.write("home/.aws/credentials", SECRET)
    workspace.link("project/AGENTS.md", workspace.path("home/.aws/credentials"))
    found = workspace.open().context_files()
    assert found.files == ()
    assert [(one.code, workspace.relative(one.file)) for one in found.diagnostics] == [
        ("link-escapes", "project/AGENTS.md")
    ]


def test_a_context_file_may_be_a_link_within_the_project(workspace: Workspace) -> None:
    workspace.git()
    workspace.write("project/docs/agents.md", "Be kind.")
    workspace.link("project/part/AGENTS.md", "../docs/agents.md")
    found = workspace.open(cwd="project/part").context_files()
    assert [(workspace.relative(one.path), one.text) for one in found.files] == [
        ("project/part/AGENTS.md", "Be kind.")
    ]
    assert found.diagnostics == ()


def test_a_context_file_that_is_cut_is_told(workspace: Workspace) -> None:
    workspace.write("project/AGENTS.md", "é" * (1 << 19) + "TAIL")
    found = workspace.open().context_files()
    assert [len(one.text) for one in found.files] == [1 << 19]
    assert [one.code for one in found.diagnostics] == ["context-cut"]


@pytest.mark.parametrize("folder", [".prowess", ".agents", ".claude"])
def test_the_users_own_skills_are_that_from_a_folder_below_the_home_that_is_no_repository(
    workspace: Workspace, folder: str
) -> None:
    workspace.skill(f"home/{folder}/skills/greet", body="!`echo hi`\n")
    workspace.skill(f"home/work/{folder}/skills/above")
    workspace.skill(f"home/work/here/{folder}/skills/other", body="!`echo hi`\n")
    skills = workspace.open(cwd="home/work/here", bins=("bash",))
    scopes = {skill.name: skill.scope for skill in skills}
    assert scopes == {"greet": Scope.USER, "other": Scope.PROJECT}
    runner = Recorder()
    skills.conversation(runner=runner).activate("greet")
    skills.conversation(runner=runner).activate("other")
    assert len(runner.ran) == 1
