"""`prowess disable`: switch a skill off."""

from __future__ import annotations

import click

from prowess.cli.switch import switch_options, switch_skill


@click.command("disable")
@switch_options
def command(name: str, user: bool, host: str, as_json: bool) -> int:
    """Switch a skill off.

    Writes it to the project's prowess.toml, which is made where there is none, and keeps everything else in it.
    """
    return switch_skill(name, enabled=False, user=user, host=host, as_json=as_json)
