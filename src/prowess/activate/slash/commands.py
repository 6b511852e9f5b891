"""The commands of a host: how a user types each skill, and why some have no command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import msgspec

from prowess.activate.slash.dispatch import Dispatch, find_dispatch
from prowess.activate.wrappers import find_own_folder
from prowess.model.outcome import Outcome, State
from prowess.model.skill import LoadedFrom, Manifest, Scope, Skill
from prowess.model.snapshot import Snapshot
from prowess.profiles.schema.commands import CommandNaming, CommandOrder, CommandRules
from prowess.text.collation import collate

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_BETWEEN_WORDS = re.compile(r"[-_]+")
_LOOSE_SEPARATORS = re.compile(r"[\s_]+")
# OpenClaw's name for a skill of which no letter is left, such as one with a Chinese name.
_NAMELESS = "skill"
# What a mention can spell where names must be unique.
_MENTIONABLE = re.compile(r"[A-Za-z0-9_:-]+")


class SlashCommand(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a user types to start a skill. Its `name` may differ from the skill's.

    `label` and `aliases` are further names of the skill. `is_taken` marks a name that is also a
    command of the agent's own, so that only forms with `skill` in front reach the skill.
    `own_folder` is the skill's folder where it belongs to this skill alone; "" elsewhere.
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
    own_folder: str = ""
    loaded_from: LoadedFrom = LoadedFrom.SKILLS
    source: str = ""
    model_visible: bool = True
    user_invocable: bool = True
    is_taken: bool = False

    @property
    def display_name(self) -> str:
        """The skill's name as people write it, for menus."""
        return humanize_name(self.skill_name)


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """A skill without a command: the state it ended in, and the reason."""

    skill_name: str
    state: State
    reason: str


class CommandIndex:
    """Every command of a host, in its order, and the ways to find one.

    `namesakes` are commands whose name an earlier one has.
    """

    def __init__(
        self,
        commands: Iterable[SlashCommand],
        refusals: Mapping[str, Refusal],
        rules: CommandRules,
        namesakes: Iterable[SlashCommand] = (),
    ) -> None:
        self.commands = tuple(commands)
        self.namesakes = tuple(namesakes)
        self.refusals = refusals
        self._rules = rules

    def __iter__(self) -> Iterator[SlashCommand]:
        return iter(self.commands)

    def __len__(self) -> int:
        return len(self.commands)

    @property
    def typable(self) -> tuple[SlashCommand, ...]:
        """The commands that the user may type, for menus."""
        return tuple(command for command in self.commands if command.user_invocable)

    @cached_property
    def by_name(self) -> dict[str, SlashCommand]:
        """Commands by every name that works: their own first, then labels, aliases, short names."""
        found = {command.name: command for command in reversed(self.commands)}
        # One kind of name after the other: no alias takes a name that is another command's label.
        for list_names in self._further_names():
            for command in self.commands:
                for name in list_names(command):
                    found.setdefault(name, command)
        return found

    @cached_property
    def by_unique_name(self) -> dict[str, SlashCommand]:
        """Commands by their name, without those of which there are several."""
        unique = {command.name: command for command in self.commands}
        for namesake in self.namesakes:
            unique.pop(namesake.name, None)
        return unique

    @cached_property
    def by_location(self) -> dict[str, SlashCommand]:
        """Commands by the file of their skill."""
        return {command.location: command for command in (*self.commands, *self.namesakes)}

    @cached_property
    def by_loose_name(self) -> dict[str, tuple[SlashCommand, ...]]:
        """Commands by their own and their skill's name, both loosened (see `loosen`)."""
        found: dict[str, tuple[SlashCommand, ...]] = {}
        for command in self.commands:
            for key in {loosen(command.name), loosen(command.skill_name)}:
                found[key] = (*found.get(key, ()), command)
        return found

    @cached_property
    def names_with_blanks(self) -> tuple[str, ...]:
        """The names that contain spaces, the longest first."""
        blank = [name for name in self.by_name if len(name.split()) > 1]
        return tuple(sorted(blank, key=lambda name: (-len(name), name)))

    @cached_property
    def searched(self) -> tuple[tuple[SlashCommand, tuple[str, ...], str], ...]:
        """What the user may type: each command with its names and description, in lower case."""
        found = []
        needs_mentionable = self._rules.lookup == "unique"
        for command in self.typable:
            if needs_mentionable and not _MENTIONABLE.fullmatch(command.name):
                continue
            names = (command.name, command.skill_name, command.label, *command.aliases)
            folded = {name.casefold() for name in names if name}
            found.append((command, tuple(folded), command.description.casefold()))
        return tuple(found)

    def _further_names(self) -> Iterator[Callable[[SlashCommand], Iterable[str]]]:
        if self._rules.labels:
            yield lambda command: (command.label,) if command.label else ()
        if self._rules.aliases:
            yield lambda command: command.aliases
        if self._rules.short_names:
            yield _short_names


def loosen(name: str) -> str:
    """A name in lower case, with `-` for spaces and underscores."""
    return _LOOSE_SEPARATORS.sub("-", name.strip().lower())


def build_commands(
    snapshot: Snapshot, rules: CommandRules, *, taken: Iterable[str] = ()
) -> CommandIndex:
    """The commands that a host makes of its skills; none where they are turned off.

    `taken` are the names of the agent's own commands.
    """
    by_settings = snapshot.settings.skill_commands
    is_on = rules.enabled if by_settings is None else by_settings
    if not is_on:
        return CommandIndex((), {}, rules)
    offered = [outcome for outcome in snapshot.outcomes if _has_command(outcome, rules)]
    offered.sort(key=_ORDERS[rules.order])
    names = name_commands((outcome.name for outcome in offered), rules=rules, taken=taken)
    commands: dict[str, SlashCommand] = {}
    namesakes: list[SlashCommand] = []
    for outcome, name in zip(offered, names, strict=True):
        if outcome.skill is None:
            continue
        command = _make_command(outcome, outcome.skill, name, rules)
        if commands.setdefault(name.name, command) is not command:
            namesakes.append(command)
    refusals = _find_refusals(snapshot, commands)
    return CommandIndex(commands.values(), refusals, rules, namesakes)


