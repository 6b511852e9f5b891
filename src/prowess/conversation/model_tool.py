"""The tool with which a model loads skills, together with the function that carries a call out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.activate.tool import SkillTool, render_unknown
from prowess.errors import ProwessError, UnknownSkill
from prowess.model.activation import Activation


class ToolAnswer(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What goes back to the model: a text, and whether it tells of an error. `activation` is what
    was loaded.
    """

    text: str
    is_error: bool = False
    activation: Activation | None = None


class ModelTool(SkillTool, frozen=True, kw_only=True, eq=False):
    """A tool that can be called. `function` takes the model's parameters and raises where they
    cannot be followed.
    """

    function: Callable[[Mapping[str, Any]], Activation]

    def __call__(self, **parameters: Any) -> Activation:
        """Load the skill that the parameters name."""
        return self.function(parameters)

    def answer(self, parameters: Mapping[str, Any]) -> ToolAnswer:
        """Carry out a model's call; trouble becomes a sentence for the model, so that the
        conversation goes on.
        """
        try:
            activation = self.function(parameters)
        except UnknownSkill as error:
            return ToolAnswer(text=render_unknown(error), is_error=True)
        except ProwessError as error:
            return ToolAnswer(text=str(error), is_error=True)
        return ToolAnswer(text=activation.text, activation=activation)
