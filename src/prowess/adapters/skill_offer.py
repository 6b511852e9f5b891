"""What all adapters share: the instructions, the tools, and the conversation of each run.

A new adapter needs three things of its library: where a run's messages are, how a run is told from
others, and how a tool is called. The rest is here.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from inspect import isawaitable, iscoroutinefunction
from itertools import chain
from typing import Any, NamedTuple, NoReturn, TypedDict, cast
from weakref import WeakKeyDictionary

import msgspec

from prowess.activate.loaded_tags import LoadedSkill, find_loaded, find_survivors_in
from prowess.activate.model_tool import explain_error
from prowess.adapters.approval import ShownQuestions
from prowess.adapters.compaction import SURVIVED
from prowess.adapters.conversations import MOST_CONVERSATIONS, Conversations
from prowess.adapters.policy import SkillPolicy
from prowess.adapters.skill_tools import OfferedTool, SkillCallContext, ToolOutput, describe_tools
from prowess.conversation.async_calls import Answers, call_async
from prowess.conversation.conversation import Conversation
from prowess.errors import MissingExtra, ProwessError
from prowess.errors.activation import ApprovalNeeded
from prowess.machine.event_loop import run_in_thread, wait_for
from prowess.model.activation import Activation, SkillRequests
from prowess.model.catalog import Catalog
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from prowess.model.snapshot import Snapshot
from prowess.ports import Approver, Ranker
from prowess.present.instructions import LISTED, count_left_out, render_instructions
from prowess.project.options import CatalogOptions
from prowess.runtime import Skills

OnActivation = Callable[[Activation, Any], object]
"""Called for every skill that the model loads, with the context that the library gives tools.

It may be async; otherwise it is called in a worker thread where there is an event loop.
`activation.requests` is what the skill asks for. What it raises ends the call, and the model does
not count as having the skill.
"""

FindConversation = Callable[[Any], Conversation | str | None]
"""The conversation of a run, or an id for it, from the context that the library gives tools."""

OpenConversation = Callable[..., Conversation]
"""Opens a conversation: `lambda run, **given: skills.conversation(include=…, **given)`.

