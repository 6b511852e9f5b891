"""`prowess validate`: skills checked strictly, for authors and CI."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import click
import msgspec

from prowess.cli.options import complete_hosts, load_host
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.diagnostics import Diagnostic, Severity
from prowess.reports.json_output import shape_diagnostic
from prowess.reports.lint_report import Checked, Mended, check_target
from prowess.reports.skill_paths import find_targets
from prowess.text.display import count_words, escape_line, escape_text

_NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


class Report(msgspec.Struct, frozen=True):
    """What validating came to: every file, what belongs to none of them, and whether repairs were
    only shown.

    `stopped_before` is the number of files that were left when somebody stopped it.
    """

    checked: tuple[Checked, ...]
    notes: tuple[Diagnostic, ...]
    dry_run: bool
    base: str
    stopped_before: int = 0

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Every finding, those of no file first, then file by file."""
        return (*self.notes, *(finding for one in self.checked for finding in one.findings))

    def counts(self) -> Counter[Severity]:
        """How many findings have each severity."""
        return Counter(finding.severity for finding in self.findings)


@click.command("validate")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help=(
        "How to print findings: for people, as JSON, as GitHub workflow commands, or as SARIF"
        " 2.1.0."
    ),
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--strict", is_flag=True, help="Let warnings count as errors.")
@click.option(
    "--fix", is_flag=True, help="Mend headers that can be mended; comments and order are kept."
)
@click.option(
    "--dry-run", is_flag=True, help="With --fix: show what would change, and write nothing."
)
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Check also whether this host would read the file; can be given more than once.",
)
def command(
    paths: tuple[str, ...],
    form: str,
    as_json: bool,
    strict: bool,
    fix: bool,
    dry_run: bool,
    hosts: tuple[str, ...],
) -> int:
    """Check skills strictly, for authors and CI.

    PATH is a SKILL.md, a skill's folder, or a folder of skills; without one, the working folder is
    searched. Exits with 1 if there is an error.
    """
    form = _choose_form(form, as_json=as_json)
    if dry_run and not fix:
        raise click.UsageError("--dry-run shows what --fix would change; give both.")
    report = _validate(paths, hosts, fix=fix, dry_run=dry_run)
    _FORMS[form](report)
    if report.stopped_before:
        raise KeyboardInterrupt
    counts = report.counts()
    return 1 if counts[Severity.ERROR] or (strict and counts[Severity.WARNING]) else 0


def _choose_form(form: str, *, as_json: bool) -> str:
    if as_json and form not in ("text", "json"):
        raise click.UsageError(f"--json and --format {form} ask for two forms; give one of them.")
    return "json" if as_json else form


def _validate(paths: Sequence[str], hosts: Sequence[str], *, fix: bool, dry_run: bool) -> Report:
    from prowess.discover.repository import find_repository
    from prowess.machine.files import LocalFiles

    profiles = [load_host(host) for host in hosts]
    checked: list[Checked] = []
    left = 0
    with Progress("looking for skills") as progress:
        found = find_targets(paths, reporter=progress)
        try:
            for done, target in enumerate(found.targets):
                progress.progress("checking skills", done)
                checked.append(check_target(target, profiles, fix=fix, write=not dry_run))
        except KeyboardInterrupt:
            # What was written has to be told; where nothing was, there is nothing to tell.
            if dry_run or not any(one.mended is not None for one in checked):
                raise
            left = len(found.targets) - len(checked)
    cwd = os.getcwd()
    return Report(
        tuple(checked), found.notes, dry_run, find_repository(cwd, LocalFiles()) or cwd, left
    )


def _print_text(report: Report) -> None:
    from prowess.cli.terminal.diagnostic_output import print_diagnostics

    cwd = os.getcwd()
    for one in report.checked:
        if one.mended is not None:
            _print_mended(one.file, one.mended, cwd, dry_run=report.dry_run)
    print_diagnostics(report.findings, cwd)
    console().print(_summarize(report))


def _summarize(report: Report) -> str:
    counts = report.counts()
    about = f"{count_words(len(report.checked), 'skill')} checked"
    found = [
        count_words(counts[severity], _NOUNS[severity]) for severity in Severity if counts[severity]
    ]
    mended = sum(one.mended is not None for one in report.checked)
    mendable = sum(one.mendable for one in report.checked)
    said = f"{about}: {', '.join(found)}." if found else f"{about}, nothing found."
    if mended:
        verb = "would be" if report.dry_run else "were" if mended > 1 else "was"
        said += f" {count_words(mended, 'file')} {verb} mended."
    if report.stopped_before:
        said += (
            f" {count_words(report.stopped_before, 'file')} not looked at, since it was stopped."
        )
    elif mendable and not any(finding.code == "file-unwritable" for finding in report.findings):
        said += f" --fix can mend {count_words(mendable, 'file')}."
    return said


def _print_mended(file: str, mended: Mended, cwd: str, *, dry_run: bool) -> None:
    screen = console()
    shown = shorten_path(file, cwd)
    if dry_run:
        difference = render_diff(mended, os.path.relpath(file, cwd))
        # A patch has to stay exact where a program reads it; a terminal is not to be steered by it.
        sys.stdout.flush()
        sys.stdout.write(escape_text(difference) if sys.stdout.isatty() else _encodable(difference))
        screen.print()
        return
    screen.print(f"Mended {shown}:")
    for change in mended.changes:
        where = f"line {change.line}: " if change.line else ""
        screen.print(f"  {where}{escape_line(change.message)}")
    screen.print()


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def render_diff(mended: Mended, name: str) -> str:
    """A unified diff of what a repair changes."""
    import difflib

    before, after = _split(mended.before), _split(mended.after)
    name = name.replace("\\", "/")
    lines = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _split(text: str) -> list[str]:
    # Only LF ends a line of a patch; `splitlines` knows ten more.
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _print_json(report: Report) -> None:
    counts = report.counts()
    print_json(
        {
            "counts": {severity.value: counts[severity] for severity in Severity},
            "files": [_shape_checked(one, dry_run=report.dry_run) for one in report.checked],
            "notes": [shape_diagnostic(finding) for finding in report.notes],
            "not_checked": report.stopped_before,
        }
    )


def _shape_checked(checked: Checked, *, dry_run: bool) -> dict[str, Any]:
    shape: dict[str, Any] = {
        "file": checked.file,
        "diagnostics": [shape_diagnostic(finding) for finding in checked.findings],
        "mendable": checked.mendable,
    }
    if checked.mended is not None:
        shape["mended"] = {
            "written": not dry_run,
            "changes": [shape_diagnostic(change) for change in checked.mended.changes],
            "diff": render_diff(checked.mended, os.path.relpath(checked.file)),
        }
    return shape


def _print_github(report: Report) -> None:
    from prowess.reports.github import render_github

    click.echo(render_github(report.findings, base=report.base), nl=False)


def _print_sarif(report: Report) -> None:
    from prowess.reports.sarif import shape_sarif

    data = msgspec.json.encode(shape_sarif(report.findings, base=report.base))
    click.echo(msgspec.json.format(data, indent=2).decode())


_FORMS: dict[str, Callable[[Report], None]] = {
    "text": _print_text,
    "json": _print_json,
    "github": _print_github,
    "sarif": _print_sarif,
}
