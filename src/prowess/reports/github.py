"""Diagnostics as GitHub workflow commands, which Actions shows beside the lines they are about."""

from __future__ import annotations

from collections.abc import Iterable

from prowess.diagnostics import Diagnostic, Severity
from prowess.text.display import escape_text

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(diagnostics: Iterable[Diagnostic], *, base: str) -> str:
    """One line for each diagnostic; files are relative to `base`, the root of the repository."""
    return "".join(f"{_render(diagnostic, base)}\n" for diagnostic in diagnostics)


def _render(diagnostic: Diagnostic, base: str) -> str:
    properties = []
    if diagnostic.file is not None:
        properties.append(f"file={_escape_property(relative_path(diagnostic.file, base))}")
    if diagnostic.line is not None:
        properties.append(f"line={diagnostic.line}")
    properties.append(f"title={_escape_property(diagnostic.code)}")
    hint = f" {diagnostic.hint}" if diagnostic.hint else ""
    command = f"::{_COMMANDS[diagnostic.severity]} {','.join(properties)}"
    return f"{command}::{_escape(diagnostic.message + hint)}"


def relative_path(file: str, base: str) -> str:
    """A file inside `base` relative to it, with `/` between the parts; any other unchanged."""
    file, base = file.replace("\\", "/"), base.replace("\\", "/").rstrip("/")
    return file.removeprefix(f"{base}/")


def _escape(text: str) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    # Actions decodes no other escapes, so other controls are spelled out.
    return escape_text(text.encode("utf-8", "replace").decode())


def _escape_property(text: str) -> str:
    # These two end a property; in the message after `::` they are harmless.
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
