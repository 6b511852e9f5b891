"""The whole stage for one skill: everything that keeps it from being offered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prowess.gate.eligibility import find_ineligible
from prowess.gate.visibility import find_dormant, find_hidden
from prowess.model.facts import Facts
from prowess.model.outcome import Note
from prowess.model.permission import Action, Rule
from prowess.model.settings import Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import GateRules, PermissionRules

if TYPE_CHECKING:
    from prowess.gate.permissions import Rules


def gate_skill(
    manifest: Manifest,
    *,
    name: str,
    rules: GateRules,
    facts: Facts,
    settings: Settings,
    hidden_because: str | None,
    permissions: Rules | None = None,
) -> list[Note]:
    """The notes of a skill: what it misses on this machine, what denies it, what it waits for, why
    it is hidden.
    """
    found = (
        find_ineligible(manifest, name=name, rules=rules, facts=facts, settings=settings),
        _find_denied(name, manifest, permissions) if permissions is not None else None,
        find_dormant(manifest, rules),
        find_hidden(manifest, name=name, rules=rules, settings=settings, because=hidden_because),
    )
    return [note for note in found if note is not None]


def find_rules(
    settings: Settings,
    table: PermissionRules,
    facts: Facts,
    *,
    agent: str | None = None,
    given: Iterable[Rule] = (),
) -> Rules | None:
    """The rules that hold for an agent; None where nothing can be denied, which is so for most and
    costs nothing.
    """
    given = tuple(given)
    spoken = (
        settings.permissions
        or given
        or (table.switch and facts.env.get(table.switch))
        or agent in table.agents
    )
    if not spoken and table.default is not Action.DENY and Action.DENY not in table.base.values():
        return None
    from prowess.gate.permissions import gather_rules

    rules = gather_rules(settings, table, facts, agent=agent, given=given)
    return rules if rules.can_deny else None


def _find_denied(name: str, manifest: Manifest, permissions: Rules) -> Note | None:
    from prowess.gate.permissions import find_denied

    return find_denied(name, manifest, permissions)
