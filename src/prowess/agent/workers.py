"""The agents of a session: the main one, and sub-agents that skills and tasks start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import msgspec
from pydantic_ai import CancellationToken, FunctionToolset
from pydantic_ai.messages import ModelMessage, UserContent
from pydantic_ai.models import Model
from pydantic_ai.toolsets import AbstractToolset

from prowess.activate.slash.messages import Message
from prowess.agent.attachments import Attached, select_images
from prowess.agent.background import BackgroundTasks, render_started
from prowess.agent.compaction import AGENT, INSTRUCTIONS, Compactor
from prowess.agent.configuration import Configuration
from prowess.agent.definitions import (
    GENERAL,
    AgentDefinition,
    explain_refused_link,
    open_definitions,
)
from prowess.agent.events import Event, SkillLoaded, TextDelta, ThinkingDelta, Warned
from prowess.agent.hooks.process import HookPlace
from prowess.agent.hooks.session_hooks import AgentHooks
from prowess.agent.hooks.setup import open_hooks
from prowess.agent.instructions import render_instructions
from prowess.agent.jobs.values import JobRunner, TurnSpec
from prowess.agent.loop import AgentLoop
from prowess.agent.mcp_tools import open_mcp_tools
from prowess.agent.models import ModelSource
from prowess.agent.permissions import Granted
from prowess.agent.prompt_content import Prompt, add_media, select_media, takes_images
from prowess.agent.shipped.toolset import open_shipped_tools
from prowess.agent.skill_grants import SkillGrants
from prowess.agent.subagent_jobs import Assignment, Block, SubagentJobs
from prowess.agent.tools.bash import BashTool
from prowess.agent.tools.plan import Access, Plan
from prowess.agent.tools.web import WebTool
from prowess.agent.toolset import CallContext, Turn, build_toolset
from prowess.agent.transcript import Transcript
from prowess.agent.turn import Limits, LoopResult, Spending
from prowess.agent.worker import Worker
from prowess.agent.workspace import Workspace
from prowess.conversation.conversation import Conversation
from prowess.errors import UsageError
from prowess.machine.event_loop import run_in_thread
from prowess.model.activation import Activation, SkillRequests
from prowess.model.mcp import McpServer
from prowess.model.permission import Action, Decision, Rule
from prowess.ports import Approver
from prowess.present.tokens import estimate_tokens
from prowess.runtime import Skills
from prowess.telemetry import observe
from prowess.text.display import count_words

# A skill that runs in a sub-agent may load one that does, too, but not without end.
_MOST_DEPTH = 3
_SPOKEN = (TextDelta, ThinkingDelta)


class Watch(NamedTuple):
    """What is called when an agent has new messages, received one, or was compacted."""

    on_messages: Callable[[Sequence[ModelMessage]], None] = lambda messages: None
    on_delivered: Callable[[str], None] = lambda id: None
    on_compacted: Callable[[Sequence[ModelMessage]], None] = lambda messages: None


_UNWATCHED = Watch()


class Workers:
    """Makes the agents of one session, and lets them work. The rules of the session hold for all.

    `token` interrupts the turn that is running. `refusals` are the calls of the turn that needed an
    approval and got none, whoever made them. `spending` is what all agents of the turn have used.
    `definitions` are the kinds of agents that there are. With a `runner`, sub-agents in the
    background are `jobs`, which go on if the program `is_left`.
    """

    jobs: SubagentJobs | None = None

    def __init__(
        self,
        skills: Skills,
        configuration: Configuration,
        models: ModelSource,
        approver: Approver | None,
        *,
        session: str,
        transcript: Transcript,
        limits: Limits,
        read_only: bool,
        emit: Callable[[Event], None],
        wait_until_shown: Callable[[], Awaitable[None]],
        taken: Iterable[str] = (),
        servers: Sequence[McpServer] = (),
        runner: JobRunner | None = None,
    ) -> None:
        self.token = CancellationToken()
        self.is_left = False
        self.refusals: list[str] = []
        self.spending = Spending(limits)
        self.skills = skills
        self._models = models
        self._approver = approver
        self._session = session
        self._limits = limits
        self._log = transcript.call_log
        self._emit = emit
        self._wait_until_shown = wait_until_shown
        self._taken = tuple(taken)
        self._settings = configuration.own.agent
        self._workspace = Workspace(skills, configuration, approver, read_only=read_only)
        self._grants = SkillGrants(skills, models, emit)
        self._refused_links: list[str] = []
        self.definitions = open_definitions(
            skills, configuration, self._workspace.root, on_refused=self._refused_links.append
        )
        self._mcp = open_mcp_tools(skills, configuration, emit, servers, read_only=read_only)
        self._instructions: str | None = None
        self.hooks = open_hooks(
            skills,
            configuration,
            HookPlace(
                session=session,
                cwd=skills.cwd,
                project=self._workspace.root,
                transcript=transcript.path,
            ),
            self._workspace.runner,
            emit=emit,
            is_interrupted=lambda: self.token.cancelled,
            interrupt=self.interrupt,
        )
        self.main_hooks = self.hooks.open_agent("")
        # An editor's servers end with this process, and what is not kept gets no report.
        if runner is not None and transcript.path and not servers:
            self.jobs = self._open_jobs(runner, transcript, read_only=read_only)

    def _open_jobs(
        self, runner: JobRunner, transcript: Transcript, *, read_only: bool
    ) -> SubagentJobs:
        return SubagentJobs(
            runner,
            self.skills,
            self._models,
            self._approver,
            transcript,
            read_only=read_only,
            emit=self._emit,
            is_ended=self.is_ended,
            note_refusal=self.refusals.append,
        )

    def interrupt(self) -> None:
        """Stop the turn that is running; may be called from any thread."""
        # Each turn has a token of its own.
        self.token.cancel()

    def leave(self) -> None:
        """Stop the turn that is running, but not its jobs; may be called from any thread."""
        # What was interrupted before is over, jobs included.
        self.is_left = self.is_left or not self.token.cancelled
        self.token.cancel()

    def is_ended(self) -> bool:
        """Whether the user or a limit ended the turn, and so everything that it started."""
        return (self.token.cancelled and not self.is_left) or self.spending.is_exhausted

    def close(self) -> None:
        """End the MCP servers of the session."""
        if self._mcp is not None:
            self._mcp.close()

    # Agents

    def open_conversation(self, saved: str | None = None) -> Conversation:
        """A conversation with the skills, for one agent."""
        return self.skills.conversation(
            session=self._session,
            approver=self._approver,
            saved=saved,
            runner=self._workspace.skill_runner,
            taken=self._taken,
        )

    async def open(
        self,
        name: str,
        model: Model,
        conversation: Conversation,
        *,
        depth: int = 0,
        definition: AgentDefinition | None = None,
        hooks: AgentHooks | None = None,
        watch: Watch = _UNWATCHED,
    ) -> Worker:
        """A new agent with its own window."""
        instructions = await self._load_instructions(definition)
        worker = Worker(name, depth=depth, is_kept=watch is not _UNWATCHED)
        worker.context = self._make_context(worker, conversation, hooks or self.main_hooks)
        worker.tasks = BackgroundTasks(name, report=worker.report, emit=self._emit, log=self._log)
        only = None if definition is None else definition.tools
        toolset = self._make_toolset(worker, model.context_window, only)
        worker.loop = self._make_loop(worker, model, toolset, instructions, watch)
        return worker

    def _make_context(
        self, worker: Worker, conversation: Conversation, hooks: AgentHooks
    ) -> CallContext:
        return CallContext(
            agent=worker.name,
            conversation=conversation,
            gatekeeper=self._workspace.gatekeeper,
            get_rules=partial(self._workspace.gather_rules, conversation),
            emit=self._emit,
            wait_until_shown=self._wait_until_shown,
            log=self._log,
            activated=partial(self._load_for_model, worker),
            hooks=hooks,
        )

    def _make_toolset(
        self, worker: Worker, window: int | None, only: Sequence[str] | None
    ) -> AbstractToolset[Any]:
        context, place = worker.context, self._workspace
        conversation = context.conversation
        catalog = {} if window is None else {"context_tokens": window}

        def open_judge() -> Callable[[Plan], Decision]:
            # What is granted changes from turn to turn.
            return place.open_judge(conversation, context.turn.granted)

        files = place.open_files(conversation, open_judge)
        return build_toolset(
            context,
            files,
            BashTool(place.find_sandbox),
            WebTool(place.list_private_hosts, open_judge),
            self._make_task(worker),
            shipped=open_shipped_tools(self.skills, conversation, files.find_denial, only=only),
            mcp=self._mcp,
            only=only,
            **catalog,
        )

    def _make_loop(
        self,
        worker: Worker,
        model: Model,
        toolset: AbstractToolset[Any],
        instructions: str,
        watch: Watch,
    ) -> AgentLoop:
        def note_delivered(id: str) -> None:
            worker.tasks.note_delivered(id)
            watch.on_delivered(id)

        return AgentLoop(
            worker.name,
            model,
            toolset,
            instructions,
            emit=self._emit,
            on_response=self._models.record,
            on_messages=watch.on_messages,
            on_delivered=note_delivered,
            compactor=Compactor(
                worker.name,
                worker.context.conversation,
                self._settings,
                summarize=partial(self._summarize, worker),
                save=watch.on_compacted,
                emit=self._emit,
            ),
            before_end=worker.tasks.wait,
        )

    async def _summarize(self, worker: Worker, prompt: str) -> LoopResult:
        """Let the model of an agent summarize its conversation."""
        loop = AgentLoop(
            AGENT,
            self._models.share(worker.loop.model, AGENT),
            FunctionToolset[Any](),
            INSTRUCTIONS,
            # The summary is part of another event.
            emit=lambda event: None if isinstance(event, _SPOKEN) else self._emit(event),
            on_response=self._models.record,
            on_messages=lambda messages: None,
            on_delivered=lambda id: None,
        )
        return await loop.work(prompt, self.spending, self.token)

    def prepare(self) -> None:
        """Read what the first agent needs, in a thread that may wait for the disk."""
        if self._instructions is None:
            self._instructions = self._render()

    async def _load_instructions(self, definition: AgentDefinition | None) -> str:
        """What the model is told about itself, and what the definition of its agent adds."""
        if self._instructions is None:
            await run_in_thread(lambda is_cancelled: self.prepare())
        self._warn_links()
        own = definition.prompt if definition is not None else ""
        return "\n\n".join(filter(None, (self._instructions, own)))

    def _render(self) -> str:
        return render_instructions(
            cwd=self.skills.cwd,
            platform=self.skills.facts.platform,
            context=self.skills.context_files(),
            agents=self.definitions.load().values(),
        )

    def _warn_links(self) -> None:
        """Say which definitions of agents are not read."""
        links, self._refused_links[:] = list(self._refused_links), []
        for path in links:
            self._emit(Warned(code="agent-link-refused", message=explain_refused_link(path)))

    # Turns

    async def attach(self, paths: Sequence[str], conversation: Conversation) -> Attached:
        """The files that the user names, as far as the rules let the model read them."""
        return await self._workspace.attach(paths, conversation, self._emit)

    def begin_turn(self) -> None:
        """Forget what happened in the last turn."""
        self.refusals.clear()
        self.hooks.stop_reason = None
        self.spending = Spending(self._limits)

    def reset(self, worker: Worker, *, disallowed: tuple[Rule, ...] = ()) -> None:
        """Forget what skills of the last turn asked for. What a parent may not do, no child may."""
        worker.loop.begin_turn()
        worker.context.turn = Turn(Granted(disallowed=disallowed), refusals=self.refusals)

    async def work(self, worker: Worker, prompt: Prompt) -> LoopResult:
        """Let an agent work, until it and all that it started in the background have ended."""
        try:
            return await self._work_on(worker, prompt)
        finally:
            # An interrupt ends them, and the model learns of that with the next prompt.
            for report in await worker.tasks.end():
                worker.loop.note(report)

    async def _work_on(self, worker: Worker, prompt: Prompt) -> LoopResult:
        """Let an agent work until it stops and hooks let it stop."""
        result = await worker.loop.work(prompt, self.spending, self.token)
        continued, hooks = 0, worker.context.hooks
        while result.status == "done" and (
            more := await hooks.find_continuation(result.answer, continued=continued)
        ):
            continued, answer = continued + 1, result.answer
            result = await worker.loop.work(more, self.spending, self.token)
            result.answer = result.answer or answer
        return result

    # Skills

    async def load_typed(
        self,
        message: Message,
        worker: Worker,
        attached: Attached,
        keep: Callable[[LoopResult], None],
    ) -> LoopResult | None:
        """Apply what the skills of a typed message ask for; the result of one that runs apart.

        `keep` gets that result first, before a job counts as one that has reported.
        """
        forked = self.apply_typed(message, worker)
        if forked is None:
            return None
        assignment = forked._replace(attached=attached)
        spec = self._find_job(assignment, worker) if forked.requests.background else None
        if self.jobs is not None and spec is not None:
            return await self.jobs.run(forked.name, spec, self.spending, keep)
        result = await self._run_child(assignment, worker)
        keep(result)
        return result

    async def start_typed(self, message: Message, worker: Worker, attached: Attached) -> bool:
        """Let a typed skill run in the background while the agent works; whether it still does."""
        if not worker.loop.is_working:
            return False
        forked = self.apply_typed(message, worker)
        assert forked is not None
        await self._start_child(forked._replace(attached=attached), worker)
        return True

    def apply_typed(self, message: Message, worker: Worker) -> Assignment | None:
        """Apply what the skills of a typed message ask for; the first one that must run apart."""
        self._grants.warn(message.diagnostics)
        for name in message.skills:
            tokens = estimate_tokens(message.text) if len(message.skills) == 1 else 0
            self._emit(SkillLoaded(name=name, by="user", tokens=tokens))
            requests = self._grants.limit(
                message.requests.get(name, SkillRequests()),
                worker,
                skill=name,
                is_trusted=name not in message.untrusted,
            )
            if requests.fork:
                return self._assign(name, message.text, requests, message.blocks)
            self._grants.apply(requests, worker, skill=name)
        return None

    def list_media(
        self, typed: object, attached: Attached, worker: Worker
    ) -> tuple[UserContent, ...]:
        """The images and files of a message that the model takes, with a warning if not."""
        blocks = typed.blocks if isinstance(typed, Message) else ()
        return self._select_media(blocks, attached, worker)

    def _select_media(
        self, blocks: Iterable[Block], attached: Attached, worker: Worker
    ) -> tuple[UserContent, ...]:
        model = worker.loop.model
        media = select_media(blocks, model)
        self._warn_left_out(media.left_out, worker.name)
        images = select_images(attached, are_taken=takes_images(model), emit=self._emit)
        return (*media.content, *images)

    def _warn_left_out(self, count: int, agent: str) -> None:
        if count:
            were = "was" if count == 1 else "were"
            files = count_words(count, "attachment")
            said = f"{files} of the skill {were} not sent to the model."
            self._emit(Warned(agent=agent, code="blocks-left-out", message=said))

    async def _load_for_model(self, worker: Worker, activation: Activation) -> str | None:
        """Apply what a skill asks for that a model loaded.

        Returns the result of one that runs apart, which takes the place of its text.
        """
        name = activation.name
        requests = self._note_loaded(activation, worker, by="model")
        if not requests.fork:
            self._grants.apply(requests, worker, skill=name)
            return None
        # The text goes to the child and not into this conversation.
        worker.context.conversation.forget(name)
        assignment = self._assign(name, activation.text, requests, activation.blocks)
        if requests.background:
            return await self._start_child(assignment, worker)
        return await self._delegate(assignment, worker)

    def _note_loaded(
        self, activation: Activation, worker: Worker, *, by: Literal["model", "agent"]
    ) -> SkillRequests:
        """Show that a skill was loaded; what it asks for, as far as it may have it."""
        name, agent = activation.name, worker.name
        tokens = estimate_tokens(activation.text)
        self._emit(SkillLoaded(agent=agent, name=name, by=by, tokens=tokens))
        self._grants.warn(activation.diagnostics, agent=agent)
        return self._grants.limit(
            activation.requests, worker, skill=name, is_trusted=activation.trusted
        )

    # Sub-agents

    def _make_task(self, worker: Worker) -> Callable[..., Plan]:
        """The tool with which an agent gives a task to another one."""

        def task(prompt: str, agent: str = GENERAL, *, background: bool = False) -> Plan:
            """Give a task to a sub-agent, and get its answer.

            It has a window of its own, so tell it everything that it needs to know.

            Args:
                prompt: The task.
                agent: The kind of agent.
                background: Do not wait; the answer arrives as a message when it is done.
            """
            definition = self.definitions.get(agent)
            name = definition.name
            assignment = Assignment(name, prompt, definition, SkillRequests())

            async def delegate() -> str:
                if background:
                    return await self._start_child(assignment, worker)
                return await self._delegate(assignment, worker)

            return Plan(
                title=f"Task {name}",
                permissions=("task",),
                accesses=(Access(names=(name,)),),
                default=Action.ALLOW,
                delegate=delegate,
                details=(prompt,),
            )

        return task

    def _assign(
        self, skill: str, text: str, requests: SkillRequests, blocks: tuple[Block, ...]
    ) -> Assignment:
        """A skill that runs apart, as the task of a sub-agent."""
        definition = self.definitions.get(requests.agent or "")
        return Assignment(skill, text, definition, requests, blocks)

    async def _start_child(self, assignment: Assignment, parent: Worker) -> str:
        """Let a sub-agent work in the background; what the parent is told now."""
        name, spec = assignment.name, self._find_job(assignment, parent)
        if self.jobs is None or spec is None:
            return parent.tasks.start(name, lambda: self._run_child(assignment, parent))
        id = await self.jobs.start(name, spec)
        # Where the parent has ended meanwhile, it gets the report in its next turn.
        if parent.loop.is_working:
            parent.tasks.follow(id, name, partial(self.jobs.follow, id, name, self.spending))
        return render_started(id)

    def _find_job(self, assignment: Assignment, parent: Worker) -> TurnSpec | None:
        """The job that a sub-agent can work as; None if it has to work in this process."""
        if self.jobs is None:
            return None
        return self.jobs.find_spec(assignment, parent, self.spending)

    async def _delegate(self, assignment: Assignment, parent: Worker) -> str:
        """The answer of a sub-agent. Raises `UsageError` where it did not finish."""
        result = await self._run_child(assignment, parent)
        if result.status != "done":
            raise UsageError(f"The sub-agent did not finish: {result.reason}.")
        return result.answer

    async def _run_child(self, assignment: Assignment, parent: Worker) -> LoopResult:
        """Let a sub-agent work. It does not know what the agents above it have loaded or said."""
        depth = parent.depth + 1
        if depth > _MOST_DEPTH:
            raise UsageError(f"Sub-agents cannot be nested more than {_MOST_DEPTH} deep.")
        hooks = self.hooks.open_agent(assignment.name, parent.context.hooks.added)
        child = await self.open_child(assignment, self.open_conversation(), hooks, depth=depth)
        self.reset(child, disallowed=parent.context.turn.granted.disallowed)
        return await self.carry_out(assignment, child)

    async def open_child(
        self,
        assignment: Assignment,
        conversation: Conversation,
        hooks: AgentHooks,
        *,
        depth: int,
        watch: Watch = _UNWATCHED,
    ) -> Worker:
        """An agent that will work on a task."""
        name, definition = assignment.name, assignment.definition
        model = self._grants.open_model(name, definition, assignment.requests)
        return await self.open(
            name, model, conversation, depth=depth, definition=definition, hooks=hooks, watch=watch
        )

    async def carry_out(self, assignment: Assignment, child: Worker) -> LoopResult:
        """Let a sub-agent work on its task."""
        name, prompt, definition, requests, blocks, attached = assignment
        # Its model is the one that it was opened with.
        self._grants.apply(msgspec.structs.replace(requests, model=None), child, skill=name)
        with observe("subagent", agent=name, depth=child.depth) as seen:
            loaded = await self._preload(definition, child)
            texts = [*(one.text for one in loaded), attached.add_to(prompt)]
            brought = (*(block for one in loaded for block in one.blocks), *blocks)
            media = self._select_media(brought, attached, child)
            result = await self.work(child, add_media("\n\n".join(texts), media))
            seen.note(status=result.status)
        return result

    async def _preload(self, definition: AgentDefinition, worker: Worker) -> list[Activation]:
        """The skills that a definition has loaded. The rules apply to them."""
        loaded = []
        for name in definition.skills:
            activation = await worker.context.conversation.activate_async(name, by="model")
            requests = self._note_loaded(activation, worker, by="agent")
            if requests.fork:
                message = f"The skill “{name}” is loaded, but does not run in its own sub-agent."
                self._emit(Warned(agent=worker.name, code="fork-ignored", message=message))
            # The definition chooses the model.
            self._grants.apply(msgspec.structs.replace(requests, model=None), worker, skill=name)
            loaded.append(activation)
        return loaded
