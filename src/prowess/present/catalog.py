"""The whole stage: from skills to the text a model is shown, with an account of each skill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from prowess.errors import BudgetTooSmall
from prowess.model.catalog import Catalog, CatalogItem, CatalogLine, Shown
from prowess.present.always import Injection, inject_always
from prowess.present.budget import (
    MEASURES,
    Choice,
    LineBudget,
    count_bytes_in_fours,
    find_budget,
)
from prowess.present.formats import ESCAPES, FormatContext, FormatSpec, get_format, render_root
from prowess.present.strategies import STRATEGIES
from prowess.present.tokens import estimate_tokens
from prowess.profiles.schema.catalog import BudgetRules, CatalogRules
from prowess.text.collation import collate
from prowess.text.display import count_words
from prowess.text.markup import tidy_block, tidy_line, tidy_spaces

_LISTED = (Shown.WHOLE, Shown.SHORTENED, Shown.NAME_ONLY)
_LOST = {
    Shown.SHORTENED: "shortened",
    Shown.NAME_ONLY: "shown by name only",
    Shown.LEFT_OUT: "left out",
}


def _by_name(item: CatalogItem, catalog: CatalogRules) -> tuple[Any, ...]:
    return (item.name.casefold(), item.name, item.location)


def _by_locale(item: CatalogItem, catalog: CatalogRules) -> tuple[Any, ...]:
    return (*collate(item.name), item.location)


def _by_source(item: CatalogItem, catalog: CatalogRules) -> tuple[Any, ...]:
    # Claude Code lists its bundled skills last, although they are strong when room is scarce.
    return (item.bundled, item.order, *collate(item.name), item.location)


def _by_scope(item: CatalogItem, catalog: CatalogRules) -> tuple[Any, ...]:
    scopes = [scope.value for scope in catalog.scopes]
    rank = scopes.index(item.scope) if item.scope in scopes else len(scopes)
    return (rank, item.name, item.location)


def _by_load(item: CatalogItem, catalog: CatalogRules) -> tuple[Any, ...]:
    return (item.order, item.location, item.name)


def _by_load_reversed(item: CatalogItem, catalog: CatalogRules) -> tuple[Any, ...]:
    # A text cannot be negated to sort it downwards, but its characters can.
    downwards = [-ord(character) for character in item.location]
    return (item.order, downwards, item.name)


def _by_path(item: CatalogItem, catalog: CatalogRules) -> tuple[Any, ...]:
    return (item.location.lower(), item.location, item.name)


# Every order ends with the location, so that it never depends on how the skills came in.
ORDERS: dict[str, Callable[[CatalogItem, CatalogRules], tuple[Any, ...]]] = {
    "name": _by_name,
    "locale": _by_locale,
    "source": _by_source,
    "scope": _by_scope,
    "load": _by_load,
    "load-reversed": _by_load_reversed,
    "path": _by_path,
}


class _Page(msgspec.Struct, frozen=True):
    """A format with its context and frame: how lines are made, measured and joined."""

    format: FormatSpec
    context: FormatContext
    head: str
    tail: str
    length: Callable[[str], int]
    frame_counts: bool

    @property
    def frame_length(self) -> int:
        # Claude Code, Codex, Copilot and Qwen Code count the lines, not what is around them.
        if not self.frame_counts:
            return 0
        return self.length(self.head) + self.length(self.tail)

    @property
    def last_joint(self) -> int:
        """What the last line does not take up; nothing where each line is rounded with its end."""
        return 0 if self.length is count_bytes_in_fours else len(self.format.joint)

    def render_line(self, item: CatalogItem, text: str) -> str:
        return self.format.line(item, text, self.context)

    def measure_line(self, item: CatalogItem, text: str) -> int:
        return self.length(self.render_line(item, text) + self.format.joint)


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
    """The catalog of the skills, by the tables of a profile.

    `context_tokens` is the size of the context window, None if unknown. `note` heads the catalog.
    `format` and `characters` replace the profile's own format and budget. Raises `InvalidWindow`,
    `UnknownFormat`, and `BudgetTooSmall` if not a single name fits in the `characters` asked for.
    """
    room = find_budget(budget, window=context_tokens, asked=characters)
    order = ORDERS[catalog.order]
    ordered = sorted(items, key=lambda item: order(item, catalog))
    page = _open_page(
        ordered,
        catalog,
        budget,
        home=home,
        skill_urls=can_read_skill_urls,
        note=note,
        format=format,
    )
    injection = inject_always(ordered, budget) if catalog.always == "inject" else Injection()
    # Every skill gets a choice, in three steps: what no budget decides, what is beyond the limit
    # on the number of skills, and then the others, which share the room.
    indexes = range(len(ordered))
    choices = _settle(ordered, catalog, injection, skill_urls=can_read_skill_urls)
    unsettled = [index for index in indexes if index not in choices]
    listed = unsettled[: budget.skills or None]
    beyond = unsettled[len(listed) :]
    choices |= dict.fromkeys(beyond, _leave_out_beyond(budget.skills))
    lines = _make_lines([ordered[index] for index in listed], page, catalog, budget, room)
    shared = STRATEGIES[budget.strategy](lines)
    if characters is not None:
        _refuse_too_small(lines, shared, page, characters)
    choices |= zip(listed, shared, strict=True)
    says_empty = catalog.when_empty == "sentence" and not listed
    in_order = [choices[index] for index in indexes]
    return _write(ordered, in_order, page, room, injection, says_empty=says_empty)


def _leave_out_beyond(most: int) -> Choice:
    return Choice(Shown.LEFT_OUT, why=f"at most {most:,} skills are listed", lost=True)


def _open_page(
    items: Sequence[CatalogItem],
    catalog: CatalogRules,
    budget: BudgetRules,
    *,
    home: str,
    skill_urls: bool,
    note: str | None,
    format: str | None,
) -> _Page:
    chosen = get_format(format or catalog.format)
    # A host's way of escaping does not suit every format that a user may ask for instead.
    escape = catalog.escape if catalog.escape in chosen.escapes else chosen.escapes[0]
    safe = ESCAPES[escape]
    tidy = _choose_tidy(chosen, catalog)
    base = home.rstrip("/\\") if catalog.location == "home" else ""
    aliases = _alias_roots(items) if chosen.aliases else {}
    context = FormatContext(
        roots=tuple((alias, safe(tidy(root))) for root, alias in aliases.items()),
        heading=catalog.heading,
        note=safe(tidy_line(note or "")),
        name=lambda item: safe(tidy_line(item.name)),
        label=lambda item: safe(tidy_line(item.label)),
        location=lambda item: safe(tidy(_shorten(item, aliases, base))),
        text=safe,
        skill_urls=skill_urls,
    )
    head, tail = chosen.frame(context)
    return _Page(chosen, context, head, tail, MEASURES[budget.units], budget.counts == "text")


def _choose_tidy(chosen: FormatSpec, catalog: CatalogRules) -> Callable[[str], str]:
    if chosen.blocks:
        return tidy_block
    return tidy_spaces if catalog.spaces == "keep" else tidy_line


def _alias_roots(items: Sequence[CatalogItem]) -> dict[str, str]:
    """A short name for the root of each skill, in their order; none where that takes more room."""
    # A linked skill may lie elsewhere than the root in which it was found.
    inside = [item for item in items if item.root and item.location.startswith(f"{item.root}/")]
    aliases: dict[str, str] = {}
    for item in sorted(inside, key=lambda item: item.order):
        if item.root not in aliases:
            aliases[item.root] = f"r{len(aliases)}"
    saved = sum(len(item.root) - len(aliases[item.root]) for item in inside)
    # The table that says what each alias stands for takes room of its own.
    table = sum(len(render_root(alias, root)) + 1 for root, alias in aliases.items())
    return aliases if table < saved else {}


def _shorten(item: CatalogItem, aliases: Mapping[str, str], home: str) -> str:
    """Where a skill is, below its root's alias or below home if there is one."""
    alias = aliases.get(item.root)
    if alias is not None and item.location.startswith(f"{item.root}/"):
        return alias + item.location[len(item.root) :]
    return _shorten_home(item.location, home)


