"""The whole stage for one skill: everything that keeps it from being offered."""

from __future__ import annotations

from prowess.gate.eligibility import find_ineligible
from prowess.gate.visibility import find_dormant, find_hidden
from prowess.model.facts import Facts
from prowess.model.outcome import Note
from prowess.model.settings import Settings
from prowess.model.skill import Manifest
from prowess.profiles.schema import Gate


def gate_skill(
    manifest: Manifest, *, name: str, rules: Gate, facts: Facts, settings: Settings, hidden_because: str | None
) -> list[Note]:
    """The notes of a skill: what it misses on this machine, what it waits for, why the model is not shown it."""
    found = (
        find_ineligible(manifest, name=name, rules=rules, facts=facts, settings=settings),
        find_dormant(manifest, rules),
        find_hidden(manifest, name=name, rules=rules, settings=settings, because=hidden_because),
    )
    return [note for note in found if note is not None]
