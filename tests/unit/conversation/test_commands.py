"""What a user types in a conversation: every form of a command, notices, messages, and how they are
delivered.
"""

from __future__ import annotations

import pytest

from prowess.activate.slash.messages import Delivery, Key, Message
from prowess.activate.slash.parser import Notice, Plain
from prowess.errors.activation import CommandFailed
from prowess.model.command import Finished
from prowess.runtime import Skills
from tests.unit.conversation.ports import Recorder
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"


def message(skills: Skills, text: str) -> Message:
    answer = skills.run(text)
    assert isinstance(answer, Message), answer
    return answer


@pytest.mark.parametrize(
    "text",
    [
        "/pdf a b",
        "  /pdf a b",
        "/skill pdf a b",
        "/skill:pdf a b",
        "/PDF a b",
        "/reader a b",
        "a /skill:pdf b",
    ],
)
def test_every_form_starts_the_skill_with_the_same_arguments(
    workspace: Workspace, text: str
) -> None:
    workspace.skill(f"{ROOT}/pdf", aliases="[reader]", body="Read $ARGUMENTS.\n")
    assert message(workspace.open(), text).text.endswith("\n\nRead a b.\n")


def test_a_mention_takes_the_skill_along_with_the_text(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.skill(f"{ROOT}/doc")
    skills = workspace.open()
    assert message(skills, "use $pdf and $doc, then $pdf").skills == ("pdf", "doc")
    for text in ("costs $5", "in $PDF", r"not \$pdf", "$unknown"):
        assert skills.run(text) == Plain(text=text)


@pytest.mark.parametrize("name", ["天气", "größe", "a.b", "weather-2"])
def test_a_command_is_called_as_its_author_wrote_it(workspace: Workspace, name: str) -> None:
    workspace.skill(f"{ROOT}/x", name=name, body="Body\n")
    assert message(workspace.open(), f"/{name} x").skills == (name,)


def test_a_nested_command_is_called_by_its_folders(workspace: Workspace) -> None:
    workspace.write(
        "project/.claude/commands/db/migrate.md", "---\ndescription: d\n---\nMigrate $0.\n"
    )
    workspace.git()
    made = message(workspace.open(), "/db:migrate up")
    assert (made.skills, made.text) == (("db:migrate",), "Migrate up.\n")


def test_an_unknown_command_is_plain_text_with_the_nearest_names(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/weather")
    skills = workspace.open()
    assert skills.run("/wether x") == Plain(text="/wether x", name="wether", nearest=("weather",))
    assert skills.run("/usr/bin/env") == Plain(text="/usr/bin/env", name="usr/bin/env")
    assert skills.run("hello") == Plain(text="hello")


def test_a_skill_for_the_model_alone_gives_a_notice(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", user_invocable="false")
    skills = workspace.open()
    answer = skills.run("/pdf x")
    assert isinstance(answer, Notice)
    assert (answer.kind, answer.name) == ("not-invocable", "pdf")
    assert skills.default_conversation.ledger.entries == ()
    assert skills.activate("pdf", by="model").name == "pdf"


def test_a_skill_that_cannot_be_typed_says_why(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/mac", os="[darwin]")
    workspace.skill(f"{ROOT}/off", enabled="false")
    workspace.skill(f"{ROOT}/denied")
    workspace.write("home/.config/prowess/prowess.toml", '[permissions.skill]\ndenied = "deny"\n')
    skills = workspace.open()
    kinds = {}
    for name in ("mac", "off", "denied"):
        answer = skills.run(f"/{name}")
        assert isinstance(answer, Notice)
        kinds[name] = answer.kind
    assert kinds == {"mac": "ineligible", "off": "disabled", "denied": "denied"}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_file_is_read_at_that_moment_and_its_header_is_stripped(
    workspace: Workspace, ends: str
) -> None:
    file = workspace.skill(f"{ROOT}/pdf", body="Before\n")
    skills = workspace.open()
    assert message(skills, "/pdf").text.endswith("\n\nBefore\n")
    file.write_bytes(f"---{ends}name: pdf{ends}description: d{ends}---{ends}After{ends}".encode())
    made = message(skills, "/pdf")
    assert made.text.splitlines()[-1] == "After"
    assert "description" not in made.text


def test_commands_that_are_switched_off_are_plain_text(workspace: Workspace) -> None:
    workspace.skill("home/.omp/agent/skills/pdf")
    workspace.write("home/.omp/agent/config.yml", "skills:\n  enableSkillCommands: false\n")
    skills = workspace.open("omp")
    assert list(skills.commands()) == []
    assert isinstance(skills.run("/skill:pdf"), Plain)
    assert skills.activate("pdf").name == "pdf"


def test_the_agents_own_commands_go_before_and_skills_stay_within_reach(
    workspace: Workspace,
) -> None:
    workspace.skill(f"{ROOT}/help")
    conversation = workspace.open().conversation(taken=["help"])
    assert isinstance(conversation.run("/help me"), Plain)
    answer = conversation.run("/skill:help me")
    assert isinstance(answer, Message)


def test_the_key_and_the_work_of_the_model_decide_the_delivery(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    skills = workspace.open()
    found = {}
    for streaming in (False, True):
        for key in Key:
            answer = skills.run("/pdf", key=key, streaming=streaming)
            assert isinstance(answer, Message)
            found[key, streaming] = answer.delivery
    assert found == {
        (Key.SEND, False): Delivery.PROMPT,
        (Key.FOLLOW_UP, False): Delivery.PROMPT,
        (Key.SEND, True): Delivery.STEER,
        (Key.FOLLOW_UP, True): Delivery.FOLLOW_UP,
    }


def test_completion_goes_over_names_and_descriptions(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", description="Reads documents", argument_hint="'[file]'")
    workspace.skill(f"{ROOT}/ocr", description="Makes text of pdf pictures")
    workspace.skill(f"{ROOT}/secret", user_invocable="false")
    conversation = workspace.open().conversation()
    assert [found.command.name for found in conversation.complete("/pd")] == ["pdf", "ocr"]
    assert conversation.complete("/pd")[0].command.argument_hint == "[file]"
    assert [found.command.name for found in conversation.complete("/s")] == [
        found.command.name
        for found in conversation.complete("/s")
        if found.command.name != "secret"
    ]


def test_commands_follow_what_wakes_in_the_conversation(workspace: Workspace) -> None:
    workspace.skill("home/.claude/skills/py", paths="'*.py'")
    skills = workspace.open("claude-code")
    conversation = skills.conversation()
    answer = conversation.run("/py")
    assert isinstance(answer, Notice)
    assert answer.kind == "dormant"
    conversation.touched("a.py")
    assert isinstance(conversation.run("/py"), Message)
    assert isinstance(skills.conversation().run("/py"), Notice)


@pytest.mark.parametrize(
    ("host", "root", "shape"),
    [
        (
            "opencode",
            "home/.config/opencode/skills",
            "Do x.\n\n\nBase folder of this skill: {folder}\n",
        ),
        ("claude-code", "home/.claude/skills", "Base folder of this skill: {folder}\n\nDo x.\n"),
        ("openclaw", "home/.openclaw/skills", "- pdf\n\nUser request:\n/pdf x"),
        ("prowess", "home/.prowess/skills", "Base folder of this skill: {folder}\n\nDo x.\n"),
    ],
)
def test_the_message_has_the_shape_of_the_host(
    workspace: Workspace, host: str, root: str, shape: str
) -> None:
    workspace.skill(f"{root}/pdf", body="Do $ARGUMENTS.\n")
    assert (
        shape.format(folder=workspace.path(f"{root}/pdf"))
        in message(workspace.open(host), "/pdf x").text
    )


def test_what_a_typed_skill_asks_for_goes_with_its_message(workspace: Workspace) -> None:
    workspace.skill(
        f"{ROOT}/pdf",
        allowed_tools="Read",
        model="opus",
        effort="high",
        context="fork",
        agent="explore",
    )
    made = message(workspace.open(), "/pdf").requests["pdf"]
    assert (
        made.allowed_tools,
        made.model,
        made.effort,
        made.fork,
        made.agent,
        made.background,
    ) == (
        ("Read",),
        "opus",
        "high",
        True,
        "explore",
        False,
    )


def test_a_command_in_the_body_that_fails_aborts_the_typed_command(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/log", body="!`false`\n")
    runner = Recorder(lambda command: Finished(code=1, output="it broke"))
    conversation = workspace.open().conversation(runner=runner)
    with pytest.raises(CommandFailed) as caught:
        conversation.run("/log")
    assert (caught.value.command, caught.value.code, caught.value.tail) == ("false", 1, "it broke")
    assert conversation.ledger.entries == ()


def test_a_typed_skill_is_in_the_ledger_and_counts_as_used(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.skill("home/.openclaw/skills/pdf")
    skills = workspace.open(usage=True)
    skills.run("/pdf x")
    (entry,) = skills.default_conversation.ledger.entries
    assert (entry.name, entry.by, entry.arguments) == ("pdf", "user", "x")
    assert skills.activate("pdf", "x", by="model").repeated
    openclaw = workspace.open("openclaw", usage=True)
    openclaw.run("/pdf x")
    assert openclaw.default_conversation.ledger.entries == ()
    counts = {
        key: (used.by_user, used.by_model) for key, used in skills.usage().load_counts().items()
    }
    assert counts == {
        ("pdf", workspace.path(f"{ROOT}/pdf/SKILL.md")): (1, 0),
        ("pdf", workspace.path("home/.openclaw/skills/pdf/SKILL.md")): (1, 0),
    }
