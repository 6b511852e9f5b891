"""What the skills here cost: each in the catalog and when it is used, and all against loading
everything.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.cli.terminal.progress import Progress
from prowess.errors import MachineError, MissingExtra, UsageError
from prowess.model.catalog import Catalog, CatalogItem, CatalogLine, Shown
from prowess.model.outcome import Outcome
from prowess.present.tokens import (
    ENCODINGS,
    ESTIMATE,
    LoadingComparison,
    TokenCounter,
    compare_loading,
    count_item,
    find_encoding,
    get_counter,
)
from prowess.reports.catalog_report import pair_lines
from prowess.runtime import Skills
from prowess.text.display import count_words


class Method(msgspec.Struct, frozen=True):
    """How tokens are counted, and a sentence that says how far to trust the numbers."""

    counter: TokenCounter
    says: str


class SkillCost(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one skill.

    `listed` is what every request carries of it, as the catalog shows it now; `described` what it
    would be if all that describes it were shown. `body` is its own text; None where its file could
    not be read.
    """

    name: str
    location: str
    shown: Shown
    listed: int
    described: int
    body: int | None

    @property
    def added(self) -> int:
        """What using the skill adds to a conversation: nothing where its text stands in every
        request anyway.
        """
        return 0 if self.shown is Shown.INJECTED else self.body or 0

    @property
    def total(self) -> int:
        """What a request carries that uses the skill."""
        return self.listed + self.added


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The costs of all skills, the most expensive first, and what they come to.

    `catalog` is the whole of what every request carries; `average` the tokens of a body.
    """

    host: str
    method: Method
    window: int
    reads: int
    skills: tuple[SkillCost, ...]
    catalog: int
    comparison: LoadingComparison
    warnings: tuple[str, ...] = ()

    @property
    def average(self) -> int:
        """The tokens of a body, on average."""
        sizes = [one.body for one in self.skills if one.body is not None]
        return round(sum(sizes) / len(sizes)) if sizes else 0

    def share(self, tokens: int) -> float:
        """A number of tokens as a part of the window."""
        return tokens / self.window


def choose_method(encoding: str | None, model: str | None) -> Method:
    """How to count: exactly by an encoding, as well as can be for a model, or by the estimate."""
    if encoding is not None and model is not None:
        raise UsageError("--encoding and --model both say how to count; give one of them.")
    if model is not None:
        return _choose_for_model(model)
    if encoding is None:
        return Method(
            ESTIMATE, "Token counts are estimates, off by 3 % in the median against OpenAI's o200k."
        )
    known = f"{encoding}_base" if f"{encoding}_base" in ENCODINGS else encoding
    says = (
        f"Token counts are exact for OpenAI's models with the encoding {known}, and estimates for"
        " all others."
    )
    return Method(get_counter(known), says)


def _choose_for_model(model: str) -> Method:
    encoding = find_encoding(model)
    if encoding is None:
        return Method(
            ESTIMATE, f"Token counts are estimates: there is no exact count for {model} here."
        )
    try:
        return Method(
            get_counter(encoding),
            f"Token counts are exact for {model}, by the encoding {encoding}.",
        )
    except MissingExtra as error:
        return Method(
            ESTIMATE, f"Token counts are estimates. {error.hint} They are exact for {model} then."
        )


def load_report(skills: Skills, method: Method, *, window: int, reads: int) -> Report:
    """Read every body and count. Says how far it has come where that takes long."""
    catalog = skills.catalog(context_tokens=window)
    with Progress("counting tokens") as progress:
        costs = _count_skills(skills, catalog, method.counter, progress)
    whole = method.counter.count(catalog.prompt)
    bodies = [cost.body for cost in costs if cost.body is not None]
    return Report(
        host=skills.profile.name if skills.profile.edition == "current" else skills.host,
        method=method,
        window=window,
        reads=reads,
        skills=tuple(sorted(costs, key=lambda cost: (-cost.total, cost.name, cost.location))),
        catalog=whole,
        comparison=compare_loading(bodies, catalog=whole, reads=reads, window=window),
        warnings=catalog.warnings,
    )


def _count_skills(
    skills: Skills, catalog: Catalog, counter: TokenCounter, progress: Progress
) -> list[SkillCost]:
    costs = []
    for done, (outcome, item, line) in enumerate(pair_lines(skills, catalog)):
        progress.progress("counting tokens", done)
        body = _count_body(outcome, counter)
        costs.append(
            SkillCost(
                name=item.name,
                location=item.location,
                shown=line.shown,
                listed=_count_listed(item, line, body, counter),
                described=count_item(item, counter),
                body=body,
            )
        )
    return costs


def _count_body(outcome: Outcome, counter: TokenCounter) -> int | None:
    """The tokens of a body; None for a file that is gone or closed since the scan, which must not
    end the count.
    """
    try:
        return counter.count(outcome.skill.content) if outcome.skill is not None else None
    except (MachineError, OSError):
        return None


def _count_listed(
    item: CatalogItem, line: CatalogLine, body: int | None, counter: TokenCounter
) -> int:
    if line.shown is Shown.LEFT_OUT:
        return 0
    if line.shown is Shown.INJECTED:
        return counter.count(item.name) + (body or 0)
    return counter.count(f"{item.name} {line.text}" if line.text else item.name)


def sum_costs(costs: Sequence[SkillCost]) -> tuple[int, int]:
    """What several skills cost together: in every request, and when all are used."""
    return sum(cost.listed for cost in costs), sum(cost.added for cost in costs)


def render_share(share: float) -> str:
    """A part of the window in words; what is more than nothing never looks like nothing."""
    if share >= 2:
        return f"{share:,.0f} times the window"
    percent = abs(share) * 100
    sign = "−" if share < 0 else ""
    return (
        f"less than {sign}0.1 % of the window"
        if 0 < percent < 0.05
        else f"{sign}{percent:.1f} % of the window"
    )


def list_comparison(report: Report) -> list[tuple[str, int]]:
    """The lines of the comparison: what each is, and its tokens."""
    compared = report.comparison
    used = min(report.reads, len(report.skills))
    how = "used" if used == 1 else "each used once"
    return [
        ("the catalog, in every request", report.catalog),
        (
            (
                f"the catalog and {count_words(used, 'skill')}, {how}"
                if used
                else "the same, no skill used"
            ),
            compared.on_demand,
        ),
        ("all skills loaded up front", compared.up_front),
    ]


def tell_saving(report: Report) -> str:
    """What loading on demand saves, in a sentence; with few or tiny skills it may cost more
    instead.
    """
    compared = report.comparison
    share = render_share(abs(compared.share))
    if compared.saved >= 0:
        return f"Reading on demand saves {count_words(compared.saved, 'token')}, {share}."
    more = count_words(-compared.saved, "token")
    return (
        f"With so few and so short skills, loading all of them up front would save {more}, {share}."
    )
