"""`/simplify`: the current diff is reviewed, and what passes the tests is kept."""

from __future__ import annotations

import subprocess

import pytest

from prowess.agent import Session
from prowess.agent.events import Event, ToolFinished
from prowess.gate.permissions import parse_given
from prowess.runtime import Skills
from prowess.supply.bundled import BundledSource
from prowess.text.permission_rules import AGENT_TOOLS
from tests.agent.studio import Studio, call, pick, say

BEFORE = "def tide(heights):\n    return max(heights)\n"
CHANGED = "def tide(heights):\n    best = max(heights)\n    result = best\n    return result\n"
TEST = "python3 -c 'import tide; assert tide.tide([1, 2]) == 2'"


@pytest.mark.seed("C-113")
@pytest.mark.needs("git", "python3")
def test_a_diff_is_reviewed_and_made_simpler_while_the_tests_pass(studio: Studio) -> None:
    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(
            ["git", *identity, *arguments], cwd=studio.project, check=True, capture_output=True
        )

    git("init", "-q")
    studio.write("tide.py", BEFORE)
    git("add", "tide.py")
    git("commit", "-qm", "Tides")
    studio.write("tide.py", CHANGED)
    script = studio.script(
        # The skill says to review the diff, to run the tests first, and to undo what fails.
        {
            **call("Bash", command="git diff HEAD"),
            "expect": ["git diff HEAD", "Run the tests once before", "undo exactly that one"],
        },
        call("Bash", command=TEST),
        call(
            "Edit",
            file_path="tide.py",
            old_string="    best = max(heights)\n    result = best\n    return result\n",
            new_string="    return max(heights)\n",
        ),
        call("Bash", command=TEST),
        say("Two lines fewer."),
    )
    skills = Skills(
        studio.project,
        facts=studio.facts,
        cache=False,
        sources=(BundledSource(),),
        rules=parse_given(allow=["Bash", "Edit"], tools=AGENT_TOOLS),
    )
    events: list[Event] = []
    with Session(skills, model=script) as session:
        ended = session.run("/simplify tide.py", on_event=events.append)
    assert (ended.status, ended.answer) == ("done", "Two lines fewer."), ended.reason
    finished = pick(events, ToolFinished)
    assert "+    result = best" in finished[0].output
    assert [one.outcome for one in finished] == ["done"] * 4
    assert studio.read("tide.py") == BEFORE
