"""One conversation of an agent with its skills: the object that agents hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from prowess.activate.ledger import (
    Ledger,
    LedgerRecorder,
    is_any_loaded,
    parse_ledger,
    render_ledger,
)
from prowess.activate.model_tool import ModelTool, describe_tool, parse_call
from prowess.activate.resources.addresses import parse_address
from prowess.activate.resources.lookup import Resource, resolve
from prowess.activate.slash.commands import CommandIndex
from prowess.activate.slash.completion import MOST, Completion, complete
from prowess.activate.slash.dispatch import Cancel
from prowess.activate.slash.messages import Key, Message, find_delivery
from prowess.activate.slash.parser import Plain, parse_command
from prowess.activate.survival import Survival, compact, find_survivors
from prowess.conversation.activation import activate_skill
from prowess.conversation.async_calls import Answers, call_async
from prowess.conversation.authorization import authorize_skill
from prowess.conversation.catalogs import ConversationCatalogs
from prowess.conversation.current_skills import CurrentSkills, SnapshotView
from prowess.conversation.services import Services
from prowess.conversation.slash_commands import RunResult, run_typed
from prowess.diagnostics import Diagnostic
from prowess.errors import ProwessError, UnknownSkill
from prowess.errors.activation import Unavailable
from prowess.gate.approvals import GivenAnswers
from prowess.model.activation import Activation
from prowess.model.catalog import Catalog
from prowess.model.outcome import State
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Caller
from prowess.present.instructions import render_instructions
from prowess.present.tokens import estimate_tokens
from prowess.project.options import CatalogOptions
from prowess.telemetry import observe

if TYPE_CHECKING:
    from prowess.shell.scripts import ScriptResult

# Skills that exist but cannot be read. A denied one is not mentioned, and a shadowed one lost its
# name to another.
_UNREADABLE = (State.INVALID, State.SKIPPED, State.DISABLED, State.INELIGIBLE)


class Conversation:
    """One conversation of an agent with its skills. `saved` resumes one that `save` gave."""

    def __init__(self, services: Services, *, saved: str | None = None) -> None:
        self.session = services.session
        self.diagnostics: tuple[Diagnostic, ...] = ()
        ledger, paths = Ledger(), dict[str, tuple[str, ...]]()
        if saved is not None:
            ledger, self.diagnostics = parse_ledger(saved)
            paths = {key: _parse_paths(saved, key) for key in ("awake", "folders")}
        self.profile = services.profile
        self.approver = services.approver
        self._services = services
        self._skills = CurrentSkills(services, **paths)
        self._catalogs = ConversationCatalogs(services)
        self._recorder = LedgerRecorder(ledger, count=estimate_tokens)

    @property
    def snapshot(self) -> Snapshot:
        """The skills as this conversation sees them: what woke in it is awake."""
        return self._skills.view.snapshot

    def find_fresh(self) -> Snapshot | None:
        """The `snapshot`, if nothing has to be read for it, as an event loop must not."""
        return self._skills.find_fresh()

    @property
    def ledger(self) -> Ledger:
        """What was loaded into the conversation."""
        return self._recorder.ledger

    @property
    def commands(self) -> CommandIndex:
        """What the user can type here."""
        return self._skills.view.commands

    def catalog(self, **options: Unpack[CatalogOptions]) -> Catalog:
        """What the model is shown of the skills, within the host's budget.

        Options are those of `Skills.catalog`. For the same skills and options it is the same text,
        however often skills are used. The skills in it count as offered.
        """
        return self._catalogs.offer(self.snapshot, **options)

    def instructions(self, **options: Unpack[CatalogOptions]) -> str:
        """The text for a system prompt: how to load a skill with the tool, the list of skills, and
        the bodies that always apply.

        Options are those of `Skills.catalog`. The tool that goes with it is `tool(listed=False)`.
        """
        catalog = self.catalog(**options)
        return render_instructions(catalog, tool=self._services.profile.tool.name)

    def tool(self, *, listed: bool = True, **options: Unpack[CatalogOptions]) -> ModelTool:
        """The tool with which the model loads skills, as it should be described now.

        Without `listed` its description has no skills, because the `instructions` have. Options are
        those of `Skills.catalog`.
        """
        view, profile = self._skills.view, self._services.profile
        format, catalog = profile.catalog.tool_format, None
        if not listed:
            tool = describe_tool(profile.tool, usable=())
            return ModelTool(**msgspec.structs.asdict(tool), function=self._call_tool)
        if format:
            options["format"] = format
            catalog = self._catalogs.build(view.snapshot, **options)
        tool = describe_tool(profile.tool, usable=view.list_usable("model"), catalog=catalog)
        return ModelTool(**msgspec.structs.asdict(tool), function=self._call_tool)

    def activate(
        self,
        name: str,
        arguments: str = "",
        *,
        by: Caller = "user",
        answers: Answers | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        loaded: Collection[str] | None = None,
        again: bool = False,
    ) -> Activation:
        """Load a skill into the conversation.

        A model's call is checked against the permission rules; for a skill that is already loaded
        and unchanged it gets one line, unless it asks for the text `again`. `loaded` are the
        versions (`Activation.version`) that the model has in its messages; without it, the ledger
        says what is loaded. With `answers`, by the keys of requests, the approver is not asked: a
        question without an answer raises `ApprovalNeeded` before anything runs. Raises
        `UnknownSkill`, `Unavailable`, `NotPermitted`, and what commands in the body raise.
        """
        with observe("activate", host=self._services.profile.name, caller=by) as seen:
            made = activate_skill(
                name,
                arguments,
                by=by,
                services=self._with_answers(answers),
                skills=self._skills,
                ledger=self._recorder,
                is_cancelled=is_cancelled,
                loaded=loaded,
                again=again,
            )
            # Noted afterwards: what a model asks for need not be the name of a skill.
            if seen:
                tokens = estimate_tokens(made.text)
                seen.note(skill=made.name, digest=made.digest, tokens=tokens)
                seen.note(repeated=made.repeated)
            return made

    async def activate_async(
        self,
        name: str,
        arguments: str = "",
        *,
        by: Caller = "user",
        answers: Answers | None = None,
    ) -> Activation:
        """As `activate`, from an event loop.

        The work runs in a thread of its own, and an async approver is awaited in the loop. If the
        task is cancelled, the programs it started are killed.
        """
        call = partial(self.activate, name, arguments, by=by)
        return await call_async(call, self._services.approver, answers)

    def run(
        self,
        text: str,
        *,
        key: Key = Key.SEND,
        streaming: bool = False,
        cancel: Cancel | None = None,
        answers: Answers | None = None,
    ) -> RunResult:
        """Run what a user typed: `/name arguments`, `/skill name`, `$name`; the rest is plain text.

        `key` is the key that sent it; `streaming` says whether the model is answering just now.
        `answers` are those of `activate`.
        """
        with observe("activate", host=self._services.profile.name, caller="user") as seen:
            found = run_typed(
                text,
                delivery=find_delivery(key, streaming=streaming),
                cancel=cancel or Cancel(),
                services=self._with_answers(answers),
                skills=self._skills,
                ledger=self._recorder,
            )
            if seen and isinstance(found, Message):
                seen.note(skill=", ".join(found.skills), tokens=estimate_tokens(found.text))
            return found

    def find_plain(self, text: str) -> Plain | None:
        """What `run` gives for a text that is no command and mentions no skill; None for others.

        Nothing runs and nobody is asked.
        """
        typed = parse_command(text, self.commands, self._services.profile.commands)
        return typed if isinstance(typed, Plain) else None

    async def run_async(
        self,
        text: str,
        *,
        key: Key = Key.SEND,
        streaming: bool = False,
        answers: Answers | None = None,
    ) -> RunResult:
        """As `run`, from an event loop; see `activate_async`."""

        def call(
            *, answers: Answers | None = None, is_cancelled: Callable[[], bool] | None = None
        ) -> RunResult:
            cancel = Cancel(is_cancelled)
            return self.run(text, key=key, streaming=streaming, cancel=cancel, answers=answers)

        return await call_async(call, self._services.approver, answers)

    def run_script(
        self,
        name: str,
        script: str,
        argv: Sequence[str] = (),
        *,
        by: Caller = "model",
        seconds: float | None = None,
        answers: Answers | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        loaded: Collection[str] | None = None,
    ) -> ScriptResult:
        """Run a script in the folder of a skill, such as `scripts/fill.py`, with these arguments.

        It runs like a command in the skill's body: in the working folder, in the sandbox, with the
        skill's variables, if the skill is trusted and the rules allow it. A model needs permission
        to load the skill, unless it is loaded, and its arguments are approved unless a rule allows
        them. `seconds` replaces the host's time limit; `answers` and `loaded` are those of
        `activate`. Raises `UnknownSkill`, `Unavailable`, `NotPermitted`, `AddressError` and
        `ScriptRefused`.
        """
        # Few conversations run scripts, and the modules that run programs take long to import.
        from prowess.conversation.scripts import run_script

        services = self._with_answers(answers)
        skill = self._get_readable(name, by, services, loaded)
        if by == "model" and not self._is_loaded(skill, loaded):
            self._check_awake(name)
        return run_script(
            skill,
            script,
            argv,
            by=by,
            services=services,
            view=self._skills.view,
            seconds=seconds,
            is_cancelled=is_cancelled,
        )

    async def run_script_async(
        self,
        name: str,
        script: str,
        argv: Sequence[str] = (),
        *,
        by: Caller = "model",
        seconds: float | None = None,
        answers: Answers | None = None,
    ) -> ScriptResult:
        """As `run_script`, from an event loop; see `activate_async`."""
        call = partial(self.run_script, name, script, argv, by=by, seconds=seconds)
        return await call_async(call, self._services.approver, answers)

    def complete(self, typed: str, *, most: int = MOST) -> tuple[Completion, ...]:
        """The commands that match what was typed so far, best first."""
        return complete(typed, self.commands, self._services.profile.commands, most=most)

    def read(
        self,
        url: str,
        *,
        by: Caller = "model",
        answers: Answers | None = None,
        is_cancelled: Callable[[], bool] | None = None,
        loaded: Collection[str] | None = None,
        exact: bool = False,
    ) -> Resource:
        """The file or folder that a `skill://` address names.

        A model needs the same permission as for loading the skill, unless it has loaded it as it is
        now; `answers` and `loaded` are those of `activate`. Lines come with the context that the
        host adds, unless they are to be `exact`. Raises `UnknownSkill`, `Unavailable`,
        `NotPermitted` and `AddressError`.
        """
        services = self._with_answers(answers)
        rules = services.profile.resources
        if exact:
            rules = msgspec.structs.replace(rules, lines_before=0, lines_after=0)
        address = parse_address(url, dots=rules.dots, with_lines=True)
        self._get_readable(address.name, by, services, loaded)
        return resolve(address, self._skills.view.readable, services.files, rules=rules)

    async def read_async(
        self, url: str, *, by: Caller = "model", answers: Answers | None = None
    ) -> Resource:
        """As `read`, from an event loop; see `activate_async`."""
        call = partial(self.read, url, by=by)
        return await call_async(call, self._services.approver, answers)

    def touched(self, path: str | os.PathLike[str]) -> tuple[Skill, ...]:
        """A file was read, written or edited: the skills that woke, which stay awake."""
        return self._skills.touch(os.path.join(self._services.cwd, path))

    def compact(self, ledger: Ledger | None = None, *, most: int | None = None) -> Survival:
        """The conversation was shortened: what of the loaded skills to give back to the model.

        A `ledger` says what the model had before, in place of what was recorded here. `most` is a
        limit on tokens below that of the host, for a small window.
        """
        rules = self._services.profile.compaction
        if most is not None and most < rules.tokens:
            rules = msgspec.structs.replace(rules, tokens=most)
        with self._recorder.lock:
            before = self.ledger if ledger is None else ledger
            survival = find_survivors(before, rules, count=estimate_tokens)
            self._recorder.ledger = compact(before, survival)
        return survival

    def restore(self, ledger: Ledger) -> None:
        """The conversation is as it was before: for a `compact` that could not be completed."""
        self._recorder.ledger = ledger

    def forget(self, *names: str) -> None:
        """These skills are no longer in the conversation; without names, none is."""
        with self._recorder.lock:
            self._recorder.ledger = self.ledger.forget(*names)

    def save(self, *, with_ledger: bool = True) -> str:
        """The ledger, what is awake and the folders in which skills were found, as JSON.

        An agent that reads from its messages what was loaded can leave the ledger out.
        """
        import json

        data = json.loads(render_ledger(self.ledger if with_ledger else Ledger()))
        data["awake"] = sorted(self._skills.awake)
        data["folders"] = sorted(self._skills.folders)
        return json.dumps(data, indent=1) + "\n"

    def wake_saved(self, saved: str) -> None:
        """What woke in another copy of this conversation, which `save` gave, is awake here, too."""
        paths = {key: _parse_paths(saved, key) for key in ("awake", "folders")}
        self._skills.add(**paths)

    def _with_answers(self, answers: Answers | None) -> Services:
        """The services of one call; with answers, those are all that its approver knows."""
        if answers is None:
            return self._services
        return msgspec.structs.replace(self._services, approver=GivenAnswers(answers))

    def _get_readable(
        self, name: str, by: Caller, services: Services, loaded: Collection[str] | None
    ) -> Skill:
        """A skill whose files the caller may use. Raises what `read` does."""
        view = self._skills.view
        skill = view.readable.get(name)
        if self._skills.refresh(skill):
            # The file changed since the scan, and with it perhaps who may use the skill.
            view = self._skills.view
            skill = view.readable.get(name)
        if skill is None:
            raise _explain_unreadable(name, view)
        if by == "model" and not self._is_loaded(skill, loaded):
            authorize_skill(skill, services, view, get_digest=lambda: skill.digest)
        return skill

    def _is_loaded(self, skill: Skill, loaded: Collection[str] | None) -> bool:
        """Whether a skill is loaded as it is now, so that its files need no permission.

        Where the messages say what the model has, the ledger counts only for what the user loaded.
        A call that is repeated after an approval then asks the same questions in the same order,
        whatever other calls wrote into the ledger meanwhile.
        """
        entries = self._recorder.find_all(skill.name)
        if loaded is not None:
            entries = tuple(entry for entry in entries if entry.by == "user")
        if not entries and not loaded:
            return False
        if skill.is_computed:
            # Its text may differ at every call, and making it runs code.
            return bool(entries)
        current = (skill.digest, skill.file or "")
        if any((entry.digest, entry.location) == current for entry in entries):
            return True
        return is_any_loaded(loaded or (), skill.name, digest=skill.digest, location=skill.location)

    def _check_awake(self, name: str) -> None:
        """Raise `Unavailable` for a dormant skill, which a model cannot load either."""
        outcome = self.snapshot.find(name)
        if outcome is not None and outcome.state is State.DORMANT:
            raise Unavailable(name, outcome.state.value, outcome.reason or "")

    def _call_tool(self, parameters: Mapping[str, Any]) -> Activation:
        call = parse_call(parameters, self._services.profile.tool)
        return self.activate(call.name, call.arguments, by="model")


def _explain_unreadable(name: str, view: SnapshotView) -> ProwessError:
    outcome = view.snapshot.find(name)
    # Labels find skills, too, but do not name them in an address.
    if outcome is None or outcome.name != name:
        return UnknownSkill(name, view.readable)
    if outcome.state not in _UNREADABLE:
        return UnknownSkill(name, view.readable)
    return Unavailable(outcome.name, outcome.state.value, outcome.reason or "")


def _parse_paths(saved: str, key: str) -> tuple[str, ...]:
    """A list of paths in a saved conversation; empty if it is broken, which the ledger reports."""
    import json

    try:
        data = json.loads(saved)
    except (ValueError, RecursionError):
        return ()
    paths = data.get(key) if isinstance(data, dict) else None
    if not isinstance(paths, list):
        return ()
    return tuple(path for path in paths if isinstance(path, str))
