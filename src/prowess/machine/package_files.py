"""The files of an installed package, in a folder or in an archive."""

from __future__ import annotations

import importlib.resources
import os
from collections.abc import Iterator
from importlib.resources.abc import Traversable

from prowess.errors import UsageError

# An archive is read into memory, so it is bounded.
MOST_FILES = 20_000
MOST_BYTES = 64 << 20


def find_package_folder(package: str, path: str) -> Traversable:
    """A folder inside a package, which is imported for that. Raises `UsageError`."""
    try:
        folder = importlib.resources.files(package)
    except (ImportError, TypeError, ValueError) as error:
        raise UsageError(f"The package “{package}” cannot be imported: {error}.") from error
    for part in filter(None, path.split("/")):
        folder = folder / part
    if not folder.is_dir():
        raise UsageError(f"The package “{package}” has no folder “{path}”.")
    return folder


def find_disk_path(folder: Traversable) -> str | None:
    """The path of a package's folder; None where it is in an archive."""
    return os.path.abspath(folder) if isinstance(folder, os.PathLike) else None


def read_package_files(folder: Traversable) -> dict[str, bytes]:
    """The files in a folder of a package, by their paths below it. Raises `UsageError` where there
    are too many.
    """
    contents: dict[str, bytes] = {}
    left = MOST_BYTES
    for path, file in _walk(folder, ""):
        data = file.read_bytes()
        left -= len(data)
        if len(contents) == MOST_FILES or left < 0:
            raise UsageError(
                f"The folder has more than {MOST_FILES:,} files or {MOST_BYTES >> 20} MB; install"
                " the package as a folder instead of an archive."
            )
        contents[path] = data
    return contents


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        path = f"{prefix}{item.name}"
        if item.is_dir():
            yield from _walk(item, f"{path}/")
        else:
            yield path, item
