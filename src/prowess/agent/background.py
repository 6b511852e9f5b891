"""Sub-agents that go on while their parent works; each reports in a message when it is done.

Some work in this process and end with it. Others are jobs, which go on in a worker: if this process
ends first, the session gets their reports when it is continued.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pydantic_ai.messages import ModelMessage

from prowess.agent.events import Event, Outcome, Status, TaskFinished
from prowess.agent.toolset import CallLog
from prowess.agent.turn import LoopResult, fail_unexpectedly
from prowess.agent.unknown_calls import list_prompts
from prowess.errors import ProwessError
from prowess.machine.append_file import unique_hex
from prowess.text.markup import escape_tags, escape_xml

ResultT = TypeVar("ResultT")
_TAG = "task_report"
_OUTCOMES: dict[Status, Outcome] = {"done": "done", "refused": "refused"}


class BackgroundTasks:
    """The background tasks of one agent. The agent waits for all before its turn ends.

    `report` gives the agent a message before its next request, and returns its id; None if the
    agent does not work any more.
    """

    def __init__(
        self,
        agent: str,
        *,
        report: Callable[[str], str | None],
        emit: Callable[[Event], None],
        log: CallLog,
    ) -> None:
        self._agent = agent
        self._report = report
        self._emit = emit
        self._log = log
        self._running: set[asyncio.Task[None]] = set()
        # Reports that the agent has not received, by the id of their message or task.
        self._unread: dict[str, str] = {}
        self._message = asyncio.Event()

    def start(self, name: str, work: Callable[[], Awaitable[LoopResult]]) -> str:
        """Start a task, and return what its agent is told now.

        It counts as a call of its own: if the program is killed meanwhile, nobody knows how far it
        came. Raises `MachineError`, and then it has not begun.
        """
        id = f"task-{unique_hex()}"
        self._log.note_call(id, "Task", f"Background task {name}")
        self._add(self._run(id, name, work))
        return render_started(id)

    def follow(self, id: str, name: str, wait: Callable[[], Awaitable[LoopResult | None]]) -> None:
        """Wait for a sub-agent that is a job.

        `wait` gives None where the job goes on and nobody waits for it any more.
        """
        self._add(self._follow(id, name, wait))

    def _add(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._forget)

    def note_message(self) -> None:
        """The agent has got a message, so it need not wait any longer."""
        self._message.set()

    def note_delivered(self, id: str) -> None:
        """The agent has received a message."""
        self._unread.pop(id, None)

    async def wait(self) -> None:
        """Wait for a report, or another message, if tasks are running."""
        if not self._running:
            return
        self._message.clear()
        message = asyncio.create_task(self._message.wait())
        try:
            await asyncio.wait([message, *self._running], return_when=asyncio.FIRST_COMPLETED)
        finally:
            message.cancel()

    async def end(self) -> list[str]:
        """End the tasks that are still running; the reports that the agent has not received."""
        # A task that is cancelled before it has begun would not end what it was to wait for.
        await asyncio.sleep(0)
        running = set(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        unread = list(self._unread.values())
        self._unread.clear()
        return unread

    async def _run(self, id: str, name: str, work: Callable[[], Awaitable[LoopResult]]) -> None:
        result = LoopResult(status="interrupted", reason="it was stopped")
        try:
            result = await _catch_errors(work)
        finally:
            # What cannot be written down stays a call of unknown outcome.
            with suppress(ProwessError):
                self._log.note_result(id, _OUTCOMES.get(result.status, "failed"))
            self._finish(id, name, result)

    async def _follow(
        self, id: str, name: str, wait: Callable[[], Awaitable[LoopResult | None]]
    ) -> None:
        result = await _catch_errors(wait)
        if result is not None:
            self._finish(id, name, result)

    def _finish(self, id: str, name: str, result: LoopResult) -> None:
        """Show how a task ended, and report it to the agent."""
        self._emit(finish_task(self._agent, id, name, result))
        report = render_report(id, name, result)
        self._unread[self._report(report) or id] = report

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Read, or asyncio would log the error of a task that nobody waits for any more.
            task.exception()


async def _catch_errors(work: Callable[[], Awaitable[ResultT]]) -> ResultT | LoopResult:
    """The result of a task. What is raised becomes one: nobody waits, so nobody would see it."""
    try:
        return await work()
    except ProwessError as error:
        return LoopResult(status="failed", reason=str(error).rstrip("."))
    except Exception as error:
        return fail_unexpectedly(error)


def finish_task(agent: str, id: str, name: str, result: LoopResult) -> TaskFinished:
    """The event for a task that `agent` started and that has ended."""
    return TaskFinished(
        agent=agent,
        task=id,
        name=name,
        status=result.status,
        output=result.answer,
        reason=result.reason,
    )


def render_started(id: str) -> str:
    """What an agent is told when a task begins."""
    return (
        f"Started in the background as {id}. Continue with other work; its report arrives as a"
        " message when it is done."
    )


def render_report(id: str, name: str, result: LoopResult) -> str:
    """What an agent is told when a task has ended."""
    text = result.answer
    if result.status != "done":
        text = f"The sub-agent did not finish: {result.reason}.\n{result.answer}".rstrip()
    return f'{_open_report(id)} agent="{escape_xml(name)}">\n{escape_tags(text, _TAG)}\n</{_TAG}>'


def find_reported(tasks: Iterable[str], messages: Sequence[ModelMessage]) -> list[str]:
    """Those of some tasks whose report is among the messages."""
    prompts = list(list_prompts(messages))
    return [id for id in tasks if any(_open_report(id) in prompt for prompt in prompts)]


def _open_report(id: str) -> str:
    return f'<{_TAG} task="{id}"'
