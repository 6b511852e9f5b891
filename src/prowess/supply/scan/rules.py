"""The table of all rules, and the codes of findings that no rule makes."""

from __future__ import annotations

from collections.abc import Mapping

from prowess.diagnostics import Code, Severity
from prowess.supply.scan import (
    blobs,
    commands,
    credentials,
    exfiltration,
    hidden_text,
    installs,
    instructions,
    names,
)
from prowess.supply.scan.rule import ScanRule

RULES: tuple[ScanRule, ...] = (
    *hidden_text.RULES,
    *instructions.RULES,
    *commands.RULES,
    *blobs.RULES,
    *credentials.RULES,
    *exfiltration.RULES,
    *installs.RULES,
    *names.RULES,
)

_OTHER_CODES: Mapping[str, Code] = {
    "file-not-scanned": Code(
        Severity.INFO,
        "A file was not read, so nothing is known about it.",
        "Look at the file yourself, or remove it from the skill.",
    ),
    "suppression-without-reason": Code(
        Severity.WARNING,
        "A comment suppresses findings and does not say why.",
        "Write `prowess: ignore CODE -- REASON`.",
    ),
    "suppression-unknown": Code(
        Severity.WARNING,
        "A comment suppresses an unknown code.",
        "Correct the code.",
    ),
}

SCAN_CODES: Mapping[str, Code] = {
    # Reports, SARIF and the reference page show what a code means without knowing the rule.
    **{rule.code: Code(rule.severity, rule.summary, rule.hint) for rule in RULES},
    **_OTHER_CODES,
}
"""What every code of the scan means."""
