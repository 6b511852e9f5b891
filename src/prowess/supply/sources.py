"""Every source of skills beside the host's folders, as the settings of a project name them.

`Skills.open` reads folders only. To use all that the settings name, add these:

```python
skills = Skills.open(".", sources=open_sources())
```
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from prowess.ports import SkillSource
from prowess.supply.mcp.source import McpSource
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
    """The sources in the order in which their skills are found; none does anything before a scan.

    Each takes what it needs from the settings of the scan, so one that is not configured costs
    nothing. A scan asks them all at the same time, so that together they take no longer than the
    slowest. With `offline` nothing is fetched, and what was fetched before is used.
    """
    if refresh is None:
        return (RemoteSource(offline=offline), McpSource(offline=offline))
    again = refresh.name or True
    remote = RemoteSource(offline=offline, refresh=again, watch=refresh.watch)
    return (remote, McpSource(offline=offline, refresh=again))
