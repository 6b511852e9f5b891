"""From a candidate to a skill: read the file's head once, understand its header under the host's
rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.errors import MachineError
from prowess.model.outcome import Claim, Note, State
from prowess.model.skill import Candidate, Document, Manifest, Skill, SkillCall
from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.manifest.names import understand
from prowess.ports import FileSystem, Head, ReadingStore, Stamp
from prowess.profiles.schema.header import FieldRules, HeaderRules
from prowess.profiles.schema.roots import Limits

HEAD_BYTES = 1 << 18
# No host's own limit on a file is as large as this, and nobody writes so much.
MOST_BYTES = 1 << 24

Loader = Callable[[Skill, SkillCall], Document]

_pack = msgspec.msgpack.Encoder().encode


class Parsed(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """All that a scan keeps of a file: what its header says, understood under the rules of one root
    of one host.

    It knows no path, so it can be kept for as long as the file does not change. What few ask for,
    the whole header and the mappings of the manifest, stays packed.
    """

    root: str
    default_name: str
    name: str
    frontmatter: bytes
    manifest: Manifest
    details: bytes = b""
    description: str | None = None
    label: str | None = None
    hidden_because: str | None = None
    valid: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()

    def fits(self, candidate: Candidate) -> bool:
        """Whether this was made for a candidate of the same root and the same place in it."""
        return self.root == candidate.root.id and self.default_name == candidate.default_name


class CandidateReader:
    """The `ManifestReader` of one scan: the host's rules, and what earlier scans read.

    `files` is what headers are read from; `plain_files` what bodies are read from later, without
    holding on to anything of the scan.
    """

    def __init__(
        self,
        *,
        files: FileSystem,
        plain_files: FileSystem,
        readings: ReadingStore[Parsed],
        header: HeaderRules,
        fields: FieldRules,
        limits: Limits,
    ) -> None:
        self.files = files
        self.readings = readings
        self.header = header
        self.fields = fields
        self.limits = limits
        # No file of more bytes than this is read, whatever the host allows.
        self._most_bytes = min(limits.file_bytes or MOST_BYTES, MOST_BYTES)
        self._load_file: Loader = partial(load_file, plain_files, header, self._most_bytes)

    def read_file(self, candidate: Candidate) -> Claim:
        """The claim of a candidate that is a file. Whatever is wrong becomes notes and
        diagnostics.
        """
        if candidate.skipped is not None or candidate.diagnostics:
            return _refuse_unread(candidate)
        kept = self.readings.find_reading(candidate.location)
        if kept is not None and kept.reading.fits(candidate):
            size, links, stamp, parsed = kept.size, kept.links, kept.stamp, kept.reading
        else:
            try:
                head = self.files.read_head(candidate.location, HEAD_BYTES)
                reading, data = self._read_header(head, candidate.location)
            except (OSError, ValueError) as error:
                return _refuse(candidate, (_unreadable(candidate, error),))
            size, links, stamp = head.size, head.links, head.stamp
            parsed = self._parse(reading, candidate, data)
            self.readings.keep_reading(candidate.location, head, parsed)
        if self.limits.file_bytes and size > self.limits.file_bytes:
            return _too_large(candidate, size, self.limits.file_bytes)
        if links > 1 and not candidate.root.hard_links:
            message = f"The file has {links} hard links; this host refuses more than one."
            return _refuse(candidate, (diagnose("hard-linked", message, file=candidate.location),))
        return _claim(candidate, parsed, self._load_file, stamp=stamp, file=candidate.location)

    def read_text(self, candidate: Candidate, data: bytes, fetch: Callable[[str], bytes]) -> Claim:
        """The claim of a candidate that is in no file."""
        if candidate.skipped is not None or candidate.diagnostics:
            return _refuse_unread(candidate)
        if self.limits.file_bytes and len(data) > self.limits.file_bytes:
            return _too_large(candidate, len(data), self.limits.file_bytes)
        reading = read_header(data, rules=self.header, limits=self.limits)
        parsed = self._parse(reading, candidate, data)
        return _claim(
            candidate, parsed, partial(_load_fetched, fetch, self.header, self._most_bytes)
        )

    def _read_header(self, head: Head, location: str) -> tuple[HeaderReading, bytes]:
        """Read the header; where the first bytes do not hold its end, as much of the file as this
        host reads.
        """
        reading = read_header(head.data, rules=self.header, limits=self.limits)
        if len(head.data) < head.size <= self._most_bytes and any(
            one.code == "header-unclosed" for one in reading.diagnostics
        ):
            head = self.files.read_head(location, self._most_bytes)
            reading = read_header(head.data, rules=self.header, limits=self.limits)
        return reading, head.data

    def _parse(self, reading: HeaderReading, candidate: Candidate, data: bytes) -> Parsed:
        root = candidate.root
        if root.ignored_fields:
            kept = {
                key: value
                for key, value in reading.frontmatter.items()
                if key not in root.ignored_fields
            }
            reading = msgspec.structs.replace(reading, frontmatter=kept)
        understood = understand(
            reading, default_name=candidate.default_name, required=root.required, fields=self.fields
        )
        # What a header that cannot be read leaves unsaid is no finding of its own.
        diagnostics = (
            reading.diagnostics + understood.diagnostics if reading.valid else reading.diagnostics
        )
        pattern = root.name_pattern or self.fields.name_pattern
        misnamed = _find_misnamed(understood.name, pattern) if pattern else ()
        diagnostics += misnamed
        if diagnostics:
            from prowess.parse.lint.field_locations import locate_in_file

            diagnostics = locate_in_file(diagnostics, data, self.header)
        manifest, details = _pack_details(understood.manifest)
        return Parsed(
            root.id,
            candidate.default_name,
            understood.name,
            _pack(reading.frontmatter),
            manifest,
            details,
            understood.description,
            understood.label,
            understood.hidden_because,
            reading.valid and understood.valid and not misnamed,
            diagnostics,
        )


def _claim(
    candidate: Candidate,
    parsed: Parsed,
    loader: Loader,
    *,
    stamp: Stamp | None = None,
    file: str | None = None,
) -> Claim:
    """The claim of a candidate that was read: with its skill, or with the reason why not."""
    diagnostics = parsed.diagnostics
    if diagnostics:
        diagnostics = add_file(diagnostics, candidate.location)
    if not parsed.valid:
        return _refuse(candidate, diagnostics, name=parsed.name)
    root = candidate.root
    skill = Skill(
        name=parsed.name,
        description=parsed.description,
        location=candidate.location,
        folder=candidate.folder,
        scope=root.scope,
        source=root.source,
        declared=parsed.manifest,
        packed_details=parsed.details,
        packed_frontmatter=parsed.frontmatter,
        label=parsed.label,
        real=candidate.real,
        stamp=stamp,
        file=file,
        loader=loader,
    )
    return Claim(candidate, parsed.name, skill, [], diagnostics, parsed.hidden_because)


def _pack_details(manifest: Manifest) -> tuple[Manifest, bytes]:
    """A manifest without the mappings that no stage of a scan asks for, and these packed."""
    if not (manifest.metadata or manifest.install or manifest.hooks):
        return manifest, b""
    packed = _pack(
        {"metadata": manifest.metadata, "hooks": manifest.hooks, "install": manifest.install}
    )
    return msgspec.structs.replace(manifest, metadata={}, install=()), packed


def _find_misnamed(name: str, pattern: str) -> tuple[Diagnostic, ...]:
    if re.fullmatch(pattern, name):
        return ()
    message = (
        f"The name has {len(name)} characters and reads “{name[:80]}”; here it must match"
        f" `{pattern}`."
    )
    return (diagnose("name-invalid", message, field="name"),)


def load_file(
    files: FileSystem, header: HeaderRules, most: int, skill: Skill, call: SkillCall
) -> Document:
    """The whole of a skill's file.

    A file that became a link since, or lies behind one, was never judged: it is not read. Neither
    is one of more bytes than `most`, since a part of it could mean something else.
    """
    location = skill.location
    real = files.find_real_path(location)
    if None not in (skill.real, real) and skill.real != real:
        cause = (
            f"it was {skill.real} when skills were looked for and leads to {real} now; look for"
            " skills again"
        )
        raise MachineError("read", location, cause)
    try:
        head = files.read_head(location, most) if real is None else files.read_real_head(real, most)
    except OSError as error:
        raise MachineError("read", location, error.strerror or str(error)) from error
    return _split_document(head.data, head.size, header, most, location)


def _load_fetched(
    fetch: Callable[[str], bytes], header: HeaderRules, most: int, skill: Skill, call: SkillCall
) -> Document:
    try:
        data = fetch(skill.location)
    except OSError as error:
        raise MachineError("read", skill.location, error.strerror or str(error)) from error
    return _split_document(data, len(data), header, most, skill.location)


def _split_document(
    data: bytes, size: int, header: HeaderRules, most: int, location: str
) -> Document:
    """The body of a whole SKILL.md and the digest of its bytes."""
    if size > most:
        raise MachineError("read", location, f"it has {size:,} bytes; at most {most:,} are read")
    import hashlib

    from prowess.parse.header.fences import split_body
    from prowess.parse.header.lines import decode

    text, _ = decode(data)
    return Document(split_body(text, rules=header), f"sha256:{hashlib.sha256(data).hexdigest()}")


def add_file(diagnostics: Iterable[Diagnostic], location: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a reading, which knows no path, with the file they belong to."""
    return tuple(msgspec.structs.replace(diagnostic, file=location) for diagnostic in diagnostics)


