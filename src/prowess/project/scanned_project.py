"""A project during one scan, for sources other than the host's own folders."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

from prowess.discover.folders import FolderSource
from prowess.discover.roots import find_rule, make_root
from prowess.model.facts import Facts
from prowess.model.settings import Settings
from prowess.model.skill import Root, Scope
from prowess.ports import Discovered, Search, TrustPolicy
from prowess.profiles.places import Place, Places
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import ScanLimits


class ProjectScan:
    """The `ScannedProject` of a working folder as one host sees it.

    `order` is the position of the next folder that a source adds to those of the host.
    """

    def __init__(
        self,
        *,
        profile: Profile,
        facts: Facts,
        places: Places,
        limits: ScanLimits,
        order: int,
        settings: Settings,
        load_own_settings: Callable[[], Settings],
        open_trust: Callable[[], TrustPolicy],
    ) -> None:
        self.facts = facts
        self.mcp_names = (profile.mcp.skills, profile.mcp.prompts)
        self._profile = profile
        self._places = places
        self._limits = limits
        self._next_order = order
        # A host that reads prowess.toml has these settings already.
        reads_own = any(rule.is_own for rule in profile.settings.values())
        self._own_settings = settings if reads_own else None
        self._load_own_settings = load_own_settings
        self._open_trust = open_trust

    def load_own_settings(self) -> Settings:
        """Prowess's own settings, whichever host it answers as."""
        if self._own_settings is None:
            self._own_settings = self._load_own_settings()
        return self._own_settings

    def is_trusted_folder(self, folder: str) -> bool:
        """Whether the user trusts the project that a folder belongs to."""
        return self._open_trust().is_trusted_folder(folder)

    def plan_root(self, path: str, *, scope: Scope, provider: str) -> Root:
        """A folder outside the host's own, to be searched as the host searches that scope."""
        found = find_rule(self._profile, scope)
        level = found.level or scope.value
        rule = msgspec.structs.replace(found, scope=scope, provider=provider, level=level, label="")
        root = make_root(provider, rule, Place(path, 0), order=self._next_order)
        self._next_order += 1
        return root

    def walk(self, roots: Sequence[Root], search: Search) -> Discovered:
        """Search folders for skills, within the limits of the scan."""
        source = FolderSource(roots, places=self._places, limits=self._limits, clock=time.monotonic)
        return source.find(search)
