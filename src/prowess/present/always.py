"""`always: true`: bodies that every request carries whole, in a section of their own with a budget
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.catalog import CatalogItem
from prowess.present.budget import MEASURES
from prowess.present.formats import escape_body
from prowess.present.tokens import estimate_tokens
from prowess.profiles.schema.catalog import BudgetRules
from prowess.text.markup import escape_xml, tidy_line

MOST_TOKENS = 500

_HEAD = (
    "These skills hold for every request. Follow them; they need not be read"
    " again.\n<always_skills>\n"
)
_TAIL = "\n</always_skills>"


class Injection(msgspec.Struct, frozen=True):
    """The section, the places of the skills that are in it, and findings about those that are not
    or are long.
    """

    text: str = ""
    places: frozenset[int] = frozenset()
    diagnostics: tuple[Diagnostic, ...] = ()


def inject_always(items: Sequence[CatalogItem], rules: BudgetRules) -> Injection:
    """Put the bodies of skills that ask for it into a section, the smallest first while there is
    room.

    A skill that does not fit stays an ordinary one. Those that fit stand in the order of the items.
    """
    blocks = {
        place: _render_body(item, item.body)
        for place, item in enumerate(items)
        if item.always and item.body
    }
    measure = MEASURES[rules.units]
    left = rules.always_characters - measure(_HEAD) - measure(_TAIL) + 1
    kept, found = set(), []
    for place in sorted(blocks, key=lambda place: (measure(blocks[place]), place)):
        left -= measure(blocks[place]) + 1
        if left >= 0 or not rules.always_characters:
            kept.add(place)
        else:
            found.append(_diagnose_room(items[place], rules))
    found += [finding for place in blocks if (finding := find_long_body(items[place])) is not None]
    text = (
        _HEAD + "\n".join(block for place, block in blocks.items() if place in kept) + _TAIL
        if kept
        else ""
    )
    return Injection(text, frozenset(kept), tuple(found))


def _render_body(item: CatalogItem, body: str) -> str:
    name, location = (escape_xml(tidy_line(text)) for text in (item.name, item.location))
    return (
        f'<skill_content name="{name}"'
        f' location="{location}">\n{escape_body(body.strip())}\n</skill_content>'
    )


def find_long_body(item: CatalogItem) -> Diagnostic | None:
    """A finding where every request would pay for a long body; None where the body is short or not
    injected.
    """
    if not item.always or not item.body or (tokens := estimate_tokens(item.body)) <= MOST_TOKENS:
        return None
    message = (
        f"`always: true` adds about {tokens:,} tokens to every request; at most {MOST_TOKENS} are"
        " advised"
    )
    return diagnose("always-long", message, file=item.location or None, field="always")


def _diagnose_room(item: CatalogItem, rules: BudgetRules) -> Diagnostic:
    message = (
        f"the body of “{item.name}” does not fit into the {rules.always_characters:,} characters"
        " that there are for skills with `always: true`; it is listed like any other"
    )
    return diagnose("always-too-large", message, file=item.location or None, field="always")
