"""What an author should know about a skill: the standard's rules, mistakes, spelling, its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from enum import Enum

import msgspec

from prowess.diagnostics import CODES, Diagnostic, Severity, diagnose, limit_diagnostics
from prowess.model.skill import Manifest
from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.header.fences import Split, split_header
from prowess.parse.lint.field_locations import locate
from prowess.parse.lint.references import FileReference, find_references
from prowess.parse.manifest.field_suggestions import (
    MOST_LOOKED_UP,
    describe_misspelt,
    find_near,
)
from prowess.parse.manifest.fields import FIELD_NAMES, KNOWN_FIELDS
from prowess.parse.manifest.names import understand
from prowess.parse.manifest.openclaw import PAGE_FIELDS, read_openclaw
from prowess.profiles.schema.header import FieldRules, HeaderRules
from prowess.profiles.schema.roots import ScanLimits

MOST_BODY_LINES = 500

_WHEN = re.compile(
    r"\b(?:when|whenever|if|before|after|while|trigger|triggers|use (?:this|it|for|to|with))\b",
    re.I,
)

# A reader can do without these, but the author meant something else.
_SERIOUS = frozenset(
    {"header-missing", "header-language", "field-type", "field-value", "metadata-unreadable"}
)
# Every place where some host looks for OpenClaw's fields.
_PLACES = FieldRules().openclaw_at


class PathTarget(Enum):
    """Where a path inside a skill's folder leads: nowhere, into the folder, or out by a symlink."""

    MISSING = "missing"
    INSIDE = "inside"
    OUTSIDE = "outside"


Files = Collection[str] | Callable[[str], PathTarget]


def lint_skill(
    text: str, *, folder_name: str, files: Files, rules: HeaderRules, fields: FieldRules
) -> tuple[Diagnostic, ...]:
    """Every finding about a SKILL.md, in the order of its lines.

    `files` are the paths in the skill's folder, with `/` between names, or a function that knows
    them. The header is read by `rules` and checked against `fields`, those of the standard. What
    only Prowess accepts, such as a number in place of text, is a finding here.
    """
    # With types, so that a number in place of text is seen.
    rules = msgspec.structs.replace(rules, values="typed")
    reading = read_header(text.encode(errors="replace"), rules=rules, limits=ScanLimits())
    split = split_header(text, rules)
    findings = [*raise_severity(reading.diagnostics)]
    has_header = split.end > 0 and split.problem != "header-language"
    if reading.valid and has_header:
        in_fields = _check_fields(reading, folder_name, fields)
        spelling = limit_diagnostics([*_check_spelling(reading, fields)])
        findings += raise_severity(locate((*in_fields, *spelling), split))
    if reading.valid:
        findings += _check_body(split)
        findings += limit_diagnostics([*_check_references(split, files)])
    return tuple(sorted(findings, key=lambda finding: finding.line or 0))


def raise_severity(findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings of a lenient reader as an author should see them.

    What it tolerates is an error, because not every host does; so is a value it cannot use.
    """
    for finding in findings:
        is_serious = CODES[finding.code].tolerated or finding.code in _SERIOUS
        if is_serious:
            yield msgspec.structs.replace(finding, severity=Severity.ERROR)
        else:
            yield finding


def _check_fields(
    reading: HeaderReading, folder_name: str, fields: FieldRules
) -> Iterator[Diagnostic]:
    understood = understand(reading, default_name=folder_name, required=(), fields=fields)
    for finding in understood.diagnostics:
        # Unknown fields are left to `_check_spelling`, which knows those of every host.
        is_unknown_field = finding.code == "field-unknown" and finding.field in reading.frontmatter
        if not is_unknown_field:
            yield finding
    yield from _check_openclaw(reading, understood.manifest, fields)
    description = understood.description
    if description and not _WHEN.search(description):
        message = "`description` does not say when to use the skill; agents choose by it."
        yield diagnose("description-when", message, field="description")


def _check_openclaw(
    reading: HeaderReading, manifest: Manifest, fields: FieldRules
) -> Iterator[Diagnostic]:
    """What cannot be used of OpenClaw's fields, in every place; hosts stop at the first."""
    for place in _PLACES:
        if place in fields.openclaw_at:
            # `understand` has read it.
            continue
        findings: list[Diagnostic] = []
        alone = msgspec.structs.replace(fields, openclaw_at=(place,))
        read_openclaw(reading.frontmatter, manifest.metadata, alone, findings)
        yield from limit_diagnostics(findings)


def _check_spelling(reading: HeaderReading, fields: FieldRules) -> Iterator[Diagnostic]:
    unknown = [key for key in reading.frontmatter if key not in fields.known]
    for number, key in enumerate(unknown):
        if key in KNOWN_FIELDS or key in PAGE_FIELDS:
            message = f"`{key}` is not in the standard; only some hosts read it."
            yield diagnose("field-unknown", message, field=key, hint="Fine if intended.")
            continue
        # Comparing is slow, and of so many unknown fields the later ones are only counted.
        near = find_near(key, FIELD_NAMES) if number < MOST_LOOKED_UP else None
        if near is not None:
            yield describe_misspelt(key, near)
        else:
            message = f"Unknown field `{key}`; hosts ignore it."
            yield diagnose("field-unknown", message, field=key)


def _check_body(split: Split) -> Iterator[Diagnostic]:
    body = split.text[split.body :].strip()
    line = _find_body_line(split)
    if not body:
        yield diagnose("body-empty", "There is nothing below the header.", line=line)
        return
    length = len(body.splitlines())
    if length > MOST_BODY_LINES:
        message = (
            f"The body has {length} lines, over {MOST_BODY_LINES}; all are loaded on each use."
        )
        yield diagnose("body-long", message, line=line)


def _find_body_line(split: Split) -> int:
    return split.text.count("\n", 0, split.body) + split.line - 1


def _check_references(split: Split, files: Files) -> Iterator[Diagnostic]:
    def owns(folder: str) -> bool:
        return _find_target(folder, files) is PathTarget.INSIDE

    body = split.text[split.body :]
    seen: set[str] = set()
    for reference in find_references(body, first=_find_body_line(split), owns=owns):
        # A body may mention a file on every line; once is enough.
        if reference.path in seen:
            continue
        seen.add(reference.path)
        finding = _check_reference(reference, files)
        if finding is not None:
            yield finding


def _check_reference(reference: FileReference, files: Files) -> Diagnostic | None:
    path, line = reference.path, reference.line
    if reference.is_outside:
        message = f"`{path}` is outside the skill's folder."
        return diagnose("file-reference-outside", message, line=line)
    target = _find_target(reference.target, files)
    if target is PathTarget.OUTSIDE:
        message = f"`{path}` is a symlink to a file outside the skill's folder."
        hint = "Replace the symlink with a copy of the file."
        return diagnose("file-reference-outside", message, line=line, hint=hint)
    if target is PathTarget.MISSING:
        message = f"`{path}` is referenced but does not exist."
        return diagnose("file-reference-missing", message, line=line)
    return None


def _find_target(path: str, files: Files) -> PathTarget:
    if callable(files):
        return files(path)
    if path in files or path == ".":
        return PathTarget.INSIDE
    # A list of files has no folders: one exists if a file is in it.
    is_folder = any(file.startswith(path + "/") for file in files)
    return PathTarget.INSIDE if is_folder else PathTarget.MISSING
