"""Skills and snapshots made up for tests of activation, without a disk."""

from __future__ import annotations

from typing import Any

from prowess.activate.slash.commands import CommandIndex, build_commands
from prowess.model.outcome import Note, Outcome, State
from prowess.model.settings import Settings
from prowess.model.skill import (
    Candidate,
    Document,
    LoadedFrom,
    Manifest,
    Root,
    Scope,
    Skill,
    Source,
)
from prowess.model.snapshot import Snapshot
from prowess.profiles.load import load_profile
from prowess.profiles.schema.commands import CommandRules


def make_outcome(
    name: str,
    description: str = "d",
    *,
    state: State = State.READY,
    reason: str = "because",
    rule: str | None = None,
    label: str | None = None,
    loaded_from: LoadedFrom = LoadedFrom.SKILLS,
    **fields: Any,
) -> Outcome:
    """A skill that ended in a state; fields are those of its manifest."""
    location = f"/skills/{name}/SKILL.md"
    source = Source("claude", "user", "/skills", loaded_from, "claude:user")
    root = Root(path="/skills", scope=Scope.USER, source=source, order=0)
    skill = Skill(
        name=name,
        description=description,
        location=location,
        folder=f"/skills/{name}",
        scope=Scope.USER,
        source=source,
        declared=Manifest(name=name, description=description, **fields),
        label=label,
        file=location,
        loader=lambda skill, call: Document("Body\n", "sha256:0"),
    )
    notes = [] if state is State.READY else [Note(state, reason, rule=rule)]
    candidate = Candidate(location, f"/skills/{name}", name, root, location)
    return Outcome.conclude(candidate, name, skill, notes, ())


def make_snapshot(*outcomes: Outcome, skill_commands: bool | None = None) -> Snapshot:
    """A snapshot of these skills, in the order of their names."""
    return Snapshot(
        host="prowess",
        edition="current",
        cwd="/p",
        repository=None,
        settings=Settings(skill_commands=skill_commands),
        roots=(),
        outcomes=tuple(
            sorted(outcomes, key=lambda outcome: (outcome.name.casefold(), outcome.name))
        ),
        listed=frozenset(State),
    )


def rules_of(host: str) -> CommandRules:
    """What a host says about commands."""
    return load_profile(host).commands


def commands_of(host: str, *outcomes: Outcome, **options: Any) -> CommandIndex:
    """The commands that a host makes of these skills."""
    return build_commands(make_snapshot(*outcomes), rules_of(host), **options)
