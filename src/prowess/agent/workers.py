"""The agents of a session: the main one, and sub-agents that skills and tasks start."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec
from pydantic_ai import CancellationToken, FunctionToolset
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model

from prowess.activate.slash.messages import Message
from prowess.agent.attachments import AttachedFiles, OpenJudge
from prowess.agent.background import BackgroundTasks
from prowess.agent.compaction import AGENT, INSTRUCTIONS, Compactor
from prowess.agent.definitions import (
    GENERAL,
    AgentDefinition,
    AgentDefinitions,
    explain_refused_link,
)
from prowess.agent.events import Event, SkillLoaded, TextDelta, ThinkingDelta, Warned
from prowess.agent.hooks.process import HookPlace
from prowess.agent.hooks.session_hooks import AgentHooks
from prowess.agent.hooks.setup import open_hooks
from prowess.agent.hooks.skill_hooks import is_own, list_skill_hooks, may_hook
from prowess.agent.instructions import render_instructions
from prowess.agent.loop import AgentLoop
from prowess.agent.mcp_tools import open_mcp_tools
from prowess.agent.models import ModelSource
from prowess.agent.permissions import (
    Gatekeeper,
    Granted,
    ToolRules,
    gather_tool_rules,
    judge,
)
from prowess.agent.sandbox import (
    ReadOnlyRunner,
    find_bash_sandbox,
    find_special_paths,
    list_skill_folders,
    open_runner,
)
from prowess.agent.shipped.toolset import open_shipped_tools
from prowess.agent.tools.bash import BashSandbox, BashTool
from prowess.agent.tools.files import FileTools, SpecialPaths
from prowess.agent.tools.plan import Access, Plan
from prowess.agent.tools.web import WebTool
from prowess.agent.toolset import CallContext, CallLog, Turn, build_toolset
from prowess.agent.turn import Limits, LoopResult, Spending
from prowess.conversation.conversation import Conversation
from prowess.diagnostics import Diagnostic
from prowess.errors import UsageError
from prowess.errors.agent import ModelUnavailable
from prowess.gate.approvals import Approvals
from prowess.machine.event_loop import run_in_thread
from prowess.machine.project_files import ProjectFiles
from prowess.model.activation import Activation, SkillRequests
from prowess.model.mcp import McpServer
from prowess.model.permission import Action, Decision
from prowess.ports import Approver
from prowess.present.tokens import estimate_tokens
from prowess.runtime import Skills
from prowess.state.approvals import ApprovalFile, approvals_path
from prowess.telemetry import observe

# A skill that runs in a sub-agent may load one that does, too, but not without end.
_MOST_DEPTH = 3
_SPOKEN = (TextDelta, ThinkingDelta)


class Worker:
    """An agent: its loop, what its tools need, and how many agents are above it."""

    def __init__(
        self, loop: AgentLoop, context: CallContext, tasks: BackgroundTasks, *, depth: int
    ) -> None:
        self.loop = loop
        self.context = context
        self.tasks = tasks
        self.depth = depth


class Workers:
    """Makes the agents of one session, and lets them work. The rules of the session hold for all.

    `token` interrupts the turn that is running. `refusals` are the calls of the turn that needed an
    approval and got none, whoever made them. `spending` is what all agents of the turn have used.
    """

    def __init__(
        self,
        skills: Skills,
        models: ModelSource,
        approver: Approver | None,
        *,
        session: str,
        transcript: str,
        limits: Limits,
        read_only: bool,
        log: CallLog,
        emit: Callable[[Event], None],
        wait_until_shown: Callable[[], Awaitable[None]],
        taken: Iterable[str] = (),
        servers: Sequence[McpServer] = (),
    ) -> None:
        self.token = CancellationToken()
        self.refusals: list[str] = []
        self.spending = Spending(limits)
        self._skills = skills
        self._models = models
        self._approver = approver
        self._session = session
        self._limits = limits
        self._log = log
        self._emit = emit
        self._wait_until_shown = wait_until_shown
        self._taken = tuple(taken)
        facts, snapshot = skills.facts, skills.snapshot
        self._root = snapshot.repository or snapshot.cwd
        self._runner = open_runner(facts, read_only=read_only)
        self._files = ProjectFiles(self._root, snapshot.cwd, home=facts.home)
        own = skills.project.load_own_settings()
        self._settings = own.agent
        is_kept = own.approvals == "disk"
        store = ApprovalFile(approvals_path(facts)) if is_kept else None
        self._gatekeeper = Gatekeeper(
            Approvals(store, now=lambda: time.strftime("%Y-%m-%d")),
            approver,
            project=self._root,
            home=facts.home,
            read_only=read_only,
        )
        self._refused_links: list[str] = []
        self._definitions = AgentDefinitions(
            (snapshot.cwd, self._root),
            skills.project.files,
            skills.profile.header,
            skills.profile.limits,
            home=facts.home,
            trusted_links=skills.settings().trusted_links,
            plugins=skills.plugins(),
            on_refused=self._refused_links.append,
        )
        self._mcp = open_mcp_tools(skills, emit, servers, read_only=read_only)
        self._instructions: str | None = None
        place = HookPlace(
            session=session, cwd=skills.cwd, project=self._root, transcript=transcript
        )
        self.hooks = open_hooks(
            skills,
            place,
            self._runner,
            emit=emit,
            is_interrupted=lambda: self.token.cancelled,
            interrupt=self.interrupt,
        )
        self.main_hooks = self.hooks.open_agent("")

    def interrupt(self) -> None:
        """Stop the turn that is running; may be called from any thread."""
        # Each turn has a token of its own.
        self.token.cancel()

    def open_conversation(self, saved: str | None = None) -> Conversation:
        """A conversation with the skills, for one agent."""
        # In a read-only session the commands of skills cannot write either.
        runner = self._runner if isinstance(self._runner, ReadOnlyRunner) else None
        return self._skills.conversation(
            session=self._session,
            approver=self._approver,
            saved=saved,
            runner=runner,
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
        on_messages: Callable[[Sequence[ModelMessage]], None] = lambda messages: None,
        on_delivered: Callable[[str], None] = lambda id: None,
        on_compacted: Callable[[Sequence[ModelMessage]], None] = lambda messages: None,
    ) -> Worker:
        """A new agent with its own window."""
        if self._instructions is None:
            self._instructions = await run_in_thread(lambda is_cancelled: self._render())
            self._warn_links()
        own = definition.prompt if definition is not None else ""
        tools = definition.tools if definition is not None else None

        async def activated(activation: Activation) -> str | None:
            return await self._load_for_model(activation, worker)

        context = CallContext(
            agent=name,
            conversation=conversation,
            gatekeeper=self._gatekeeper,
            get_rules=lambda: self._gather_rules(conversation),
            emit=self._emit,
            wait_until_shown=self._wait_until_shown,
            log=self._log,
            activated=activated,
            hooks=hooks or self.main_hooks,
        )

        def delivered(id: str) -> None:
            tasks.note_delivered(id)
            on_delivered(id)

        tasks = BackgroundTasks(
            name,
            report=lambda text: worker.loop.enqueue(text, steer=True),
            emit=self._emit,
            log=self._log,
        )
        window = model.context_window
        toolset = build_toolset(
            context,
            self._open_files(
                conversation, lambda: self._open_judge(conversation, context.turn.granted)
            ),
            BashTool(self._find_sandbox),
            WebTool(lambda: self._skills.project.load_own_settings().agent.private_hosts),
            self._make_task(lambda: worker),
            shipped=open_shipped_tools(self._skills, conversation, only=tools),
            mcp=self._mcp,
            only=tools,
            **({} if window is None else {"context_tokens": window}),
        )
        loop = AgentLoop(
            name,
            model,
            toolset,
            "\n\n".join(filter(None, (self._instructions, own))),
            emit=self._emit,
            on_response=self._models.record,
            on_messages=on_messages,
            on_delivered=delivered,
            compactor=Compactor(
                name,
                conversation,
                self._settings,
                summarize=lambda prompt: self._summarize(prompt, worker),
                save=on_compacted,
                emit=self._emit,
            ),
            before_end=tasks.wait,
        )
        worker = Worker(loop, context, tasks, depth=depth)
        return worker

    async def _summarize(self, prompt: str, worker: Worker) -> LoopResult:
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

    def close(self) -> None:
        """End the MCP servers of the session."""
        if self._mcp is not None:
            self._mcp.close()

    def _open_files(self, conversation: Conversation, open_judge: OpenJudge) -> FileTools:
        return FileTools(
            self._files, self._runner, lambda: self._find_special_paths(conversation), open_judge
        )

    async def attach(self, paths: Sequence[str], conversation: Conversation) -> list[str]:
        """The texts of files that the user names, as far as the rules let the model read them."""
        open_judge = partial(self._open_judge, conversation, Granted())
        tools = self._open_files(conversation, open_judge)
        attached = AttachedFiles(self._files, tools, open_judge)
        return await attached.load(paths, conversation, self._emit)

    def begin_turn(self) -> None:
        """Forget what happened in the last turn."""
        self.refusals = []
        self.hooks.stop_reason = None
        self.spending = Spending(self._limits)

    def reset(self, worker: Worker, *, parent: Worker | None = None) -> None:
        """Forget what skills of the last turn asked for. What a parent may not do, no child may."""
        inherited = () if parent is None else parent.context.turn.granted.disallowed
        worker.loop.begin_turn()
        worker.context.turn = Turn(Granted(disallowed=inherited), refusals=self.refusals)

    async def work(self, worker: Worker, prompt: str) -> LoopResult:
        """Let an agent work, until it and all that it started in the background have ended."""
        try:
            return await self._work_on(worker, prompt)
        finally:
            # An interrupt ends them, and the model learns of that with the next prompt.
            for report in await worker.tasks.end():
                worker.loop.note(report)

    async def _work_on(self, worker: Worker, prompt: str) -> LoopResult:
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

    async def load_typed(self, message: Message, worker: Worker) -> LoopResult | None:
        """Apply what the skills of a typed message ask for; the result of one that runs apart."""
        forked = self.apply_typed(message, worker)
        if forked is None:
            return None
        name, requests = forked
        definition = self._definitions.get(requests.agent or "")
        return await self._run_child(name, message.text, definition, requests, worker)

    def start_typed(self, message: Message, worker: Worker) -> None:
        """Let a typed skill that runs in the background begin while the agent works."""
        forked = self.apply_typed(message, worker)
        assert forked is not None
        name, requests = forked
        definition = self._definitions.get(requests.agent or "")
        self._start_child(name, message.text, definition, requests, worker)

    def apply_typed(self, message: Message, worker: Worker) -> tuple[str, SkillRequests] | None:
        """Apply what the skills of a typed message ask for; the first one that must run apart."""
        if message.blocks:
            said = f"{len(message.blocks)} images or files of the skill do not reach the model."
            self._emit(Warned(code="blocks-left-out", message=said))
        self._warn(message.diagnostics)
        for name in message.skills:
            tokens = estimate_tokens(message.text) if len(message.skills) == 1 else 0
            self._emit(SkillLoaded(name=name, by="user", tokens=tokens))
            requests = self._limit(
                message.requests.get(name, SkillRequests()),
                worker,
                skill=name,
                is_trusted=name not in message.untrusted,
            )
            if requests.fork:
                return name, requests
            self._apply(requests, worker, skill=name)
        return None

    async def _load_for_model(self, activation: Activation, worker: Worker) -> str | None:
        """Apply what a skill asks for that a model loaded.

        Returns the result of one that runs apart, which takes the place of its text.
        """
        name, agent = activation.name, worker.context.agent
        tokens = estimate_tokens(activation.text)
        self._emit(SkillLoaded(agent=agent, name=name, by="model", tokens=tokens))
        self._warn(activation.diagnostics, agent=agent)
        requests = self._limit(
            activation.requests, worker, skill=name, is_trusted=activation.trusted
        )
        if not requests.fork:
            self._apply(requests, worker, skill=name)
            return None
        # The text goes to the child and not into this conversation.
        worker.context.conversation.forget(name)
        definition = self._definitions.get(requests.agent or "")
        if requests.background:
            return self._start_child(name, activation.text, definition, requests, worker)
        return await self._delegate(name, activation.text, definition, requests, worker)

    def _make_task(self, get_worker: Callable[[], Worker]) -> Callable[..., Plan]:
        """The tool with which an agent gives a task to another one."""

        def task(prompt: str, agent: str = GENERAL, *, background: bool = False) -> Plan:
            """Give a task to a sub-agent, and get its answer.

            It has a window of its own, so tell it everything that it needs to know.

            Args:
                prompt: The task.
                agent: The kind of agent.
                background: Go on at once; the answer comes as a message when it is done.
            """
            definition = self._definitions.get(agent)
            name = definition.name

            async def delegate() -> str:
                work = (name, prompt, definition, SkillRequests(), get_worker())
                return self._start_child(*work) if background else await self._delegate(*work)

            return Plan(
                title=f"Task {name}",
                permissions=("task",),
                accesses=(Access(names=(name,)),),
                default=Action.ALLOW,
                delegate=delegate,
                details=(prompt,),
            )

        return task

    def _start_child(
        self,
        name: str,
        prompt: str,
        definition: AgentDefinition,
        requests: SkillRequests,
        parent: Worker,
    ) -> str:
        """Let a sub-agent work in the background; what the parent is told now."""
        return parent.tasks.start(
            name, lambda: self._run_child(name, prompt, definition, requests, parent)
        )

    async def _delegate(
        self,
        name: str,
        prompt: str,
        definition: AgentDefinition,
        requests: SkillRequests,
        parent: Worker,
    ) -> str:
        """The answer of a sub-agent. Raises `UsageError` where it did not finish."""
        result = await self._run_child(name, prompt, definition, requests, parent)
        if result.status != "done":
            raise UsageError(f"The sub-agent did not finish: {result.reason}.")
        return result.answer

    async def _run_child(
        self,
        name: str,
        prompt: str,
        definition: AgentDefinition,
        requests: SkillRequests,
        parent: Worker,
    ) -> LoopResult:
        """Let a sub-agent work. It does not know what the agents above it have loaded or said."""
        depth = parent.depth + 1
        if depth > _MOST_DEPTH:
            raise UsageError(f"Sub-agents cannot be nested more than {_MOST_DEPTH} deep.")
        wanted = requests.model or self._permit_definition(definition)
        model = self._find_model(wanted, agent=name) or self._models.open(agent=name)
        conversation = self.open_conversation()
        child = await self.open(
            name,
            model,
            conversation,
            depth=depth,
            definition=definition,
            hooks=self.hooks.open_agent(name, parent.context.hooks.added),
        )
        self.reset(child, parent=parent)
        self._apply(msgspec.structs.replace(requests, model=None), child, skill=name)
        with observe("subagent", agent=name, depth=depth) as seen:
            texts = [*await self._preload(definition, child), prompt]
            result = await self.work(child, "\n\n".join(texts))
            seen.note(status=result.status)
        return result

    async def _preload(self, definition: AgentDefinition, worker: Worker) -> list[str]:
        """The texts of the skills that a definition has loaded. The rules apply to them."""
        texts = []
        for name in definition.skills:
            activation = await worker.context.conversation.activate_async(name, by="model")
            tokens = estimate_tokens(activation.text)
            agent = worker.context.agent
            self._emit(SkillLoaded(agent=agent, name=name, by="agent", tokens=tokens))
            self._warn(activation.diagnostics, agent=agent)
            requests = self._limit(
                activation.requests, worker, skill=name, is_trusted=activation.trusted
            )
            if requests.fork:
                message = f"The skill “{name}” is loaded, but does not run in an agent of its own."
                self._emit(Warned(agent=agent, code="fork-ignored", message=message))
            # The definition chooses the model.
            self._apply(msgspec.structs.replace(requests, model=None), worker, skill=name)
            texts.append(activation.text)
        return texts

    def _warn_links(self) -> None:
        """Say which definitions of agents are not read."""
        links, self._refused_links[:] = list(self._refused_links), []
        for path in links:
            self._emit(Warned(code="agent-link-refused", message=explain_refused_link(path)))

    def _warn(self, findings: Iterable[Diagnostic], *, agent: str = "") -> None:
        """Show what the user should know about a skill that was loaded."""
        for one in findings:
            # Said by the adapter, which does not know that the agent itself grants requests.
            if one.code == "request-not-granted":
                continue
            self._emit(Warned(agent=agent, code=one.code, message=one.message))

    def _apply(self, requests: SkillRequests, worker: Worker, *, skill: str) -> None:
        """Grant what a skill asks for, until the turn ends; its hooks stay."""
        turn, agent = worker.context.turn, worker.context.agent
        turn.granted = turn.granted.add(requests.allowed_tools, requests.disallowed_tools)
        worker.loop.use(self._find_model(requests.model, agent=agent), requests.effort)
        hooks = list_skill_hooks(skill, requests, worker.context.conversation)
        worker.context.hooks.add(hooks)

    def _limit(
        self, requests: SkillRequests, worker: Worker, *, skill: str, is_trusted: bool
    ) -> SkillRequests:
        """What a skill asks for, without what it may not have."""
        agent, conversation = worker.context.agent, worker.context.conversation
        if not is_trusted:
            requests = msgspec.structs.replace(requests, allowed_tools=())
        if requests.hooks and not may_hook(
            skill, conversation, self._skills, is_trusted=is_trusted
        ):
            said = f"The hooks of the skill “{skill}” do not run, because it is not trusted."
            self._emit(Warned(agent=agent, code="hooks-untrusted", message=said))
            requests = msgspec.structs.replace(requests, hooks={})
        if is_own(skill, conversation):
            return requests
        model = self._permit_model(requests.model, agent=agent)
        return msgspec.structs.replace(requests, model=model)

    def _permit_definition(self, definition: AgentDefinition) -> str | None:
        """The model of a definition; a file of the user's home may name any."""
        folder = definition.file.rsplit("/", 3)[0]
        if folder == self._skills.facts.home:
            return definition.model
        return self._permit_model(definition.model, agent=definition.name)

    def _permit_model(self, name: str | None, *, agent: str) -> str | None:
        """The model that a project asks for; None, with a warning, where it may not choose it."""
        try:
            self._models.check_project_choice(name)
        except ModelUnavailable as error:
            self._warn_model(error, agent)
            return None
        return name

    def _warn_model(self, error: ModelUnavailable, agent: str) -> None:
        message = f"{error} The model of the session is used."
        self._emit(Warned(agent=agent, code="model-unavailable", message=message))

    def _find_model(self, name: str | None, *, agent: str) -> Model | None:
        """The model that a skill asks for; None leaves it as it is, with a warning if unknown."""
        if name is None:
            return None
        try:
            return self._models.find(name, agent=agent)
        except ModelUnavailable as error:
            self._warn_model(error, agent)
            return None

    def _gather_rules(self, conversation: Conversation) -> ToolRules:
        settings = conversation.snapshot.settings
        return gather_tool_rules(settings, self._skills.project.gather_rules)

    def _find_sandbox(self) -> BashSandbox:
        return find_bash_sandbox(
            self._skills.project.load_own_settings(),
            self._skills.facts,
            self._runner,
            project=self._root,
            cwd=self._skills.cwd,
            files=self._skills.project.files,
            repository=self._skills.snapshot.repository,
        )

    def _find_special_paths(self, conversation: Conversation) -> SpecialPaths:
        settings = self._skills.project.load_own_settings()
        files = self._skills.project.files
        trusted = [files.find_real_path(one) for one in self._skills.settings().trusted_links]
        folders = list_skill_folders(conversation, files, (self._files.root, *trusted))
        return find_special_paths(settings, self._skills.facts, folders)

    def _open_judge(
        self, conversation: Conversation, granted: Granted
    ) -> Callable[[Plan], Decision]:
        """What judges plans as the gatekeeper does, by the rules as they are now."""
        rules = self._gather_rules(conversation)
        return lambda plan: judge(plan, rules, granted, home=self._skills.facts.home)

    def _render(self) -> str:
        return render_instructions(
            cwd=self._skills.cwd,
            platform=self._skills.facts.platform,
            context=self._skills.context_files(),
            agents=self._definitions.load().values(),
        )
