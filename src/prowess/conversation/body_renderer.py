"""From a skill to the text of its body for one call: read now, filled, its commands run."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from prowess.activate.body.substitution import Given, find_folder, substitute
from prowess.activate.skill_requests import read_requests
from prowess.activate.tool import Prepared
from prowess.conversation.authorization import Permits
from prowess.conversation.services import Ground
from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.activation import Requests
from prowess.model.settings import Settings
from prowess.model.skill import Document, Manifest, Skill, SkillCall
from prowess.model.usage import Caller
from prowess.shell.command_runner import Surroundings, draft_body, find_not_run, run_draft
from prowess.shell.embedded_commands import may_hold_commands
from prowess.shell.environment import SkillEnvironment, build_environment


class Bodies:
    """Makes bodies ready for one conversation, whose id and effort fill the variables of that name."""

    def __init__(
        self, ground: Ground, permits: Permits, *, session: str | None, effort: str | int | None
    ) -> None:
        self._ground = ground
        self._permits = permits
        self._session = session
        self._effort = effort
        self._variables_only = msgspec.structs.replace(
            ground.profile.arguments, placeholders=False, append="never"
        )

    def prepare(
        self,
        skill: Skill,
        arguments: str,
        by: Caller,
        *,
        document: Document | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Prepared:
        """A skill's body, ready for these arguments: that of the document, else as it is on disk
        now.
        """
        if document is None:
            call = SkillCall(
                arguments=arguments, session=self._session, cwd=self._ground.cwd, caller=by
            )
            document = skill.load(call)
        if skill.is_computed:
            return self._take_computed(skill, document, arguments)
        profile = self._ground.profile
        # Hooks are handed on to whoever loads the skill, so they get their own; making it anew
        # costs a little.
        manifest = skill.manifest if skill.declared.hooks else skill.declared
        given = self._give(skill, arguments)
        environment, around = self._look_around(skill, document)
        draft = draft_body(
            document.content,
            given,
            around,
            arguments=profile.arguments,
            embedded=profile.embedded,
            names=manifest.arguments,
            shell=manifest.shell,
            caller=by,
            file=skill.location,
        )
        if draft.commands:
            noted = self._permits.check_commands(skill, draft.commands, document.digest)
            found = noted + draft.diagnostics + environment.diagnostics
            body = run_draft(
                draft, self._ground.runner, masker=environment.masker, is_cancelled=is_cancelled
            )
        else:
            found, body = draft.diagnostics, draft.place(())
        requests, unheeded = self._read_requests(skill, manifest, given)
        return Prepared(
            body=body,
            digest=document.digest,
            requests=requests,
            ran_commands=bool(draft.commands),
            trusted=self._is_trusted_with(skill, requests),
            diagnostics=found + unheeded,
        )

    def withhold(self, skill: Skill, prepared: Prepared) -> Prepared:
        """A body whose skill was not granted what would be approved beforehand: tools and hooks."""
        requests = msgspec.structs.replace(prepared.requests, allowed_tools=(), hooks={})
        if requests == prepared.requests:
            return prepared
        message = (
            "What the header asks for (`allowed-tools`, `hooks`) is not granted, since nobody was"
            " there to be asked."
        )
        found = diagnose("request-withheld", message, file=skill.file)
        return msgspec.structs.replace(
            prepared, requests=requests, diagnostics=(*prepared.diagnostics, found)
        )

    def _is_trusted_with(self, skill: Skill, requests: Requests) -> bool:
        """Whether the skill is trusted with what it asks for. Most ask for nothing, and nobody is
        asked then.
        """
        return not (requests.allowed_tools or requests.hooks) or self._ground.is_trusted(skill)

    def build_environment(self, skill: Skill) -> SkillEnvironment:
        """The variables that only this skill's programs and tools get; none where the skill is not
        trusted.

        Whoever writes a skill chooses its name and which variables it wants, and so could have
        those of another.
        """
        ground = self._ground
        settings, manifest = ground.settings, skill.manifest
        if not ground.is_trusted(skill):
            return _refuse_environment(skill, manifest, settings)
        return build_environment(
            skill.name,
            manifest,
            settings,
            outside=ground.facts.env,
            trusts_project=ground.trusts_settings(settings),
            secrets=ground.secrets,
        )

    def _look_around(
        self, skill: Skill, document: Document
    ) -> tuple[SkillEnvironment, Surroundings]:
        """What the commands of a body run in. Most bodies have none, and nothing is asked for then."""
        ground = self._ground
        rules = ground.profile.embedded
        if not (rules.recognised and may_hold_commands(document.content)):
            return SkillEnvironment(), Surroundings(facts=ground.facts, cwd=ground.cwd)
        is_on = ground.may_run_commands()
        not_run = find_not_run(skill, rules, is_trusted=ground.is_trusted(skill), switched_on=is_on)
        environment = self.build_environment(skill) if not_run is None else SkillEnvironment()
        around = Surroundings(
            facts=ground.facts, cwd=ground.cwd, env=environment.variables, not_run=not_run
        )
        return environment, around

    def _give(self, skill: Skill, arguments: str) -> Given:
        snapshot = self._ground.snapshot
        return Given(
            arguments=arguments,
            folder=find_folder(skill, self._ground.profile.arguments),
            session=self._session,
            project=snapshot.repository or snapshot.cwd,
            effort=self._effort,
        )

    def _read_requests(
        self, skill: Skill, manifest: Manifest, given: Given
    ) -> tuple[Requests, tuple[Diagnostic, ...]]:
        """What the header asks for; the names of tools may hold variables, never arguments."""
        return read_requests(
            manifest,
            self._ground.profile.requests,
            file=skill.file,
            expand=lambda tool: substitute(tool, self._variables_only, given)[0],
        )

    def _take_computed(self, skill: Skill, document: Document, arguments: str) -> Prepared:
        """The body of a skill whose text is final: nothing is filled in and nothing is run."""
        requests, unheeded = self._read_requests(
            skill, skill.manifest, self._give(skill, arguments)
        )
        return Prepared(
            body=document.content,
            digest=document.digest,
            requests=requests,
            blocks=document.blocks,
            folder=document.folder,
            diagnostics=document.diagnostics + unheeded,
        )


def _refuse_environment(skill: Skill, manifest: Manifest, settings: Settings) -> SkillEnvironment:
    """The environment of a skill that is not trusted: nothing, and what it would have got."""
    found = settings.find_override(manifest.skill_key, skill.name)
    has_values = found is not None and bool(
        found[1].env or found[1].api_key or found[1].api_key_from
    )
    if not (has_values or manifest.primary_env or manifest.requires.env):
        return SkillEnvironment()
    message = (
        f"The skill “{skill.name}” gets none of the variables it asks for, since its project is not"
        " trusted."
    )
    return SkillEnvironment(
        diagnostics=(diagnose("environment-refused", message, file=skill.file),)
    )
