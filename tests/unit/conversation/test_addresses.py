"""`skill://` addresses in a conversation."""

from __future__ import annotations

import pytest

from prowess.errors import UnknownSkill
from prowess.errors.activation import AddressError, NotPermitted, Unavailable
from tests.unit.conversation.ports import ONCE, Person
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"


def test_an_address_is_the_file_a_file_beside_it_or_a_folder(workspace: Workspace) -> None:
    file = workspace.skill(f"{ROOT}/pdf")
    workspace.write(f"{ROOT}/pdf/docs/a.json", "{}")
    workspace.write(f"{ROOT}/pdf/docs/deep/b.md", "b")
    skills = workspace.open()
    assert skills.read("skill://pdf").content == file.read_text()
    found = skills.read("skill://pdf/docs/a.json")
    assert (found.content, found.content_type, found.path, found.size, found.is_folder) == (
        "{}",
        "application/json",
        workspace.path(f"{ROOT}/pdf/docs/a.json"),
        2,
        False,
    )
    listing = skills.read("skill://pdf/docs")
    assert (listing.content, listing.is_folder) == ("deep/\na.json", True)


def test_lines_can_be_asked_for(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.write(f"{ROOT}/pdf/a.txt", "".join(f"line {number}\n" for number in range(1, 21)))
    content = workspace.open().read("skill://pdf/a.txt:10-11").content
    assert "line 10" in content
    assert "line 11" in content
    assert "line 2\n" not in content


def test_a_name_is_exact_and_the_nearest_is_told(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/weather")
    workspace.skill(f"{ROOT}/weather-keys")
    workspace.write(
        "home/.config/prowess/prowess.toml", '[permissions.skill]\n"weather-keys" = "deny"\n'
    )
    skills = workspace.open()
    for name in ("Weather", "wether", "weather-keys"):
        with pytest.raises(UnknownSkill) as caught:
            skills.read(f"skill://{name}")
        assert (caught.value.known, caught.value.nearest) == (("weather",), ("weather",))


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("skill://pdf//etc/passwd", "absolute"),
        ("skill://pdf/%2e%2e/x", "outside"),
        ("skill://pdf/..%2fx", "outside"),
        ("skill://pdf/..%5Cx", "outside"),
        ("skill://pdf/%252e%252e/x", "missing"),
        ("skill://pdf/..dots.md", "missing"),
        ("skill://pdf/a%00b", "malformed"),
        ("skill://pdf/%zz", "malformed"),
        ("skill://", "no-name"),
        ("file:///etc/passwd", "malformed"),
    ],
)
def test_what_is_refused_says_of_which_kind_it_is(
    workspace: Workspace, url: str, kind: str
) -> None:
    workspace.skill(f"{ROOT}/pdf")
    with pytest.raises(AddressError) as caught:
        workspace.open().read(url)
    assert caught.value.kind == kind
    assert workspace.path("home") not in str(caught.value)


def test_a_dormant_and_a_hidden_skill_can_be_read_and_one_that_cannot_be_says_why(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/waits", paths="'*.py'")
    workspace.skill(f"{ROOT}/hides", hide="true")
    workspace.skill(f"{ROOT}/off", enabled="false")
    skills = workspace.open()
    assert [skills.read(f"skill://{name}").size > 0 for name in ("waits", "hides")] == [True, True]
    with pytest.raises(Unavailable) as caught:
        skills.read("skill://off")
    assert (caught.value.state, caught.value.reason) == (
        "disabled",
        "its header says `enabled: false`",
    )


def test_a_file_is_read_as_it_is_now(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    note = workspace.write(f"{ROOT}/pdf/a.md", "one")
    skills = workspace.open()
    assert skills.read("skill://pdf/a.md").content == "one"
    note.write_text("two")
    assert skills.read("skill://pdf/a.md").content == "two"
    note.unlink()
    with pytest.raises(AddressError) as caught:
        skills.read("skill://pdf/a.md")
    assert (caught.value.kind, caught.value.path) == ("missing", "a.md")


def test_a_model_needs_the_permission_to_load_a_skill_before_it_reads_its_files(
    workspace: Workspace,
) -> None:
    workspace.write(
        "home/.config/prowess/prowess.toml", '[permissions.skill]\n"deploy" = "ask"\n"x" = "deny"\n'
    )
    workspace.skill(f"{ROOT}/deploy")
    workspace.skill(f"{ROOT}/x")
    workspace.write(f"{ROOT}/deploy/notes.md", "notes")
    refused = workspace.open().conversation()
    for url in ("skill://deploy", "skill://deploy/notes.md"):
        with pytest.raises(NotPermitted):
            refused.read(url)
        assert refused.read(url, by="user").size > 0
    with pytest.raises(UnknownSkill):
        refused.read("skill://x")
    person = Person(ONCE)
    allowed = workspace.open().conversation(approver=person)
    assert allowed.read("skill://deploy/notes.md").content == "notes"
    assert [request.patterns for request in person.asked] == [("deploy",)]


def test_what_is_loaded_can_be_read_without_asking_again(workspace: Workspace) -> None:
    workspace.write("home/.config/prowess/prowess.toml", '[permissions.skill]\n"*" = "ask"\n')
    workspace.skill(f"{ROOT}/deploy")
    workspace.write(f"{ROOT}/deploy/notes.md", "notes")
    person = Person(ONCE)
    chat = workspace.open().conversation(approver=person)
    chat.activate("deploy", by="model")
    assert chat.read("skill://deploy/notes.md").content == "notes"
    assert len(person.asked) == 1


def test_a_model_reads_nothing_of_a_skill_that_is_for_the_user_alone(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/deploy", disable_model_invocation="true")
    workspace.write(f"{ROOT}/deploy/notes.md", "notes")
    chat = workspace.open().conversation()
    with pytest.raises(Unavailable):
        chat.read("skill://deploy/notes.md")
    assert chat.read("skill://deploy/notes.md", by="user").content == "notes"
    # The user loaded it, so the model has it and may read on.
    chat.activate("deploy")
    assert chat.read("skill://deploy/notes.md").content == "notes"
