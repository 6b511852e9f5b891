"""What a batch and each of its units are asked to do."""

from __future__ import annotations

import msgspec

from prowess.agent.batch.plan import Unit
from prowess.model.permission import Rule

BATCH = "prowess.batch"
UNIT = "prowess.unit"


class BatchSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The whole task, the repository, and the commit that everything begins from.

    `machine` is where the repository is. `rules` are those of the command line, for every agent.
    """

    task: str
    cwd: str
    machine: str
    base: str
    base_branch: str = ""
    host: str = "prowess"
    model: str | None = None
    rules: tuple[Rule, ...] = ()
    pull_requests: str = "one"


class UnitSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One unit of a batch. `findings` are what research found."""

    batch: BatchSpec
    id: str
    number: int
    unit: Unit
    findings: str
    branch: str


def name_branch(id: str, part: str) -> str:
    """A branch of a batch. A branch cannot have the name of a folder of others."""
    return f"batch/{id}/{part}"
