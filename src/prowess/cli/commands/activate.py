"""`prowess activate NAME`: exactly what a model receives when a skill is loaded."""

from __future__ import annotations

import click

from prowess.activate.slash.dispatch import Cancel
from prowess.cli.conversation_options import (
    ConversationOptions,
    conversation_options,
    join_words,
    run_in_conversation,
)
from prowess.cli.options import (
    AgentOptions,
    agent_options,
    name_argument,
    open_skills,
    scan_options,
)
from prowess.cli.terminal.out import echo_diagnostics, print_exact, print_json
from prowess.conversation.conversation import Conversation
from prowess.errors import UnknownSkill
from prowess.model.activation import Activation
from prowess.model.usage import Caller
from prowess.reports.activation_output import shape_activation
from prowess.reports.json_output import shape_scan
from prowess.runtime import Skills
from prowess.text.display import escape_line

# The states of a skill that a user can load.
_LOADABLE = ("ready", "hidden", "dormant")


@click.command("activate")
@name_argument
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--by",
    type=click.Choice(["user", "model"]),
    default="user",
    show_default=True,
    help="Who loads it; permission rules apply to a model.",
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
    agent: AgentOptions,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Print what a model receives when a skill is loaded.

    Prints exactly that text to stdout; diagnostics go to stderr. Commands in the skill run if the
    skill is yours or its project is trusted. ARGUMENTS are what a user would type after the name;
    put -- before text that begins with a dash. This does not count as a use.
    """
    skills = open_skills(host, add_dirs, bare=bare, agent=agent)
    given = join_words(arguments) if arguments else ""

    def load(conversation: Conversation, cancel: Cancel) -> Activation:
        return conversation.activate(name, given, by=by, is_cancelled=lambda: cancel.is_cancelled)

    options = ConversationOptions(session, effort)
    doing = f"loading {escape_line(name)}"
    try:
        activation = run_in_conversation(skills, options, load, doing=doing, count=False)
    except UnknownSkill as error:
        raise _find_others(error, skills, add_dirs, bare=bare) from None
    if as_json:
        print_json({**shape_scan(skills.snapshot), **shape_activation(activation, by)})
        return 0
    print_exact(activation.text)
    echo_diagnostics(activation.diagnostics)
    return 0


def _find_others(
    error: UnknownSkill, skills: Skills, add_dirs: tuple[str, ...], *, bare: bool
) -> UnknownSkill:
    """The same error with the hosts that do find the skill."""
    from prowess.cli.terminal.progress import Progress
    from prowess.reports.explanation import find_elsewhere

    with Progress() as progress:

        def open_host(host: str) -> Skills:
            progress.begin(f"asking {escape_line(host)}")
            return open_skills(host, add_dirs, bare=bare, progress=progress, warn=False)

        found = list(find_elsewhere(skills, error.name, open_host))
    others = [one.host for one in found if one.state in _LOADABLE]
    return UnknownSkill(error.name, error.known, host=skills.profile.name, seen_by=others)
