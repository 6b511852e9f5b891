"""`prowess run '/name arguments'`: what a host makes of a typed text."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from prowess.activate.slash.completion import spell
from prowess.activate.slash.dispatch import ToolReply
from prowess.activate.slash.parser import Notice, Plain
from prowess.cli.app import Exit
from prowess.cli.conversation_options import conversation_options, join_words, speak
from prowess.cli.options import Who, agent_options, open_skills, scan_options
from prowess.cli.terminal.out import echo_diagnostics, print_exact, print_json
from prowess.conversation.slash_commands import RunResult
from prowess.errors import ProwessError
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.runtime import Skills
from prowess.text.display import escape_line, escape_text

_MOST_NAMES = 8


def _complete_commands(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Commands for the shell, as the host names them that was chosen so far."""
    from prowess.cli.options import is_plain_name

    if ctx.params.get("text"):
        return []
    try:
        skills = Skills.open(".", host=ctx.params.get("host") or "prowess")
        plain = [one for one in skills.commands().typable if is_plain_name(one.name)]
    except (ProwessError, OSError):
        return []
    return [
        typed
        for one in plain
        if (typed := spell(one, skills.profile.commands)).startswith(incomplete)
    ]


@click.command("run")
@click.argument(
    "text", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=_complete_commands
)
@conversation_options
@agent_options
@scan_options
def command(
    text: tuple[str, ...],
    session: str | None,
    effort: str | None,
    who: Who,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Carry out a command such as `/name arguments`.

    TEXT is understood as the host understands it. A skill whose header sends its command to a tool
    has that tool called, and its reply is printed; prowess.toml declares tools. Any other skill
    gives the message that a model would receive. What cannot be typed is told on the error output.
    """
    skills = open_skills(host, add_dirs, bare=bare, who=who)
    typed = join_words(text)
    answer = speak(
        skills,
        lambda talk, cancel: talk.run(typed, cancel=cancel),
        doing=f"running {escape_line(typed)[:40]}",
        session=session,
        effort=effort,
        count=True,
    )
    if as_json:
        print_json({**shape_scan(skills.snapshot), **_shape(answer)})
    else:
        _tell(answer, skills)
    return _find_code(answer)


def _find_code(answer: RunResult) -> int:
    if isinstance(answer, Notice):
        return Exit.REFUSED
    return Exit.UNKNOWN_SKILL if isinstance(answer, Plain) else Exit.OK


def _shape(answer: RunResult) -> dict[str, Any]:
    if isinstance(answer, ToolReply):
        told = {"kind": "reply", "text": answer.text, "tool": answer.tool, "run_id": answer.run_id}
        return {
            **told,
            "diagnostics": [shape_diagnostic(finding) for finding in answer.diagnostics],
        }
    if isinstance(answer, Notice):
        return {
            "kind": "notice",
            "notice": answer.kind,
            "name": answer.name,
            "message": answer.message,
        }
    if isinstance(answer, Plain):
        return {
            "kind": "plain",
            "text": answer.text,
            "name": answer.name,
            "nearest": list(answer.nearest),
        }
    return {
        "kind": "message",
        "text": answer.text,
        "parts": list(answer.parts),
        "delivery": answer.delivery.value,
        "custom": answer.kind == "custom",
        "skills": list(answer.skills),
        "details": dict(answer.details),
        "untrusted": list(answer.untrusted),
        "requests": msgspec.to_builtins(answer.requests),
        "diagnostics": [shape_diagnostic(finding) for finding in answer.diagnostics],
    }


def _tell(answer: RunResult, skills: Skills) -> None:
    if isinstance(answer, Notice):
        click.echo(escape_text(answer.message), err=True)
    elif isinstance(answer, Plain):
        click.echo(escape_text(_explain_plain(answer, skills)), err=True)
    else:
        # A reply is for people and not for a model, so its line is ended.
        print_exact(f"{answer.text}\n" if isinstance(answer, ToolReply) else answer.text)
        echo_diagnostics(answer.diagnostics)


def _explain_plain(plain: Plain, skills: Skills) -> str:
    """That a text is no command, and what may have been meant."""
    said = "This is no command, so a model would get it as it is."
    if plain.name is not None:
        said = (
            f"“{plain.text.split()[0]}” is no command here, so a model would get the text as it is."
        )
    names = {one.name: spell(one, skills.profile.commands) for one in skills.commands().typable}
    if plain.nearest:
        return f"{said} Did you mean {' or '.join(f'“{names[name]}”' for name in plain.nearest)}?"
    if not names:
        return f"{said} No skill can be typed as a command here."
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"{said} The commands here: {', '.join(list(names.values())[:_MOST_NAMES])}{more}."
