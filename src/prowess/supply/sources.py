"""Every source of skills beside the host's folders, as the settings of a project name them.

`Skills.open` reads folders only. Whoever wants all that the settings name adds these:

```python
skills = Skills.open(".", sources=open_sources())
```
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import msgspec

from prowess.model.outcome import Claim
from prowess.model.skill import Candidate
from prowess.ports import Discovered, ManifestReader, Search, SkillSource
from prowess.supply.remote_source import RemoteSource

WatchFetch: TypeAlias = Callable[[str, int, int], None]
"""Told the name of a source, how many of its skills were fetched, and how many there are."""


class RefreshRequest(msgspec.Struct, frozen=True):
    """Ask sources again, whatever was fetched before: the one of a name, or all."""

    name: str | None = None
    watch: WatchFetch | None = None


def open_sources(
    *, offline: bool = False, refresh: RefreshRequest | None = None
) -> tuple[SkillSource, ...]:
    """The sources in the order in which they are asked; none does anything before a scan.

    Each takes what it needs from the settings of the scan, so one that is not configured costs
    nothing. With `offline` nothing is fetched, and what was fetched before is used.
    """
    again = refresh is not None and (refresh.name or True)
    watch = None if refresh is None else refresh.watch
    remote = RemoteSource(offline=offline, refresh=again, watch=watch)
    mcp = LateSource("mcp", has_servers, partial(_open_mcp, offline=offline, refresh=again))
    return (remote, mcp)


class LateSource:
    """A `SkillSource` that is imported by the first scan that `is_wanted` says needs it.

    Most projects name no server, and nobody should wait for what they do not use.
    """

    def __init__(
        self, name: str, is_wanted: Callable[[Search], bool], make: Callable[[], SkillSource]
    ) -> None:
        self.name = name
        self._is_wanted = is_wanted
        self._make = make
        self._source: SkillSource | None = None

    def find(self, search: Search) -> Discovered:
        """What the source finds, if it is wanted."""
        if self._source is None:
            if not self._is_wanted(search):
                return Discovered()
            self._source = self._make()
        return self._source.find(search)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """What the source says of a candidate that it found."""
        if self._source is None:
            raise LookupError(f"{candidate.location} was not found by this source")
        return self._source.read(candidate, reader)


def has_servers(search: Search) -> bool:
    """Whether the settings of the host or of Prowess itself name an MCP server that counts here."""
    project = search.project
    if project is None or not any(project.mcp_names):
        return False
    return bool(search.settings.mcp_servers or project.load_own_settings().mcp_servers)


def _open_mcp(*, offline: bool, refresh: str | bool) -> SkillSource:
    from prowess.supply.mcp.source import McpSource

    return McpSource(offline=offline, refresh=refresh)
