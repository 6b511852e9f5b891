"""The job that is one turn of an agent, which goes on where it was after its worker died.

A turn happens in a session with a file of its own. A step that runs again finds that file: a turn
that had ended is not repeated, and calls whose outcome nobody knows are put to a person.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from itertools import takewhile
from typing import Any

import msgspec
from dbos import DBOS, error
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model

from prowess.agent.events import (
    Event,
    MessageDelivered,
    MessageQueued,
    RequestFinished,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    render_event,
)
from prowess.agent.jobs.engine import Engine, JobApprover, get_engine, in_thread
from prowess.agent.jobs.session_table import BegunTurn
from prowess.agent.jobs.values import PROGRESS, TURN, JobResult, SubagentSpec, TurnSpec
from prowess.agent.loop import find_cost
from prowess.agent.models import SCRIPT
from prowess.agent.script import load_script, replay
from prowess.agent.session import Session
from prowess.agent.session_file import (
    CallRecord,
    SavedSession,
    SavedTurn,
    join_messages,
    load_session,
)
from prowess.agent.shipped.commands import register_commands
from prowess.agent.turn import Limits
from prowess.errors import ProwessError, UsageError
from prowess.gate.permissions import parse_given
from prowess.machine.files import LocalFiles
from prowess.model.permission import ApprovalChoice
from prowess.runtime import Skills
from prowess.supply.bundled import BundledSource, find_shipped_places
from prowess.supply.sources import open_sources
from prowess.text.permission_rules import AGENT_TOOLS

# What a follower does not need: answers come whole, and tokens in the end.
_NOT_SHOWN = (ThinkingDelta, RequestFinished, MessageQueued, MessageDelivered)
_GO_ON = "The session was interrupted. Continue the task where you stopped:\n\n"
_SECONDS_TO_END = 10.0
# One session is opened after the other: msgspec crashes the interpreter when two threads learn a
# type at the same time, which happens when jobs start side by side.
_opening = threading.Lock()
# The turns that this process works on.
_active: set[str] = set()
_LOOK_SECONDS = 0.1
_ASK = (ApprovalChoice.ONCE, ApprovalChoice.REJECT)

SettleCalls = Callable[[tuple[CallRecord, ...]], Awaitable[bool]]


@DBOS.workflow(name=TURN)
async def run_turn_job(spec: dict[str, Any]) -> dict[str, Any]:
    """One turn, as a durable workflow."""
    result: dict[str, Any] = await work_on_turn(spec)
    return result


@DBOS.step(name="prowess.turn.work", preemptible=True)
async def work_on_turn(spec: dict[str, Any]) -> dict[str, Any]:
    """The whole turn. It may begin again after a kill, so everything in it is looked up first."""
    job = str(DBOS.workflow_id)
    result = await run_turn(get_engine(), job, msgspec.convert(spec, TurnSpec))
    built: dict[str, Any] = msgspec.to_builtins(result)
    return built


async def run_turn(
    engine: Engine,
    job: str,
    spec: TurnSpec,
    *,
    key: str | None = None,
    settle_calls: SettleCalls | None = None,
) -> JobResult:
    """Run one turn of a job, or go on with it, or find that it has ended. `key` tells turns of one
    job apart.

    `settle_calls` decides about a turn that was cut off among its calls, and gets those of unknown
    outcome: True goes on, False begins anew in a fresh session. By default a person is asked about
    calls of unknown outcome.
    """
    key = key or job
    try:
        async with _alone(key):
            return await _begin_or_go_on(engine, job, key, spec, settle_calls)
    except _Declined as declined:
        return JobResult(status="refused", reason=str(declined))
    except ProwessError as problem:
        hint = f" {problem.hint}" if problem.hint else ""
        return JobResult(status="failed", reason=f"{problem}{hint}".rstrip("."))


async def _begin_or_go_on(
    engine: Engine, job: str, key: str, spec: TurnSpec, settle_calls: SettleCalls | None
) -> JobResult:
    begun = await in_thread(lambda: engine.database.sessions.find(key))
    saved = None if begun is None else await _find_saved(engine, job, key, begun)
    if begun is not None and saved is not None and not begun.is_reopened:
        ended = _recall(saved)
        if ended is not None:
            return ended
    goes_on = True
    if saved is not None and settle_calls is not None:
        if saved.unknown or saved.ends_in_calls:
            goes_on = await settle_calls(saved.unknown)
    elif saved is not None and saved.unknown:
        goes_on = await ask_about_unknown(engine, job, key, saved.unknown)
    if begun is not None and saved is not None and goes_on and not begun.is_reopened:
        spec = _subtract_used(spec, saved)
    return await _work(engine, job, key, spec, saved if goes_on else None)


@contextlib.asynccontextmanager
async def _alone(key: str) -> AsyncIterator[None]:
    """Be the only one that works on a turn here.

    A job can be retried while what was cancelled still ends, and writes down how.
    """
    while key in _active:
        await asyncio.sleep(_LOOK_SECONDS)
    _active.add(key)
    try:
        yield
    finally:
        _active.discard(key)


class _Declined(Exception):
    """A person did not want the turn to go on."""


async def ask_about_unknown(
    engine: Engine, job: str, key: str, calls: tuple[CallRecord, ...]
) -> bool:
    """Ask a person whether a turn goes on: True, or `_Declined` where the answer is no."""
    names = [call.title for call in calls]
    asked = f"{key} unknown {' '.join(call.call for call in calls)}"
    title = "The worker ended while these calls were running. Check what they did. Continue?"
    answer = await engine.ask(job, asked, title, details=names, choices=_ASK)
    if answer.reply is ApprovalChoice.REJECT:
        raise _Declined(answer.feedback or f"not known whether this was done: {names[0]}")
    return True


async def _find_saved(engine: Engine, job: str, key: str, begun: BegunTurn) -> SavedSession | None:
    """The session in which this turn began; None if it is to begin anew."""
    try:
        return await in_thread(lambda: _load_session(engine, begun.session))
    except UsageError:
        if begun.machine == engine.machine:
            raise
    # Another machine has the record of what was done, and nobody can look it up here.
    title = f"This started on {begun.machine}, which has its record. Start over on this machine?"
    answer = await engine.ask(job, f"{key} elsewhere {begun.session}", title, choices=_ASK)
    if answer.reply is ApprovalChoice.REJECT:
        raise _Declined(answer.feedback or f"it started on {begun.machine}")
    return None


def _recall(saved: SavedSession) -> JobResult | None:
    """The result of a turn that had ended before its step was written down as done."""
    turn = saved.turns[-1] if saved.turns else None
    if turn is None or turn.end is None or _is_cut_off(turn):
        return None
    return JobResult(status=turn.end.status, answer=_find_answer(turn), session=saved.header.id)


def _is_cut_off(turn: SavedTurn) -> bool:
    """Whether a turn goes on; one that was interrupted has an end in the file, too."""
    return turn.end is None or turn.end.status == "interrupted"


def _find_answer(turn: SavedTurn) -> str:
    for message in reversed(join_messages([turn])):
        if message.get("kind") == "response":
            texts = [part["content"] for part in message["parts"] if part["part_kind"] == "text"]
            return "\n\n".join(texts)
    return ""


async def _work(
    engine: Engine, job: str, key: str, spec: TurnSpec, saved: SavedSession | None
) -> JobResult:
    session = await in_thread(lambda: _open_session(engine, job, spec, saved))
    try:
        keep = engine.database.sessions.keep
        await in_thread(lambda: keep(key, job, engine.machine, session.id))
        text = spec.text
        if saved is not None and any(turn.messages for turn in saved.turns):
            text = _GO_ON + spec.text
        ended = await _follow(session, spec.subagent, text)
    finally:
        await in_thread(session.close)
    return JobResult(
        status=ended.status, answer=ended.answer, reason=ended.reason, session=session.id
    )


def _load_session(engine: Engine, session: str) -> SavedSession:
    with _opening:
        return load_session(engine.facts, session)


def _open_session(engine: Engine, job: str, spec: TurnSpec, saved: SavedSession | None) -> Session:
    with _opening:
        rules = parse_given(allow=spec.allow, ask=spec.ask, deny=spec.deny, tools=AGENT_TOOLS)
        opened_with = spec.opened_with
        sources = () if opened_with.bare else open_sources()
        skills = Skills.open(
            spec.cwd,
            host=spec.host,
            facts=engine.facts,
            add_dirs=opened_with.add_dirs,
            plugins=opened_with.plugins,
            bare=opened_with.bare,
            agent=opened_with.agent,
            rules=(*rules, *spec.rules),
            sources=(*sources, BundledSource()),
            places=find_shipped_places(spec.host),
        )
        session = Session(
            skills,
            model=_choose_model(spec, saved),
            approver=JobApprover(engine, job) if spec.asks else None,
            limits=find_limits(spec),
            read_only=spec.read_only,
            resume=saved,
            job=job,
        )
        # A script is a value here, which goes on where it stopped; other jobs begin it anew.
        register_commands(skills, find_model=lambda: spec.model)
        return session


def find_limits(spec: TurnSpec) -> Limits:
    """What a turn may take. A sub-agent has what its session had left: nothing, or no limit."""
    turns = spec.max_turns
    if spec.subagent is None and turns is None:
        turns = Limits().turns
    return Limits(turns=turns, cost=spec.max_cost, seconds=spec.max_seconds)


def _subtract_used(spec: TurnSpec, saved: SavedSession) -> TurnSpec:
    """A turn that goes on, with what is left of its limits after what it took before.

    Its time begins again: nobody knows how long a worker that died has worked on it.
    """
    turns = list(takewhile(_is_cut_off, reversed(saved.turns)))
    messages = ModelMessagesTypeAdapter.validate_python(join_messages(turns))
    answers = [one for one in messages if isinstance(one, ModelResponse)]
    used = sum(find_cost(answer) or 0.0 for answer in answers)
    limits = find_limits(spec)
    return msgspec.structs.replace(
        spec,
        max_turns=None if limits.turns is None else max(limits.turns - len(answers), 0),
        max_cost=None if limits.cost is None else max(limits.cost - used, 0.0),
    )


def _choose_model(spec: TurnSpec, saved: SavedSession | None) -> str | Model | None:
    """The model of a turn. A script goes on after the answers that the session has already."""
    if spec.model is None or not spec.model.startswith(SCRIPT):
        return spec.model
    script = load_script(spec.model.removeprefix(SCRIPT), LocalFiles())
    messages = join_messages(saved.turns) if saved is not None else []
    given = sum(message.get("kind") == "response" for message in messages)
    script.skip(spec.agent, given)
    return replay(script, spec.agent)


async def _follow(session: Session, subagent: SubagentSpec | None, text: str) -> TurnEnded:
    """Run the turn. A job that is cancelled interrupts it, so that its end is written down."""
    if subagent is None:
        work = _consume(session.send(text), _NOT_SHOWN)
    else:
        # The session that waits for it counts its requests.
        hidden = tuple(kind for kind in _NOT_SHOWN if kind is not RequestFinished)
        work = _consume(session.work_on(subagent, text), hidden, agent=subagent.name)
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        session.interrupt()
        await asyncio.wait([task], timeout=_SECONDS_TO_END)
        task.cancel()
        await asyncio.wait([task])
        raise


async def _consume(
    stream: AsyncGenerator[Event, None], hidden: tuple[type[Event], ...], *, agent: str = ""
) -> TurnEnded:
    """Write the events of a turn to the job's stream; text of its agent comes in whole pieces."""
    said: list[str] = []
    ended: TurnEnded | None = None
    async with contextlib.aclosing(stream) as events:
        async for event in events:
            if isinstance(event, TextDelta) and event.agent == agent:
                said.append(event.text)
                continue
            if said:
                await report(TextDelta(agent=agent, text="".join(said)))
                said.clear()
            if not isinstance(event, hidden):
                await report(event)
            if isinstance(event, TurnEnded):
                ended = event
    assert ended is not None
    return ended


async def report(event: Event) -> None:
    """Add an event to the stream of the running job; a cancelled one takes no more."""
    with contextlib.suppress(error.DBOSWorkflowCancelledError):
        await DBOS.write_stream_async(PROGRESS, render_event(event).decode())
