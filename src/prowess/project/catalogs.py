"""The catalogs of a project: what the model is shown of a snapshot, built once for each request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from prowess.model.snapshot import Snapshot
from prowess.project.host_view import HostView
from prowess.project.snapshot_memo import SnapshotMemo
from prowess.telemetry import observe

if TYPE_CHECKING:
    from prowess.model.catalog import Catalog
    from prowess.model.usage import Uses
    from prowess.ports import Ranker

# Agents ask with the same few options in every request; a budget that differs each time must not
# fill the memory.
_MOST_KEPT = 32


class CatalogMaker:
    """Makes the catalogs of one project, and keeps those that depend on no request."""

    def __init__(self, view: HostView) -> None:
        self._view = view
        self._kept: SnapshotMemo[Catalog] = SnapshotMemo(most=_MOST_KEPT)

    def offer(
        self,
        snapshot: Snapshot,
        *,
        uses: Uses = frozenset(),
        request: str | None = None,
        ranker: Ranker | None = None,
        context_tokens: int | None = None,
        characters: int | None = None,
        format: str | None = None,
        can_read_skill_urls: bool = True,
    ) -> Catalog:
        """The catalog of a snapshot, within the host's budget.

        It is built once and kept for as long as the snapshot is, unless it depends on a request.
        """
        build = partial(
            self._build,
            snapshot,
            uses=uses,
            context_tokens=context_tokens,
            characters=characters,
            format=format,
            can_read_skill_urls=can_read_skill_urls,
        )
        if request is not None and ranker is not None:
            return build(scores=ranker.score(request, snapshot.skills))
        return self._kept.get(snapshot, tuple(build.keywords.values()), build)

    def _build(self, snapshot: Snapshot, **options: Any) -> Catalog:
        from prowess.gate.gate import find_rules
        from prowess.gate.permissions import section_removed
        from prowess.model.catalog import Shown
        from prowess.present.offer import offer

        view = self._view
        permissions = find_rules(
            snapshot.settings,
            view.profile.permissions,
            view.facts,
            agent=view.agent,
            given=view.rules,
        )
        with observe("catalog", host=view.profile.name) as seen:
            catalog = offer(
                snapshot,
                profile=view.profile,
                facts=view.facts,
                removed=permissions is not None and section_removed(permissions),
                **options,
            )
            if seen:
                left_out = catalog.counts().get(Shown.LEFT_OUT, 0)
                seen.note(skills=len(catalog.lines), left_out=left_out, tokens=catalog.tokens)
        return catalog
