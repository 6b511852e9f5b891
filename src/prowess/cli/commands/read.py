"""`prowess read skill://NAME/PATH`: what a URL points to."""

from __future__ import annotations

import click
import msgspec

from prowess.cli.options import complete_names, open_skills, scan_options
from prowess.cli.terminal.out import print_exact, print_json
from prowess.reports.json_output import shape_scan

_SCHEME = "skill://"


def _complete_urls(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Complete the URL of a skill. Shells that split words at colons send what follows one."""
    lead, typed = _SCHEME, ""
    if incomplete.startswith(_SCHEME):
        typed = incomplete.removeprefix(_SCHEME)
    elif incomplete.startswith("//"):
        lead, typed = "//", incomplete.removeprefix("//")
    elif not _SCHEME.startswith(incomplete):
        return []
    return [f"{lead}{name}" for name in complete_names(ctx, param, typed)]


@click.command("read")
@click.argument("url", shell_complete=_complete_urls)
@scan_options
def command(url: str, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool) -> int:
    """Print what a skill:// URL points to.

    `skill://NAME` is the SKILL.md, `skill://NAME/PATH` a file of the skill or the list of a folder,
    and `skill://NAME/PATH:1-20` some of its lines. Nothing outside the skill's folder is read.
    """
    skills = open_skills(host, add_dirs, bare=bare)
    resource = skills.read(url, by="user")
    if as_json:
        shape = {"is_folder": False, **msgspec.to_builtins(resource)}
        print_json({**shape_scan(skills.snapshot), **shape})
    else:
        print_exact(resource.content)
    return 0
