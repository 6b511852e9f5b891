"""The ledger of a conversation: what was loaded, what survives a compaction, and what is saved."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.activate.code_skills import DefinedSkill
from prowess.activate.ledger import Ledger, LedgerEntry, LedgerRecorder
from prowess.adapters.compaction import render_survivors
from prowess.errors import ProwessError
from prowess.model.activation import SkillRequests
from prowess.present.tokens import estimate_tokens
from tests.unit.conversation.ports import plain
from tests.workspace import Workspace

ROOT = "home/.prowess/skills"


def test_an_entry_says_what_was_loaded_when_by_whom_and_in_which_version(
    workspace: Workspace,
) -> None:
    file = workspace.skill(f"{ROOT}/pdf")
    skills = workspace.open()
    before = time.time()
    made = skills.activate("pdf", "x y", by="model")
    (entry,) = skills.default_conversation.ledger.entries
    assert before <= entry.at <= time.time()
    assert plain(entry) | {"at": 0} == {
        "name": "pdf",
        "at": 0,
        "by": "model",
        "location": str(file),
        "digest": made.digest,
        "tokens": estimate_tokens(made.text),
        "arguments": "x y",
        "text": made.text,
    }


def test_of_an_earlier_activation_only_the_fact_and_its_size_remain(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf", body="Read $ARGUMENTS\n")
    conversation = workspace.open().conversation()
    texts = [conversation.activate("pdf", given).text for given in ("one", "two and three")]
    assert [(entry.text, entry.tokens) for entry in conversation.ledger.entries] == [
        ("", estimate_tokens(texts[0])),
        (texts[1], estimate_tokens(texts[1])),
    ]


def test_what_was_refused_or_repeated_is_not_in_the_ledger(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    conversation = workspace.open().conversation()
    conversation.activate("pdf", by="model")
    conversation.activate("pdf", by="model")
    with pytest.raises(ProwessError):
        conversation.activate("nothing", by="model")
    assert len(conversation.ledger.entries) == 1


def test_a_forgotten_skill_is_given_whole_again(workspace: Workspace) -> None:
    for name in ("a", "b"):
        workspace.skill(f"{ROOT}/{name}")
    conversation = workspace.open().conversation()
    for name in ("a", "b"):
        conversation.activate(name, by="model")
    conversation.forget("a")
    assert [conversation.activate(name, by="model").repeated for name in ("a", "b")] == [
        False,
        True,
    ]
    conversation.forget()
    assert [entry.loaded for entry in conversation.ledger.entries] == [False, False, False]


def test_a_compaction_keeps_the_newest_within_bounds_and_says_where_to_read_on(
    workspace: Workspace,
) -> None:
    names = [f"skill-{number}" for number in range(8)]
    files = [
        workspace.skill(f"{ROOT}/{name}", body="Look at every file. " * 2_000) for name in names
    ]
    conversation = workspace.open().conversation()
    for name in names:
        conversation.activate(name, by="model")
    survival = conversation.compact()
    kept = [survivor.name for survivor in survival.kept]
    assert kept == list(reversed(names))[: len(kept)]
    assert 1 < len(kept) < 8
    assert survival.tokens <= 25_000
    assert all(survivor.tokens <= 5_000 and survivor.cut for survivor in survival.kept)
    assert survival.kept[0].text.endswith(
        f"[The rest of this skill was left out to save space. Read it in {files[7]}.]"
    )
    assert set(survival.dropped) == set(names) - set(kept)
    # A part of a skill is not the skill, and what was dropped is gone.
    assert [conversation.activate(name, by="model").repeated for name in (names[7], names[0])] == [
        False,
        False,
    ]


def test_a_short_skill_survives_whole_and_is_still_there(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    conversation = workspace.open().conversation()
    text = conversation.activate("pdf", by="model").text
    survival = conversation.compact()
    assert [(one.name, one.text, one.cut) for one in survival.kept] == [("pdf", text, False)]
    assert conversation.activate("pdf", by="model").repeated


def test_a_long_skill_in_code_survives_with_a_word_on_how_to_have_all_of_it(
    workspace: Workspace,
) -> None:
    skills = workspace.open()
    skills.define(
        DefinedSkill(name="long", description="d", get_prompt=lambda a, c: "Look at it. " * 4_000)
    )
    conversation = skills.conversation()
    conversation.activate("long", by="model")
    (survivor,) = conversation.compact().kept
    assert survivor.text.endswith("Load it again to read all of it.]")


def test_a_host_that_gives_nothing_back_forgets_everything(workspace: Workspace) -> None:
    workspace.skill("home/.config/opencode/skills/pdf")
    conversation = workspace.open("opencode").conversation()
    conversation.activate("pdf", by="model")
    survival = conversation.compact()
    assert (survival.kept, survival.dropped) == ((), ("pdf",))
    assert not conversation.activate("pdf", by="model").repeated


def test_a_saved_conversation_goes_on_as_it_was(workspace: Workspace) -> None:
    workspace.skill(f"{ROOT}/pdf")
    workspace.skill(f"{ROOT}/py", paths="'*.py'")
    first = workspace.open().conversation()
    first.activate("pdf", "x", by="model")
    first.touched("a.py")
    saved = first.save()
    data = json.loads(saved)
    assert (data["version"], data["awake"], data["folders"]) == (
        1,
        [workspace.path(f"{ROOT}/py/SKILL.md")],
        [],
    )
    second = workspace.open().conversation(saved=saved)
    assert (second.ledger, second.save(), second.diagnostics) == (first.ledger, saved, ())
    assert second.activate("pdf", "x", by="model").repeated
    assert [skill.name for skill in second.snapshot.skills] == ["pdf", "py"]


def test_a_skill_that_changed_while_a_conversation_was_put_away_is_given_again(
    workspace: Workspace,
) -> None:
    file = workspace.skill(f"{ROOT}/pdf", body="One\n")
    first = workspace.open().conversation()
    first.activate("pdf", by="model")
    file.write_text(file.read_text().replace("One", "Two"))
    second = workspace.open().conversation(saved=first.save())
    assert "Two" in second.activate("pdf", by="model").text


def test_what_a_skill_asks_of_its_agent_is_one_value(workspace: Workspace) -> None:
    workspace.write(
        f"{ROOT}/pdf/SKILL.md",
        "---\nname: pdf\ndescription: d\nmodel: opus\neffort: high\ncontext: fork\nbackground: true\nagent: explore\n"
        "allowed-tools: [Read, 'Bash(git *)']\ndisallowed-tools: [Write]\n"
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: [{type: command, command: check, once: true}]\n"
        "---\nBody\n",
    )
    made = workspace.open().activate("pdf")
    assert made.requests == SkillRequests(
        model="opus",
        effort="high",
        fork=True,
        background=True,
        agent="explore",
        allowed_tools=("Read", "Bash(git *)"),
        disallowed_tools=("Write",),
        hooks={
            "PreToolUse": [
                {
                    "matcher": "Bash",
                    "hooks": [{"type": "command", "command": "check", "once": True}],
                }
            ]
        },
    )
    assert made.diagnostics == ()


def test_a_host_that_does_not_heed_a_field_is_asked_for_nothing(workspace: Workspace) -> None:
    workspace.skill("home/.config/opencode/skills/pdf", allowed_tools="Read", model="opus")
    assert workspace.open("opencode").activate("pdf").requests == SkillRequests()


def test_an_activation_leaves_the_entries_before_it_alone_but_for_the_same_skills_text(
    workspace: Workspace,
) -> None:
    for name in ("a", "b"):
        workspace.skill(f"home/.prowess/skills/{name}")
    chat = workspace.open().conversation()
    for name in ("a", "b", "a"):
        chat.activate(name)
    assert [(entry.name, bool(entry.text), entry.tokens > 0) for entry in chat.ledger.entries] == [
        ("a", False, True),
        ("b", True, True),
        ("a", True, True),
    ]
    chat.forget("a")
    assert [entry.name for entry in chat.ledger.loaded] == ["b"]
    chat.activate("a")
    assert [entry.name for entry in chat.ledger.loaded] == ["a", "b"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=5))))
def test_a_recorder_grows_into_the_ledger_that_recording_gives(
    recorded: list[tuple[str, str]],
) -> None:
    recorder, ledger = LedgerRecorder(Ledger(), count=len), Ledger()
    for at, (name, text) in enumerate(recorded):
        entry = LedgerEntry(name=name, at=float(at), by="user", text=text)
        recorder.record(entry)
        ledger = ledger.count(len).record(entry)
    assert recorder.ledger == ledger.count(len)
    assert [recorder.find(name) for name in "abc"] == [
        ledger.count(len).find(name) for name in "abc"
    ]


def test_what_is_cut_has_its_tag_closed_before_the_word_on_where_to_read_on(
    workspace: Workspace,
) -> None:
    workspace.skill("home/.prowess/skills/long", body="Look at it.\n" * 8_000)
    chat = workspace.open().conversation()
    chat.activate("long")
    (survivor,) = chat.compact().kept
    assert "</skill_content>\n\n[The rest of this skill was left out" in survivor.text


def test_a_skill_that_gave_more_than_text_is_not_whole_after_a_compaction(
    workspace: Workspace,
) -> None:
    skills = workspace.open()
    blocks = [{"type": "text", "text": "Look:"}, {"type": "image", "data": "…"}]
    skills.define(
        DefinedSkill(name="map", description="d", get_prompt=lambda arguments, context: blocks)
    )
    chat = skills.conversation()
    tool = chat.tool()
    assert [tool(name="map").repeated for _ in range(2)] == [False, True]
    chat.compact()
    again = tool(name="map")
    assert (again.repeated, again.blocks) == (False, (blocks[1],))


def test_a_skill_that_gave_no_text_does_not_take_older_ones_along(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/tides", body="Read the tables.")
    skills = workspace.open("claude-code")
    blocks = [{"type": "image", "data": "…"}]
    skills.define(
        DefinedSkill(name="map", description="d", get_prompt=lambda arguments, context: blocks)
    )
    chat = skills.conversation()
    tool = chat.tool()
    tool(skill="tides")
    assert tool(skill="map").text == ""
    given_back = render_survivors(chat)
    assert "Read the tables." in given_back
    assert "\n\n\n" not in given_back
    assert [tool(skill=name).repeated for name in ("tides", "map")] == [True, False]
