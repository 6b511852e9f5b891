"""`prowess config`: every setting, and the file and line it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import msgspec

from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.model.settings import Origin
from prowess.reports.settings_report import (
    SettingRow,
    SettingsReport,
    load_settings_report,
)
from prowess.runtime import Skills
from prowess.text.display import escape_line


@click.command("config")
@host_option
@json_option
def command(host: str, as_json: bool) -> int:
    """Show every setting and where it comes from.

    Lists everything that the host's settings files can set, under the keys used in those files,
    whether it is set or not. Secrets are shown only as set. Where two files set the same value, the
    later one wins; in prowess.toml, the lists `disabled` and `ignore` of all files add up.
    """
    report = load_settings_report(Skills.open(".", host=host))
    if as_json:
        print_json(report.shape())
        return 0
    _print_settings(report)
    _print_files(report.files, report.cwd)
    return 0


def _print_settings(report: SettingsReport) -> None:
    from rich.text import Text

    from prowess.cli.terminal.diagnostic_output import print_diagnostics
    from prowess.cli.terminal.tables import print_columns

    rows = []
    for row in report.rows:
        # What nobody has set is there to be found, but not to be read first.
        style = "" if row.origin.file is not None else "dim"
        places = ", ".join(_render_origin(one, report.cwd) for one in row.list_origins())
        cells = (escape_line(row.written), _render_value(row), places)
        rows.append([Text(cell, style) for cell in cells])
    if rows:
        print_columns(rows, heading=("SETTING", "VALUE", "FROM"), wrap=True)
        console().print()
    print_diagnostics(report.diagnostics, report.cwd)


def _render_origin(origin: Origin, cwd: str) -> str:
    if origin.file is None:
        return "default"
    line = "" if origin.line is None else f":{origin.line}"
    return f"{shorten_path(origin.file, cwd)}{line}"


def _render_value(row: SettingRow) -> str:
    value: Any = row.value
    # Shown as the file has it: a key such as `disable` says the opposite of our setting.
    if row.is_inverted and isinstance(value, bool):
        value = not value
    if value is None:
        return "not set"
    if value == {}:
        return "none"
    if isinstance(value, str):
        return escape_line(value)
    # Nobody writes 24.0 hours.
    is_whole = isinstance(value, float) and value.is_integer()
    if is_whole:
        return str(int(value))
    return escape_line(msgspec.json.encode(value).decode("utf-8"))


def _print_files(files: Mapping[str, bool], cwd: str) -> None:
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    if not files:
        screen.print("This host reads no settings files.")
        return
    screen.print("Settings files, in reading order:")
    rows = [
        ("", "read" if is_found else "missing", shorten_path(path, cwd))
        for path, is_found in files.items()
    ]
    print_columns(rows, wrap=True)
