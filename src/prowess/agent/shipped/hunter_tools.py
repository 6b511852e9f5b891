"""The tool of `hunter`: a review whose every finding was compared with the file it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prowess.agent.shipped.documents import plan_document
from prowess.agent.tools.plan import FindDenial, Plan
from prowess.errors import UsageError
from prowess.machine.project_files import ProjectFiles
from prowess.runtime import Skills
from prowess.state.own_documents import REVIEWS
from prowess.text.markup import tidy_line

Severity = Literal["high", "medium", "low"]
_ORDER: tuple[Severity, ...] = ("high", "medium", "low")
_MOST_FINDINGS = 100
# Models miscount lines; what they quote must be this near.
_NEAR_LINES = 3


@dataclass(frozen=True)
class Finding:
    """One problem: where it is, the code that shows it, what goes wrong, and how to fix it."""

    file: str
    line: int
    severity: Severity
    problem: str
    quote: str
    fix: str


class HunterTools:
    """The tool of `hunter`."""

    def __init__(self, skills: Skills, find_denial: FindDenial) -> None:
        self._skills = skills
        self._find_denial = find_denial
        root = skills.snapshot.repository or skills.cwd
        self._files = ProjectFiles(root, skills.cwd, home=skills.facts.home)

    def save_review(
        self, title: str, examined: list[str], findings: list[Finding], summary: str
    ) -> Plan:
        """Save a review. A finding whose quote is not at its line is refused.

        Args:
            title: What was reviewed, in a few words.
            examined: The files that were read whole.
            findings: The problems. The quote is the code itself, at most a few lines.
            summary: What the user should know first, in a few sentences.
        """
        if len(findings) > _MOST_FINDINGS:
            raise UsageError(f"A review has at most {_MOST_FINDINGS} findings.")
        # All of them at once, so that the model can correct them in one more call.
        mistakes = list(filter(None, map(self._find_mistake, findings)))
        if mistakes:
            raise UsageError(" ".join(("Nothing was saved.", *mistakes)))
        lines = [summary.strip(), "", "## Findings", "", *_render_findings(findings)]
        lines += ["", "## Examined", "", *(f"- `{tidy_line(one)}`" for one in examined)]
        return plan_document(self._skills, REVIEWS, title, lines)

    def _find_mistake(self, finding: Finding) -> str | None:
        """Why a finding cannot be true; None if its quote is where it says."""
        place = self._files.locate(finding.file)
        if not place.is_inside:
            return f"{finding.file} is outside the project."
        # The answer would say what is in a file that the model may not read.
        denial = self._find_denial(finding.file)
        if denial is not None:
            return f"{finding.file} cannot be quoted, because {denial.rstrip('.')}."
        content = self._files.find_text(place)
        if content is None:
            return f"There is no file {finding.file}."
        # Without white space, which models change when they quote.
        quoted = tidy_line(finding.quote)
        if not quoted:
            return f"{finding.file}:{finding.line} has no quote."
        lines = content.text.splitlines()
        first = max(finding.line - 1 - _NEAR_LINES, 0)
        last = finding.line + finding.quote.strip().count("\n") + _NEAR_LINES
        if quoted in tidy_line("\n".join(lines[first:last])):
            return None
        return f"{finding.file}:{finding.line} does not have “{quoted[:80]}”; read it again."


def _render_findings(findings: list[Finding]) -> list[str]:
    if not findings:
        return ["None."]
    lines: list[str] = []
    for finding in sorted(findings, key=_rank_finding):
        place = f"{tidy_line(finding.file)}:{finding.line}"
        quote = [f"      {line}" for line in finding.quote.strip("\n").splitlines()]
        lines += [
            f"- **{finding.severity}** `{place}`: {tidy_line(finding.problem)}",
            "",
            *quote,
            "",
            f"  Fix: {tidy_line(finding.fix)}",
        ]
    return lines


def _rank_finding(finding: Finding) -> tuple[int, str, int]:
    return _ORDER.index(finding.severity), finding.file, finding.line
