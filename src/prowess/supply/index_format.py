"""The formats of remote indexes: what a server says it has, checked before anything is fetched.

Three are in use. opencode's `index.json` and the older `.well-known/skills` (0.1.0) list the files
of each skill. `.well-known/agent-skills` (0.2.0) gives each skill the URL of a SKILL.md or of an
archive, with a digest; an earlier draft of it gives every file a digest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.tree import list_blocked
from prowess.state.unpacked_files import find_refusal

SKILL_FILE = "SKILL.md"
# More than any index has; each costs requests.
MOST_SKILLS = 1_000
MOST_FILES = 512
"""How many files a skill may have; what hosts of skills over MCP must accept, too."""

_SCHEMA = re.compile(r"https://schemas\.agentskills\.io/discovery/(\d+\.\d+\.\d+)/schema\.json")
_VERSIONS = ("0.1.0", "0.2.0")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_MOST_NAME = 128
_MOST_PATH = 512
_NOT_IN_PATH = re.compile(r"[\x00-\x1f\x7f\\]")


class RemoteFile(msgspec.Struct, frozen=True):
    """A file to fetch: its path in the skill, its URL, and its digest if the index has one."""

    path: str
    url: str
    digest: str | None = None


class RemoteEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One skill of an index: a list of files, or one archive that has them.

    `version` is what changes when the skill does. With `is_whole` the skill is used only if every
    file was fetched; otherwise SKILL.md is enough.
    """

    name: str
    files: tuple[RemoteFile, ...] = ()
    archive: RemoteFile | None = None
    version: str | None = None
    digest: str | None = None
    is_whole: bool = False


