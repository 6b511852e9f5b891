"""SKILL.md files checked strictly, as their authors and CI want it, with fixes as values.

A file is held against the standard first, then against the rules of each host that was named. A
host's problem that the strict check reported already is left out, so each line has one finding.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from itertools import chain
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.errors import MachineError, name_cause
from prowess.machine.atomic_write import rewrite_aside
from prowess.model.catalog import CatalogItem
from prowess.parse.header.fast import read_header
from prowess.parse.header.fences import split_body
from prowess.parse.header.lines import decode
from prowess.parse.lint.checks import PathTarget, lint_skill, raise_severity
from prowess.parse.lint.field_locations import locate_in_file
from prowess.parse.manifest.fields import read_manifest
from prowess.parse.manifest.names import understand
from prowess.parse.repair.loop import fix_header
from prowess.ports import FileSystem
from prowess.present.always import find_long_body
from prowess.profiles.load import load_profile
from prowess.profiles.schema.profile import Profile
from prowess.reports.json_output import shape_diagnostic
from prowess.reports.skill_depth import find_too_deep, join_titles, report_too_deep
from prowess.reports.skill_paths import Target


class FixMode(Enum):
    """What to do with a header that can be fixed."""

    OFF = "off"
    SHOW = "show"
    WRITE = "write"


class Fix(msgspec.Struct, frozen=True):
    """What a fix changes in a file: each change as a diagnostic, and the text before and after."""

    changes: tuple[Diagnostic, ...]
    before: str
    after: str

    def render_diff(self, name: str) -> str:
        """A unified diff of the file, which has this name in it."""
        import difflib

        before, after = _split_lines(self.before), _split_lines(self.after)
        # `git apply` and `patch` read forward slashes, also on Windows.
        name = name.replace("\\", "/")
        diff = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
        return "".join(map(_end_diff_line, diff))


def _end_diff_line(line: str) -> str:
    # `difflib` does not mark a last line without a newline, which `patch` has to know.
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _split_lines(text: str) -> list[str]:
    # Only LF ends a line of a patch; `splitlines` knows ten more.
    *lines, last = text.split("\n")
    ended = [f"{line}\n" for line in lines]
    return [*ended, last] if last else ended


class CheckedFile(msgspec.Struct, frozen=True):
    """A file and its diagnostics, which are those of the fixed text if it was fixed.

    `fix` is the fix that was written or shown. `is_fixable` says that there is one which was not
    asked for or could not be written.
    """

    file: str
    diagnostics: tuple[Diagnostic, ...]
    fix: Fix | None = None
    is_fixable: bool = False


class LintReport(msgspec.Struct, frozen=True):
    """The files that were checked, and notes that belong to none of them.

    `base` is the root that paths are relative to where CI shows them. `not_checked` is the number
    of files that were left when the check was interrupted.
    """

    files: tuple[CheckedFile, ...]
    notes: tuple[Diagnostic, ...]
    mode: FixMode
    cwd: str
    base: str
    not_checked: int = 0

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics: the notes first, then file by file."""
        of_files = chain.from_iterable(checked.diagnostics for checked in self.files)
        return (*self.notes, *of_files)

    def ignore(self, codes: Collection[str]) -> LintReport:
        """The report without the diagnostics of these codes."""
        files = (
            msgspec.structs.replace(one, diagnostics=_leave_out(codes, one.diagnostics))
            for one in self.files
        )
        notes = _leave_out(codes, self.notes)
        return msgspec.structs.replace(self, files=tuple(files), notes=notes)

    def counts(self) -> Counter[Severity]:
        """How many diagnostics there are of each severity."""
        return Counter(one.severity for one in self.diagnostics)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        counts = self.counts()
        return {
            "counts": {severity.value: counts[severity] for severity in Severity},
            "files": [self._shape_file(one) for one in self.files],
            "notes": [shape_diagnostic(one) for one in self.notes],
            "not_checked": self.not_checked,
        }

    def _shape_file(self, checked: CheckedFile) -> dict[str, Any]:
        # `mendable` and `mended` are older words; they stay for the scripts that read them.
        shape: dict[str, Any] = {
            "file": checked.file,
            "diagnostics": [shape_diagnostic(one) for one in checked.diagnostics],
            "mendable": checked.is_fixable,
        }
        if checked.fix is not None:
            shape["mended"] = {
                "written": self.mode is FixMode.WRITE,
                "changes": [shape_diagnostic(change) for change in checked.fix.changes],
                "diff": checked.fix.render_diff(posixpath.relpath(checked.file, self.cwd)),
            }
        return shape


