"""Every setting that a host's files can set, its value, and the file and line it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.settings import Origin, PathList, Settings
from prowess.ports import FileSystem
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.runtime import Skills
from prowess.settings.describe import (
    Described,
    describe_configuration,
    describe_settings,
    list_settable,
)
from prowess.settings.formats.document import join_key, list_lines
from prowess.settings.load import MOST_BYTES, list_settings_places
from prowess.settings.read.key_names import get_file_key

Places = Sequence[tuple[str, SettingsFileRule]]
"""The settings files of a host, in reading order."""


class SettingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A setting: its own key, the key as the file spells it, its value and where that comes from.

    `is_inverted` marks a file that has the opposite of the setting. `entries` has a place for each
    entry of a list that several files add to.
    """

    key: str
    written: str
    value: Any
    origin: Origin
    is_inverted: bool = False
    entries: Mapping[str, Origin] = {}

    def list_origins(self) -> list[Origin]:
        """Where the value comes from: several places where more than one file adds to a list."""
        files = {origin.file for origin in self.entries.values()}
        if len(files) > 1:
            return list(self.entries.values())
        return [self.origin]


class SettingsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that apply in a folder; `files` says which files of the host exist."""

    host: str
    edition: str
    cwd: str
    files: Mapping[str, bool]
    rows: tuple[SettingRow, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def shape(self) -> dict[str, Any]:
        """The settings as JSON."""
        return {
            **shape_scan(self),
            "files": [{"path": path, "found": found} for path, found in self.files.items()],
            "settings": [_shape_row(row) for row in self.rows],
            "diagnostics": [shape_diagnostic(finding) for finding in self.diagnostics],
        }


def load_settings_report(skills: Skills) -> SettingsReport:
    """Every setting of the host that applies here."""
    profile, settings = skills.profile, skills.settings()
    places = list_settings_places(profile, skills.find_places())

    def counts(path: str, rule: SettingsFileRule) -> bool:
        # The many places where a host may have MCP servers are of interest where it has any.
        return path in settings.files or not rule.only_keys

    described = describe_settings(settings, profile)
    described += _describe_configuration(settings, profile, places, skills.project.files)
    return SettingsReport(
        host=profile.name,
        edition=profile.edition,
        cwd=skills.cwd,
        files={path: path in settings.files for path, rule in places if counts(path, rule)},
        rows=tuple(_make_row(one, settings, profile, places) for one in described),
        diagnostics=settings.diagnostics,
    )


def _make_row(
    described: Described, settings: Settings, profile: Profile, places: Places
) -> SettingRow:
    key, value, origin = described
    if isinstance(value, PathList):
        value = [*value.paths, *value.filters]
    # Spelled as in the file that sets it, or else as in the first file that could.
    setting_it = [rule for path, rule in places if path == origin.file]
    others = [profile.settings[id] for id in profile.settings_order]
    written = get_file_key(key, [*setting_it, *others])
    return SettingRow(
        key=key,
        written=written.key,
        value=value,
        origin=origin,
        is_inverted=written.is_inverted,
        entries=settings.entries.get(key, {}),
    )


def _describe_configuration(
    settings: Settings, profile: Profile, places: Places, disk: FileSystem
) -> Iterator[Described]:
    """What skills can require as a setting, each with its place."""
    values = describe_configuration(settings, profile)
    if not values:
        # Every setting has a row, so this one, too, where nothing is in it.
        if "raw" in list_settable(profile):
            yield "config", {}, Origin()
        return
    lines = _load_lines(settings, places, disk)
    for key, value in values.items():
        yield join_key(("config", *key)), value, lines.get(key, Origin())


def _load_lines(
    settings: Settings, places: Places, disk: FileSystem
) -> dict[tuple[str, ...], Origin]:
    origins: dict[tuple[str, ...], Origin] = {}
    for path, rule in places:
        if path not in settings.files or rule.only_keys:
            continue
        text = disk.read_head(path, MOST_BYTES).data.decode("utf-8", "replace")
        # A host's whole file is configuration; in ours it has a table of its own.
        prefix = ("config",) if rule.is_own else ()
        depth = len(prefix)
        for key, line in list_lines(text, rule.format).items():
            is_configuration = key[:depth] == prefix
            # A later file overrides an earlier one.
            if is_configuration:
                origins[key[depth:]] = Origin(path, line)
    return origins


def _shape_row(row: SettingRow) -> dict[str, Any]:
    shape = {
        "key": row.key,
        "written": row.written,
        "value": msgspec.to_builtins(row.value),
        "file": row.origin.file,
        "line": row.origin.line,
    }
    if row.entries:
        shape["entries"] = [
            {"value": entry, "file": at.file, "line": at.line} for entry, at in row.entries.items()
        ]
    return shape
