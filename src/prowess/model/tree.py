"""The files of a skill as a value: their paths, digests and modes, and one digest of them all."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping

import msgspec

LINK = "link"
"""Stands for a digest where a symlink is; no file has it."""

SPECIAL = "special"
"""Stands for a digest where a pipe, a socket or a device is."""


class TreeFile(msgspec.Struct, frozen=True, gc=False):
    """One file: 64 hex digits of SHA-256 over its content, its size, and whether it is a program.

    `sha256` is `LINK` or `SPECIAL` where there is no ordinary file.
    """

    sha256: str
    size: int = 0
    is_executable: bool = False

    @property
    def is_ordinary(self) -> bool:
        """Whether it is a file with content, and nothing that could lead elsewhere."""
        return self.sha256 not in (LINK, SPECIAL)


class Tree(msgspec.Struct, frozen=True):
    """The files below a folder by their paths, with `/` between folders. Empty folders don't count.

    Sizes are no part of the digest, because the contents are.
    """

    files: Mapping[str, TreeFile]

    @property
    def digest(self) -> str:
        """`sha256:` and 64 hex digits over the path, mode and digest of every file."""
        whole = hashlib.sha256()
        for path, file in sorted(self.files.items()):
            mode = b"x" if file.is_executable else b"-"
            # A name on Linux may be any bytes, which Python keeps as lone surrogates.
            name = path.encode("utf-8", "surrogatepass")
            # The length keeps a line break in a name from looking like another file.
            whole.update(b"%s %s %d:%s\n" % (mode, file.sha256.encode(), len(name), name))
        return f"sha256:{whole.hexdigest()}"

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of every file by its path, in the order of the paths."""
        return {path: file.sha256 for path, file in sorted(self.files.items())}

    @property
    def executable(self) -> tuple[str, ...]:
        """The paths of the programs, in order."""
        return tuple(sorted(path for path, file in self.files.items() if file.is_executable))

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files.values())


class TreeChanges(msgspec.Struct, frozen=True):
    """How a tree differs from the one expected: paths that were changed, are missing, were added.

    A file whose mode alone is different is changed, too.
    """

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.added)


def compare_trees(expected: Tree, found: Tree) -> TreeChanges:
    """How the tree that was found differs from the expected one."""
    before, after = expected.files, found.files
    common = sorted(before.keys() & after.keys())
    return TreeChanges(
        changed=tuple(path for path in common if not _is_same(before[path], after[path])),
        missing=tuple(sorted(before.keys() - after.keys())),
        added=tuple(sorted(after.keys() - before.keys())),
    )


ORIGIN_FILES = (".clawhub/origin.json", ".clawdhub/origin.json")
"""Where ClawHub's installer notes, inside the folder of a skill, where it comes from."""

# Its registry puts this file into every archive.
_REGISTRY_FILE = "_meta.json"


def leave_out_origin(tree: Tree) -> Tree:
    """A tree without what ClawHub adds to the files of a skill's author."""
    has_origin = any(path in tree.files for path in ORIGIN_FILES)
    if not has_origin:
        # Without it, `_meta.json` may be a file of the author.
        return tree
    added = {*ORIGIN_FILES, _REGISTRY_FILE}
    return Tree({path: file for path, file in tree.files.items() if path not in added})


def _is_same(one: TreeFile, other: TreeFile) -> bool:
    return one.sha256 == other.sha256 and one.is_executable == other.is_executable


def find_collision(paths: Iterable[str]) -> tuple[str, str] | None:
    """Two paths that are one file or folder where case or Unicode form does not count."""
    listed = list(paths)
    seen: dict[str, str] = {}
    # Folders, too: the files of `Docs/a` and `docs/b` would lie in one folder.
    for path in (*_list_folders(listed), *listed):
        folded = fold_path(path)
        if seen.setdefault(folded, path) != path:
            return seen[folded], path
    return None


def fold_path(path: str) -> str:
    """A path as file systems compare it for which case and Unicode form do not count."""
    # Every lock file that is read comes through here, and nearly all of it is ASCII.
    plain = path if path.isascii() else unicodedata.normalize("NFC", path)
    return plain.casefold()


def list_blocked(paths: Iterable[str]) -> list[str]:
    """The paths that would be a file and a folder at once, sorted."""
    listed = list(paths)
    return sorted(_list_folders(listed).keys() & set(listed))


def _list_folders(paths: Iterable[str]) -> dict[str, None]:
    """Every folder above these paths, once."""
    folders: dict[str, None] = {}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders[folder] = None
            folder = folder.rpartition("/")[0]
    return folders
