"""The shape of a profile, a module per table or group of related tables.

`roots` has `[roots.NAME]`, `[limits]` and `[context]`; `header` has `[header]` and `[fields]`;
`resolution` has `[resolution]`, `[gate]` and `[permissions]`; `catalog` has `[catalog]` and
`[budget]`; `commands` has `[commands]`, `[tool]` and `[requests]`; `body` has `[arguments]`,
`[embedded]`, `[resources]`, `[conditions]` and `[compaction]`; `settings` has `[settings.NAME]` and
`[toggles.NAME]`; `profile` puts them together.

The class of a table `[x]` ends in `Rules`, that of one entry of `[x.NAME]` in `Rule`. Only `Limits`
and `Provenance`, which rule nothing, are named as they are.
"""

# In this folder annotations are real types and not text: msgspec reads them at every start, and
# parsing text would cost more than everything else it does to load a profile.

from typing import Literal

import msgspec

Boundary = Literal["repository", "home", "filesystem", "folder"]


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a profile file: every key is known or refused."""
