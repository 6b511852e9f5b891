"""What a scan of several skills found, as a value that every surface shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity
from prowess.reports.json_output import shape_diagnostic
from prowess.reports.sarif import shape_sarif
from prowess.supply.scan.rules import SCAN_CODES
from prowess.supply.scan.skill_scan import ScanResult

_ORDER = {severity: rank for rank, severity in enumerate(Severity)}


def is_at_least(severity: Severity, least: Severity) -> bool:
    """Whether a severity is as high as another one, or higher."""
    return _ORDER[severity] <= _ORDER[least]


class ScanReport(msgspec.Struct, frozen=True):
    """The result of a scan and the least severity to show.

    `skills` is the number of folders and files that were named or found. `base` is the root that
    paths are relative to where CI shows them. `notes` are about the scan itself.
    """

    result: ScanResult
    skills: int
    least: Severity
    cwd: str
    base: str
    notes: tuple[Diagnostic, ...] = ()

    @property
    def shown(self) -> tuple[Diagnostic, ...]:
        """The findings that are as severe as asked for, after the notes."""
        # Notes are about the scan itself, such as a scanner that is missing, and are never
        # filtered.
        findings = self.result.findings
        severe = [one for one in findings if is_at_least(one.severity, self.least)]
        return (*self.notes, *severe)

    def ignore(self, codes: Collection[str]) -> ScanReport:
        """The report without the findings of these codes."""
        kept = tuple(finding for finding in self.result.findings if finding.code not in codes)
        result = msgspec.structs.replace(self.result, findings=kept)
        return msgspec.structs.replace(self, result=result)

    def counts(self) -> Counter[Severity]:
        """How many findings there are of each severity, shown or not."""
        return Counter(one.severity for one in (*self.notes, *self.result.findings))

    def fails(self, least: Severity) -> bool:
        """Whether there is a finding of this severity or a higher one."""
        return any(is_at_least(severity, least) for severity in self.counts())

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        counts = self.counts()
        suppressed = [
            {**shape_diagnostic(one.finding), "reason": one.reason}
            for one in self.result.suppressed
        ]
        return {
            "counts": {severity.value: counts[severity] for severity in Severity},
            "skills": self.skills,
            "files": self.result.files,
            "findings": [shape_diagnostic(one) for one in self.shown],
            "suppressed": suppressed,
        }

    def shape_sarif(self) -> dict[str, Any]:
        """As a SARIF log; findings that comments explain are in it with their reasons."""
        suppressed = [(explained.finding, explained.reason) for explained in self.result.suppressed]
        return shape_sarif(self.shown, base=self.base, codes=SCAN_CODES, suppressed=suppressed)
