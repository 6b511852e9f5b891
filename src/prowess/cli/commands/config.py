"""`prowess config`: every setting, and the file and line it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
import msgspec

from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.machine.files import LocalFiles
from prowess.model.settings import Origin, Settings
from prowess.profiles.schema.settings import SettingsFileRule
from prowess.reports.json_output import shape_diagnostic
from prowess.runtime import Skills
from prowess.settings.describe import (
    Described,
    describe_configuration,
    describe_settings,
    list_read,
)
from prowess.settings.formats.document import join_key
from prowess.settings.formats.key_lines import list_lines
from prowess.settings.load import MOST_BYTES, list_settings_places
from prowess.settings.read.key_names import Written, find_written
from prowess.text.display import escape_line


@click.command("config")
@host_option
@json_option
def command(host: str, as_json: bool) -> int:
    """Show every setting and where it came from.

    Shown is what the host's settings files can set, whether they do or not, by the keys that these
    files have for it. Values that are secrets are shown as set. Where two files set one value the
    later one counts; of prowess.toml the lists `disabled` and `ignore` of all files add up.
    """
    skills = Skills.open(".", host=host)
    settings = skills.settings()
    places = list_settings_places(skills.profile, skills.find_places())
    looked_for = [path for path, _ in places]
    described = [
        *describe_settings(settings, skills.profile),
        *_describe_configuration(settings, skills),
    ]
    if as_json:
        print_json(
            {
                "host": skills.profile.name,
                "edition": skills.profile.edition,
                "cwd": skills.cwd,
                "files": [{"path": path, "found": path in settings.files} for path in looked_for],
                "settings": [
                    _shape(settings, _find_written(setting, skills, places), *setting)
                    for setting in described
                ],
                "diagnostics": [
                    shape_diagnostic(diagnostic) for diagnostic in settings.diagnostics
                ],
            }
        )
        return 0
    _print_settings(
        [(_find_written(one, skills, places), *one) for one in described], settings, skills.cwd
    )
    _print_files(looked_for, settings, skills.cwd)
    return 0


def _find_written(
    setting: Described, skills: Skills, places: Sequence[tuple[str, SettingsFileRule]]
) -> Written:
    """The key as the file has it that set the value, else as the first of the host's files would."""
    key, _, origin = setting
    setting_it = [rule for path, rule in places if path == origin.file]
    return find_written(
        key, [*setting_it, *(skills.profile.settings[id] for id in skills.profile.settings_order)]
    )


def _shape(
    settings: Settings, written: Written, key: str, value: Any, origin: Origin
) -> dict[str, Any]:
    shape = {"key": key, "written": written.key, "value": msgspec.to_builtins(value)}
    shape |= {"file": origin.file, "line": origin.line}
    entries = settings.entries.get(key)
    if entries:
        shape["entries"] = [
            {"value": entry, "file": at.file, "line": at.line} for entry, at in entries.items()
        ]
    return shape


def _list_origins(settings: Settings, key: str, origin: Origin) -> list[Origin]:
    """Where a value came from: one place, or those of its entries where several files add to one
    list.
    """
    places = list(settings.entries.get(key, {}).values())
    return places if len({place.file for place in places}) > 1 else [origin]


def _describe_configuration(settings: Settings, skills: Skills) -> Iterator[Described]:
    """What skills can require as a setting, each with its place."""
    values = describe_configuration(settings, skills.profile)
    if not values and "raw" in list_read(skills.profile):
        yield "config", {}, Origin()
    lines = {}
    for path, rule in list_settings_places(skills.profile, skills.find_places()) if values else ():
        if path in settings.files:
            text = LocalFiles().read_head(path, MOST_BYTES).data.decode("utf-8", "replace")
            prefix = ("config",) if rule.is_own else ()
            lines[path] = (prefix, list_lines(text, rule.format))
    for key, value in values.items():
        # The file that was read last holds.
        found = [
            Origin(path, held[(*prefix, *key)])
            for path, (prefix, held) in lines.items()
            if (*prefix, *key) in held
        ]
        yield join_key(("config", *key)), value, found[-1] if found else Origin()


def _print_settings(
    described: Sequence[tuple[Written, str, Any, Origin]], settings: Settings, cwd: str
) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import print_diagnostics
    from prowess.cli.terminal.tables import print_columns

    rows: list[tuple[Text | str, Text | str, Text | str]] = []
    for written, key, value, origin in described:
        shown = not value if written.is_turned and isinstance(value, bool) else value
        is_set = origin.file is not None
        style = "" if is_set else "dim"
        places = ", ".join(
            _render_origin(place, cwd) for place in _list_origins(settings, key, origin)
        )
        rows.append(
            (
                Text(escape_line(written.key), style),
                Text(_render_value(shown), style),
                Text(places, style),
            )
        )
    if rows:
        print_columns(rows, heading=("SETTING", "VALUE", "FROM"), wrap=True)
        console().print()
    print_diagnostics(settings.diagnostics, cwd)


def _render_origin(origin: Origin, cwd: str) -> str:
    if origin.file is None:
        return "default"
    line = "" if origin.line is None else f":{origin.line}"
    return f"{shorten_path(origin.file, cwd)}{line}"


def _render_value(value: Any) -> str:
    if isinstance(value, str):
        return escape_line(value)
    if value is None or value == {}:
        return "not set" if value is None else "none"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return escape_line(msgspec.json.encode(value).decode("utf-8"))


def _print_files(looked_for: list[str], settings: Settings, cwd: str) -> None:
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    if not looked_for:
        screen.print("This host reads no settings files.")
        return
    screen.print("Settings files, in the order of reading:")
    print_columns(
        [
            ("", "read" if path in settings.files else "not there", shorten_path(path, cwd))
            for path in looked_for
        ],
        wrap=True,
    )
