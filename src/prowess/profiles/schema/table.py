"""What every table of a profile file is made of; a module of its own, so that tables need not live
in one file.
"""

# Without postponed annotations, for the reason given in `prowess.profiles.schema.profile`.

import msgspec


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a profile file: every key is known or refused."""
