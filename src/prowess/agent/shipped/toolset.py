"""The tools of the skills that ship, each there while a skill that needs it is loaded."""

from __future__ import annotations

from typing import Any

from pydantic_ai import FunctionToolset, Tool
from pydantic_ai.toolsets import AbstractToolset

from prowess.agent.shipped.tools import TOOLS_OF_SKILLS, ShippedTools
from prowess.conversation.conversation import Conversation
from prowess.model.skill import Scope
from prowess.runtime import Skills


def open_shipped_tools(skills: Skills, conversation: Conversation) -> AbstractToolset[Any]:
    """The tools for one conversation."""
    tools = ShippedTools(skills).by_name
    toolset = FunctionToolset[Any](
        [Tool(function, name=name, sequential=True) for name, function in tools.items()]
    )
    return toolset.filtered(lambda ctx, tool: _is_needed(tool.name, conversation))


def _is_needed(tool: str, conversation: Conversation) -> bool:
    loaded = [name for name in TOOLS_OF_SKILLS[tool] if conversation.ledger.find(name) is not None]
    return any(_is_bundled(name, conversation) for name in loaded)


def _is_bundled(name: str, conversation: Conversation) -> bool:
    # Another skill of the same name may have taken its place.
    found = conversation.snapshot.find(name)
    skill = None if found is None else found.skill
    return skill is not None and skill.scope is Scope.BUNDLED
