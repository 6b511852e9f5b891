"""`/hunter`: a review whose every finding is where it says, written to a file."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.agent.events import ToolFinished
from tests.agent.shipped.test_dream import run, turn_on
from tests.agent.studio import Studio, call, pick, say

CODE = "def tide(day):\n    heights = load(day)\n    return heights[0]\n"


def finding(**changes: Any) -> dict[str, Any]:
    usual = {
        "file": "tide.py",
        "line": 3,
        "severity": "high",
        "problem": "Fails for a day\nwithout heights.",
        "quote": "    return heights[0]",
        "fix": "Return None.",
    }
    return {**usual, **changes}


def review(*findings: dict[str, Any]) -> dict[str, Any]:
    return {
        "agent": "hunter",
        **call(
            "SaveReview",
            title="The tides",
            examined=["tide.py"],
            findings=list(findings),
            summary="One problem.",
        ),
    }


END = {"agent": "hunter", **say("1 high.")}


@pytest.mark.seed("C-117")
def test_findings_are_sorted_and_written_to_a_report(studio: Studio) -> None:
    turn_on(studio, "hunter")
    studio.write("tide.py", CODE)
    minor = finding(line=1, severity="low", problem="No type.", quote="def tide(day):", fix="Add.")
    ended, events = run(studio, "/hunter tide.py", review(minor, finding()), END)
    assert (ended.status, ended.answer) == ("done", "1 high."), ended.reason
    [saved] = [one.output for one in pick(events, ToolFinished)]
    [report] = (studio.workspace.home / ".prowess/reviews").iterdir()
    assert saved == f"Saved in {report}."
    assert report.read_text().splitlines()[4:] == [
        "One problem.",
        "",
        "## Findings",
        "",
        "- **high** `tide.py:3`: Fails for a day without heights.",
        "",
        "          return heights[0]",
        "",
        "  Fix: Return None.",
        "- **low** `tide.py:1`: No type.",
        "",
        "      def tide(day):",
        "",
        "  Fix: Add.",
        "",
        "## Examined",
        "",
        "- `tide.py`",
    ]
    assert studio.read("tide.py") == CODE


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"quote": "return heights[1]"}, "tide.py:3 does not have “return heights[1]”"),
        ({"line": 90}, "tide.py:90 does not have"),
        ({"quote": " "}, "tide.py:3 has no quote."),
        ({"file": "sea.py"}, "There is no file sea.py."),
        ({"file": "../secret.py"}, "../secret.py is outside the project."),
    ],
)
def test_a_finding_that_is_not_in_the_code_is_refused(
    studio: Studio, changes: dict[str, Any], problem: str
) -> None:
    turn_on(studio, "hunter")
    studio.write("tide.py", CODE)
    studio.workspace.write("secret.py", "return heights[0]\n")
    _, events = run(studio, "/hunter", review(finding(**changes)), END)
    [refused] = pick(events, ToolFinished)
    assert refused.outcome == "failed"
    assert refused.output.startswith("Nothing was saved. ")
    assert problem in refused.output
    assert not (studio.workspace.home / ".prowess/reviews").exists()


@pytest.mark.parametrize("quote", ["    return heights[0]", "return wrong"])
def test_a_file_that_the_rules_deny_is_not_quoted(studio: Studio, quote: str) -> None:
    turn_on(studio, "hunter")
    studio.write("tide.py", CODE)
    rules = ("Read(tide.py)",)
    _, events = run(studio, "/hunter", review(finding(quote=quote)), END, deny=rules)
    [refused] = pick(events, ToolFinished)
    assert refused.outcome == "failed"
    # The same answer, whatever is in the file.
    assert "tide.py cannot be quoted, because" in refused.output
    assert "does not have" not in refused.output
    assert not (studio.workspace.home / ".prowess/reviews").exists()
