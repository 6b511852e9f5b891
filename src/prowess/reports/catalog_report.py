"""What a model is shown of the skills, what happened to each, and the words for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from prowess.errors import UsageError
from prowess.model.catalog import Catalog, CatalogItem, CatalogLine, Shown
from prowess.model.outcome import Outcome, State
from prowess.model.snapshot import Snapshot
from prowess.present.catalog import ORDERS
from prowess.present.offer import describe_skill
from prowess.present.tokens import estimate_tokens
from prowess.profiles.load import known_editions, known_hosts, load_profile
from prowess.profiles.schema.profile import Profile
from prowess.reports.json_output import shape_diagnostic, shape_scan
from prowess.reports.phrases import name_host, render_counts
from prowess.runtime import Skills
from prowess.text.display import count_words

SHOWN_WORDS: dict[Shown, str] = {
    Shown.LEFT_OUT: "left out",
    Shown.NAME_ONLY: "name only",
    Shown.SHORTENED: "shortened",
    Shown.WHOLE: "whole",
    Shown.INJECTED: "injected",
}
_NOT_CUT = (Shown.WHOLE, Shown.INJECTED)


class CatalogReport(msgspec.Struct, frozen=True, kw_only=True):
    """The catalog of a scan, and the format it is written in."""

    snapshot: Snapshot
    catalog: Catalog
    format: str

    def shape(self) -> dict[str, Any]:
        """The catalog as JSON: the text, its size, and what happened to each skill."""
        catalog = self.catalog
        return {
            **shape_scan(self.snapshot),
            "format": self.format,
            "text": catalog.text,
            "always": catalog.always,
            "characters": catalog.characters,
            "tokens": catalog.tokens,
            "budget": catalog.budget,
            "over_budget": catalog.over_budget,
            "warnings": list(catalog.warnings),
            "counts": {shown.value: number for shown, number in catalog.counts().items()},
            "lines": [_shape_line(line) for line in catalog.lines],
            "diagnostics": [shape_diagnostic(finding) for finding in catalog.diagnostics],
        }


class Cut(msgspec.Struct, frozen=True):
    """Skills that are not shown whole, all in the same way and for the same reason."""

    shown: Shown
    why: str | None
    names: tuple[str, ...]


def load_catalog(
    skills: Skills,
    *,
    format: str | None = None,
    context_tokens: int | None = None,
    characters: int | None = None,
    can_read_skill_urls: bool = True,
) -> CatalogReport:
    """The catalog as it goes into a prompt, in a format or in the host's own."""
    catalog = skills.catalog(
        context_tokens=context_tokens,
        characters=characters,
        format=format,
        can_read_skill_urls=can_read_skill_urls,
    )
    used = format or skills.profile.catalog.format
    return CatalogReport(snapshot=skills.snapshot, catalog=catalog, format=used)


def load_tool_catalog(skills: Skills, **options: Any) -> CatalogReport:
    """The catalog as it goes into the description of the tool that loads skills.

    Takes the options of `load_catalog`, except for the format, which is the host's.
    """
    report = load_catalog(skills, format=get_tool_format(skills.profile), **options)
    # Injected bodies belong in the prompt, not in the description of a tool.
    tokens = estimate_tokens(report.catalog.text)
    catalog = msgspec.structs.replace(report.catalog, always="", tokens=tokens)
    return msgspec.structs.replace(report, catalog=catalog)


def get_tool_format(profile: Profile) -> str:
    """The format of the list in a tool's description; raises where the host has no such list."""
    if profile.catalog.tool_format:
        return profile.catalog.tool_format
    host = name_host(profile.name, profile.edition)
    # Asked of the profiles, so that the message stays true when a host changes.
    others = " and ".join(_list_tool_hosts())
    raise UsageError(f"{host} does not list skills in its tool description; {others} do.")


def _list_tool_hosts() -> Iterator[str]:
    for host in known_hosts():
        for edition in known_editions(host):
            if load_profile(f"{host}@{edition}").catalog.tool_format:
                yield name_host(host, edition)


def pair_lines(skills: Skills, catalog: Catalog) -> list[tuple[Outcome, CatalogItem, CatalogLine]]:
    """Every ready skill with its line of the catalog, in the order of the catalog.

    They cannot be matched by name: some hosts let several files keep one name.
    """
    if not catalog.lines:
        return []
    rules = skills.profile.catalog
    order = ORDERS[rules.order]
    ready = [
        (outcome, describe_skill(outcome.skill, root=outcome.candidate.root))
        for outcome in skills.snapshot.outcomes
        if outcome.state is State.READY and outcome.skill is not None
    ]
    # Sorted as the catalog sorts them, so that the lines can be paired one by one.
    ready.sort(key=lambda pair: order(pair[1], rules))
    lines = zip(ready, catalog.lines, strict=True)
    return [(outcome, item, line) for (outcome, item), line in lines]


def group_cuts(catalog: Catalog) -> list[Cut]:
    """The skills that are not shown whole, those with the same answer together."""
    groups: dict[tuple[Shown, str | None], list[str]] = {}
    for line in catalog.lines:
        is_cut = line.shown not in _NOT_CUT
        if is_cut:
            groups.setdefault((line.shown, line.why), []).append(line.name)
    return [Cut(shown, why, tuple(names)) for (shown, why), names in groups.items()]


def render_size(catalog: Catalog) -> str:
    """How large a catalog is, in the host's characters and in tokens."""
    of_budget = f" of {catalog.budget:,}" if catalog.budget is not None else ""
    tokens = count_words(catalog.tokens, "token")
    return f"{catalog.characters:,}{of_budget} characters, about {tokens} (an estimate)"


def render_shown_counts(catalog: Catalog) -> str:
    """`3 whole, 2 shortened`: what is shown most of first."""
    counts = catalog.counts()
    return ", ".join(
        f"{counts[shown]:,} {SHOWN_WORDS[shown]}" for shown in reversed(Shown) if shown in counts
    )


def render_empty(snapshot: Snapshot) -> str:
    """A sentence for a catalog without skills: what was found instead."""
    host = name_host(snapshot.host, snapshot.edition)
    sentence = f"The model sees no skills here, by the rules of {host}."
    counts = snapshot.counts()
    if not counts:
        return sentence
    found = count_words(len(snapshot.outcomes), "file")
    return f"{sentence} Found {found}: {render_counts(counts)}."


def render_over_budget(catalog: Catalog) -> str:
    """A sentence for a catalog that does not fit."""
    return (
        f"The catalog is over budget: it has {catalog.characters:,} characters, and"
        f" {catalog.budget or 0:,} are allowed. This host does not shorten it further."
    )


def _shape_line(line: CatalogLine) -> dict[str, Any]:
    return {"name": line.name, "shown": line.shown.value, "why": line.why, "text": line.text}
