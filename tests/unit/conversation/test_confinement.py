"""Programs of skills run confined; where nothing confines them, or trust is bound to content, a
person is asked.
"""

from __future__ import annotations

import os

import pytest

from prowess.errors.activation import CommandFailed, CommandToolFailed, NotPermitted
from prowess.model.sandbox import SandboxSupport
from prowess.runtime import Skills
from tests.unit.conversation.ports import ALWAYS, ONCE, Person, trust
from tests.workspace import Workspace

USER_FILE = "home/.config/prowess/prowess.toml"
NO_SANDBOX = SandboxSupport(engine=None, reason="sandlock: not installed")


def write_skill(workspace: Workspace, command: str, name: str = "x") -> None:
    workspace.skill(f"project/.prowess/skills/{name}", body=f"!`{command}`\n")


@pytest.fixture
def trusted(workspace: Workspace) -> Workspace:
    workspace.git()
    trust(workspace.open())
    return workspace


def run(workspace: Workspace, name: str = "x", **options) -> str:
    return open_here(workspace).conversation(**options).activate(name).text


def open_here(workspace: Workspace) -> Skills:
    env = {"PATH": os.environ["PATH"], "HOME": str(workspace.home)}
    return workspace.open(env=env, bins=("bash",))


def test_a_command_writes_in_the_project_and_not_beside_it(trusted: Workspace) -> None:
    write_skill(trusted, "echo in > made; cat made")
    assert "in" in run(trusted)
    assert (trusted.project / "made").read_text() == "in\n"
    write_skill(trusted, "echo out > ../made", "y")
    with pytest.raises(CommandFailed) as caught:
        run(trusted, "y")
    assert not (trusted.root / "made").exists()
    assert (
        f"[The command ran in a sandbox: it can write only in {trusted.project}, without network"
        " access. If that is why it failed, change `[sandbox]` in your prowess.toml.]"
    ) in str(caught.value)


def test_credentials_and_the_list_of_trust_cannot_be_read(trusted: Workspace) -> None:
    trusted.write("home/.ssh/id", "private key")
    write_skill(trusted, "cat ~/.ssh/id ~/.local/state/prowess/trust.json; true")
    text = run(trusted)
    assert "private key" not in text
    assert str(trusted.project) not in text.replace(f"{trusted.project}/.prowess", "")


def test_a_setting_of_the_user_loosens_it_for_one_skill(trusted: Workspace) -> None:
    trusted.write(USER_FILE, f'[sandbox.skills.x]\nwrite = ["{trusted.root}/out"]\n')
    (trusted.root / "out").mkdir()
    write_skill(trusted, "echo out > ../out/made")
    write_skill(trusted, "echo out > ../out/made-too", "y")
    run(trusted)
    assert (trusted.root / "out" / "made").exists()
    with pytest.raises(CommandFailed):
        run(trusted, "y")
    trusted.write(USER_FILE, '[sandbox]\nmode = "off"\n')
    run(trusted, "y")
    assert (trusted.root / "out" / "made-too").exists()


def test_without_a_sandbox_every_run_is_asked_about_with_the_reason(
    trusted: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.conversation.confinement.find_support", lambda: NO_SANDBOX)
    write_skill(trusted, "echo ran > made; echo done")
    with pytest.raises(NotPermitted, match="programs cannot be sandboxed on this machine"):
        run(trusted)
    assert not (trusted.project / "made").exists()
    person = Person(ONCE)
    assert "done" in run(trusted, approver=person)
    assert person.asked[0].metadata["commands"] == ["echo ran > made; echo done"]


def test_trust_bound_to_content_asks_again_when_a_file_changes(trusted: Workspace) -> None:
    trusted.write(USER_FILE, 'trust = "content"\napprovals = "disk"\n')
    write_skill(trusted, "echo done")
    with pytest.raises(NotPermitted, match="requires approval of what runs"):
        run(trusted)
    person = Person(ALWAYS)
    assert "done" in run(trusted, approver=person)
    assert "done" in run(trusted)
    trusted.write("project/.prowess/skills/x/run.sh", "new")
    with pytest.raises(NotPermitted):
        run(trusted)
    assert len(person.asked) == 1


def test_the_user_s_own_skills_are_not_asked_about(trusted: Workspace) -> None:
    trusted.write(USER_FILE, 'trust = "content"\n')
    trusted.skill("home/.prowess/skills/mine", body="!`echo done`\n")
    assert "done" in run(trusted, "mine")


def test_a_configured_tool_is_confined_too(trusted: Workspace) -> None:
    trusted.write(USER_FILE, '[tools.copy]\ncommand = ["cp", "SKILL.md", "{argument}"]\n')
    trusted.skill("home/.prowess/skills/copy", command_dispatch="tool", command_tool="copy")
    trusted.write("project/SKILL.md", "x")
    chat = open_here(trusted).conversation()
    chat.run("/copy inside")
    assert (trusted.project / "inside").exists()
    with pytest.raises(CommandToolFailed, match="ran in a sandbox"):
        chat.run(f"/copy {trusted.root}/outside")
    assert not (trusted.root / "outside").exists()


def test_without_a_sandbox_a_configured_tool_is_asked_about_too(
    trusted: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.conversation.confinement.find_support", lambda: NO_SANDBOX)
    trusted.write(USER_FILE, '[tools.make]\ncommand = ["touch", "{argument}"]\n')
    trusted.skill("home/.prowess/skills/make", command_dispatch="tool", command_tool="make")
    with pytest.raises(NotPermitted, match="programs cannot be sandboxed on this machine"):
        open_here(trusted).conversation().run("/make made")
    assert not (trusted.project / "made").exists()
    person = Person(ONCE)
    open_here(trusted).conversation(approver=person).run("/make made")
    assert (trusted.project / "made").exists()
    assert len(person.asked) == 1


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"),
        ("echo evil > .git/config", ".git/config"),
        ("rm .git/hooks/own", ".git/hooks/own"),
        ("echo ../evil > .git/commondir; echo evil > .git/config", ".git/commondir, .git/config"),
    ],
)
def test_a_command_that_changes_what_git_runs_is_reported(
    trusted: Workspace, command: str, changed: str
) -> None:
    trusted.write("project/.git/config", "[core]\n")
    trusted.write("project/.git/hooks/own", "#!/bin/sh\n")
    write_skill(trusted, command)
    assert f"[The command changed {changed}. Git runs what they say outside the sandbox" in run(
        trusted
    )


def test_ordinary_work_in_a_repository_is_not_reported(trusted: Workspace) -> None:
    trusted.write("project/.git/config", "[core]\n")
    trusted.write("project/.git/hooks/own", "#!/bin/sh\n")
    write_skill(trusted, "echo x > made; cat .git/config .git/hooks/own; echo x > .git/index")
    assert "[The command changed" not in run(trusted)
