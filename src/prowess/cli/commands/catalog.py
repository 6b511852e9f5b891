"""`prowess catalog`: exactly what a model would be shown of the skills here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from prowess.cli.options import Who, agent_options, open_skills, scan_options
from prowess.cli.terminal.out import console, print_json
from prowess.errors import UsageError
from prowess.model.catalog import Catalog, CatalogLine, Shown
from prowess.model.outcome import State
from prowess.present.tokens import estimate_tokens
from prowess.profiles.schema.profile import Profile
from prowess.reports.catalog_report import SHOWN_WORDS, pair_lines, render_shown_counts, render_size
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.runtime import Skills
from prowess.text.display import count_words, escape_line, escape_text

_MOST_GROUPS = 6
_MOST_NAMES = 6
_QUIET = (Shown.WHOLE, Shown.INJECTED)


def _complete_formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from prowess.present.formats import FORMATS

    return [word for word in FORMATS if word.startswith(incomplete)]


@click.command("catalog")
@click.option(
    "--format",
    "form",
    metavar="WORD",
    shell_complete=_complete_formats,
    help="Write it in this format (xml, json, markdown …) instead of the host's own.",
)
@click.option(
    "--tool", is_flag=True, help="Show the list in the description of the tool that loads skills."
)
@click.option(
    "--window",
    type=int,
    metavar="TOKENS",
    help="The size of the context window; a budget may be a share.",
)
@click.option(
    "--budget",
    type=int,
    metavar="CHARACTERS",
    help="Room for the catalog, instead of the host's own.",
)
@click.option(
    "--no-skill-urls",
    is_flag=True,
    help="For an agent without a tool that reads skill:// addresses.",
)
@click.option(
    "--explain", is_flag=True, help="Tell what became of each skill, and why, in place of the text."
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
    who: Who,
    host: str,
    add_dirs: tuple[str, ...],
    bare: bool,
    as_json: bool,
) -> int:
    """Show what a model would see of the skills here.

    Prints the text itself and nothing else; what was shortened or left out, and why, goes to the
    error output.
    """
    skills = open_skills(host, add_dirs, bare=bare, who=who)
    wanted = _choose_format(skills.profile, form, tool=tool)
    catalog = skills.catalog(
        context_tokens=window,
        characters=budget,
        format=wanted,
        can_read_skill_urls=not no_skill_urls,
    )
    if tool:
        # Bodies that are always there belong into the prompt, not into the description of a tool.
        catalog = msgspec.structs.replace(catalog, always="", tokens=estimate_tokens(catalog.text))
    if as_json:
        print_json(_shape(skills, catalog, wanted or skills.profile.catalog.format))
    elif explain:
        _print_explained(skills, catalog)
    else:
        _print_text(catalog.prompt)
        _print_notes(skills, catalog)
    return 0


def _choose_format(profile: Profile, form: str | None, *, tool: bool) -> str | None:
    if not tool:
        return form
    if form is not None:
        raise UsageError("--tool shows a list in the host's own format; leave --format out.")
    if not profile.catalog.tool_format:
        known = " and ".join(_list_tool_hosts())
        raise UsageError(
            f"{_name(profile)} puts no list of skills into the description of its tool; what does:"
            f" {known}."
        )
    return profile.catalog.tool_format


def _name(profile: Profile) -> str:
    return profile.name if profile.edition == "current" else f"{profile.name}@{profile.edition}"


def _list_tool_hosts() -> Iterator[str]:
    from prowess.profiles.load import known_editions, known_hosts, load_profile

    for host in known_hosts():
        for edition in known_editions(host):
            profile = load_profile(f"{host}@{edition}")
            if profile.catalog.tool_format:
                yield _name(profile)


def _shape(skills: Skills, catalog: Catalog, form: str) -> dict[str, Any]:
    return {
        **shape_scan(skills.snapshot),
        "format": form,
        "text": catalog.text,
        "always": catalog.always,
        "characters": catalog.characters,
        "tokens": catalog.tokens,
        "budget": catalog.budget,
        "over_budget": catalog.over_budget,
        "warnings": list(catalog.warnings),
        "counts": {shown.value: number for shown, number in catalog.counts().items()},
        "lines": [_shape_line(line) for line in catalog.lines],
        "diagnostics": [shape_diagnostic(finding) for finding in catalog.diagnostics],
    }


def _shape_line(line: CatalogLine) -> dict[str, Any]:
    return {"name": line.name, "shown": line.shown.value, "why": line.why, "text": line.text}


def _print_text(text: str) -> None:
    sys.stdout.write(escape_text(text) if sys.stdout.isatty() else text)
    sys.stdout.write("\n" if text else "")
    # The notes must not overtake the text where both go to one place.
    sys.stdout.flush()


def _print_notes(skills: Skills, catalog: Catalog) -> None:
    """What the text itself does not tell, on the error output; nothing where there is nothing to
    tell.
    """
    empty = not catalog.prompt
    notes = [_tell_empty(skills)] if empty else []
    notes += [_tell_over_budget(catalog)] if catalog.over_budget else []
    notes += catalog.warnings
    notes += _tell_cut(catalog)
    notes += [
        f"{finding.severity.value}: {finding.message} ({finding.code})"
        for finding in catalog.diagnostics
    ]
    if not empty and (notes or sys.stdout.isatty()):
        notes.append(f"{render_size(catalog)}.")
    for note in notes:
        click.echo(escape_text(note), err=True)


def _tell_cut(catalog: Catalog) -> Iterator[str]:
    """Who is not shown whole, and why: skills with the same answer together."""
    groups: dict[tuple[Shown, str | None], list[str]] = {}
    for line in catalog.lines:
        if line.shown not in _QUIET:
            groups.setdefault((line.shown, line.why), []).append(escape_line(line.name))
    for (shown, why), names in list(groups.items())[:_MOST_GROUPS]:
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        yield f"  {SHOWN_WORDS[shown]}: {', '.join(names[:_MOST_NAMES])}{more} ({why})"
    if len(groups) > _MOST_GROUPS:
        yield "  --explain tells of the others."


def _tell_empty(skills: Skills) -> str:
    counts = skills.snapshot.counts()
    found = ", ".join(
        f"{counts[state]:,} {state.value}" for state in reversed(State) if state in counts
    )
    of_all = f" Of {count_words(sum(counts.values()), 'file')}: {found}." if found else ""
    return (
        "The model is shown nothing: no skill is offered to it by the rules of"
        f" {_name(skills.profile)}.{of_all}"
    )


def _tell_over_budget(catalog: Catalog) -> str:
    return (
        f"The catalog is over its budget: {catalog.characters:,} characters where there is room for"
        f" {catalog.budget or 0:,}. This host's rules do not cut more than this."
    )


def _print_explained(skills: Skills, catalog: Catalog) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import print_columns

    styles = {Shown.WHOLE: "green", Shown.INJECTED: "cyan", Shown.LEFT_OUT: "red"}
    rows = [
        (
            Text(escape_line(line.name), "bold"),
            Text(SHOWN_WORDS[line.shown], styles.get(line.shown, "yellow")),
            escape_line(line.why or ""),
        )
        for _, _, line in pair_lines(skills, catalog)
    ]
    screen = console()
    if not rows:
        screen.print(_tell_empty(skills))
        return
    print_columns(rows, heading=("NAME", "SHOWN", "WHY"), wrap=True)
    screen.print()
    screen.print(
        f"{count_words(len(rows), 'skill')}: {render_shown_counts(catalog)}."
        f" {render_size(catalog)}."
    )
    if catalog.over_budget:
        screen.print(_tell_over_budget(catalog))
    for finding in catalog.diagnostics:
        screen.print(escape_line(f"{finding.severity.value}: {finding.message} ({finding.code})"))