It gets the context that the library gives tools, and `session` and `saved`. It is called once for
each id, as long as the conversation is kept.
"""

FindApprover = Callable[[Any], Approver | None]
"""The approver of a run, from the context that the library gives tools."""

_Called = tuple[ToolOutput, Awaitable[object] | None]
_NO_REQUESTS = SkillRequests()
# How many rendered lists are kept, and how many responses whose calls may still be under way.
_MOST_TEXTS = 16
_MOST_EXAMPLES = 3
_MOST_RESPONSES = 1_000


class OfferOptions(TypedDict, total=False):
    """What every adapter takes beside the skills.

    `conversation` finds the conversation of a run; by default that is the library's own id.
    `open_conversation` opens it when it is first needed, for example with the skills of one tenant.
    `approver` is asked where a rule says so, in place of the conversation's: an approver, or a
    function that finds the one of a run. With `suspend` and no approver, the run is suspended as
    the library does. `policy` says what skills get of what they ask for. `read_files`,
    `run_scripts` and `find_skills` leave a tool out when False. The others are those of
    `Skills.catalog`.
    """

    on_activation: OnActivation | None
    conversation: FindConversation | None
    open_conversation: OpenConversation | None
    most_conversations: int
    approver: Approver | FindApprover | None
    suspend: bool
    policy: SkillPolicy | None
    read_files: bool
    run_scripts: bool
    find_skills: bool
    ranker: Ranker | None
    context_tokens: int | None
    characters: int | None
    format: str | None


class OfferedSkills(NamedTuple):
    """What a request has of the skills."""

    instructions: str
    tools: tuple[OfferedTool, ...]
    examples: list[str]


class SkillOffer:
    """The skills as a model gets them, whatever the library.

    `skills` are shared by all who use the agent; a `Conversation` is for an agent that serves one
    person. The skills are listed in the instructions and not in the description of the tool, which
    some models limit to 1,024 characters.
    """

    def __init__(
        self,
        skills: Skills | Conversation,
        *,
        on_activation: OnActivation | None = None,
        conversation: FindConversation | None = None,
        open_conversation: OpenConversation | None = None,
        most_conversations: int = MOST_CONVERSATIONS,
        approver: Approver | FindApprover | None = None,
        suspend: bool = False,
        policy: SkillPolicy | None = None,
        read_files: bool = True,
        run_scripts: bool = True,
        find_skills: bool = True,
        ranker: Ranker | None = None,
        context_tokens: int | None = None,
        characters: int | None = None,
        format: str | None = None,
    ) -> None:
        self._conversations = Conversations(skills, most=most_conversations)
        self._find_conversation = conversation
        self._open_conversation = open_conversation
        self._on_activation = on_activation
        self._approver = approver
        self.policy = policy or SkillPolicy()
        # What the adapter does about the requests of skills; an adapter that can do more says so.
        self.applied: frozenset[str] = frozenset()
        self.suspends = suspend
        self._options: CatalogOptions = {
            "context_tokens": context_tokens,
            "characters": characters,
            "format": format,
        }
        self._format = format
        self._texts: OrderedDict[int, tuple[Catalog, str]] = OrderedDict()
        # Of each conversation: one person's skills are not to be named to another.
        self._examples: WeakKeyDictionary[Conversation, list[str]] = WeakKeyDictionary()
        self._described: tuple[Snapshot, OfferedSkills] | None = None
        self._claims = _Claims()
        self._shown = ShownQuestions()
        tools = describe_tools(skills.profile.tool, ranker=ranker)
        wanted = {"read": read_files, "run": run_scripts, "find": find_skills}
        self._tools = {tool.name: tool for tool in tools if wanted.get(tool.kind, True)}
        self.load_tool = tools[0]

    @property
    def tools(self) -> tuple[OfferedTool, ...]:
        """The tools, described without the names of skills: the one that loads comes first.

        A list of names would exclude a skill that wakes later, or invalidate the provider's cache
        when it changes.
        """
        return tuple(self._tools.values())

    def list_tools(self, conversation: Conversation) -> tuple[OfferedTool, ...]:
        """The tools that a request needs: the one that finds skills only where some are left out.

        It may read files.
        """
        if count_left_out(self._get_catalog(conversation)):
            return self.tools
        return tuple(tool for tool in self.tools if tool.kind != "find")

    def describe(self, conversation: Conversation) -> OfferedSkills:
        """The instructions and the tools of a request. It may read files."""
        snapshot = conversation.snapshot
        described = OfferedSkills(
            self.render_instructions(conversation),
            self.list_tools(conversation),
            self.list_examples(conversation),
        )
        if self._conversations.skills is conversation:
            self._described = (snapshot, described)
        return described

    def find_described(self) -> OfferedSkills | None:
        """What `describe` gave last, if nothing has changed since, for an event loop.

        Only for an agent that serves one person.
        """
        conversation, kept = self._conversations.skills, self._described
        if kept is None or not isinstance(conversation, Conversation):
            return None
        return kept[1] if conversation.find_fresh() is kept[0] else None

    def list_examples(self, conversation: Conversation) -> list[str]:
        """Names of skills that can be loaded, for models that try every tool.

        Found once: a schema that changes would invalidate the provider's cache.
        """
        if conversation not in self._examples:
            lines = self._get_catalog(conversation).lines
            listed = [line.name for line in lines if line.shown in LISTED]
            self._examples[conversation] = listed[:_MOST_EXAMPLES]
        return self._examples[conversation]

    def open(self, context: Any, id: str | None, *, saved: str | None = None) -> Conversation:
        """The conversation of a run. It may read files.

        `id` is the one that the library gives, and `saved` what the library kept of it.
        """
        found = None
        if self._find_conversation is not None:
            found = self._find_conversation(context)
        # The program's own function may give the conversation itself or only its id.
        if isinstance(found, Conversation):
            return found
        opener = None
        if self._open_conversation is not None:
            opener = partial(self._open_conversation, context)
        return self._conversations.get(found or id, saved=saved, opener=opener)

    def render_instructions(self, conversation: Conversation) -> str:
        """How to load skills, the list of them, and the bodies that always apply; "" for none.

        The host decides which skills are listed, and how much of each. The words around the list
        are the adapters' own, because a host's may mention tools that the model does not have; the
        option `format` asks for the host's.
        """
        catalog = self._get_catalog(conversation)
        if self._format:
            return catalog.prompt
        # A catalog is the same object until the skills change.
        kept = self._texts.get(id(catalog))
        if kept is not None and kept[0] is catalog:
            return kept[1]
        text = self._render(catalog)
        self._texts[id(catalog)] = (catalog, text)
        while len(self._texts) > _MOST_TEXTS:
            self._texts.popitem(last=False)
        return text

    def call(self, name: str, parameters: Any, context: SkillCallContext) -> ToolOutput:
        """Handle a model's call of one of the tools.

        What the model did wrong, or may not do, becomes an output; whatever else is wrong is
        raised, and so is what suspends a call.
        """
        approver = self._find_approver(context)
        if approver is not None and iscoroutinefunction(approver.ask):
            call = partial(self._run_with, name, parameters, context)
            called: _Called = wait_for(call_async(call, approver))
        else:
            called = self._run_asking(name, parameters, context, approver)
        output, pending = called
        if pending is not None:
            with self._claims.kept_if_done(context, output):
                wait_for(pending)
        return output

    async def call_async(self, name: str, parameters: Any, context: SkillCallContext) -> ToolOutput:
        """As `call`, in a thread of its own.

        Async approvers and callbacks are awaited in the event loop, and waiting for a person holds
        no thread. If the task is cancelled, the programs it started are killed.
        """
        approver = self._find_approver(context)
        if approver is not None and iscoroutinefunction(approver.ask):
            call = partial(self._run_with, name, parameters, context)
            output, pending = await call_async(call, approver)
        else:
            output, pending = await run_in_thread(
                lambda is_cancelled: self._run_asking(
                    name,
                    parameters,
                    msgspec.structs.replace(context, is_cancelled=is_cancelled),
                    approver,
                )
            )
        if pending is not None:
            with self._claims.kept_if_done(context, output):
                await pending
        return output

    def _find_approver(self, context: SkillCallContext) -> Approver | None:
        """Who is asked about a call: whom the option names, or whom the conversation has."""
        given = self._approver
        # An approver is told by its method: it may be callable for reasons of its own.
        is_function = given is not None and not hasattr(given, "ask")
        found = cast("FindApprover", given)(context.run) if is_function else given
        return cast("Approver | None", found) or context.conversation.approver

    def _run_asking(
        self, name: str, parameters: Any, context: SkillCallContext, approver: Approver | None
    ) -> _Called:
        """As `_run`; a call that needs an approval is repeated with the answer.

        An approver is asked here, in the thread of the call. Without one the library is, where it
        can suspend the run.
        """
        ask: Callable[[ApprovalRequest], ApprovalAnswer | Exception]
        if approver is not None:
            ask = partial(_ask, approver)
        elif context.suspend is not None:
            # The person answers later, perhaps after the skill has changed.
            ask = self._shown.bind(name, parameters, context.call_id, context.suspend)
        else:
            return self._run(name, parameters, context)
        # A call runs from its beginning each time, with one answer more, until it asks no further.
        answers: dict[str, ApprovalAnswer | Exception] = {}
        while True:
            try:
                return self._run_with(name, parameters, context, answers=answers)
            except ApprovalNeeded as needed:
                request = needed.request
            answers = {**answers, request.key: ask(request)}

    def _run_with(
        self,
        name: str,
        parameters: Any,
        context: SkillCallContext,
        *,
        answers: Answers | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> _Called:
        changed = msgspec.structs.replace(
            context, answers=answers, is_cancelled=is_cancelled or context.is_cancelled
        )
        return self._run(name, parameters, changed)

    def _run(self, name: str, parameters: Any, context: SkillCallContext) -> _Called:
        """The output of a call, and what the callback still has to do."""
        try:
            output = self._tools[name].function(parameters, context)
        except ApprovalNeeded:
            raise
        except ProwessError as error:
            return ToolOutput(text=explain_error(error), error=error), None
        output = self._claims.settle(context, self._grant(output))
        if output.activation is None or self._on_activation is None:
            return output, None
        with self._claims.kept_if_done(context, output):
            pending = self._on_activation(output.activation, context.run)
        return output, pending if isawaitable(pending) else None

    def _grant(self, output: ToolOutput) -> ToolOutput:
        """The output with what the policy grants; the rest is in the activation's diagnostics."""
        activation = output.activation
        if activation is None or activation.requests == _NO_REQUESTS:
            return output
        granted, refused = self.policy.grant(activation, self.applied)
        activation = msgspec.structs.replace(
            activation, diagnostics=activation.diagnostics + refused
        )
        return msgspec.structs.replace(output, activation=activation, granted=granted)

    def _get_catalog(self, conversation: Conversation) -> Catalog:
        return conversation.catalog(**self._options)

    def _render(self, catalog: Catalog) -> str:
        finder = next((tool.name for tool in self.tools if tool.kind == "find"), None)
        return render_instructions(catalog, tool=self.load_tool.name, finder=finder)


