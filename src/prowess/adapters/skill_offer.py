"""What all adapters share: the instructions, the tool, and the text after a compaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from prowess.activate.model_tool import ModelTool
from prowess.conversation.conversation import Conversation
from prowess.errors import MissingExtra
from prowess.model.activation import Activation
from prowess.model.catalog import Shown
from prowess.text.markup import escape_text, tidy_line

OnActivation = Callable[[Activation], None]
"""Called for every skill that the model loads; `activation.requests` is what the skill asks for."""

_LISTED = (Shown.WHOLE, Shown.SHORTENED, Shown.NAME_ONLY)
_DESCRIPTION = (
    "Loads a skill into the conversation: instructions for one kind of task, and where its files"
    " are. Your instructions list the skills. Call it as soon as a task matches one of them, before"
    " you start the task."
)
_SURVIVED = (
    "The conversation was shortened. These skills were loaded before and still apply. Do not load"
    " them again, unless one ends with a note that it was cut."
)


class SkillOffer:
    """The skills of a conversation as a model gets them, whatever the library.

    Options are those of `Skills.catalog`. The skills are listed in the instructions and not in the
    description of the tool, which some models limit to 1,024 characters.
    """

    def __init__(
        self,
        conversation: Conversation,
        *,
        on_activation: OnActivation | None = None,
        **options: Any,
    ) -> None:
        self._conversation = conversation
        self._on_activation = on_activation
        self._options = options
        self._lock = threading.Lock()

    @cached_property
    def tool(self) -> ModelTool:
        """The tool that loads skills, described once and without the names of the skills.

        A list of names would exclude a skill that wakes later, or invalidate the provider's cache
        when it changes.
        """
        tool = self._conversation.tool()
        return msgspec.structs.replace(
            tool, description=_DESCRIPTION, parameters=_without_names(tool.parameters)
        )

    def render_instructions(self) -> str:
        """How to load skills, the list of them, and the bodies that always apply; "" for none.

        The host decides which skills are listed, and how much of each. The words around the list
        are the adapters' own, because a host's may mention tools that the model does not have; the
        option `format` asks for the host's.
        """
        catalog = self._conversation.catalog(**self._options)
        if self._options.get("format"):
            return catalog.prompt
        rows = [
            _render_row(line.name, line.text) for line in catalog.lines if line.shown in _LISTED
        ]
        if not rows:
            return catalog.always
        head = (
            "A skill is a set of instructions for one kind of task. When a task matches the"
            f" description of a skill, load the skill with the tool `{self.tool.name}` before you"
            " start, and follow it."
        )
        listed = "\n".join((head, "<available_skills>", *rows, "</available_skills>"))
        return f"{listed}\n\n{catalog.always}" if catalog.always else listed

    def load(self, parameters: Mapping[str, Any]) -> Activation:
        """Handle a model's call. Raises `ProwessError`.

        Calls run one at a time, so that nobody is asked two things at once.
        """
        with self._lock:
            activation = self.tool.function(parameters)
        # Called without the lock: the callback may run a sub-agent, which loads skills itself.
        if self._on_activation is not None:
            self._on_activation(activation)
        return activation


def render_survivors(conversation: Conversation) -> str:
    """Compact the ledger, and return the text that gives the loaded skills back; "" for none."""
    kept = conversation.compact().kept
    return "\n\n".join((_SURVIVED, *(survivor.text for survivor in kept))) if kept else ""


def miss_extra(extra: str, library: str) -> MissingExtra:
    """The error for a library that is missing or too old; a traceback shows the hint, too."""
    error = MissingExtra(extra, f"give skills to {library}")
    error.add_note(error.hint or "")
    return error


def _render_row(name: str, text: str) -> str:
    row = f"- {escape_text(tidy_line(name))}"
    return f"{row}: {escape_text(tidy_line(text))}" if text else row


def _without_names(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with any string as the name of a skill, and no names in its description."""
    (name,) = parameters["required"]
    any_name = {
        "type": "string",
        "description": "The name of a skill from the list in your instructions.",
    }
    return {**parameters, "properties": {**parameters["properties"], name: any_name}}
