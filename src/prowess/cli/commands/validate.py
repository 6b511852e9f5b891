"""`prowess validate`: skills checked strictly, for authors and CI."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

import click
import msgspec

from prowess.cli.app import Exit
from prowess.cli.options import complete_hosts, expand_hosts, load_host
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.diagnostics import CODES, Severity, find_code
from prowess.discover.repository import find_repository
from prowess.errors import nearest_names
from prowess.machine.facts import current_facts
from prowess.machine.files import LocalFiles
from prowess.reports.lint_report import CheckedFile, Fix, FixMode, LintReport, check_file
from prowess.reports.skill_paths import TargetSearch
from prowess.text.display import count_words, escape_json, escape_line, escape_text


def _resolve_codes(
    context: click.Context, parameter: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    """The codes that are named, some of them perhaps by their former names."""
    return tuple(_resolve_code(name) for name in names)


def _resolve_code(name: str) -> str:
    code = find_code(name)
    if code is None:
        near = " or ".join(nearest_names(name, CODES))
        suggestion = f"did you mean {near}?" if near else "see the reference of diagnostic codes."
        raise click.BadParameter(f"There is no diagnostic code “{name}”; {suggestion}")
    return code


@click.command("validate")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="Output format: text for people, JSON, GitHub workflow commands, or SARIF 2.1.0.",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option(
    "--fix", is_flag=True, help="Fix headers where possible; comments and field order are kept."
)
@click.option("--dry-run", is_flag=True, help="With --fix: show the changes and write nothing.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME[@EDITION]",
    shell_complete=complete_hosts,
    help="Also check whether this host would load the skills; may be repeated. `all` means every"
    " agent.",
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="CODE",
    callback=_resolve_codes,
    help="Leave out diagnostics with this code; former codes work too; may be repeated.",
)
def command(
    paths: tuple[str, ...],
    form: str,
    as_json: bool,
    strict: bool,
    fix: bool,
    dry_run: bool,
    hosts: tuple[str, ...],
    ignored: tuple[str, ...],
) -> int:
    """Check skills strictly, for authors and CI.

    PATH is a SKILL.md, a skill's folder, or a folder of skills; the default is the working folder.
    Exits with 1 if there is an error.
    """
    form = _choose_form(form, as_json=as_json)
    mode = _choose_mode(fix=fix, dry_run=dry_run)
    report = _validate(paths, hosts, mode).ignore(ignored)
    _FORMS[form](report)
    # Ctrl-C was held back until the files that were fixed are reported.
    if report.not_checked:
        raise KeyboardInterrupt
    counts = report.counts()
    failing = counts[Severity.ERROR]
    if strict:
        failing += counts[Severity.WARNING]
    return Exit.FOUND_ERRORS if failing else Exit.OK


def _choose_form(form: str, *, as_json: bool) -> str:
    if not as_json:
        return form
    # The default cannot be told from `--format text`, so that is not refused.
    if form not in ("text", "json"):
        raise click.UsageError(f"Use --json or --format {form}, not both.")
    return "json"


def _choose_mode(*, fix: bool, dry_run: bool) -> FixMode:
    if dry_run and not fix:
        raise click.UsageError("--dry-run needs --fix.")
    if not fix:
        return FixMode.OFF
    return FixMode.SHOW if dry_run else FixMode.WRITE


def _validate(paths: Sequence[str], hosts: Sequence[str], mode: FixMode) -> LintReport:
    profiles = [load_host(host) for host in expand_hosts(hosts)]
    cwd, files = os.getcwd(), LocalFiles()
    checked: list[CheckedFile] = []
    with Progress("looking for skills") as progress:
        located = TargetSearch(cwd, current_facts(), files, progress).find(paths)
        try:
            for done, target in enumerate(located.targets):
                progress.progress("checking skills", done)
                checked.append(check_file(target, files, profiles, mode))
        except KeyboardInterrupt:
            # Files that were fixed have to be reported before the command stops.
            has_written = mode is FixMode.WRITE and any(one.fix for one in checked)
            if not has_written:
                raise
    base = find_repository(cwd, files) or cwd
    not_checked = len(located.targets) - len(checked)
    return LintReport(tuple(checked), located.notes, mode, cwd, base, not_checked)


def _print_text(report: LintReport) -> None:
    from prowess.cli.terminal.diagnostic_output import print_diagnostics

    print_fix = _print_diff if report.mode is FixMode.SHOW else _print_changes
    for one in report.files:
        if one.fix is not None:
            print_fix(one.file, one.fix, report.cwd)
    print_diagnostics(report.diagnostics, report.cwd)
    console().print(_summarize(report))


def _summarize(report: LintReport) -> str:
    from prowess.cli.terminal.diagnostic_output import render_severity_counts

    checked = f"{count_words(len(report.files), 'skill')} checked"
    counts = render_severity_counts(report.counts())
    sentences = [f"{checked}: {counts}." if counts else f"{checked}, no problems found."]
    fixed = sum(one.fix is not None for one in report.files)
    if fixed:
        verb = "Would fix" if report.mode is FixMode.SHOW else "Fixed"
        sentences.append(f"{verb} {count_words(fixed, 'file')}.")
    fixable = sum(one.is_fixable for one in report.files)
    # With --fix, what is still fixable could not be written, which its diagnostic says.
    can_be_fixed = fixable > 0 and report.mode is FixMode.OFF
    if report.not_checked:
        sentences.append(f"Stopped before {count_words(report.not_checked, 'file')}.")
    elif can_be_fixed:
        sentences.append(f"Run with --fix to fix {count_words(fixable, 'file')}.")
    return " ".join(sentences)


def _print_diff(file: str, fix: Fix, cwd: str) -> None:
    patch = fix.render_diff(os.path.relpath(file, cwd))
    # A patch stays exact where a program reads it; on a terminal it must be safe to print.
    make_safe = escape_text if sys.stdout.isatty() else _replace_surrogates
    sys.stdout.flush()
    sys.stdout.write(make_safe(patch))
    console().print()


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _print_changes(file: str, fix: Fix, cwd: str) -> None:
    screen = console()
    screen.print(f"Fixed {shorten_path(file, cwd)}:")
    for change in fix.changes:
        where = f"line {change.line}: " if change.line else ""
        screen.print(f"  {where}{escape_line(change.message)}")
    screen.print()


def _print_json(report: LintReport) -> None:
    print_json(report.shape())


def _print_github(report: LintReport) -> None:
    from prowess.cli.terminal.diagnostic_output import print_github

    print_github(report.diagnostics, report.base)


def _print_sarif(report: LintReport) -> None:
    from prowess.reports.sarif import shape_sarif

    data = msgspec.json.encode(shape_sarif(report.diagnostics, base=report.base))
    click.echo(escape_json(msgspec.json.format(data, indent=2)).decode())


_FORMS: dict[str, Callable[[LintReport], None]] = {
    "text": _print_text,
    "json": _print_json,
    "github": _print_github,
    "sarif": _print_sarif,
}
