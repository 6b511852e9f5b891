"""From a skill that was read to what goes into the catalog."""

from __future__ import annotations

from prowess.model.catalog import CatalogItem
from prowess.model.skill import Root, Scope, Skill


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
