"""The digest of everything in a skill's folder, which an approval is bound to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from prowess.activate.wrappers import find_own_folder
from prowess.model.files import FolderItem
from prowess.model.skill import Skill
from prowess.ports import FileSystem

# Larger files are identified by their times, size and inode instead of their content.
_MOST_BYTES = 1 << 20
_MOST_BYTES_TOGETHER = 1 << 26
_MOST_FILES = 20_000


def digest_contents(skill: Skill, files: FileSystem, digest: str) -> str:
    """`sha256:` and 64 hex digits over the names and contents of all files of a skill.

    Files that git ignores count, too. `digest` is that of the SKILL.md as it was read; for a skill
    without a folder of its own it is the result.
    """
    folder = find_own_folder(skill)
    if folder is None:
        return digest
    whole = hashlib.sha256(digest.encode())
    room = _MOST_BYTES_TOGETHER
    for count, (path, item) in enumerate(_walk(folder, files)):
        if count >= _MOST_FILES:
            whole.update(b"more")
            break
        content = _read(path, item, files, room)
        room -= len(content)
        name = path[len(folder) :].encode("utf-8", "surrogatepass")
        whole.update(b"%d:%s%d:%s" % (len(name), name, len(content), content))
    return f"sha256:{whole.hexdigest()}"


def _walk(folder: str, files: FileSystem) -> Iterator[tuple[str, FolderItem]]:
    """Everything below a folder except folders, sorted. Symlinks are not followed."""
    waiting = [folder]
    while waiting:
        inner = waiting.pop()
        try:
            items = files.list_folder(inner)
        except OSError:
            items = []
        for item in items:
            path = f"{inner}/{item.name}"
            if item.kind != "folder" or item.is_link:
                yield path, item
            elif item.name != ".git":
                # Git writes there with most commands, which would undo every approval.
                waiting.append(path)


def _read(path: str, item: FolderItem, files: FileSystem, room: int) -> bytes:
    lead = b""
    if item.is_link:
        # A symlink counts by where it leads.
        target = f"{item.kind} {files.find_real_path(path)}\n"
        lead = target.encode("utf-8", "surrogatepass")
    if item.kind != "file":
        return lead
    try:
        head = files.read_head(path, _MOST_BYTES)
    except OSError as error:
        return lead + type(error).__name__.encode()
    is_whole = head.size <= len(head.data) <= room
    return lead + (head.data if is_whole else repr(head.stamp).encode())
