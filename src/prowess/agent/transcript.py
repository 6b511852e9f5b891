"""The messages of a session's main agent, and the file that keeps them as they come about."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, repair_messages

from prowess.agent.background import find_reported
from prowess.agent.session_file import (
    CallRecord,
    EndRecord,
    SavedSession,
    SessionFile,
    join_messages,
)
from prowess.agent.toolset import CallLog, NoCallLog
from prowess.agent.turn import LoopResult, Spending
from prowess.agent.unknown_calls import is_told
from prowess.runtime import Skills


class Transcript:
    """What was said in a session so far. Without a file, nothing is kept on disk.

    `turns` is the number of the last turn. `unknown` are calls that may have happened before the
    session was resumed, until the model has been told of them. `jobs` are the names of sub-agents
    that work as jobs, by the job's id, until the model has their report.
    """

    def __init__(self, file: SessionFile | None, resumed: SavedSession | None = None) -> None:
        self.messages: list[ModelMessage] = []
        self.turns = 0
        self.unknown: tuple[CallRecord, ...] = ()
        self.jobs: dict[str, str] = {}
        self._file = file
        # Where the messages of the turn begin, and those of them that are in the file.
        self._turn_start = 0
        self._written: list[ModelMessage] = []
        if resumed is not None:
            kept = ModelMessagesTypeAdapter.validate_python(join_messages(resumed.turns))
            # Calls without a result are closed, or pydantic-ai would refuse or repeat them.
            self.messages = repair_messages(kept)
            self.turns = len(resumed.turns)
            self.unknown = resumed.unknown
            self.jobs = dict(resumed.jobs)

    @property
    def path(self) -> str:
        """The file; "" if there is none."""
        return self._file.path if self._file else ""

    @property
    def call_log(self) -> CallLog:
        """Where calls of tools are written down."""
        return self._file or NoCallLog()

    def begin_turn(self, text: str) -> None:
        """Write down what the user typed."""
        self._turn_start = len(self.messages)
        self._written.clear()
        if self._file is not None:
            self._file.begin_turn(self.turns, text)

    def note(self, messages: Sequence[ModelMessage]) -> None:
        """Write down new messages of the turn."""
        if self._file is not None:
            self._written += messages
            self._file.note_messages(_dump(messages))
        self._note_told(messages)

    def note_job(self, job: str, name: str) -> None:
        """Write down that a sub-agent will work as a job. Raises `MachineError`."""
        if self._file is not None:
            self._file.note_job(job, name)
        self.jobs[job] = name

    def note_reported(self, job: str) -> None:
        """Write down that the report of a job is in the messages."""
        if self.jobs.pop(job, None) is not None and self._file is not None:
            self._file.note_reported(job)

    def replace(
        self, messages: Sequence[ModelMessage], conversation: str, *, is_cleared: bool = False
    ) -> None:
        """Write down messages that take the place of all before; now they are those of the turn.

        `conversation` is what `Conversation.save` gave. Where this fails, the old ones count.
        """
        if self._file is not None:
            self._file.replace_history(_dump(messages), conversation, is_cleared=is_cleared)
        self._written, self._turn_start = list(messages), 0

    def clear(self, conversation: str) -> None:
        """Forget all messages, and the jobs whose reports belong to them."""
        self.replace((), conversation, is_cleared=True)
        self.messages = []
        self.jobs.clear()

    def end_turn(self, result: LoopResult, spent: Spending, conversation: str) -> None:
        """Write down how a turn ended. Raises `MachineError`."""
        if self._file is None:
            return
        made = self.messages[self._turn_start :]
        # Usually every message of the turn is in the file already.
        is_written = self._written == made
        end = EndRecord(
            turn=self.turns,
            status=result.status,
            conversation=conversation,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost=spent.cost,
        )
        self._file.end_turn(end, None if is_written else _dump(made))
        # A request that failed is kept, too, and goes to the model with the next one.
        self._note_told(made)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _note_told(self, messages: Sequence[ModelMessage]) -> None:
        """Forget what the messages that are kept tell the model: reports, and unknown outcomes."""
        for job in find_reported(self.jobs, messages) if self.jobs else ():
            self.note_reported(job)
        if not self.unknown or not is_told(self.unknown, messages):
            return
        self.unknown = ()
        if self._file is not None:
            self._file.note_told()


def open_session_file(
    skills: Skills, resumed: SavedSession | None, *, fork: bool, job: str = ""
) -> SessionFile:
    """The file of a new session, of one that goes on, or of a copy that goes on in its place."""
    if resumed is not None and not fork:
        return SessionFile.resume(skills.facts, resumed)
    return SessionFile.create(
        skills.facts, cwd=skills.cwd, host=skills.host, parent=resumed, job=job
    )


def _dump(messages: Sequence[ModelMessage]) -> bytes:
    return ModelMessagesTypeAdapter.dump_json(list(messages))
