"""The tools that adapters give a model: to load, read, run and find skills."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from prowess.activate.loaded_tags import add_tag
from prowess.activate.model_tool import parse_call
from prowess.activate.wrappers import render_repeated
from prowess.adapters.media import make_block
from prowess.adapters.policy import GrantedRequests
from prowess.conversation.async_calls import Answers
from prowess.conversation.conversation import Conversation
from prowess.errors import ProwessError, UnknownSkill, UsageError
from prowess.model.activation import Activation
from prowess.model.permission import ApprovalAnswer, ApprovalRequest
from prowess.ports import Ranker
from prowess.present.word_match import WordRanker
from prowess.profiles.schema.commands import ToolRules
from prowess.text.markup import tidy_line

ToolKind = Literal["load", "read", "run", "find"]

READ = "read_skill_file"
RUN = "run_skill_script"
FIND = "find_skills"
_MOST_FOUND = 10
_OPEN_RANGE = re.compile(r"(:\d{1,9})-\s*\Z")
_LOAD_TEXT = (
    "Loads a skill into the conversation: instructions for one kind of task, and where its files"
    " are. Your instructions list the skills. Call it as soon as a task matches one of them, before"
    " you start the task."
)
_READ_TEXT = (
    "Reads a file of a skill, or lists a folder of it. Use it for files that the instructions of a"
    " skill mention."
)
_RUN_TEXT = (
    "Runs a script of a skill, such as scripts/fill.py, and returns what it prints. There is no"
    " shell: every argument reaches the script as it is."
)
_FIND_TEXT = "Finds skills that your instructions do not list, by words from the task."


class SkillCallContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What an adapter knows when the model calls a tool.

    `loaded` are the versions of skills that the model has by the messages of this request; None
    where they are not known, and then the conversation's ledger decides. `response` identifies the
    response that made the call, and `call_id` the call in it. `run` is what the library gives its
    tools. `suspend` asks for an approval as the library does, which usually ends the call until it
    is repeated with the answer.
    """

    conversation: Conversation
    loaded: frozenset[str] | None = None
    response: str = ""
    call_id: str = ""
    run: Any = None
    suspend: Callable[[ApprovalRequest], ApprovalAnswer] | None = None
    answers: Answers | None = None
    is_cancelled: Callable[[], bool] | None = None


class ToolOutput(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What goes back to the model: a text, and content blocks such as images.

    `error` is what was wrong with the call, `activation` the skill that was loaded, and `granted`
    what it got of what it asked for. `again` says that the model asked for the text although it has
    it.
    """

    text: str
    blocks: tuple[Mapping[str, Any], ...] = ()
    error: ProwessError | None = None
    activation: Activation | None = None
    granted: GrantedRequests | None = None
    again: bool = False

    @property
    def can_correct(self) -> bool:
        """Whether the model can do better: a wrong name or wrong parameters, not a refusal."""
        # A call without a name is a plain `UsageError`. Its subclasses mean that the skill exists
        # but cannot be loaded, which another try would not change.
        return isinstance(self.error, UnknownSkill) or type(self.error) is UsageError

    def repeat(self) -> ToolOutput:
        """One line instead of the text, for a model that already gets it."""
        if self.activation is None:
            return self
        line = render_repeated(self.activation.name)
        activation = msgspec.structs.replace(self.activation, text=line, repeated=True, blocks=())
        return msgspec.structs.replace(self, text=line, blocks=(), activation=activation)


class OfferedTool(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A tool as a model is shown it, and the function behind it, which raises `ProwessError`."""

    kind: ToolKind
    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[[Any, SkillCallContext], ToolOutput]


def describe_tools(rules: ToolRules, *, ranker: Ranker | None = None) -> tuple[OfferedTool, ...]:
    """All tools; the first loads skills and is named by the host."""
    finder = ranker or WordRanker()
    return (
        _describe_load(rules),
        OfferedTool(
            kind="read",
            name=READ,
            description=_READ_TEXT,
            parameters=_make_schema(
                {
                    "url": _make_text(
                        "`skill://NAME/PATH`, for example skill://pdf/reference.md; with"
                        " `:20-60` at its end only these lines, with `:20-` all from line 20."
                    )
                }
            ),
            function=_read_file,
        ),
        OfferedTool(
            kind="run",
            name=RUN,
            description=_RUN_TEXT,
            parameters=_make_schema(
                {
                    "skill": _make_text("The name of the skill."),
                    "script": _make_text("The path of the script in the skill's folder."),
                    "arguments": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "The arguments of the script, one string each.",
                    },
                },
                required=["skill", "script"],
            ),
            function=_run_script,
        ),
        OfferedTool(
            kind="find",
            name=FIND,
            description=_FIND_TEXT,
            parameters=_make_schema({"query": _make_text("Words from the task.")}),
            function=lambda parameters, context: _find(parameters, context, finder),
        ),
    )


