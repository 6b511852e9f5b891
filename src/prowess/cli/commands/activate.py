"""`prowess activate NAME`: exactly what a model receives when a skill is loaded."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from prowess.cli.conversation_options import conversation_options, join_words, speak
from prowess.cli.options import Who, agent_options, name_argument, open_skills, scan_options
from prowess.cli.terminal.out import echo_diagnostics, print_exact, print_json
from prowess.model.activation import Activation
from prowess.model.usage import Caller
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.text.display import escape_line


@click.command("activate")
@name_argument
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--by",
    type=click.Choice(["user", "model"]),
    default="user",
    show_default=True,
    help="Who loads it; for a model the permission rules hold.",
)
@conversation_options
@agent_options
@scan_options
def command(
    name: str,
    arguments: tuple[str, ...],
    by: Caller,
    session: str | None,
    effort: str | None,
    who: Who,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Print what a model receives when a skill is loaded.

    The text itself goes to the output, to the letter, and nothing else; what was noticed goes to
    the error output. Commands inside the body run, where the skill is yours or its project is
    trusted. ARGUMENTS are what would be typed behind the name; put -- before text that begins with
    a dash. It is not counted as a use.
    """
    skills = open_skills(host, add_dirs, bare=bare, who=who)
    given = join_words(arguments) if arguments else ""
    made = speak(
        skills,
        lambda talk, cancel: talk.activate(
            name, given, by=by, is_cancelled=lambda: cancel.is_cancelled
        ),
        doing=f"loading {escape_line(name)}",
        session=session,
        effort=effort,
        count=False,
    )
    if as_json:
        print_json({**shape_scan(skills.snapshot), **_shape(made, by)})
        return 0
    print_exact(made.text)
    echo_diagnostics(made.diagnostics)
    return 0


def _shape(made: Activation, by: Caller) -> dict[str, Any]:
    return {
        "name": made.name,
        "by": by,
        "text": made.text,
        "title": made.title,
        "folder": made.folder,
        "digest": made.digest,
        "files": list(made.files),
        "more_files": made.more_files,
        "metadata": dict(made.metadata),
        "trusted": made.trusted,
        "requests": msgspec.to_builtins(made.requests),
        "diagnostics": [shape_diagnostic(finding) for finding in made.diagnostics],
    }
