"""`prowess scan PATH|NAME`: what in a skill could harm whoever uses it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import click
import msgspec

from prowess.cli.options import complete_names, open_skills, scan_options
from prowess.cli.terminal.out import console, print_json
from prowess.cli.terminal.progress import Progress
from prowess.diagnostics import Severity
from prowess.discover.repository import find_repository
from prowess.errors import UsageError, nearest_names
from prowess.machine.facts import current_facts
from prowess.machine.files import LocalFiles
from prowess.reports.skill_paths import TargetSearch
from prowess.runtime import Skills
from prowess.supply.scan.report import ScanReport
from prowess.supply.scan.rules import SCAN_CODES
from prowess.supply.scan.skill_scan import (
    ScanResult,
    join_results,
    scan_folder,
    scan_one_file,
)
from prowess.text.display import count_words, escape_json, escape_line

_SEVERITIES = click.Choice([severity.value for severity in Severity])


def _check_codes(
    context: click.Context, parameter: click.Parameter, names: tuple[str, ...]
) -> tuple[str, ...]:
    unknown = [name for name in names if name not in SCAN_CODES]
    if not unknown:
        return names
    near = " or ".join(nearest_names(unknown[0], SCAN_CODES))
    suggestion = f"did you mean {near}?" if near else "see docs/reference/scan-rules.md."
    raise click.BadParameter(f"Unknown code “{unknown[0]}”; {suggestion}")


@click.command("scan")
@click.argument("targets", nargs=-1, metavar="[PATH|NAME]...", shell_complete=complete_names)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="Output format: text for people, JSON, GitHub workflow commands, or SARIF 2.1.0.",
)
@click.option(
    "--severity",
    type=_SEVERITIES,
    default=Severity.WARNING.value,
    show_default=True,
    help="Show findings of at least this severity.",
)
@click.option(
    "--fail-on",
    type=_SEVERITIES,
    default=Severity.ERROR.value,
    show_default=True,
    help="Exit with 1 if there is a finding of at least this severity.",
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="CODE",
    callback=_check_codes,
    help="Leave out findings with this code; may be repeated.",
)
@click.option(
    "--no-suppressions",
    is_flag=True,
    help="Also report findings that comments suppress; for other people's skills.",
)
@click.option(
    "--with-skill-scanner",
    is_flag=True,
    help="Also run Cisco's skill-scanner, which has to be installed, and add what it finds.",
)
@scan_options
def command(
    targets: tuple[str, ...],
    form: str,
    severity: str,
    fail_on: str,
    ignored: tuple[str, ...],
    no_suppressions: bool,
    with_skill_scanner: bool,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Look for hidden text, risky commands and other attacks in skills.

    PATH is a file, a skill's folder, or a folder of skills; the default is the working folder. NAME
    is a skill that the host finds here. Nothing is run. Exits with 1 if there is an error.
    """
    if as_json and form not in ("text", "json"):
        raise click.UsageError(f"Use --json or --format {form}, not both.")
    cwd, files = os.getcwd(), LocalFiles()
    results: list[ScanResult] = []
    with Progress("looking for skills") as progress:
        paths = _find_paths(targets, host, add_dirs, bare=bare, progress=progress)
        for done, path in enumerate(paths):
            progress.progress("scanning skills", done)
            is_folder = files.find_kind(path) == "folder"
            scan = scan_folder if is_folder else scan_one_file
            results.append(scan(path, files, obey_comments=not no_suppressions))
        if with_skill_scanner:
            results += _run_skill_scanner(paths, progress)
    base = find_repository(cwd, files) or cwd
    result = join_results(results)
    report = ScanReport(result, len(paths), Severity(severity), cwd, base).ignore(ignored)
    _FORMS["json" if as_json else form](report)
    return 1 if report.fails(Severity(fail_on)) else 0


