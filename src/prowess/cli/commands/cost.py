"""`prowess cost`: how many tokens the skills here cost, in every request and when they are used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from prowess.cli.options import open_skills, scan_options
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.model.catalog import Shown
from prowess.reports.cost import (
    Report,
    SkillCost,
    choose_method,
    list_comparison,
    load_report,
    render_share,
    sum_costs,
    tell_saving,
)
from prowess.reports.json_output import shape_scan
from prowess.text.display import count_words, escape_line

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
    help="The context window.",
)
@click.option(
    "--encoding", metavar="NAME", help="Count exactly, as OpenAI's encoding o200k or cl100k does."
)
@click.option("--model", metavar="NAME", help="Count as well as can be for this model.")
@click.option(
    "--reads",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    metavar="NUMBER",
    help="How many skills a conversation uses, for the comparison with loading all of them.",
)
@click.option(
    "--all",
    "show_all",
    is_flag=True,
    help=f"Show every skill, not the {_MOST_ROWS} that cost most.",
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
    """Show how many tokens skills cost, in every request and when used.

    Every request carries the catalog; a skill's own text is read when it is used. The comparison is
    with an agent that loads all skills up front.
    """
    method = choose_method(encoding, model)
    skills = open_skills(host, add_dirs, bare=bare)
    report = load_report(skills, method, window=window, reads=reads)
    if page is not None:
        _write_page(page, report, skills.cwd)
    if as_json:
        print_json(
            {**shape_scan(skills.snapshot), **_shape(report), **({"html": page} if page else {})}
        )
    elif page is not None:
        console().print(
            f"Wrote {shorten_path(os.path.abspath(page), os.getcwd())}. {_tell_costs(report)}"
        )
    else:
        _print_report(report, show_all=show_all)
    _tell_unreadable(report)
    return 0


def _write_page(path: str, report: Report, cwd: str) -> None:
    from prowess.machine.atomic_write import rewrite_aside
    from prowess.reports.cost_page import render_page

    rewrite_aside(os.path.abspath(path), render_page(report, cwd).encode("utf-8", "replace"))


def _shape(report: Report) -> dict[str, Any]:
    compared = report.comparison
    return {
        "method": {"name": report.method.counter.method, "exact": report.method.counter.exact},
        "window": report.window,
        "reads": report.reads,
        "catalog": report.catalog,
        "catalog_share": report.share(report.catalog),
        "bodies": compared.up_front,
        "average_body": report.average,
        "comparison": {
            "up_front": compared.up_front,
            "on_demand": compared.on_demand,
            "saved": compared.saved,
            "saved_share": compared.share,
        },
        "warnings": list(report.warnings),
        "skills": [
            {
                "name": cost.name,
                "location": cost.location,
                "shown": cost.shown.value,
                "listed": cost.listed,
                "described": cost.described,
                "body": cost.body,
            }
            for cost in report.skills
        ],
    }


def _tell_unreadable(report: Report) -> None:
    for cost in report.skills:
        if cost.body is None:
            click.echo(
                f"{shorten_path(cost.location)} could not be read; its text is not counted.",
                err=True,
            )


def _tell_costs(report: Report) -> str:
    about = "" if report.method.counter.exact else "about "
    tokens = count_words(report.catalog, "token")
    share = render_share(report.share(report.catalog))
    return (
        f"{count_words(len(report.skills), 'skill')} cost {about}{tokens} in every request,"
        f" {share}."
    )


def _print_report(report: Report, *, show_all: bool) -> None:
    from rich.text import Text

    screen = console()
    if not report.skills:
        screen.print(
            f"No skill is ready here, by the rules of {report.host}, so skills cost nothing."
        )
        return
    rows = report.skills if show_all else report.skills[:_MOST_ROWS]
    _print_skills(rows, report.skills[len(rows) :])
    screen.print()
    screen.print(
        Text.assemble(
            (_FULL, "cyan"), " in every request   ", (_LIGHT, "green"), " when it is used"
        )
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
    listed = ["–" if cost.shown is Shown.LEFT_OUT else f"{cost.listed:,}" for cost in costs]
    bodies = ["not read" if cost.body is None else f"{cost.added:,}" for cost in costs]
    if rest:
        names.append(Text(f"{len(rest):,} more (--all)", "dim"))
        sums = sum_costs(rest)
        listed.append(f"{sums[0]:,}")
        bodies.append(f"{sums[1]:,}")
    for name in names:
        name.truncate(_WIDEST_NAME, overflow="ellipsis")
    listed, bodies = _align(["CATALOG", *listed]), _align(["BODY", *bodies])
    beside = max(name.cell_len for name in names) + len(listed[0]) + len(bodies[0]) + 3 * 2
    width = _fit_bar(beside, screen.width if screen.is_terminal else None)
    most = max(cost.total for cost in costs)
    bars = [*(_draw(cost, most, width) for cost in costs), *([Text()] if rest else [])]
    rows = list(zip(names, listed[1:], bodies[1:], bars, strict=True))
    for line in render_columns(rows, width=None, heading=("NAME", listed[0], bodies[0], "TOKENS")):
        screen.print(line, no_wrap=True, overflow="ignore", crop=False)


def _align(cells: Sequence[str]) -> list[str]:
    """Cells of one width, with their numbers to the right."""
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]


def _fit_bar(beside: int, width: int | None) -> int:
    """As wide as the terminal lets a bar be beside what stands before it."""
    return _WIDEST_BAR if width is None else max(_NARROWEST_BAR, min(_WIDEST_BAR, width - beside))


def _draw(cost: SkillCost, most: int, width: int) -> Text:
    """A bar of two parts; what costs anything at all is seen."""
    from rich.text import Text

    whole = max(round(cost.total / most * width), 1) if cost.total else 0
    listed = min(max(round(cost.listed / most * width), 1) if cost.listed else 0, whole)
    return Text.assemble((_FULL * listed, "cyan"), (_LIGHT * (whole - listed), "green"))


def _print_comparison(report: Report) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    rows = [
        (what, f"{tokens:>10,}", Text(render_share(report.share(tokens)), "dim"))
        for what, tokens in list_comparison(report)
    ]
    print_columns(rows)
    console().print(
        Text(tell_saving(report), "green" if report.comparison.saved >= 0 else "yellow")
    )
