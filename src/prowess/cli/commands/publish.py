"""`prowess publish`: a folder with a signed index of skills, for any web server."""

from __future__ import annotations

import os
from typing import Any

import click

from prowess.cli.app import Exit
from prowess.cli.options import json_option, optional_host_option
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.cli.terminal.shared_skills import load_shared_skills, print_left_out
from prowess.errors import UsageError
from prowess.machine.facts import current_facts
from prowess.machine.processes import ProcessRunner
from prowess.supply.publish.signature import Signer, SshSignatures
from prowess.supply.publish.site import FILE_LIST, SIGNATURE, build_site
from prowess.supply.publish.site_folder import SiteFolder
from prowess.text.display import count_words, escape_line


@click.command("publish")
@click.argument("out", type=click.Path())
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option(
    "--key", metavar="FILE", help="Sign with this ssh key; a public key means the ssh agent's."
)
@click.option("--check", is_flag=True, help="Check what is in OUT, and write nothing.")
@click.option(
    "--signers", metavar="FILE", help="With --check: the allowed signers, as ssh-keygen reads them."
)
@click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
@optional_host_option
@json_option
def command(
    out: str,
    paths: tuple[str, ...],
    key: str | None,
    check: bool,
    signers: str | None,
    dry_run: bool,
    host: str | None,
    as_json: bool,
) -> int:
    """Write an index of skills that any web server can serve.

    OUT becomes a folder with `.well-known/agent-skills/index.json` (0.2.0, with digests),
    opencode's `index.json`, and the skills at each PATH; the default is the working folder. Each
    skill is checked as `prowess validate` does. All files are listed with their digests in
    `.well-known/agent-skills/sha256sums`, which --key signs. Publishing the same skills again
    changes nothing; a skill that is gone is removed. Files that were not published are never
    touched.
    """
    if signers is not None and not check:
        raise click.UsageError("--signers needs --check.")
    folder = SiteFolder(os.path.abspath(os.path.expanduser(out)))
    facts = current_facts()
    signatures = SshSignatures(ProcessRunner(facts), facts.env)
    if check:
        if paths or key is not None or dry_run:
            raise click.UsageError("--check takes OUT and --signers only.")
        return _check(folder, signatures, signers, as_json=as_json)
    return _Publication(folder, signatures, key, dry_run=dry_run).run(
        paths, host=host, as_json=as_json
    )


class _Publication:
    """One run of the command: what stays the same from the plan to the last line."""

    def __init__(
        self, folder: SiteFolder, signatures: SshSignatures, key: str | None, *, dry_run: bool
    ) -> None:
        self._folder = folder
        self._signatures = signatures
        self._key = None if key is None else _find_key(key)
        self._dry_run = dry_run

    def run(self, paths: tuple[str, ...], *, host: str | None, as_json: bool) -> int:
        with Progress("checking skills"):
            skills = load_shared_skills(paths, host=host, outside=self._folder.path)
            site = build_site(skills)
        changes = self._folder.plan(site)
        signature = self._sign(site[FILE_LIST])
        is_changed = bool(changes) or signature != self._folder.read(SIGNATURE)
        if not self._dry_run:
            # A signature of what was there before must not stand beside what is new.
            if changes:
                self._folder.write_signature(None)
            self._folder.write(site, changes)
            self._folder.write_signature(signature)
        if as_json:
            shape: dict[str, Any] = {
                "folder": self._folder.path,
                "skills": [one.name for one in skills],
                "changed": is_changed,
                "written": list(changes.written),
                "removed": list(changes.removed),
                "signed": signature is not None,
                "dry_run": self._dry_run,
                "left_out": {one.name: list(one.left_out) for one in skills if one.left_out},
            }
            print_json(shape)
            return Exit.OK
        screen = console()
        verb = "Would publish" if self._dry_run else "Published"
        where = shorten_path(self._folder.path, os.getcwd())
        screen.print(f"{verb} {count_words(len(skills), 'skill')} to {where}:")
        for skill in skills:
            screen.print(f"  {escape_line(skill.name)}  {skill.tree.digest}")
            print_left_out(skill)
        written, removed = len(changes.written), len(changes.removed)
        summary = f"{count_words(written, 'file')} written, {removed:,} removed."
        screen.print(summary if is_changed else "Nothing has changed.")
        screen.print(self._render_signature(is_signed=signature is not None))
        return Exit.OK

    def _render_signature(self, *, is_signed: bool) -> str:
        if self._key is not None:
            return f"Signed with {shorten_path(self._key, os.getcwd())}."
        if is_signed:
            return "Not signed again; it has a signature of the same files."
        return "Not signed; use --key FILE to sign it."

    def _sign(self, data: bytes) -> bytes | None:
        """The signature of the list of files: the old one, if it is still good."""
        before = self._folder.read(SIGNATURE)
        if self._key is None:
            is_for_same_files = self._folder.read(FILE_LIST) == data
            return before if is_for_same_files else None
        # Some keys sign differently each time, which would change a folder that has not changed.
        if before is not None and self._signatures.is_signed_by(data, before, self._key):
            return before
        return self._signatures.sign(data, self._key)


def _find_key(key: str) -> str:
    path = os.path.abspath(os.path.expanduser(key))
    if not os.path.isfile(path):
        raise UsageError(f"There is no key {path}.")
    return path


def _check(
    folder: SiteFolder, signatures: SshSignatures, signers: str | None, *, as_json: bool
) -> int:
    problems = list(folder.find_problems())
    signature = folder.read(SIGNATURE)
    signer: Signer | None = None
    if signers is not None:
        if signature is None:
            problems.append("it is not signed")
        else:
            allowed = os.path.abspath(os.path.expanduser(signers))
            signer = signatures.verify(folder.read(FILE_LIST) or b"", signature, allowed)
    if as_json:
        shape = None if signer is None else {"name": signer.principal, "key": signer.key}
        print_json({"folder": folder.path, "problems": problems, "signer": shape})
    else:
        screen = console()
        for problem in problems:
            screen.print(escape_line(problem))
        if signer is not None:
            screen.print(f"Signed by {escape_line(signer.principal)} ({signer.key}).")
        elif signature is not None:
            screen.print("Signed; use --signers FILE to check by whom.")
        elif signers is None:
            # With --signers it is among the problems.
            screen.print("Not signed.")
        if not problems:
            screen.print("Every file is as it was published.")
    return Exit.FOUND_ERRORS if problems else Exit.OK