def _run_skill_scanner(paths: Sequence[str], progress: Progress) -> Iterator[ScanResult]:
    """What Cisco's scanner finds in the folders; it does not scan single files."""
    from prowess.machine.installed_programs import find_program
    from prowess.machine.processes import ProcessRunner
    from prowess.supply.scan.skill_scanner import PACKAGE, PROGRAM, run_skill_scanner

    facts = current_facts()
    program = find_program([PROGRAM], env=facts.env, cwd=os.getcwd())
    if program is None:
        advice = f"Install it in an environment of its own, such as `uv tool install {PACKAGE}`."
        raise UsageError(f"{PROGRAM} is not on the PATH. {advice}")
    for done, folder in enumerate(filter(os.path.isdir, paths)):
        progress.progress(f"running {PROGRAM}", done)
        yield run_skill_scanner(folder, ProcessRunner(facts), program)


def _find_paths(
    targets: Sequence[str],
    host: str,
    add_dirs: tuple[str, ...],
    *,
    bare: bool,
    progress: Progress,
) -> list[str]:
    """The folders and files to scan, each once; a target that is no path is the name of a skill."""
    # A file or folder comes before a skill of the same name.
    names = [target for target in targets if not os.path.lexists(target)]
    # An empty one, as from an unset variable of a shell, names nothing.
    wrong = [name for name in names if os.sep in name or not name]
    if wrong:
        listed = ", ".join(f"“{escape_line(name)}”" for name in wrong)
        raise UsageError(f"No such file or folder: {listed}")
    paths: list[str] = []
    for target in targets or (".",):
        if target not in names:
            paths += _find_at(target, progress)
    if names:
        skills = open_skills(host, add_dirs, bare=bare, progress=progress)
        paths += [_get_folder(skills, name) for name in names]
    return list(dict.fromkeys(paths))


def _get_folder(skills: Skills, name: str) -> str:
    """The folder of a skill, also of one that cannot be used here."""
    outcome = skills.snapshot.find(name)
    if outcome is not None:
        return outcome.candidate.folder
    # Raises the error that names similar skills.
    return skills.get(name).folder


def _find_at(path: str, progress: Progress) -> list[str]:
    """The folders of the skills at a path; without any, the path itself."""
    whole = os.path.abspath(path)
    if not os.path.isdir(whole):
        return [whole]
    search = TargetSearch(os.getcwd(), current_facts(), LocalFiles(), progress)
    try:
        targets = search.find([path]).targets
    except UsageError:
        # Nothing below is a skill; whoever names a folder of scripts wants it scanned all the same.
        return [whole]
    return [target.folder for target in targets] or [whole]


def _print_text(report: ScanReport) -> None:
    from prowess.cli.terminal.diagnostic_output import print_diagnostics

    print_diagnostics(report.shown, report.cwd)
    console().print(_summarize(report))


def _summarize(report: ScanReport) -> str:
    from prowess.cli.terminal.diagnostic_output import render_severity_counts

    scanned = f"{count_words(report.result.files, 'file')} scanned"
    counts = render_severity_counts(report.counts())
    sentences = [f"{scanned}: {counts}." if counts else f"{scanned}, nothing found."]
    hidden = len(report.result.findings) - len(report.shown) + len(report.notes)
    if hidden:
        sentences.append(f"{count_words(hidden, 'finding')} not shown; use --severity info.")
    if report.result.suppressed:
        number = count_words(len(report.result.suppressed), "finding")
        sentences.append(f"{number} suppressed by comments; use --no-suppressions to show them.")
    return " ".join(sentences)


def _print_json(report: ScanReport) -> None:
    print_json(report.shape())


def _print_github(report: ScanReport) -> None:
    from prowess.cli.terminal.diagnostic_output import print_github

    print_github(report.shown, report.base)


def _print_sarif(report: ScanReport) -> None:
    data = msgspec.json.encode(report.shape_sarif())
    click.echo(escape_json(msgspec.json.format(data, indent=2)).decode())


_FORMS: dict[str, Callable[[ScanReport], None]] = {
    "text": _print_text,
    "json": _print_json,
    "github": _print_github,
    "sarif": _print_sarif,
}
