"""The scan of a skill: from a folder, or from files in memory, to findings."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from prowess.diagnostics import Diagnostic, Severity, worst
from prowess.ports import FileSystem
from prowess.supply.scan.passages import list_passages
from prowess.supply.scan.rule import Kind, Passage
from prowess.supply.scan.rules import RULES, SCAN_CODES
from prowess.supply.scan.suppressions import (
    SuppressedFinding,
    Suppression,
    find_reason,
    parse_suppressions,
)

MOST_FILES = 2_000
MOST_FOLDERS = 500
MOST_BYTES = 1_000_000
"""How much of one file is read."""
MOST_TOTAL = 20_000_000
_MOST_PER_CODE = 20
_SKIPPED_FOLDERS = frozenset(".git .hg .svn node_modules __pycache__ .venv".split())
# Text has none of these bytes; a program or a picture has them early.
_SAMPLE = 8_000
_PROGRAMS = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa\xcf")


class ScanResult(msgspec.Struct, frozen=True):
    """What a scan found: findings, those that comments explain, and how many files were read."""

    findings: tuple[Diagnostic, ...] = ()
    suppressed: tuple[SuppressedFinding, ...] = ()
    files: int = 0

    @property
    def worst(self) -> Severity | None:
        """The highest severity among the findings; None if there are none."""
        return worst(self.findings)

    def join(self, other: ScanResult) -> ScanResult:
        """Both results as one."""
        findings = sorted((*self.findings, *other.findings), key=_by_place)
        return ScanResult(
            tuple(findings),
            (*self.suppressed, *other.suppressed),
            self.files + other.files,
        )


def scan_folder(folder: str, files: FileSystem, *, obey_comments: bool = False) -> ScanResult:
    """Scan every file of a skill.

    Symlinks are not followed, and there are limits on sizes and counts; what is not read is a
    finding. Comments that suppress findings count only with `obey_comments`: the author of a skill
    that somebody else is about to install does not decide what that person is told.
    """
    return _Scan(obey_comments=obey_comments).scan_disk(folder, files)


def scan_one_file(path: str, files: FileSystem, *, obey_comments: bool = False) -> ScanResult:
    """Scan one file of a skill."""
    return _Scan(obey_comments=obey_comments).scan_paths([path], files)


def scan_files(contents: Mapping[str, bytes], *, obey_comments: bool = False) -> ScanResult:
    """Scan files that are in memory, by their paths, such as those of an archive."""
    return _Scan(obey_comments=obey_comments).scan_all(sorted(contents.items()))


def scan_text(path: str, text: str) -> tuple[Diagnostic, ...]:
    """Everything that the rules find in a text, sorted by line; comments suppress nothing."""
    found: set[Diagnostic] = set()
    counts: Counter[str] = Counter()
    for passage in list_passages(path, text):
        for finding in _apply_rules(passage, path):
            if finding not in found and counts[finding.code] < _MOST_PER_CODE:
                counts[finding.code] += 1
                found.add(finding)
    return tuple(sorted(found, key=lambda one: (one.line or 0, one.code, one.message)))


def _apply_rules(passage: Passage, path: str) -> Iterator[Diagnostic]:
    for rule in RULES:
        if passage.kind not in rule.reads:
            continue
        for count, match in enumerate(rule.match(passage)):
            if count >= _MOST_PER_CODE:
                break
            line = None if passage.kind is Kind.NAME and match.line == 1 else match.line
            yield make_finding(rule.code, match.reason, path, line, match.severity)


def make_finding(
    code: str, message: str, path: str, line: int | None = None, severity: Severity | None = None
) -> Diagnostic:
    """A finding with the severity and the hint of its code, unless it has a severity of its own."""
    meaning = SCAN_CODES[code]
    return Diagnostic(
        code, severity or meaning.severity, message, file=path, line=line, hint=meaning.hint
    )


class _Scan:
    """One scan: what it has found, and how much it may still read."""

    def __init__(self, *, obey_comments: bool) -> None:
        self._obey_comments = obey_comments
        self._room = MOST_TOTAL
        self._findings: list[Diagnostic] = []
        self._suppressed: list[SuppressedFinding] = []
        self._count = 0

    def scan_all(self, contents: Iterable[tuple[str, bytes]]) -> ScanResult:
        for path, data in contents:
            self._scan_data(path, data[: MOST_BYTES + 1], len(data))
        return self._result()

    def scan_disk(self, folder: str, files: FileSystem) -> ScanResult:
        return self.scan_paths(self._list_files(folder.rstrip("/") or "/", files), files)

    def scan_paths(self, paths: Iterable[str], files: FileSystem) -> ScanResult:
        for path in paths:
            try:
                head = files.read_head(path, min(MOST_BYTES + 1, self._room + 1))
            except (OSError, ValueError) as error:
                cause = getattr(error, "strerror", None) or str(error)
                self._pass_over(path, f"The file cannot be read: {cause}.")
                continue
            self._scan_data(path, head.data, head.size)
        return self._result()

    def _list_files(self, folder: str, files: FileSystem) -> Iterator[str]:
        """The files below a folder in the order of their paths, as many as are read."""
        waiting, folders, count = [folder], 0, 0
        while waiting:
            here = waiting.pop()
            folders += 1
            if folders > MOST_FOLDERS:
                self._pass_over(here, f"There are more than {MOST_FOLDERS:,} folders.")
                return
            try:
                items = files.list_folder(here)
            except OSError as error:
                self._pass_over(here, f"The folder cannot be listed: {error.strerror}.")
                continue
            inner: list[str] = []
            for item in items:
                path = posixpath.join(here, item.name)
                if item.is_link:
                    self._pass_over(path, "It is a symlink, which the scan does not follow.")
                elif item.kind == "folder":
                    inner += [path] if item.name not in _SKIPPED_FOLDERS else []
                elif item.kind != "file":
                    self._pass_over(path, "It is neither a file nor a folder.")
                elif count >= MOST_FILES:
                    self._pass_over(path, f"There are more than {MOST_FILES:,} files.")
                    return
                else:
                    count += 1
                    yield path
            waiting += reversed(inner)

    def _scan_data(self, path: str, data: bytes, size: int) -> None:
        if data.startswith(_PROGRAMS):
            message = "The file is a compiled program, which the scan cannot read."
            self._pass_over(path, message, Severity.WARNING)
            return
        if b"\0" in data[:_SAMPLE]:
            self._pass_over(path, "The file is binary.")
            return
        if size > MOST_BYTES or len(data) > self._room:
            message = f"The file has {size:,} bytes; only the beginning is scanned."
            self._pass_over(path, message, Severity.WARNING)
        data = data[: min(MOST_BYTES, self._room)]
        self._room -= len(data)
        self._count += 1
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        suppressions = tuple(parse_suppressions(text)) if self._obey_comments else ()
        for finding in scan_text(path, text):
            reason = find_reason(finding, suppressions)
            if reason is None:
                self._findings.append(finding)
            else:
                self._suppressed.append(SuppressedFinding(finding, reason))
        self._findings += _judge_suppressions(path, suppressions)

    def _pass_over(self, path: str, message: str, severity: Severity | None = None) -> None:
        self._findings.append(make_finding("file-not-scanned", message, path, severity=severity))

    def _result(self) -> ScanResult:
        findings = sorted(self._findings, key=_by_place)
        return ScanResult(tuple(findings), tuple(self._suppressed), self._count)


def _by_place(finding: Diagnostic) -> tuple[str, int, str]:
    return (finding.file or "", finding.line or 0, finding.code)


def _judge_suppressions(path: str, suppressions: Iterable[Suppression]) -> Iterator[Diagnostic]:
    for one in suppressions:
        if not one.reason:
            message = f"The comment does not say why `{', '.join(one.codes)}` is fine here."
            yield make_finding("suppression-without-reason", message, path, one.line)
        for code in one.codes:
            if code not in SCAN_CODES:
                message = f"Unknown code `{code}`."
                yield make_finding("suppression-unknown", message, path, one.line)
