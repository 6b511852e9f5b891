"""What to write so that a setting of Prowess has a value or one more entry; tried first."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any

from prowess.errors import UsageError
from prowess.reports.settings_edits import EditedFiles, choose_own_file
from prowess.runtime import Skills
from prowess.settings.edit.toml import add_entry, set_toml_value
from prowess.settings.formats.document import join_key
from prowess.state.edited_files import FileEdit

Scalar = bool | int | float | str
SettingValue = Scalar | list[str]
SettingEntry = Scalar | dict[str, Scalar]


def plan_setting(skills: Skills, key: str, value: SettingValue, *, user: bool) -> FileEdit:
    """The change that sets a key of prowess.toml, in the user's file or in the project's.

    Raises a `SettingError` for a key or value that does not exist, and a `UsageError` for one that
    would have no effect there.
    """
    path, literal = _parse_key(key), _render(value)
    return _plan_edit(
        skills, path, lambda text, file: set_toml_value(text, path, literal, file=file), user=user
    )


def plan_setting_entry(skills: Skills, key: str, entry: SettingEntry, *, user: bool) -> FileEdit:
    """The change that adds an entry to a list, such as a hook to `hooks`. Raises like the above."""
    path = _parse_key(key)
    written: str | dict[str, str]
    if isinstance(entry, dict):
        written = {name: _render(one) for name, one in entry.items()}
    else:
        written = _render(entry)
    return _plan_edit(
        skills, path, lambda text, file: add_entry(text, path, written, file=file), user=user
    )


def _plan_edit(
    skills: Skills, path: tuple[str, ...], edit: Callable[[str, str], str], *, user: bool
) -> FileEdit:
    files = EditedFiles(skills.project.files)
    edited = Skills(skills.cwd, facts=skills.facts, files=files)
    file = choose_own_file(edited.profile, edited.find_places(), files, user=user)
    old = files.load_text(file)
    files.edit(file, old, edit(old, file))
    # Read as the next start would read it: a mistake is an error, and what a project may not set
    # is reported.
    key = join_key(path)
    for finding in edited.settings().diagnostics:
        if finding.file == file and finding.field == key:
            raise UsageError(f"{finding.message} {finding.hint or ''}".strip())
    before = old if files.is_on_disk(file) else None
    return FileEdit(file, before, files.texts.get(file, old))


def _render(value: object) -> str:
    """A value as TOML, which JSON's notation is for these types."""
    return json.dumps(value, ensure_ascii=False)


def _parse_key(key: str) -> tuple[str, ...]:
    """The parts of a dotted key, which may be quoted. Raises `UsageError`."""
    # TOML itself says where a key ends: parts may be quoted and have dots in them.
    try:
        value: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        raise UsageError(f"`{key}` is not a key of TOML, such as `agent.model`.") from None
    path: list[str] = []
    while isinstance(value, dict) and len(value) == 1:
        ((name, value),) = value.items()
        path.append(name)
    # A “key” such as `a = 1\nb` is a whole document, with more in it than the one zero.
    is_one_key = value == 0 and path
    if not is_one_key:
        raise UsageError(f"`{key}` is not one key of TOML, such as `agent.model`.")
    return tuple(path)
