"""Session: a conversation with a model that works in a project. The object that programs hold."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec
from pydantic_ai import CancellationToken
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    repair_messages,
)
from pydantic_ai.models import Model

from prowess.activate.slash.dispatch import ToolReply
from prowess.activate.slash.messages import Delivery, Key, Message, find_delivery
from prowess.activate.slash.parser import Notice
from prowess.agent.definitions import GENERAL, AgentDefinition, AgentDefinitions
from prowess.agent.events import (
    VERSION,
    Event,
    MessageDelivered,
    MessageQueued,
    SessionStarted,
    SkillLoaded,
    TextDelta,
    TurnEnded,
    TurnStarted,
    Warned,
)
from prowess.agent.instructions import render_instructions
from prowess.agent.loop import AgentLoop, Limits, LoopResult
from prowess.agent.models import ModelSource
from prowess.agent.permissions import Gatekeeper
from prowess.agent.sandbox import ReadOnlyRunner, find_bash_sandbox, open_runner
from prowess.agent.session_file import EndRecord, SavedSession, SessionFile, join_messages
from prowess.agent.tools.bash import BashSandbox, BashTool
from prowess.agent.tools.files import FileTools
from prowess.agent.tools.plan import Access, Plan
from prowess.agent.toolset import CallContext, NoCallLog, Turn, build_toolset
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError, UsageError
from prowess.errors.activation import NotPermitted, Unavailable, UntrustedTool
from prowess.errors.agent import ModelUnavailable
from prowess.gate.approvals import Approvals
from prowess.machine.event_loop import run_in_thread
from prowess.machine.project_files import ProjectFiles
from prowess.model.activation import Activation, SkillRequests
from prowess.model.permission import Action
from prowess.ports import Approver
from prowess.present.tokens import estimate_tokens
from prowess.runtime import Skills
from prowess.state.approvals import ApprovalFile, approvals_path

# A skill that runs in a sub-agent may load one that does, too, but not without end.
_MOST_DEPTH = 3
USUAL_LIMITS = Limits()
_NOT_ALLOWED = (NotPermitted, Unavailable, UntrustedTool)


class Session:
    """A conversation with a model that works in a project with its skills.

    `model` is a model of pydantic-ai, or a name: `provider:name`, a short name of the settings, or
    `script:FILE`. Without one, the model of the settings is used; where there is none, only
    commands that go to a tool work. The `approver` is asked where the rules say so; without one,
    that is refused. `limits` apply to each turn. `read_only` keeps every tool from writing.
    `record` is a file for a script of the session. `resume` goes on with a session that was kept,
    as a new one with `fork`. Without `keep` nothing is written to disk.
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
    ) -> None:
        self.skills = skills
        self.limits = limits
        self._approver = approver
        self._facts = skills.facts
        own = skills.project.load_own_settings()
        self.models = ModelSource(model, own.agent, self._facts, skills.project.files, record)
        self._file = self._open_file(resume, fork=fork) if keep else None
        self.id = self._file.header.id if self._file else f"unsaved-{time.time_ns():x}"
        self._turns = len(resume.turns) if resume else 0
        self._resumed = resume
        self._runner = open_runner(self._facts, read_only=read_only)
        snapshot = skills.snapshot
        self._root = snapshot.repository or snapshot.cwd
        self._project_files = ProjectFiles(self._root, snapshot.cwd, home=self._facts.home)
        store = ApprovalFile(approvals_path(self._facts)) if own.approvals == "disk" else None
        approvals = Approvals(store, now=lambda: time.strftime("%Y-%m-%d"))
        self._gatekeeper = Gatekeeper(
            approvals, approver, project=self._root, home=self._facts.home, read_only=read_only
        )
        saved = resume.conversation if resume else None
        self.conversation = skills.conversation(
            session=self.id, approver=approver, saved=saved, runner=self._find_skill_runner()
        )
        self._definitions = AgentDefinitions(
            (snapshot.cwd, self._root, self._facts.home),
            skills.project.files,
            skills.profile.header,
            skills.profile.limits,
        )
        self._history: list[ModelMessage] = []
        if resume is not None:
            kept = ModelMessagesTypeAdapter.validate_python(join_messages(resume.turns))
            # Calls without a result are closed, or pydantic-ai would refuse or repeat them.
            self._history = repair_messages(kept)
        self._noted: list[ModelMessage] = []
        self._waiting: dict[str, str] = {}
        self._main: _Worker | None = None
        self._events: asyncio.Queue[Event | None] | None = None
        self._token = CancellationToken()
        self._instructions: str | None = None
        self._started = False
        self._sync: asyncio.Runner | None = None

    # Turns

    async def send(self, text: str) -> AsyncIterator[Event]:
        """Run one turn with what the user typed, and give its events as they happen.

        The last one is `TurnEnded`. Whoever stops iterating interrupts the turn.
        """
        if self._events is not None:
            raise UsageError("The session is still working on a turn.")
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._events, self._token = queue, CancellationToken()
        task = asyncio.create_task(self._run_turn(text))
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
                queue.task_done()
            await task
        finally:
            if not task.done():
                self.interrupt()
                task.cancel()
                await asyncio.wait([task])
            self._events = None

    def run(self, text: str, *, on_event: Callable[[Event], object] | None = None) -> TurnEnded:
        """Run one turn from synchronous code, and return its end."""
        if self._sync is None:
            self._sync = asyncio.Runner()
        return self._sync.run(self._collect(text, on_event))

    async def queue(self, text: str, *, key: Key = Key.SEND) -> Delivery:
        """Take what the user typed while the model works: text, or a command such as `/name`.

        With the usual key the model gets it before its next request (`STEER`), with the other one
        when it would stop (`FOLLOW_UP`). If no model is at work it is a plain prompt, which `send`
        takes; it is in `undelivered` until then.
        """
        loop = self._main.loop if self._main is not None and self._events is not None else None
        typed = await self.conversation.run_async(text, key=key, streaming=loop is not None)
        if isinstance(typed, Notice):
            raise UsageError(typed.message)
        if isinstance(typed, ToolReply):
            self._emit(TextDelta(text=typed.text))
            return Delivery.STEER
        delivery = find_delivery(key, streaming=loop is not None)
        id = loop.enqueue(typed.text, steer=delivery is Delivery.STEER) if loop else None
        if id is None:
            self._waiting[f"prompt-{len(self._waiting)}-{time.time_ns():x}"] = text
            return Delivery.PROMPT
        self._waiting[id] = text
        self._emit(MessageQueued(id=id, text=text, delivery=delivery.value))
        return delivery

    @property
    def undelivered(self) -> tuple[str, ...]:
        """What was queued and has not reached the model, as it was typed: nothing typed is lost."""
        return tuple(self._waiting.values())

    def take_undelivered(self) -> tuple[str, ...]:
        """What `undelivered` has, for someone who sends it again; afterwards it is empty."""
        texts = self.undelivered
        self._waiting.clear()
        return texts

    def interrupt(self) -> None:
        """Stop the turn that is running; may be called from any thread."""
        self._token.cancel()

    def close(self) -> None:
        """Close the files of the session, and its event loop if it has one."""
        if self._sync is not None:
            self._sync.close()
            self._sync = None
        self.models.close()
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def _collect(self, text: str, on_event: Callable[[Event], object] | None) -> TurnEnded:
        ended: TurnEnded | None = None
        async for event in self.send(text):
            if on_event is not None:
                on_event(event)
            if isinstance(event, TurnEnded):
                ended = event
        assert ended is not None
        return ended

    async def _run_turn(self, text: str) -> None:
        self._announce()
        self._turns += 1
        self._emit(TurnStarted(turn=self._turns, text=text))
        before = len(self._history)
        self._noted.clear()
        try:
            if self._file is not None:
                self._file.begin_turn(self._turns, text)
            if self._main is not None:
                # Skills that were added or changed since the last turn are there in this one.
                await run_in_thread(lambda is_cancelled: self.skills.reload())
            result = await self._answer(text)
        except _NOT_ALLOWED as error:
            result = LoopResult(status="refused", reason=_make_reason(error))
        except ProwessError as error:
            result = LoopResult(status="failed", reason=_make_reason(error))
        refusals = self._main.context.turn.refusals if self._main else []
        if refusals and result.status == "done":
            result.status, result.reason = "refused", refusals[0].rstrip(".")
        self._save_end(result, before)
        self._emit(
            TurnEnded(
                turn=self._turns,
                status=result.status,
                answer=result.answer,
                reason=result.reason,
                requests=result.requests,
                input_tokens=result.input_tokens,
                output_tokens=result.output_tokens,
                cost=result.cost,
            )
        )

    async def _answer(self, text: str) -> LoopResult:
        """What comes of a typed text: a tool's reply, a refusal, or the work of the model."""
        typed = await self.conversation.run_async(text)
        if isinstance(typed, Notice):
            return LoopResult(status="refused", reason=typed.message.rstrip("."))
        if isinstance(typed, ToolReply):
            self._emit(TextDelta(text=typed.text))
            return LoopResult(answer=typed.text)
        worker = await self._open_main()
        worker.begin_turn()
        prompt = typed.text
        if isinstance(typed, Message):
            forked = await self._load_typed(typed, worker)
            if forked is not None:
                return forked
        if self._resumed is not None and self._resumed.unknown:
            prompt = f"{_render_unknown(self._resumed)}\n\n{prompt}"
        self._resumed = None
        result = await worker.loop.work(prompt, self.limits, self._token)
        self._history = worker.loop.history
        return result

    async def _load_typed(self, message: Message, worker: _Worker) -> LoopResult | None:
        """Apply what the skills of a message ask for; the result of the one that runs apart."""
        for name in message.skills:
            tokens = estimate_tokens(message.text) if len(message.skills) == 1 else 0
            self._emit(SkillLoaded(name=name, by="user", tokens=tokens))
            requests = message.requests.get(name, SkillRequests())
            if name in message.untrusted:
                requests = msgspec.structs.replace(requests, allowed_tools=())
            if requests.fork:
                return await self._fork(name, message.text, requests, depth=1)
            self._apply(requests, worker)
        return None

    # Agents

    async def _open_main(self) -> _Worker:
        """The main agent, made when a model is first needed."""
        if self._main is None:
            self._main = await self._open_worker("", self.models.open(), depth=0)
            self._main.loop.history = self._history
        return self._main

    async def _open_worker(
        self,
        name: str,
        model: Model,
        *,
        depth: int,
        definition: AgentDefinition | None = None,
    ) -> _Worker:
        conversation = self.conversation
        if depth:
            # A child has its own window, so it must not know what the parent has loaded.
            conversation = self.skills.conversation(
                session=self.id, approver=self._approver, runner=self._find_skill_runner()
            )
        if self._instructions is None:
            self._instructions = await run_in_thread(lambda is_cancelled: self._render())
        worker: _Worker

        async def activated(activation: Activation) -> str | None:
            return await self._load_for_model(activation, worker, depth=depth)

        context = CallContext(
            agent=name,
            conversation=conversation,
            gatekeeper=self._gatekeeper,
            get_rules=lambda: self.skills.project.gather_rules(conversation.snapshot.settings),
            emit=self._emit,
            wait_until_shown=self._wait_until_shown,
            log=self._file or NoCallLog(),
            activated=activated,
        )
        files = FileTools(self._project_files, self._runner, lambda: _list_folders(conversation))
        window = model.context_window
        options = {} if window is None else {"context_tokens": window}
        toolset = build_toolset(
            context,
            files,
            BashTool(self._find_sandbox),
            self._make_task(lambda: worker, depth),
            only=None if definition is None else definition.tools,
            **options,
        )
        loop = AgentLoop(
            name,
            model,
            toolset,
            _add_prompt(self._instructions, definition),
            emit=self._emit,
            on_response=self._note_response,
            on_messages=self._note_messages if depth == 0 else _ignore,
            on_delivered=self._note_delivered,
        )
        worker = _Worker(loop, context)
        return worker

    async def _load_for_model(
        self, activation: Activation, worker: _Worker, *, depth: int
    ) -> str | None:
        """Apply what a skill asks for that a model loaded.

        Returns the result of one that runs apart, which takes the place of its text.
        """
        tokens = estimate_tokens(activation.text)
        agent = worker.context.agent
        self._emit(SkillLoaded(agent=agent, name=activation.name, by="model", tokens=tokens))
        requests = activation.requests
        if not activation.trusted:
            requests = msgspec.structs.replace(requests, allowed_tools=())
        if not requests.fork:
            self._apply(requests, worker)
            return None
        # The text goes to the child and not into this conversation.
        worker.context.conversation.forget(activation.name)
        result = await self._fork(activation.name, activation.text, requests, depth=depth + 1)
        if result.status != "done":
            raise UsageError(f"The sub-agent did not finish: {result.reason}.")
        return result.answer

    async def _fork(
        self, name: str, prompt: str, requests: SkillRequests, *, depth: int
    ) -> LoopResult:
        """Run a skill in a sub-agent with its own window; the rules of the session apply to it."""
        definition = self._definitions.get(requests.agent or "")
        return await self._run_child(name, prompt, definition, requests, depth=depth)

    async def _run_child(
        self,
        name: str,
        prompt: str,
        definition: AgentDefinition,
        requests: SkillRequests,
        *,
        depth: int,
    ) -> LoopResult:
        if depth > _MOST_DEPTH:
            raise UsageError(f"Sub-agents cannot be nested more than {_MOST_DEPTH} deep.")
        wanted = requests.model or definition.model
        model = self._find_model(wanted, agent=name) or self.models.open(agent=name)
        worker = await self._open_worker(name, model, depth=depth, definition=definition)
        worker.begin_turn()
        self._apply(msgspec.structs.replace(requests, model=None), worker)
        preloaded = await self._preload(definition, worker)
        result = await worker.loop.work("\n\n".join((*preloaded, prompt)), self.limits, self._token)
        if self._main is not None:
            self._main.context.turn.refusals.extend(worker.context.turn.refusals)
        return result

    async def _preload(self, definition: AgentDefinition, worker: _Worker) -> list[str]:
        """The bodies of the skills that a definition has loaded, as far as the rules allow them."""
        texts = []
        for name in definition.skills:
            activation = await worker.context.conversation.activate_async(name, by="model")
            tokens = estimate_tokens(activation.text)
            agent = worker.context.agent
            self._emit(SkillLoaded(agent=agent, name=name, by="agent", tokens=tokens))
            texts.append(activation.text)
        return texts

    def _make_task(self, get_worker: Callable[[], _Worker], depth: int) -> Callable[..., Plan]:
        """The tool with which an agent gives a task to another one."""

        def task(prompt: str, agent: str = GENERAL) -> Plan:
            """Give a task to a sub-agent, and get its answer.

            It has a window of its own, so tell it everything that it needs to know.

            Args:
                prompt: The task.
                agent: The kind of agent.
            """
            definition = self._definitions.get(agent)

            async def delegate() -> str:
                result = await self._run_child(
                    definition.name, prompt, definition, SkillRequests(), depth=depth + 1
                )
                if result.status != "done":
                    raise UsageError(f"The sub-agent did not finish: {result.reason}.")
                return result.answer

            return Plan(
                title=f"Task {definition.name}",
                permissions=("task",),
                accesses=(Access(names=(definition.name,)),),
                default=Action.ALLOW,
                delegate=delegate,
                details=(prompt,),
            )

        return task

    def _apply(self, requests: SkillRequests, worker: _Worker) -> None:
        turn = worker.context.turn
        turn.granted = turn.granted.add(requests.allowed_tools, requests.disallowed_tools)
        worker.loop.use(
            self._find_model(requests.model, agent=worker.context.agent), requests.effort
        )

    def _find_model(self, name: str | None, *, agent: str) -> Model | None:
        """The model that a skill asks for; None leaves it as it is, with a warning if unknown."""
        if name is None:
            return None
        try:
            return self.models.find(name, agent=agent)
        except ModelUnavailable as error:
            message = f"{error} The skill runs with the model of the session."
            self._emit(Warned(agent=agent, code="model-unavailable", message=message))
            return None

    # Machine and disk

    def _find_skill_runner(self) -> ReadOnlyRunner | None:
        """What runs the commands of skills; None for the usual one."""
        return self._runner if isinstance(self._runner, ReadOnlyRunner) else None

    def _find_sandbox(self) -> BashSandbox:
        project = self.skills.project
        return find_bash_sandbox(
            project.load_own_settings(),
            self._facts,
            self._runner,
            project=self._root,
            cwd=self.skills.cwd,
        )

    def _render(self) -> str:
        context = self.skills.context_files()
        return render_instructions(
            cwd=self.skills.cwd,
            platform=self._facts.platform,
            context=context,
            agents=self._definitions.load().values(),
        )

    def _open_file(self, resume: SavedSession | None, *, fork: bool) -> SessionFile:
        if resume is not None and not fork:
            return SessionFile.resume(self._facts, resume)
        return SessionFile.create(
            self._facts, cwd=self.skills.cwd, host=self.skills.host, parent=resume
        )

    def _note_response(self, response: ModelResponse, agent: str) -> None:
        self.models.record(response, agent)

    def _note_messages(self, messages: Sequence[ModelMessage]) -> None:
        if self._file is not None:
            self._noted += messages
            self._file.note_messages(ModelMessagesTypeAdapter.dump_json(list(messages)))

    def _note_delivered(self, id: str) -> None:
        if self._waiting.pop(id, None) is not None:
            self._emit(MessageDelivered(id=id))

    def _save_end(self, result: LoopResult, before: int) -> None:
        if self._file is None:
            return
        # Usually every message of the turn is in the file already.
        messages = None
        if self._noted != self._history[before:]:
            messages = msgspec.Raw(ModelMessagesTypeAdapter.dump_json(self._history[before:]))
        end = EndRecord(
            turn=self._turns,
            status=result.status,
            conversation=self.conversation.save(),
            messages=messages,
            input_tokens=result.input_tokens,
            output_tokens=result.output_tokens,
            cost=result.cost,
        )
        try:
            self._file.end_turn(end)
        except ProwessError as error:
            self._emit(Warned(code="session-not-saved", message=str(error)))

    def _announce(self) -> None:
        if self._started:
            return
        self._started = True
        self._emit(
            SessionStarted(
                version=VERSION,
                session=self.id,
                cwd=self.skills.cwd,
                host=self.skills.host,
                model=self.models.name or "",
                resumed=self._resumed is not None,
            )
        )
        for call in self._resumed.unknown if self._resumed else ():
            message = (
                f"It is not known whether this was done before the session ended: {call.title}"
            )
            self._emit(Warned(code="unknown-outcome", message=message))

    async def _wait_until_shown(self) -> None:
        """Wait until the consumer has dealt with every event so far."""
        if self._events is not None:
            await self._events.join()

    def _emit(self, event: Event) -> None:
        if self._events is not None:
            self._events.put_nowait(event)


