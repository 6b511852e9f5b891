"""`prowess enable`: enable a skill."""

from __future__ import annotations

import click

from prowess.cli.commands.switch import HELP, switch_options, switch_skill


@click.command("enable", help=HELP.format(summary="Enable a skill.", state="enabled"))
@switch_options
def command(name: str, user: bool, host: str, as_json: bool) -> int:
    """Enable a skill."""
    return switch_skill(name, enabled=True, user=user, host=host, as_json=as_json)
