"""The commands of a host: what each skill is called when a user types it, and which skills cannot
be typed and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from prowess.activate.slash.dispatch import Dispatch, find_dispatch
from prowess.activate.slash.names import CommandName, humanize_name, name_commands
from prowess.model.outcome import Outcome, State
from prowess.model.skill import LoadedFrom, Skill
from prowess.model.snapshot import Snapshot
from prowess.profiles.schema.commands import CommandOrder, CommandRules
from prowess.text.collation import collate

_BETWEEN_WORDS = re.compile(r"[\s_]+")


class SlashCommand(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a user types to start a skill; its name is a field apart from the skill's.

    `label` and `aliases` are further names of the skill. `is_taken` marks a name that the agent has
    a command of its own for, so that only forms with `skill` in front reach the skill.
    """

    name: str
    skill_name: str
    description: str = ""
    dispatch: Dispatch | None = None
    label: str | None = None
    aliases: tuple[str, ...] = ()
    argument_hint: str | None = None
    arguments: tuple[str, ...] = ()
    location: str = ""
    folder: str = ""
    loaded_from: LoadedFrom = LoadedFrom.SKILLS
    source: str = ""
    model_visible: bool = True
    user_invocable: bool = True
    is_taken: bool = False

    @property
    def display_name(self) -> str:
        """The skill's name as people would write it, for menus."""
        return humanize_name(self.skill_name)


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """A skill that is there but has no command: the state it ended in, and the reason."""

    skill_name: str
    state: State
    reason: str


class CommandIndex:
    """Every command of a host, in its order, and the ways to find one. It never changes."""

    def __init__(
        self, commands: Iterable[SlashCommand], refusals: Mapping[str, Refusal], rules: CommandRules
    ) -> None:
        self.commands = tuple(commands)
        self.refusals = refusals
        self._rules = rules

    def __iter__(self) -> Iterator[SlashCommand]:
        return iter(self.commands)

    def __len__(self) -> int:
        return len(self.commands)

    @property
    def typable(self) -> tuple[SlashCommand, ...]:
        """The commands that the user may type, for menus; not those of skills that only the model
        may start.
        """
        return tuple(command for command in self.commands if command.user_invocable)

    @cached_property
    def by_name(self) -> dict[str, SlashCommand]:
        """Every name that is understood: of commands first, then labels, aliases and short names,
        where free.
        """
        found = {command.name: command for command in reversed(self.commands)}
        for list_names in self._further_names():
            for command in self.commands:
                for name in list_names(command):
                    found.setdefault(name, command)
        return found

    @cached_property
    def by_loose_name(self) -> dict[str, tuple[SlashCommand, ...]]:
        """Commands by their own and their skill's name, without regard to case, low lines, hyphens
        and blanks.
        """
        found: dict[str, tuple[SlashCommand, ...]] = {}
        for command in self.commands:
            for key in {loosen(command.name), loosen(command.skill_name)}:
                found[key] = (*found.get(key, ()), command)
        return found

    @cached_property
    def names_with_blanks(self) -> tuple[str, ...]:
        """The names that hold blanks, the longest first."""
        blank = [name for name in self.by_name if len(name.split()) > 1]
        return tuple(sorted(blank, key=lambda name: (-len(name), name)))

    @cached_property
    def searched(self) -> tuple[tuple[SlashCommand, tuple[str, ...], str], ...]:
        """What the user may type, each with its names and its description without regard to case."""
        return tuple(
            (
                command,
                tuple(
                    {
                        name.casefold()
                        for name in (
                            command.name,
                            command.skill_name,
                            command.label,
                            *command.aliases,
                        )
                        if name
                    }
                ),
                command.description.casefold(),
            )
            for command in self.typable
        )

    def _further_names(self) -> Iterator[Callable[[SlashCommand], Iterable[str]]]:
        if self._rules.labels:
            yield lambda command: (command.label,) if command.label else ()
        if self._rules.aliases:
            yield lambda command: command.aliases
        if self._rules.short_names:
            yield _short_names


def loosen(name: str) -> str:
    """A name without regard to case, low lines, hyphens and blanks."""
    return _BETWEEN_WORDS.sub("-", name.strip().lower())


def build_commands(
    snapshot: Snapshot, rules: CommandRules, *, taken: Iterable[str] = ()
) -> CommandIndex:
    """The commands that a host makes of its skills; none where they are switched off.

    `taken` are names of commands that the agent has of its own.
    """
    wanted = snapshot.settings.skill_commands
    if not (rules.enabled if wanted is None else wanted):
        return CommandIndex((), {}, rules)
    offered = [outcome for outcome in snapshot.outcomes if _has_command(outcome, rules)]
    offered.sort(key=_ORDERS[rules.order])
    names = name_commands((outcome.name for outcome in offered), rules=rules, taken=taken)
    commands: dict[str, SlashCommand] = {}
    for outcome, name in zip(offered, names, strict=True):
        if outcome.skill is not None and name.name not in commands:
            commands[name.name] = _make_command(outcome, outcome.skill, name, rules)
    return CommandIndex(commands.values(), _find_refusals(snapshot, commands), rules)


def _has_command(outcome: Outcome, rules: CommandRules) -> bool:
    return (
        outcome.state in rules.states
        and outcome.skill is not None
        and outcome.rule not in rules.left_out_by
    )


def _make_command(
    outcome: Outcome, skill: Skill, name: CommandName, rules: CommandRules
) -> SlashCommand:
    manifest = skill.manifest
    return SlashCommand(
        name=name.name,
        skill_name=skill.name,
        description=(skill.description or "").strip(),
        dispatch=find_dispatch(manifest) if rules.dispatch else None,
        label=skill.label,
        aliases=manifest.aliases,
        argument_hint=manifest.argument_hint,
        arguments=manifest.arguments,
        location=skill.location,
        folder=skill.folder,
        loaded_from=skill.source.loaded_from,
        source=skill.source.label,
        model_visible=outcome.state is State.READY,
        user_invocable=manifest.user_invocable is not False or not rules.user_invocable,
        is_taken=name.is_taken,
    )


def _find_refusals(snapshot: Snapshot, commands: Mapping[str, SlashCommand]) -> dict[str, Refusal]:
    """Why the other names cannot be typed: of several claims on a name, what became of the
    strongest.
    """
    named = {command.skill_name for command in commands.values()}
    found: dict[str, Refusal] = {}
    for outcome in snapshot.outcomes:
        if outcome.name not in named and outcome.name not in found:
            found[outcome.name] = Refusal(
                outcome.name, outcome.state, outcome.reason or "it cannot be typed"
            )
    return found


def _short_names(command: SlashCommand) -> tuple[str, ...]:
    """The last part of a plugin skill's name; commands of plugins keep their whole name."""
    if command.loaded_from is not LoadedFrom.PLUGIN or ":" not in command.name:
        return ()
    parts = [command.name.rpartition(":")[2], (command.label or "").rpartition(":")[2]]
    return tuple(part for part in parts if part)


_ORDERS: dict[CommandOrder, Callable[[Outcome], tuple[str, ...]]] = {
    "name": lambda outcome: (outcome.name.casefold(), outcome.name, outcome.candidate.location),
    "locale": lambda outcome: (*collate(outcome.name), outcome.candidate.location),
}
