"""Settings files that a plan edits: which of them it may, and how all would look afterwards."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from prowess.errors import MachineError
from prowess.model.files import Head
from prowess.ports import FileSystem
from prowess.profiles.places import Places
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.settings.load import MOST_BYTES, list_settings_places

_OWN_FILE = "prowess.toml"


def may_edit(path: str, rule: SettingsFileRule, top: str) -> bool:
    """Whether a settings file is the user's or of the project at `top`."""
    # A managed file belongs to the administrator of the machine.
    is_managed = any("{managed}" in template for template in rule.at)
    if is_managed or rule.read_only:
        return False
    if not rule.is_project:
        return True
    # Hosts also read the files of parent folders, which are other projects.
    return path.startswith(f"{top.rstrip('/')}/")


def choose_own_file(profile: Profile, places: Places, files: EditedFiles, *, user: bool) -> str:
    """The prowess.toml to edit, the user's or the project's; one that does not exist is created."""
    wanted = profile.settings["user" if user else "project"]
    known = [path for path, rule in list_settings_places(profile, places) if rule is wanted]
    existing = files.find_strongest(known)
    if existing is not None:
        return existing
    if user:
        return known[-1]
    # Files of a project are read in each folder up to its top; one at the top applies to all.
    return posixpath.join(places.repository or places.cwd, _OWN_FILE)


class EditedFiles:
    """A file system as it would be after some edits of settings files."""

    def __init__(self, files: FileSystem) -> None:
        self._files = files
        self.texts: dict[str, str] = {}
        # Folders, links and skills are not edited.
        self.list_folder = files.list_folder
        self.list_real_folder = files.list_real_folder
        self.read_real_head = files.read_real_head
        self.get_stamp = files.get_stamp
        self.find_real_path = files.find_real_path
        self.find_link = files.find_link

    def read_head(self, path: str, limit: int) -> Head:
        if path not in self.texts:
            return self._files.read_head(path, limit)
        data = self.texts[path].encode()
        # Edited text has no inode and no times; settings are never cached by their stamp.
        return Head(data[:limit], len(data), 1, (0, 0, len(data), 0))

    def find_kind(self, path: str) -> str | None:
        return "file" if path in self.texts else self._files.find_kind(path)

    def is_on_disk(self, path: str) -> bool:
        """Whether anything is there before the edits; a broken symlink counts."""
        return self._files.find_kind(path) is not None or self._files.find_link(path) is not None

    def find_strongest(self, paths: Sequence[str]) -> str | None:
        """Of settings files in reading order, the last that exists: it overrides the others."""
        existing = [path for path in paths if self.is_on_disk(path)]
        return existing[-1] if existing else None

    def load_text(self, path: str) -> str:
        """The text of a settings file; empty where there is none.

        The scan has read the file before, so it is text of a bounded size.
        """
        if path not in self.texts and not self.is_on_disk(path):
            return ""
        try:
            return self.read_head(path, MOST_BYTES).data.decode()
        except (OSError, UnicodeDecodeError) as error:
            raise MachineError.caused_by("read", path, error) from error

    def edit(self, path: str, old: str, new: str) -> bool:
        """Replace the text of a file; whether that makes a difference."""
        if new != old:
            self.texts[path] = new
        return new != old
