"""The whole stage: everything that keeps a skill from being offered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prowess.gate.eligibility import find_ineligible, find_other_spelling
from prowess.gate.visibility import find_dormant, find_hidden, find_unlisted
from prowess.model.facts import Facts
from prowess.model.outcome import Note
from prowess.model.permission import Action, Rule
from prowess.model.settings import Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema.resolution import GateRules, PermissionRules

if TYPE_CHECKING:
    from prowess.gate.permissions import AgentRules

# Every manifest without requirements shares this value, which the default of the field is.
_NO_REQUIREMENTS = Manifest().requires


class SkillGate:
    """Everything that can keep the skills of one scan from being offered."""

    def __init__(
        self,
        rules: GateRules,
        *,
        facts: Facts,
        settings: Settings,
        permissions: AgentRules | None = None,
    ) -> None:
        self._rules = rules
        self._facts = facts
        self._settings = settings
        self._permissions = permissions
        # These can keep any skill back, even one that declares nothing.
        has_settings = settings.agent_skills is not None or bool(settings.overrides)
        self._asks_all = has_settings or permissions is not None
        # The last manifest without conditions: skills that declare the same share one.
        self._unconditional: Manifest | None = None

    def find_notes(
        self, manifest: Manifest, name: str, *, hidden_because: str | None = None
    ) -> list[Note]:
        """What a skill is missing, what denies it, what it waits for, what hides it."""
        # Most skills declare nothing that matters here, and a scan asks for every one of them.
        if hidden_because is None and manifest is self._unconditional:
            return []
        if not self._asks_all and hidden_because is None and not _has_conditions(manifest):
            self._unconditional = manifest
            return []
        rules, facts, settings = self._rules, self._facts, self._settings
        notes = (
            find_ineligible(manifest, name=name, rules=rules, facts=facts, settings=settings),
            find_other_spelling(manifest, rules, facts),
            _find_denied(name, manifest, self._permissions),
            find_dormant(manifest, rules),
            find_unlisted(name, settings),
            find_hidden(
                manifest, name=name, rules=rules, settings=settings, because=hidden_because
            ),
        )
        return [note for note in notes if note is not None]


def _has_conditions(manifest: Manifest) -> bool:
    """Whether a skill declares anything that the gate of some host asks for."""
    if manifest.os or manifest.paths or manifest.globs:
        return True
    if manifest.hide is not None or manifest.disable_model_invocation is not None:
        return True
    return manifest.requires is not _NO_REQUIREMENTS


def find_rules(
    settings: Settings,
    table: PermissionRules,
    facts: Facts,
    *,
    agent: str | None = None,
    given: Iterable[Rule] = (),
) -> AgentRules | None:
    """The rules that apply to an agent; None if nothing can be denied."""
    given = tuple(given)
    # Most setups have no rule that denies anything; those need not load the engine for rules.
    if not _may_deny(settings, table, facts, agent=agent, given=given):
        return None
    from prowess.gate.permissions import gather_rules

    rules = gather_rules(settings, table, facts, agent=agent, given=given)
    return rules if rules.can_deny else None


def _may_deny(
    settings: Settings,
    table: PermissionRules,
    facts: Facts,
    *,
    agent: str | None,
    given: tuple[Rule, ...],
) -> bool:
    """Whether any place has rules at all; what they say is not read here."""
    has_rules = settings.permissions or given or agent in table.agents
    if has_rules:
        return True
    has_rules_in_environment = table.switch and facts.env.get(table.switch)
    if has_rules_in_environment:
        return True
    return table.default is Action.DENY or Action.DENY in table.base.values()


def _find_denied(name: str, manifest: Manifest, permissions: AgentRules | None) -> Note | None:
    if permissions is None:
        return None
    from prowess.gate.permissions import find_denied

    return find_denied(name, manifest, permissions)
