"""What an author should know of a skill: the standard's rules, needed repairs, spelling, the body, its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.errors import nearest_names
from prowess.parse.entries import find_key
from prowess.parse.fences import Split, split_header
from prowess.parse.findings import MOST_OF_A_KIND, bound_findings
from prowess.parse.manifest import KNOWN_FIELDS
from prowess.parse.naming import understand
from prowess.parse.openclaw import PAGE_FIELDS
from prowess.parse.reading import Reading, read_header
from prowess.parse.references import Reference, find_references
from prowess.parse.text import split_lines
from prowess.profiles.schema import Fields, Header, Limits

MOST_BODY_LINES = 500

_WHEN = re.compile(r"\b(?:when|whenever|if|before|after|while|trigger|triggers|use (?:this|it|for|to|with))\b", re.I)

Files = Collection[str] | Callable[[str], bool]


def lint_skill(text: str, *, folder_name: str, files: Files, rules: Header, fields: Fields) -> tuple[Diagnostic, ...]:
    """Every finding about a SKILL.md, in the order of its lines.

    `files` tells what lies in the skill's folder: paths with `/` between names, or a function that knows. The
    header is read by `rules` and held against `fields`, those of the standard. What only Prowess forgives, a number
    where text belongs, is not forgiven here.
    """
    rules = msgspec.structs.replace(rules, values="typed")
    reading = read_header(text.encode(errors="replace"), rules=rules, limits=Limits())
    split = split_header(text, rules)
    findings = [*_shout(reading.diagnostics)]
    if reading.valid and split.end and split.problem != "header-language":
        lines = locate_fields(split)
        checks = (*_check_fields(reading, folder_name, fields), *bound_findings([*_check_spelling(reading, fields)]))
        findings += [_at_line(finding, lines) for finding in checks]
    if reading.valid:
        findings += _check_body(split)
        findings += bound_findings([*_check_references(split, files)])
    return tuple(sorted(findings, key=lambda finding: finding.line or 0))


def locate_fields(split: Split) -> dict[str, int]:
    """The line of the file on which each field begins."""
    lines = split_lines(split.text[split.start : split.end], first=split.line)
    return {key: line.number for line in lines if (key := find_key(line.text)) is not None}


def _at_line(finding: Diagnostic, lines: dict[str, int]) -> Diagnostic:
    if finding.line is not None or finding.field is None:
        return finding
    return msgspec.structs.replace(finding, line=lines.get(re.split(r"[.\[]", finding.field)[0], 1))


def _shout(findings: tuple[Diagnostic, ...]) -> Iterator[Diagnostic]:
    """What a reader forgives is an error to an author: not every host forgives it, and nothing was changed."""
    for finding in findings:
        if finding.code.startswith("repaired-"):
            # A repair says what is wrong, then what was done about it; only the first is true of the file.
            message = finding.message.partition("; ")[0].rstrip(".") + "."
            yield msgspec.structs.replace(finding, severity=Severity.ERROR, message=message)
        elif finding.code in ("header-missing", "header-language"):
            yield msgspec.structs.replace(finding, severity=Severity.ERROR)
        else:
            yield finding


def _check_fields(reading: Reading, folder_name: str, fields: Fields) -> Iterator[Diagnostic]:
    understood = understand(reading, default_name=folder_name, required=(), fields=fields)
    for finding in understood.diagnostics:
        if finding.code != "field-unknown":
            yield finding
    description = understood.description
    if description and not _WHEN.search(description):
        message = "`description` says what the skill does, not when to use it; agents choose by it."
        yield diagnose("description-when", message, field="description")


def _check_spelling(reading: Reading, fields: Fields) -> Iterator[Diagnostic]:
    unknown = [key for key in reading.frontmatter if key not in fields.known]
    for number, key in enumerate(unknown):
        if key in KNOWN_FIELDS or key in PAGE_FIELDS:
            message = f"`{key}` is not in the standard; only some hosts read it."
            yield diagnose("field-unknown", message, field=key, hint="Nothing needs doing, if that is meant.")
            continue
        # What comes later is only counted, and looking for names is slow.
        near = nearest_names(key.replace("_", "-"), KNOWN_FIELDS, most=1) if number < MOST_OF_A_KIND else ()
        if near:
            message = f"`{key}` is not a known field; `{near[0]}` is."
            yield diagnose("field-unknown", message, field=key, severity=Severity.WARNING)
        else:
            yield diagnose("field-unknown", f"`{key}` is not a known field; hosts pass over it.", field=key)


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
    for reference in find_references(split.text[split.body :], first=first):
        if reference.path in seen:
            continue
        seen.add(reference.path)
        finding = _check_reference(reference, files)
        if finding is not None:
            yield finding


def _check_reference(reference: Reference, files: Files) -> Diagnostic | None:
    if reference.is_outside:
        message = f"`{reference.path}` lies outside the skill's folder."
        return diagnose("file-reference-outside", message, line=reference.line)
    if not _exists(reference.target, files):
        message = f"`{reference.path}` is referred to and does not exist."
        return diagnose("file-reference-missing", message, line=reference.line)
    return None


def _exists(path: str, files: Any) -> bool:
    if callable(files):
        return bool(files(path))
    return path in files or any(file.startswith(path + "/") for file in files)
