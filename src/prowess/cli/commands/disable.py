"""`prowess disable`: switch a skill off."""

from __future__ import annotations

import click

from prowess.cli.commands.switch import switch_options, switch_skill


@click.command("disable")
@switch_options
def command(name: str, user: bool, host: str, as_json: bool) -> int:
    """Switch a skill off.

    Writes it to the project's prowess.toml, which is made where there is none, and keeps everything
    else in it. With --host it is written to the host's own file, once it is clear that the host
    then sees the skill as you want:

    \b
    claude-code  skillOverrides in .claude/settings.local.json or settings.json
    opencode     permission.skill in opencode.json or opencode.jsonc
    openclaw     skills.entries in openclaw.json
    omp          disabledExtensions in config.yml
    codex        [[skills.config]] in config.toml

    The last three have one file for all your projects; for the others --user takes the one in your
    home.
    """
    return switch_skill(name, enabled=False, user=user, host=host, as_json=as_json)
