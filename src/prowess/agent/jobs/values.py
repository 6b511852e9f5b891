"""What a job is asked to do, how it ended, and how it looks from outside."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from prowess.agent.events import Event, Status
from prowess.machine.append_file import unique_hex
from prowess.model.activation import SkillRequests
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest, Rule
from prowess.project.opened_with import OpenedWith

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

# With DBOS's own choice, a hash of the sources, every upgrade would strand what is under way.
VERSION = "1"
"""The version of the order of steps in our workflows, not of the program."""

TURN = "prowess.turn"
"""The workflow of a job that is one turn of an agent."""


PROGRESS = "progress"
"""The stream of a job's events, one JSON text each."""


class AttachedImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image that the user attached to a task."""

    name: str
    media_type: str
    data: bytes


class SubagentSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What makes a turn that of a sub-agent, besides its task.

    `definition` names the kind of agent. `requests` is what its skill asks for and may have, and
    `disallowed` what its parent may not use, so that it may not either. Hooks are not here: they
    run commands, and so they are read from the skills that have them. `hooks` are those that apply
    to the parent, `own_hooks` those of the sub-agent's skill, each with the digest that they must
    have.
    """

    name: str
    definition: str
    requests: SkillRequests = SkillRequests()
    disallowed: tuple[Rule, ...] = ()
    hooks: Mapping[str, str] = msgspec.field(default_factory=dict)
    own_hooks: Mapping[str, str] = msgspec.field(default_factory=dict)
    blocks: tuple[Mapping[str, Any], ...] = ()
    images: tuple[AttachedImage, ...] = ()


class TurnSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One turn of an agent: what it is told, where, with which model and by which rules.

    `allow`, `ask` and `deny` are rules as the command line takes them, and `rules` others that were
    given. `agent` is the name that lines of a script have, where the model is one. `opened_with` is
    how the skills were opened. What needs an approval waits for one, unless `asks` is False. With
    `subagent`, a sub-agent of another session works on it.
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
    opened_with: OpenedWith = OpenedWith()
    asks: bool = True
    subagent: SubagentSpec | None = None


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

    `choices` are the answers that make sense. `request` is what the rules ask, where it is that.
    """

    id: str
    job: str
    title: str
    details: tuple[str, ...] = ()
    choices: tuple[ApprovalChoice, ...] = tuple(ApprovalChoice)
    asked: float = 0.0
    request: ApprovalRequest | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job as `prowess jobs` shows it. Times are seconds since 1970.

    `blocked` says why no worker begins one that is queued.
    """

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
    blocked: str = ""
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


class JobLook(NamedTuple):
    """A job at one moment: new events, what it waits for, and how it ended if it has."""

    events: tuple[Event, ...] = ()
    questions: tuple[Question, ...] = ()
    result: JobResult | None = None


class JobRunner(Protocol):
    """Runs turns as jobs that go on when this process ends. Methods block.

    All raise `ProwessError` where the jobs cannot be reached.
    """

    def start(self, id: str, spec: TurnSpec) -> None:
        """Add a job with an id of `new_job_id`, and see that it is worked on."""
        ...

    def look(self, id: str, *, seen: int) -> JobLook | None:
        """A job without the first `seen` events; None if there is no such job."""
        ...

    def answer(self, question: Question, answer: ApprovalAnswer) -> None:
        """Answer a question, unless somebody has."""
        ...

    def cancel(self, id: str) -> None:
        """Cancel a job, unless it has ended."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


def new_job_id() -> str:
    """An id for a job; ids of later jobs are greater."""
    return f"{time.strftime('%m%d-%H%M%S')}-{unique_hex()}"
