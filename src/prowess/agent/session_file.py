"""Sessions on disk: one file each, which only grows, outside every project.

The first line says what the session is. After it come turns: what the user typed, messages as they
come about, every call of a tool before it runs and after, and the end of the turn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec

from prowess.agent.events import Outcome, Status
from prowess.errors import MachineError, UsageError
from prowess.machine.append_file import AppendFile, list_newest, read_lines, unique_hex
from prowess.machine.process_tree import get_process_id
from prowess.model.facts import Facts
from prowess.state.folders import state_folder

VERSION = 1
_SUFFIX = ".jsonl"


class SessionHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session is. `parent` is the session that it was forked from, `job` that of its job."""

    version: int = msgspec.field(default=VERSION, name="prowess-session")
    id: str
    cwd: str
    host: str
    created: str
    parent: str | None = None
    job: str = ""


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """A line after the first."""


class TurnRecord(_Record, frozen=True, kw_only=True, tag="turn"):
    """A turn begins, at a time in seconds since 1970, in the process with this id."""

    turn: int
    text: str
    at: float = 0.0
    pid: int = 0


class MessagesRecord(_Record, frozen=True, kw_only=True, tag="messages"):
    """Messages that were added, as pydantic-ai writes them."""

    messages: msgspec.Raw


class CallRecord(_Record, frozen=True, kw_only=True, tag="call"):
    """A call of a tool that is about to run."""

    call: str
    tool: str
    title: str
    at: float = 0.0


class ResultRecord(_Record, frozen=True, kw_only=True, tag="result"):
    """A call has ended."""

    call: str
    outcome: Outcome


class ToldRecord(_Record, frozen=True, kw_only=True, tag="told"):
    """The model has been told of the calls so far whose outcome is unknown."""


class JobRecord(_Record, frozen=True, kw_only=True, tag="job"):
    """A sub-agent is about to work as a job, which may outlive the session."""

    job: str
    name: str


class ReportedRecord(_Record, frozen=True, kw_only=True, tag="reported"):
    """The model has the report of a job, so that nobody waits for it any more."""

    job: str


class HooksRecord(_Record, frozen=True, kw_only=True, tag="hooks"):
    """The hooks of a skill apply from now on. `digest` is that of what its header declares."""

    skill: str
    digest: str


class HistoryRecord(_Record, frozen=True, kw_only=True, tag="history"):
    """These messages replace all before: the conversation was compacted or cleared.

    `conversation` is what `Conversation.save` gave. One that `is_cleared` waits for no job.
    """

    messages: msgspec.Raw
    conversation: str
    is_cleared: bool = False


class EndRecord(_Record, frozen=True, kw_only=True, tag="end"):
    """A turn is over.

    `conversation` is what `Conversation.save` gave; `messages` replace those of the turn so far,
    where the last steps changed them.
    """

    turn: int
    status: Status
    conversation: str
    # Not `Raw | None`, which msgspec decodes as null only.
    messages: msgspec.Raw = msgspec.Raw()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


Record = (
    TurnRecord
    | MessagesRecord
    | CallRecord
    | ResultRecord
    | ToldRecord
    | JobRecord
    | ReportedRecord
    | HooksRecord
    | HistoryRecord
    | EndRecord
)
_RECORDS: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class SavedTurn(msgspec.Struct, kw_only=True):
    """One turn as it was kept. Without an end, `unknown` are the calls that may have happened."""

    number: int
    text: str
    messages: list[msgspec.Raw] = []
    end: EndRecord | None = None
    calls: dict[str, CallRecord] = {}
    at: float = 0.0
    pid: int = 0

    @property
    def unknown(self) -> tuple[CallRecord, ...]:
        """The calls that began and of whose end nothing is known."""
        return tuple(self.calls.values())


