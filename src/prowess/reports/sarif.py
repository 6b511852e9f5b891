"""Diagnostics as SARIF 2.1.0, the format that code scanners exchange."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from prowess import __version__
from prowess.diagnostics import CODES, Code, Diagnostic, Severity
from prowess.reports.github import relative_path
from prowess.text.display import escape_text

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_BASE = "ROOT"


def shape_sarif(
    diagnostics: Sequence[Diagnostic],
    *,
    base: str,
    codes: Mapping[str, Code] = CODES,
    suppressed: Sequence[tuple[Diagnostic, str]] = (),
) -> dict[str, Any]:
    """A log with one run; files are relative to `base`, the root of the repository.

    `codes` says what the codes mean; those of another program's rules may be missing. `suppressed`
    are findings that a comment in the file explains, each with its reason.
    """
    all_findings = (*diagnostics, *(diagnostic for diagnostic, _ in suppressed))
    found = {diagnostic.code for diagnostic in all_findings}
    # Results point into this list by index; only the rules that are used are in it.
    used = [code for code in codes if code in found] + sorted(found - codes.keys())
    driver = {
        "name": "Prowess",
        "version": __version__,
        "rules": [_shape_rule(code, codes.get(code)) for code in used],
    }
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_BASE: {"uri": f"file://{quote(_as_posix(base).rstrip('/'))}/"}},
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_shape_result(diagnostic, used, base) for diagnostic in diagnostics),
            *(_shape_suppressed(one, why, used, base) for one, why in suppressed),
        ],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _as_posix(path: str) -> str:
    path = path.replace("\\", "/")
    return path if path.startswith("/") else f"/{path}"


def _shape_rule(code: str, meaning: Code | None) -> dict[str, Any]:
    if meaning is None:
        return {"id": code}
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": meaning.summary},
        "help": {"text": meaning.hint},
        "defaultConfiguration": {"level": _LEVELS[meaning.severity]},
    }
    if meaning.formerly is not None:
        # Alerts that were dismissed under the former code stay dismissed.
        rule["deprecatedIds"] = [meaning.formerly]
    return rule


def _shape_result(diagnostic: Diagnostic, rules: Sequence[str], base: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rules.index(diagnostic.code),
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": _join((diagnostic.message, diagnostic.hint))},
    }
    if diagnostic.file is not None:
        result["locations"] = [_shape_location(diagnostic.file, diagnostic.line, base)]
    if diagnostic.related:
        result["relatedLocations"] = [
            _shape_location(file, None, base) for file in diagnostic.related
        ]
    return result


def _shape_suppressed(
    diagnostic: Diagnostic, reason: str, rules: Sequence[str], base: str
) -> dict[str, Any]:
    suppression = {"kind": "inSource", "justification": _join([reason])}
    return {**_shape_result(diagnostic, rules, base), "suppressions": [suppression]}


def _join(parts: Iterable[str | None]) -> str:
    text = " ".join(part for part in parts if part).encode("utf-8", "replace").decode()
    return escape_text(text)


def _shape_location(file: str, line: int | None, base: str) -> dict[str, Any]:
    path = relative_path(file, base)
    # A path may hold bytes that are not UTF-8; a URI has them percent-encoded.
    uri = quote(path.encode("utf-8", "surrogateescape"))
    is_inside = path != file.replace("\\", "/")
    artifact = {"uri": uri, "uriBaseId": _BASE} if is_inside else {"uri": f"file://{uri}"}
    # A diagnostic without a line is about the whole file, but viewers require a line.
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line or 1}}}
