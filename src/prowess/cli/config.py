"""`prowess config`: every setting, and the file and line it came from."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from prowess.cli.options import host_option, json_option
from prowess.cli.out import console, escape_line, print_json, shorten_path
from prowess.cli.shapes import shape_diagnostic
from prowess.model.settings import Origin, Settings
from prowess.runtime import Skills
from prowess.settings.describe import describe_settings
from prowess.settings.load import list_settings_places


@click.command("config")
@host_option
@json_option
def command(host: str, as_json: bool) -> int:
    """Show every setting and where it came from.

    Values that are secrets are shown as set. A later file replaces values of an earlier one.
    """
    skills = Skills.open(".", host=host)
    settings = skills.settings()
    looked_for = [path for path, _ in list_settings_places(skills.profile, skills.find_places())]
    if as_json:
        print_json(
            {
                "host": skills.profile.name,
                "edition": skills.profile.edition,
                "cwd": skills.cwd,
                "files": [{"path": path, "found": path in settings.files} for path in looked_for],
                "settings": [_shape(*setting) for setting in describe_settings(settings)],
                "diagnostics": [shape_diagnostic(diagnostic) for diagnostic in settings.diagnostics],
            }
        )
        return 0
    _print_settings(settings, skills.cwd)
    _print_files(looked_for, settings, skills.cwd)
    return 0


def _shape(key: str, value: Any, origin: Origin) -> dict[str, Any]:
    return {"key": key, "value": msgspec.to_builtins(value), "file": origin.file, "line": origin.line}


def _print_settings(settings: Settings, cwd: str) -> None:
    from rich.text import Text

    from prowess.cli.check import print_diagnostics
    from prowess.cli.tables import print_columns

    rows: list[tuple[Text | str, Text | str, Text | str]] = []
    for key, value, origin in describe_settings(settings):
        is_set = origin.file is not None
        style = "" if is_set else "dim"
        rows.append(
            (Text(escape_line(key), style), Text(_render_value(value), style), Text(_render_origin(origin, cwd), style))
        )
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
    return escape_line(msgspec.json.encode(value).decode("utf-8"))


def _print_files(looked_for: list[str], settings: Settings, cwd: str) -> None:
    from prowess.cli.tables import print_columns

    screen = console()
    if not looked_for:
        screen.print("This host reads no settings files.")
        return
    screen.print("Settings files, in the order of reading:")
    print_columns(
        [("", "read" if path in settings.files else "not there", shorten_path(path, cwd)) for path in looked_for],
        wrap=True,
    )
