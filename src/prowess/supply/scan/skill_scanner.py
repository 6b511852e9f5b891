"""Cisco's skill-scanner beside the scan, run as a program of its own.

It cannot be a dependency: it needs versions of libraries that exclude those of Prowess. Its static
analyzers ask no server; its other ones are never turned on here.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import msgspec

from prowess.diagnostics import Diagnostic, Severity
from prowess.errors import MachineError
from prowess.model.command import Command
from prowess.ports import Runner
from prowess.supply.scan.skill_scan import ScanResult

PROGRAM = "skill-scanner"
PACKAGE = "cisco-ai-skill-scanner"
PREFIX = "skill-scanner:"
"""What the codes of its findings begin with."""

# It loads its models first, which takes most of this on a slow machine.
_SECONDS = 300.0
_MOST_OUTPUT = 20_000_000
_SEVERITIES = {
    "CRITICAL": Severity.ERROR,
    "HIGH": Severity.ERROR,
    "MEDIUM": Severity.WARNING,
    "LOW": Severity.INFO,
    "INFO": Severity.INFO,
}


class _Finding(msgspec.Struct, frozen=True):
    """A finding as the program writes it, as far as it is used."""

    rule_id: str
    severity: str
    title: str
    description: str = ""
    file_path: str | None = None
    line_number: int | None = None
    remediation: str | None = None


class _ScannerReport(msgspec.Struct, frozen=True):
    findings: tuple[_Finding, ...]


def run_skill_scanner(folder: str, runner: Runner, program: str) -> ScanResult:
    """What the program finds in the folder of a skill. Raises `MachineError` where it fails."""
    argv = (program, "scan", folder, "--format", "json", "--compact")
    command = Command(
        text=f"{PROGRAM} scan {folder}",
        argv=argv,
        separate_errors=True,
        seconds=_SECONDS,
        output_bytes=_MOST_OUTPUT,
    )
    finished = runner.run(command)
    if finished.code is None:
        raise MachineError("run", program, f"it did not end within {_SECONDS:.0f} seconds")
    try:
        return ScanResult(tuple(parse_report(finished.output, folder)))
    except (msgspec.DecodeError, ValueError):
        # It writes no report where it fails, and its last words say why.
        lines = (finished.errors or finished.output).strip().splitlines()
        cause = lines[-1] if lines else f"it ended with {finished.code} and no report"
        raise MachineError("run", program, cause) from None


def parse_report(text: str, folder: str) -> Iterator[Diagnostic]:
    """The findings of a report, with their files inside the folder."""
    report = msgspec.json.decode(text, type=_ScannerReport)
    for finding in report.findings:
        message = finding.title
        if finding.description:
            message = f"{finding.title}: {finding.description}"
        # Findings about the whole skill have no file.
        file = posixpath.join(folder, finding.file_path) if finding.file_path else folder
        # Lines begin with 1; anything else names none.
        number = finding.line_number or 0
        yield Diagnostic(
            code=f"{PREFIX}{finding.rule_id}",
            severity=_SEVERITIES.get(finding.severity.upper(), Severity.WARNING),
            message=message,
            file=file,
            line=number if number > 0 else None,
            hint=finding.remediation,
        )
