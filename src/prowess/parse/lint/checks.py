"""What an author should know of a skill: the standard's rules, needed repairs, spelling, the body,
its files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from enum import Enum

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose, limit_diagnostics
from prowess.model.skill import Manifest
from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.header.fences import Split, split_header
from prowess.parse.lint.field_locations import locate
from prowess.parse.lint.references import FileReference, find_references
from prowess.parse.manifest.field_suggestions import MOST_LOOKED_UP, find_near
from prowess.parse.manifest.fields import FIELD_NAMES, KNOWN_FIELDS
from prowess.parse.manifest.names import understand
from prowess.parse.manifest.openclaw import PAGE_FIELDS, read_openclaw
from prowess.profiles.schema.header import FieldRules, HeaderRules
from prowess.profiles.schema.roots import Limits

MOST_BODY_LINES = 500

_WHEN = re.compile(
    r"\b(?:when|whenever|if|before|after|while|trigger|triggers|use (?:this|it|for|to|with))\b",
    re.I,
)

# What a reader can go on without is not what its author meant.
_GRAVE = frozenset(
    {"header-missing", "header-language", "field-type", "field-value", "metadata-unreadable"}
)
# Every place where some host looks for OpenClaw's fields.
_PLACES = FieldRules().openclaw_at


class Whereabouts(Enum):
    """Where a path inside a skill's folder leads: nowhere, into the folder, or out of it by a link."""

    MISSING = "missing"
    INSIDE = "inside"
    OUTSIDE = "outside"


Files = Collection[str] | Callable[[str], Whereabouts]


def lint_skill(
    text: str, *, folder_name: str, files: Files, rules: HeaderRules, fields: FieldRules
) -> tuple[Diagnostic, ...]:
    """Every finding about a SKILL.md, in the order of its lines.

    `files` tells what lies in the skill's folder: paths with `/` between names, or a function that
    knows. The header is read by `rules` and held against `fields`, those of the standard. What only
    Prowess forgives, a number where text belongs, is not forgiven here.
    """
    rules = msgspec.structs.replace(rules, values="typed")
    reading = read_header(text.encode(errors="replace"), rules=rules, limits=Limits())
    split = split_header(text, rules)
    findings = [*raise_severity(reading.diagnostics)]
    if reading.valid and split.end and split.problem != "header-language":
        checks = (
            *_check_fields(reading, folder_name, fields),
            *limit_diagnostics([*_check_spelling(reading, fields)]),
        )
        findings += raise_severity(locate(checks, split))
    if reading.valid:
        findings += _check_body(split)
        findings += limit_diagnostics([*_check_references(split, files)])
    return tuple(sorted(findings, key=lambda finding: finding.line or 0))


def raise_severity(findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """What a reader forgives is an error to an author: not every host forgives it, and nothing was
    changed; and what cannot be used was not written for that."""
    for finding in findings:
        if finding.code.startswith("repaired-"):
            # A repair says what is wrong, then what was done about it; only the first is true of
            # the file.
            message = finding.message.partition("; ")[0].rstrip(".") + "."
            yield msgspec.structs.replace(finding, severity=Severity.ERROR, message=message)
        elif finding.code in _GRAVE:
            yield msgspec.structs.replace(finding, severity=Severity.ERROR)
        else:
            yield finding


def _check_fields(
    reading: HeaderReading, folder_name: str, fields: FieldRules
) -> Iterator[Diagnostic]:
    understood = understand(reading, default_name=folder_name, required=(), fields=fields)
    spelt = reading.frontmatter
    for finding in understood.diagnostics:
        if finding.code != "field-unknown" or finding.field not in spelt:
            yield finding
    yield from _check_openclaw(reading, understood.manifest, fields)
    description = understood.description
    if description and not _WHEN.search(description):
        message = "`description` says what the skill does, not when to use it; agents choose by it."
        yield diagnose("description-when", message, field="description")


def _check_openclaw(
    reading: HeaderReading, manifest: Manifest, fields: FieldRules
) -> Iterator[Diagnostic]:
    """What cannot be used of OpenClaw's fields, in every place; a host looks no further than the
    first.
    """
    for place in _PLACES:
        if place not in fields.openclaw_at:
            found: list[Diagnostic] = []
            alone = msgspec.structs.replace(fields, openclaw_at=(place,))
            read_openclaw(reading.frontmatter, manifest.metadata, alone, found)
            yield from limit_diagnostics(found)


def _check_spelling(reading: HeaderReading, fields: FieldRules) -> Iterator[Diagnostic]:
    unknown = [key for key in reading.frontmatter if key not in fields.known]
    for number, key in enumerate(unknown):
        if key in KNOWN_FIELDS or key in PAGE_FIELDS:
            message = f"`{key}` is not in the standard; only some hosts read it."
            yield diagnose(
                "field-unknown", message, field=key, hint="Nothing needs doing, if that is meant."
            )
            continue
        # What comes later is only counted, and looking for names is slow.
        near = find_near(key, FIELD_NAMES) if number < MOST_LOOKED_UP else None
        if near is not None:
            message = f"`{key}` is not a known field; `{near}` is."
            yield diagnose("field-unknown", message, field=key, severity=Severity.WARNING)
        else:
            yield diagnose(
                "field-unknown", f"`{key}` is not a known field; hosts pass over it.", field=key
            )


def _check_body(split: Split) -> Iterator[Diagnostic]:
    body = split.text[split.body :]
    first = split.text.count("\n", 0, split.body) + split.line - 1
    if not body.strip():
        yield diagnose("body-empty", "There is nothing below the header.", line=first)
        return
    length = len(body.strip().splitlines())
    if length > MOST_BODY_LINES:
        message = f"The body has {length} lines; more than {MOST_BODY_LINES} cost every activation."
        yield diagnose("body-long", message, line=first)


def _check_references(split: Split, files: Files) -> Iterator[Diagnostic]:
    first = split.text.count("\n", 0, split.body) + split.line - 1
    seen: set[str] = set()

    def owns(folder: str) -> bool:
        return _find(folder, files) is Whereabouts.INSIDE

    for reference in find_references(split.text[split.body :], first=first, owns=owns):
        if reference.path in seen:
            continue
        seen.add(reference.path)
        finding = _check_reference(reference, files)
        if finding is not None:
            yield finding


def _check_reference(reference: FileReference, files: Files) -> Diagnostic | None:
    if reference.is_outside:
        message = f"`{reference.path}` lies outside the skill's folder."
        return diagnose("file-reference-outside", message, line=reference.line)
    place = _find(reference.target, files)
    if place is Whereabouts.OUTSIDE:
        message = f"`{reference.path}` is a link that leads out of the skill's folder."
        hint = "Put a copy of the file in the place of the link."
        return diagnose("file-reference-outside", message, line=reference.line, hint=hint)
    if place is Whereabouts.MISSING:
        message = f"`{reference.path}` is referred to and does not exist."
        return diagnose("file-reference-missing", message, line=reference.line)
    return None


def _find(path: str, files: Files) -> Whereabouts:
    if callable(files):
        return files(path)
    exists = path in files or path == "." or any(file.startswith(path + "/") for file in files)
    return Whereabouts.INSIDE if exists else Whereabouts.MISSING