def _leave_out(
    codes: Collection[str], diagnostics: tuple[Diagnostic, ...]
) -> tuple[Diagnostic, ...]:
    return tuple(one for one in diagnostics if one.code not in codes)


def check_file(
    target: Target, files: FileSystem, hosts: Sequence[Profile] = (), mode: FixMode = FixMode.OFF
) -> CheckedFile:
    """Check one file strictly, and whether each of the `hosts` would load it."""
    location, problems = target.location, target.problems
    # A file with an error that is known before, such as its name, is not read at all.
    if _has_error(problems):
        return CheckedFile(location, problems)
    data = _load(location, files)
    if isinstance(data, Diagnostic):
        return CheckedFile(location, (*problems, data))
    text, encoding_problem = decode(data)
    if encoding_problem is not None:
        problems = (*problems, encoding_problem)
    if _has_error(problems):
        return CheckedFile(location, _name_file(problems, location))
    # Text with replaced bytes is never written back: the original bytes would be lost.
    fix = _find_fix(text, location) if encoding_problem is None else None
    if fix is None or mode is FixMode.OFF:
        found = _lint(text, target, problems, files, hosts)
        return CheckedFile(location, found, is_fixable=fix is not None)
    refusal = _write(location, fix) if mode is FixMode.WRITE else None
    if refusal is not None:
        found = _lint(text, target, (*problems, refusal), files, hosts)
        return CheckedFile(location, found, is_fixable=True)
    return CheckedFile(location, _lint(fix.after, target, problems, files, hosts), fix)


