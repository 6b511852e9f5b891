"""Sub-agents that go on while their parent works; each reports in a message when it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from prowess.agent.events import Event, Outcome, Status, TaskFinished
from prowess.agent.toolset import CallLog
from prowess.agent.turn import LoopResult, fail_unexpectedly
from prowess.errors import ProwessError
from prowess.machine.append_file import unique_hex
from prowess.text.markup import escape_tags, escape_xml

_OUTCOMES: dict[Status, Outcome] = {"done": "done", "refused": "refused"}


class BackgroundTasks:
    """The background tasks of one agent. None outlives the turn: the agent waits for all.

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
        task = asyncio.create_task(self._run(id, name, work))
        self._running.add(task)
        task.add_done_callback(self._forget)
        return (
            f"Started in the background as {id}. Go on with other work: its report comes as a"
            " message when it is done."
        )

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
        running = set(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        unread = list(self._unread.values())
        self._unread.clear()
        return unread

    async def _run(self, id: str, name: str, work: Callable[[], Awaitable[LoopResult]]) -> None:
        result = LoopResult(status="interrupted", reason="it was ended")
        try:
            result = await work()
        except ProwessError as error:
            result = LoopResult(status="failed", reason=str(error).rstrip("."))
        except Exception as error:
            # Nobody waits for the task, so nobody else would see it.
            result = fail_unexpectedly(error)
        finally:
            # What cannot be written down stays a call of unknown outcome.
            with suppress(ProwessError):
                self._log.note_result(id, _OUTCOMES.get(result.status, "failed"))
            self._emit(
                TaskFinished(
                    agent=self._agent,
                    task=id,
                    name=name,
                    status=result.status,
                    output=result.answer,
                    reason=result.reason,
                )
            )
            report = _render_report(id, name, result)
            self._unread[self._report(report) or id] = report

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Read, or asyncio would log the error of a task that nobody waits for any more.
            task.exception()


def _render_report(id: str, name: str, result: LoopResult) -> str:
    text = result.answer
    if result.status != "done":
        text = f"The sub-agent did not finish: {result.reason}.\n{result.answer}".rstrip()
    return (
        f'<task_report task="{id}" agent="{escape_xml(name)}">\n'
        f"{escape_tags(text, 'task_report')}\n</task_report>"
    )
