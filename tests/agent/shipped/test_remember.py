"""`/remember`: memories sorted into keep, delete and promote, with a backup of all that changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess.agent.shipped.memory_tools import MemoryTools
from prowess.agent.shipped.remember import HEADING, SortedMemory, add_memory, plan_memories
from prowess.agent.tools.plan import Plan
from prowess.errors import UsageError
from prowess.state.memories import Memory
from tests.agent.studio import Studio


def memory(studio: Studio, path: str, text: str) -> str:
    return str(studio.workspace.write(f"home/{path}", text))


@pytest.fixture
def tools(studio: Studio) -> MemoryTools:
    return MemoryTools(studio.skills())


def carry_out(plan: Plan) -> str:
    assert plan.run is not None
    return str(plan.run(lambda: False))


@pytest.mark.seed("C-112", "C-130")
def test_the_memories_of_prowess_and_of_claude_code_are_listed(studio, tools):
    first = memory(studio, ".prowess/memories/a.md", "Tests run with make.\n")
    second = memory(studio, ".claude/memories/b.md", "Ada likes short answers.\n")
    memory(studio, ".claude/memories/notes.txt", "not a memory")
    listed = carry_out(tools.list_memories())
    assert listed == f"{first}\nTests run with make.\n\n{second}\nAda likes short answers."


def test_without_memories_the_model_is_told_where_they_would_be(tools):
    said = carry_out(tools.list_memories())
    assert said == "There are no memories in ~/.prowess/memories or ~/.claude/memories."


@pytest.mark.seed("C-131", "C-132", "C-133")
def test_each_memory_is_kept_deleted_or_promoted_and_duplicates_go_last(studio, tools):
    keep = memory(studio, ".claude/memories/keep.md", "Maybe.\n")
    old = memory(studio, ".claude/memories/old.md", "We use Python 2.\n")
    claude = memory(studio, ".claude/memories/claude.md", "Use the plan mode.\n")
    personal = memory(studio, ".claude/memories/me.md", "Ada likes short answers.\n")
    twin = memory(studio, ".claude/memories/twin.md", "maybe.\n\n")
    shared = memory(studio, ".prowess/memories/make.md", "Tests run with make.\n")
    studio.write("CLAUDE.md", "# Rules\n")
    plan = tools.sort_memories(
        [
            SortedMemory(keep, "keep"),
            SortedMemory(old, "delete", "out of date"),
            SortedMemory(claude, "promote", kind="claude"),
            SortedMemory(personal, "promote", kind="personal"),
            SortedMemory(twin, "keep"),
            SortedMemory(shared, "promote", kind="project"),
        ]
    )
    assert "+- Tests run with make." in plan.diff
    assert plan.default.value == "ask"
    said = carry_out(plan)
    assert studio.read("AGENTS.md") == f"{HEADING}\n\n- Tests run with make.\n"
    assert studio.read("CLAUDE.md") == f"# Rules\n\n{HEADING}\n\n- Use the plan mode.\n"
    assert studio.read("CLAUDE.local.md") == f"{HEADING}\n\n- Ada likes short answers.\n"
    left = sorted(path.name for path in (studio.workspace.home / ".claude/memories").iterdir())
    assert left == ["keep.md"]
    backups = Path(said.rpartition(" is in ")[2].rstrip("."))
    kept = {path.name.partition("-")[2]: path.read_text() for path in backups.iterdir()}
    # The duplicate is the last of all.
    assert max(path.name for path in backups.iterdir()).endswith("twin.md")
    assert kept == {
        "CLAUDE.md": "# Rules\n",
        "make.md": "Tests run with make.\n",
        "claude.md": "Use the plan mode.\n",
        "me.md": "Ada likes short answers.\n",
        "old.md": "We use Python 2.\n",
        "twin.md": "maybe.\n\n",
    }
    assert all(path.stat().st_mode & 0o077 == 0 for path in backups.iterdir())


def test_a_file_that_changed_after_the_plan_stops_everything(studio, tools):
    old = memory(studio, ".claude/memories/old.md", "We use Python 2.\n")
    plan = tools.sort_memories([SortedMemory(old, "delete")])
    Path(old).write_text("We use Python 3.\n")
    with pytest.raises(UsageError, match="has changed since; nothing was written"):
        carry_out(plan)
    assert Path(old).read_text() == "We use Python 3.\n"


@pytest.mark.parametrize(
    ("decisions", "problem"),
    [
        ([], "Not sorted yet: /m/a.md."),
        ([SortedMemory("/m/b.md", "keep")], "There is no memory /m/b.md."),
        ([SortedMemory("/m/a.md", "keep")] * 2, "/m/a.md was sorted twice."),
        (
            [SortedMemory("/m/a.md", "promote")],
            "/m/a.md cannot be promoted without a kind: one of project, claude, personal.",
        ),
    ],
)
def test_what_is_missing_or_unknown_is_refused(decisions, problem):
    with pytest.raises(UsageError) as raised:
        plan_memories([Memory("/m/a.md", "x")], decisions, project="/p", targets={})
    assert str(raised.value) == problem


def test_a_link_is_no_memory(studio, tools):
    secret = studio.workspace.write("home/secret.md", "secret")
    folder = studio.workspace.home / ".claude/memories"
    folder.mkdir(parents=True)
    (folder / "link.md").symlink_to(secret)
    assert "There are no memories" in carry_out(tools.list_memories())


@given(st.text(max_size=80), st.text(max_size=40))
def test_a_memory_is_added_once_and_nothing_else_is_lost(text, said):
    added = add_memory(text, said)
    assert add_memory(added, said) == added
    lines = iter([line.rstrip() for line in added.splitlines()])
    before = [line.rstrip() for line in text.splitlines() if line.strip()]
    assert all(line in lines for line in before), "every line is there, in the same order"
