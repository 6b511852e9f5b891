"""From a snapshot to the catalog: the skills that are ready, with what speaks for showing more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import ProwessError, UsageError
from prowess.model.catalog import Catalog, CatalogItem
from prowess.model.facts import Facts
from prowess.model.outcome import State
from prowess.model.skill import Root, Scope, Skill
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Uses
from prowess.present.catalog import present
from prowess.profiles.schema.catalog import BudgetRules
from prowess.profiles.schema.profile import Profile
from prowess.text.addresses import render_address
from prowess.text.digits import find_number


def describe_skill(
    skill: Skill,
    *,
    root: Root | None = None,
    uses: int = 0,
    relevance: float | None = None,
    name_only: bool = False,
    body: str | None = None,
    left_out: str | None = None,
) -> CatalogItem:
    """What a catalog may say about a skill. Give a body only if it says `always: true`."""
    manifest = skill.manifest
    return CatalogItem(
        name=skill.name,
        description=skill.description or "",
        when_to_use=manifest.when_to_use or "",
        argument_hint=manifest.argument_hint or "",
        # A model can read what is in memory only by its address.
        location=render_address(skill.name) if skill.is_in_memory else skill.location,
        source=skill.source.label,
        label=skill.label or "",
        group="" if root is None else root.group,
        root="" if root is None else root.path,
        scope=skill.scope.value,
        order=_find_order(root),
        bundled=skill.scope is Scope.BUNDLED,
        uses=uses,
        relevance=relevance,
        name_only=name_only,
        always=bool(manifest.always),
        body=body,
        left_out=left_out,
    )


def _find_order(root: Root | None) -> int:
    if root is None:
        return 0
    return root.order if root.listed_at is None else root.listed_at


def describe_ready(
    snapshot: Snapshot, *, profile: Profile, uses: Uses, scores: Sequence[float] | None = None
) -> tuple[list[CatalogItem], tuple[Diagnostic, ...]]:
    """What the catalog may say about every skill that is ready, and about bodies it cannot read.

    `scores` are those of the ready skills, in their order. A body is read only if it is injected; a
    skill whose body cannot be read is listed like any other.
    """
    injects = profile.catalog.always == "inject"
    overrides = snapshot.settings.overrides
    used = {(name, location): count for name, location, count in uses}
    items: list[CatalogItem] = []
    unread: list[Diagnostic] = []
    for outcome in snapshot.outcomes:
        skill = outcome.skill
        if skill is None or outcome.state is not State.READY:
            continue
        override = overrides.get(skill.name)
        body = None
        # What a server sends is read by a model only after somebody has approved it.
        if injects and skill.declared.always and not skill.is_foreign:
            try:
                body = skill.content
            except ProwessError as error:
                # The file was deleted or changed after the scan; that must not stop every request.
                unread.append(diagnose("always-unreadable", str(error), file=skill.location))
        item = describe_skill(
            skill,
            root=outcome.candidate.root,
            uses=used.get((skill.name, skill.location), 0),
            relevance=None if scores is None else scores[len(items)],
            name_only=override is not None and override.visibility == "name-only",
            body=body,
            left_out=outcome.reason if outcome.rule in profile.catalog.left_out_by else None,
        )
        items.append(item)
    return items, tuple(unread)


def offer(
    snapshot: Snapshot,
    *,
    profile: Profile,
    facts: Facts,
    uses: Uses = frozenset(),
    scores: Sequence[float] | None = None,
    removed: bool = False,
    context_tokens: int | None = None,
    characters: int | None = None,
    format: str | None = None,
    can_read_skill_urls: bool = True,
) -> Catalog:
    """The catalog of a snapshot; an empty one if skills are `removed`, denied to the agent, or a
    setting turns it off.
    """
    budget = msgspec.structs.replace(profile.budget, **_as_fields(snapshot.settings.budget))
    rules = profile.catalog
    items: list[CatalogItem] = []
    unread: tuple[Diagnostic, ...] = ()
    if removed or snapshot.settings.catalog is False:
        rules = msgspec.structs.replace(rules, when_empty="nothing")
    else:
        items, unread = describe_ready(snapshot, profile=profile, uses=uses, scores=scores)
    if characters is None:
        characters = _read_variable(budget, facts)
    catalog = present(
        items,
        catalog=rules,
        budget=budget,
        context_tokens=context_tokens,
        home=facts.home,
        can_read_skill_urls=can_read_skill_urls,
        note=facts.note,
        format=format,
        characters=characters,
    )
    if not unread:
        return catalog
    return msgspec.structs.replace(catalog, diagnostics=(*unread, *catalog.diagnostics))


def _as_fields(settings: Mapping[str, float]) -> dict[str, float]:
    """The settings with whole numbers as such; only the share is a fraction."""
    return {name: value if name == "share" else int(value) for name, value in settings.items()}


def _read_variable(budget: BudgetRules, facts: Facts) -> int | None:
    """The number of characters that the host's environment variable asks for."""
    text = facts.env.get(budget.variable, "").strip() if budget.variable else ""
    if not text:
        return None
    number = find_number(text)
    if not number:
        raise UsageError(
            f"{budget.variable} is “{text}”; it must be a number of characters, 1 or more."
        )
    return number
