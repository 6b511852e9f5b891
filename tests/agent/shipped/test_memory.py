"""The tool that saves memories: there with `features.memory`, and it asks as a write does."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.agent.events import Event, ToolFinished, TurnEnded
from prowess.agent.shipped.memory_tools import MemoryTools
from prowess.errors import UsageError
from prowess.state.memories import load_memories
from tests.agent.studio import Asked, Studio, call, pick, say

SAVE = call("SaveMemory", title="Tests: how?", text="Tests run with make.")
ALLOWED = {"allow": ["Edit(~/.prowess/memories/*)"]}


@pytest.fixture
def remembering(studio: Studio) -> Studio:
    studio.workspace.write("home/.config/prowess/prowess.toml", "[features]\nmemory = true\n")
    return studio


def save(studio: Studio, **options: Any) -> tuple[TurnEnded, list[Event]]:
    return studio.run(SAVE, say("Done."), **options)


def list_saved(studio: Studio) -> list[tuple[str, str]]:
    home = str(studio.workspace.home)
    return [(one.path.removeprefix(home), one.text) for one in load_memories(studio.facts)]


@pytest.mark.seed("C-112")
def test_a_model_saves_a_memory_that_remember_then_finds(remembering: Studio) -> None:
    asked = Asked()
    ended, _ = save(remembering, approver=asked)
    assert ended.status == "done", ended.reason
    assert "+Tests run with make." in str(asked.requests[0].metadata["diff"])
    assert list_saved(remembering) == [
        ("/.prowess/memories/tests-how.md", "Tests run with make.\n")
    ]


def test_the_tool_is_not_there_without_the_feature(studio: Studio) -> None:
    _, events = save(studio, approver=Asked())
    [finished] = pick(events, ToolFinished)
    assert finished.output.startswith("Unknown tool name: 'SaveMemory'")
    assert list_saved(studio) == []


@pytest.mark.parametrize(
    ("rules", "status", "count"),
    [
        ({}, "refused", 0),
        ({"allow": ["Edit"]}, "refused", 0),
        ({"allow": ["Edit(*)"]}, "refused", 0),
        (ALLOWED, "done", 1),
        ({**ALLOWED, "deny": ["Edit"]}, "done", 0),
    ],
)
def test_with_nobody_to_ask_only_a_rule_for_the_folder_lets_it_write(
    remembering: Studio, rules: dict[str, list[str]], status: str, count: int
) -> None:
    ended, events = save(remembering, rules=rules)
    assert (ended.status, len(list_saved(remembering))) == (status, count), events


def test_a_read_only_session_saves_nothing(remembering: Studio) -> None:
    save(remembering, rules=ALLOWED, read_only=True)
    assert list_saved(remembering) == []


def test_a_memory_is_saved_once_and_titles_never_replace_files(studio: Studio) -> None:
    tools = MemoryTools(studio.skills())

    def carry_out(title: str, text: str) -> None:
        plan = tools.save_memory(title, text)
        assert plan.run is not None
        plan.run(lambda: False)

    carry_out("../../evil", "One.")
    carry_out("evil", "Two.")
    carry_out("…", "Three.")
    assert [path for path, _ in list_saved(studio)] == [
        "/.prowess/memories/evil-2.md",
        "/.prowess/memories/evil.md",
        "/.prowess/memories/memory.md",
    ]
    for title, text in (("new", "  one. "), ("new", ""), ("new", "x" * 2_001)):
        with pytest.raises(UsageError):
            tools.save_memory(title, text)
