"""The conversation itself: loads skills, takes what is typed, answers addresses, wakes what waits,
keeps the ledger.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from prowess.activate.ledger import Ledger, LedgerEntry, parse_ledger, render_ledger
from prowess.activate.resources.addresses import parse_address
from prowess.activate.resources.file_sample import Above
from prowess.activate.resources.lookup import Resource, resolve
from prowess.activate.slash.commands import CommandIndex, build_commands
from prowess.activate.slash.completion import MOST, Completion, complete
from prowess.activate.slash.delivery import Key, find_delivery
from prowess.activate.slash.dispatch import Cancel, ToolReply
from prowess.activate.slash.messages import Message
from prowess.activate.slash.parser import Call, Mention, Notice, Plain, Typed, parse_command
from prowess.activate.survival import Survival, compact, find_survivors
from prowess.activate.tool import Desk, Prepared, ToolCall, call_tool, describe_tool, parse_call
from prowess.conversation.activation import Loading
from prowess.conversation.authorization import Permits
from prowess.conversation.body_renderer import Bodies
from prowess.conversation.dormant import Waking
from prowess.conversation.journal import Journal
from prowess.conversation.model_tool import ModelTool
from prowess.conversation.services import Ground
from prowess.conversation.slash_commands import Typist
from prowess.diagnostics import Diagnostic
from prowess.errors import UnknownSkill
from prowess.errors.activation import Unavailable
from prowess.model.activation import Activation
from prowess.model.catalog import Catalog, Shown
from prowess.model.outcome import Outcome, State
from prowess.model.skill import Skill
from prowess.model.snapshot import Snapshot
from prowess.model.usage import Caller
from prowess.present.tokens import estimate_tokens

_READABLE = (State.READY, State.HIDDEN, State.DORMANT)
# There, but not to be read; of what is denied nothing is told, and what lost its name has none.
_UNREADABLE = (State.INVALID, State.SKIPPED, State.DISABLED, State.INELIGIBLE)
RunResult = Message | ToolReply | Notice | Plain
"""What comes of a typed text: a message for the model, a tool's reply, a notice for the user, or plain text."""