class ParsedIndex(msgspec.Struct, frozen=True):
    """The skills of an index that can be fetched, and what is wrong with it."""

    entries: tuple[RemoteEntry, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class InvalidIndex(ValueError):
    """A text that is no index at all."""


class _RefusedEntry(Exception):
    """An entry that is not used: a diagnostic code and a reason."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class _OpencodeEntry(msgspec.Struct):
    name: str
    files: list[str]
    version: str | msgspec.UnsetType = msgspec.UNSET


class _OpencodeIndex(msgspec.Struct):
    skills: list[_OpencodeEntry]


def parse_index(data: bytes, url: str, *, kind: str = "any") -> ParsedIndex:
    """The skills that the index at a URL names. Raises `InvalidIndex`.

    The `kind` opencode knows one format, and no skill of an index in which one entry is wrong.
    """
    try:
        index = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidIndex(f"it is not JSON ({error})") from None
    if not isinstance(index, dict) or not isinstance(index.get("skills"), list):
        raise InvalidIndex("it is not an object with a list of `skills`")
    is_opencode = kind == "opencode"
    # opencode drops the whole index for one wrong entry, and lists must agree with the host.
    if is_opencode:
        _check_opencode(index)
    else:
        _check_version(index)
    items = index["skills"]
    if len(items) > MOST_SKILLS:
        raise InvalidIndex(f"it has {len(items):,} skills; at most {MOST_SKILLS:,} are allowed")
    has_artifacts = "$schema" in index and not is_opencode
    parse = _parse_artifact if has_artifacts else _parse_files
    # Names that differ in case only share a folder on some machines; to opencode they are two.
    make_key = str if is_opencode else str.casefold
    return _parse_items(items, url, parse, make_key)


def _parse_items(
    items: list[Any],
    url: str,
    parse: Callable[[dict[str, Any], str], RemoteEntry],
    make_key: Callable[[str], str],
) -> ParsedIndex:
    """The entries of a list; one that is refused costs only itself."""
    entries: dict[str, RemoteEntry] = {}
    diagnostics: list[Diagnostic] = []
    for position, item in enumerate(items):
        try:
            entry = parse(_check_entry(item), url)
            key = make_key(entry.name)
            if key in entries:
                raise _RefusedEntry("source-entry-invalid", "its name appears twice in the index")
        except _RefusedEntry as refusal:
            diagnostics.append(_report(refusal, item, position, url))
        else:
            entries[key] = entry
    return ParsedIndex(tuple(entries.values()), tuple(diagnostics))


def _check_opencode(index: dict[str, Any]) -> None:
    try:
        msgspec.convert(index, _OpencodeIndex)
    except msgspec.ValidationError as error:
        raise InvalidIndex(f"opencode rejects it ({error})") from None


def _check_version(index: dict[str, Any]) -> None:
    """Raise for an index of a version that is not known; the standard says not to use it."""
    schema = index.get("$schema")
    if schema is not None and _find_schema_version(schema) not in _VERSIONS:
        raise InvalidIndex(f"its version is not known ($schema {str(schema)[:100]!r})")
    # Indexes from before there were schemas have a version of their own, or none.
    version = index.get("version")
    if isinstance(version, str) and not version.startswith("0."):
        raise InvalidIndex(f"its version is not known ({version[:40]!r})")


def _find_schema_version(schema: Any) -> str | None:
    if not isinstance(schema, str):
        return None
    match = _SCHEMA.fullmatch(schema)
    return None if match is None else match[1]


def _check_entry(item: Any) -> dict[str, Any]:
    """An entry with a name that can be a folder."""
    if not isinstance(item, dict):
        raise _RefusedEntry("source-entry-invalid", "it is not an object")
    name = item.get("name")
    if not isinstance(name, str) or not name.strip():
        raise _RefusedEntry("source-entry-invalid", "it has no `name`")
    if len(name) > _MOST_NAME:
        raise _RefusedEntry(
            "source-entry-invalid", f"its name has more than {_MOST_NAME} characters"
        )
    _check_path(name, "its name")
    return item


def _check_path(path: str, what: str) -> None:
    """Raise for a path that would leave its folder, on any platform, or that cannot be a file."""
    # A server may decode a path once more than we do.
    for spelling in (path, unquote(path)):
        refusal = find_refusal(spelling)
        if refusal is not None:
            raise _RefusedEntry(
                "source-path-escapes", f"{what} {path[:100]!r} is refused: {refusal}"
            )
    parts = path.split("/")
    # A backslash separates folders on Windows only, so the same path would be two.
    has_odd_character = _NOT_IN_PATH.search(path) is not None
    # `a//b` and `a/./b` are other names for `a/b`, which may be listed, too.
    has_odd_part = "." in parts or "" in parts
    is_plain = not has_odd_character and not has_odd_part
    if not is_plain or len(path) > _MOST_PATH:
        raise _RefusedEntry("source-path-escapes", f"{what} {path[:100]!r} is not a plain path")


def _parse_files(item: dict[str, Any], url: str) -> RemoteEntry:
    """An entry with a list of files: opencode's, 0.1.0 and the earlier draft of 0.2.0."""
    listed = item.get("files")
    if not isinstance(listed, list):
        raise _RefusedEntry("source-entry-invalid", "it has no list of `files`")
    if len(listed) > MOST_FILES:
        reason = f"it has {len(listed):,} files; at most {MOST_FILES} are allowed"
        raise _RefusedEntry("source-too-large", reason)
    name = item["name"]
    parsed = [_parse_file(one, name, url) for one in listed]
    # A list may name a file twice.
    files = {file.path: file for file in parsed}
    if SKILL_FILE not in files:
        raise _RefusedEntry("source-entry-invalid", f"its files have no {SKILL_FILE}")
    _check_nesting(list(files))
    version = item.get("version")
    is_versioned = isinstance(version, str)
    has_digests = all(file.digest is not None for file in parsed)
    # Only the earlier draft of 0.2.0 has a digest of the whole skill, made from those of its files.
    has_own_digest = has_digests and "digest" in item
    digest = _read_digest(item) if has_own_digest else None
    return RemoteEntry(
        name=name,
        files=tuple(files.values()),
        version=version if is_versioned else digest,
        digest=digest,
        # Half of a version would be kept as that version. Without one, as in 0.1.0, the missing
        # files are tried again with the next fetch.
        is_whole=is_versioned or has_digests,
    )


def _check_nesting(paths: list[str]) -> None:
    """Raise where one path is both a file and the folder of another file."""
    both = list_blocked(paths)
    if both:
        raise _RefusedEntry(
            "source-entry-invalid", f"{min(both)[:100]!r} is both a file and a folder"
        )


def _parse_file(listed: Any, name: str, url: str) -> RemoteFile:
    digest = None
    # The earlier draft of 0.2.0 has objects where the others have paths.
    if isinstance(listed, dict):
        digest = _read_digest(listed)
        listed = listed.get("path")
    if not isinstance(listed, str) or not listed.strip():
        raise _RefusedEntry("source-entry-invalid", "one of its files has no path")
    # `urljoin` would take the file from another server.
    is_url = "://" in listed or listed.startswith("//")
    if is_url:
        reason = f"the file {listed[:100]!r} is a URL, not a path"
        raise _RefusedEntry("source-other-origin", reason)
    _check_path(listed, "the path")
    location = urljoin(url, quote(f"{name}/{listed}"))
    return RemoteFile(listed, location, digest)


def _parse_artifact(item: dict[str, Any], url: str) -> RemoteEntry:
    """An entry of 0.2.0: one URL with a digest, for a SKILL.md or an archive."""
    kind, target = item.get("type"), item.get("url")
    if kind not in ("skill-md", "archive"):
        raise _RefusedEntry("source-entry-invalid", f"its type {str(kind)[:40]!r} is not known")
    if not isinstance(target, str):
        raise _RefusedEntry("source-entry-invalid", "it has no `url`")
    digest = _read_digest(item)
    try:
        # Redirects stay at the server of the index for the same reason: the user has named that
        # one.
        resolved = urljoin(url, target)
        is_here = urlsplit(resolved)[:2] == urlsplit(url)[:2]
    except ValueError:
        raise _RefusedEntry("source-entry-invalid", f"{target[:100]!r} is not a URL") from None
    if not is_here:
        reason = f"its URL {resolved[:200]} is on another server than the index"
        raise _RefusedEntry("source-other-origin", reason)
    file = RemoteFile(SKILL_FILE, resolved, digest)
    name = item["name"]
    if kind == "archive":
        return RemoteEntry(name=name, archive=file, version=digest, is_whole=True)
    return RemoteEntry(name=name, files=(file,), version=digest, is_whole=True)


def _read_digest(table: dict[str, Any]) -> str:
    digest = table.get("digest")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        reason = "it has no `digest` of the form `sha256:` and 64 hexadecimal digits"
        raise _RefusedEntry("source-entry-invalid", reason)
    return digest


def _report(refusal: _RefusedEntry, item: Any, position: int, url: str) -> Diagnostic:
    name = item.get("name") if isinstance(item, dict) else None
    # An entry without a name can only be counted.
    shown = repr(name[:80]) if isinstance(name, str) else f"number {position + 1}"
    return diagnose(refusal.code, f"The skill {shown} is not fetched: {refusal.reason}.", file=url)
