"""The catalog: what the model is shown of the skills, and what became of each skill in it."""

from __future__ import annotations

from enum import Enum

import msgspec

from prowess.diagnostics import Diagnostic


class CatalogItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A skill on its way into the catalog: what a model may be told of it, and what speaks for
    telling more.

    `order` is its root's place in the host's scan and `group` the root's group; `label` a second
    name that the host shows beside the first. `uses` counts activations, `relevance` is a ranker's
    score for the request at hand, None where nobody ranked. `body` is given only for a skill whose
    header says `always: true`.
    """

    name: str
    description: str = ""
    when_to_use: str = ""
    argument_hint: str = ""
    location: str = ""
    source: str = ""
    label: str = ""
    group: str = ""
    order: int = 0
    bundled: bool = False
    uses: int = 0
    relevance: float | None = None
    name_only: bool = False
    always: bool = False
    body: str | None = None


class Shown(str, Enum):
    """How much of a skill the model sees, least first; an injected one stands in the prompt with
    its whole body.
    """

    LEFT_OUT = "left-out"
    NAME_ONLY = "name-only"
    SHORTENED = "shortened"
    WHOLE = "whole"
    INJECTED = "injected"


SHOWN_ORDER: dict[Shown, int] = {shown: place for place, shown in enumerate(Shown)}


class CatalogLine(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What became of one skill: how much is shown, the text that is shown of it (not its name), and
    why not more.
    """

    name: str
    shown: Shown
    text: str = ""
    why: str | None = None


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """The catalog as the model gets it, with an account of every skill.

    `text` is the section with the skills, `always` the section with injected bodies; either may be
    empty. `characters` and `budget` are counted as the host counts: some take the lines alone.
    `budget` is None where there is none. `tokens` is an estimate of both sections.
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
        """Both sections, as they belong into a prompt."""
        return "\n\n".join(section for section in (self.text, self.always) if section)

    def counts(self) -> dict[Shown, int]:
        """How many skills are shown how, in the order of `Shown`; what does not occur is left out."""
        found = [line.shown for line in self.lines]
        return {shown: found.count(shown) for shown in Shown if shown in found}