class _Worker:
    """An agent of the session: its loop, and what its tools need."""

    def __init__(self, loop: AgentLoop, context: CallContext) -> None:
        self.loop = loop
        self.context = context

    def begin_turn(self) -> None:
        """Forget what skills of the last turn asked for."""
        self.loop.begin_turn()
        self.context.turn = Turn()


def _list_folders(conversation: Conversation) -> list[str]:
    """The folders of the skills that the model may load."""
    return [skill.folder for skill in conversation.snapshot.skills if skill.folder]


def _render_unknown(resumed: SavedSession) -> str:
    listed = "\n".join(f"- {call.title}" for call in resumed.unknown)
    return (
        "The session ended while these calls were running. Nobody knows whether they were done:\n"
        f"{listed}\n"
        "Find out before you do anything like them again, and ask the user if you cannot."
    )


def _make_reason(error: ProwessError) -> str:
    hint = f" {error.hint}" if error.hint else ""
    return f"{error}{hint}".rstrip(".")


def _ignore(messages: Sequence[ModelMessage]) -> None:
    """The messages of a sub-agent are not those of the session."""


def _add_prompt(instructions: str, definition: AgentDefinition | None) -> str:
    """The instructions of a sub-agent: those of the session, then those of its definition."""
    own = definition.prompt if definition is not None else ""
    return f"{instructions}\n\n{own}" if own else instructions
