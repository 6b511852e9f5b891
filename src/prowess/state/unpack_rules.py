"""How files are unpacked safely, as rules: which names are refused, how a file is opened, what a
folder is called.
"""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_NOT_PLAIN = re.compile(r"[^a-z0-9_-]+")

FOLDER_MODE = 0o700
FILE_MODE = 0o600

# A file is made anew or not at all. Where the system can, a link in its place is refused as well;
# Windows has no such flag, and there exclusive creation (`wx` elsewhere) alone refuses whatever is
# in the way.
_POSIX_FLAGS = ("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC")
_WINDOWS_FLAGS = ("O_WRONLY", "O_CREAT", "O_EXCL", "O_BINARY", "O_NOINHERIT")


def list_write_flags(platform: str) -> tuple[str, ...]:
    """The names of the flags that a file is opened with on a platform (`linux`, `darwin`, `win32`)."""
    return _WINDOWS_FLAGS if platform == "win32" else _POSIX_FLAGS


def find_refusal(path: str) -> str | None:
    """Why a file of this name is not unpacked; None where it lies inside the skill's folder on
    every platform.

    Both separators count everywhere, and so does `..`, also where it would cancel out.
    """
    parts = _SEPARATORS.split(path)
    if not path.strip() or parts[-1] in ("", "."):
        return "the path names no file"
    if parts[0] == "" or _DRIVE.match(path):
        return "the path is absolute and leads out of the skill's folder"
    if ".." in parts:
        return "the path leads out of the skill's folder"
    if "\0" in path:
        return "the path holds a NUL character"
    return None


def split_path(path: str) -> tuple[tuple[str, ...], str]:
    """The folders of a path that is not refused, and the name of its file."""
    *folders, name = (part for part in _SEPARATORS.split(path) if part not in ("", "."))
    return tuple(folders), name


def name_folder(name: str) -> str:
    """A name for the folder of a skill: the skill's own where every file system can hold it, else
    one made from it.
    """
    if _PLAIN.fullmatch(name):
        return name
    import hashlib

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{_NOT_PLAIN.sub('-', name.lower())[:40].strip('-') or 'skill'}-{digest}"
