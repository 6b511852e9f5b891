"""`always: true`: bodies that every request has in full, in a section with a budget of its own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.catalog import CatalogItem
from prowess.present.budget import MEASURES
from prowess.present.tokens import estimate_tokens
from prowess.profiles.schema.catalog import BudgetRules
from prowess.text.markup import escape_tags, escape_xml, tidy_block, tidy_line

MOST_TOKENS = 500

_HEAD = """\
These skills apply to every request. Follow them; there is no need to read them again.
<always_skills>
"""
_TAIL = "\n</always_skills>"


class Injection(msgspec.Struct, frozen=True):
    """The section, the indexes of the skills in it, and findings about long or left-out ones."""

    text: str = ""
    indexes: frozenset[int] = frozenset()
    diagnostics: tuple[Diagnostic, ...] = ()


def inject_always(items: Sequence[CatalogItem], rules: BudgetRules) -> Injection:
    """Put the bodies of skills that ask for it into a section, the smallest first while they fit.

    A skill that does not fit stays an ordinary one. Those that fit keep the order of the items.
    """
    blocks: dict[int, str] = {}
    for index, item in enumerate(items):
        if item.always and item.body:
            blocks[index] = _render_body(item, item.body)
    kept = _find_fitting(blocks, rules)
    findings = [_diagnose_room(items[index], rules) for index in blocks if index not in kept]
    for index in blocks:
        finding = find_long_body(items[index])
        if finding is not None:
            findings.append(finding)
    text = ""
    if kept:
        text = _HEAD + "\n".join(blocks[index] for index in sorted(kept)) + _TAIL
    return Injection(text, kept, tuple(findings))


def _find_fitting(blocks: dict[int, str], rules: BudgetRules) -> frozenset[int]:
    if not rules.always_characters:
        return frozenset(blocks)
    measure = MEASURES[rules.units]
    # Every block is counted with a line break, and the last one has none.
    left = rules.always_characters - measure(_HEAD) - measure(_TAIL) + 1
    kept = set()
    # Smallest first, so that one large body does not keep many small ones out.
    for index in sorted(blocks, key=lambda index: (measure(blocks[index]), index)):
        left -= measure(blocks[index]) + 1
        if left < 0:
            break
        kept.add(index)
    return frozenset(kept)


def _render_body(item: CatalogItem, body: str) -> str:
    name = escape_xml(tidy_line(item.name))
    location = escape_xml(tidy_line(item.location))
    text = escape_body(body.strip())
    return f'<skill_content name="{name}" location="{location}">\n{text}\n</skill_content>'


def escape_body(body: str) -> str:
    """A body that cannot close the tag around it; its code stays, which entities would spoil."""
    return escape_tags(tidy_block(body), "always_skills", "skill_content")


def find_long_body(item: CatalogItem) -> Diagnostic | None:
    """A finding if every request would pay for a long body; None if it is short or not injected."""
    if not item.always or not item.body:
        return None
    tokens = estimate_tokens(item.body)
    if tokens <= MOST_TOKENS:
        return None
    message = (
        f"`always: true` adds about {tokens:,} tokens to every request; {MOST_TOKENS} or fewer are"
        " recommended"
    )
    return diagnose("always-long", message, file=item.location or None, field="always")


def _diagnose_room(item: CatalogItem, rules: BudgetRules) -> Diagnostic:
    message = (
        f"the body of “{item.name}” does not fit in the {rules.always_characters:,} characters for"
        " skills with `always: true`, so it is listed like any other skill"
    )
    return diagnose("always-too-large", message, file=item.location or None, field="always")
