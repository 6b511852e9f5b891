"""Everything a scan found to report: its diagnostics, and the skills that cannot be used here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import ProwessError
from prowess.model.snapshot import Snapshot
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.reports.outcomes_by_name import OpenHost
from prowess.reports.requirements import RequirementsReport, report_ineligible
from prowess.runtime import Skills

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


class CheckReport(msgspec.Struct, frozen=True):
    """The diagnostics of at least a severity, how many there are of each, and ineligible skills."""

    snapshot: Snapshot
    diagnostics: tuple[Diagnostic, ...]
    counts: Counter[Severity]
    ineligible: tuple[RequirementsReport, ...]

    @property
    def left_out(self) -> int:
        """How many diagnostics are less severe than asked for."""
        return self.counts.total() - len(self.diagnostics)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            **shape_scan(self.snapshot),
            "counts": {severity.value: self.counts[severity] for severity in Severity},
            "diagnostics": [shape_diagnostic(one) for one in self.diagnostics],
            "ineligible": [_shape_ineligible(one) for one in self.ineligible],
        }


def check_skills(skills: Skills, severity: Severity = Severity.INFO) -> CheckReport:
    """Check every skill of a scan; the diagnostics of at least `severity`, file by file."""
    found = sort_diagnostics(skills.snapshot.all_diagnostics())
    counts = Counter(one.severity for one in found)
    shown = _keep_severe(found, severity)
    return CheckReport(skills.snapshot, shown, counts, report_ineligible(skills))


def _keep_severe(diagnostics: Iterable[Diagnostic], least: Severity) -> tuple[Diagnostic, ...]:
    return tuple(one for one in diagnostics if _RANK[one.severity] <= _RANK[least])


class HostsReport(msgspec.Struct, frozen=True):
    """The diagnostics of several hosts, each with those it concerns, and how many there are.

    `silent` are hosts that could not be asked, each with the reason.
    """

    cwd: str
    hosts: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    counts: Counter[Severity]
    silent: tuple[tuple[str, str], ...] = ()

    @property
    def left_out(self) -> int:
        """How many diagnostics are less severe than asked for."""
        return self.counts.total() - len(self.diagnostics)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        problems = dict(self.silent)
        return {
            "cwd": self.cwd,
            "hosts": [_shape_host(host, problems.get(host)) for host in self.hosts],
            "counts": {severity.value: self.counts[severity] for severity in Severity},
            "diagnostics": [shape_diagnostic(one) for one in self.diagnostics],
        }


def _shape_host(host: str, problem: str | None) -> dict[str, str]:
    return {"name": host} if not problem else {"name": host, "problem": problem}


def check_hosts(
    hosts: Sequence[str], open_host: OpenHost, *, cwd: str, severity: Severity = Severity.INFO
) -> HostsReport:
    """Check the skills here as each host sees them; every problem once, with its hosts."""
    by_problem: dict[Diagnostic, list[str]] = {}
    silent: list[tuple[str, str]] = []
    for host in hosts:
        try:
            snapshot = open_host(host).snapshot
        except ProwessError as error:
            # A host whose settings are wrong has no answer, but the others do.
            silent.append((host, str(error)))
            continue
        for finding in dict.fromkeys(snapshot.all_diagnostics()):
            by_problem.setdefault(finding, []).append(host)
    found = sort_diagnostics(
        msgspec.structs.replace(finding, hosts=tuple(concerned))
        for finding, concerned in by_problem.items()
    )
    counts = Counter(one.severity for one in found)
    return HostsReport(cwd, tuple(hosts), _keep_severe(found, severity), counts, tuple(silent))


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics file by file, the most severe first within a file."""

    def rank(one: Diagnostic) -> tuple[str, int, int, str]:
        return one.file or "", _RANK[one.severity], one.line or 0, one.code

    return sorted(diagnostics, key=rank)


def _shape_ineligible(report: RequirementsReport) -> dict[str, Any]:
    return {
        "name": report.outcome.name,
        "location": report.outcome.candidate.location,
        "reason": report.outcome.reason,
        "missing": [msgspec.to_builtins(one) for one in report.missing],
    }
