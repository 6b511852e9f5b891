"""`prowess run`: a turn with a model, or what a host does with a typed command."""

from __future__ import annotations

from functools import partial

import click

from prowess.activate.slash.completion import spell
from prowess.activate.slash.dispatch import Cancel
from prowess.activate.slash.parser import Notice, Plain
from prowess.agent.shipped.commands import register_commands
from prowess.cli.agent_run import RunOptions, model_options, run_session
from prowess.cli.app import Exit
from prowess.cli.conversation_options import (
    ConversationOptions,
    conversation_options,
    join_words,
    run_in_conversation,
)
from prowess.cli.no_model import answer_without_model
from prowess.cli.options import AgentOptions, agent_options, open_skills, scan_options
from prowess.cli.terminal.out import echo_diagnostics, print_exact, print_json
from prowess.conversation.conversation import Conversation
from prowess.conversation.slash_commands import RunResult
from prowess.errors import ProwessError, UsageError
from prowess.reports.activation_output import shape_run_result
from prowess.reports.json_output import shape_scan
from prowess.runtime import Skills
from prowess.supply.sources import open_sources
from prowess.text.display import escape_line, escape_text
from prowess.text.permission_rules import AGENT_TOOLS


def _complete_commands(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete a command, for the host that was chosen so far on the line."""
    from prowess.cli.options import find_default_host, is_plain_name

    # Only the first word is a command; after it comes what the user wants of it.
    if ctx.params.get("text"):
        return []
    try:
        host = ctx.params.get("host") or find_default_host()
        skills = Skills.open(".", host=host, sources=open_sources(offline=True))
        plain = [one for one in skills.commands().typable if is_plain_name(one.name)]
    except (ProwessError, OSError):
        # Tab offers nothing then; the command itself says what is wrong.
        return []
    spelled = [spell(one, skills.profile.commands) for one in plain]
    return [command for command in spelled if command.startswith(incomplete)]


@click.command("run")
@click.argument(
    "text", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=_complete_commands
)
@model_options
@conversation_options
@partial(agent_options, tools=AGENT_TOOLS)
@scan_options
def command(
    text: tuple[str, ...],
    run: RunOptions,
    session: str | None,
    effort: str | None,
    agent: AgentOptions,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Let a model do a task, or run a command such as `/name arguments`.

    TEXT is interpreted as the host would. If the skill's header names a tool for its command, the
    tool is called and its reply printed; prowess.toml declares tools. Everything else goes to the
    model of --model or of your settings, with the tools Read, Write, Edit, Glob, Grep, Bash and
    Task, and the skills here. Reading inside the project needs no permission; for everything else
    you are asked, unless a rule such as `--allow 'Bash(git *)'` decides. With --json every event is
    a line.

    Without a model, a command gives the message that a model would receive, and for any other text
    the best skill is named.
    """
    skills = open_skills(host, add_dirs, bare=bare, agent=agent, shipped=True)
    register_commands(skills, find_model=lambda: run.model)
    typed = join_words(text)
    if not typed.strip():
        raise UsageError("The prompt is empty.")
    if run.needs_model or skills.project.load_own_settings().agent.model is not None:
        return run_session(skills, typed, run, as_json=as_json)

    def run_command(conversation: Conversation, cancel: Cancel) -> RunResult:
        return conversation.run(typed, cancel=cancel)

    options = ConversationOptions(session, effort)
    doing = f"running {escape_line(typed)[:40]}"
    result = run_in_conversation(skills, options, run_command, doing=doing, count=True)
    if as_json:
        print_json({**shape_scan(skills.snapshot), **shape_run_result(result)})
    else:
        _print_result(result, skills)
    return _choose_code(result)


def _choose_code(result: RunResult) -> int:
    if isinstance(result, Notice):
        return Exit.REFUSED
    # Plain text is an answer for a model, and here there is none.
    if isinstance(result, Plain):
        return Exit.UNKNOWN_SKILL
    return Exit.OK


def _print_result(result: RunResult, skills: Skills) -> None:
    answer = answer_without_model(result, skills)
    for note in answer.notes:
        click.echo(escape_text(note), err=True)
    print_exact(answer.text)
    echo_diagnostics(answer.diagnostics)