def _describe_load(rules: ToolRules) -> OfferedTool:
    properties: dict[str, Any] = {
        rules.parameter: _make_text("The name of a skill from the list in your instructions.")
    }
    if rules.arguments:
        properties[rules.arguments] = _make_text("Arguments for the skill, if it takes any.")
    properties["again"] = {
        "type": "boolean",
        "description": "True to get the whole text again, if you no longer see it.",
    }

    def load(parameters: Any, context: SkillCallContext) -> ToolOutput:
        call = parse_call(parameters, rules)
        again = _read_flag(parameters, "again", tool=rules.name)
        activation = context.conversation.activate(
            call.name,
            call.arguments,
            by="model",
            answers=context.answers,
            is_cancelled=context.is_cancelled,
            loaded=context.loaded,
            again=again,
        )
        text = activation.text
        # Where nobody reads the messages, a tag would only cost tokens.
        if context.loaded is not None and not activation.repeated:
            text = add_tag(
                text,
                name=activation.name,
                digest=activation.version,
                media=len(activation.blocks),
            )
        return ToolOutput(text=text, blocks=activation.blocks, activation=activation, again=again)

    return OfferedTool(
        kind="load",
        name=rules.name,
        description=_LOAD_TEXT,
        parameters=_make_schema(properties, required=[rules.parameter]),
        function=load,
    )


def _read_file(parameters: Any, context: SkillCallContext) -> ToolOutput:
    resource = context.conversation.read(
        # Elsewhere `:20-` is part of a name, as hosts read it; models mean “to the end”.
        _OPEN_RANGE.sub(r"\1", _read_text(parameters, "url", tool=READ)),
        answers=context.answers,
        is_cancelled=context.is_cancelled,
        loaded=context.loaded,
        exact=True,
    )
    if not resource.data:
        return ToolOutput(text=resource.content)
    block = make_block(resource.data, resource.media_type)
    return ToolOutput(text=f"{resource.url} ({resource.media_type})", blocks=(block,))


def _run_script(parameters: Any, context: SkillCallContext) -> ToolOutput:
    result = context.conversation.run_script(
        _read_text(parameters, "skill", tool=RUN),
        _read_text(parameters, "script", tool=RUN),
        _read_texts(parameters, "arguments", tool=RUN),
        answers=context.answers,
        is_cancelled=context.is_cancelled,
        loaded=context.loaded,
    )
    return ToolOutput(text=result.text)


def _find(parameters: Any, context: SkillCallContext, ranker: Ranker) -> ToolOutput:
    query = _read_text(parameters, "query", tool=FIND)
    skills = context.conversation.snapshot.skills
    scores = ranker.score(query, skills)
    fitting = sorted(
        ((score, skill) for score, skill in zip(scores, skills, strict=True) if score > 0),
        key=lambda found: (-found[0], found[1].name),
    )
    if not fitting:
        return ToolOutput(text="No skill matches these words. Try others, or go on without one.")
    rows = [
        f"- {tidy_line(skill.name)}: {tidy_line(skill.description or '')}"
        for _, skill in fitting[:_MOST_FOUND]
    ]
    return ToolOutput(text="\n".join(rows))


def _make_text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _make_schema(
    properties: Mapping[str, Any], *, required: Sequence[str] | None = None
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def _read_text(parameters: Any, name: str, *, tool: str) -> str:
    # A model writes the parameters, so they can be anything, whatever the schema says.
    value = parameters.get(name) if isinstance(parameters, Mapping) else None
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"The tool {tool} needs `{name}`, as a string.")
    return value


def _read_texts(parameters: Any, name: str, *, tool: str) -> list[str]:
    values = parameters.get(name)
    if values is None:
        return []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UsageError(f"The tool {tool} takes `{name}` as a list of strings.")
    return values


def _read_flag(parameters: Any, name: str, *, tool: str) -> bool:
    value = parameters.get(name)
    if value is not None and not isinstance(value, bool):
        raise UsageError(f"The tool {tool} takes `{name}` as true or false.")
    return bool(value)
