"""The tool with which a model loads a skill: its description, its parameters and its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from prowess.errors import ProwessError, UnknownSkill, UsageError
from prowess.model.activation import Activation
from prowess.model.catalog import Catalog, Shown
from prowess.profiles.schema.commands import ToolRules
from prowess.text.markup import tidy_line

NO_SKILLS = "No skills are available."
_WHAT_IT_DOES = (
    "Loads a skill into the conversation: instructions for one kind of task, and where its files"
    " are. Call it as soon as a task matches the description of a skill, before you start the task."
)
# The nearest names help a model that mistyped one; a list of thousands would only fill its context.
_MOST_NAMES = 200


class SkillTool(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is shown of the tool: its name, what it does, and its parameters as JSON schema.

    `examples` are names that can be called.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    examples: tuple[str, ...] = ()


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What goes back to the model: a text, and whether it reports an error.

    `activation` is the skill that was loaded, None for an error.
    """

    text: str
    is_error: bool = False
    activation: Activation | None = None


class ModelTool(SkillTool, frozen=True, kw_only=True, eq=False):
    """A tool that can be called.

    `function` takes the model's parameters and returns the activation. It raises `ProwessError`.
    """

    function: Callable[[Mapping[str, Any]], Activation]

    def __call__(self, **parameters: Any) -> Activation:
        """Load the skill that the parameters name."""
        return self.function(parameters)

    def answer(self, parameters: Mapping[str, Any]) -> ToolAnswer:
        """Handle a model's call; an error becomes a sentence for the model and is not raised."""
        try:
            activation = self.function(parameters)
        except ProwessError as error:
            return ToolAnswer(text=explain_error(error), is_error=True)
        return ToolAnswer(text=activation.text, activation=activation)


class ToolCall(msgspec.Struct, frozen=True):
    """A model's call: the name of a skill, and arguments for it."""

    name: str
    arguments: str = ""


def describe_tool(
    rules: ToolRules, *, usable: Sequence[str], catalog: Catalog | None = None
) -> SkillTool:
    """The tool as a model is shown it. `usable` are the names that can be called.

    `catalog` is the short list of skills, for hosts that put it into the description. The name is
    an enumeration where the catalog lists every usable skill, otherwise any string.
    """
    listed = _list_names(catalog)
    examples = tuple((listed or usable)[: rules.examples])
    name: dict[str, Any] = {"type": "string", "description": _describe_name(examples)}
    lists_all = listed and set(usable) <= set(listed)
    if lists_all:
        name["enum"] = list(usable)
    properties = {rules.parameter: name}
    if rules.arguments:
        description = "Arguments for the skill, if it takes any."
        properties[rules.arguments] = {"type": "string", "description": description}
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


def _list_names(catalog: Catalog | None) -> list[str]:
    if catalog is None:
        return []
    return [line.name for line in catalog.lines if line.shown is not Shown.LEFT_OUT]


def _describe(usable: Sequence[str], catalog: Catalog | None) -> str:
    if catalog is None:
        return _WHAT_IT_DOES
    return catalog.text if usable and catalog.text else NO_SKILLS


def _describe_name(examples: Sequence[str]) -> str:
    described = "The name of a skill from the list of available skills"
    shown = ", ".join(f"'{tidy_line(name)}'" for name in examples)
    return f"{described} (for example {shown})." if shown else f"{described}."


def parse_call(parameters: Mapping[str, Any], rules: ToolRules) -> ToolCall:
    """A model's call of the tool. Raises `UsageError` where it names no skill."""
    # A model writes the parameters, so they can be anything, whatever the schema says.
    name = parameters.get(rules.parameter) if isinstance(parameters, Mapping) else None
    if not isinstance(name, str) or not name.strip():
        raise UsageError(
            f"The tool {rules.name} needs `{rules.parameter}`: the name of a skill, as a string."
        )
    arguments = parameters.get(rules.arguments) if rules.arguments else None
    # Also where the model sent null.
    if arguments is None:
        return ToolCall(name)
    if not isinstance(arguments, str):
        raise UsageError(f"The tool {rules.name} takes `{rules.arguments}` as a string.")
    return ToolCall(name, arguments)


def explain_error(error: ProwessError) -> str:
    """What a model is told about a call that failed."""
    return render_unknown(error) if isinstance(error, UnknownSkill) else str(error)


def render_unknown(error: UnknownSkill) -> str:
    """The answer to a model that asked for an unknown skill: the nearest names, then all others."""
    known = sorted(error.known)
    if not known:
        return f"{error} {NO_SKILLS}"
    nearest = f" {error.hint}" if error.nearest else ""
    more = f" and {len(known) - _MOST_NAMES:,} more" if len(known) > _MOST_NAMES else ""
    names = ", ".join(tidy_line(name) for name in known[:_MOST_NAMES])
    return f"{error}{nearest} Available skills: {names}{more}."
