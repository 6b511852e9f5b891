"""Loading a skill: the order of the steps, what the model receives, and what a call costs."""

from __future__ import annotations

import subprocess
import sys
from types import FrameType
from typing import Any

import pytest

from prowess.activate.ledger import digest_activation
from prowess.activate.model_tool import render_unknown
from prowess.activate.slash.commands import build_commands
from prowess.conversation.conversation import Conversation
from prowess.errors import UnknownSkill
from prowess.errors.activation import Cancelled, NotPermitted
from prowess.gate.permissions import parse_given
from prowess.model.activation import Activation, SkillRequests
from prowess.model.files import FolderItem, Head
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from prowess.model.usage import Caller
from prowess.profiles.load import load_profile
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.unit.conversation.ports import ONCE
from tests.workspace import Workspace, skill_text

ROOT = "/home/me/.claude/skills"
TEXT = f"""<skill_content name="pdf">
# Skill: pdf

Read it.

Base folder of this skill: file://{ROOT}/pdf
Relative paths in this skill (such as scripts/ or reference/) start at that folder.
The files below are a sample of the folder's contents.

<skill_files>
<file>{ROOT}/pdf/a.md</file>
</skill_files>
</skill_content>"""


class Office(MemoryFiles):
    """Skills in memory. It notes, in order, what is read and listed and what the approver is asked."""

    def __init__(self, *names: str, host: str = "opencode@documented", **rules: str) -> None:
        tree = {
            f"{ROOT}/{name}/SKILL.md": skill_text(name, body="Read it.\n", model="small")
            for name in names
        }
        super().__init__({**tree, f"{ROOT}/pdf/a.md": ""})
        self.noted: list[str] = []
        facts = make_facts(env={"PROWESS_NO_USAGE": "1"})
        given = parse_given({"skill": rules}) if rules else ()
        self.skills = Skills("/project", host=host, files=self, facts=facts, rules=given)
        self.conversation = self.skills.conversation(approver=self)
        assert self.conversation.snapshot.outcomes
        self.noted.clear()

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Once."""
        self.noted.append(f"ask {' '.join(request.patterns)}")
        return ONCE

    def read_head(self, path: str, limit: int) -> Head:
        """Note what is read."""
        self.noted.append(f"read {path.removeprefix(ROOT)}")
        return super().read_head(path, limit)

    def list_folder(self, path: str) -> list[FolderItem]:
        """Note what is listed."""
        self.noted.append(f"list {path.removeprefix(ROOT)}")
        return super().list_folder(path)

    def call(self, name: str, **options: Any) -> Activation:
        """A model's call."""
        return self.conversation.activate(name, by="model", **options)


# The order of the steps


@pytest.mark.seed("O-38", "O-53", "O-54")
def test_a_call_looks_up_asks_collects_and_builds_in_this_order() -> None:
    office = Office("pdf")
    loaded = office.call("pdf")
    assert loaded == Activation(
        name="pdf",
        text=TEXT,
        folder=f"{ROOT}/pdf",
        digest=office.skills.get("pdf").digest,
        version=digest_activation(
            "pdf",
            digest=loaded.digest,
            location=f"{ROOT}/pdf/SKILL.md",
            arguments="",
        ),
        title="Loaded skill: pdf",
        files=(f"{ROOT}/pdf/a.md",),
        metadata={"name": "pdf", "dir": f"{ROOT}/pdf"},
        requests=SkillRequests(),
    )
    assert office.noted[:2] == ["read /pdf/SKILL.md", "list /pdf"]


@pytest.mark.seed("O-38")
def test_who_is_asked_is_asked_after_the_file_is_read_and_before_files_are_collected() -> None:
    office = Office("pdf", pdf="ask")
    office.call("pdf")
    digested = ["list /pdf", "read /pdf/SKILL.md", "read /pdf/a.md"]
    assert office.noted == ["read /pdf/SKILL.md", *digested, "ask pdf", "list /pdf"]


@pytest.mark.seed("O-38", "O-39")
def test_an_unknown_name_asks_nobody_and_tells_the_names_that_may_be_used() -> None:
    office = Office("pdf", "secret", "Charts", **{"*": "ask", "secret": "deny"})
    with pytest.raises(UnknownSkill) as caught:
        office.call("pfd")
    assert render_unknown(caught.value) == (
        "There is no skill named “pfd” here. Did you mean “pdf”? Available skills: Charts, pdf."
    )
    assert office.noted == []


