"""One conversation of an agent with its skills: the object that agents hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.activate.ledger import Ledger, LedgerRecorder, parse_ledger, render_ledger
from prowess.activate.model_tool import ModelTool, describe_tool, parse_call
from prowess.activate.resources.addresses import parse_address
from prowess.activate.resources.lookup import Resource, resolve
from prowess.activate.slash.commands import CommandIndex
from prowess.activate.slash.completion import MOST, Completion, complete
from prowess.activate.slash.dispatch import Cancel
from prowess.activate.slash.messages import Key, find_delivery
from prowess.activate.survival import Survival, compact, find_survivors
from prowess.conversation.activation import activate_skill
from prowess.conversation.authorization import authorize_skill
from prowess.conversation.catalogs import ConversationCatalogs
from prowess.conversation.current_skills import CurrentSkills
from prowess.conversation.services import Services
from prowess.conversation.slash_commands import RunResult, run_typed
from prowess.diagnostics import Diagnostic
from prowess.errors.activation import Unavailable
from prowess.model.activation import Activation
from prowess.model.catalog import Catalog
from prowess.model.outcome import State
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Caller
from prowess.present.tokens import estimate_tokens

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
        self._services = services
        self._skills = CurrentSkills(services, **paths)
        self._catalogs = ConversationCatalogs(services)
        self._recorder = LedgerRecorder(ledger, count=estimate_tokens)

    @property
    def snapshot(self) -> Snapshot:
        """The skills as this conversation sees them: what woke in it is awake."""
        return self._skills.view.snapshot

    @property
    def ledger(self) -> Ledger:
        """What was loaded into the conversation."""
        return self._recorder.ledger

    @property
    def commands(self) -> CommandIndex:
        """What the user can type here."""
        return self._skills.view.commands

    def catalog(self, **options: Any) -> Catalog:
        """What the model is shown of the skills, within the host's budget.

        Options are those of `Skills.catalog`. For the same skills and options it is the same text,
        however often skills are used. The skills in it count as offered.
        """
        return self._catalogs.offer(self.snapshot, **options)

    def tool(self, **options: Any) -> ModelTool:
        """The tool with which the model loads skills, as it should be described now.

        Options are those of `Skills.catalog`.
        """
        view, profile = self._skills.view, self._services.profile
        format, catalog = profile.catalog.tool_format, None
        if format:
            catalog = self._catalogs.build(view.snapshot, format=format, **options)
        tool = describe_tool(profile.tool, usable=view.list_usable("model"), catalog=catalog)
        return ModelTool(**msgspec.structs.asdict(tool), function=self._call_tool)

    def activate(
        self,
        name: str,
        arguments: str = "",
        *,
        by: Caller = "user",
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Activation:
        """Load a skill into the conversation.

        A model's call is checked against the permission rules; for a skill that is already loaded
        and unchanged it gets one line. Raises `UnknownSkill`, `Unavailable`, `NotPermitted`, and
        what commands in the body raise.
        """
        return activate_skill(
            name,
            arguments,
            by=by,
            services=self._services,
            skills=self._skills,
            ledger=self._recorder,
            is_cancelled=is_cancelled,
        )

    def run(
        self,
        text: str,
        *,
        key: Key = Key.SEND,
        streaming: bool = False,
        cancel: Cancel | None = None,
    ) -> RunResult:
        """Run what a user typed: `/name arguments`, `/skill name`, `$name`; the rest is plain text.

        `key` is the key that sent it; `streaming` says whether the model is answering just now.
        """
        return run_typed(
            text,
            delivery=find_delivery(key, streaming=streaming),
            cancel=cancel or Cancel(),
            services=self._services,
            skills=self._skills,
            ledger=self._recorder,
        )

    def complete(self, typed: str, *, most: int = MOST) -> tuple[Completion, ...]:
        """The commands that match what was typed so far, best first."""
        return complete(typed, self.commands, self._services.profile.commands, most=most)

    def read(self, url: str, *, by: Caller = "model") -> Resource:
        """The file or folder that a `skill://` address names.

        A model needs the same permission as for loading the skill, unless it has loaded it. Raises
        `UnknownSkill`, `Unavailable`, `NotPermitted` and `AddressError`.
        """
        services = self._services
        view, rules = self._skills.view, services.profile.resources
        address = parse_address(url, dots=rules.dots, with_lines=True)
        outcome = view.snapshot.find(address.name)
        if outcome is not None and outcome.name == address.name and outcome.state in _UNREADABLE:
            raise Unavailable(outcome.name, outcome.state.value, outcome.reason or "")
        skill = view.readable.get(address.name)
        if by == "model" and skill is not None and self._recorder.find(skill.name) is None:
            authorize_skill(skill, services, view, get_digest=lambda: skill.digest)
        return resolve(address, view.readable, services.files, rules=rules)

    def touched(self, path: str) -> tuple[Skill, ...]:
        """A file was read, written or edited: the skills that woke, which stay awake."""
        return self._skills.touch(path)

    def compact(self) -> Survival:
        """The conversation was shortened: what of the loaded skills to give back to the model."""
        rules = self._services.profile.compaction
        with self._recorder.lock:
            survival = find_survivors(self.ledger, rules, count=estimate_tokens)
            self._recorder.ledger = compact(self.ledger, survival)
        return survival

    def forget(self, *names: str) -> None:
        """These skills are no longer in the conversation; without names, none is."""
        with self._recorder.lock:
            self._recorder.ledger = self.ledger.forget(*names)

    def save(self) -> str:
        """The ledger, what is awake and the folders in which skills were found, as JSON."""
        import json

        data = json.loads(render_ledger(self.ledger))
        data["awake"] = sorted(self._skills.awake)
        data["folders"] = sorted(self._skills.folders)
        return json.dumps(data, indent=1) + "\n"

    def _call_tool(self, parameters: Mapping[str, Any]) -> Activation:
        call = parse_call(parameters, self._services.profile.tool)
        return self.activate(call.name, call.arguments, by="model")


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
