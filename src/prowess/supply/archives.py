"""Unpack archives from the network in memory, within bounds: .tar.gz and .zip.

Only ordinary files come out. A link, a device, a path that leaves the folder or more bytes than
allowed refuse the whole archive.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator

from prowess.model.file_content import FileContent
from prowess.state.unpacked_files import find_refusal

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
# What the headers and padding of a tar file may add to its files.
_TAR_BLOCK = 1024
# The owner may run it.
_EXECUTABLE = 0o100


class InvalidArchive(ValueError):
    """An archive that is not unpacked, and why."""


def unpack_archive(data: bytes, *, most_bytes: int, most_files: int) -> dict[str, bytes]:
    """The contents of an archive's files by their paths. Raises `InvalidArchive`."""
    files = unpack_files(data, most_bytes=most_bytes, most_files=most_files)
    return {path: file.data for path, file in files.items()}


def unpack_files(data: bytes, *, most_bytes: int, most_files: int) -> dict[str, FileContent]:
    """The files of an archive by their paths. Raises `InvalidArchive`."""
    # By the first bytes: a name or a content type is only what somebody says.
    if data.startswith(_GZIP):
        most_content = most_bytes + most_files * 2 * _TAR_BLOCK
        members = _unpack_tar(_decompress(data, most_content))
    elif data.startswith(_ZIP):
        members = _unpack_zip(data, most_bytes)
    else:
        raise InvalidArchive("it is neither a .tar.gz nor a .zip file")
    try:
        return _collect(members, most_bytes=most_bytes, most_files=most_files)
    except InvalidArchive:
        raise
    except Exception as error:
        # The readers raise anything for hostile bytes, even IndexError for an empty name.
        cause = str(error) or type(error).__name__
        raise InvalidArchive(f"it is damaged ({cause})") from error


def _collect(
    members: Iterable[tuple[str, FileContent]], *, most_bytes: int, most_files: int
) -> dict[str, FileContent]:
    files: dict[str, FileContent] = {}
    total = 0
    for path, content in members:
        total += len(content.data)
        if len(files) >= most_files:
            raise InvalidArchive(f"it has more than {most_files} files")
        if total > most_bytes:
            raise InvalidArchive(f"it has more than {most_bytes:,} bytes when unpacked")
        # Readers differ in which of the two they take, so a reviewer may have seen the other.
        if path in files:
            raise InvalidArchive(f"it has {path[:100]!r} twice")
        files[path] = content
    return files


def _decompress(data: bytes, limit: int) -> bytes:
    """The contents of a gzip file, of which at most `limit` bytes are ever made."""
    try:
        engine = zlib.decompressobj(wbits=31)
        content = engine.decompress(data, limit + 1)
    except zlib.error as error:
        raise InvalidArchive(f"it is damaged ({error})") from error
    if len(content) > limit:
        raise InvalidArchive(f"it has more than {limit:,} bytes when unpacked")
    if not engine.eof:
        raise InvalidArchive("it ends early")
    return content


def _unpack_tar(content: bytes) -> Iterator[tuple[str, FileContent]]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for member in archive:
            if member.isdir():
                continue
            path = _check_path(member.name)
            # For a hard link `extractfile` would open what it leads to.
            file = archive.extractfile(member) if member.isreg() else None
            if file is None:
                raise InvalidArchive(f"{path[:100]!r} in it is not an ordinary file")
            is_executable = bool(member.mode & _EXECUTABLE)
            yield path, FileContent(file.read(), is_executable)


def _unpack_zip(data: bytes, most_bytes: int) -> Iterator[tuple[str, FileContent]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            path = _check_path(member.filename)
            # The upper half has the mode of a Unix file; 0 where none was written.
            mode = member.external_attr >> 16
            kind = mode & 0o170000
            if kind not in (0, 0o100000):
                raise InvalidArchive(f"{path[:100]!r} in it is not an ordinary file")
            with archive.open(member) as file:
                # What the archive says about sizes may be wrong, so the bytes are counted.
                content = file.read(most_bytes + 1)
            yield path, FileContent(content, bool(mode & _EXECUTABLE))


def _check_path(path: str) -> str:
    plain = path.removeprefix("./")
    refusal = find_refusal(plain)
    if refusal is None and "\\" in plain:
        refusal = "it has a backslash"
    if refusal is not None:
        raise InvalidArchive(f"{path[:100]!r} in it is refused: {refusal}")
    # `a//b` and `a/./b` are the same file as `a/b`, and must count as such.
    return "/".join(part for part in plain.split("/") if part not in ("", "."))
