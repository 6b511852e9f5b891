"""What a server says about its skills: entries, checked before anything is believed.

An entry is a promise. It names every file with its size and digest and repeats the header, so that
whatever is read later can be compared with it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

import msgspec

MOST_FILES = 512
"""Files of one skill, as the extension has it."""
MOST_BYTES = 16 << 20
"""Bytes of all files of one skill."""

MOST_PROMPT_NAME = 128
"""Characters of the name of a prompt."""

_MOST_DIGITS = 40
_MOST_URI = 2_000
_NOT_IN_PROMPT_NAME = frozenset(" /\\")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_URI = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\x00-\x1f\x7f\\]+", re.IGNORECASE)
# What every address of a skill ends with; the folder before it is the skill.
_OWN_FILE = "SKILL.md"


class EntryError(ValueError):
    """An entry, or a file, that is not what it should be."""


class FileEntry(msgspec.Struct, frozen=True):
    """A file of a skill as the server lists it."""

    uri: str
    digest: str
    size: int


class SkillEntry(msgspec.Struct, frozen=True):
    """A skill as a server lists it. `files` is None where the server lists none in advance."""

    uri: str
    frontmatter: Mapping[str, Any]
    files: Mapping[str, FileEntry] | None

    @property
    def name(self) -> str:
        """The last folder of its address, which is its name."""
        return self.uri.split("/")[-2]

    @property
    def namespace(self) -> tuple[str, ...]:
        """The folders before its name."""
        path = self.uri.partition("://")[2]
        folders = path.split("/")[:-2]
        # `skill:///name/SKILL.md` has no host, and so an empty word before its first folder.
        return tuple(filter(None, folders))

    @property
    def digest(self) -> str:
        """What an approval is bound to: every file with its digest. Empty if there is no list."""
        if self.files is None:
            return ""
        # Sorted, because a server may list the same files in another order tomorrow.
        pairs = sorted((file.uri, file.digest) for file in self.files.values())
        return _hash(msgspec.json.encode(pairs))

    def find_file(self, path: str) -> FileEntry:
        """The file at a path below the skill. Raises `EntryError` for one that is not listed."""
        # Servers differ in whether their addresses are percent-encoded.
        plain = self._base + path
        encoded = self._base + quote(path)
        files = self.files or {}
        file = files.get(plain) or files.get(encoded)
        if file is None:
            raise EntryError("the server does not list this file")
        return file

    def list_paths(self) -> list[str]:
        """The paths of its files below the skill, without SKILL.md, sorted."""
        # All addresses begin with that of the skill's folder: `parse_entry` refuses others.
        paths = (uri.removeprefix(self._base) for uri in self.files or {})
        return sorted(unquote(path) for path in paths if path != _OWN_FILE)

    @property
    def _base(self) -> str:
        return self.uri.removesuffix(_OWN_FILE)


def parse_entry(data: Any) -> SkillEntry:
    """An entry of a list. Raises `EntryError` with what is wrong."""
    if not isinstance(data, Mapping):
        raise EntryError("it is not an object")
    uri = _parse_skill_uri(data.get("uri"))
    frontmatter = data.get("frontmatter")
    if not isinstance(frontmatter, Mapping):
        raise EntryError("its `frontmatter` is not an object")
    if not all(isinstance(key, str) for key in frontmatter):
        raise EntryError("its `frontmatter` is not an object")
    files = _parse_files(data.get("resources"), uri)
    entry = SkillEntry(uri, dict(frontmatter), files)
    # The address is what an approval shows and the name is what a user types; two that differ
    # would let one skill pass for another.
    if frontmatter.get("name") != entry.name:
        raise EntryError(f"its `uri` says “{entry.name[:64]}”, but its `name` is different")
    return entry


def _parse_skill_uri(uri: Any) -> str:
    if not _is_uri(uri) or len(uri) > _MOST_URI:
        raise EntryError("its `uri` is not a URI")
    if not uri.endswith(f"/{_OWN_FILE}") or _leads_up(uri):
        raise EntryError(f"its `uri` does not end with /{_OWN_FILE}")
    return str(uri)


def _is_uri(value: Any) -> bool:
    return isinstance(value, str) and _URI.fullmatch(value) is not None


def _leads_up(uri: str) -> bool:
    return ".." in uri.split("/")


def _hash(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def check_prompt_name(name: str) -> None:
    """Refuse what cannot be typed as one word of a command. Raises `EntryError`."""
    if not name:
        raise EntryError("it has no name")
    if len(name) > MOST_PROMPT_NAME:
        raise EntryError(
            f"its name has {len(name):,} characters; at most {MOST_PROMPT_NAME} are allowed"
        )
    # What is not printable includes all spaces but the plain one.
    if not name.isprintable() or not _NOT_IN_PROMPT_NAME.isdisjoint(name):
        raise EntryError("its name has spaces, slashes or control characters")


def _parse_files(data: Any, uri: str) -> dict[str, FileEntry] | None:
    # The word of the extension for a server that makes its files when they are asked for.
    if data == "dynamic":
        return None
    # To Python a text is a sequence, too.
    if isinstance(data, str) or not isinstance(data, Sequence):
        raise EntryError("its `resources` is not a list")
    if len(data) > MOST_FILES:
        raise EntryError(f"it has {len(data):,} files; at most {MOST_FILES} are used")
    base = uri.removesuffix(_OWN_FILE)
    files: dict[str, FileEntry] = {}
    # By address, so that one that is listed twice counts once.
    for listed in data:
        file = _parse_file(listed)
        # A file elsewhere could be one of another skill, which needs an approval of its own.
        if not file.uri.startswith(base):
            raise EntryError("it lists a file outside its own folder")
        files[file.uri] = file
    # Then an approval would not cover the instructions themselves.
    if uri not in files:
        raise EntryError(f"it does not list its own {_OWN_FILE}")
    total = sum(file.size for file in files.values())
    if total > MOST_BYTES:
        raise EntryError(f"its files have more than {MOST_BYTES >> 20} MiB")
    return files


def _parse_file(data: Any) -> FileEntry:
    if not isinstance(data, Mapping):
        raise EntryError("it lists a file that is not an object")
    uri, digest, size = data.get("uri"), data.get("digest"), data.get("size")
    has_uri = _is_uri(uri) and not _leads_up(str(uri))
    has_digest = isinstance(digest, str) and _DIGEST.fullmatch(digest)
    # A truth value is a number to Python, but not in JSON.
    has_size = type(size) is int and size >= 0
    if not (has_uri and has_digest and has_size):
        raise EntryError("it lists a file without a proper `uri`, `digest` and `size`")
    return FileEntry(str(uri), str(digest), int(size or 0))


def check_file(data: bytes, file: FileEntry) -> None:
    """Compare a file that was read with what was promised. Raises `EntryError`."""
    if len(data) != file.size:
        raise EntryError(f"it has {len(data):,} bytes; the server promised {file.size:,}")
    if _hash(data) != file.digest:
        raise EntryError("its content is not what the server promised")


def render_header(entry: SkillEntry) -> bytes:
    """A SKILL.md without a body, with the header of an entry.

    JSON is YAML, so every value can stand behind its key.
    """
    lines = ["---"]
    for key, value in entry.frontmatter.items():
        json = msgspec.json.encode(value).decode()
        lines.append(f"{_render_key(key)}: {json}")
    lines += ("---", "")
    return "\n".join(lines).encode("utf-8", "replace")


def is_same_header(promised: Any, sent: Any) -> bool:
    """Whether two headers say the same, although one was read by YAML 1.1 and the other by 1.2.

    Servers differ in what they make of `yes`, `017` or `1_000`: a truth word, a number or text. The
    author wrote the same, so that is no lie.
    """
    if isinstance(promised, Mapping) and isinstance(sent, Mapping):
        if promised.keys() != sent.keys():
            return False
        return all(is_same_header(promised[key], sent[key]) for key in sent)
    if isinstance(promised, list) and isinstance(sent, list):
        if len(promised) != len(sent):
            return False
        return all(map(is_same_header, promised, sent))
    promised_readings = _list_readings(promised)
    return not promised_readings.isdisjoint(_list_readings(sent))


_WORDS: Mapping[str, bool | None] = {
    "yes": True,
    "on": True,
    "true": True,
    "no": False,
    "off": False,
    "false": False,
    "null": None,
    "~": None,
    "": None,
}


def _list_readings(value: Any) -> set[tuple[str, Any]]:
    """What a scalar can be read as, each with its type, because 1 is also true in Python."""
    if isinstance(value, bool) or value is None:
        return {("word", value)}
    if isinstance(value, int | float):
        return {("number", value)}
    if not isinstance(value, str):
        return set()
    readings: set[tuple[str, Any]] = {("text", value)}
    word = value.lower()
    if word in _WORDS:
        readings.add(("word", _WORDS[word]))
    # Longer ones are no numbers that anybody wrote.
    if len(value) > _MOST_DIGITS:
        return readings
    digits = value.replace("_", "")
    for pattern, read in _NUMBERS:
        if pattern.fullmatch(digits):
            readings.add(("number", read(digits)))
    return readings


def _read_octal(text: str) -> int:
    return int(text, 8)


def _read_based(text: str) -> int:
    return int(text, 0)


def _read_sexagesimal(text: str) -> int:
    """`12:30:45` as YAML 1.1 reads it: the seconds since midnight."""
    total = 0
    for part in text.lstrip("+-").split(":"):
        total = total * 60 + int(part)
    return -total if text.startswith("-") else total


# `017` is 15 to YAML 1.1, 17 to YAML 1.2, and text to a server that keeps what was written.
_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[str], float]], ...] = (
    (re.compile(r"[-+]?0[0-7]+"), _read_octal),
    (re.compile(r"[-+]?0(?:x[\da-fA-F]+|o[0-7]+|b[01]+)"), _read_based),
    (re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"), float),
    (re.compile(r"[-+]?[1-9]\d*(?::[0-5]?\d)+"), _read_sexagesimal),
)


def _render_key(key: str) -> str:
    # Any other key could be read as something else than one key.
    is_plain = re.fullmatch(r"[A-Za-z_][\w-]*", key)
    return key if is_plain else msgspec.json.encode(key).decode()


def decode_content(content: Any) -> bytes:
    """The bytes of a resource as servers send it. Raises `EntryError`."""
    text = getattr(content, "text", None)
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    blob = getattr(content, "blob", None)
    try:
        # By default Python skips whatever is not base64.
        return base64.b64decode(blob or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise EntryError("the server sent neither text nor base64") from None