def _has_error(problems: Sequence[Diagnostic]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def _load(location: str, files: FileSystem) -> bytes | Diagnostic:
    """The whole file, or the diagnostic that says why it cannot be read."""
    most = load_profile("spec").limits.file_bytes
    try:
        head = files.read_head(location, most)
    except (OSError, ValueError) as error:
        message = f"The file cannot be read: {name_cause(error)}."
        return diagnose("file-unreadable", message, file=location)
    if head.size > most:
        message = f"The file has {head.size:,} bytes; at most {most:,} are read."
        return diagnose("file-too-large", message, file=location)
    return head.data


def _find_fix(text: str, location: str) -> Fix | None:
    after, changes = fix_header(text, rules=load_profile("prowess").header)
    if after == text:
        return None
    return Fix(_name_file(changes, location), text, after)


def _write(location: str, fix: Fix) -> Diagnostic | None:
    """Write the fixed text. A file that cannot be written does not keep others from being fixed."""
    try:
        rewrite_aside(location, fix.after.encode())
    except MachineError as error:
        message = f"The file can be fixed but not written: {error.cause}."
        return diagnose("file-unwritable", message, file=location)
    return None


def _name_file(diagnostics: Sequence[Diagnostic], location: str) -> tuple[Diagnostic, ...]:
    return tuple(msgspec.structs.replace(one, file=location) for one in diagnostics)


def _lint(
    text: str,
    target: Target,
    problems: tuple[Diagnostic, ...],
    files: FileSystem,
    hosts: Sequence[Profile],
) -> tuple[Diagnostic, ...]:
    findings = lint_skill(
        text,
        folder_name=posixpath.basename(target.folder),
        files=_SkillFolder(target.folder, files),
        rules=load_profile("prowess").header,
        fields=load_profile("spec").fields,
    )
    reported = (*problems, *findings, *_check_always(text))
    # Hosts that were named say it themselves, each with its own depth.
    if not hosts:
        reported += tuple(report_too_deep(target.folder))
    reported += tuple(_check_hosts(text, target, hosts, reported))
    return _name_file(reported, target.location)


def _check_always(text: str) -> Iterator[Diagnostic]:
    """A body that goes into every request should be short."""
    profile = load_profile("prowess")
    reading = read_header(text.encode(), rules=profile.header, limits=profile.limits)
    manifest, _ = read_manifest(reading.frontmatter, fields=profile.fields)
    if not manifest.always:
        return
    body = split_body(text, rules=profile.header)
    too_long = find_long_body(CatalogItem(name=manifest.name or "", always=True, body=body))
    if too_long is not None:
        yield too_long


class _HostProblem(msgspec.Struct, frozen=True):
    """What a host would report about a file; a `refusal` is why it would not load it."""

    found: Diagnostic
    refusal: bool = False


def _check_hosts(
    text: str, target: Target, hosts: Sequence[Profile], reported: Sequence[Diagnostic]
) -> Iterator[Diagnostic]:
    """What hosts would report that was not yet, each problem once with the hosts that have it."""
    by_problem: dict[_HostProblem, list[Profile]] = {}
    for profile in hosts:
        for problem in _find_host_problems(text, target, profile, reported):
            by_problem.setdefault(problem, []).append(profile)
    for problem, profiles in by_problem.items():
        yield _report_for_hosts(problem, profiles)


def _find_host_problems(
    text: str, target: Target, profile: Profile, reported: Sequence[Diagnostic]
) -> Iterator[_HostProblem]:
    """Why a host would not load a file, and what else it would report that was not yet."""
    yield from _check_depth(target, profile)
    data = text.encode()
    reading = read_header(data, rules=profile.header, limits=profile.limits)
    name = posixpath.basename(target.folder)
    understood = understand(reading, default_name=name, required=(), fields=profile.fields)
    findings = reading.diagnostics
    # Fields that are missing from a header that cannot be read are no problem of their own.
    if reading.valid:
        yield from _check_name_pattern(understood.name, profile.fields.name_pattern)
        findings += understood.diagnostics
    findings = locate_in_file(findings, data, profile.header)
    if not (reading.valid and understood.valid):
        cause = next((one for one in findings if one.severity is Severity.ERROR), None)
        unknown = diagnose("host-refuses", "Its header cannot be read.")
        yield _HostProblem(cause or unknown, refusal=True)
        findings = tuple(one for one in findings if one is not cause)
    for finding in raise_severity(findings):
        is_reported = any(_covers(other, finding) for other in reported)
        if not is_reported:
            yield _HostProblem(finding)


def _check_depth(target: Target, profile: Profile) -> Iterator[_HostProblem]:
    for deep in find_too_deep(target.folder, [profile]):
        message = f"It is {deep.depth} folders below `{deep.folder}`; {deep.most} deep is searched."
        yield _HostProblem(diagnose("too-deep", message), refusal=True)


def _check_name_pattern(name: str, pattern: str) -> Iterator[_HostProblem]:
    if pattern and not re.fullmatch(pattern, name):
        message = f"`name` is “{name[:80]}”; it must match `{pattern}`."
        yield _HostProblem(diagnose("name-invalid", message, field="name"), refusal=True)


def _report_for_hosts(problem: _HostProblem, profiles: Sequence[Profile]) -> Diagnostic:
    finding = problem.found
    titles = join_titles(profiles)
    names = tuple(profile.name for profile in profiles)
    if not problem.refusal:
        message = f"{titles}: {finding.message}"
        return msgspec.structs.replace(finding, message=message, hosts=names)
    message = f"{titles} would not load the skill: {finding.message}"
    made = diagnose("host-refuses", message, line=finding.line, field=finding.field)
    return msgspec.structs.replace(made, hosts=names)


def _covers(reported: Diagnostic, found: Diagnostic) -> bool:
    """Whether a diagnostic makes another one redundant: the same, or an error in the same field."""
    is_error = reported.severity is Severity.ERROR
    is_same_line = reported.line == found.line
    # A parser names only the line of what it cannot read, the strict check also the field.
    has_only_line = found.field is None and found.line is not None
    if has_only_line and is_same_line and is_error:
        return True
    if reported.field != found.field:
        return False
    # Without a field only the line says that both are about the same.
    if found.field is None and not is_same_line:
        return False
    return is_error or reported.code == found.code


class _SkillFolder:
    """Answers where a path in a skill's folder leads, without listing the folder."""

    def __init__(self, path: str, files: FileSystem) -> None:
        self._path = path
        self._files = files
        self._real = files.find_real_path(path) or path

    def __call__(self, name: str) -> PathTarget:
        real = self._files.find_real_path(posixpath.join(self._path, *name.split("/")))
        if real is None:
            return PathTarget.MISSING
        # With the slash: `skill-old/notes.md` is not inside `skill`.
        is_inside = real == self._real or real.startswith(self._real.rstrip("/") + "/")
        return PathTarget.INSIDE if is_inside else PathTarget.OUTSIDE
