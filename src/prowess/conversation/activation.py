"""Loading a skill into a conversation, from its name to the text that the model receives."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import cache, partial

import msgspec

from prowess.activate.ledger import LedgerEntry, LedgerRecorder, digest_activation
from prowess.activate.resources.file_sample import Sample, sample_files
from prowess.activate.wrappers import (
    SkillContent,
    find_own_folder,
    render_repeated,
    show_addresses,
    wrap_body,
)
from prowess.conversation.authorization import Grant, authorize_skill
from prowess.conversation.body_renderer import (
    RenderedBody,
    load_document,
    plan_body,
    withhold_requests,
)
from prowess.conversation.current_skills import CurrentSkills, SnapshotView
from prowess.conversation.services import Services
from prowess.errors import UnknownSkill
from prowess.errors.activation import Unavailable
from prowess.model.activation import Activation
from prowess.model.outcome import Outcome, State
from prowess.model.skill import Document, Skill
from prowess.model.usage import Caller
from prowess.profiles.schema.commands import ToolRules
from prowess.text.markup import tidy_line

# A model may ask for these by name. For a denied skill the rules then say why not.
_STATES_FOR_MODELS = (State.READY, State.HIDDEN, State.DENIED)


def activate_skill(
    name: str,
    arguments: str,
    *,
    by: Caller,
    services: Services,
    skills: CurrentSkills,
    ledger: LedgerRecorder,
    is_cancelled: Callable[[], bool] | None = None,
    loaded: Collection[str] | None = None,
    again: bool = False,
) -> Activation:
    """Load a skill: look it up, authorize it, render its body, wrap it and record it.

    In this order nobody is asked about a name that does not exist, and nothing is read that is
    denied. `loaded` are the versions that the model has; without it, the ledger says what is
    loaded. Raises `UnknownSkill`, `Unavailable`, `NotPermitted`, and what commands in the body
    raise.
    """
    view, skill = _get_usable(name, by, services, skills)
    grant, document = _authorize(skill, arguments, by, services, view)
    plan = plan_body(skill, document, arguments, by=by, services=services, view=view)
    body = plan.render(is_cancelled)
    if not grant.requests:
        body = withhold_requests(skill, body)

    version = digest_activation(
        skill.name, digest=body.digest, location=skill.location, arguments=arguments
    )
    # What commands wrote may be new although the file is not.
    may_repeat = by == "model" and not again and not body.ran_commands
    if may_repeat and _is_loaded(skill, body, arguments, version, loaded=loaded, ledger=ledger):
        return _answer_repeated(skill, body, grant, version)

    content = _gather_content(skill, body.text, services, view, is_cancelled)
    text = wrap_body(content, services.profile.tool)
    record_activation(
        skill, text, body, arguments=arguments, by=by, services=services, ledger=ledger
    )
    return _describe_activation(skill, body, grant, text=text, content=content, version=version)


def _get_usable(
    name: str, by: Caller, services: Services, skills: CurrentSkills
) -> tuple[SnapshotView, Skill]:
    """The skill of that name, if the caller may load it, and the scan that found it."""
    rules = services.profile.tool
    view = skills.view
    outcome = _find_outcome(name, view, rules)
    if outcome is not None and skills.refresh(outcome.skill):
        # The file changed since the scan, and with it perhaps the skill's name or state.
        view = skills.view
        outcome = _find_outcome(name, view, rules)
    if outcome is None:
        raise UnknownSkill(name, view.list_usable(by))
    states = services.profile.commands.states if by == "user" else _STATES_FOR_MODELS
    if outcome.skill is None or outcome.state not in states:
        raise Unavailable(outcome.name, outcome.state.value, outcome.reason or "")
    return view, outcome.skill


def _authorize(
    skill: Skill, arguments: str, by: Caller, services: Services, view: SnapshotView
) -> tuple[Grant, Document]:
    """What the model is granted with a skill, and the text that this was granted for."""
    # Read once: what is approved is what is loaded.
    load = cache(lambda: load_document(skill, arguments, by, services))
    if by == "user":
        return Grant(), load()
    promised = None if skill.find_promise is None else skill.find_promise()
    # Of a skill on a server nothing is read before someone approved what it promised.
    authorize = partial(authorize_skill, skill, services, view)
    grant = authorize(get_digest=lambda: load().digest if promised is None else promised)
    if promised is not None and load().digest != promised:
        # It has changed meanwhile, so the approval was of something else.
        grant = authorize(get_digest=lambda: load().digest)
    return grant, load()


def _gather_content(
    skill: Skill,
    body: str,
    services: Services,
    view: SnapshotView,
    is_cancelled: Callable[[], bool] | None,
) -> SkillContent:
    """The body with the folder of its skill and a sample of the files in it."""
    folder, sample = find_own_folder(skill), Sample()
    if folder is not None:
        sample = sample_files(
            folder,
            services.files,
            rules=services.profile.tool,
            above=view.ignored_above,
            is_cancelled=is_cancelled,
        )
    if skill.is_in_memory:
        folder, sample = show_addresses(skill, sample)
    return SkillContent(name=skill.name, body=body, folder=folder, sample=sample)


def record_activation(
    skill: Skill,
    text: str,
    body: RenderedBody,
    *,
    arguments: str,
    by: Caller,
    services: Services,
    ledger: LedgerRecorder,
) -> None:
    """Write an activation into the ledger, and count it as a use. `text` is what the model gets."""
    entry = LedgerEntry(
        name=skill.name,
        at=time.time(),
        by=by,
        location=skill.file or "",
        digest=body.digest,
        arguments=arguments,
        text=text,
        has_blocks=bool(body.blocks),
    )
    ledger.record(entry)
    services.usage.note_activated(skill, by)


def _find_outcome(name: str, view: SnapshotView, rules: ToolRules) -> Outcome | None:
    """The outcome of a name, which some hosts accept as `/name` or in any case."""
    snapshot = view.snapshot
    outcome = snapshot.find(name)
    if outcome is None and rules.slash:
        outcome = snapshot.find(name.strip().removeprefix("/"))
    if outcome is not None or not rules.any_case:
        return outcome
    folded = name.lower()
    return next((other for other in snapshot.shown if other.name.lower() == folded), None)


def _is_loaded(
    skill: Skill,
    body: RenderedBody,
    arguments: str,
    version: str,
    *,
    loaded: Collection[str] | None,
    ledger: LedgerRecorder,
) -> bool:
    """Whether the conversation already holds exactly this."""
    if loaded is not None:
        return version in loaded
    entry = ledger.find(skill.name)
    if entry is None or entry.partial:
        return False
    # The same text in another place has other files beside it.
    same = (body.digest, arguments, skill.file or "")
    return (entry.digest, entry.arguments, entry.location) == same


def _answer_repeated(skill: Skill, body: RenderedBody, grant: Grant, version: str) -> Activation:
    """The short answer for what the model has: no body, no files, nothing recorded."""
    content = SkillContent(name=skill.name, body="", folder=find_own_folder(skill), sample=Sample())
    text = render_repeated(skill.name)
    activation = _describe_activation(
        skill, body, grant, text=text, content=content, version=version
    )
    return msgspec.structs.replace(activation, repeated=True, blocks=())


def _describe_activation(
    skill: Skill,
    body: RenderedBody,
    grant: Grant,
    *,
    text: str,
    content: SkillContent,
    version: str,
) -> Activation:
    folder = content.folder or body.folder
    return Activation(
        name=skill.name,
        text=text,
        folder=folder,
        digest=body.digest,
        version=version,
        title=f"Loaded skill: {tidy_line(skill.name)}",
        files=content.sample.files,
        more_files=content.sample.more,
        metadata={"name": skill.name} if folder is None else {"name": skill.name, "dir": folder},
        requests=body.requests,
        trusted=body.trusted,
        blocks=body.blocks,
        diagnostics=body.diagnostics + grant.diagnostics,
    )
