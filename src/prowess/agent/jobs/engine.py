"""What the steps of this process share. DBOS is one per process, and so is this."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, ParamSpec, TypeVar

from prowess.agent.jobs.database import JobDatabase
from prowess.agent.jobs.question_table import new_question_id
from prowess.agent.jobs.values import Question
from prowess.model.facts import Facts
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest

T = TypeVar("T")
P = ParamSpec("P")
# How often a job that waits for a person looks for the answer.
_LOOK_SECONDS = 0.5


class Engine(NamedTuple):
    """The database, this machine's facts, and the name of this machine."""

    database: JobDatabase
    facts: Facts
    machine: str

    async def ask(
        self,
        job: str,
        key: str,
        title: str,
        *,
        details: Sequence[str] = (),
        choices: Sequence[ApprovalChoice] = tuple(ApprovalChoice),
        request: ApprovalRequest | None = None,
    ) -> ApprovalAnswer:
        """Ask a person about something, and wait for the answer as long as it takes.

        A step that runs again finds its question, and an answer that was given meanwhile.
        """
        question = Question(
            id=new_question_id(),
            job=job,
            title=title,
            details=tuple(details),
            choices=tuple(choices),
            request=request,
        )
        id = await in_thread(lambda: self.database.questions.ask(question, key))
        while (answer := await in_thread(lambda: self.database.questions.take_answer(id))) is None:
            await asyncio.sleep(_LOOK_SECONDS)
        return answer


_running: list[Engine] = []


def start_engine(engine: Engine) -> None:
    """Make an engine that of this process."""
    _running[:] = [engine]


def get_engine() -> Engine:
    """The engine of this process; steps run only where there is one."""
    return _running[0]


async def in_thread(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """The result of blocking work, such as a query."""
    return await asyncio.to_thread(work, *arguments, **options)


class JobApprover:
    """Puts the questions of a session to whoever runs `prowess jobs approve`."""

    def __init__(self, engine: Engine, job: str) -> None:
        self._engine = engine
        self._job = job

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Wait until somebody has answered."""
        title = str(request.metadata.get("title") or "") or (
            f"{request.permission}: {', '.join(request.patterns)}"
        )
        shown = request.metadata.get("details") or request.metadata.get("commands") or ()
        diff = str(request.metadata.get("diff") or "")
        details = [str(one) for one in shown] + diff.splitlines()
        if request.note:
            details.append(request.note)
        choices = [one for one in ApprovalChoice if one is not ApprovalChoice.ALWAYS]
        if request.always:
            choices = list(ApprovalChoice)
        return await self._engine.ask(
            self._job, request.key, title, details=details, choices=choices, request=request
        )
