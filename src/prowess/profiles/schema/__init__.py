"""The schema of a profile, one module per group of related tables.

- `roots`: `[roots.NAME]`, `[limits]`, `[context]`
- `plugins`: `[plugins.NAME]`
- `header`: `[header]`, `[fields]`
- `resolution`: `[resolution]`, `[gate]`, `[permissions]`
- `settings`: `[settings.NAME]`, `[toggles.NAME]`
- `catalog`: `[catalog]`, `[budget]`
- `commands`: `[commands]`, `[tool]`, `[requests]`
- `body`: `[arguments]`, `[embedded]`, `[resources]`, `[conditions]`, `[compaction]`
- `profile`: `Profile`, which has them all, and `[provenance]`

The class for a table `[x]` ends in `Rules`; the class for one entry of `[x.NAME]` ends in `Rule`.
`ScanLimits` and `Provenance` are plain values, so they don't.

The docstring of each class describes its keys as a list. `make docs` builds the reference from it.
"""

# In this folder annotations are real types, not strings: msgspec evaluates them on every start, and
# compiling strings would cost more than everything else it does to load a profile.

from typing import Literal

import msgspec

Boundary = Literal["repository", "home", "filesystem", "folder"]


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a profile file. Unknown keys are rejected."""
