"""`prowess enable`: switch a skill on."""

from __future__ import annotations

import click

from prowess.cli.switch import switch_options, switch_skill


@click.command("enable")
@switch_options
def command(name: str, user: bool, host: str, as_json: bool) -> int:
    """Switch a skill on.

    Writes it to the project's prowess.toml, which is made where there is none, and keeps everything else in it.
    """
    return switch_skill(name, enabled=True, user=user, host=host, as_json=as_json)
