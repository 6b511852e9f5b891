"""`prowess read skill://NAME/PATH`: what an address stands for."""

from __future__ import annotations

import click
import msgspec

from prowess.cli.options import complete_names, open_skills, scan_options
from prowess.cli.terminal.out import print_exact, print_json
from prowess.reports.json_output import shape_scan

_SCHEME = "skill://"


def _complete_addresses(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The addresses of skills for the shell; a shell that breaks words at colons asks for what
    comes behind one.
    """
    lead = next((lead for lead in (_SCHEME, "//") if incomplete.startswith(lead)), "")
    begun = incomplete[len(lead) :]
    if not lead and not _SCHEME.startswith(incomplete):
        return []
    return [
        f"{lead or _SCHEME}{name}" for name in complete_names(ctx, param, begun if lead else "")
    ]


@click.command("read")
@click.argument("url", shell_complete=_complete_addresses)
@scan_options
def command(url: str, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool) -> int:
    """Print what a skill:// address stands for.

    `skill://NAME` is the SKILL.md, `skill://NAME/PATH` a file of the skill or the list of a folder,
    and `skill://NAME/PATH:1-20` some lines of it. Nothing outside the skill's folder is read.
    """
    skills = open_skills(host, add_dirs, bare=bare)
    found = skills.read(url, by="user")
    if as_json:
        print_json({**shape_scan(skills.snapshot), **msgspec.structs.asdict(found)})
    else:
        print_exact(found.content)
    return 0
