"""The tool that tries a new skill: found, checked and loaded as for a model."""

from __future__ import annotations

from prowess.agent.shipped.changes import plan_reading
from prowess.agent.tools.plan import IsCancelled, Plan
from prowess.errors import UsageError
from prowess.model.outcome import State
from prowess.present.tokens import estimate_tokens
from prowess.reports.lint_report import check_file
from prowess.reports.skill_paths import Target
from prowess.runtime import Skills


class SkillTrial:
    """The tool that tries a skill."""

    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def try_skill(self, name: str, arguments: str = "") -> Plan:
        """Find a skill as a new session would, check it strictly, and show what a model gets.

        Args:
            name: The name of the skill.
            arguments: What a user would type after the name.
        """

        def run(is_cancelled: IsCancelled) -> str:
            return "\n\n".join(self._try(name, arguments))

        return plan_reading(f"Try skill {name}", run)

    def _try(self, name: str, arguments: str) -> list[str]:
        # The model may have written it in this very turn.
        self._skills.reload()
        skill = self._skills.get(name)
        outcome = self._skills.snapshot.find(name)
        if outcome is None or outcome.state is not State.READY:
            reason = "" if outcome is None else f": {outcome.reason or outcome.state.value}"
            raise UsageError(f"{skill.location} exists, but is not offered to a model{reason}.")
        checked = check_file(Target(skill.location, skill.folder), self._skills.project.files)
        findings = [f"- {one.severity.value}: {one.message}" for one in checked.diagnostics]
        # A conversation of its own: in this one the skill stays unloaded.
        activation = self._skills.conversation().activate(name, arguments, by="model")
        return [
            f"Found in {skill.location}.",
            "\n".join(("The strict check says:", *findings)) if findings else "No findings.",
            f"A model always sees this in its list: {skill.name}: {skill.description}",
            f"When it uses the skill, it gets about {estimate_tokens(activation.text):,} tokens:",
            activation.text,
        ]
