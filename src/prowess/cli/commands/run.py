"""`prowess run '/name arguments'`: what a host does with a typed text."""

from __future__ import annotations

import click

from prowess.activate.slash.completion import spell
from prowess.activate.slash.dispatch import Cancel, ToolReply
from prowess.activate.slash.parser import Notice, Plain
from prowess.cli.app import Exit
from prowess.cli.conversation_options import (
    ConversationOptions,
    conversation_options,
    join_words,
    run_in_conversation,
)
from prowess.cli.options import AgentOptions, agent_options, open_skills, scan_options
from prowess.cli.terminal.out import echo_diagnostics, print_exact, print_json
from prowess.conversation.conversation import Conversation
from prowess.conversation.slash_commands import RunResult
from prowess.errors import ProwessError
from prowess.reports.activation_output import shape_run_result
from prowess.reports.json_output import shape_scan
from prowess.runtime import Skills
from prowess.text.display import escape_line, escape_text

_MOST_NAMES = 8


def _complete_commands(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a command, for the host that was chosen so far on the line."""
    from prowess.cli.options import find_default_host, is_plain_name

    if ctx.params.get("text"):
        return []
    try:
        skills = Skills.open(".", host=ctx.params.get("host") or find_default_host())
        plain = [one for one in skills.commands().typable if is_plain_name(one.name)]
    except (ProwessError, OSError):
        return []
    spelled = [spell(one, skills.profile.commands) for one in plain]
    return [command for command in spelled if command.startswith(incomplete)]


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
    agent: AgentOptions,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Run a command such as `/name arguments`.

    TEXT is interpreted as the host would. If the skill's header names a tool for its command, the
    tool is called and its reply printed; prowess.toml declares tools. Any other skill gives the
    message that a model would receive. Text that is not a command is reported on stderr.
    """
    skills = open_skills(host, add_dirs, bare=bare, agent=agent)
    typed = join_words(text)

    def run(conversation: Conversation, cancel: Cancel) -> RunResult:
        return conversation.run(typed, cancel=cancel)

    options = ConversationOptions(session, effort)
    doing = f"running {escape_line(typed)[:40]}"
    result = run_in_conversation(skills, options, run, doing=doing, count=True)
    if as_json:
        print_json({**shape_scan(skills.snapshot), **shape_run_result(result)})
    else:
        _print_result(result, skills)
    return _choose_code(result)


def _choose_code(result: RunResult) -> int:
    if isinstance(result, Notice):
        return Exit.REFUSED
    return Exit.UNKNOWN_SKILL if isinstance(result, Plain) else Exit.OK


def _print_result(result: RunResult, skills: Skills) -> None:
    if isinstance(result, Notice):
        click.echo(escape_text(result.message), err=True)
    elif isinstance(result, Plain):
        click.echo(escape_text(_explain_plain(result, skills)), err=True)
    else:
        # A reply is for people, not for a model, so its last line is ended.
        print_exact(f"{result.text}\n" if isinstance(result, ToolReply) else result.text)
        echo_diagnostics(result.diagnostics)


def _explain_plain(plain: Plain, skills: Skills) -> str:
    """Say that a text is not a command, and which ones there are."""
    typed = "This" if plain.name is None else f"“{plain.text.split()[0]}”"
    problem = f"{typed} is not a command here; a model would receive the text unchanged."
    return f"{problem} {_suggest_commands(plain, skills)}"


def _suggest_commands(plain: Plain, skills: Skills) -> str:
    rules = skills.profile.commands
    commands = {one.name: spell(one, rules) for one in skills.commands().typable}
    if plain.nearest:
        return f"Did you mean {' or '.join(f'“{commands[name]}”' for name in plain.nearest)}?"
    if not commands:
        return "No skill can be used as a command here."
    first = ", ".join(list(commands.values())[:_MOST_NAMES])
    left = len(commands) - _MOST_NAMES
    more = f" and {left:,} more" if left > 0 else ""
    return f"Commands here: {first}{more}."
