"""Carry out a download for a skill: fetch it within bounds, check it, unpack it, put it in place.

Everything goes below the folder for tools. Programs are linked into its `bin` folder, which users
can add to PATH once.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping

from prowess.gate.remedies import Download
from prowess.machine.http_client import FetchError, HttpSession, Watch
from prowess.machine.program_files import add_files, link_program
from prowess.model.file_content import FileContent
from prowess.state.locks import hold_lock
from prowess.supply.archives import InvalidArchive, unpack_files

MOST_DOWNLOAD_BYTES = 128 << 20
MOST_UNPACKED_BYTES = 256 << 20
MOST_UNPACKED_FILES = 5_000
_SECONDS = 900.0
_LOCK_SECONDS = 30.0


class DownloadFailed(Exception):
    """Why a download was not put in place: a sentence without its full stop."""


def open_session(watch: Watch | None) -> HttpSession:
    """A session for one download. Release pages redirect to other servers, which are checked."""
    return HttpSession(seconds=_SECONDS, any_origin=True, watch=watch)


def carry_out_download(
    download: Download, bin_folder: str, *, watch: Watch | None = None
) -> tuple[str, ...]:
    """Put a download in place; the programs that were linked into the `bin_folder`.

    Raises `DownloadFailed` or `MachineError`. Then nothing has changed, except that a program which
    cannot be linked leaves its file in place.
    """
    data = _fetch(download, watch)
    files = _unpack(download, data) if download.unpack else _keep_file(download, data)
    programs = _find_programs(download, files)
    below = posixpath.relpath(download.folder, download.owner)
    placed: dict[str, FileContent] = {}
    for path, file in files.items():
        # Archives from Windows mark nothing as a program; the author has named them.
        is_executable = file.is_executable or path in programs.values()
        inside_owner = posixpath.normpath(f"{below}/{path}")
        placed[inside_owner] = FileContent(file.data, is_executable=is_executable)
    # The folder of a skill's tools is swapped whole, so a second process must wait.
    with hold_lock(download.owner, seconds=_LOCK_SECONDS):
        add_files(download.owner, placed)
        for name, path in programs.items():
            link_program(f"{bin_folder}/{name}", f"{download.folder}/{path}")
    return tuple(programs)


def _fetch(download: Download, watch: Watch | None) -> bytes:
    try:
        with open_session(watch) as session:
            data = session.get(download.url, most_bytes=MOST_DOWNLOAD_BYTES).body
    except FetchError as error:
        raise DownloadFailed(error.message) from error
    digest = hashlib.sha256(data).hexdigest()
    if download.sha256 not in (None, digest):
        raise DownloadFailed(f"its sha256 is {digest}, but the skill says {download.sha256}")
    return data


def _keep_file(download: Download, data: bytes) -> dict[str, FileContent]:
    return {download.file: FileContent(data, is_executable=True)}


def _unpack(download: Download, data: bytes) -> dict[str, FileContent]:
    """The files of an archive that are used, by the paths they get."""
    try:
        packed = unpack_files(data, most_bytes=MOST_UNPACKED_BYTES, most_files=MOST_UNPACKED_FILES)
    except InvalidArchive as error:
        raise DownloadFailed(f"the archive is refused: {error}") from error
    files: dict[str, FileContent] = {}
    for path, file in packed.items():
        placed = _place(path, download)
        if placed is not None:
            files[placed] = file
    if files:
        return files
    if download.inside is not None:
        raise DownloadFailed(f"the archive has no {download.inside}")
    raise DownloadFailed("nothing is left of the archive after `stripComponents`")


def _place(path: str, download: Download) -> str | None:
    """The path of a file once it is unpacked, as tar does it; None if it is left out."""
    inside = download.inside
    is_left_out = inside is not None and not f"{path}/".startswith(f"{inside}/")
    if is_left_out:
        return None
    parts = path.split("/")[download.strip :]
    return "/".join(parts) or None


def _find_programs(download: Download, files: Mapping[str, FileContent]) -> dict[str, str]:
    """The path of each program that the author says it brings. Raises `DownloadFailed`."""
    if not download.unpack:
        # The file of a release often has the platform in its name.
        return dict.fromkeys(_check_names(download.bins) or (download.file,), download.file)
    programs: dict[str, str] = {}
    for name in _check_names(download.bins):
        path = _find_file(name, files)
        if path is None:
            raise DownloadFailed(f"the archive has no file named {name}")
        programs[name] = path
    return programs


def _check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names, if each can be a file in one folder; they are as untrusted as the rest."""
    for name in names:
        is_path = "/" in name or "\\" in name
        is_odd = not name.isprintable() or name.startswith(".")
        if is_path or is_odd:
            raise DownloadFailed(f"`bins` has {name[:80]!r}, which is not the name of a program")
    return names


def _find_file(name: str, files: Mapping[str, FileContent]) -> str | None:
    """The file of a program: the one that is marked as one, and nearest to the top."""
    # Archives have the program at their top, in `bin`, or in a folder with the platform's name.
    spellings = (name, f"{name}.exe")
    named = [path for path in files if posixpath.basename(path) in spellings]

    def rank(path: str) -> tuple[bool, int, str]:
        return not files[path].is_executable, path.count("/"), path

    return min(named, key=rank, default=None)
