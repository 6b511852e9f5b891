"""`prowess disable`: disable a skill."""

from __future__ import annotations

import click

from prowess.cli.commands.switch import HELP, switch_options, switch_skill


@click.command("disable", help=HELP.format(summary="Disable a skill.", state="disabled"))
@switch_options
def command(name: str, user: bool, host: str, as_json: bool) -> int:
    """Disable a skill."""
    return switch_skill(name, enabled=False, user=user, host=host, as_json=as_json)
