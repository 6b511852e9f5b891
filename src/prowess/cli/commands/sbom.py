"""`prowess sbom`: installed skills as a bill of materials."""

from __future__ import annotations

import os

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import open_place, user_option
from prowess.cli.options import host_option, json_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import MissingExtra, UsageError
from prowess.machine.atomic_write import write_aside
from prowess.state.install_lock import LOCK_NAME
from prowess.text.display import count_words


@click.command("sbom")
@click.option("--output", "-o", metavar="FILE", help="Write the document to this file.")
@user_option
@host_option
@json_option
def command(output: str | None, user: bool, host: str, as_json: bool) -> int:
    """Write a CycloneDX document of the installed skills, from prowess.lock.

    It lists each skill with its source and commit, and every file with its SHA-256. The same lock
    file gives the same bytes. `--json` changes only what is printed with `--output`; the document
    is JSON in any case.
    """
    try:
        from prowess.supply.install.sbom import render_sbom
    except ModuleNotFoundError as missing:
        raise MissingExtra("sbom", "write a bill of materials") from missing
    _, place = open_place(host, user=user)
    skills = place.open_lock().load().skills
    name = "user" if user else os.path.basename(place.base)
    document = render_sbom(skills, project=name)
    if output is None:
        click.echo(document, nl=False)
        return Exit.OK
    path = os.path.abspath(output)
    # A slip, or a link, must not cost the lock file that the document is made from.
    names = (os.path.basename(path), os.path.basename(os.path.realpath(path)))
    if LOCK_NAME in names:
        raise UsageError(f"{output} is a lock file; write the document to another file.")
    write_aside(path, document.encode())
    if as_json:
        print_json({"file": path, "skills": len(skills)})
    else:
        counted = count_words(len(skills), "skill")
        console().print(f"Wrote {shorten_path(path, os.getcwd())}: {counted}.")
    return Exit.OK
