"""What loaded skills ask of an agent (tools, a model, hooks), and what of it they get."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from pydantic_ai.models import Model

from prowess.agent.definitions import AgentDefinition
from prowess.agent.events import Event, Warned
from prowess.agent.hooks.skill_hooks import (
    digest_hooks,
    is_own,
    list_skill_hooks,
    may_hook,
)
from prowess.agent.hooks.sources import list_unsupported
from prowess.agent.models import ModelSource
from prowess.agent.worker import Worker
from prowess.diagnostics import Diagnostic
from prowess.errors.agent import ModelUnavailable
from prowess.model.activation import SkillRequests
from prowess.runtime import Skills


class SkillGrants:
    """Grants the requests of skills, with a warning for each that is not granted."""

    def __init__(self, skills: Skills, models: ModelSource, emit: Callable[[Event], None]) -> None:
        self._skills = skills
        self._models = models
        self._emit = emit

    def limit(
        self, requests: SkillRequests, worker: Worker, *, skill: str, is_trusted: bool
    ) -> SkillRequests:
        """What a skill asks for, without what it may not have."""
        conversation = worker.context.conversation
        if not is_trusted:
            requests = msgspec.structs.replace(requests, allowed_tools=())
        if requests.hooks and not may_hook(
            skill, conversation, self._skills, is_trusted=is_trusted
        ):
            said = f"The hooks of the skill “{skill}” do not run, because it is not trusted."
            self._emit(Warned(agent=worker.name, code="hooks-untrusted", message=said))
            requests = msgspec.structs.replace(requests, hooks={})
        if is_own(skill, conversation):
            return requests
        model = self._permit_model(requests.model, agent=worker.name)
        return msgspec.structs.replace(requests, model=model)

    def apply(self, requests: SkillRequests, worker: Worker, *, skill: str) -> None:
        """Grant what a skill asks for, until the turn ends; its hooks stay."""
        turn = worker.context.turn
        turn.granted = turn.granted.add(requests.allowed_tools, requests.disallowed_tools)
        worker.loop.use(self._find_model(requests.model, agent=worker.name), requests.effort)
        hooks = list_skill_hooks(skill, requests, worker.context.conversation)
        for warning in list_unsupported(hooks):
            self._emit(msgspec.structs.replace(warning, agent=worker.name))
        if hooks:
            digest = digest_hooks(requests)
            worker.context.hooks.digests[skill] = digest
            if worker.is_kept:
                # Written down at once: a guard must be there again even after a kill.
                worker.context.log.note_hooks(skill, digest)
        worker.context.hooks.add(hooks)

    def open_model(self, name: str, definition: AgentDefinition, requests: SkillRequests) -> Model:
        """The model of a sub-agent: of the skill, of the definition, or of the session."""
        wanted = requests.model or self._permit_definition(definition)
        return self._find_model(wanted, agent=name) or self._models.open(agent=name)

    def warn(self, findings: Iterable[Diagnostic], *, agent: str = "") -> None:
        """Show what the user should know about a skill that was loaded."""
        for one in findings:
            # Said by the adapter, which does not know that the agent itself grants requests.
            if one.code == "request-not-granted":
                continue
            self._emit(Warned(agent=agent, code=one.code, message=one.message))

    def _permit_definition(self, definition: AgentDefinition) -> str | None:
        """The model of a definition; a file of the user's home may name any."""
        folder = definition.file.rsplit("/", 3)[0]
        if folder == self._skills.facts.home:
            return definition.model
        return self._permit_model(definition.model, agent=definition.name)

    def _permit_model(self, name: str | None, *, agent: str) -> str | None:
        """The model that a project asks for; None, with a warning, where it may not choose it."""
        try:
            self._models.check_project_choice(name)
        except ModelUnavailable as error:
            self._warn_model(error, agent)
            return None
        return name

    def _find_model(self, name: str | None, *, agent: str) -> Model | None:
        """The model that a skill asks for; None leaves it as it is, with a warning if unknown."""
        if name is None:
            return None
        try:
            return self._models.find(name, agent=agent)
        except ModelUnavailable as error:
            self._warn_model(error, agent)
            return None

    def _warn_model(self, error: ModelUnavailable, agent: str) -> None:
        message = f"{error} The model of the session is used."
        self._emit(Warned(agent=agent, code="model-unavailable", message=message))
