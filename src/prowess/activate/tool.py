"""The tool with which a model loads a skill: how it is described to the model, and what a call to
it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from prowess.activate.resources.file_sample import Above, sample_files
from prowess.activate.slash.messages import WITHOUT_FOLDER
from prowess.activate.wrappers import Loaded, render_repeated, wrap_body
from prowess.diagnostics import Diagnostic
from prowess.errors import UnknownSkill, UsageError
from prowess.model.activation import Activation, Requests
from prowess.model.catalog import Catalog, Shown
from prowess.model.skill import Skill
from prowess.ports import FileSystem
from prowess.profiles.schema.commands import ToolRules
from prowess.text.markup import tidy_line

NO_SKILLS = "There are no skills at the moment."
_WHAT_IT_DOES = (
    "Loads a skill into the conversation: instructions for one kind of task, and where its files"
    " are. Call it as soon as a task fits the description of a skill, and before you begin with the"
    " task."
)
# A model that mistyped a name is helped by the nearest ones; a list of thousands would only cost it
# room.
_MOST_NAMES = 200


class SkillTool(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is told of the tool: its name, what it does, and its parameters as a JSON
    schema.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    examples: tuple[str, ...] = ()


class ToolCall(msgspec.Struct, frozen=True):
    """What a model asks of the tool: the name of a skill, and what it says beside it."""

    name: str
    arguments: str = ""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A body that was read and made ready for a call: its text, the digest of its file, what it
    asks for.

    `ran_commands` says that commands inside it wrote a part of it. `blocks` are content blocks that
    are no text. `folder` is where the files of a skill in code were unpacked. `trusted` says
    whether the skill is, where it asks for tools or hooks.
    """

    body: str
    digest: str = ""
    requests: Requests = Requests()
    ran_commands: bool = False
    blocks: tuple[Mapping[str, Any], ...] = ()
    folder: str | None = None
    trusted: bool = True
    diagnostics: tuple[Diagnostic, ...] = ()


class Desk(NamedTuple):
    """What a call needs of whoever runs it, in the order in which it is needed.

    `find` gives the skill of a name, also one that the agent is denied; `usable` are the names that
    may be told. `permit` raises where the agent may not use the skill. `prepare` reads its body and
    makes it ready. `is_loaded` says whether just that is already in the conversation.
    """

    find: Callable[[str], Skill | None]
    usable: Callable[[], Iterable[str]]
    permit: Callable[[Skill], None]
    prepare: Callable[[Skill, str], Prepared]
    is_loaded: Callable[[Skill, Prepared, str], bool]


def describe_tool(
    rules: ToolRules, *, usable: Sequence[str], catalog: Catalog | None = None
) -> SkillTool:
    """The tool as a model is told of it. `usable` are the names that may be called.

    The catalog is the short list of them, for hosts that put it into the description; None for the
    others. Names are an enumeration where the catalog holds all of them, else any text.
    """
    listed = (
        [line.name for line in catalog.lines if line.shown is not Shown.LEFT_OUT]
        if catalog is not None
        else []
    )
    examples = tuple((listed or usable)[: rules.examples])
    name: dict[str, Any] = {"type": "string", "description": _describe_name(examples)}
    if listed and set(usable) <= set(listed):
        name["enum"] = list(usable)
    properties = {rules.parameter: name}
    if rules.arguments:
        properties[rules.arguments] = {
            "type": "string",
            "description": "What to carry the skill out with, where it takes anything.",
        }
    return SkillTool(
        name=rules.name,
        description=_describe(usable, catalog),
        parameters={
            "type": "object",
            "properties": properties,
            "required": [rules.parameter],
            "additionalProperties": False,
        },
        examples=examples,
    )


def _describe(usable: Sequence[str], catalog: Catalog | None) -> str:
    if catalog is None:
        return _WHAT_IT_DOES
    return catalog.text if usable and catalog.text else NO_SKILLS


