"""`prowess acp`: the agent for editors, over the Agent Client Protocol."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from prowess.cli.app import Exit
from prowess.cli.options import AgentOptions, agent_options, host_option, json_option, open_skills
from prowess.errors import MissingExtra
from prowess.runtime import Skills
from prowess.text.permission_rules import AGENT_TOOLS


@click.command("acp")
@click.option("--model", metavar="NAME", help="provider:name, or script:FILE.")
@click.option("--read-only", is_flag=True, help="Change nothing in the project.")
@partial(agent_options, tools=AGENT_TOOLS)
@host_option
@json_option
def command(
    model: str | None, read_only: bool, agent: AgentOptions, host: str, as_json: bool
) -> int:
    """Act as the agent of an editor, over the Agent Client Protocol.

    The editor starts this command and talks to it on stdin and stdout. It has a session for each
    conversation, shows changes before they are made, and asks you where the rules say so. The
    guide “Editors” has the settings of Zed. The protocol is JSON, with and without --json.
    """
    try:
        from prowess.agent.acp import AcpAgent, serve
        from prowess.agent.jobs.runner import open_job_runner
        from prowess.agent.session import Session
    except ModuleNotFoundError as missing:
        raise MissingExtra("acp", "be the agent of an editor") from missing

    def open_folder(path: str) -> Skills:
        return open_skills(host, agent=agent, shipped=True, path=path, warn=False)

    def open_session(skills: Skills, **options: Any) -> Session:
        jobs = open_job_runner(skills)
        return Session(skills, model=model, read_only=read_only, jobs=jobs, **options)

    serve(AcpAgent(open_folder, open_session))
    return Exit.OK
