"""`prowess context`: the context files that apply here."""

from __future__ import annotations

import os

import click

from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_exact, print_json, shorten_path
from prowess.reports.context_report import (
    ContextReport,
    load_context,
    render_none,
)
from prowess.runtime import Skills
from prowess.text.display import count_words


@click.command("context")
@click.option(
    "--text", "as_text", is_flag=True, help="Print the merged text, as a model would get it."
)
@host_option
@json_option
def command(as_text: bool, host: str, as_json: bool) -> int:
    """Show the context files (AGENTS.md and similar) that apply here.

    The farthest comes first: files nearer to the working folder are read last and take precedence.
    """
    report = load_context(Skills.open(".", host=host))
    if as_json:
        print_json(report.shape())
    elif as_text:
        text = report.found.text
        print_exact(f"{text}\n" if text else "")
    else:
        _print_files(report)
    return 0


def _print_files(report: ContextReport) -> None:
    from prowess.cli.terminal.diagnostic_output import print_diagnostics
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    files = report.found.files
    if files:
        rows = [
            (str(file.depth), f"{len(file.text):,}", shorten_path(file.path, report.cwd))
            for file in files
        ]
        print_columns(rows, heading=("DEPTH", "CHARACTERS", "FILE"), wrap=True)
        size = f"about {count_words(report.estimated_tokens, 'token')} (an estimate)"
        screen.print()
        screen.print(
            f"{count_words(len(files), 'file')}, {size}, farthest first."
            " --text prints them as one text."
        )
    else:
        screen.print(render_none(report, home=os.path.expanduser("~")))
    print_diagnostics(report.found.diagnostics, report.cwd)