class Conversation:
    """One conversation of an agent with its skills.

    `session` is its id and `effort` how hard the model thinks, for the variables that bodies have
    for them. `saved` is what `save` gave, and goes on from there. `taken` are names of commands
    that the agent has of its own.
    """

    def __init__(
        self,
        ground: Ground,
        *,
        session: str | None = None,
        effort: str | int | None = None,
        saved: str | None = None,
        taken: Iterable[str] = (),
    ) -> None:
        self.session = session
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._ground = ground
        self._taken = frozenset(taken)
        self._lock = threading.RLock()
        self._permits = Permits(ground)
        self._bodies = Bodies(ground, self._permits, session=session, effort=effort)
        kept: Mapping[str, tuple[str, ...]] = {}
        ledger = Ledger()
        if saved is not None:
            ledger, self.diagnostics = parse_ledger(saved)
            kept = _parse_kept(saved)
        self._journal = Journal(ledger, count=estimate_tokens)
        self._waking = Waking(ground, **kept)
        self._commands: tuple[Snapshot, CommandIndex] | None = None
        self._above: tuple[Snapshot, Above] | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The skills as this conversation sees them: what woke in it is awake."""
        with self._lock:
            return self._waking.snapshot

    @property
    def ledger(self) -> Ledger:
        """What was loaded into the conversation."""
        with self._lock:
            return self._journal.ledger

    @property
    def commands(self) -> CommandIndex:
        """What the user can type here."""
        with self._lock:
            snapshot = self._waking.snapshot
            if self._commands is None or self._commands[0] is not snapshot:
                index = build_commands(snapshot, self._ground.profile.commands, taken=self._taken)
                self._commands = (snapshot, index)
            return self._commands[1]

    def catalog(self, **options: Any) -> Catalog:
        """What the model is shown of the skills, within the host's budget; options as those of
        `Skills.catalog`.

        It counts as an offer of the skills in it.
        """
        snapshot = self.snapshot
        catalog = self._ground.project.offer(snapshot, **options)
        told = {line.name for line in catalog.lines if line.shown is not Shown.LEFT_OUT}
        self._ground.usage.note_offered(skill for skill in snapshot.skills if skill.name in told)
        return catalog

    def tool(self, **options: Any) -> ModelTool:
        """The tool with which the model loads skills, as it is to be described now; options as
        those of `catalog`.
        """
        profile = self._ground.profile
        format = profile.catalog.tool_format
        catalog = (
            self._ground.project.offer(self.snapshot, format=format, **options) if format else None
        )
        told = describe_tool(profile.tool, usable=self._list_usable("model"), catalog=catalog)
        return ModelTool(**msgspec.structs.asdict(told), function=self._call)

    def activate(
        self,
        name: str,
        arguments: str = "",
        *,
        by: Caller = "user",
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Activation:
        """Load a skill into the conversation.

        A model's call goes through the permission rules, and gets one line where the skill is
        already there unchanged. Raises `UnknownSkill`, `Unavailable`, `NotPermitted`, and what the
        commands in the body raise.
        """
        loading = Loading(self._find_fresh, self._permits, self._bodies, by, is_cancelled)
        desk = Desk(
            find=loading.find,
            usable=lambda: self._list_usable(by),
            permit=loading.permit,
            prepare=loading.prepare,
            is_loaded=lambda skill, prepared, given: (
                by == "model" and self._is_loaded(skill, prepared, given)
            ),
        )
        rules = self._ground.profile.tool
        call = ToolCall(name, arguments)
        above = self._find_above()
        made = call_tool(
            call,
            desk,
            rules=rules,
            files=self._ground.files,
            above=above,
            is_cancelled=is_cancelled,
        )
        if loading.skill is not None and not made.repeated:
            self._record(
                loading.skill, made.text, made.digest, arguments, by, has_blocks=bool(made.blocks)
            )
        return made

    def run(
        self,
        text: str,
        *,
        key: Key = Key.SEND,
        streaming: bool = False,
        cancel: Cancel | None = None,
    ) -> RunResult:
        """Carry out what a user typed: `/name arguments`, `/skill name`, `$name`; anything else is
        plain text.

        `key` is the one that sent it, and `streaming` says whether the model is at work just now.
        """
        rules = self._ground.profile.commands
        typed = self._parse_fresh(text)
        if isinstance(typed, Notice | Plain):
            return typed
        typist = Typist(self._ground, self._bodies, self._get_outcome, cancel or Cancel())
        if isinstance(typed, Call) and typed.command.dispatch is not None:
            return typist.dispatch(typed.command.dispatch, typed)
        made = typist.render(typed, rules, find_delivery(key, streaming=streaming))
        if isinstance(made, Message):
            for skill, prepared in typist.prepared:
                whole = made.text if isinstance(typed, Call) else prepared.body
                has_blocks = bool(prepared.blocks)
                self._record(
                    skill, whole, prepared.digest, _arguments(typed), "user", has_blocks=has_blocks
                )
            if not typist.prepared:
                # The message only names the skills, and the model reads them itself.
                typist.note_named(typed)
        return made

    def complete(self, typed: str, *, most: int = MOST) -> tuple[Completion, ...]:
        """The commands that fit what was typed so far, best first."""
        return complete(typed, self.commands, self._ground.profile.commands, most=most)

    def read(self, url: str) -> Resource:
        """What a `skill://` address stands for. Raises `UnknownSkill`, `Unavailable` and
        `AddressError`.
        """
        rules = self._ground.profile.resources
        address = parse_address(url, dots=rules.dots, with_lines=True)
        outcome = self.snapshot.find(address.name)
        if outcome is not None and outcome.name == address.name and outcome.state in _UNREADABLE:
            raise Unavailable(outcome.name, outcome.state.value, outcome.reason or "")
        readable = {
            outcome.name: outcome.skill
            for outcome in self.snapshot.outcomes
            if outcome.state in _READABLE and outcome.skill is not None
        }
        return resolve(address, readable, self._ground.files, rules=rules)

    def touched(self, path: str) -> tuple[Skill, ...]:
        """A file was read, written or edited: the skills that woke by it. They stay awake in this
        conversation.
        """
        with self._lock:
            return self._waking.touch(path)

    def compact(self) -> Survival:
        """The conversation was shortened: what of the loaded skills to give back to the model,
        newest first.
        """
        with self._lock:
            survival = find_survivors(
                self.ledger, self._ground.profile.compaction, count=estimate_tokens
            )
            self._journal.ledger = compact(self.ledger, survival)
            return survival

    def forget(self, *names: str) -> None:
        """These skills are no longer in the conversation; all of them where none is named."""
        with self._lock:
            self._journal.ledger = self.ledger.forget(*names)

    def save(self) -> str:
        """The ledger, what is awake and where skills were found on the way, as JSON."""
        import json

        with self._lock:
            data = json.loads(render_ledger(self.ledger))
            kept = {"awake": sorted(self._waking.awake), "folders": sorted(self._waking.folders)}
        return json.dumps({**data, **kept}, indent=1) + "\n"

    def _call(self, parameters: Mapping[str, Any]) -> Activation:
        call = parse_call(parameters, self._ground.profile.tool)
        return self.activate(call.name, call.arguments, by="model")

    def _list_usable(self, by: Caller) -> list[str]:
        """The names that may be told to whoever mistyped one."""
        states = (State.READY,) if by == "model" else _READABLE
        return [outcome.name for outcome in self.snapshot.outcomes if outcome.state in states]

    def _find_above(self) -> Above:
        """What git ignores above the skills, learned anew with each snapshot."""
        snapshot = self._ground.snapshot
        if self._above is None or self._above[0] is not snapshot:
            self._above = (snapshot, {})
        return self._above[1]

    def _find_fresh(self, name: str) -> Outcome | None:
        """What holds a name, as it is on disk now: a file that changed makes everything be looked
        at again.
        """
        outcome = self.snapshot.find(name)
        if outcome is None or not self._ground.refresh(outcome.skill):
            return outcome
        return self.snapshot.find(name)

    def _parse_fresh(self, text: str) -> Typed:
        """What a typed text means, by the headers as they are on disk now."""
        rules = self._ground.profile.commands
        typed = parse_command(text, self.commands, rules)
        if isinstance(typed, Notice | Plain):
            return typed
        commands = (typed.command,) if isinstance(typed, Call) else typed.commands
        skills = [
            self._get_outcome(command.skill_name, command.location).skill for command in commands
        ]
        return parse_command(text, self.commands, rules) if self._ground.refresh(*skills) else typed

    def _get_outcome(self, name: str, location: str) -> Outcome:
        """The outcome of a command's skill."""
        for outcome in self.snapshot.outcomes:
            if outcome.name == name and outcome.candidate.location == location:
                return outcome
        # Somebody looked for skills again in the meantime, and it is gone.
        raise UnknownSkill(name, self._list_usable("user"))

    def _is_loaded(self, skill: Skill, prepared: Prepared, arguments: str) -> bool:
        # What commands wrote may be new although the file is not.
        loaded = self._journal.find(skill.name)
        if loaded is None or loaded.partial or prepared.ran_commands:
            return False
        # The same text in another place has other files beside it.
        same = (prepared.digest, arguments, skill.location)
        return (loaded.digest, loaded.arguments, loaded.location) == same

    def _record(
        self, skill: Skill, text: str, digest: str, arguments: str, by: Caller, *, has_blocks: bool
    ) -> None:
        entry = LedgerEntry(
            name=skill.name,
            at=time.time(),
            by=by,
            location=skill.location,
            digest=digest,
            arguments=arguments,
            text=text,
            has_blocks=has_blocks,
        )
        with self._lock:
            self._journal.record(entry)
        self._ground.usage.note_activated(skill, by)


def _arguments(typed: Call | Mention) -> str:
    return typed.arguments if isinstance(typed, Call) else ""


def _parse_kept(saved: str) -> dict[str, tuple[str, ...]]:
    """What was awake and found in a saved conversation; nothing where that cannot be told, which
    the ledger reports.
    """
    import json

    try:
        data = json.loads(saved)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    lists = {key: data.get(key) for key in ("awake", "folders")}
    return {
        key: (
            tuple(place for place in places if isinstance(place, str))
            if isinstance(places, list)
            else ()
        )
        for key, places in lists.items()
    }
