"""What a server says about its skills: entries, checked before anything is believed.

An entry is a promise. It names every file with its size and digest and repeats the header, so that
whatever is read later can be compared with it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
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
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_URI = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\x00-\x1f\x7f\\]+", re.IGNORECASE)
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
        return tuple(filter(None, self.uri.partition("://")[2].split("/")[:-2]))

    @property
    def digest(self) -> str:
        """What an approval is bound to: every file with its digest. Empty if there is no list."""
        if self.files is None:
            return ""
        pairs = sorted((one.uri, one.digest) for one in self.files.values())
        return f"sha256:{hashlib.sha256(msgspec.json.encode(pairs)).hexdigest()}"

    def find_file(self, path: str) -> FileEntry:
        """The file at a path below the skill. Raises `EntryError` for one that is not listed."""
        base = self.uri.removesuffix(_OWN_FILE)
        for uri in (base + path, base + quote(path)):
            if self.files is not None and uri in self.files:
                return self.files[uri]
        raise EntryError("the server does not list this file")

    def list_paths(self) -> list[str]:
        """The paths of its files below the skill, without SKILL.md, sorted."""
        base = self.uri.removesuffix(_OWN_FILE)
        found = (one.removeprefix(base) for one in self.files or {} if one.startswith(base))
        return sorted(unquote(path) for path in found if path != _OWN_FILE)


def parse_entry(data: Any) -> SkillEntry:
    """An entry of a list. Raises `EntryError` with what is wrong."""
    if not isinstance(data, Mapping):
        raise EntryError("it is no object")
    uri, frontmatter = data.get("uri"), data.get("frontmatter")
    if not isinstance(uri, str) or not _URI.fullmatch(uri) or len(uri) > 2_000:
        raise EntryError("its `uri` is no address")
    if not uri.endswith(f"/{_OWN_FILE}") or ".." in uri.split("/"):
        raise EntryError(f"its `uri` does not end with /{_OWN_FILE}")
    if not isinstance(frontmatter, Mapping) or not all(isinstance(one, str) for one in frontmatter):
        raise EntryError("its `frontmatter` is no object")
    entry = SkillEntry(uri, dict(frontmatter), _parse_files(data.get("resources"), uri))
    if frontmatter.get("name") != entry.name:
        raise EntryError(f"its address says “{entry.name[:64]}”, its `name` something else")
    return entry


def check_prompt_name(name: str) -> None:
    """Refuse what cannot be typed as one word of a command. Raises `EntryError`."""
    if not name:
        raise EntryError("it has no name")
    if len(name) > MOST_PROMPT_NAME:
        raise EntryError(f"its name has {len(name):,} characters; at most {MOST_PROMPT_NAME} count")
    is_word = name.isprintable() and not any(one.isspace() for one in name)
    if not is_word or "/" in name or "\\" in name:
        raise EntryError("its name has spaces, slashes or control characters")


def _parse_files(data: Any, uri: str) -> dict[str, FileEntry] | None:
    if data == "dynamic":
        return None
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise EntryError("its `resources` is no list")
    if len(data) > MOST_FILES:
        raise EntryError(f"it has {len(data):,} files; at most {MOST_FILES} are used")
    base = uri.removesuffix(_OWN_FILE)
    files: dict[str, FileEntry] = {}
    for one in data:
        file = _parse_file(one)
        # A file elsewhere could be one of another skill, which needs an approval of its own.
        if not file.uri.startswith(base):
            raise EntryError("it lists a file outside of it")
        files[file.uri] = file
    if uri not in files:
        raise EntryError(f"it does not list its own {_OWN_FILE}")
    if sum(file.size for file in files.values()) > MOST_BYTES:
        raise EntryError(f"its files have more than {MOST_BYTES >> 20} MiB")
    return files


def _parse_file(data: Any) -> FileEntry:
    if not isinstance(data, Mapping):
        raise EntryError("it lists a file that is no object")
    uri, digest, size = data.get("uri"), data.get("digest"), data.get("size")
    is_uri = isinstance(uri, str) and _URI.fullmatch(uri) and ".." not in uri.split("/")
    is_digest = isinstance(digest, str) and _DIGEST.fullmatch(digest)
    is_size = isinstance(size, int) and not isinstance(size, bool) and size >= 0
    if not is_uri or not is_digest or not is_size:
        raise EntryError("it lists a file without a proper `uri`, `digest` and `size`")
    return FileEntry(str(uri), str(digest), int(size or 0))


def check_file(data: bytes, file: FileEntry) -> None:
    """Compare a file that was read with what was promised. Raises `EntryError`."""
    if len(data) != file.size:
        raise EntryError(f"it has {len(data):,} bytes; the server promised {file.size:,}")
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != file.digest:
        raise EntryError("its content is not what the server promised")


def render_header(entry: SkillEntry) -> bytes:
    """A SKILL.md without a body, with the header of an entry.

    JSON is YAML, so every value can stand behind its key.
    """
    lines = (
        f"{_render_key(key)}: {msgspec.json.encode(value).decode()}"
        for key, value in entry.frontmatter.items()
    )
    return "\n".join(("---", *lines, "---", "")).encode("utf-8", "replace")


def is_same_header(promised: Any, found: Any) -> bool:
    """Whether two headers say the same, although one was read by YAML 1.1 and the other by 1.2.

    Servers differ in what they make of `yes`, `017` or `1_000`: a truth word, a number or text. The
    author wrote the same, so that is no lie.
    """
    if isinstance(promised, Mapping) and isinstance(found, Mapping):
        has_same_keys = promised.keys() == found.keys()
        return has_same_keys and all(is_same_header(promised[one], found[one]) for one in found)
    if isinstance(promised, list) and isinstance(found, list):
        has_same_length = len(promised) == len(found)
        return has_same_length and all(map(is_same_header, promised, found))
    return not _list_readings(promised).isdisjoint(_list_readings(found))


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
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_SEXAGESIMAL = re.compile(r"[-+]?[1-9]\d*(?::[0-5]?\d)+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_BASED = re.compile(r"[-+]?0(?:x[\da-fA-F]+|o[0-7]+|b[01]+)")


def _list_readings(value: Any) -> set[tuple[str, Any]]:
    """What a scalar can be read as, each with its type, because 1 is also true in Python."""
    if isinstance(value, bool) or value is None:
        return {("word", value)}
    if isinstance(value, int | float):
        return {("number", value)}
    if not isinstance(value, str):
        return set()
    found: set[tuple[str, Any]] = {("text", value)}
    if value.lower() in _WORDS:
        found.add(("word", _WORDS[value.lower()]))
    # Longer ones are no numbers that anybody wrote.
    plain = value.replace("_", "") if len(value) <= _MOST_DIGITS else ""
    if _OCTAL.fullmatch(plain):
        found.add(("number", int(plain, 8)))
    if _BASED.fullmatch(plain):
        found.add(("number", int(plain, 0)))
    if _NUMBER.fullmatch(plain):
        found.add(("number", float(plain)))
    if _SEXAGESIMAL.fullmatch(plain):
        found.add(("number", _read_sexagesimal(plain)))
    return found


def _read_sexagesimal(text: str) -> int:
    """`12:30:45` as YAML 1.1 reads it: the seconds since midnight."""
    total = 0
    for part in text.lstrip("+-").split(":"):
        total = total * 60 + int(part)
    return -total if text.startswith("-") else total


def _render_key(key: str) -> str:
    is_plain = re.fullmatch(r"[A-Za-z_][\w-]*", key)
    return key if is_plain else msgspec.json.encode(key).decode()


def decode_content(content: Any) -> bytes:
    """The bytes of a resource as servers send it. Raises `EntryError`."""
    text, blob = getattr(content, "text", None), getattr(content, "blob", None)
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(blob or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise EntryError("the server sent neither text nor base64") from None
