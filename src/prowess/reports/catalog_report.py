"""What became of each skill in a catalog, skill by skill, and the words that commands have for it."""

from __future__ import annotations

from prowess.cli.options import Who
from prowess.errors import ProwessError
from prowess.model.catalog import Catalog, CatalogItem, CatalogLine, Shown
from prowess.model.outcome import Outcome, State
from prowess.model.permission import Decision
from prowess.model.skill import Skill
from prowess.present.catalog import ORDERS
from prowess.present.offer import describe_skill
from prowess.reports.explanation import Offer, soften
from prowess.runtime import Skills

SHOWN_WORDS: dict[Shown, str] = {
    Shown.LEFT_OUT: "left out",
    Shown.NAME_ONLY: "name only",
    Shown.SHORTENED: "shortened",
    Shown.WHOLE: "whole",
    Shown.INJECTED: "injected",
}


def pair_lines(skills: Skills, catalog: Catalog) -> list[tuple[Outcome, CatalogItem, CatalogLine]]:
    """Every skill that is ready with what the catalog shows of it, in the order of the catalog.

    Names alone would not do: some hosts let several files keep one name.
    """
    if not catalog.lines:
        return []
    order = ORDERS[skills.profile.catalog.order]
    ready = [
        (outcome, describe_skill(outcome.skill, root=outcome.candidate.root))
        for outcome in skills.snapshot.outcomes
        if outcome.state is State.READY and outcome.skill is not None
    ]
    ready.sort(key=lambda pair: order(pair[1]))
    return [
        (outcome, item, line) for (outcome, item), line in zip(ready, catalog.lines, strict=True)
    ]


def render_size(catalog: Catalog) -> str:
    """How large a catalog is, in the host's characters and in tokens."""
    of_budget = f" of {catalog.budget:,}" if catalog.budget is not None else ""
    plural = "" if catalog.tokens == 1 else "s"
    return (
        f"{catalog.characters:,}{of_budget} characters, about {catalog.tokens:,} token{plural} (an"
        " estimate)"
    )


def render_shown_counts(catalog: Catalog) -> str:
    """`3 whole, 2 shortened`: what is shown most of first."""
    counts = catalog.counts()
    return ", ".join(
        f"{counts[shown]:,} {SHOWN_WORDS[shown]}" for shown in reversed(Shown) if shown in counts
    )


def load_offer(skills: Skills, who: Who) -> Offer:
    """What the rules say of every skill, and what the catalog shows of those that are ready."""
    from prowess.gate.permissions import decide, gather_rules, request_skill

    table = skills.profile.permissions
    rules = gather_rules(
        skills.snapshot.settings, table, skills.facts, agent=who.agent, given=who.rules
    )

    def ask(skill: Skill) -> Decision:
        return decide(request_skill(skill.name, skill.manifest), rules, skill.manifest)

    try:
        paired = pair_lines(skills, skills.catalog())
    except ProwessError as error:
        # A variable or a setting that is wrong for the catalog says nothing about the stages before
        # it.
        return Offer(ask, {}, soften(str(error).rstrip(".")))
    return Offer(ask, {outcome.candidate.location: line for outcome, _, line in paired})
