"""From a candidate to a skill: read the file's head once, understand its header under the host's
rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.model.outcome import Note, State
from prowess.model.skill import Candidate, Document, Manifest, Skill
from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.manifest.names import understand
from prowess.ports import FileSystem, Head, ReadingStore, Stamp
from prowess.profiles.schema.header import FieldRules, HeaderRules
from prowess.profiles.schema.roots import Limits

HEAD_BYTES = 1 << 18
# No host's own limit on a file is as large as this, and nobody writes so much.
MOST_BYTES = 1 << 24

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


class Read(msgspec.Struct, frozen=True, gc=False):
    """What became of a candidate: a skill, or the note that says why not."""

    name: str
    skill: Skill | None
    note: Note | None = None
    hidden_because: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """The rules and ports that reading needs, the same for every candidate of a scan."""

    files: FileSystem
    readings: ReadingStore[Parsed]
    header: HeaderRules
    fields: FieldRules
    limits: Limits
    document: Callable[[Skill], Document]

    def read(self, candidate: Candidate) -> Read:
        """Read one candidate; whatever is wrong with it becomes a note and diagnostics, never an
        exception.
        """
        if candidate.skipped is not None:
            note = Note(State.SKIPPED, candidate.skipped, rule=candidate.skipped_by)
            return Read(candidate.default_name, None, note, diagnostics=candidate.diagnostics)
        if candidate.diagnostics:
            return _refuse(candidate, candidate.diagnostics)
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
        diagnostics = place(parsed.diagnostics, candidate.location) if parsed.diagnostics else ()
        if not parsed.valid:
            return _refuse(candidate, diagnostics, name=parsed.name)
        return Read(
            parsed.name,
            self._make_skill(candidate, parsed, stamp),
            None,
            parsed.hidden_because,
            diagnostics,
        )

    def _read_header(self, head: Head, location: str) -> tuple[HeaderReading, bytes]:
        """Read the header; where the first bytes do not hold its end, as much of the file as this
        host reads.
        """
        reading = read_header(head.data, rules=self.header, limits=self.limits)
        most = min(self.limits.file_bytes or MOST_BYTES, MOST_BYTES)
        if len(head.data) < head.size <= most and any(
            one.code == "header-unclosed" for one in reading.diagnostics
        ):
            head = self.files.read_head(location, most)
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

    def _make_skill(self, candidate: Candidate, parsed: Parsed, stamp: Stamp) -> Skill:
        root = candidate.root
        return Skill(
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
            read=self.document,
        )


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


def read_document(data: bytes, rules: HeaderRules) -> Document:
    """The body of a whole file and the digest of its bytes."""
    import hashlib

    from prowess.parse.header.fences import split_body
    from prowess.parse.header.lines import decode

    text, _ = decode(data)
    return Document(split_body(text, rules=rules), f"sha256:{hashlib.sha256(data).hexdigest()}")


def place(diagnostics: Iterable[Diagnostic], location: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a reading, which knows no path, with the file they belong to."""
    return tuple(msgspec.structs.replace(diagnostic, file=location) for diagnostic in diagnostics)


def _refuse(
    candidate: Candidate, diagnostics: tuple[Diagnostic, ...], *, name: str | None = None
) -> Read:
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity is Severity.ERROR]
    first = (errors or list(diagnostics))[0]
    note = Note(State.INVALID, first.message.rstrip("."), rule=first.code)
    return Read(name or candidate.default_name, None, note, diagnostics=diagnostics)


def _too_large(candidate: Candidate, size: int, most: int) -> Read:
    message = f"The file has {size:,} bytes; at most {most:,} are read."
    finding = diagnose("file-too-large", message, file=candidate.location)
    note = Note(State.SKIPPED, message.rstrip("."), rule="limits.file_bytes")
    return Read(candidate.default_name, None, note, diagnostics=(finding,))


def _unreadable(candidate: Candidate, error: Exception) -> Diagnostic:
    cause = getattr(error, "strerror", None) or str(error)
    return diagnose(
        "file-unreadable", f"The file cannot be read: {cause}.", file=candidate.location
    )
