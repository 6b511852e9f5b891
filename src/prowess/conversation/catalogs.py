"""The catalogs of one conversation, which change only when the skills do."""

from __future__ import annotations

import threading
from typing import Unpack

from prowess.conversation.services import Services
from prowess.model.catalog import Catalog, Shown
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Uses
from prowess.project.options import CatalogOptions


class ConversationCatalogs:
    """What a conversation shows of its skills.

    Some hosts show more of the skills that are used more. How often each was used is read once, at
    the beginning: a list that changed with every use could not be cached by a provider.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._uses: Uses | None = None
        self._noted: Catalog | None = None

    def build(self, snapshot: Snapshot, **options: Unpack[CatalogOptions]) -> Catalog:
        """The catalog of a snapshot; options are those of `Skills.catalog`."""
        with self._lock:
            if self._uses is None:
                self._uses = self._services.project.load_uses(snapshot)
        return self._services.project.offer(snapshot, uses=self._uses, **options)

    def offer(self, snapshot: Snapshot, **options: Unpack[CatalogOptions]) -> Catalog:
        """The catalog for a request. What is in it counts as offered, once for as long as it does
        not change.
        """
        catalog = self.build(snapshot, **options)
        if self._noted is not catalog:
            self._noted = catalog
            listed = {line.name for line in catalog.lines if line.shown is not Shown.LEFT_OUT}
            offered = (skill for skill in snapshot.skills if skill.name in listed)
            self._services.usage.note_offered(offered)
        return catalog
