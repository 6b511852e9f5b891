"""What skills cost in tokens: in every request, when used, and if all were loaded up front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from prowess.errors import MachineError, MissingExtra
from prowess.model.catalog import Catalog, CatalogItem, CatalogLine, Shown
from prowess.model.outcome import Outcome
from prowess.ports import Reporter
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
from prowess.reports.json_output import shape_scan
from prowess.runtime import Skills
from prowess.text.display import count_words


class Method(msgspec.Struct, frozen=True):
    """How tokens are counted, and a sentence on how accurate that is."""

    counter: TokenCounter
    says: str


class SkillCost(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one skill.

    `listed` is its part of the catalog, which every request carries; `described` what that would be
    in full. `body` is its own text, None where its file could not be read.
    """

    name: str
    location: str
    shown: Shown
    listed: int
    described: int
    body: int | None

    @property
    def added(self) -> int:
        """What using the skill adds; nothing where its text is in every request anyway."""
        if self.shown is Shown.INJECTED or self.body is None:
            return 0
        return self.body

    @property
    def total(self) -> int:
        """What a request carries that uses the skill."""
        return self.listed + self.added


class CostReport(msgspec.Struct, frozen=True, kw_only=True):
    """What every skill costs, the most expensive first.

    `catalog` is the whole catalog, which every request carries. `window` is the context window,
    `reads` how many skills a conversation is assumed to use.
    """

    host: str
    edition: str
    cwd: str
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
        if not sizes:
            return 0
        return round(sum(sizes) / len(sizes))

    def share(self, tokens: int) -> float:
        """A number of tokens as a share of the window."""
        return tokens / self.window

    def shape(self) -> dict[str, Any]:
        """The costs as JSON."""
        compared = self.comparison
        return {
            **shape_scan(self),
            "method": {"name": self.method.counter.method, "exact": self.method.counter.exact},
            "window": self.window,
            "reads": self.reads,
            "catalog": self.catalog,
            "catalog_share": self.share(self.catalog),
            "bodies": compared.up_front,
            "average_body": self.average,
            "comparison": {
                "up_front": compared.up_front,
                "on_demand": compared.on_demand,
                "saved": compared.saved,
                "saved_share": compared.share,
            },
            "warnings": list(self.warnings),
            "skills": [_shape_cost(cost) for cost in self.skills],
        }


def choose_method(encoding: str | None = None, model: str | None = None) -> Method:
    """How to count: exactly by an encoding, as well as possible for a model, or an estimate."""
    if model is not None:
        return _choose_for_model(model)
    if encoding is None:
        says = "Token counts are estimates, off by 3 % in the median against OpenAI's o200k."
        return Method(ESTIMATE, says)
    # `o200k` is what people say; the encoding is named `o200k_base`.
    full_name = f"{encoding}_base"
    known = full_name if full_name in ENCODINGS else encoding
    says = f"Token counts are exact for OpenAI models that use {known}, and estimates for others."
    return Method(get_counter(known), says)


def _choose_for_model(model: str) -> Method:
    encoding = find_encoding(model)
    if encoding is None:
        says = f"Token counts are estimates: no exact tokenizer is available for {model}."
        return Method(ESTIMATE, says)
    try:
        counter = get_counter(encoding)
    except MissingExtra as error:
        says = f"Token counts are estimates. For exact counts for {model}: {error.hint}"
        return Method(ESTIMATE, says)
    return Method(counter, f"Token counts are exact for {model} (encoding {encoding}).")


def load_costs(
    skills: Skills,
    method: Method,
    *,
    window: int,
    reads: int,
    reporter: Reporter | None = None,
) -> CostReport:
    """Read every body and count its tokens; the reporter is told how many are done."""
    catalog = skills.catalog(context_tokens=window)
    costs = list(_count_skills(skills, catalog, method.counter, reporter))
    costs.sort(key=lambda cost: (-cost.total, cost.name, cost.location))
    whole = method.counter.count(catalog.prompt)
    bodies = [cost.body for cost in costs if cost.body is not None]
    return CostReport(
        host=skills.profile.name,
        edition=skills.profile.edition,
        cwd=skills.cwd,
        method=method,
        window=window,
        reads=reads,
        skills=tuple(costs),
        catalog=whole,
        comparison=compare_loading(bodies, catalog=whole, reads=reads, window=window),
        warnings=catalog.warnings,
    )


