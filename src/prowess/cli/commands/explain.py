"""`prowess explain NAME`: the journey of a name through the stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
import msgspec

from prowess.cli.options import Who, agent_options, name_argument, open_skills, scan_options
from prowess.cli.terminal.out import console, print_json, shorten_path
from prowess.errors import ProwessError, UnknownSkill, nearest_names
from prowess.model.outcome import Outcome
from prowess.model.snapshot import Snapshot
from prowess.reports.catalog_report import load_offer
from prowess.reports.explanation import Offer, Step, find_claims, tell_answer, tell_journey
from prowess.reports.json_output import shape_diagnostic, shape_outcome, shape_scan
from prowess.reports.outcomes_by_name import OtherEdition, load_other_editions, same_answer
from prowess.runtime import Skills
from prowess.text.display import escape_line

# More than this nobody reads.
_MOST_CLAIMS = 50


class Elsewhere(msgspec.Struct, frozen=True):
    """Another host that knows the name: what it says of which file."""

    host: str
    state: str
    location: str


@click.command("explain")
@name_argument
@agent_options
@scan_options
def command(
    name: str, who: Who, host: str, add_dirs: tuple[str, ...], bare: bool, as_json: bool
) -> int:
    """Tell the journey of a name through the stages.

    Every file that claimed the name: where it was found, what was read, who won and why, what keeps
    it from being offered, and what the model is shown of it. Where no skill here has the name: the
    nearest names, and the hosts that see it.
    """
    skills = open_skills(host, add_dirs, bare=bare, who=who)
    claims = find_claims(skills.snapshot, name)
    holder = skills.snapshot.find(name)
    if holder is None:
        return _explain_missing(skills, name, claims, add_dirs, bare=bare, who=who, as_json=as_json)
    others = [
        other
        for other in load_other_editions(skills, host, add_dirs, bare=bare, who=who)
        if other.problem is not None or not same_answer(other.answers.get(holder.name), holder)
    ]
    answer = tell_answer(name, holder, claims)
    if as_json:
        shaped = _shape_claims(claims, skills, who)
        editions = [_shape_edition(other, holder.name) for other in others]
        print_json(
            {
                **shape_scan(skills.snapshot),
                "name": name,
                "answer": answer,
                "claims": shaped,
                "editions": editions,
            }
        )
        return 0
    screen = console()
    screen.print(_shorten(answer, claims, skills.snapshot), style="bold")
    for other in others:
        screen.print(_render_edition(other, holder.name, skills.snapshot.cwd), style="yellow")
    _print_claims(claims, skills, who)
    return 0


def _shape_claims(claims: Sequence[Outcome], skills: Skills, who: Who) -> list[dict[str, Any]]:
    offer = load_offer(skills, who)
    return [
        {
            **shape_outcome(outcome),
            "journey": [
                msgspec.to_builtins(step) for step in _journey(outcome, claims, skills, offer)
            ],
            "diagnostics": [shape_diagnostic(diagnostic) for diagnostic in outcome.diagnostics],
        }
        for outcome in claims
    ]


def _journey(
    outcome: Outcome, claims: Sequence[Outcome], skills: Skills, offer: Offer
) -> list[Step]:
    return tell_journey(outcome, claims, skills.snapshot, skills.profile, offer)


def _shape_edition(other: OtherEdition, name: str) -> dict[str, Any]:
    found = other.answers.get(name)
    if other.problem is not None:
        return {"host": other.host, "problem": other.problem}
    if found is None:
        return {"host": other.host, "state": None}
    return {"host": other.host, "state": found.state.value, "location": found.candidate.location}


def _render_edition(other: OtherEdition, name: str, cwd: str) -> str:
    found = other.answers.get(name)
    if other.problem is not None:
        return f"{other.host} cannot be asked: {escape_line(other.problem)}"
    if found is None:
        return f"{other.host} does not see it."
    return (
        f"{other.host} differs: {found.state.value}, {shorten_path(found.candidate.location, cwd)}."
    )


def _shorten(text: str, claims: Sequence[Outcome], snapshot: Snapshot) -> str:
    """A sentence with the paths of claims, of the roots they lie in and of settings files as people
    write them.
    """
    paths = {path for one in claims for path in (one.candidate.location, one.candidate.root.path)}
    for path in sorted(paths.union(snapshot.settings.files), key=len, reverse=True):
        text = text.replace(path, shorten_path(path, snapshot.cwd))
    return escape_line(text)


def _print_claims(claims: Sequence[Outcome], skills: Skills, who: Who) -> None:
    from rich.text import Text

    from prowess.cli.terminal.tables import mark_state, print_columns

    snapshot = skills.snapshot
    offer = load_offer(skills, who)
    screen = console()
    for outcome in claims[:_MOST_CLAIMS]:
        screen.print()
        line = mark_state(outcome.state)
        line.append(f" {shorten_path(outcome.candidate.location, snapshot.cwd)}", "bold")
        screen.print(line)
        rows: list[tuple[str, Text, str | Text]] = []
        for step in _journey(outcome, claims, skills, offer):
            for place, said in enumerate(step.says):
                stage = Text(step.stage if place == 0 else "", "dim")
                rows.append(("", stage, _shorten(said, claims, snapshot)))
        rows.append(
            ("", Text("state", "dim"), Text(outcome.state.value, mark_state(outcome.state).style))
        )
        print_columns(rows, wrap=True)
    if len(claims) > _MOST_CLAIMS:
        screen.print()
        screen.print(
            f"{len(claims) - _MOST_CLAIMS:,} more files have to do with this name; --json has them"
            " all."
        )


def _explain_missing(
    skills: Skills,
    name: str,
    claims: Sequence[Outcome],
    add_dirs: tuple[str, ...],
    *,
    bare: bool,
    who: Who,
    as_json: bool,
) -> int:
    """No skill here has the name: what comes near it, and who sees it."""
    snapshot = skills.snapshot
    nearest = nearest_names(name, {one.name: None for one in snapshot.outcomes})
    elsewhere = list(_look_elsewhere(skills, name, add_dirs, bare=bare, who=who))
    cut = [finding for finding in snapshot.diagnostics if finding.code == "limit-reached"]
    if as_json:
        print_json(
            {
                **shape_scan(snapshot),
                "name": name,
                "answer": None,
                "claims": _shape_claims(claims, skills, who),
                "nearest": nearest,
                "elsewhere": [msgspec.to_builtins(one) for one in elsewhere],
                "cut": [shape_diagnostic(finding) for finding in cut],
            }
        )
        return UnknownSkill.exit_code
    screen = console()
    screen.print(
        f"No skill here is named “{escape_line(name)}”, by the rules of {snapshot.host}.",
        style="bold",
    )
    for finding in cut:
        place = f"{shorten_path(finding.file, snapshot.cwd)}: " if finding.file else ""
        screen.print(
            "It may be there all the same, since not everything was looked at:"
            f" {place}{escape_line(finding.message)}"
        )
    if nearest:
        screen.print(
            "Did you mean " + " or ".join(f"“{escape_line(one)}”" for one in nearest) + "?"
        )
    for one in elsewhere:
        screen.print(f"{one.host} sees it: {one.state}, {shorten_path(one.location, snapshot.cwd)}")
    if claims:
        screen.print("Its name is that of a folder whose skill has another name:")
        _print_claims(claims, skills, who)
    if not nearest and not elsewhere and not claims:
        screen.print(
            "`prowess list --all` shows every skill that was found; `prowess` tells where they are"
            " looked for."
        )
    return UnknownSkill.exit_code


def _look_elsewhere(
    skills: Skills, name: str, add_dirs: tuple[str, ...], *, bare: bool, who: Who
) -> Iterator[Elsewhere]:
    """What other hosts say of the name; a host that cannot be asked stays silent, since nobody
    asked for it.
    """
    from prowess.profiles.load import known_hosts
    from prowess.state.profile_cache import load_added_profiles

    _, added = load_added_profiles(skills.facts, "prowess")
    for host in known_hosts(added):
        if host == skills.profile.name:
            continue
        try:
            found = open_skills(host, add_dirs, bare=bare, who=who, tell=False).snapshot.find(name)
        except ProwessError:
            continue
        if found is not None:
            yield Elsewhere(host, found.state.value, found.candidate.location)
