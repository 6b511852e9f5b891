"""`prowess explain NAME`: why a skill loads or does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from prowess.cli.options import (
    AgentOptions,
    agent_options,
    name_argument,
    open_skills,
    scan_options,
)
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import UnknownSkill
from prowess.model.snapshot import Snapshot
from prowess.reports.explanation import (
    ClaimReport,
    EditionAnswer,
    Explanation,
    MissingName,
    explain_name,
)
from prowess.runtime import Skills
from prowess.text.display import escape_line

_MOST_CLAIMS = 50


@click.command("explain")
@name_argument
@agent_options
@scan_options
def command(
    name: str, agent: AgentOptions, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool
) -> int:
    """Explain why a skill loads or does not.

    Shows every file that claims the name: where it was found, what was read, which one won and why,
    what keeps it from being offered, and what the model sees of it. If no skill here has the name,
    shows similar names and the hosts that see it.
    """

    # Thorough, because a skill that lies too deep is one that people ask about.
    def open_host(other: str) -> Skills:
        return open_skills(other, add_dirs, bare=bare, agent=agent, warn=False, thorough=True)

    explained = explain_name(
        open_skills(host, add_dirs, bare=bare, agent=agent, thorough=True),
        name,
        host=host,
        open_host=open_host,
        most_claims=None if as_json else _MOST_CLAIMS,
    )
    if as_json:
        print_json(explained.shape())
    elif isinstance(explained, Explanation):
        _print_explanation(explained)
    else:
        _print_missing(explained)
    return 0 if isinstance(explained, Explanation) else UnknownSkill.exit_code


def _print_explanation(found: Explanation) -> None:
    screen = console()
    screen.print(_shorten(found.answer, found.claims, found.snapshot), style="bold")
    for edition in found.editions:
        screen.print(_render_edition(edition, found.snapshot.cwd), style="yellow")
    if found.elsewhere:
        screen.print(f"These hosts read it: {', '.join(one.host for one in found.elsewhere)}.")
    _print_claims(found)


def _render_edition(edition: EditionAnswer, cwd: str) -> str:
    if edition.problem is not None:
        return f"No answer from {edition.host}: {escape_line(edition.problem)}"
    if edition.outcome is None:
        return f"{edition.host} does not see it."
    path = shorten_path(edition.outcome.candidate.location, cwd)
    return f"{edition.host} differs: {edition.outcome.state.value}, {path}."


def _print_missing(found: MissingName) -> None:
    screen = console()
    cwd = found.snapshot.cwd
    name = escape_line(found.name)
    screen.print(f"{found.snapshot.host} finds no skill named “{name}” here.", style="bold")
    for finding in found.cut:
        place = f"{shorten_path(finding.file, cwd)}: " if finding.file else ""
        message = escape_line(finding.message)
        screen.print(f"It may still exist; the scan is incomplete. {place}{message}")
    for finding in found.misnamed:
        message = escape_line(finding.message)
        screen.print(f"{shorten_path(finding.file or '', cwd)}: {message} {finding.hint or ''}")
    if found.nearest:
        names = " or ".join(f"“{escape_line(one)}”" for one in found.nearest)
        screen.print(f"Did you mean {names}?")
    for one in found.elsewhere:
        screen.print(f"{one.host} sees it: {one.state}, {shorten_path(one.location, cwd)}")
    if found.claims:
        screen.print("A folder has this name, but its skill has another:")
        _print_claims(found)
    has_clue = any((found.nearest, found.elsewhere, found.claims, found.misnamed))
    if not has_clue:
        screen.print(
            "`prowess list --all` lists every skill found; `prowess` shows where it looks."
        )


def _print_claims(found: Explanation | MissingName) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import mark_state, print_columns

    snapshot = found.snapshot
    screen = console()
    for claim in found.claims:
        outcome = claim.outcome
        mark = mark_state(outcome.state)
        screen.print()
        path = shorten_path(outcome.candidate.location, snapshot.cwd)
        screen.print(Text.assemble(mark, (f" {path}", "bold")))
        rows: list[tuple[str, Text, str | Text]] = []
        for step in claim.journey:
            # The stage is named once, beside the first thing it says.
            stages = [step.stage, *[""] * (len(step.says) - 1)]
            for stage, said in zip(stages, step.says, strict=True):
                rows.append(("", Text(stage, "dim"), _shorten(said, found.claims, snapshot)))
        rows.append(("", Text("state", "dim"), Text(outcome.state.value, mark.style)))
        print_columns(rows, wrap=True)
    if found.left_out:
        screen.print()
        screen.print(f"{found.left_out:,} more files claim this name; --json shows all of them.")


def _shorten(text: str, claims: Sequence[ClaimReport], snapshot: Snapshot) -> str:
    """A sentence with every path in it that is known here shortened."""
    paths = {*_list_paths(claims), *snapshot.settings.files}
    # Longest first: a root's path is the beginning of its files' paths.
    for path in sorted(paths, key=len, reverse=True):
        text = text.replace(path, shorten_path(path, snapshot.cwd))
    return escape_line(text)


def _list_paths(claims: Sequence[ClaimReport]) -> Iterable[str]:
    for claim in claims:
        yield claim.outcome.candidate.location
        yield claim.outcome.candidate.root.path
