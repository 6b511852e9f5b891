"""`prowess pack`: a skill as one file that can be sent, kept and installed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from prowess.cli.options import json_option, optional_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.cli.terminal.shared_skills import load_shared_skills, print_left_out
from prowess.diagnostics import Diagnostic
from prowess.errors import UsageError
from prowess.machine.atomic_write import write_aside
from prowess.machine.files import LocalFiles
from prowess.reports.json_output import shape_diagnostic
from prowess.supply.publish.archive import pack_files
from prowess.supply.publish.skill_files import SharedSkill
from prowess.text.display import count_words, escape_line

_ZIP = b"PK"


class PackedSkill(msgspec.Struct, frozen=True):
    """An archive that was made: the skill, its path, its digest and size, and whether it is new."""

    skill: SharedSkill
    path: str
    sha256: str
    size: int
    is_changed: bool

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "name": self.skill.name,
            "folder": self.skill.folder,
            "archive": self.path,
            "sha256": self.sha256,
            "bytes": self.size,
            "changed": self.is_changed,
            "files": list(self.skill.files),
            "left_out": list(self.skill.left_out),
            "diagnostics": [shape_diagnostic(one) for one in self.skill.warnings],
        }


@click.command("pack")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--output", "-o", metavar="PATH", help="The archive to write, or a folder for it.")
@click.option("--dry-run", is_flag=True, help="Show what would be packed and write nothing.")
@optional_host_option
@json_option
def command(
    paths: tuple[str, ...], output: str | None, dry_run: bool, host: str | None, as_json: bool
) -> int:
    """Pack a skill into one file that can be installed.

    PATH is a skill's folder or a folder of skills; the default is the working folder. Each skill is
    checked as `prowess validate` does, and becomes NAME.skill: a zip file with the skill's folder
    in it. The same files always make the same bytes. Left out are version control, caches, `.env`,
    and what editors and systems leave behind. With --host, that host must load the skill, too.
    """
    with Progress("packing skills"):
        skills = load_shared_skills(paths, host=host)
        packed = [
            _pack(skill, _choose_path(skill, output, skills), dry_run=dry_run) for skill in skills
        ]
    if as_json:
        print_json({"written": not dry_run, "skills": [one.shape() for one in packed]})
    else:
        _print_packed(packed, dry_run=dry_run)
    return 0


def _choose_path(skill: SharedSkill, output: str | None, skills: Sequence[SharedSkill]) -> str:
    name = f"{skill.name}.skill"
    if output is None:
        return os.path.abspath(name)
    path = os.path.abspath(os.path.expanduser(output))
    is_folder = os.path.isdir(path) or output.endswith(os.sep)
    if is_folder:
        return os.path.join(path, name)
    if len(skills) > 1:
        raise UsageError(f"{output} is one file, and there are {len(skills)} skills to pack.")
    return path


def _pack(skill: SharedSkill, path: str, *, dry_run: bool) -> PackedSkill:
    data = pack_files(skill.files, folder=skill.name)
    existing = _load_existing(path, len(data))
    # A slip in --output must not cost a file that is no archive.
    is_other_file = existing is not None and not existing.startswith(_ZIP)
    if is_other_file:
        raise UsageError(f"{path} is not an archive, and is not replaced.")
    is_changed = existing != data
    if is_changed and not dry_run:
        write_aside(path, data)
    digest = hashlib.sha256(data).hexdigest()
    return PackedSkill(skill, path, digest, len(data), is_changed)


def _load_existing(path: str, size: int) -> bytes | None:
    try:
        return LocalFiles().read_head(path, size + 1).data
    except OSError:
        # Missing or not a file; if it cannot be written either, that is reported then.
        return None


def _print_packed(packed: Sequence[PackedSkill], *, dry_run: bool) -> None:
    screen = console()
    for archive in packed:
        verb = "Packed" if archive.is_changed else "Unchanged:"
        if dry_run:
            verb = "Would pack"
        what = f"{count_words(len(archive.skill.files), 'file')}, {archive.size:,} bytes"
        screen.print(f"{verb} {escape_line(archive.skill.name)} ({what})")
        screen.print(f"  {shorten_path(archive.path, os.getcwd())}  sha256:{archive.sha256}")
        print_left_out(archive.skill)
    warnings: list[Diagnostic] = [found for archive in packed for found in archive.skill.warnings]
    if warnings:
        count = count_words(len(warnings), "warning or note")
        screen.print(f"{count}; `prowess validate` shows them.")