def _count_skills(
    skills: Skills, catalog: Catalog, counter: TokenCounter, reporter: Reporter | None
) -> Iterator[SkillCost]:
    for done, (outcome, item, line) in enumerate(pair_lines(skills, catalog)):
        if reporter is not None:
            reporter.progress("counting tokens", done)
        body = _count_body(outcome, counter)
        yield SkillCost(
            name=item.name,
            location=item.location,
            shown=line.shown,
            listed=_count_listed(item, line, body, counter),
            described=count_item(item, counter),
            body=body,
        )


def _count_body(outcome: Outcome, counter: TokenCounter) -> int | None:
    if outcome.skill is None:
        return None
    try:
        return counter.count(outcome.skill.content)
    except (MachineError, OSError):
        # A file that is gone since the scan must not stop the count of the others.
        return None


def _count_listed(
    item: CatalogItem, line: CatalogLine, body: int | None, counter: TokenCounter
) -> int:
    if line.shown is Shown.LEFT_OUT:
        return 0
    if line.shown is Shown.INJECTED:
        return counter.count(item.name) + (body or 0)
    # The markup around a line is the host's, and is counted with the whole catalog only.
    listed = f"{item.name} {line.text}" if line.text else item.name
    return counter.count(listed)


def sum_costs(costs: Sequence[SkillCost]) -> tuple[int, int]:
    """What several skills cost together: in every request, and when all are used."""
    return sum(cost.listed for cost in costs), sum(cost.added for cost in costs)


def render_share(share: float) -> str:
    """A share of the window in words; more than nothing never looks like nothing."""
    if share >= 2:
        return f"{share:,.0f} times the window"
    percent = abs(share) * 100
    sign = "−" if share < 0 else ""
    # It would be rounded to 0.0.
    if 0 < percent < 0.05:
        return f"less than {sign}0.1 % of the window"
    return f"{sign}{percent:.1f} % of the window"


def list_comparison(report: CostReport) -> list[tuple[str, int]]:
    """The lines of the comparison: what each is, and its tokens."""
    used = min(report.reads, len(report.skills))
    how = "used" if used == 1 else "each used once"
    on_demand = f"the catalog and {count_words(used, 'skill')}, {how}"
    return [
        ("the catalog, in every request", report.catalog),
        (on_demand if used else "the same, no skill used", report.comparison.on_demand),
        ("all skills loaded up front", report.comparison.up_front),
    ]


def render_saving(report: CostReport) -> str:
    """What loading on demand saves, in a sentence; with few or tiny skills it may cost more."""
    saved = report.comparison.saved
    tokens = count_words(abs(saved), "token")
    share = render_share(abs(report.comparison.share))
    if saved >= 0:
        return f"Loading on demand saves {tokens}, {share}."
    return (
        f"With so few and short skills, loading all of them up front would save {tokens}, {share}."
    )


def render_catalog_cost(report: CostReport) -> str:
    """What the catalog costs, in a sentence."""
    skills = count_words(len(report.skills), "skill")
    cost = "costs" if len(report.skills) == 1 else "cost"
    about = "" if report.method.counter.exact else "about "
    tokens = count_words(report.catalog, "token")
    share = render_share(report.share(report.catalog))
    return f"{skills} {cost} {about}{tokens} in every request, {share}."


def _shape_cost(cost: SkillCost) -> dict[str, Any]:
    return {
        "name": cost.name,
        "location": cost.location,
        "shown": cost.shown.value,
        "listed": cost.listed,
        "described": cost.described,
        "body": cost.body,
    }
