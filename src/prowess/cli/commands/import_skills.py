"""`prowess import`: import skills installed by other tools."""

from __future__ import annotations

import os

import click

from prowess.cli.app import Exit
from prowess.cli.install_options import (
    begin_work,
    dry_run_option,
    open_place,
    private_host_option,
    user_option,
    yes_option,
)
from prowess.cli.options import host_option, is_offline, json_option, offline_option
from prowess.cli.terminal.install_output import render_origin
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.prompts import agree, shape_not_asked
from prowess.cli.terminal.tables import print_columns
from prowess.reports.adoption import AdoptedSkill, Adoption
from prowess.supply.adopt.adoption import apply_adoption, plan_adoption
from prowess.supply.adopt.installer_records import TITLES
from prowess.text.display import count_words, escape_line, escape_text

_DONE = "imported"
_FILES = {
    "unchanged": "as they were installed",
    "changed": "changed since installation",
    "unknown": "may have changed since installation",
}
_UPSTREAM = {
    "same": "the source has the same files",
    "different": "the source has different files now",
    "gone": "the source no longer has it",
    "failed": "the source could not be checked",
    "not-asked": "source not checked",
}


@click.command("import")
@private_host_option
@user_option
@yes_option
@dry_run_option
@offline_option
@host_option
@json_option
def command(
    private_hosts: tuple[str, ...], user: bool, yes: bool, dry_run: bool, host: str, as_json: bool
) -> int:
    """Import skills installed by other tools.

    Reads skills-lock.json of Vercel's skills, .clawhub/lock.json of ClawHub, and the metadata
    that `gh skill` writes to SKILL.md. Shows each skill, where it comes from and whether it was
    changed since, then asks, and records it in prowess.lock. Files of the skills and of the other
    installer are left unchanged.
    """
    _, place = open_place(host, user=user)
    with begin_work(place, "checking sources", private_hosts=private_hosts) as (
        installer,
        progress,
    ):
        planned = plan_adoption(installer, offline=is_offline())
        progress.finish()
        adoption = planned.adoption
        if not as_json:
            _print_adoption(adoption, os.getcwd())
        # A lock file that could not be read may have had more to import.
        code = Exit.MACHINE if adoption.unusable else Exit.OK
        is_wanted = bool(planned.entries) and not dry_run
        if not is_wanted:
            return _finish(adoption, code, as_json=as_json, imported=False)
        question = f"Import {count_words(len(planned.entries), 'skill')}?"
        if not yes and not agree(question, done=_DONE, as_json=as_json):
            return _finish(adoption, Exit.REFUSED, as_json=as_json, imported=False)
        apply_adoption(installer, planned)
    if not as_json:
        names = ", ".join(escape_line(one.name) for one in adoption.skills)
        lock = shorten_path(place.lock_path, os.getcwd())
        console().print(f"Imported {names}; recorded in {lock}.")
    return _finish(adoption, code, as_json=as_json, imported=True)


def _finish(adoption: Adoption, code: int, *, as_json: bool, imported: bool) -> int:
    if as_json:
        shape = {**adoption.shape(), "imported": imported}
        if code == Exit.REFUSED:
            shape["error"] = shape_not_asked(_DONE)
        print_json(shape)
    return code


def _print_adoption(adoption: Adoption, cwd: str) -> None:
    for skill in adoption.skills:
        _print_skill(skill, cwd)
    # What stays as it is goes to stderr, so that the list of skills can be piped.
    for one in adoption.left_out:
        where = f" in {shorten_path(one.folder, cwd)}" if one.folder else ""
        _print_problem(f"Not imported: {one.name}{where} ({TITLES[one.tool]}): {one.reason}.")
    for one in adoption.missing:
        record = shorten_path(one.record, cwd)
        _print_problem(f"Not imported: {one.name} is in {record}, but has no folder here.")
    for folder in adoption.unrecorded:
        _print_problem(f"Not imported: no installer recorded {shorten_path(folder, cwd)}.")
    for file, reason in adoption.unusable:
        _print_problem(f"Cannot use {shorten_path(file, cwd)}: {reason}.")
    if adoption.skills:
        return
    said = "Nothing to import."
    if adoption.known:
        said += f" {count_words(adoption.known, 'folder')} in prowess.lock already."
    console().print(said)


def _print_skill(skill: AdoptedSkill, cwd: str) -> None:
    origin = render_origin(skill.source, skill.path, skill.ref, skill.resolved)
    console().print(escape_line(skill.name), style="bold")
    rows = [("", "from", origin)]
    rows += [("", "in", shorten_path(folder, cwd)) for folder in skill.folders]
    rows += [("", "linked from", shorten_path(link, cwd)) for link in skill.links]
    rows.append(("", "recorded by", f"{TITLES[skill.tool]}, {shorten_path(skill.record, cwd)}"))
    rows.append(("", "files", f"{_FILES[skill.files]}; {_UPSTREAM[skill.upstream]}"))
    if skill.problem:
        rows.append(("", "", skill.problem))
    if skill.pinned is not None:
        rows.append(("", "pinned", skill.pinned))
    print_columns([tuple(map(escape_line, row)) for row in rows], wrap=True)
    console().print()


def _print_problem(text: str) -> None:
    click.echo(escape_text(text), err=True)
