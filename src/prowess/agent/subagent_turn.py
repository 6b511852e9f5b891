"""A sub-agent of another session, as the main agent of a session of its own: that of its job."""

from __future__ import annotations

from collections.abc import Mapping

from prowess.agent.hooks.skill_hooks import restore_hooks
from prowess.agent.jobs.values import SubagentSpec
from prowess.agent.subagent_jobs import Assignment, restore_images
from prowess.agent.worker import Worker
from prowess.agent.workers import Watch, Workers
from prowess.conversation.conversation import Conversation
from prowess.errors import UsageError
from prowess.model.hooks import Hook
from prowess.runtime import Skills


async def open_subagent(
    workers: Workers,
    subagent: SubagentSpec,
    text: str,
    conversation: Conversation,
    *,
    kept_hooks: Mapping[str, str],
    watch: Watch,
) -> tuple[Assignment, Worker]:
    """The sub-agent, and its task.

    `kept_hooks` are those of skills that it loaded before it was interrupted. Raises `UsageError`
    where hooks are not there any more: without them it could do more than it may.
    """
    inherited = _restore(subagent.hooks, conversation, workers.skills)
    own = _restore({**subagent.own_hooks, **kept_hooks}, conversation, workers.skills)
    assignment = Assignment(
        subagent.name,
        text,
        workers.definitions.get(subagent.definition),
        subagent.requests,
        subagent.blocks,
        restore_images(subagent.images),
    )
    hooks = workers.hooks.open_agent(subagent.name, inherited)
    hooks.add(own)
    # Whoever started it is one above, which counts for how deep agents may be nested.
    worker = await workers.open_child(assignment, conversation, hooks, depth=1, watch=watch)
    workers.reset(worker, disallowed=subagent.disallowed)
    return assignment, worker


def _restore(
    digests: Mapping[str, str], conversation: Conversation, skills: Skills
) -> tuple[Hook, ...]:
    restored = restore_hooks(digests, conversation, skills)
    if restored.warnings:
        raise UsageError(restored.warnings[0].message)
    return restored.hooks
