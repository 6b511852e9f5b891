"""`{env:NAME}` and `{file:PATH}` in a settings file: a variable, and the text of another file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from prowess.errors import SettingError, name_cause
from prowess.ports import FileSystem
from prowess.profiles.places import Places, expand_user_path

MOST_BYTES = 1 << 16

_VARIABLE = re.compile(r"\{env:([^}]+)\}")
_REFERENCE = re.compile(r"\{file:([^}]+)\}")


def substitute_variables(text: str, env: Mapping[str, str]) -> str:
    """The text with every variable replaced."""
    return _VARIABLE.sub(lambda match: _escape(env.get(match[1], "")), text)


def _escape(value: str) -> str:
    """A value inside a quoted string, so that it can't end the string."""
    # JSON escapes double quotes; strings of JSON5 may be in single ones.
    return json.dumps(value)[1:-1].replace("'", "\\u0027")


class FileReferences:
    """The references in one file. Relative paths start at its folder.

    A file of a project can only name files of that project: else a clone could have Prowess read
    what is private and show it as the name of a folder.
    """

    def __init__(self, places: Places, files: FileSystem, path: str, *, is_project: bool) -> None:
        self._places = places
        self._files = files
        self._path = path
        self._is_project = is_project
        # Settings in an environment variable lie in no folder.
        is_variable = path.startswith("$")
        self._base = places.cwd if is_variable else str(places.paths.dirname(path))

    def substitute(self, text: str) -> str:
        """The text with every reference replaced. Raises a `SettingError`."""
        return "\n".join(map(self._substitute_line, text.split("\n")))

    def _substitute_line(self, line: str) -> str:
        # As opencode: a reference in a comment is not followed, so a missing file does not matter.
        if line.lstrip().startswith("//"):
            return line
        return _REFERENCE.sub(lambda match: _escape(self._load(match[1])), line)

    def _load(self, reference: str) -> str:
        path = expand_user_path(reference, base=self._base, places=self._places)
        may_read = not self._is_project or self._is_inside(path)
        if not may_read:
            raise self._refuse(reference, "is outside the project")
        try:
            head = self._files.read_head(path, MOST_BYTES)
        except OSError as error:
            raise self._refuse(reference, f"can't be read ({name_cause(error)})") from None
        if head.size > MOST_BYTES:
            raise self._refuse(reference, f"has more than {MOST_BYTES:,} bytes")
        return head.data.decode(errors="replace").strip()

    def _is_inside(self, path: str) -> bool:
        # With links resolved: a link in the project may lead out of it.
        real = self._files.find_real_path(path) or path
        for folder in filter(None, (self._places.repository, self._places.cwd)):
            top = self._files.find_real_path(folder)
            # With a slash at the end, so that `/work` has nothing of `/workshop` in it.
            if top and f"{real}/".startswith(f"{top.rstrip('/')}/"):
                return True
        return False

    def _refuse(self, reference: str, problem: str) -> SettingError:
        return SettingError(self._path, None, None, f"`{{file:{reference}}}` {problem}")