class SavedSession(msgspec.Struct, kw_only=True):
    """A session as it was kept. `is_damaged` if its end could not be read.

    `conversation` is what the conversation saved last, `hooks` the skills whose hooks apply, with
    the digest of each. `jobs` are sub-agents that have not reported, by the id of their job.
    """

    header: SessionHeader
    turns: list[SavedTurn] = []
    hooks: dict[str, str] = {}
    jobs: dict[str, str] = {}
    conversation: str | None = None
    is_damaged: bool = False

    @property
    def title(self) -> str:
        """The beginning of what the user typed first."""
        return " ".join(self.turns[0].text.split())[:80] if self.turns else ""

    @property
    def unknown(self) -> tuple[CallRecord, ...]:
        """The calls that may or may not have happened, and of which the model does not know yet."""
        return tuple(call for turn in self.turns for call in turn.unknown)

    @property
    def ends_in_calls(self) -> bool:
        """Whether it was cut off after the model asked for calls and before it had the results."""
        messages = join_messages(self.turns)
        last = messages[-1] if messages else {}
        parts = last.get("parts", ()) if last.get("kind") == "response" else ()
        return any(part["part_kind"] == "tool-call" for part in parts)


class SessionFile:
    """The file of one session, open for writing. Every method raises `MachineError`."""

    def __init__(self, header: SessionHeader, file: AppendFile) -> None:
        self.header = header
        self._file = file

    @property
    def path(self) -> str:
        """Where it is."""
        return self._file.path

    @classmethod
    def create(
        cls,
        facts: Facts,
        *,
        cwd: str,
        host: str,
        parent: SavedSession | None = None,
        job: str = "",
    ) -> SessionFile:
        """A new session; with a parent, one that begins with all that is in it."""
        header = SessionHeader(
            id=f"{time.strftime('%Y%m%d-%H%M%S')}-{unique_hex()}",
            cwd=cwd,
            host=host,
            created=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            parent=None if parent is None else parent.header.id,
            job=job,
        )
        made = cls(header, AppendFile.create(_find_path(facts, header.id)))
        # Not synced: nothing is lost with it, and whatever is synced later takes it along.
        made._file.append(msgspec.json.encode(header))
        if parent is not None:
            for line in read_lines(_find_path(facts, parent.header.id))[0][1:]:
                made._file.append(line)
        return made

    @classmethod
    def resume(cls, facts: Facts, saved: SavedSession) -> SessionFile:
        """A session that goes on."""
        return cls(saved.header, AppendFile.open(_find_path(facts, saved.header.id)))

    def begin_turn(self, turn: int, text: str) -> None:
        """Write down what the user typed."""
        self._append(TurnRecord(turn=turn, text=text, at=time.time(), pid=get_process_id()))

    def note_messages(self, messages: bytes) -> None:
        """Write down messages."""
        self._append(MessagesRecord(messages=msgspec.Raw(messages)))

    def note_call(self, call: str, tool: str, title: str) -> None:
        """Write down a call before it runs. Where that fails, it must not run."""
        self._append(CallRecord(call=call, tool=tool, title=title, at=time.time()), sync=True)

    def note_result(self, call: str, outcome: Outcome) -> None:
        """Write down that a call has ended."""
        self._append(ResultRecord(call=call, outcome=outcome), sync=True)

    def note_hooks(self, skill: str, digest: str) -> None:
        """Write down that the hooks of a skill apply from now on."""
        self._append(HooksRecord(skill=skill, digest=digest), sync=True)

    def note_job(self, job: str, name: str) -> None:
        """Write down a job before it is added, so that it is never forgotten."""
        self._append(JobRecord(job=job, name=name), sync=True)

    def note_reported(self, job: str) -> None:
        """Write down that the model has the report of a job."""
        self._append(ReportedRecord(job=job), sync=True)

    def note_told(self) -> None:
        """Write down that the model knows of every call whose outcome is unknown."""
        self._append(ToldRecord(), sync=True)

    def replace_history(
        self, messages: bytes, conversation: str, *, is_cleared: bool = False
    ) -> None:
        """Write down messages that replace all before. Where that fails, the old ones count."""
        record = HistoryRecord(
            messages=msgspec.Raw(messages), conversation=conversation, is_cleared=is_cleared
        )
        self._append(record, sync=True)

    def end_turn(self, end: EndRecord, messages: bytes | None = None) -> None:
        """Write down the end of a turn; afterwards it is never lost.

        `messages` replace those of the turn so far.
        """
        if messages is not None:
            end = msgspec.structs.replace(end, messages=msgspec.Raw(messages))
        self._append(end, sync=True)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, record: _Record, *, sync: bool = False) -> None:
        self._file.append(msgspec.json.encode(record), sync=sync)


