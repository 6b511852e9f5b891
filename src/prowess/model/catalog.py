"""The catalog: what the model sees of the skills, and how each skill is shown in it."""

from __future__ import annotations

from collections import Counter
from enum import Enum

import msgspec

from prowess.diagnostics import Diagnostic


class CatalogItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A skill on its way into the catalog: what a model may see, and what speaks for showing more.

    `order` is the index of its root in the host's scan, `root` the root's folder, `group` its group
    and `scope` whose it is; `label` is a second name that the host shows next to the first. `uses`
    counts activations, `relevance` is a ranker's score for the current request, None without a
    ranker. Only a skill whose header says `always: true` has a `body`.
    `left_out` says why the host never lists a skill that is ready.
    """

    name: str
    description: str = ""
    when_to_use: str = ""
    argument_hint: str = ""
    location: str = ""
    source: str = ""
    label: str = ""
    group: str = ""
    root: str = ""
    scope: str = ""
    order: int = 0
    bundled: bool = False
    uses: int = 0
    relevance: float | None = None
    name_only: bool = False
    always: bool = False
    body: str | None = None
    left_out: str | None = None


class Shown(str, Enum):
    """How much of a skill the model sees, least first; an injected one with its whole body."""

    LEFT_OUT = "left-out"
    NAME_ONLY = "name-only"
    SHORTENED = "shortened"
    WHOLE = "whole"
    INJECTED = "injected"


SHOWN_ORDER: dict[Shown, int] = {shown: rank for rank, shown in enumerate(Shown)}


class CatalogLine(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """How one skill is shown: how much of it, which text beside its name, and why not more."""

    name: str
    shown: Shown
    text: str = ""
    why: str | None = None


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """The catalog as the model gets it, with an account of every skill.

    `text` is the section with the skills, `always` the section with injected bodies; either may be
    empty. `characters` and `budget` are counted as the host counts: some count only the lines.
    `budget` is None if there is no limit. `tokens` is an estimate of both sections.
    """

    text: str
    lines: tuple[CatalogLine, ...]
    characters: int
    tokens: int
    budget: int | None = None
    over_budget: bool = False
    always: str = ""
    warnings: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def prompt(self) -> str:
        """Both sections, as they belong in a prompt."""
        return "\n\n".join(filter(None, (self.text, self.always)))

    def counts(self) -> dict[Shown, int]:
        """How many skills are shown in each way, in the order of `Shown`; zeros are left out."""
        counted = Counter(line.shown for line in self.lines)
        return {shown: counted[shown] for shown in Shown if counted[shown]}
