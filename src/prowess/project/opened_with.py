"""How skills were opened, for another process that opens the same ones."""

from __future__ import annotations

import os

import msgspec

from prowess.project.options import Options


class OpenedWith(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The options that decide which skills there are."""

    add_dirs: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    bare: bool = False
    agent: str | None = None

    @classmethod
    def of(cls, options: Options) -> OpenedWith:
        """Those of given options."""
        return cls(
            add_dirs=tuple(map(os.path.abspath, options.get("add_dirs", ()))),
            plugins=tuple(map(os.path.abspath, options.get("plugins", ()))),
            bare=options.get("bare", False),
            agent=options.get("agent"),
        )
