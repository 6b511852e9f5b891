"""Session: a conversation with a model that works in a project. The object that programs hold."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import partial

from pydantic_ai import CancellationToken
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.models import Model

from prowess.activate.slash.dispatch import ToolReply
from prowess.activate.slash.messages import Delivery, Key, Message, find_delivery
from prowess.activate.slash.parser import Notice, Plain
from prowess.agent.configuration import load_configuration
from prowess.agent.event_stream import EventStream
from prowess.agent.events import (
    VERSION,
    Event,
    MessageDelivered,
    MessageQueued,
    SessionStarted,
    TextDelta,
    TurnEnded,
    TurnStarted,
    Warned,
)
from prowess.agent.hooks.prompts import PromptHooks
from prowess.agent.hooks.skill_hooks import restore_hooks
from prowess.agent.input_lines import converse
from prowess.agent.jobs.values import JobRunner, SubagentSpec
from prowess.agent.message_queue import MessageQueue
from prowess.agent.models import ModelSource
from prowess.agent.prompt_content import add_media
from prowess.agent.session_file import SavedSession
from prowess.agent.settings_warnings import list_settings_warnings
from prowess.agent.shipped.commands import register_commands
from prowess.agent.subagent_jobs import list_lost_reports
from prowess.agent.subagent_turn import open_subagent
from prowess.agent.transcript import Transcript, open_session_file
from prowess.agent.turn import Limits, LoopResult, fail_unexpectedly
from prowess.agent.typed_text import (
    check_text,
    find_own_command,
    runs_apart,
    runs_in_background,
)
from prowess.agent.unknown_calls import render_unknown
from prowess.agent.worker import Worker
from prowess.agent.workers import Watch, Workers
from prowess.errors import ProwessError, UsageError
from prowess.errors.activation import NotPermitted, Unavailable, UntrustedTool
from prowess.machine.event_loop import is_loop_running, run_in_thread
from prowess.model.mcp import McpServer
from prowess.ports import Approver
from prowess.runtime import Skills
from prowess.telemetry import observe

USUAL_LIMITS = Limits()
# How long a scan is new: programs that open a session and use it at once need no second one.
_FRESH_SECONDS = 1.0
_NOT_ALLOWED = (NotPermitted, Unavailable, UntrustedTool)
# The work of a turn. It gets the text if that is plain, for the model as it is.
_Work = Callable[[Plain | None], Awaitable[LoopResult]]


class Session:
    """A conversation with a model that works in a project with its skills.

    `model` is a model of pydantic-ai, or a name: `provider:name`, a short name of the settings, or
    `script:FILE`. Without one, the model of the settings is used; where there is none, only
    commands that go to a tool work. The `approver` is asked where the rules say so; without one,
    that is refused. `limits` apply to each turn. `read_only` keeps every tool from writing.
    `record` is a file for a script of the session. `resume` goes on with a session that was kept,
    as a new one with `fork`. Without `keep` nothing is written to disk. `taken` are the names of
    commands that the program around it has itself, `servers` MCP servers besides those of the
    settings. With `jobs`, sub-agents in the background are jobs where that is possible: they go on
    when the program ends, and report when the session is resumed. `job` is the one that the session
    itself works for.
    """

    def __init__(
        self,
        skills: Skills,
        *,
        model: str | Model | None = None,
        approver: Approver | None = None,
        limits: Limits = USUAL_LIMITS,
        read_only: bool = False,
        record: str | None = None,
        resume: SavedSession | None = None,
        fork: bool = False,
        keep: bool = True,
        taken: Iterable[str] = (),
        servers: Sequence[McpServer] = (),
        jobs: JobRunner | None = None,
        job: str = "",
    ) -> None:
        self.skills = skills
        self._approver = approver
        self._opened = time.monotonic()
        configuration = load_configuration(skills)
        own = configuration.own
        self._start_warnings = tuple(list_settings_warnings(configuration.host, own))
        self.models = ModelSource(model, own.agent, skills.facts, skills.project.files, record)
        # Agents that a command starts use the model that the session has then.
        register_commands(skills, find_model=lambda: self.models.reusable_name)
        file = open_session_file(skills, resume, fork=fork, job=job) if keep else None
        self.id = file.header.id if file else f"unsaved-{time.time_ns():x}"
        self._events = EventStream(self.id)
        self._transcript = Transcript(file, resume)
        self._is_resumed = resume is not None
        self._workers = Workers(
            skills,
            configuration,
            self.models,
            approver,
            session=self.id,
            transcript=self._transcript,
            limits=limits,
            read_only=read_only,
            emit=self._events.emit,
            wait_until_shown=self._events.wait_until_shown,
            taken=taken,
            servers=servers,
            runner=jobs,
        )
        self._prompts = PromptHooks(self._workers.main_hooks, is_resumed=resume is not None)
        self.conversation = self._workers.open_conversation(resume.conversation if resume else None)
        self._kept_hooks = {} if resume is None else resume.hooks
        self._restore_hooks()
        self._jobs = jobs
        self._queue = MessageQueue()
        self._main: Worker | None = None
        self._started = False
        self._sync: asyncio.Runner | None = None

    def _restore_hooks(self) -> None:
        """Let the hooks apply that applied when the session was left."""
        if not self._kept_hooks:
            return
        restored = restore_hooks(self._kept_hooks, self.conversation, self.skills)
        main = self._workers.main_hooks
        main.add(restored.hooks)
        main.digests.update(restored.digests)
        self._start_warnings += restored.warnings

    # Turns

    def send(self, text: str, *, files: Sequence[str] = ()) -> AsyncGenerator[Event, None]:
        """Run one turn with what the user typed, and give its events as they happen.

        The last one is `TurnEnded`. Whoever stops iterating interrupts the turn. The model also
        gets `files`, as far as the rules let it read them. `/compact` and `/clear` do what the
        methods do, unless a skill has that name.
        """
        return self._stream_turn(text, lambda plain: self._answer(text, files, plain))

    def compact(self, instructions: str = "") -> AsyncGenerator[Event, None]:
        """Replace the messages so far by a summary that the model makes; a turn as in `send`.

        `instructions` say what the summary is to have. `Compacted` says what is kept. A turn that
        does not end as `done` has changed nothing.
        """
        text = f"/compact {instructions}".strip()
        return self._stream_turn(text, lambda plain: self._compact(instructions))

    def work_on(self, subagent: SubagentSpec, text: str) -> AsyncGenerator[Event, None]:
        """Run one turn in which a sub-agent of another session works on its task; see `send`."""
        return self._stream_turn(text, lambda plain: self._work_as(subagent, text))

    def clear(self) -> None:
        """Forget the conversation: the next turn begins with no messages and no loaded skills.

        The session goes on, also on disk. `waiting_jobs` keep running, but do not report any more.
        Raises `UsageError` while a turn is running.
        """
        self._check_idle()
        self._clear()

    def _check_idle(self) -> None:
        if self._events.is_open:
            raise UsageError("The session is still working on a turn.")

    async def _stream_turn(self, text: str, work: _Work) -> AsyncGenerator[Event, None]:
        check_text(text)
        self._check_idle()
        self._workers.token = CancellationToken()
        self._workers.is_left = False
        work_on_turn = partial(self._run_turn, text, work)
        # Closed with its reader, who may be gone before the last event.
        async with aclosing(self._events.follow(work_on_turn, on_left=self.leave)) as events:
            async for event in events:
                yield event

    def run(self, text: str, *, on_event: Callable[[Event], object] | None = None) -> TurnEnded:
        """Run one turn from synchronous code, and return its end."""
        return self._open_runner().run(self._collect(text, on_event))

    def converse(
        self, text: str, read_line: Callable[[], str], *, on_event: Callable[[Event], object]
    ) -> TurnEnded:
        """Run turns from synchronous code, with more input from lines; see `input_lines`."""
        runner = self._open_runner()
        return runner.run(converse(self, text, read_line, on_event, self._approver))

    def _open_runner(self) -> asyncio.Runner:
        """The event loop of synchronous code. Raises `UsageError` where there is one already."""
        if is_loop_running():
            raise UsageError("An event loop is running here; use `send` instead of `run`.")
        if self._sync is None:
            self._sync = asyncio.Runner()
        return self._sync

    async def queue(self, text: str, *, key: Key = Key.SEND, files: Sequence[str] = ()) -> Delivery:
        """Take what the user typed while the model works: text, or a command such as `/name`.

        With the usual key the model gets it before its next request (`STEER`), with the other one
        when it would stop (`FOLLOW_UP`). If no model is at work it is a plain prompt, which `send`
        takes; it is in `undelivered` until then.
        """
        check_text(text)
        main = self._main
        if main is None or not main.loop.is_working:
            # `send` interprets it; a command in it must not run twice.
            return self._queue.add_prompt(text)
        refusal = await self._prompts.find_refusal(text)
        if refusal is not None:
            raise UsageError(f"{refusal[:1].upper()}{refusal[1:]}")
        typed = await self.conversation.run_async(text, key=key, streaming=True)
        if isinstance(typed, Notice):
            raise UsageError(typed.message)
        if not main.loop.is_working or find_own_command(typed):
            return self._queue.add_prompt(text, typed)
        if isinstance(typed, Message) and runs_in_background(typed):
            attached = await self._workers.attach(files, self.conversation)
            if not await self._workers.start_typed(typed, main, attached):
                # It ended while the files were read.
                return self._queue.add_prompt(text, typed)
            return Delivery.STEER
        if runs_apart(typed):
            return self._queue.add_prompt(text, typed)
        if isinstance(typed, ToolReply):
            self._events.emit(TextDelta(text=typed.text))
            return Delivery.STEER
        delivery = find_delivery(key, streaming=True)
        attached = await self._workers.attach(files, self.conversation)
        prompt = self._prompts.add_context(attached.add_to(typed.text))
        media = self._workers.list_media(typed, attached, main)
        id = main.loop.enqueue(prompt, *media, steer=delivery is Delivery.STEER)
        main.tasks.note_message()
        if id is None:
            return self._queue.add_prompt(text, typed)
        self._prompts.forget_context()
        self._queue.add(id, text, typed)
        self._events.emit(MessageQueued(id=id, text=text, delivery=delivery.value))
        return delivery

    @property
    def undelivered(self) -> tuple[str, ...]:
        """What was queued and has not reached the model, as it was typed: nothing typed is lost."""
        return self._queue.texts

    def take_undelivered(self) -> tuple[str, ...]:
        """What `undelivered` has, for someone who sends it again; afterwards it is empty."""
        return self._queue.take_all()

    def use_model(self, name: str) -> None:
        """Use another model from the next turn on. Raises `ModelUnavailable` or `UsageError`."""
        self.models.use(name)
        # The main agent is made again, with the same history.
        self._main = None

    @property
    def messages(self) -> Sequence[ModelMessage]:
        """What the main agent and the user have said, and the calls of tools."""
        return tuple(self._transcript.messages)

    def interrupt(self) -> None:
        """Stop the turn that is running and its jobs; may be called from any thread."""
        self._workers.interrupt()

    def leave(self) -> None:
        """Stop the turn that is running, but not its jobs; may be called from any thread."""
        self._workers.leave()

    @property
    def waiting_jobs(self) -> Mapping[str, str]:
        """The names of sub-agents whose report has not come, by the ids of their jobs."""
        return dict(self._transcript.jobs)

    def close(self) -> None:
        """End the MCP servers of the session, and close its files and its event loop if any.

        Async programs use `aclose`, or `async with`, which close the connections to the model, too.
        """
        if self._sync is not None:
            self._sync.run(self.models.close_connections())
            self._sync.close()
            self._sync = None
        self._workers.close()
        if self._jobs is not None:
            self._jobs.close()
        self.models.close()
        self._transcript.close()

    async def aclose(self) -> None:
        """Close everything that the session has open."""
        await self.models.close_connections()
        self.close()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def _collect(self, text: str, on_event: Callable[[Event], object] | None) -> TurnEnded:
        ended: TurnEnded | None = None
        # Closed also where `on_event` raises, or the session would wait for its reader forever.
        async with aclosing(self.send(text)) as events:
            async for event in events:
                if on_event is not None:
                    on_event(event)
                if isinstance(event, TurnEnded):
                    ended = event
        assert ended is not None
        return ended

    async def _run_turn(self, text: str, work: _Work) -> None:
        self._announce()
        self._transcript.turns += 1
        turn = self._transcript.turns
        with observe("turn", session=self.id, turn=turn) as seen:
            result = await self._work_on(text, work)
            spent = self._workers.spending
            seen.note(
                status=result.status,
                requests=spent.requests,
                input_tokens=spent.input_tokens,
                output_tokens=spent.output_tokens,
            )
        self._events.emit(
            TurnEnded(
                turn=turn,
                status=result.status,
                answer=result.answer,
                reason=result.reason,
                requests=spent.requests,
                input_tokens=spent.input_tokens,
                output_tokens=spent.output_tokens,
                cost=spent.cost,
            )
        )

    async def _work_on(self, text: str, work: _Work) -> LoopResult:
        """Do the work of a turn, and write down how it ended."""
        self._events.emit(TurnStarted(turn=self._transcript.turns, text=text))
        self._workers.begin_turn()
        try:
            # Changing threads takes longer than most of what is done there, so it is done at once.
            plain = await run_in_thread(lambda is_cancelled: self._prepare(text))
            result = await work(plain)
        except _NOT_ALLOWED as error:
            result = LoopResult(status="refused", reason=_make_reason(error))
        except ProwessError as error:
            result = LoopResult(status="failed", reason=_make_reason(error))
        except Exception as error:
            # A bug in a skill made by code, an approver, or here: the turn is lost, no other is.
            result = fail_unexpectedly(error)
        stop_reason = self._workers.hooks.stop_reason
        if stop_reason is not None:
            result.status, result.reason = "refused", f"a hook stopped the turn: {stop_reason}"
        refusals = self._workers.refusals
        if refusals and result.status == "done":
            result.status, result.reason = "refused", refusals[0].rstrip(".")
        self._save_end(result)
        return result

    def _prepare(self, text: str) -> Plain | None:
        """Do what a turn begins with and may wait for the disk.

        Returns the text if it is for the model as it is; None if it may be a command.
        """
        self._transcript.begin_turn(text)
        is_old = time.monotonic() - self._opened > _FRESH_SECONDS
        if self._main is not None or is_old:
            # Skills that were added or changed since the last turn are there in this one.
            self.skills.refresh()
        plain = self.conversation.find_plain(text)
        # A hook may still write the files that this reads.
        if plain is not None and self.models.name is not None and not self._workers.hooks.has_any:
            self._workers.prepare()
        return plain

    async def _answer(self, text: str, files: Sequence[str], plain: Plain | None) -> LoopResult:
        """What comes of a typed text: a tool's reply, a refusal, or the work of the model."""
        typed = self._queue.pop_interpreted(text)
        if typed is None:
            refusal = await self._prompts.find_refusal(text)
            if refusal is not None:
                return LoopResult(status="refused", reason=refusal.rstrip("."))
            typed = plain or await self.conversation.run_async(text)
        if isinstance(typed, Notice):
            return LoopResult(status="refused", reason=typed.message.rstrip("."))
        if isinstance(typed, ToolReply):
            return self._reply(typed.text)
        command = find_own_command(typed)
        if command is not None:
            return await self._run_own_command(*command)
        worker = await self._open_main()
        self._workers.reset(worker)
        attached = await self._workers.attach(files, self.conversation)
        prompt = attached.add_to(typed.text)
        if isinstance(typed, Message):
            keep = partial(self._keep_forked, text, worker)
            forked = await self._workers.load_typed(typed, worker, attached, keep)
            if forked is not None:
                return forked
        prompt = self._prompts.add_context(await self._add_news(prompt, worker))
        self._prompts.forget_context()
        media = self._workers.list_media(typed, attached, worker)
        result = await self._workers.work(worker, add_media(prompt, media))
        self._transcript.messages = worker.loop.history
        return result

    async def _add_news(self, prompt: str, worker: Worker) -> str:
        """A prompt, after what the model must know of the time before it."""
        news = []
        if self._transcript.unknown:
            news.append(render_unknown(self._transcript.unknown))
        jobs = self._workers.jobs
        if jobs is not None:
            news += await jobs.collect(worker, self._workers.spending)
        return "\n\n".join((*news, prompt))

    async def _work_as(self, subagent: SubagentSpec, text: str) -> LoopResult:
        await self.models.wait()
        assignment, worker = await open_subagent(
            self._workers,
            subagent,
            text,
            self.conversation,
            kept_hooks=self._kept_hooks,
            watch=self._watch,
        )
        self._main = worker
        worker.loop.history = self._transcript.messages
        task = await self._add_news(assignment.prompt, worker)
        result = await self._workers.carry_out(assignment._replace(prompt=task), worker)
        self._transcript.messages = worker.loop.history
        return result

    def _reply(self, text: str) -> LoopResult:
        """Answer without a model."""
        self._events.emit(TextDelta(text=text))
        return LoopResult(answer=text)

    async def _run_own_command(self, name: str, arguments: str) -> LoopResult:
        if name == "compact":
            return await self._compact(arguments)
        lost = list_lost_reports(self._transcript.jobs)
        self._clear()
        for warning in lost:
            self._events.emit(warning)
        return self._reply("The conversation is cleared.")

    async def _compact(self, instructions: str) -> LoopResult:
        history = self._transcript.messages
        if not history:
            return self._reply("There is nothing to compact yet.")
        worker = await self._open_main()
        self._workers.reset(worker)
        compactor, model = worker.loop.compactor, worker.loop.model
        assert compactor is not None
        done = await compactor.compact(history, model, instructions=instructions)
        if done.messages is not None:
            self._transcript.messages = worker.loop.history = done.messages
        return done.result

    def _clear(self) -> None:
        conversation = self._workers.open_conversation()
        self._transcript.clear(conversation.save())
        self.conversation = conversation
        # The agent belongs to the old conversation.
        self._main = None

    def _keep_forked(self, text: str, worker: Worker, result: LoopResult) -> None:
        """Show the answer of a skill that ran apart, and let the main agent know of it."""
        if not result.answer:
            return
        self._events.emit(TextDelta(text=result.answer))
        if result.status == "done":
            question = ModelRequest(parts=[UserPromptPart(text)])
            pair = (question, ModelResponse(parts=[TextPart(result.answer)]))
            history = [*self._transcript.messages, *pair]
            self._transcript.messages = worker.loop.history = history
            self._transcript.note(pair)

    async def _open_main(self) -> Worker:
        """The main agent, made when a model is first needed."""
        if self._main is None:
            await self.models.wait()
            self._main = await self._workers.open(
                "",
                self.models.open(),
                self.conversation,
                watch=self._watch,
            )
            self._main.loop.history = self._transcript.messages
        return self._main

    @property
    def _watch(self) -> Watch:
        return Watch(self._transcript.note, self._note_delivered, self._replace_history)

    def _replace_history(self, messages: Sequence[ModelMessage]) -> None:
        """Write down the messages after a compaction."""
        self._transcript.replace(messages, self.conversation.save())

    def _note_delivered(self, id: str) -> None:
        waiting = self._queue.pop_delivered(id)
        if waiting is None:
            return
        self._events.emit(MessageDelivered(id=id))
        if self._main is not None and isinstance(waiting.typed, Message):
            self._workers.apply_typed(waiting.typed, self._main)

    def _save_end(self, result: LoopResult) -> None:
        try:
            self._transcript.end_turn(result, self._workers.spending, self.conversation.save())
        except ProwessError as error:
            self._events.emit(Warned(code="session-not-saved", message=str(error)))

    def _announce(self) -> None:
        if self._started:
            return
        self._started = True
        self._events.emit(
            SessionStarted(
                version=VERSION,
                session=self.id,
                cwd=self.skills.cwd,
                host=self.skills.host,
                model=self.models.name or "",
                resumed=self._is_resumed,
            )
        )
        for call in self._transcript.unknown:
            message = (
                f"It is not known whether this was done before the session ended: {call.title}"
            )
            self._events.emit(Warned(code="unknown-outcome", message=message))
        lost = self._transcript.jobs if self._workers.jobs is None else {}
        for warning in (*self._start_warnings, *list_lost_reports(lost)):
            self._events.emit(warning)


def _make_reason(error: ProwessError) -> str:
    hint = f" {error.hint}" if error.hint else ""
    return f"{error}{hint}".rstrip(".")
