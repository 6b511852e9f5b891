"""The digests that other installers record, computed from the files as they are now."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

from prowess.machine.tree_files import read_file
from prowess.model.tree import Tree

# The order of ASCII characters in JavaScript's `localeCompare`; letters compare without case first.
_COLLATION = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_RANK = {character: rank for rank, character in enumerate(_COLLATION)}
_GIT_FILE = b"100644"
_GIT_PROGRAM = b"100755"
_GIT_FOLDER = b"40000"

# Folders that Vercel's installer leaves out of its digest.
_NOT_HASHED = (".git", "node_modules")


def is_recorded_by_skills(folder: str, tree: Tree, digest: str) -> bool:
    """Whether the digest of Vercel's `skills` fits: of a project (SHA-256), or of git's tree."""
    # The lock file of a user has the tree of git, that of a project a digest of its own.
    if len(digest) == 40:
        return compute_git_tree(folder, tree) == digest
    paths = [path for path in tree.files if not _has_part(path, _NOT_HASHED)]
    # The installer sorts as the user's language does; for plain names this is the usual order.
    for order in (_collate, _plain):
        if _hash_paths(folder, sorted(paths, key=order)) == digest:
            return True
    return False


def is_recorded_by_clawhub(folder: str, tree: Tree, digest: str) -> bool:
    """Whether ClawHub's fingerprint fits: a SHA-256 over the digests of all files without a dot."""
    paths = [path for path in tree.files if not _is_hidden(path)]
    for order in (_collate, _plain):
        lines = [f"{path}:{tree.files[path].sha256}" for path in sorted(paths, key=order)]
        fingerprint = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        if fingerprint == digest:
            return True
    return False


FITS: Mapping[str, Callable[[str, Tree, str], bool]] = {
    "skills": is_recorded_by_skills,
    "clawhub": is_recorded_by_clawhub,
}
"""By the name of the installer. `gh` rewrites SKILL.md, so that its digest never fits."""


def compute_git_tree(folder: str, tree: Tree) -> str:
    """The id that git gives a folder with these files."""
    blobs: dict[str, tuple[bytes, bytes]] = {}
    for path, file in tree.files.items():
        mode = _GIT_PROGRAM if file.is_executable else _GIT_FILE
        blobs[path] = mode, _hash_object(b"blob", read_file(folder, path))
    return _hash_folder(blobs).hex()


def _hash_folder(blobs: Mapping[str, tuple[bytes, bytes]]) -> bytes:
    entries: dict[bytes, tuple[bytes, bytes]] = {}
    inner: dict[str, dict[str, tuple[bytes, bytes]]] = {}
    for path, blob in blobs.items():
        name, slash, rest = path.partition("/")
        if slash:
            inner.setdefault(name, {})[rest] = blob
        else:
            entries[name.encode("utf-8", "surrogatepass")] = blob
    for name, below in inner.items():
        # git sorts a folder as if its name ended with a slash.
        key = name.encode("utf-8", "surrogatepass") + b"/"
        entries[key] = (_GIT_FOLDER, _hash_folder(below))
    lines: list[bytes] = []
    for key, (mode, digest) in sorted(entries.items()):
        lines.append(b"%s %s\0%s" % (mode, key.rstrip(b"/"), digest))
    return _hash_object(b"tree", b"".join(lines))


def _hash_object(kind: bytes, data: bytes) -> bytes:
    header = b"%s %d\0" % (kind, len(data))
    # git's own digest; nothing here is safe because of it.
    return hashlib.sha1(header + data, usedforsecurity=False).digest()


def _hash_paths(folder: str, paths: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.encode("utf-8", "surrogatepass"))
        whole.update(read_file(folder, path))
    return whole.hexdigest()


def _collate(path: str) -> tuple[list[int], str]:
    ranks = [_RANK.get(character, len(_RANK) + ord(character)) for character in path.lower()]
    # Where only case differs, small letters come first.
    return ranks, path.swapcase()


def _plain(path: str) -> str:
    return path


def _is_hidden(path: str) -> bool:
    if any(part.startswith(".") for part in path.split("/")):
        return True
    return _has_part(path, _NOT_HASHED)


def _has_part(path: str, names: tuple[str, ...]) -> bool:
    return any(part in names for part in path.split("/"))
