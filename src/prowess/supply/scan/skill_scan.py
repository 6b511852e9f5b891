"""The scan of a skill: from a folder, or from files in memory, to findings."""

from __future__ import annotations

import itertools
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from prowess.diagnostics import Diagnostic, Severity, worst
from prowess.errors import name_cause
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

# More than any skill has. What lies beyond is a finding, so that nobody hides behind a limit.
MOST_FILES = 2_000
MOST_FOLDERS = 500
MOST_BYTES = 1_000_000
"""How much of one file is read."""
MOST_TOTAL = 20_000_000
# A reader stops at the first few of a kind, and a file may have thousands.
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


def join_results(results: Iterable[ScanResult]) -> ScanResult:
    """Several results as one, sorted by file and line."""
    # Sorted once, at the end: after each of thousands of skills it would take minutes.
    findings: list[Diagnostic] = []
    suppressed: list[SuppressedFinding] = []
    files = 0
    for result in results:
        findings += result.findings
        suppressed += result.suppressed
        files += result.files
    findings.sort(key=_by_place)
    return ScanResult(tuple(findings), tuple(suppressed), files)


def scan_folder(folder: str, files: FileSystem, *, obey_comments: bool = False) -> ScanResult:
    """Scan every file of a skill.

    Symlinks are not followed, and there are limits on sizes and counts; what is not read is a
    finding. Comments that suppress findings count only with `obey_comments`: the author of a skill
    that somebody else is about to install does not decide what that person is told.
    """
    return _FileScan(obey_comments=obey_comments).scan_disk(folder, files)


def scan_one_file(path: str, files: FileSystem, *, obey_comments: bool = False) -> ScanResult:
    """Scan one file of a skill."""
    return _FileScan(obey_comments=obey_comments).scan_paths([path], files)


def scan_files(contents: Mapping[str, bytes], *, obey_comments: bool = False) -> ScanResult:
    """Scan files that are in memory, by their paths, such as those of an archive."""
    return _FileScan(obey_comments=obey_comments).scan_all(sorted(contents.items()))


def scan_text(path: str, text: str) -> tuple[Diagnostic, ...]:
    """Everything that the rules find in a text, sorted by line; comments suppress nothing."""
    # Passages overlap: a command in a block without a language is also read as text. A set keeps
    # what both say once.
    findings: set[Diagnostic] = set()
    counts: Counter[str] = Counter()
    for passage in list_passages(path, text):
        for finding in _apply_rules(passage, path):
            is_new = finding not in findings
            if is_new and counts[finding.code] < _MOST_PER_CODE:
                counts[finding.code] += 1
                findings.add(finding)
    return tuple(sorted(findings, key=_by_line))


def _by_line(finding: Diagnostic) -> tuple[int, str, str]:
    return (finding.line or 0, finding.code, finding.message)


def _apply_rules(passage: Passage, path: str) -> Iterator[Diagnostic]:
    for rule in RULES:
        if passage.kind not in rule.reads:
            continue
        # Matching stops here, too: a hostile file could have a million of them.
        for match in itertools.islice(rule.match(passage), _MOST_PER_CODE):
            # The name of a file is on no line; the one in its header is never on the first.
            is_file_name = passage.kind is Kind.NAME and match.line == 1
            line = None if is_file_name else match.line
            yield make_finding(rule.code, match.reason, path, line, match.severity)


def make_finding(
    code: str, message: str, path: str, line: int | None = None, severity: Severity | None = None
) -> Diagnostic:
    """A finding with the severity and the hint of its code, unless it has a severity of its own."""
    meaning = SCAN_CODES[code]
    return Diagnostic(
        code, severity or meaning.severity, message, file=path, line=line, hint=meaning.hint
    )


class _FileScan:
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
                # One byte more than is scanned shows whether there is more.
                head = files.read_head(path, min(MOST_BYTES + 1, self._room + 1))
            except (OSError, ValueError) as error:
                self._pass_over(path, f"The file cannot be read: {name_cause(error)}.")
                continue
            self._scan_data(path, head.data, head.size)
        return self._result()

    def _list_files(self, folder: str, files: FileSystem) -> Iterator[str]:
        """The files below a folder in the order of their paths, as many as are read."""
        # A loop, not recursion: a hostile folder may be deeper than Python's stack.
        waiting, folders, count = [folder], 0, 0
        while waiting:
            here = waiting.pop()
            folders += 1
            if folders > MOST_FOLDERS:
                self._pass_over(here, f"There are more than {MOST_FOLDERS:,} folders.")
                return
            inner: list[str] = []
            for path, is_folder in self._list_folder(here, files):
                if is_folder:
                    inner.append(path)
                    continue
                if count >= MOST_FILES:
                    self._pass_over(path, f"There are more than {MOST_FILES:,} files.")
                    return
                count += 1
                yield path
            waiting += reversed(inner)

    def _list_folder(self, folder: str, files: FileSystem) -> Iterator[tuple[str, bool]]:
        """The files and folders in a folder; the rest is passed over, with a finding."""
        try:
            items = files.list_folder(folder)
        except OSError as error:
            self._pass_over(folder, f"The folder cannot be listed: {error.strerror}.")
            return
        for item in items:
            path = posixpath.join(folder, item.name)
            if item.is_link:
                self._pass_over(path, "It is a symlink, which the scan does not follow.")
            elif item.kind not in ("file", "folder"):
                # Reading a pipe would wait for somebody who writes into it.
                self._pass_over(path, "It is neither a file nor a folder.")
            elif item.kind == "file" or item.name not in _SKIPPED_FOLDERS:
                yield path, item.kind == "folder"

    def _scan_data(self, path: str, data: bytes, size: int) -> None:
        """Scan the beginning of a file that has `size` bytes."""
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
        scanned = data[: min(MOST_BYTES, self._room)]
        self._room -= len(scanned)
        self._count += 1
        # Windows line ends would keep patterns with `$` from matching.
        text = scanned.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        self._scan_text(path, text)

    def _scan_text(self, path: str, text: str) -> None:
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
    for suppression in suppressions:
        if not suppression.reason:
            codes = ", ".join(suppression.codes)
            message = f"The comment does not say why `{codes}` is fine here."
            yield make_finding("suppression-without-reason", message, path, suppression.line)
        unknown = (code for code in suppression.codes if code not in SCAN_CODES)
        for code in unknown:
            message = f"Unknown code `{code}`."
            yield make_finding("suppression-unknown", message, path, suppression.line)
