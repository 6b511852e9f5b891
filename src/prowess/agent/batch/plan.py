"""The plan of a batch: independent units, as a model wrote them, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

FEWEST, MOST = 5, 30
_BLOCK = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the work: the files it changes, what to do, and a command that checks it."""

    title: str
    files: tuple[str, ...]
    steps: tuple[str, ...]
    check: str


class BatchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All units, in the order in which they are merged."""

    units: tuple[Unit, ...]


class PlanError(ValueError):
    """What is wrong with a plan, as a sentence for the model that wrote it."""


def parse_plan(text: str, *, fewest: int = FEWEST, most: int = MOST) -> BatchPlan:
    """The plan in a model's answer: its last block of JSON, or all of it. Raises `PlanError`."""
    blocks = _BLOCK.findall(text)
    try:
        plan = msgspec.json.decode(blocks[-1] if blocks else text, type=BatchPlan)
    # A text that is half of a character cannot be encoded.
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise PlanError(f"The plan is not in the requested JSON format: {error}.") from None
    count = len(plan.units)
    if not fewest <= count <= most:
        raise PlanError(f"The plan has {count} units; there must be {fewest} to {most}.")
    for unit in plan.units:
        _check_unit(unit)
    _check_independent(plan.units)
    return plan


def _check_unit(unit: Unit) -> None:
    title = unit.title.strip()
    if not title or "\n" in title:
        raise PlanError("Every unit needs a `title` of one line.")
    for field in ("files", "steps"):
        values: Sequence[str] = getattr(unit, field)
        if not values or not all(value.strip() for value in values):
            raise PlanError(f"The unit “{title}” needs at least one entry in `{field}`.")
    if not unit.check.strip():
        raise PlanError(f"The unit “{title}” needs a `check`: a command that exits with 0.")


def _check_independent(units: Sequence[Unit]) -> None:
    """Two units that change one file would have to be merged by hand."""
    owners: dict[str, str] = {}
    for unit in units:
        for file in unit.files:
            path = file.strip().removeprefix("./")
            if path in owners:
                both = f"“{owners[path]}” and “{unit.title}”"
                raise PlanError(f"The units {both} both change {path}; units must be independent.")
            owners[path] = unit.title


def render_plan(plan: BatchPlan) -> list[str]:
    """The plan for the person who approves it: a line per unit, and its files and check."""
    lines = []
    for number, unit in enumerate(plan.units, 1):
        lines.append(f"{number:>2}. {unit.title}")
        lines.append(f"    files: {', '.join(unit.files)}")
        lines.append(f"    check: {unit.check}")
    return lines


class UnitResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a unit. `merge` is `merged`, or why its branch was left alone."""

    number: int
    title: str
    status: str
    branch: str = ""
    commit: str = ""
    attempts: int = 1
    reason: str = ""
    merge: str = ""


def render_table(results: Sequence[UnitResult]) -> str:
    """The units as a Markdown table."""
    rows = ["| # | unit | state | attempts | branch | result |", "|---|---|---|---|---|---|"]
    for one in results:
        result = one.merge or one.reason or one.status
        cells = (one.number, one.title, one.status, one.attempts, one.branch, result)
        rows.append("| " + " | ".join(_escape_cell(str(cell)) for cell in cells) + " |")
    return "\n".join(rows)


def _escape_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def slugify(title: str) -> str:
    """A title as part of a branch's name."""
    words = re.findall(r"[a-z0-9]+", title.lower())
    return "-".join(words)[:40].strip("-") or "unit"


def to_builtins(value: msgspec.Struct) -> Mapping[str, Any]:
    """A struct as plain values, which is what a database keeps."""
    built: Mapping[str, Any] = msgspec.to_builtins(value)
    return built