def _describe_name(examples: Sequence[str]) -> str:
    shown = ", ".join(f"'{tidy_line(name)}'" for name in examples)
    return "The name of a skill, as the list of available skills has it" + (
        f" (such as {shown})." if shown else "."
    )


def parse_call(parameters: Mapping[str, Any], rules: ToolRules) -> ToolCall:
    """A model's call of the tool. Raises `UsageError` where it holds no name."""
    name = parameters.get(rules.parameter) if isinstance(parameters, Mapping) else None
    if not isinstance(name, str) or not name.strip():
        raise UsageError(
            f"The tool {rules.name} needs `{rules.parameter}`, the name of a skill, as a text."
        )
    arguments = parameters.get(rules.arguments) if rules.arguments else None
    if arguments is not None and not isinstance(arguments, str):
        raise UsageError(f"The tool {rules.name} takes `{rules.arguments}` as a text.")
    return ToolCall(name, arguments or "")


def call_tool(
    call: ToolCall,
    desk: Desk,
    *,
    rules: ToolRules,
    files: FileSystem,
    above: Above | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> Activation:
    """Load a skill: look it up, ask for permission, collect its files, build the text.

    In this order, so that nobody is asked about a name that does not exist. Raises `UnknownSkill`,
    which knows only names that may be told, and whatever `permit` raises.
    """
    skill = _get_skill(call.name, desk, rules)
    desk.permit(skill)
    prepared = desk.prepare(skill, call.arguments)
    if desk.is_loaded(skill, prepared, call.arguments):
        return _conclude(skill, prepared, text=render_repeated(skill.name), repeated=True)
    folder = find_own_folder(skill)
    sample = None
    if folder is not None:
        sample = sample_files(folder, files, rules=rules, above=above, is_cancelled=is_cancelled)
    loaded = Loaded(name=skill.name, body=prepared.body, folder=folder)
    if sample is None:
        return _conclude(skill, prepared, text=wrap_body(loaded, rules))
    loaded = msgspec.structs.replace(loaded, sample=sample)
    made = _conclude(skill, prepared, text=wrap_body(loaded, rules))
    return msgspec.structs.replace(made, files=sample.files, more_files=sample.more)


def _get_skill(name: str, desk: Desk, rules: ToolRules) -> Skill:
    found = desk.find(name)
    if found is None and rules.slash:
        found = desk.find(name.strip().removeprefix("/"))
    if found is None:
        raise UnknownSkill(name, desk.usable())
    return found


def find_own_folder(skill: Skill) -> str | None:
    """The folder that belongs to a skill alone; None for a command file, which lies among others.

    One from an MCP server has none on this machine, wherever it is kept. A skill that is defined in
    code says itself where its files are, once they are there.
    """
    if skill.source.loaded_from in WITHOUT_FOLDER or skill.file is None:
        return None
    return skill.folder or None


def _conclude(skill: Skill, prepared: Prepared, *, text: str, repeated: bool = False) -> Activation:
    folder = find_own_folder(skill) or prepared.folder
    metadata = {"name": skill.name} if folder is None else {"name": skill.name, "dir": folder}
    return Activation(
        name=skill.name,
        text=text,
        folder=folder,
        digest=prepared.digest,
        title=f"Loaded skill: {tidy_line(skill.name)}",
        metadata=metadata,
        requests=prepared.requests,
        repeated=repeated,
        blocks=() if repeated else prepared.blocks,
        trusted=prepared.trusted,
        diagnostics=prepared.diagnostics,
    )


def render_unknown(error: UnknownSkill) -> str:
    """The answer to a model that asked for a skill that does not exist: the nearest names and those
    there are.
    """
    known = sorted(error.known)
    if not known:
        return f"{error} {NO_SKILLS}"
    nearest = f" {error.hint}" if error.nearest else ""
    more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
    names = ", ".join(tidy_line(name) for name in known[:_MOST_NAMES])
    return f"{error}{nearest} These can be used: {names}{more}."
