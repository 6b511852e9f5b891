"""What is wrong with the settings of a session, such as a file whose rules do not apply."""

from __future__ import annotations

from collections.abc import Iterator

from prowess.agent.events import Warned
from prowess.diagnostics import Diagnostic, Severity
from prowess.model.settings import Settings


def list_settings_warnings(*settings: Settings) -> Iterator[Warned]:
    """Every problem in the settings of the host and in Prowess's own, each once.

    The user has to know: a file that is ignored also loses the rules that deny and the hooks.
    """
    found = dict.fromkeys(finding for one in settings for finding in one.diagnostics)
    for finding in found:
        if finding.severity is not Severity.INFO:
            yield Warned(code=finding.code, message=f"{_name_place(finding)}{finding.message}")


def _name_place(finding: Diagnostic) -> str:
    if finding.file is None:
        return ""
    return f"{finding.file}: " if finding.line is None else f"{finding.file}:{finding.line}: "
