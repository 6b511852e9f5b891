"""From a candidate to a claim: read the beginning of its file once, and its header under the host's
rules.
"""

# Without postponed annotations, for the reason given in `prowess.model.skill`.

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import inf
from types import MappingProxyType
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.errors import MachineError, name_cause
from prowess.model.files import KeptReading, Stamp
from prowess.model.outcome import Claim, Note, State
from prowess.model.skill import Candidate, Document, Manifest, Skill, SkillCall
from prowess.parse.header.fast import HeaderReading, read_header
from prowess.parse.manifest.names import Understood, understand
from prowess.ports import FileSystem, ReadingStore
from prowess.profiles.schema.header import FieldRules, HeaderRules
from prowess.profiles.schema.roots import ScanLimits

# Enough for every header that somebody wrote; files beyond it are read whole only if needed.
HEAD_BYTES = 1 << 18
# No host's own limit on a file is as large as this, and nobody writes so much.
MOST_BYTES = 1 << 24

Loader = Callable[[Skill, SkillCall], Document]

_pack = msgspec.msgpack.Encoder().encode
_set = msgspec.structs.force_setattr
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class ShownFields(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The name and the description under which a host shows a skill, and why it does not."""

    name: str
    description: str | None
    label: str | None
    hidden_because: str | None


class Parsed(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a scan keeps of a file: what its header means under the rules of one root of one host.

    It has no path, so it can be kept for as long as the file does not change. The whole header and
    the mappings of the manifest, which few need, stay packed. So does the rest of the manifest
    beside name and description, because it is the same for many skills. `shown` is None where name
    and description are those of the manifest and there is nothing else, as for most skills.
    """

    root: str
    default_name: str
    name: str | None
    description: str | None
    manifest: bytes
    frontmatter: bytes
    details: bytes = b""
    shown: ShownFields | None = None
    valid: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()


class CandidateReader:
    """The `ManifestReader` of one scan: the host's rules, and what earlier scans read.

    Headers are read from `files`, bodies later from `plain_files`: a skill outlives the scan, and
    must not keep its caches alive. Roots that are `strict` are read under the rules in `standard`,
    where a skill with a warning is refused.
    """

    def __init__(
        self,
        *,
        files: FileSystem,
        plain_files: FileSystem,
        readings: ReadingStore[Parsed],
        header: HeaderRules,
        fields: FieldRules,
        limits: ScanLimits,
        standard: tuple[HeaderRules, FieldRules] | None = None,
        refuse_warnings: bool = False,
    ) -> None:
        self._files = files
        self._readings = readings
        self._header = header
        self._fields = fields
        self._limits = limits
        self._largest = limits.file_bytes if limits.file_bytes > 0 else inf
        self._most_bytes = min(limits.file_bytes or MOST_BYTES, MOST_BYTES)
        self._strict = None
        if standard is not None:
            self._strict = CandidateReader(
                files=files,
                plain_files=plain_files,
                readings=readings,
                header=standard[0],
                fields=standard[1],
                limits=limits,
                refuse_warnings=True,
            )
        self._refuse_warnings = refuse_warnings
        self._manifests: dict[bytes, Manifest] = {}
        self._decode_manifest = msgspec.msgpack.Decoder(Manifest).decode
        self._load_file: Loader = partial(load_file, plain_files, header, self._most_bytes)

    def read_file(self, candidate: Candidate) -> Claim:
        """The claim of a candidate that is a file."""
        root = candidate.root
        if root.strict and self._strict is not None:
            return self._strict.read_file(candidate)
        if candidate.skipped is not None or candidate.diagnostics:
            return _refuse_unread(candidate)
        kept = self._readings.find_reading(candidate.location)
        # What was read in another root or under another name of its folder may mean another thing.
        if kept is None or (
            kept.reading.root != root.id or kept.reading.default_name != candidate.default_name
        ):
            try:
                kept = self._read(candidate)
            except (OSError, ValueError) as error:
                # Opening a path with a NUL in it is a ValueError.
                return _refuse(candidate, (_report_unreadable(candidate, error),))
        if kept.size > self._largest:
            return _refuse_large(candidate, kept.size, self._limits.file_bytes)
        if kept.links > 1 and not root.hard_links:
            return _refuse_linked(candidate, kept.links)
        claim = self._claim(
            candidate, kept.reading, self._load_file, kept.stamp, candidate.location
        )
        if self._fields.companion and claim.skill is not None:
            self._read_companion(claim)
        return claim

    def _read_companion(self, claim: Claim) -> None:
        """Note what the file beside SKILL.md says about who may use the skill."""
        # Few hosts have such a file, so scans for the others do without this module.
        from prowess.parse.manifest.openai_file import OPENAI_FILE, parse_openai_file

        file = f"{claim.candidate.folder}/{OPENAI_FILE}"
        if self._files.find_kind(file) != "file":
            return
        try:
            data = self._files.read_head(file, HEAD_BYTES).data
        except OSError:
            # The host reads SKILL.md all the same.
            return
        companion = parse_openai_file(data, file, self._limits)
        claim.diagnostics += companion.diagnostics
        described = companion.describe()
        if described and claim.skill is not None:
            packed = _pack(described)
            claim.skill = msgspec.structs.replace(claim.skill, packed_companion=packed)
        if not companion.is_for_codex:
            reason = f"{OPENAI_FILE} names other products"
            claim.later += (Note(State.INELIGIBLE, reason, rule="policy.products"),)
        if companion.is_hidden:
            reason = f"{OPENAI_FILE} says `allow_implicit_invocation: false`"
            rule = "policy.allow_implicit_invocation"
            claim.later += (Note(State.HIDDEN, reason, rule=rule),)

    def read_text(self, candidate: Candidate, data: bytes, fetch: Callable[[str], bytes]) -> Claim:
        """The claim of a candidate that is in no file."""
        if candidate.skipped is not None or candidate.diagnostics:
            return _refuse_unread(candidate)
        if len(data) > self._limits.file_bytes > 0:
            return _refuse_large(candidate, len(data), self._limits.file_bytes)
        parsed = self._parse(self._read_header(data), candidate, data)
        loader = partial(_load_fetched, fetch, self._header, self._most_bytes)
        return self._claim(candidate, parsed, loader, None, None)

    def _claim(
        self,
        candidate: Candidate,
        parsed: Parsed,
        loader: Loader,
        stamp: Stamp | None,
        file: str | None,
    ) -> Claim:
        """The claim of a candidate that was read: with its skill, or with the reason why not."""
        diagnostics = parsed.diagnostics
        if diagnostics:
            diagnostics = add_file(diagnostics, candidate.location)
        shown = parsed.shown
        if shown is None:
            name, description = parsed.name or "", parsed.description
            label = hidden = None
        else:
            name, description = shown.name, shown.description
            label, hidden = shown.label, shown.hidden_because
        if candidate.prefix:
            name = f"{candidate.prefix}:{name}"
            label = label and f"{candidate.prefix}:{label}"
        if not parsed.valid:
            return _refuse(candidate, diagnostics, name=name)
        root = candidate.root
        # Some by position: Python makes a dictionary for a call with more than 15 keywords.
        skill = Skill(
            name,
            description,
            candidate.location,
            candidate.folder,
            root.scope,
            root.source,
            self._manifests.get(parsed.manifest) or self._unpack(parsed.manifest),
            loader,
            declared_name=parsed.name,
            declared_description=parsed.description,
            packed_details=parsed.details,
            packed_frontmatter=parsed.frontmatter,
            label=label,
            real=candidate.real,
            stamp=stamp,
            file=file,
        )
        return Claim(candidate, name, skill, [], diagnostics, hidden)

    def _unpack(self, packed: bytes) -> Manifest:
        """A manifest without name and description, which is the same for many skills."""
        manifest = self._decode_manifest(packed)
        if manifest.hooks is None:
            # There is nothing in it that a caller could change, so skills can share it.
            _set(manifest, "metadata", _NOTHING)
            self._manifests[packed] = manifest
        return manifest

    def _read(self, candidate: Candidate) -> KeptReading[Parsed]:
        """Read the beginning of a file. Where the header does not end in it, more is read, as much
        as the host reads of any file.
        """
        location = candidate.location
        head = self._files.read_head(location, HEAD_BYTES)
        reading = self._read_header(head.data)
        has_more = len(head.data) < head.size <= self._most_bytes
        if has_more and _is_unclosed(reading):
            head = self._files.read_head(location, self._most_bytes)
            reading = self._read_header(head.data)
        parsed = self._parse(reading, candidate, head.data)
        return self._readings.keep_reading(location, head, parsed)

    def _read_header(self, data: bytes) -> HeaderReading:
        return read_header(data, rules=self._header, limits=self._limits)

    def _parse(self, reading: HeaderReading, candidate: Candidate, data: bytes) -> Parsed:
        """What a header means in the root of a candidate."""
        root = candidate.root
        if root.ignored_fields:
            reading = _drop_fields(reading, root.ignored_fields)
        if self._fields.body_description == "paragraphs" and reading.valid:
            reading = _add_body(reading, data, self._header)
        understood = understand(
            reading,
            default_name=candidate.default_name,
            required=root.required,
            fields=self._fields,
            empty_description=root.empty_description,
        )
        valid = understood.valid
        diagnostics = reading.diagnostics
        if reading.valid:
            # Of a header that cannot be read, it is no news that fields are missing.
            diagnostics += understood.diagnostics
        pattern = root.name_pattern or self._fields.name_pattern
        if pattern and not re.fullmatch(pattern, understood.name):
            valid = False
            diagnostics += (_report_misnamed(understood.name, pattern),)
        if self._refuse_warnings:
            diagnostics += tuple(_find_not_standard(reading))
            # Each warning is about a rule of the standard.
            has_warning = any(finding.severity is not Severity.INFO for finding in diagnostics)
            valid = valid and not has_warning
        if diagnostics:
            # Most files have none, so the lines of fields are only searched for where they are
            # shown.
            from prowess.parse.lint.field_locations import locate_in_file

            diagnostics = locate_in_file(diagnostics, data, self._header)
        manifest = understood.manifest
        shown = _find_shown(understood, is_clean=root.clean_descriptions)
        details = _take_details(manifest, reading.frontmatter)
        return Parsed(
            root.id,
            candidate.default_name,
            manifest.name,
            manifest.description,
            _pack_rest(manifest),
            _pack(reading.frontmatter),
            details,
            shown,
            valid and reading.valid,
            diagnostics,
        )


def _find_shown(understood: Understood, *, is_clean: bool) -> ShownFields | None:
    """How a host shows a skill; None where that is as its manifest says."""
    manifest, description = understood.manifest, understood.description
    if is_clean and description:
        description = clean_line(description)
    shown = ShownFields(understood.name, description, understood.label, understood.hidden_because)
    is_named = understood.name == manifest.name and understood.label is None
    is_described = description == manifest.description and understood.hidden_because is None
    return None if is_named and is_described else shown


def _find_not_standard(reading: HeaderReading) -> Iterator[Diagnostic]:
    """Values that hosts read, but that the standard does not have."""
    tools = reading.frontmatter.get("allowed-tools", "")
    if not isinstance(tools, str):
        yield diagnose("field-type", "`allowed-tools` must be text.", field="allowed-tools")
    metadata = reading.frontmatter.get("metadata", {})
    values = metadata.values() if isinstance(metadata, dict) else (None,)
    if not all(isinstance(value, str) for value in values):
        yield diagnose("field-type", "`metadata` must be a table of texts.", field="metadata")


def clean_line(text: str) -> str:
    """A text on one line, without what could end a tag or a block of code around it."""
    import unicodedata

    characters = list(text)
    for index, character in enumerate(characters):
        # Control and format characters: the latter can hide or reorder the text around them.
        if unicodedata.category(character) in ("Cc", "Cf"):
            characters[index] = " "
    plain = re.sub(r"[<>`]", "", "".join(characters))
    return " ".join(re.sub(r"~{2,}", "~", plain).split())


def _is_unclosed(reading: HeaderReading) -> bool:
    return any(finding.code == "header-unclosed" for finding in reading.diagnostics)


def _add_body(reading: HeaderReading, data: bytes, header: HeaderRules) -> HeaderReading:
    """The reading with all of the body that was read, where the description comes from there."""
    if "description" in reading.frontmatter:
        return reading
    from prowess.parse.header.fences import split_body
    from prowess.parse.header.lines import decode

    text, _ = decode(data, header)
    return msgspec.structs.replace(reading, body=split_body(text, rules=header))


def _drop_fields(reading: HeaderReading, ignored: tuple[str, ...]) -> HeaderReading:
    fields = reading.frontmatter.items()
    kept = {key: value for key, value in fields if key not in ignored}
    return msgspec.structs.replace(reading, frontmatter=kept)


def _take_details(manifest: Manifest, frontmatter: dict[str, Any]) -> bytes:
    """Take the mappings that no stage of a scan needs out of a manifest, and pack them.

    Nothing is packed if the only one is `metadata` as the header has it: a skill finds it there.
    """
    metadata = manifest.metadata
    packed = b""
    is_in_header = not metadata or metadata is frontmatter.get("metadata")
    if manifest.install or manifest.hooks or not is_in_header:
        packed = _pack({"metadata": metadata, "hooks": manifest.hooks, "install": manifest.install})
        _set(manifest, "install", ())
    # The manifest was made a moment ago and nobody else has it; a changed copy would cost more
    # than everything else here.
    if metadata:
        _set(manifest, "metadata", {})
    return packed


def _pack_rest(manifest: Manifest) -> bytes:
    """A manifest without name and description, packed. It is made for this and used up by it."""
    _set(manifest, "name", None)
    _set(manifest, "description", None)
    return _pack(manifest)


def _report_misnamed(name: str, pattern: str) -> Diagnostic:
    message = f"`name` is “{name[:80]}” ({len(name)} characters); here it must match `{pattern}`."
    return diagnose("name-invalid", message, field="name")


def load_file(
    files: FileSystem, header: HeaderRules, most: int, skill: Skill, call: SkillCall
) -> Document:
    """The whole of a skill's file.

    A file that leads elsewhere than when it was found was never judged: it is not read. Neither is
    one of more bytes than `most`, because a part of it could mean something else.
    """
    location = skill.location
    real = files.find_real_path(location)
    is_known = skill.real is not None and real is not None
    if is_known and skill.real != real:
        cause = f"it was {skill.real} when it was found and leads to {real} now; scan again"
        raise MachineError("read", location, cause)
    try:
        # A symlink that was put into the real path a moment ago is refused, not followed.
        head = files.read_head(location, most) if real is None else files.read_real_head(real, most)
    except OSError as error:
        raise MachineError.caused_by("read", location, error) from error
    return _split_document(head.data, head.size, header, most, location)


def _load_fetched(
    fetch: Callable[[str], bytes], header: HeaderRules, most: int, skill: Skill, call: SkillCall
) -> Document:
    try:
        data = fetch(skill.location)
    except OSError as error:
        raise MachineError.caused_by("read", skill.location, error) from error
    return _split_document(data, len(data), header, most, skill.location)


def _split_document(
    data: bytes, size: int, header: HeaderRules, most: int, location: str
) -> Document:
    """The body of a whole SKILL.md and the digest of its bytes."""
    if size > most:
        raise MachineError("read", location, f"it has {size:,} bytes; at most {most:,} are read")
    import hashlib

    from prowess.parse.header.fences import split_header
    from prowess.parse.header.lines import decode

    split = split_header(decode(data, header)[0], header)
    head, body = split.text[: split.body], split.text[split.body :]
    return Document(body, f"sha256:{hashlib.sha256(data).hexdigest()}", head=head)


def add_file(diagnostics: Iterable[Diagnostic], location: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a reading, which has no path, with the file they belong to."""
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
    # Without an error it is a warning that a strict root refuses.
    first = errors[0] if errors else diagnostics[0]
    note = Note(State.INVALID, first.message.rstrip("."), rule=first.code)
    return Claim(candidate, name or candidate.default_name, notes=[note], diagnostics=diagnostics)


def _refuse_large(candidate: Candidate, size: int, most: int) -> Claim:
    message = f"The file has {size:,} bytes; at most {most:,} are read."
    finding = diagnose("file-too-large", message, file=candidate.location)
    note = Note(State.SKIPPED, message.rstrip("."), rule="limits.file_bytes")
    return Claim(candidate, candidate.default_name, notes=[note], diagnostics=(finding,))


def _refuse_linked(candidate: Candidate, links: int) -> Claim:
    message = f"The file has {links} hard links; this host refuses more than one."
    return _refuse(candidate, (diagnose("hard-linked", message, file=candidate.location),))


def _report_unreadable(candidate: Candidate, error: Exception) -> Diagnostic:
    message = f"The file cannot be read: {name_cause(error)}."
    return diagnose("file-unreadable", message, file=candidate.location)