def test_a_denied_name_is_not_given_away_as_the_nearest_either() -> None:
    office = Office("pdf", "secret", secret="deny")
    with pytest.raises(UnknownSkill) as caught:
        office.call("secrets")
    assert (caught.value.nearest, caught.value.known) == ((), ("pdf",))
    with pytest.raises(UnknownSkill) as caught:
        Office("pdf", "secret", **{"*": "deny"}).call("other")
    assert (
        render_unknown(caught.value)
        == "There is no skill named “other” here. No skills are available."
    )


def test_what_is_denied_is_refused_before_anything_is_read() -> None:
    office = Office("pdf", pdf="deny")
    with pytest.raises(NotPermitted):
        office.call("pdf")
    assert office.noted == []


def test_a_skill_that_is_in_the_conversation_already_gives_one_line() -> None:
    office = Office("pdf")
    office.call("pdf")
    office.noted.clear()
    again = office.call("pdf")
    assert again.text == "The skill “pdf” is already loaded and has not changed; keep following it."
    assert (again.repeated, again.files, office.noted) == (True, (), ["read /pdf/SKILL.md"])


def test_a_name_may_be_written_as_it_is_typed_where_the_host_takes_that() -> None:
    assert Office("pdf", host="claude-code").call("/pdf").name == "pdf"
    with pytest.raises(UnknownSkill):
        Office("pdf").call("/pdf")


@pytest.mark.seed("O-46")
def test_a_call_can_be_called_off_while_files_are_collected() -> None:
    with pytest.raises(Cancelled):
        Office("pdf").call("pdf", is_cancelled=lambda: True)


# What the model receives


@pytest.mark.seed("C-01")
def test_a_skill_is_offered_as_a_command_to_the_user_and_through_the_tool_to_the_model(
    workspace: Workspace,
) -> None:
    workspace.write(
        "project/.claude/skills/deploy/SKILL.md", "---\ndescription: Ships it.\n---\n# Deploy\n"
    )
    profile = load_profile("claude-code@documented")
    skills = workspace.open("claude-code@documented")
    assert [command.name for command in build_commands(skills.snapshot, profile.commands)] == [
        "deploy"
    ]
    folder = workspace.path("project/.claude/skills/deploy")
    called = skills.tool()(skill="deploy")
    assert called.text == f"Base folder of this skill: {folder}\n\n# Deploy\n"


def test_a_command_file_has_no_folder_and_no_files_of_its_own(workspace: Workspace) -> None:
    workspace.write("project/.claude/commands/deploy.md", "---\ndescription: d\n---\nBody\n")
    loaded = workspace.open().activate("deploy")
    assert loaded.text == '<skill_content name="deploy">\n# Skill: deploy\n\nBody\n</skill_content>'
    assert (loaded.folder, loaded.files, dict(loaded.metadata)) == (None, (), {"name": "deploy"})


# What a call costs

PLAIN = """
import sys
from prowess.runtime import Skills

skills = Skills(sys.argv[1], cache=False)
loaded = skills.activate("x", "here")
assert "Look here." in loaded.text, loaded.text
print(*(name for name in sys.modules if name.startswith("prowess.shell")))
"""


@pytest.mark.parametrize(
    ("body", "needs_shell"), [("Look $ARGUMENTS.\n", False), ("Look $ARGUMENTS.\n!`pwd`\n", True)]
)
def test_only_a_body_with_commands_imports_what_reads_and_runs_them(
    workspace: Workspace, body: str, *, needs_shell: bool
) -> None:
    workspace.skill("home/.prowess/skills/x", body=body)
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, str(workspace.project)],
        env={"HOME": str(workspace.home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert bool(done.stdout.split()) is needs_shell


def list_modules(conversation: Conversation, *call: str, by: Caller) -> set[str]:
    """The modules of prowess whose functions one activation enters."""
    entered: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        module = frame.f_globals.get("__name__", "")
        is_import = frame.f_code.co_name == "<module>"
        if event == "call" and module.startswith("prowess") and not is_import:
            entered.add(module)

    sys.setprofile(note)
    try:
        conversation.activate(*call, by=by)
    finally:
        sys.setprofile(None)
    return entered


@pytest.mark.parametrize(("by", "most"), [("user", 20), ("model", 25)])
def test_a_plain_activation_passes_few_modules(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, by: Caller, most: int
) -> None:
    # Other tests may have loaded it; then tokens are counted for those who watch.
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    for name in ("first", "x", "y"):
        workspace.skill(f"home/.prowess/skills/{name}", body="Look.\n")
        workspace.write(f"home/.prowess/skills/{name}/notes.md")
    skills = workspace.open()
    # The scan, and the file that counts uses, are there before a conversation is.
    skills.activate("first")
    conversation = skills.conversation()
    cold = list_modules(conversation, "x", by=by)
    warm = list_modules(conversation, "y", by=by)
    assert (len(cold) <= most, len(warm) <= most) == (True, True), sorted(cold)
