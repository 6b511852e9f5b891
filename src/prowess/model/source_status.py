"""How a source of skills is doing: where it is, when it was last asked, and what is wrong."""

from __future__ import annotations

from typing import Literal

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.model.origin import Origin

SourceKind = Literal["folder", "plugin", "package", "remote", "mcp", "bundled", "code", "other"]

SourceState = Literal["ready", "stale", "failed", "off", "untrusted"]
"""`stale` sources gave what they had earlier; `untrusted` ones were not asked."""


class SourceStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One source at the time of a scan.

    - `name`: what people call it, and what commands take.
    - `location`: its URL, its folder, its package or its program.
    - `folder`: the folder that its skills were found in, if they are in one.
    - `fetched_at`: when it was last asked, in seconds since 1970; None if it need not be asked.
    - `skills`: how many skills it has; None to count those in `folder`.
    - `diagnostics`: what is wrong with it.
    - `origin`: the setting that names it.
    """

    name: str
    kind: SourceKind
    location: str
    state: SourceState = "ready"
    folder: str | None = None
    fetched_at: float | None = None
    skills: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    origin: Origin = Origin()
