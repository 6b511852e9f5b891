"""The tools of the skills that ship, each there while a skill or a feature needs it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

from pydantic_ai import FunctionToolset, RunContext
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool

from prowess.agent.shipped.tools import SHIPPED_TOOLS, ShippedTool
from prowess.agent.tool_schemas import make_tool
from prowess.agent.tools.plan import FindDenial
from prowess.conversation.conversation import Conversation
from prowess.model.skill import Scope
from prowess.runtime import Skills
from prowess.supply.bundled import find_features


def open_shipped_tools(
    skills: Skills,
    conversation: Conversation,
    find_denial: FindDenial,
    *,
    only: Collection[str] | None = None,
) -> AbstractToolset[Any]:
    """The tools for one conversation. `only` are those of a definition; None is all."""
    features = find_features(skills.project.load_own_settings())

    def is_needed(name: str) -> bool:
        tool = SHIPPED_TOOLS[name]
        if tool.feature is not None and tool.feature not in features:
            return False
        is_named = not tool.skills if only is None else name in only
        return is_named or _has_skill(tool, conversation)

    toolset = _ToolsOnDemand(skills, is_needed, find_denial)
    return toolset.filtered(lambda ctx, tool: is_needed(tool.name))


class _ToolsOnDemand(FunctionToolset[Any]):
    """The tools, each made when it is first needed: few sessions do that."""

    def __init__(
        self, skills: Skills, is_needed: Callable[[str], bool], find_denial: FindDenial
    ) -> None:
        super().__init__()
        self._skills = skills
        self._is_needed = is_needed
        self._find_denial = find_denial
        # The tools of one class share what they remember.
        self._owners: dict[str, Any] = {}

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools that were needed so far."""
        for name, tool in SHIPPED_TOOLS.items():
            is_missing = name not in self.tools and self._is_needed(name)
            if is_missing:
                self.add_tool(make_tool(name, self._find_method(tool), sequential=True))
        return await super().get_tools(ctx)

    def _find_method(self, tool: ShippedTool) -> Callable[..., Any]:
        owner, _, method = tool.method.partition(".")
        if owner not in self._owners:
            more = (self._find_denial,) if tool.reads_files else ()
            self._owners[owner] = getattr(import_module(tool.module), owner)(self._skills, *more)
        found: Callable[..., Any] = getattr(self._owners[owner], method)
        return found


def _has_skill(tool: ShippedTool, conversation: Conversation) -> bool:
    loaded = [name for name in tool.skills if conversation.ledger.find(name) is not None]
    return any(_is_bundled(name, conversation) for name in loaded)


def _is_bundled(name: str, conversation: Conversation) -> bool:
    # Another skill of the same name may have taken its place.
    found = conversation.snapshot.find(name)
    skill = None if found is None else found.skill
    return skill is not None and skill.scope is Scope.BUNDLED