class _Claims:
    """Which calls of one response load which skill, because their answers are not messages yet.

    Of several calls for the same skill in one response the first gets the text. A call that is
    repeated, as after an interruption, gets what it got before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_response: OrderedDict[str, dict[str, str]] = OrderedDict()

    def settle(self, context: SkillCallContext, output: ToolOutput) -> ToolOutput:
        """The output, or one line where another call of the same response has the text."""
        activation = output.activation
        if activation is None or activation.repeated or not context.response:
            return output
        with self._lock:
            claimed = self._by_response.setdefault(context.response, {})
            self._by_response.move_to_end(context.response)
            while len(self._by_response) > _MOST_RESPONSES:
                self._by_response.popitem(last=False)
            owner = claimed.setdefault(activation.version, context.call_id)
        has_claim = owner == context.call_id
        return output if has_claim or output.again else output.repeat()

    @contextmanager
    def kept_if_done(self, context: SkillCallContext, output: ToolOutput) -> Iterator[None]:
        """Gives the claim of a call up if what happens inside fails."""
        try:
            yield
        except BaseException:
            if output.activation is not None:
                self._give_up(context, output.activation)
            raise

    def _give_up(self, context: SkillCallContext, activation: Activation) -> None:
        if not activation.repeated:
            # The ledger has it already, but the model never gets the text.
            context.conversation.forget(activation.name)
        with self._lock:
            claimed = self._by_response.get(context.response, {})
            if claimed.get(activation.version) == context.call_id:
                del claimed[activation.version]


def list_loaded(answers: Iterable[str], survivors: Iterable[str] = ()) -> tuple[LoadedSkill, ...]:
    """The skills that a model has by its messages, oldest first.

    `answers` are those of the tool that loads skills, `survivors` the messages that
    `compact_skills` made. Text from anywhere else proves nothing: anyone may have written it.
    """
    # First, because a compaction puts what it gives back before the messages that it leaves.
    given_back = chain.from_iterable(map(find_survivors_in, survivors))
    return (*given_back, *find_loaded(answers))


def get_versions(loaded: Iterable[LoadedSkill]) -> frozenset[str]:
    """The versions of loaded skills, for a `SkillCallContext`."""
    return frozenset(skill.digest for skill in loaded)


def is_survivors_text(text: str) -> bool:
    """Whether a text is what `compact_skills` gave, for libraries whose messages take no mark."""
    return text.startswith(SURVIVED)


def explain_import(error: ImportError, *, extra: str, module: str, purpose: str) -> NoReturn:
    """Raise `MissingExtra` for a library that is not installed.

    One that is installed but fails to import keeps its own error. A traceback shows the hint, too.
    """
    missing = MissingExtra(extra, purpose)
    if _is_installed(module):
        error.add_note(f"The library is installed but cannot be imported. {missing.hint}")
        raise error
    missing.add_note(missing.hint or "")
    raise missing from error


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        # Its parent is missing, as `google` of `google.adk`.
        return False


def _ask(approver: Approver, request: ApprovalRequest) -> ApprovalAnswer | Exception:
    """An approver's answer, or its error, which the repeated call judges like any other."""
    try:
        answer = approver.ask(request)
        settled: ApprovalAnswer = wait_for(answer) if isinstance(answer, Awaitable) else answer
        return settled
    except Exception as error:
        return error
