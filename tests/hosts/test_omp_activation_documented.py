"""oh-my-pi as its seed describes it, end to end: commands, their delivery, and `skill://`
addresses.
"""

from __future__ import annotations

import pytest

from prowess.activate.slash.messages import Delivery, Key, Message
from prowess.activate.slash.parser import Plain
from prowess.errors import UnknownSkill
from prowess.errors.activation import AddressError
from tests.unit.conversation.ports import plain
from tests.workspace import Workspace

HOST = "omp@documented"
ROOT = "home/.omp/agent/skills"


def switch_commands(workspace: Workspace, value: str) -> None:
    workspace.write("home/.omp/agent/config.yml", f"skills:\n  enableSkillCommands: {value}\n")


@pytest.mark.seed("P-39", "P-49")
def test_there_is_one_command_for_each_skill_where_commands_are_on_and_none_where_not(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/deep")
    workspace.skill(f"{ROOT}/wide")
    switch_commands(workspace, "true")
    skills = workspace.open(HOST)
    before = workspace.ends(skills.snapshot)
    assert [command.name for command in skills.commands()] == ["deep", "wide"]
    skills.run("/skill:deep")
    assert workspace.ends(skills.snapshot) == before
    switch_commands(workspace, "false")
    off = workspace.open(HOST)
    assert list(off.commands()) == []
    assert isinstance(off.run("/skill:deep"), Plain)


@pytest.mark.seed("P-40", "P-41", "P-42", "P-43")
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_command_reads_the_file_at_that_moment_and_injects_its_body(
    workspace: Workspace, ends: str
) -> None:
    file = workspace.skill(f"{ROOT}/deep", body="Before\n")
    skills = workspace.open(HOST)
    assert skills.commands()
    file.write_bytes(
        f"---{ends}name: deep{ends}description: d{ends}---{ends}Think twice.{ends}".encode()
    )
    details = {"name": "deep", "path": str(file)}
    assert plain(skills.run("/skill:deep  a  plan ")) == plain(
        Message(
            parts=(f"Think twice.\n\n---\n\nSkill: {file}\nUser: a  plan",),
            kind="custom",
            skills=("deep",),
            details={**details, "args": "a  plan", "lineCount": "1"},
        )
    ) | {"requests": {"deep": {}}}
    answer = skills.run("/skill:deep")
    assert isinstance(answer, Message)
    assert answer.text == f"Think twice.\n\n---\n\nSkill: {file}"
    assert answer.kind == "custom"


@pytest.mark.seed("P-44", "P-45", "P-46")
def test_the_key_decides_how_the_message_is_delivered(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/deep")
    skills = workspace.open(HOST)
    answers = [
        skills.run("/skill:deep", key=key, streaming=on) for on in (True, False) for key in Key
    ]
    assert [answer.delivery for answer in answers if isinstance(answer, Message)] == [
        Delivery.STEER,
        Delivery.FOLLOW_UP,
        Delivery.PROMPT,
        Delivery.PROMPT,
    ]


@pytest.mark.seed("P-37")
def test_a_hidden_skill_is_reachable_by_its_address_and_its_command(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/quiet", hide="true", body="Hush.\n")
    skills = workspace.open(HOST)
    assert "quiet" not in skills.catalog().text
    assert skills.read("skill://quiet").content.endswith("Hush.\n")
    assert isinstance(skills.run("/skill:quiet"), Message)


@pytest.mark.seed("P-50", "P-51", "P-53", "P-58")
def test_an_address_is_the_skill_itself_or_a_file_of_it(workspace: Workspace) -> None:
    file = workspace.skill(f"{ROOT}/deep")
    workspace.write(f"{ROOT}/deep/notes/a b.md", "# Notes\n")
    workspace.write(f"{ROOT}/deep/data.json", "{}")
    skills = workspace.open(HOST)
    own = skills.read("skill://deep")
    assert (own.content, own.content_type, own.path) == (
        file.read_text(),
        "text/markdown",
        str(file),
    )
    notes = skills.read("skill://deep/notes/a%20b.md")
    assert (notes.content, notes.content_type) == ("# Notes\n", "text/markdown")
    data = skills.read("skill://deep/data.json")
    assert (data.content, data.content_type, data.size) == ("{}", "text/plain", 2)


@pytest.mark.seed("P-52")
def test_the_name_must_match_exactly(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/deep")
    skills = workspace.open(HOST)
    for name in ("Deep", "dee", "deep-", "skill:deep"):
        with pytest.raises(UnknownSkill):
            skills.read(f"skill://{name}")


@pytest.mark.seed("P-53", "P-54", "P-55", "P-56")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/etc/passwd", "absolute"),
        ("%2Fetc%2Fpasswd", "absolute"),
        ("C:\\x", "absolute"),
        ("../other/SKILL.md", "outside"),
        ("%2e%2e/other/SKILL.md", "outside"),
        ("a%2F..%2F..%2Fx", "outside"),
        ("..%5cx", "outside"),
        ("link", "outside"),
    ],
)
def test_a_path_that_leads_out_is_rejected_whatever_its_spelling(
    workspace: Workspace, path: str, kind: str
) -> None:
    workspace.skill(f"{ROOT}/deep")
    workspace.skill(f"{ROOT}/other")
    workspace.link(f"{ROOT}/deep/link", workspace.path(f"{ROOT}/other/SKILL.md"))
    with pytest.raises(AddressError) as caught:
        workspace.open(HOST).read(f"skill://deep/{path}")
    assert caught.value.kind == kind


@pytest.mark.seed("P-57", "P-59")
def test_a_missing_file_is_an_error_that_names_it_and_is_looked_for_nowhere_else(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.skill(f"{ROOT}/deep")
    workspace.write(f"{ROOT}/deep/notes/a.md", "here")
    workspace.write("project/a.md", "there")
    monkeypatch.chdir(workspace.project)
    with pytest.raises(AddressError) as caught:
        workspace.open(HOST).read("skill://deep/a.md")
    assert (caught.value.kind, caught.value.path) == ("missing", "a.md")
    assert workspace.path("") not in str(caught.value)