def _shorten_home(path: str, home: str) -> str:
    if not home or not path.startswith(home):
        return path
    below = path[len(home) :]
    # `/home/me2` begins like `/home/me` and is not in it.
    is_inside = below.startswith(("/", "\\"))
    return f"~{below}" if is_inside else path


def _settle(
    items: Sequence[CatalogItem], catalog: CatalogRules, injection: Injection, *, skill_urls: bool
) -> dict[int, Choice]:
    """The choices that no budget decides: injected skills, and those that are never listed here."""
    if catalog.needs_skill_urls and not skill_urls:
        unreadable = Choice(Shown.LEFT_OUT, why="none of the agent's tools can read skill://")
        return dict.fromkeys(range(len(items)), unreadable)
    never = Choice(Shown.LEFT_OUT, why="skills of this kind are not offered to the model")
    injected = Choice(Shown.INJECTED, why="its header says `always: true`")
    never_groups = catalog.left_out_groups
    settled: dict[int, Choice] = {}
    for index, item in enumerate(items):
        if item.left_out is not None:
            settled[index] = Choice(Shown.LEFT_OUT, why=item.left_out)
        elif item.group in never_groups:
            settled[index] = never
    # What is injected is in front of the model, whatever else speaks against listing it.
    return settled | dict.fromkeys(injection.indexes, injected)


