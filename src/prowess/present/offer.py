"""From a snapshot to the catalog: the skills that are ready, with what speaks for telling more of
each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from prowess.errors import UsageError
from prowess.model.catalog import Catalog, CatalogItem
from prowess.model.facts import Facts
from prowess.model.outcome import State
from prowess.model.skill import Root, Scope, Skill
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Usage
from prowess.present.catalog import present
from prowess.profiles.schema.catalog import BudgetRules
from prowess.profiles.schema.profile import Profile

Counts = Mapping[tuple[str, str], Usage]


def describe_ready(
    snapshot: Snapshot, *, profile: Profile, counts: Counts, scores: Sequence[float] | None = None
) -> list[CatalogItem]:
    """What the catalog may say of every skill that is ready. Bodies are read only where they will
    be injected.
    """
    items = []
    inject = profile.catalog.always == "inject"
    ready = [outcome for outcome in snapshot.outcomes if outcome.state is State.READY]
    for place, outcome in enumerate(ready):
        skill = outcome.skill
        if skill is None:
            continue
        used = counts.get((skill.name, skill.location))
        override = snapshot.settings.overrides.get(skill.name)
        items.append(
            describe_skill(
                skill,
                root=outcome.candidate.root,
                uses=used.activated if used is not None else 0,
                relevance=scores[place] if scores is not None else None,
                name_only=override is not None and override.visibility == "name-only",
                body=skill.content if inject and skill.manifest.always else None,
            )
        )
    return items


def offer(
    snapshot: Snapshot,
    *,
    profile: Profile,
    facts: Facts,
    counts: Counts,
    scores: Sequence[float] | None = None,
    removed: bool = False,
    context_tokens: int | None = None,
    characters: int | None = None,
    format: str | None = None,
    can_read_skill_urls: bool = True,
) -> Catalog:
    """The catalog of a snapshot. Where skills are wholly denied to the agent it is `removed`: there
    is none.
    """
    budget = msgspec.structs.replace(profile.budget, **_as_fields(snapshot.settings.budget))
    items = (
        [] if removed else describe_ready(snapshot, profile=profile, counts=counts, scores=scores)
    )
    table = (
        msgspec.structs.replace(profile.catalog, when_empty="nothing")
        if removed
        else profile.catalog
    )
    return present(
        items,
        catalog=table,
        budget=budget,
        context_tokens=context_tokens,
        home=facts.home,
        can_read_skill_urls=can_read_skill_urls,
        note=facts.note,
        format=format,
        characters=characters if characters is not None else _read_variable(budget, facts),
    )


def _as_fields(settings: Mapping[str, float]) -> dict[str, float]:
    return {name: value if name == "share" else int(value) for name, value in settings.items()}


def _read_variable(budget: BudgetRules, facts: Facts) -> int | None:
    """The number of characters that the host's environment variable asks for."""
    text = facts.env.get(budget.variable, "").strip() if budget.variable else ""
    if not text:
        return None
    if not text.isdigit() or int(text) == 0:
        raise UsageError(
            f"{budget.variable} is “{text}”; it must be a number of characters, 1 or more."
        )
    return int(text)


def describe_skill(
    skill: Skill,
    *,
    root: Root | None = None,
    uses: int = 0,
    relevance: float | None = None,
    name_only: bool = False,
    body: str | None = None,
) -> CatalogItem:
    """What a catalog may say of a skill. The body is given by whoever read it, and only for
    `always: true`.
    """
    manifest = skill.manifest
    return CatalogItem(
        name=skill.name,
        description=skill.description or "",
        when_to_use=manifest.when_to_use or "",
        argument_hint=manifest.argument_hint or "",
        location=skill.location,
        source=skill.source.label,
        label=skill.label or "",
        group=root.group if root is not None else "",
        order=root.order if root is not None else 0,
        bundled=skill.scope is Scope.BUNDLED,
        uses=uses,
        relevance=relevance,
        name_only=name_only,
        always=bool(manifest.always),
        body=body,
    )