def _has_command(outcome: Outcome, rules: CommandRules) -> bool:
    if outcome.skill is None or outcome.state not in rules.states:
        return False
    return outcome.rule not in rules.left_out_by


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
        location=_LOCATIONS[rules.location](outcome, skill),
        folder=skill.folder,
        own_folder=find_own_folder(skill) or "",
        loaded_from=skill.source.loaded_from,
        source=skill.source.label,
        model_visible=outcome.state is State.READY,
        user_invocable=_is_typable(manifest, rules),
        is_taken=name.is_taken,
    )


def _is_typable(manifest: Manifest, rules: CommandRules) -> bool:
    declared = manifest.user_invocable
    # In Crush the field is false by default.
    if rules.needs_user_invocable:
        return declared is True
    is_field_known = rules.user_invocable
    return not (is_field_known and declared is False)


_LOCATIONS: dict[str, Callable[[Outcome, Skill], str]] = {
    "found": lambda outcome, skill: skill.location,
    "real": lambda outcome, skill: outcome.candidate.real or skill.location,
}


def _find_refusals(snapshot: Snapshot, commands: Mapping[str, SlashCommand]) -> dict[str, Refusal]:
    """Why the other names cannot be typed; of several claims on a name the strongest counts."""
    named = {command.skill_name for command in commands.values()}
    refusals: dict[str, Refusal] = {}
    # Outcomes are sorted: of one name, the one that got farthest comes first.
    for outcome in snapshot.outcomes:
        name = outcome.name
        if name in named or name in refusals:
            continue
        reason = outcome.reason or "it has no command"
        refusals[name] = Refusal(name, outcome.state, reason)
    return refusals


def _short_names(command: SlashCommand) -> tuple[str, ...]:
    """The last part of a plugin skill's name. Commands of plugins keep their whole name."""
    if command.loaded_from is not LoadedFrom.PLUGIN or ":" not in command.name:
        return ()
    parts = (command.name.rpartition(":")[2], (command.label or "").rpartition(":")[2])
    return tuple(filter(None, parts))


# As in Codex's list: repo, user, system, admin.
_SCOPES = {Scope.PROJECT: "a", Scope.USER: "b", Scope.BUNDLED: "c", Scope.MANAGED: "d"}
_ORDERS: dict[CommandOrder, Callable[[Outcome], tuple[str, ...]]] = {
    "name": lambda outcome: (outcome.name.casefold(), outcome.name, outcome.candidate.location),
    "locale": lambda outcome: (*collate(outcome.name), outcome.candidate.location),
    "scope": lambda outcome: (
        _SCOPES.get(outcome.candidate.root.scope, "z"),
        outcome.name,
        outcome.candidate.location,
    ),
}


class CommandName(NamedTuple):
    """The name of a command, and whether the agent has a command of that name itself."""

    name: str
    is_taken: bool = False


def sanitize_name(name: str, *, most: int) -> str:
    """A name of lower-case letters, digits and single underscores; `skill` if nothing is left."""
    return _NOT_PLAIN.sub("_", name.lower()).strip("_")[:most] or _NAMELESS


def humanize_name(name: str) -> str:
    """A name as people write it: separate words, each capitalized."""
    words = [word[:1].upper() + word[1:] for word in _BETWEEN_WORDS.split(name) if word]
    return " ".join(words) or name


class _Unique:
    """Makes names unique: one that is taken gets a number, starting with 2."""

    def __init__(self, taken: Iterable[str], most: int) -> None:
        self._taken = {name.lower() for name in taken}
        self._most = most
        self._next: dict[str, int] = {}

    def take(self, base: str) -> str:
        name = base
        # The next number is kept, or a thousand equal names would take half a million attempts.
        while name.lower() in self._taken:
            number = self._next.get(base, 2)
            self._next[base] = number + 1
            suffix = f"_{number}"
            name = base[: max(1, self._most - len(suffix))] + suffix
        self._taken.add(name.lower())
        return name


def _name_plainly(
    names: Iterable[str], rules: CommandRules, taken: frozenset[str]
) -> Iterator[CommandName]:
    unique = _Unique(taken, rules.most_characters)
    for name in names:
        yield CommandName(unique.take(sanitize_name(name, most=rules.most_characters)))


def _name_as_written(
    names: Iterable[str], rules: CommandRules, taken: frozenset[str]
) -> Iterator[CommandName]:
    for name in names:
        yield CommandName(name, is_taken=name in taken)


def _name_with_hyphens(
    names: Iterable[str], rules: CommandRules, taken: frozenset[str]
) -> Iterator[CommandName]:
    for name in names:
        command = "-".join(name.split())
        yield CommandName(command, is_taken=command in taken)


_NAMINGS: dict[
    CommandNaming, Callable[[Iterable[str], CommandRules, frozenset[str]], Iterator[CommandName]]
] = {
    "as-written": _name_as_written,
    "hyphenated": _name_with_hyphens,
    "openclaw": _name_plainly,
}


def name_commands(
    names: Iterable[str], *, rules: CommandRules, taken: Iterable[str] = ()
) -> list[CommandName]:
    """A name for the command of each skill, in the order of the skills.

    `taken` are the names of the agent's own commands.
    """
    return list(_NAMINGS[rules.naming](names, rules, frozenset((*rules.reserved, *taken))))
