"""Findings as the workflow commands that GitHub Actions shows beside the lines they belong to."""

from __future__ import annotations

from collections.abc import Iterable

from prowess.diagnostics import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(diagnostics: Iterable[Diagnostic], *, base: str) -> str:
    """One line for each finding; files are named relative to `base`, the repository's root."""
    return "".join(f"{_render(diagnostic, base)}\n" for diagnostic in diagnostics)


def _render(diagnostic: Diagnostic, base: str) -> str:
    properties = {
        "file": None if diagnostic.file is None else relative_path(diagnostic.file, base),
        "line": None if diagnostic.line is None else str(diagnostic.line),
        "title": diagnostic.code,
    }
    given = ",".join(
        f"{key}={_escape_property(value)}" for key, value in properties.items() if value is not None
    )
    hint = f" {diagnostic.hint}" if diagnostic.hint else ""
    return f"::{_COMMANDS[diagnostic.severity]} {given}::{_escape(diagnostic.message + hint)}"


def relative_path(file: str, base: str) -> str:
    """A file below `base` by its path from there, with `/` between the parts; any other as it is."""
    file, base = file.replace("\\", "/"), base.replace("\\", "/").rstrip("/")
    return file.removeprefix(f"{base}/")


def _escape(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.encode("utf-8", "replace").decode()


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
