"""Every source of skills beside the host's folders, as the settings of a project name them.

`Skills.open` reads folders only. Whoever wants all that the settings name adds these:

```python
skills = Skills.open(".", sources=open_sources())
```
"""

from __future__ import annotations

from prowess.ports import SkillSource
from prowess.supply.remote_source import RemoteSource


def open_sources(*, offline: bool = False) -> tuple[SkillSource, ...]:
    """The sources in the order in which they are asked; none does anything before a scan.

    Each takes what it needs from the settings of the scan, so one that is not configured costs
    nothing. With `offline` nothing is fetched, and what was fetched before is used.
    """
    return (RemoteSource(offline=offline),)
