"""What hooks do to a call of a tool: refuse it, change its input, ask a person, comment on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from pydantic import ValidationError
from pydantic_ai import ModelRetry, RunContext, ToolFailed
from pydantic_ai.toolsets import ToolsetTool

from prowess.agent.hooks.reply import HookReply, render_context
from prowess.agent.hooks.session_hooks import AgentHooks
from prowess.agent.tools.plan import Access, Plan, render_answer
from prowess.model.permission import Action


class HookedCall:
    """The hooks of one call, before it and after it."""

    def __init__(self, hooks: AgentHooks, tool: str, call: str) -> None:
        self._hooks = hooks
        self._tool = _name_tool(tool)
        self._call = call
        self._before = HookReply()

    async def find_refusal(self, input: Mapping[str, Any]) -> str | None:
        """Run the hooks before the call; why it must not happen, None if it may."""
        reply = self._before = await self._hooks.before_tool(self._tool, input, self._call)
        if not reply.is_refusal:
            return None
        return f"A hook refused the call: {reply.reason or 'no reason given'}"

    def change_input(
        self, input: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> dict[str, Any]:
        """The input as hooks changed it, validated as that of the model was."""
        if self._before.input is None:
            return input
        try:
            changed: dict[str, Any] = tool.args_validator.validate_python(
                self._before.input, context=ctx.validation_context
            )
        except (ValidationError, ModelRetry) as error:
            # With the input of the model the call would be one that the hook did not want.
            problem = f"A hook changed the input to one that the tool does not accept: {error}"
            raise ToolFailed(problem) from error
        return changed

    def adjust(self, plan: Plan) -> Plan:
        """The plan as it is judged. Rules come first: a hook only decides where none does."""
        if self._before.decision == "allow":
            return msgspec.structs.replace(plan, default=Action.ALLOW)
        if self._before.decision == "ask":
            said = f": {self._before.reason}" if self._before.reason else ""
            return msgspec.structs.replace(plan, asks_because=f"a hook requires it{said}")
        return plan

    def plan_question(self, title: str) -> Plan | None:
        """What a person is asked about a call that has no plan; None if no hook wants it."""
        if self._before.decision != "ask":
            return None
        name = self._tool
        plan = Plan(
            title=title,
            permissions=("hook",),
            accesses=(Access(names=(name,)),),
            default=Action.ALLOW,
            details=(title,),
        )
        return self.adjust(plan)

    async def finish(self, input: Mapping[str, Any], answer: Any, ctx: RunContext[Any]) -> Any:
        """Run the hooks after the call; its answer with what all of them say."""
        after = await self._hooks.after_tool(self._tool, input, render_answer(answer), self._call)
        remarks = [
            render_context("PreToolUse", self._before.context) if self._before.context else "",
            render_context("PostToolUse", after.context) if after.context else "",
            f"A hook objects to this: {after.reason}" if after.decision == "deny" else "",
        ]
        text = "\n\n".join(filter(None, remarks))
        if not text:
            return answer
        if isinstance(answer, str):
            return f"{answer}\n\n{text}"
        # An answer with files or other data stays as it is.
        ctx.enqueue(text)
        return answer


def _name_tool(name: str) -> str:
    """A tool as hooks know it: the one for skills is `Skill`, whatever the host calls it."""
    return "Skill" if name.lower() == "skill" else name
