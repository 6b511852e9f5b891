"""What a job is asked to do, how it ended, and how it looks from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from prowess.agent.events import Status
from prowess.model.permission import ApprovalChoice, Rule

State = Literal[
    "queued",
    "running",
    "waiting",
    "done",
    "refused",
    "failed",
    "budget",
    "interrupted",
    "cancelled",
]
FINISHED: frozenset[str] = frozenset(
    ("done", "refused", "failed", "budget", "interrupted", "cancelled")
)

LEASE_SECONDS = 20.0
"""How long a worker may be silent before others take over its jobs."""

TURN = "prowess.turn"
"""The workflow of a job that is one turn of an agent."""


PROGRESS = "progress"
"""The stream of a job's events, one JSON text each."""


class TurnSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn of an agent: what it is told, where, with which model and by which rules.

    `allow`, `ask` and `deny` are rules as the command line takes them, and `rules` others that were
    given. `agent` is the name that lines of a script have, where the model is one.
    """

    text: str
    cwd: str
    host: str = "prowess"
    model: str | None = None
    agent: str = ""
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    read_only: bool = False
    max_turns: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None


class Schedule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn that begins again and again, at the times of a cron expression in a time zone.

    `next` is when it is due, in seconds since 1970, `last_job` what it has started last, and `note`
    what is to be said of that, such as times that were missed.
    """

    name: str
    cron: str
    zone: str
    queue: str
    spec: TurnSpec
    next: float
    is_paused: bool = False
    last_job: str = ""
    note: str = ""


class JobResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a job ended. `session` is the file of its conversation, on the machine that ran it."""

    status: Status
    answer: str = ""
    reason: str = ""
    session: str = ""
    data: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a job waits for a person to decide. `details` are shown below the title.

    `choices` are the answers that make sense.
    """

    id: str
    job: str
    title: str
    details: tuple[str, ...] = ()
    choices: tuple[ApprovalChoice, ...] = tuple(ApprovalChoice)
    asked: float = 0.0


class Job(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job as `prowess jobs` shows it. Times are seconds since 1970."""

    id: str
    kind: str
    title: str
    state: State
    queue: str
    cwd: str = ""
    worker: str = ""
    parent: str = ""
    created: float = 0.0
    updated: float = 0.0
    attempts: int = 0
    reason: str = ""
    note: str = ""
    answer: str = ""
    session: str = ""
    questions: tuple[Question, ...] = ()


class WorkerInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A worker that said it is alive `silent` seconds ago."""

    id: str
    machine: str
    pid: int
    silent: float
    is_dead: bool