def _refuse_unread(candidate: Candidate) -> Claim:
    """The claim of a candidate that discovery already decided about."""
    if candidate.skipped is None:
        return _refuse(candidate, candidate.diagnostics)
    note = Note(State.SKIPPED, candidate.skipped, rule=candidate.skipped_by)
    return Claim(candidate, candidate.default_name, notes=[note], diagnostics=candidate.diagnostics)


def _refuse(
    candidate: Candidate, diagnostics: tuple[Diagnostic, ...], *, name: str | None = None
) -> Claim:
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR]
    first = (errors or list(diagnostics))[0]
    note = Note(State.INVALID, first.message.rstrip("."), rule=first.code)
    return Claim(candidate, name or candidate.default_name, notes=[note], diagnostics=diagnostics)


def _too_large(candidate: Candidate, size: int, most: int) -> Claim:
    message = f"The file has {size:,} bytes; at most {most:,} are read."
    finding = diagnose("file-too-large", message, file=candidate.location)
    note = Note(State.SKIPPED, message.rstrip("."), rule="limits.file_bytes")
    return Claim(candidate, candidate.default_name, notes=[note], diagnostics=(finding,))


def _unreadable(candidate: Candidate, error: Exception) -> Diagnostic:
    cause = getattr(error, "strerror", None) or str(error)
    return diagnose(
        "file-unreadable", f"The file cannot be read: {cause}.", file=candidate.location
    )
