"""`prowess chat`: a conversation with a model, at the terminal."""

from __future__ import annotations

from functools import partial

import click

from prowess.cli.agent_run import RunOptions, model_options
from prowess.cli.options import AgentOptions, agent_options, open_skills, scan_options
from prowess.errors import MissingExtra
from prowess.text.permission_rules import AGENT_TOOLS


@click.command("chat")
@partial(model_options, without=("output", "input"))
@partial(agent_options, tools=AGENT_TOOLS)
@scan_options
def command(
    run: RunOptions,
    agent: AgentOptions,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Talk with a model that works in this project with the skills here.

    Enter sends; while the model works it steers, and Ctrl+S (or Ctrl+Enter) queues a follow-up. Esc
    interrupts. Type / for commands and skills, @ for files, /help for the rest. Rules and
    approvals are those of `prowess run`.

    Without a terminal every line of stdin is a message, and the answers are plain text; with --json
    every event is a line.
    """
    try:
        import prompt_toolkit  # noqa: F401
    except ModuleNotFoundError as missing:
        raise MissingExtra("agent", "chat") from missing
    skills = open_skills(host, add_dirs, bare=bare, agent=agent, shipped=True)
    from prowess.cli.chat.screen import can_draw, run_screen

    if can_draw() and not as_json:
        return run_screen(skills, host, run)
    from prowess.cli.chat.plain import run_plain

    return run_plain(skills, host, run, as_json=as_json)
