"""`prowess context`: the context files that hold here."""

from __future__ import annotations

import sys

import click

from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.discover.context import ContextFile, ContextFiles
from prowess.present.tokens import estimate_tokens
from prowess.reports.json_output import shape_diagnostic
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_text


@click.command("context")
@click.option(
    "--text", "as_text", is_flag=True, help="Print the merged text, as a model would be given it."
)
@host_option
@json_option
def command(as_text: bool, host: str, as_json: bool) -> int:
    """Show the context files (AGENTS.md and its kin) that hold here.

    The farthest comes first: what is nearer to the working folder is read last and has the last
    word.
    """
    skills = Skills.open(".", host=host)
    found = skills.context_files()
    if as_json:
        print_json(
            {
                "host": skills.profile.name,
                "edition": skills.profile.edition,
                "cwd": skills.cwd,
                "files": [_shape(file) for file in found.files],
                "diagnostics": [shape_diagnostic(diagnostic) for diagnostic in found.diagnostics],
            }
        )
    elif as_text:
        _print_text(found.text)
    else:
        _print_files(skills, found)
    return 0


def _shape(file: ContextFile) -> dict[str, object]:
    return {
        "path": file.path,
        "depth": file.depth,
        "characters": len(file.text),
        "estimated_tokens": estimate_tokens(file.text),
    }


def _print_text(text: str) -> None:
    sys.stdout.write(escape_text(text) if sys.stdout.isatty() else text)
    sys.stdout.write("\n" if text else "")


def _print_files(skills: Skills, found: ContextFiles) -> None:
    from prowess.cli.terminal.diagnostic_output import print_diagnostics
    from prowess.cli.terminal.tables import print_columns

    screen = console()
    if not found.files:
        screen.print(_tell_none(skills, found))
    else:
        print_columns(
            [
                (str(f.depth), f"{len(f.text):,}", shorten_path(f.path, skills.cwd))
                for f in found.files
            ],
            heading=("DEPTH", "CHARACTERS", "FILE"),
            wrap=True,
        )
        tokens = estimate_tokens(found.text)
        screen.print()
        screen.print(
            f"{count_words(len(found.files), 'file')}, about {count_words(tokens, 'token')} (an"
            " estimate), farthest first. --text prints them as one."
        )
    print_diagnostics(found.diagnostics, skills.cwd)


def _tell_none(skills: Skills, found: ContextFiles) -> str:
    """That there is no context file, and where one was looked for."""
    names = " or ".join(skills.profile.context.files)
    left_out = "" if skills.cwd in found.looked_in else " Hidden folders are left out."
    if not found.looked_in:
        return (
            f"No context file holds here: {shorten_path(skills.cwd)} lies in a hidden folder, where"
            " none is read."
        )
    nearest, farthest = shorten_path(found.looked_in[0]), shorten_path(found.looked_in[-1])
    above = f" or above it, up to {farthest}" if len(found.looked_in) > 1 else ""
    return f"No context file holds here: there is no {names} in {nearest}{above}.{left_out}"
