"""The context files (AGENTS.md and similar) that apply in a folder."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.discover.context import ContextFile, ContextFiles
from prowess.present.tokens import estimate_tokens
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.runtime import Skills
from prowess.text.display import shorten_path


class ContextReport(msgspec.Struct, frozen=True, kw_only=True):
    """The context files of a folder, farthest first; `names` are the file names searched for."""

    host: str
    edition: str
    cwd: str
    names: tuple[str, ...]
    found: ContextFiles

    @property
    def estimated_tokens(self) -> int:
        """The tokens of all files together."""
        return estimate_tokens(self.found.text)

    def shape(self) -> dict[str, Any]:
        """The context files as JSON, without their text."""
        return {
            **shape_scan(self),
            "files": [_shape_file(file) for file in self.found.files],
            "diagnostics": [shape_diagnostic(finding) for finding in self.found.diagnostics],
        }


def load_context(skills: Skills) -> ContextReport:
    """Find and read the context files."""
    profile = skills.profile
    return ContextReport(
        host=profile.name,
        edition=profile.edition,
        cwd=skills.cwd,
        names=tuple(profile.context.files),
        found=skills.context_files(),
    )


def render_none(report: ContextReport, *, home: str) -> str:
    """A sentence for a folder without context files: which were searched for, and where."""
    searched = [shorten_path(folder, home=home) for folder in report.found.looked_in]
    if not searched:
        folder = shorten_path(report.cwd, home=home)
        return (
            f"No context file applies here: {folder} is in a hidden folder, which is not searched."
        )
    names = " or ".join(report.names)
    above = f" or above it, up to {searched[-1]}" if len(searched) > 1 else ""
    # Between a hidden working folder and the first folder that counts, none is searched.
    is_complete = report.cwd in report.found.looked_in
    skipped = "" if is_complete else " Hidden folders are not searched."
    return f"No context file applies here: there is no {names} in {searched[0]}{above}.{skipped}"


def _shape_file(file: ContextFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "depth": file.depth,
        "characters": len(file.text),
        "estimated_tokens": estimate_tokens(file.text),
    }