def _make_lines(
    items: Sequence[CatalogItem],
    page: _Page,
    catalog: CatalogRules,
    budget: BudgetRules,
    room: int | None,
) -> LineBudget:
    tidy = _choose_tidy(page.format, catalog)

    def read(item: CatalogItem) -> str:
        description = tidy(item.description)
        when_to_use = tidy(item.when_to_use) if catalog.when_to_use else ""
        parts = (text for text in (description, when_to_use) if text.strip())
        return catalog.when_to_use_joint.join(parts)

    left = None
    if room is not None:
        # Every line is measured with a joint, and the last one has none.
        left = room - budget.own_lines - page.frame_length + page.last_joint
    return LineBudget(items, rules=budget, room=left, read=read, measure=page.measure_line)


def _refuse_too_small(
    lines: LineBudget, choices: Sequence[Choice], page: _Page, characters: int
) -> None:
    lists_one = any(choice.shown is not Shown.LEFT_OUT for choice in choices)
    has_none_to_list = not choices
    if characters > 0 and (lists_one or has_none_to_list):
        return
    around = page.frame_length - page.last_joint
    names = [lines.cost(index) for index in lines.indexes]
    least = around + min(names, default=0)
    raise BudgetTooSmall(characters, least=max(least, 1), names=max(around + sum(names), 1))


def _write(
    items: Sequence[CatalogItem],
    choices: Sequence[Choice],
    page: _Page,
    room: int | None,
    injection: Injection,
    *,
    says_empty: bool,
) -> Catalog:
    pairs = list(zip(items, choices, strict=True))
    warnings = _warn(choices)
    text, counted = _render_text(pairs, page, room, warnings)
    if not text:
        text = page.format.no_skills if says_empty else page.format.nothing
    return Catalog(
        text=text,
        lines=tuple(CatalogLine(item.name, end.shown, end.text, end.why) for item, end in pairs),
        characters=counted,
        tokens=estimate_tokens(text) + estimate_tokens(injection.text),
        budget=room,
        over_budget=room is not None and counted > room,
        always=injection.text,
        warnings=warnings,
        diagnostics=injection.diagnostics,
    )


_Pairs = Sequence[tuple[CatalogItem, Choice]]


def _render_text(
    pairs: _Pairs, page: _Page, room: int | None, warnings: Sequence[str]
) -> tuple[str, int]:
    """The text of the catalog, and how much of it counts; "" if no skill has an entry."""
    entries, named = _part_named(pairs, page)
    if not entries:
        return "", 0
    body = page.format.joint.join([page.render_line(item, end.text) for item, end in entries])
    text = f"{page.head}{body}{page.tail}{_list_named(named, pairs, page)}"
    counted = page.length(text if page.frame_counts else body)
    if not warnings or not page.format.warns:
        return text, counted
    # The warning is for the model too, but only as far as there is room for it.
    warning = f"\n{warnings[0]}"
    longer = counted + page.length(warning)
    has_room = room is None or longer <= room
    return (text + warning, longer) if has_room else (text, counted)


def _part_named(pairs: _Pairs, page: _Page) -> tuple[_Pairs, _Pairs]:
    """The skills with an entry of their own, and those that share a line of names."""
    listed = [(item, end) for item, end in pairs if end.shown in _LISTED]
    if page.format.name_list is None:
        return listed, ()
    entries: list[tuple[CatalogItem, Choice]] = []
    named: list[tuple[CatalogItem, Choice]] = []
    for item, end in listed:
        # A skill that has no description has an entry all the same: nothing of it was lost.
        is_only_named = end.shown is Shown.NAME_ONLY and end.lost
        group = named if is_only_named else entries
        group.append((item, end))
    return entries, named


def _list_named(named: _Pairs, pairs: _Pairs, page: _Page) -> str:
    render_names = page.format.name_list
    if render_names is None or not named:
        return ""
    names = [page.context.name(item) for item, _ in named]
    more = sum(end.shown is Shown.LEFT_OUT and end.lost for _, end in pairs)
    return render_names(names, more)


def _warn(choices: Sequence[Choice]) -> tuple[str, ...]:
    """One sentence on what a budget or a limit keeps from the model; none if it keeps nothing."""
    lost = [choice.shown for choice in choices if choice.lost]
    parts: list[str] = []
    for shown, word in _LOST.items():
        count = lost.count(shown)
        if not count:
            continue
        # “3 are shortened, 2 left out”: only the first part has a verb.
        verb = "is " if count == 1 else "are "
        parts.append(f"{count:,} {'' if parts else verb}{word}")
    if not parts:
        return ()
    return (f"Of {count_words(len(choices), 'skill')}, {', '.join(parts)}.",)
