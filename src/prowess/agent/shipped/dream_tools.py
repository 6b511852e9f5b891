"""The tool of `dream`: writes what came of thinking about a project, as a plan."""

from __future__ import annotations

from dataclasses import dataclass, field

from prowess.agent.shipped.documents import plan_document
from prowess.agent.tools.plan import Plan
from prowess.errors import UsageError
from prowess.runtime import Skills
from prowess.state.own_documents import PLANS
from prowess.text.markup import tidy_line

_MOST_STEPS = 50


@dataclass(frozen=True)
class PlannedStep:
    """One step of a plan: what to do, in which files, and how to see that it worked."""

    what: str
    check: str
    files: list[str] = field(default_factory=list)


class DreamTools:
    """The tool of `dream`."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def save_plan(
        self, title: str, why: str, steps: list[PlannedStep], questions: list[str] | None = None
    ) -> Plan:
        """Save a plan for the user to read later. Nothing else is changed.

        Args:
            title: What the plan is for, in a few words.
            why: What you found, and why this is worth doing.
            steps: The steps in order, each with its files and a check.
            questions: What only the user can decide.
        """
        if not 1 <= len(steps) <= _MOST_STEPS:
            raise UsageError(f"A plan has 1 to {_MOST_STEPS} steps; this one has {len(steps)}.")
        lines = [why.strip(), "", "## Steps", ""]
        for number, step in enumerate(steps, 1):
            lines += _render_step(number, step)
        if questions:
            lines += ["", "## Questions", "", *(f"- {tidy_line(one)}" for one in questions)]
        return plan_document(self._skills, PLANS, title, lines)


def _render_step(number: int, step: PlannedStep) -> list[str]:
    what = f"{number}. {tidy_line(step.what)}"
    if step.files:
        files = ", ".join(f"`{tidy_line(file)}`" for file in step.files)
        what += f" ({files})"
    return [what, f"   Check: {tidy_line(step.check)}"]
