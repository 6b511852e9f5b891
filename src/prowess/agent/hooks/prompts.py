"""Hooks around what the user types: SessionStart before the first prompt, UserPromptSubmit."""

from __future__ import annotations

from prowess.agent.hooks.reply import HookReply, render_context
from prowess.agent.hooks.session_hooks import AgentHooks


class PromptHooks:
    """Runs the hooks of prompts, and keeps what they add until the model gets a prompt."""

    def __init__(self, hooks: AgentHooks, *, is_resumed: bool) -> None:
        self._hooks = hooks
        self._source = "resume" if is_resumed else "startup"
        self._is_started = False
        self._context: list[str] = []

    async def find_refusal(self, text: str) -> str | None:
        """Run the hooks of a prompt; why the model must not get it, None if it may."""
        # With the first prompt: a session that is opened and closed again runs no hooks.
        if not self._is_started:
            self._is_started = True
            started = await self._hooks.run("SessionStart", self._source, source=self._source)
            self._keep("SessionStart", started)
        reply = await self._hooks.run("UserPromptSubmit", prompt=text)
        if reply.is_refusal:
            return f"a hook refused the prompt: {reply.reason or 'no reason given'}"
        self._keep("UserPromptSubmit", reply)
        return None

    def add_context(self, prompt: str) -> str:
        """A prompt with what hooks added since the last one that the model got."""
        return "\n\n".join((prompt, *self._context))

    def forget_context(self) -> None:
        """The model got what hooks added so far."""
        self._context.clear()

    def _keep(self, event: str, reply: HookReply) -> None:
        if reply.context:
            self._context.append(render_context(event, reply.context))
