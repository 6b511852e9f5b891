"""The tools of the skills that ship, each there while a skill that needs it is loaded."""

from __future__ import annotations

from typing import Any

from pydantic_ai import FunctionToolset, RunContext
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from prowess.agent.shipped.tools import TOOLS_OF_SKILLS, ShippedTools
from prowess.agent.tool_schemas import make_tool
from prowess.conversation.conversation import Conversation
from prowess.model.skill import Scope
from prowess.runtime import Skills


def open_shipped_tools(skills: Skills, conversation: Conversation) -> AbstractToolset[Any]:
    """The tools for one conversation."""
    toolset = _ToolsOnDemand(skills, conversation)
    return toolset.filtered(lambda ctx, tool: _is_needed(tool.name, conversation))


class _ToolsOnDemand(FunctionToolset[Any]):
    """The tools, made when the first skill that needs one is loaded: few sessions do that."""

    def __init__(self, skills: Skills, conversation: Conversation) -> None:
        super().__init__()
        self._skills = skills
        self._conversation = conversation

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools; none before one is needed."""
        if not self.tools and any(_is_needed(name, self._conversation) for name in TOOLS_OF_SKILLS):
            for name, function in ShippedTools(self._skills).by_name.items():
                self.add_tool(make_tool(name, function, sequential=True))
        return await super().get_tools(ctx)


def _is_needed(tool: str, conversation: Conversation) -> bool:
    loaded = [name for name in TOOLS_OF_SKILLS[tool] if conversation.ledger.find(name) is not None]
    return any(_is_bundled(name, conversation) for name in loaded)


def _is_bundled(name: str, conversation: Conversation) -> bool:
    # Another skill of the same name may have taken its place.
    found = conversation.snapshot.find(name)
    skill = None if found is None else found.skill
    return skill is not None and skill.scope is Scope.BUNDLED
