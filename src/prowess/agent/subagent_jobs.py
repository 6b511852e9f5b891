"""Sub-agents of a session that work as jobs: what such a job is given, and waiting for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
from pydantic_ai.messages import BinaryContent

from prowess.agent.attachments import Attached
from prowess.agent.background import render_report
from prowess.agent.definitions import AgentDefinition
from prowess.agent.events import (
    Event,
    RequestFinished,
    SessionStarted,
    TurnEnded,
    TurnStarted,
    Warned,
)
from prowess.agent.hooks.skill_hooks import digest_hooks, restore_hooks
from prowess.agent.jobs.values import (
    AttachedImage,
    JobLook,
    JobRunner,
    Question,
    SubagentSpec,
    TurnSpec,
    new_job_id,
)
from prowess.agent.models import ModelSource, anchor_script
from prowess.agent.transcript import Transcript
from prowess.agent.turn import LoopResult, Spending
from prowess.agent.worker import Worker
from prowess.conversation.async_calls import ask_approver
from prowess.errors import MachineError, ProwessError
from prowess.machine.event_loop import run_in_thread
from prowess.model.activation import SkillRequests
from prowess.model.permission import UNANSWERED, ApprovalRequest
from prowess.ports import Approver
from prowess.runtime import Skills

_LOOK_SECONDS = 0.25
# The session and the turn of the job are not those of whoever follows it.
_NOT_PASSED_ON = (SessionStarted, TurnStarted, TurnEnded)
_UNREACHABLE = JobLook()


Block = Mapping[str, Any]


class Assignment(NamedTuple):
    """What a sub-agent is given: a name, a task, its kind, and what its skill asks for.

    `blocks` are the images and files of the skill, `attached` is what the user attached.
    """

    name: str
    prompt: str
    definition: AgentDefinition
    requests: SkillRequests
    blocks: tuple[Block, ...] = ()
    attached: Attached = Attached()


class SubagentJobs:
    """The sub-agents of a session's main agent that work as jobs.

    `is_ended` says whether the user or a limit ended the turn: then its jobs end, too. They go on
    if the program ends in any other way.
    """

    def __init__(
        self,
        runner: JobRunner,
        skills: Skills,
        models: ModelSource,
        approver: Approver | None,
        transcript: Transcript,
        *,
        read_only: bool,
        emit: Callable[[Event], None],
        is_ended: Callable[[], bool],
        note_refusal: Callable[[str], None],
    ) -> None:
        self._runner = runner
        self._skills = skills
        self._models = models
        self._approver = approver
        self._transcript = transcript
        self._read_only = read_only
        self._emit = emit
        self._is_ended = is_ended
        self._note_refusal = note_refusal
        self._starting: set[str] = set()

    def find_spec(
        self, assignment: Assignment, parent: Worker, spending: Spending
    ) -> TurnSpec | None:
        """The job of a sub-agent; None if what it needs exists only in this process."""
        model = self._models.reusable_name
        hooks, own_hooks = parent.context.hooks.digests, _list_own_hooks(assignment)
        opened_with = self._skills.project.opened_with
        if parent.depth > 0 or model is None or opened_with is None:
            return None
        if not self._can_restore({**hooks, **own_hooks}, parent):
            return None
        left = spending.left
        return TurnSpec(
            text=assignment.attached.add_to(assignment.prompt),
            cwd=self._skills.cwd,
            host=self._skills.host,
            model=anchor_script(model, self._skills.cwd),
            agent=assignment.name,
            rules=self._skills.project.given_rules,
            read_only=self._read_only,
            max_turns=left.turns,
            max_cost=left.cost,
            max_seconds=left.seconds,
            opened_with=opened_with,
            asks=self._approver is not None,
            subagent=SubagentSpec(
                name=assignment.name,
                definition=assignment.definition.name,
                requests=msgspec.structs.replace(assignment.requests, hooks={}),
                disallowed=parent.context.turn.granted.disallowed,
                hooks=hooks,
                own_hooks=own_hooks,
                blocks=assignment.blocks,
                images=_list_images(assignment.attached),
            ),
        )

    def _can_restore(self, digests: Mapping[str, str], parent: Worker) -> bool:
        """Whether the worker will find hooks as they are here; a job without them is less safe."""
        restored = restore_hooks(digests, parent.context.conversation, self._skills)
        return not restored.warnings

    async def start(self, name: str, spec: TurnSpec) -> str:
        """Add a job; its id. From then on nothing that ends this process ends the job.

        Raises `ProwessError`, and then there is no job.
        """
        id = new_job_id()
        # Written down first: a job that nobody knows of would never report.
        self._transcript.note_job(id, name)
        self._starting.add(id)
        adding = asyncio.create_task(self._add(id, spec))
        try:
            await asyncio.shield(adding)
        except ProwessError:
            self._transcript.note_reported(id)
            raise
        except asyncio.CancelledError:
            # A job can be cancelled only once it is there.
            await asyncio.wait([adding])
            await self._stop(id, name)
            raise
        finally:
            self._starting.discard(id)
        if self._is_ended():
            # Perhaps nobody follows it: what is typed is started beside the turn.
            await self._stop(id, name)
        return id

    async def _add(self, id: str, spec: TurnSpec) -> None:
        await run_in_thread(lambda is_cancelled: self._runner.start(id, spec))

    async def run(
        self, name: str, spec: TurnSpec, spending: Spending, keep: Callable[[LoopResult], None]
    ) -> LoopResult:
        """The end of a sub-agent that the user waits for; `keep` gets it first."""
        id = await self.start(name, spec)
        result = await self.follow(id, name, spending)
        if result is None:
            return LoopResult(status="interrupted", reason=f"it is still running as job {id}")
        keep(result)
        # Last, so that a kill loses no answer.
        self._transcript.note_reported(id)
        return result

    async def collect(self, parent: Worker, spending: Spending) -> list[str]:
        """The reports of jobs that have ended since the last turn; the others are followed."""
        reports = []
        # One that was typed while the last turn ended may not be there yet.
        waiting = [one for one in self._transcript.jobs.items() if one[0] not in self._starting]
        looks = [(id, name, await self._look(id, name, seen=0)) for id, name in waiting]
        for id, name, look in looks:
            if look is _UNREACHABLE:
                continue
            if look is not None and look.result is None:
                wait = partial(self.follow, id, name, spending, seen=len(look.events))
                parent.tasks.follow(id, name, wait)
                continue
            reports.append(render_report(id, name, _find_result(look)))
        return reports

    async def follow(
        self, id: str, name: str, spending: Spending, *, seen: int = 0
    ) -> LoopResult | None:
        """Wait until a job has ended, and pass on what happens in it and what it asks.

        Returns how it ended; None if it goes on and nobody waits for it any more.
        """
        questions = _Questions(self._runner, self._approver)
        try:
            while True:
                look = await self._look(id, name, seen=seen)
                if look is _UNREACHABLE:
                    return None
                if look is None or look.result is not None:
                    return self._finish(look, spending)
                seen += len(look.events)
                self._pass_on(look.events, spending)
                if spending.is_exhausted:
                    return await self._end(id, name, spending, seen=seen)
                if not questions.ask(look.questions):
                    # The question stays open, and a turn without an approver would wait forever.
                    self._warn_waiting(id, name)
                    return None
                await asyncio.sleep(_LOOK_SECONDS)
        except asyncio.CancelledError:
            return await self._end(id, name, spending, seen=seen)
        finally:
            questions.take_back()

    def _finish(self, look: JobLook | None, spending: Spending) -> LoopResult:
        if look is not None:
            self._pass_on(look.events, spending)
        result = _find_result(look)
        if look is not None and look.result is not None and look.result.status == "refused":
            # As for every agent of the turn, the refusal is the turn's and the answer counts.
            self._note_refusal(look.result.reason)
        return result

    def _pass_on(self, events: Iterable[Event], spending: Spending) -> None:
        for event in events:
            if isinstance(event, RequestFinished):
                spending.add_finished(event)
            if not isinstance(event, _NOT_PASSED_ON):
                self._emit(event)

    async def _look(self, id: str, name: str, *, seen: int) -> JobLook | None:
        try:
            return await run_in_thread(lambda is_cancelled: self._runner.look(id, seen=seen))
        except MachineError as error:
            self._warn_unreachable(id, name, error)
            return _UNREACHABLE

    async def _end(self, id: str, name: str, spending: Spending, *, seen: int) -> LoopResult | None:
        """Stop a job that was followed; how it ended, or None if that is not known.

        It may end by itself in that very moment, so the database says how it ended.
        """
        if not await self._stop(id, name):
            return None
        look = await self._look(id, name, seen=seen)
        if look is not None and look.result is None:
            # Unreachable, or retried by somebody else: a later turn looks for its report.
            return None
        return self._finish(look, spending)

    async def _stop(self, id: str, name: str) -> bool:
        """End a job with its turn; False if it goes on without this session."""
        if not self._is_ended():
            message = (
                f"The background task “{name}” is still running; see `prowess jobs show {id}`."
            )
            self._emit(Warned(code="task-goes-on", message=message))
            return False
        try:
            await run_in_thread(lambda is_cancelled: self._runner.cancel(id))
        except MachineError as error:
            self._warn_unreachable(id, name, error)
            return False
        return True

    def _warn_waiting(self, id: str, name: str) -> None:
        """Say that a job waits for an approval that nobody here can give."""
        command = f"prowess jobs approve {id}"
        message = f"The background task “{name}” is waiting for approval; run `{command}`."
        self._emit(Warned(code="task-waits", message=message))
        self._note_refusal(message)

    def _warn_unreachable(self, id: str, name: str, error: MachineError) -> None:
        message = (
            f"The background task “{name}” cannot be followed: {str(error).rstrip('.')}."
            f" Its report comes later; see `prowess jobs show {id}`."
        )
        self._emit(Warned(code="task-not-followed", message=message))


class _Questions:
    """The questions of one job, put to the person at this session while they are open."""

    def __init__(self, runner: JobRunner, approver: Approver | None) -> None:
        self._runner = runner
        self._approver = approver
        self._asked: dict[str, asyncio.Task[None]] = {}

    def ask(self, questions: Sequence[Question]) -> bool:
        """Ask those that are new; False if there are any and nobody is here to ask.

        What was answered elsewhere is no longer asked.
        """
        if self._approver is None:
            return not questions
        open_ids = {question.id for question in questions}
        for id, asking in self._asked.items():
            if id not in open_ids:
                asking.cancel()
        for question in questions:
            if question.id not in self._asked:
                work = self._ask(question, self._approver)
                self._asked[question.id] = asyncio.create_task(work)
        return True

    def take_back(self) -> None:
        """Ask no more; the job waits for an answer from elsewhere."""
        for asking in self._asked.values():
            asking.cancel()

    async def _ask(self, question: Question, approver: Approver) -> None:
        answer = await ask_approver(approver, question.request or _make_request(question))
        if answer is UNANSWERED:
            # The terminal is gone, which decides nothing: the job waits for another one.
            return
        await run_in_thread(lambda is_cancelled: self._runner.answer(question, answer))


def _make_request(question: Question) -> ApprovalRequest:
    return ApprovalRequest(
        permission="task",
        patterns=(question.title,),
        always=(),
        metadata={"title": question.title, "details": list(question.details)},
    )


def _find_result(look: JobLook | None) -> LoopResult:
    """How a job ended, for the agent that started it."""
    if look is None or look.result is None:
        return LoopResult(status="failed", reason="its job was never started, or is gone")
    ended = look.result
    status = "done" if ended.status == "refused" and ended.answer else ended.status
    return LoopResult(status=status, answer=ended.answer, reason=ended.reason)


def _list_own_hooks(assignment: Assignment) -> dict[str, str]:
    """The hooks of the skill that a sub-agent follows."""
    requests = assignment.requests
    return {assignment.name: digest_hooks(requests)} if requests.hooks else {}


def list_lost_reports(jobs: Mapping[str, str]) -> list[Warned]:
    """What to say about jobs if the session runs without jobs this time, or was cleared."""
    said = "The report of background task “{}” cannot arrive here; see `prowess jobs show {}`."
    return [
        Warned(code="task-not-followed", message=said.format(name, id)) for id, name in jobs.items()
    ]


def restore_images(images: Iterable[AttachedImage]) -> Attached:
    """What the user attached to the task of a job; texts are part of the task."""
    return Attached(
        images=tuple(
            (one.name, BinaryContent(one.data, media_type=one.media_type)) for one in images
        )
    )


def _list_images(attached: Attached) -> tuple[AttachedImage, ...]:
    return tuple(
        AttachedImage(name=shown, media_type=image.media_type, data=image.data)
        for shown, image in attached.images
    )
