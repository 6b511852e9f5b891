"""The whole stage: from skills that may be offered to the text a model is shown, with an account of
each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from prowess.errors import BudgetTooSmall
from prowess.model.catalog import Catalog, CatalogItem, CatalogLine, Shown
from prowess.present.always import Injection, inject_always
from prowess.present.budget import MEASURES, Choice, LineBudget, find_budget
from prowess.present.formats import ESCAPES, CatalogFormat, FormatContext, get_format
from prowess.present.strategies import STRATEGIES
from prowess.present.tokens import estimate_tokens
from prowess.profiles.schema.catalog import BudgetRules, CatalogRules
from prowess.text.collation import collate
from prowess.text.markup import tidy_block, tidy_line


class _Page(msgspec.Struct, frozen=True):
    """A format with its context and frame: how lines are made, measured and joined."""

    format: CatalogFormat
    context: FormatContext
    head: str
    tail: str
    length: Callable[[str], int]
    frame_counts: bool

    @property
    def frame_length(self) -> int:
        return self.length(self.head) + self.length(self.tail) if self.frame_counts else 0

    def render_line(self, item: CatalogItem, text: str) -> str:
        return self.format.line(item, text, self.context)

    def measure_line(self, item: CatalogItem, text: str) -> int:
        return self.length(self.render_line(item, text)) + len(self.format.joint)


def present(
    items: Iterable[CatalogItem],
    *,
    catalog: CatalogRules,
    budget: BudgetRules,
    context_tokens: int | None = None,
    home: str = "",
    can_read_skill_urls: bool = True,
    note: str | None = None,
    format: str | None = None,
    characters: int | None = None,
) -> Catalog:
    """The catalog of the skills, as the profile's tables say.

    `context_tokens` is the size of the context window, None where it is not known. `note` heads the
    catalog. `format` and `characters` replace the profile's own format and budget. Raises
    `InvalidWindow`, `UnknownFormat`, and `BudgetTooSmall` where `characters` were asked for that
    hold no name.
    """
    room = find_budget(budget, window=context_tokens, asked=characters)
    page = _open_page(
        catalog, budget, home=home, skill_urls=can_read_skill_urls, note=note, format=format
    )
    ordered = sorted(items, key=ORDERS[catalog.order])
    injection = inject_always(ordered, budget) if catalog.always == "inject" else Injection()
    settled = _settle(ordered, catalog, injection, skill_urls=can_read_skill_urls)
    listed = [place for place in range(len(ordered)) if place not in settled]
    if budget.skills and len(listed) > budget.skills:
        beyond = Choice(
            Shown.LEFT_OUT, why=f"at most {budget.skills:,} skills are listed", lost=True
        )
        settled |= dict.fromkeys(listed[budget.skills :], beyond)
        listed = listed[: budget.skills]
    sheet = _make_sheet([ordered[place] for place in listed], page, catalog, budget, room)
    chosen = STRATEGIES[budget.strategy](sheet)
    if characters is not None:
        _refuse_too_small(sheet, chosen, page, characters)
    choices = settled | dict(zip(listed, chosen, strict=True))
    return _write(
        ordered,
        choices,
        page,
        room,
        injection,
        says_empty=catalog.when_empty == "sentence" and not listed,
    )


def _open_page(
    catalog: CatalogRules,
    budget: BudgetRules,
    *,
    home: str,
    skill_urls: bool,
    note: str | None,
    format: str | None,
) -> _Page:
    chosen = get_format(format or catalog.format)
    safe = ESCAPES[catalog.escape if catalog.escape in chosen.escapes else chosen.escapes[0]]
    tidy = tidy_block if chosen.blocks else tidy_line
    shorten = _shorten_home if catalog.location == "home" and home else _keep_path
    context = FormatContext(
        heading=catalog.heading,
        note=safe(tidy_line(note)) if note else "",
        name=lambda item: safe(tidy_line(item.name)),
        label=lambda item: safe(tidy_line(item.label)),
        location=lambda item: safe(tidy(shorten(item.location, home))),
        text=safe,
        skill_urls=skill_urls,
    )
    head, tail = chosen.frame(context)
    return _Page(chosen, context, head, tail, MEASURES[budget.units], budget.counts == "text")


def _keep_path(path: str, home: str) -> str:
    return path


def _shorten_home(path: str, home: str) -> str:
    base = home.rstrip("/\\")
    below = path.startswith(base) and path[len(base) : len(base) + 1] in ("/", "\\")
    return f"~{path[len(base) :]}" if base and below else path


def _settle(
    items: Sequence[CatalogItem],
    catalog: CatalogRules,
    injection: Injection,
    *,
    skill_urls: bool,
) -> dict[int, Choice]:
    """The skills that no budget decides about: injected ones, and those that are never listed here."""
    if catalog.needs_skill_urls and not skill_urls:
        return dict.fromkeys(
            range(len(items)), Choice(Shown.LEFT_OUT, why="no tool of the agent can read skill://")
        )
    never = Choice(Shown.LEFT_OUT, why="skills of its kind are not offered to the model")
    settled = {
        place: never for place, item in enumerate(items) if item.group in catalog.left_out_groups
    }
    inside = Choice(Shown.INJECTED, why="its header says `always: true`")
    return settled | dict.fromkeys(injection.places, inside)


def _make_sheet(
    items: Sequence[CatalogItem],
    page: _Page,
    catalog: CatalogRules,
    budget: BudgetRules,
    room: int | None,
) -> LineBudget:
    tidy = tidy_block if page.format.blocks else tidy_line

    def read(item: CatalogItem) -> str:
        parts = (item.description, item.when_to_use if catalog.when_to_use else "")
        return " - ".join(text for part in parts if (text := tidy(part)).strip())

    # Every line is measured with a joint, and the last has none.
    left = None if room is None else room - page.frame_length + len(page.format.joint)
    return LineBudget(items, rules=budget, room=left, read=read, measure=page.measure_line)


def _refuse_too_small(
    sheet: LineBudget, choices: Sequence[Choice], page: _Page, characters: int
) -> None:
    shown = any(choice.shown is not Shown.LEFT_OUT for choice in choices)
    if characters > 0 and (shown or not choices):
        return
    around = page.frame_length - len(page.format.joint)
    names = [sheet.cost(place, "") for place in sheet.places]
    raise BudgetTooSmall(
        characters, least=max(around + min(names, default=0), 1), names=max(around + sum(names), 1)
    )


def _write(
    items: Sequence[CatalogItem],
    choices: dict[int, Choice],
    page: _Page,
    room: int | None,
    injection: Injection,
    *,
    says_empty: bool,
) -> Catalog:
    ended = [choices[place] for place in range(len(items))]
    listed = (Shown.WHOLE, Shown.SHORTENED, Shown.NAME_ONLY)
    rows = [
        page.render_line(item, end.text)
        for item, end in zip(items, ended, strict=True)
        if end.shown in listed
    ]
    body = page.format.joint.join(rows)
    warnings = _warn(ended)
    text = (
        f"{page.head}{body}{page.tail}"
        if rows
        else page.format.no_skills
        if says_empty
        else page.format.nothing
    )
    counted = page.length(text if page.frame_counts else body) if rows else 0
    if (
        rows
        and warnings
        and page.format.warns
        and (room is None or counted + 1 + page.length(warnings[0]) <= room)
    ):
        text, counted = f"{text}\n{warnings[0]}", counted + 1 + page.length(warnings[0])
    return Catalog(
        text=text,
        lines=tuple(
            CatalogLine(item.name, end.shown, end.text, end.why)
            for item, end in zip(items, ended, strict=True)
        ),
        characters=counted,
        tokens=estimate_tokens(text) + estimate_tokens(injection.text),
        budget=room,
        over_budget=room is not None and counted > room,
        always=injection.text,
        warnings=warnings,
        diagnostics=injection.diagnostics,
    )


def _warn(ended: Sequence[Choice]) -> tuple[str, ...]:
    """One sentence on what a budget or a limit kept from the model; none where it kept nothing."""
    words = {
        Shown.SHORTENED: "shortened",
        Shown.NAME_ONLY: "by name only",
        Shown.LEFT_OUT: "not at all",
    }
    lost = [end.shown for end in ended if end.lost]
    parts = [f"{lost.count(shown):,} {word}" for shown, word in words.items() if shown in lost]
    return (f"Of {len(ended):,} skills the catalog shows {', '.join(parts)}.",) if parts else ()


def _by_name(item: CatalogItem) -> tuple[Any, ...]:
    return (item.name.casefold(), item.name, item.location)


def _by_locale(item: CatalogItem) -> tuple[Any, ...]:
    return (*collate(item.name), item.location)


def _by_source(item: CatalogItem) -> tuple[Any, ...]:
    return (item.bundled, item.order, item.name.casefold(), item.name, item.location)


ORDERS: dict[str, Callable[[CatalogItem], tuple[Any, ...]]] = {
    "name": _by_name,
    "locale": _by_locale,
    "source": _by_source,
}
