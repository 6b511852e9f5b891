"""One SKILL.md as its author cares about it: read, checked strictly, and mended where that is asked
for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.errors import MachineError
from prowess.machine.atomic_write import rewrite_aside
from prowess.machine.files import LocalFiles
from prowess.model.catalog import CatalogItem
from prowess.parse.header.fast import read_header
from prowess.parse.header.fences import split_body
from prowess.parse.header.lines import decode
from prowess.parse.lint.checks import Whereabouts, lint_skill, raise_severity
from prowess.parse.lint.field_locations import locate_in_file
from prowess.parse.manifest.fields import read_manifest
from prowess.parse.manifest.names import understand
from prowess.parse.repair.loop import fix_header
from prowess.present.always import find_long_body
from prowess.profiles.load import load_profile
from prowess.profiles.schema.profile import Profile
from prowess.reports.skill_paths import Target

_BOM = b"\xef\xbb\xbf"


class Mended(msgspec.Struct, frozen=True):
    """What a repair changes in a file: each change as a finding, and the text before and after."""

    changes: tuple[Diagnostic, ...]
    before: str
    after: str


class Checked(msgspec.Struct, frozen=True):
    """A file and what is to be said about it: `mended` is the repair that was made or shown,
    `mendable` that one could be made."""

    file: str
    findings: tuple[Diagnostic, ...]
    mended: Mended | None = None
    mendable: bool = False


def check_target(
    target: Target, hosts: Sequence[Profile] = (), *, fix: bool = False, write: bool = False
) -> Checked:
    """Check one file; with `fix` the findings are those of the mended text, which `write` puts in
    its place.

    Of each of the `hosts` it is said, too, if it would not read the file.
    """
    problems = target.problems
    if any(problem.severity is Severity.ERROR for problem in problems):
        return Checked(target.location, problems)
    data = _read(target.location)
    if isinstance(data, Diagnostic):
        return Checked(target.location, (*problems, data))
    text, trouble = decode(data)
    if trouble is not None:
        problems += (trouble,)
    if trouble is not None and trouble.severity is Severity.ERROR:
        return Checked(target.location, _place(problems, target.location))
    # Text with replaced bytes is never written back: what was replaced would be lost.
    mended = _mend(text, target.location) if trouble is None else None
    if mended is None or not fix:
        return Checked(
            target.location, _lint(text, target, problems, hosts), mendable=mended is not None
        )
    refused = _write(target.location, data, mended) if write else None
    if refused is not None:
        return Checked(
            target.location, _lint(text, target, (*problems, refused), hosts), mendable=True
        )
    return Checked(target.location, _lint(mended.after, target, problems, hosts), mended)


def _write(location: str, data: bytes, mended: Mended) -> Diagnostic | None:
    """Put the mended text in its place, or say why that cannot be: other files are mended all the
    same.
    """
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        rewrite_aside(location, bom + mended.after.encode())
    except MachineError as error:
        return diagnose(
            "file-unwritable",
            f"The file can be mended but not written: {error.cause}.",
            file=location,
        )
    return None


def _lint(
    text: str, target: Target, problems: tuple[Diagnostic, ...], hosts: Sequence[Profile]
) -> tuple[Diagnostic, ...]:
    findings = lint_skill(
        text,
        folder_name=os.path.basename(target.folder),
        files=_Folder(target.folder),
        rules=load_profile("prowess").header,
        fields=load_profile("spec").fields,
    )
    said = (*problems, *findings, *_check_always(text))
    for profile in hosts:
        said += tuple(_ask_host(text, target, profile, said))
    return _place(said, target.location)


def _check_always(text: str) -> Iterator[Diagnostic]:
    """A body that goes into every request should be short."""
    profile = load_profile("prowess")
    reading = read_header(text.encode(), rules=profile.header, limits=profile.limits)
    manifest, _ = read_manifest(reading.frontmatter, fields=profile.fields)
    if manifest.always:
        body = split_body(text, rules=profile.header)
        finding = find_long_body(CatalogItem(name=manifest.name or "", always=True, body=body))
        if finding is not None:
            yield finding


def _ask_host(
    text: str, target: Target, profile: Profile, said: Sequence[Diagnostic]
) -> Iterator[Diagnostic]:
    """Why a host would not load a file, where it would not, and what else it finds that was not
    said yet.
    """
    reading = read_header(text.encode(), rules=profile.header, limits=profile.limits)
    name = os.path.basename(target.folder)
    understood = understand(reading, default_name=name, required=(), fields=profile.fields)
    # What a header that cannot be read leaves unsaid is no finding of its own.
    found = reading.diagnostics + understood.diagnostics if reading.valid else reading.diagnostics
    found = locate_in_file(found, text.encode(), profile.header)
    title = profile.title or profile.name
    if not (reading.valid and understood.valid):
        reason = next((one for one in found if one.severity is Severity.ERROR), None)
        why = reason.message if reason is not None else "Its header cannot be read."
        line = reason.line if reason is not None else None
        message = f"{title} would not load the skill: {why}"
        yield diagnose(
            "host-refuses", message, line=line, field=reason.field if reason is not None else None
        )
        found = tuple(one for one in found if one is not reason)
    yield from (
        msgspec.structs.replace(one, message=f"{title}: {one.message}")
        for one in raise_severity(found)
        if not any(_says_as_much(other, one) for other in said)
    )


def _says_as_much(said: Diagnostic, finding: Diagnostic) -> bool:
    """Whether one finding leaves nothing to say by another: it is the same, or an error about the
    same field.
    """
    if said.field != finding.field or (said.field is None and said.line != finding.line):
        return False
    return said.code == finding.code or said.severity is Severity.ERROR


def _read(location: str) -> bytes | Diagnostic:
    """The whole file, or the finding that says why it cannot be had."""
    most = load_profile("spec").limits.file_bytes
    try:
        head = LocalFiles().read_head(location, most)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        return diagnose("file-unreadable", f"The file cannot be read: {cause}.", file=location)
    if head.size > most:
        message = f"The file has {head.size:,} bytes; at most {most:,} are read."
        return diagnose("file-too-large", message, file=location)
    return head.data


def _mend(text: str, location: str) -> Mended | None:
    after, changes = fix_header(text, rules=load_profile("prowess").header)
    return None if after == text else Mended(_place(changes, location), text, after)


def _place(findings: Sequence[Diagnostic], location: str) -> tuple[Diagnostic, ...]:
    return tuple(msgspec.structs.replace(finding, file=location) for finding in findings)


class _Folder:
    """Answers where a path in a skill's folder leads, without listing all of them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._real = LocalFiles().find_real_path(path) or path

    def __call__(self, name: str) -> Whereabouts:
        real = LocalFiles().find_real_path(os.path.join(self._path, *name.split("/")))
        if real is None:
            return Whereabouts.MISSING
        inside = real == self._real or real.startswith(self._real.rstrip("/") + "/")
        return Whereabouts.INSIDE if inside else Whereabouts.OUTSIDE
