"""What to write so that one setting of Prowess has a value, tried before anything is written."""

from __future__ import annotations

import json
import posixpath
import tomllib
from typing import Any

from prowess.errors import UsageError
from prowess.reports.switch_plan import EditedFiles
from prowess.runtime import Skills
from prowess.settings.edit.toml import set_toml_value
from prowess.settings.formats.document import join_key
from prowess.settings.load import list_settings_places
from prowess.state.edited_files import FileEdit

SettingValue = bool | int | float | str | list[str]


def plan_setting(skills: Skills, key: str, value: SettingValue, *, user: bool) -> FileEdit:
    """The change that sets a key of prowess.toml, in the user's file or in the project's.

    Raises a `SettingError` for a key or value that does not exist, and a `UsageError` for one that
    would have no effect there.
    """
    path = _parse_key(key)
    files = EditedFiles(skills.project.files)
    edited = Skills(skills.cwd, facts=skills.facts, files=files)
    file = _choose_file(edited, files, user=user)
    old = files.load_text(file)
    literal = json.dumps(value, ensure_ascii=False)
    files.edit(file, old, set_toml_value(old, path, literal, file=file))
    # Read as the next start would read it: a mistake is an error, and what a project may not set
    # is reported.
    for finding in edited.settings().diagnostics:
        if finding.file == file and finding.field == join_key(path):
            raise UsageError(f"{finding.message} {finding.hint or ''}".strip())
    return FileEdit(file, old if files.is_on_disk(file) else None, files.texts.get(file, old))


def _choose_file(skills: Skills, files: EditedFiles, *, user: bool) -> str:
    """The strongest settings file that exists; else the one to create."""
    wanted = skills.profile.settings["user" if user else "project"]
    places = skills.find_places()
    known = [path for path, rule in list_settings_places(skills.profile, places) if rule is wanted]
    existing = [path for path in known if files.is_on_disk(path)]
    if existing:
        return existing[-1]
    return known[-1] if user else posixpath.join(places.repository or places.cwd, "prowess.toml")


def _parse_key(key: str) -> tuple[str, ...]:
    """The parts of a dotted key, which may be quoted. Raises `UsageError`."""
    try:
        table: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        raise UsageError(f"`{key}` is not a key of TOML, such as `agent.model`.") from None
    path: list[str] = []
    while isinstance(table, dict) and len(table) == 1:
        ((name, table),) = table.items()
        path.append(name)
    if table != 0 or not path:
        raise UsageError(f"`{key}` is not one key of TOML, such as `agent.model`.")
    return tuple(path)