def load_session(facts: Facts, id: str) -> SavedSession:
    """A session by its id. Raises `UsageError` where there is none."""
    path = _find_path(facts, id)
    try:
        lines, is_damaged = read_lines(path)
        header = msgspec.json.decode(lines[0], type=SessionHeader)
    except (MachineError, IndexError, msgspec.DecodeError, UnicodeDecodeError):
        raise UsageError(
            f"There is no session “{id}”; run `prowess sessions` to see all."
        ) from None
    if header.version != VERSION:
        raise UsageError(f"The session “{id}” was written by another version of Prowess.")
    session = SavedSession(header=header, is_damaged=is_damaged)
    for line in lines[1:]:
        try:
            _add(session, _RECORDS.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError):
            # What comes after a line that cannot be read may depend on it.
            session.is_damaged = True
            break
    return session


def list_sessions(
    facts: Facts, *, cwd: str | None = None, most: int = 50, with_jobs: bool = True
) -> list[SavedSession]:
    """The latest sessions, newest first; with `cwd` only those of that folder.

    Without `with_jobs`, those that a person has, and none in which a job works.
    """
    found = []
    for name in list_newest(_find_folder(facts), _SUFFIX):
        try:
            session = load_session(facts, name.removesuffix(_SUFFIX))
        except UsageError:
            continue
        is_wanted = with_jobs or not session.header.job
        if is_wanted and cwd in (None, session.header.cwd):
            found.append(session)
        if len(found) == most:
            break
    return found


def _add(session: SavedSession, record: Record) -> None:
    if isinstance(record, TurnRecord):
        session.turns.append(_begin_turn(record))
        return
    if not session.turns:
        return
    if isinstance(record, JobRecord | ReportedRecord | HooksRecord):
        _add_of_session(session, record)
        return
    turn = session.turns[-1]
    match record:
        case MessagesRecord(messages=messages):
            turn.messages.append(messages)
        case CallRecord(call=call):
            turn.calls[call] = record
        case ResultRecord(call=call):
            turn.calls.pop(call, None)
        case ToldRecord():
            for one in session.turns:
                one.calls.clear()
        case HistoryRecord():
            _replace_history(session, record)
        case EndRecord(messages=messages):
            turn.end = record
            turn.calls.clear()
            session.conversation = record.conversation
            if bytes(messages):
                turn.messages = [messages]


def _add_of_session(
    session: SavedSession, record: JobRecord | ReportedRecord | HooksRecord
) -> None:
    """Add what stays when its turn ends."""
    match record:
        case JobRecord(job=job, name=name):
            session.jobs[job] = name
        case ReportedRecord(job=job):
            session.jobs.pop(job, None)
        case HooksRecord(skill=skill, digest=digest):
            session.hooks[skill] = digest


def _replace_history(session: SavedSession, record: HistoryRecord) -> None:
    for turn in session.turns:
        turn.messages = []
    session.turns[-1].messages = [record.messages]
    session.conversation = record.conversation
    if record.is_cleared:
        session.jobs.clear()


def _begin_turn(record: TurnRecord) -> SavedTurn:
    return SavedTurn(number=record.turn, text=record.text, at=record.at, pid=record.pid)


def join_messages(turns: Sequence[SavedTurn]) -> list[Any]:
    """The messages of turns, as plain values."""
    return [one for turn in turns for raw in turn.messages for one in msgspec.json.decode(raw)]


def _find_folder(facts: Facts) -> str:
    return f"{state_folder(facts)}/sessions"


def _find_path(facts: Facts, id: str) -> str:
    # An id comes from a command line, so it must not lead anywhere else.
    name = id.replace("/", "-").replace("\\", "-").lstrip(".")
    return f"{_find_folder(facts)}/{name}{_SUFFIX}"
