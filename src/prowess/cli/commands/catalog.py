"""`prowess catalog`: exactly what a model sees of the skills here."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from prowess.cli.options import AgentOptions, agent_options, open_skills, scan_options
from prowess.cli.terminal.out import console, print_exact, print_json
from prowess.diagnostics import Diagnostic
from prowess.errors import UsageError
from prowess.model.catalog import Catalog, Shown
from prowess.reports.catalog_report import (
    SHOWN_WORDS,
    CatalogReport,
    group_cuts,
    load_catalog,
    load_tool_catalog,
    render_empty,
    render_over_budget,
    render_shown_counts,
    render_size,
)
from prowess.text.display import count_words, escape_line, escape_text, join_some

_MOST_CUTS = 6
_MOST_NAMES = 6


def _complete_formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from prowess.present.formats import FORMATS

    return [word for word in FORMATS if word.startswith(incomplete)]


@click.command("catalog")
@click.option(
    "--format",
    "form",
    metavar="NAME",
    shell_complete=_complete_formats,
    help="Use this format (xml, json, markdown …) instead of the host's own.",
)
@click.option(
    "--tool", is_flag=True, help="Show the list in the description of the tool that loads skills."
)
@click.option(
    "--window",
    type=int,
    metavar="TOKENS",
    help="Size of the context window; some budgets are a share of it.",
)
@click.option(
    "--budget",
    type=int,
    metavar="CHARACTERS",
    help="Characters allowed for the catalog, instead of the host's own budget.",
)
@click.option(
    "--no-skill-urls",
    is_flag=True,
    help="For an agent without a tool that reads skill:// addresses.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Show what happened to each skill, and why, instead of the text.",
)
@agent_options
@scan_options
def command(
    form: str | None,
    tool: bool,
    window: int | None,
    budget: int | None,
    no_skill_urls: bool,
    explain: bool,
    agent: AgentOptions,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Show what a model sees of the skills here.

    Prints exactly that text to stdout. What was shortened or left out, and why, goes to stderr.
    """
    if tool and form is not None:
        raise UsageError("--tool uses the host's own format; leave out --format.")
    skills = open_skills(host, add_dirs, bare=bare, agent=agent)
    size = {"context_tokens": window, "characters": budget}
    can_read = not no_skill_urls
    if tool:
        report = load_tool_catalog(skills, **size, can_read_skill_urls=can_read)
    else:
        report = load_catalog(skills, **size, format=form, can_read_skill_urls=can_read)
    if as_json:
        print_json(report.shape())
    elif explain:
        _print_explained(report)
    else:
        prompt = report.catalog.prompt
        # An empty catalog is no line at all, as for a model.
        print_exact(f"{prompt}\n" if prompt else "")
        _print_notes(report)
    return 0


def _print_notes(report: CatalogReport) -> None:
    """Print to stderr what the text does not show; nothing where there is nothing to say."""
    catalog = report.catalog
    notes = list(_list_notes(report))
    # The size is worth a line beside other notes, or to a person who reads them.
    if catalog.prompt and (notes or sys.stdout.isatty()):
        notes.append(f"{render_size(catalog)}.")
    for note in notes:
        click.echo(escape_text(note), err=True)


def _list_notes(report: CatalogReport) -> Iterator[str]:
    catalog = report.catalog
    if not catalog.prompt:
        yield render_empty(report.snapshot)
    if catalog.over_budget:
        yield render_over_budget(catalog)
    yield from catalog.warnings
    yield from _list_cuts(catalog)
    yield from map(_render_finding, catalog.diagnostics)


def _list_cuts(catalog: Catalog) -> Iterator[str]:
    cuts = group_cuts(catalog)
    for cut in cuts[:_MOST_CUTS]:
        names = join_some(list(map(escape_line, cut.names)), _MOST_NAMES)
        yield f"  {SHOWN_WORDS[cut.shown]}: {names} ({cut.why})"
    if len(cuts) > _MOST_CUTS:
        yield "  --explain shows the rest."


def _render_finding(finding: Diagnostic) -> str:
    return f"{finding.severity.value}: {finding.message} ({finding.code})"


_STYLES = {Shown.WHOLE: "green", Shown.INJECTED: "cyan", Shown.LEFT_OUT: "red"}


def _print_explained(report: CatalogReport) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    catalog = report.catalog
    screen = console()
    if not catalog.lines:
        screen.print(render_empty(report.snapshot))
        return
    rows = [
        (
            Text(escape_line(line.name), "bold"),
            Text(SHOWN_WORDS[line.shown], _STYLES.get(line.shown, "yellow")),
            escape_line(line.why or ""),
        )
        for line in catalog.lines
    ]
    print_columns(rows, heading=("NAME", "SHOWN", "WHY"), wrap=True)
    counts = f"{count_words(len(rows), 'skill')}: {render_shown_counts(catalog)}"
    screen.print()
    screen.print(f"{counts}. {render_size(catalog)}.")
    if catalog.over_budget:
        screen.print(render_over_budget(catalog))
    for finding in catalog.diagnostics:
        screen.print(escape_line(_render_finding(finding)))
