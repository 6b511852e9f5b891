"""`prowess cost`: how many tokens the skills here cost, per request and when used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from prowess.cli.options import open_skills, scan_options
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.cli.terminal.progress import Progress
from prowess.errors import UsageError
from prowess.model.catalog import Shown
from prowess.reports.cost import (
    CostReport,
    SkillCost,
    choose_method,
    list_comparison,
    load_costs,
    render_catalog_cost,
    render_saving,
    render_share,
    sum_costs,
)
from prowess.reports.phrases import name_host
from prowess.text.display import escape_line

if TYPE_CHECKING:
    from rich.text import Text

_MOST_ROWS = 30
_WIDEST_BAR = 36
_NARROWEST_BAR = 8
_WIDEST_NAME = 32
_FULL, _LIGHT = "█", "░"


@click.command("cost")
@click.option(
    "--window",
    type=int,
    default=200_000,
    show_default=True,
    metavar="TOKENS",
    help="Size of the context window.",
)
@click.option(
    "--encoding", metavar="NAME", help="Count exactly with OpenAI's encoding o200k or cl100k."
)
@click.option("--model", metavar="NAME", help="Count as exactly as possible for this model.")
@click.option(
    "--reads",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    metavar="NUMBER",
    help="How many skills a conversation uses, for the comparison with loading all of them.",
)
@click.option(
    "--all", "show_all", is_flag=True, help=f"Show every skill, not only the top {_MOST_ROWS}."
)
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=click.Path(),
    help="Write a page with a chart to FILE instead.",
)
@scan_options
def command(
    window: int,
    encoding: str | None,
    model: str | None,
    reads: int,
    show_all: bool,
    page: str | None,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Show how many tokens skills cost, per request and when used.

    Every request carries the catalog; the text of a skill is added when it is used. The comparison
    is with an agent that loads all skills up front.
    """
    if encoding is not None and model is not None:
        raise UsageError("--encoding and --model cannot be used together.")
    method = choose_method(encoding, model)
    skills = open_skills(host, add_dirs, bare=bare)
    with Progress("counting tokens") as progress:
        report = load_costs(skills, method, window=window, reads=reads, reporter=progress)
    if page is not None:
        _write_page(page, report)
    if as_json:
        print_json(report.shape() | ({} if page is None else {"html": page}))
    elif page is not None:
        path = shorten_path(os.path.abspath(page), os.getcwd())
        console().print(f"Wrote {path}. {render_catalog_cost(report)}")
    else:
        _print_report(report, show_all=show_all)
    # On stderr and at the end, also with JSON: the sums are too low then.
    for cost in report.skills:
        if cost.body is None:
            path = shorten_path(cost.location)
            click.echo(f"Could not read {path}; its text is not counted.", err=True)
    return 0


def _write_page(path: str, report: CostReport) -> None:
    from prowess.machine.atomic_write import rewrite_aside
    from prowess.reports.cost_page import render_page

    page = render_page(report, home=os.path.expanduser("~"))
    rewrite_aside(os.path.abspath(path), page.encode("utf-8", "replace"))


def _print_report(report: CostReport, *, show_all: bool) -> None:
    from rich.text import Text

    screen = console()
    if not report.skills:
        host = name_host(report.host, report.edition)
        screen.print(f"{host} has no skill ready here, so skills cost nothing.")
        return
    rows = report.skills if show_all else report.skills[:_MOST_ROWS]
    _print_skills(rows, report.skills[len(rows) :])
    screen.print()
    screen.print(
        Text.assemble((_FULL, "cyan"), " in every request   ", (_LIGHT, "green"), " when used")
    )
    screen.print()
    _print_comparison(report)
    for warning in report.warnings:
        screen.print(Text(warning, "yellow"))
    screen.print(Text(escape_line(report.method.says), "dim"))


def _print_skills(costs: Sequence[SkillCost], rest: Sequence[SkillCost]) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import render_columns

    screen = console()
    names = [Text(escape_line(cost.name), "bold") for cost in costs]
    listed = list(map(_render_listed, costs))
    bodies = list(map(_render_added, costs))
    if rest:
        in_requests, when_used = sum_costs(rest)
        names.append(Text(f"{len(rest):,} more (--all)", "dim"))
        listed.append(f"{in_requests:,}")
        bodies.append(f"{when_used:,}")
    for name in names:
        name.truncate(_WIDEST_NAME, overflow="ellipsis")
    listed, bodies = _align(["CATALOG", *listed]), _align(["BODY", *bodies])
    # Three columns, each with a gap after it.
    beside = max(name.cell_len for name in names) + len(listed[0]) + len(bodies[0]) + 3 * 2
    width = _fit_bar(beside, screen.width if screen.is_terminal else None)
    most = max(cost.total for cost in costs)
    bars = [_draw_bar(cost, most, width) for cost in costs]
    if rest:
        bars.append(Text())
    rows = list(zip(names, listed[1:], bodies[1:], bars, strict=True))
    for line in render_columns(rows, width=None, heading=("NAME", listed[0], bodies[0], "TOKENS")):
        screen.print(line, no_wrap=True, overflow="ignore", crop=False)


def _render_listed(cost: SkillCost) -> str:
    return "–" if cost.shown is Shown.LEFT_OUT else f"{cost.listed:,}"


def _render_added(cost: SkillCost) -> str:
    return "not read" if cost.body is None else f"{cost.added:,}"


def _align(cells: Sequence[str]) -> list[str]:
    """Cells of one width, aligned to the right."""
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]


def _fit_bar(beside: int, width: int | None) -> int:
    """How wide a bar can be beside the other columns."""
    if width is None:
        return _WIDEST_BAR
    return max(_NARROWEST_BAR, min(_WIDEST_BAR, width - beside))


def _draw_bar(cost: SkillCost, most: int, width: int) -> Text:
    """A bar of two parts; whatever costs anything at all can be seen."""
    from rich.text import Text

    def scale(tokens: int) -> int:
        return max(round(tokens / most * width), 1) if tokens else 0

    whole = scale(cost.total)
    listed = min(scale(cost.listed), whole)
    return Text.assemble((_FULL * listed, "cyan"), (_LIGHT * (whole - listed), "green"))


def _print_comparison(report: CostReport) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    rows = [
        (what, f"{tokens:>10,}", Text(render_share(report.share(tokens)), "dim"))
        for what, tokens in list_comparison(report)
    ]
    print_columns(rows)
    style = "green" if report.comparison.saved >= 0 else "yellow"
    console().print(Text(render_saving(report), style))
