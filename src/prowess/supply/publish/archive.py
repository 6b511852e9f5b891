"""Archives of skills, the same bytes for the same files, whatever made them and when."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from prowess.model.file_content import FileContent

# The first time that a zip file can name.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_FILE, _PROGRAM = 0o100644, 0o100755


def pack_files(files: Mapping[str, FileContent], *, folder: str = "") -> bytes:
    """A zip archive of files, in the order of their paths; inside a `folder`, if one is named.

    Nothing is compressed: versions of zlib differ in what they make of the same bytes.
    """
    made = io.BytesIO()
    lead = f"{folder}/" if folder else ""
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            archive.writestr(_describe(f"{lead}{path}", files[path]), files[path].data)
    return made.getvalue()


def _describe(path: str, file: FileContent) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(path, _TIME)
    # Otherwise Python writes the system that it runs on, and Windows makes other bytes.
    member.create_system = _UNIX
    mode = _PROGRAM if file.is_executable else _FILE
    member.external_attr = mode << 16
    return member
