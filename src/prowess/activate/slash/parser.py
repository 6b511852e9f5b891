"""Parses what a user typed: a command, text that mentions skills, a refused name, or plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from prowess.activate.slash.commands import CommandIndex, Refusal, SlashCommand, loosen
from prowess.errors import nearest_names
from prowess.model.outcome import State
from prowess.profiles.schema.commands import CommandForm, CommandLookup, CommandRules

_WORD = re.compile(r"(\S+)\s*(.*)", re.DOTALL)
_TOKEN = re.compile(r"(?:^|(?<=\s))/skill:([^\s/]+)(?=\s|$)")
# A prompt for a shell or an interpreter, which gets the text unchanged.
_LOCAL = re.compile(r"!|\$\$?(?:[ \t\r\n]|$)")
_MENTION = re.compile(r"\$([\w:-]+)")
_PLAIN_MENTION = re.compile(r"\$([-a-zA-Z0-9_:]+)")
_LINKED_MENTION = re.compile(r"\[\$([A-Za-z0-9_:-]+)\][ \t]*\(([^()\s]+)\)|\$([A-Za-z0-9_:-]+)")
# Variables of a shell, which are no skills in any case.
_VARIABLES = frozenset("PATH HOME USER SHELL PWD TMPDIR TEMP TMP LANG TERM XDG_CONFIG_HOME".split())
_LOWER_CASE = re.compile(r"[a-z]")


class CommandCall(msgspec.Struct, frozen=True, kw_only=True):
    """A command and its arguments as typed, stripped. `text` is everything that was typed."""

    command: SlashCommand
    arguments: str
    text: str
    form: CommandForm

    @property
    def commands(self) -> tuple[SlashCommand, ...]:
        """The one command, as `Mention` has several."""
        return (self.command,)


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """A text that mentions skills as `$name`; each skill once, in the order of the text."""

    commands: tuple[SlashCommand, ...]
    text: str

    @property
    def arguments(self) -> str:
        """What the bodies get as arguments: the whole text."""
        return self.text


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """Something for the user to read; nothing goes to the model. `kind` is meant for programs."""

    kind: str
    name: str
    message: str


class Plain(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Text that is not a command. If it looks like one, `name` is unknown and `nearest` known."""

    text: str
    name: str | None = None
    nearest: tuple[str, ...] = ()


Typed = CommandCall | Mention | Notice | Plain


def parse_command(text: str, commands: CommandIndex, rules: CommandRules) -> Typed:
    """What a typed text means to a host."""
    start = text.lstrip()
    if start.startswith("/"):
        return _parse_slash(text, start[1:], commands, rules)
    if "token" in rules.forms and not _LOCAL.match(start):
        found = _parse_token(text, commands, rules)
        if found is not None:
            return found
    if "mention" in rules.forms:
        return _parse_mentions(text, commands, rules)
    return Plain(text=text)


def _parse_slash(text: str, rest: str, commands: CommandIndex, rules: CommandRules) -> Typed:
    typed = _WORD.match(rest)
    if typed is None:
        return Plain(text=text)
    word, tail = typed[1], typed[2]
    is_behind_colon = "skill-colon" in rules.forms and word.startswith("skill:")
    if is_behind_colon:
        named = rest.removeprefix("skill:")
        call = _find_call("skill-colon", text, named, commands, rules)
        return call or _not_a_command(text, word.removeprefix("skill:"), commands)
    call, unknown = None, word
    is_skill_word = "skill-word" in rules.forms and word.lower() == "skill"
    if is_skill_word and tail:
        call = _find_call("skill-word", text, tail, commands, rules)
        unknown = tail.split()[0]
    # A skill may itself be called `skill`.
    if call is None and "name" in rules.forms:
        call = _find_call("name", text, rest, commands, rules)
    return call or _not_a_command(text, unknown, commands)


def _find_call(
    form: CommandForm, text: str, rest: str, commands: CommandIndex, rules: CommandRules
) -> CommandCall | Notice | None:
    """The command whose name begins the rest of the text."""
    typed = _WORD.match(rest)
    if typed is None:
        return None
    name, arguments = typed[1], typed[2].strip()
    command = _LOOKUPS[rules.lookup](name, form, commands)
    if command is None and rules.lookup == "forgiving":
        spaced = _find_spaced_name(rest, commands)
        if spaced is not None:
            command, arguments = commands.by_name[spaced], rest[len(spaced) :].strip()
    if command is None:
        return _find_refusal(name, commands)
    # Alone, a name that the agent has a command for means that command.
    if form == "name" and command.is_taken:
        return None
    if not command.user_invocable:
        return _for_the_model(command)
    return CommandCall(command=command, arguments=arguments, text=text, form=form)


def _find_refusal(name: str, commands: CommandIndex) -> Notice | None:
    refusal = commands.refusals.get(name)
    return None if refusal is None else _refuse(refusal)


def _find_spaced_name(rest: str, commands: CommandIndex) -> str | None:
    """The name with blanks that begins the text; the first word alone cannot find it."""
    for name in commands.names_with_blanks:
        after = rest[len(name) : len(name) + 1]
        is_whole_word = not after or after.isspace()
        if is_whole_word and rest.startswith(name):
            return name
    return None


def _not_a_command(text: str, name: str, commands: CommandIndex) -> Plain:
    # A path is not a mistyped name.
    if "/" in name:
        return Plain(text=text, name=name)
    known = [command.name for command in commands.typable]
    return Plain(text=text, name=name, nearest=nearest_names(name, known))


def _parse_token(
    text: str, commands: CommandIndex, rules: CommandRules
) -> CommandCall | Notice | None:
    """`/skill:name` anywhere in the text: the words around it are the arguments.

    As in omp only the first one counts; a second stays among the arguments.
    """
    token = _TOKEN.search(text)
    if token is None:
        return None
    command = _LOOKUPS[rules.lookup](token[1], "token", commands)
    if command is None:
        return _find_refusal(token[1], commands)
    if not command.user_invocable:
        return _for_the_model(command)
    before, after = text[: token.start()].strip(), text[token.end() :].strip()
    arguments = f"{before} {after}".strip()
    return CommandCall(command=command, arguments=arguments, text=text, form="token")


def _parse_mentions(
    text: str, commands: CommandIndex, rules: CommandRules
) -> Mention | Notice | Plain:
    if rules.lookup == "unique":
        return _parse_unique_mentions(text, commands)
    mentioned: dict[str, SlashCommand] = {}
    for name in _list_mentions(text, rules):
        command = _LOOKUPS[rules.lookup](name, "mention", commands)
        if command is not None and command.user_invocable:
            mentioned.setdefault(command.name, command)
    if not mentioned:
        return Plain(text=text)
    most = rules.most_mentions
    if most and len(mentioned) > most:
        message = f"The text mentions {len(mentioned)} skills; the limit is {most}."
        return Notice(kind="too-many", name=next(iter(mentioned)), message=message)
    return Mention(commands=tuple(mentioned.values()), text=text)


def _parse_unique_mentions(text: str, commands: CommandIndex) -> Mention | Plain:
    """`$name` anywhere, or `[$name](PATH)`; names that are ambiguous or variables are text."""
    mentioned: dict[str, SlashCommand] = {}
    for mention in _LINKED_MENTION.finditer(text):
        linked, path, name = mention.groups()
        if (linked or name).upper() in _VARIABLES:
            continue
        if linked:
            # The path alone decides, so that one of several skills of a name can be meant.
            command = commands.by_location.get(path.removeprefix("skill://"))
        else:
            command = commands.by_unique_name.get(name)
        if command is not None:
            mentioned[command.location] = command
    if not mentioned:
        return Plain(text=text)
    # In the order of the commands, whatever their order in the text.
    ordered = [mentioned[path] for path in commands.by_location if path in mentioned]
    return Mention(commands=tuple(ordered), text=text)


def _list_mentions(text: str, rules: CommandRules) -> Iterator[str]:
    """The names after `$` in a text; capitals are variables, and `\\$` is an escaped `$`."""
    # OpenClaw knows only the letters of ASCII.
    is_ascii = rules.lookup == "openclaw"
    pattern = _PLAIN_MENTION if is_ascii else _MENTION
    is_word = _has_lower_case if is_ascii else _has_letters_but_capitals
    for mention in pattern.finditer(text):
        is_escaped = _count_backslashes(text, mention.start()) % 2 == 1
        name = mention[1].rstrip(":")
        if is_word(name) and not is_escaped:
            yield name


def _has_lower_case(name: str) -> bool:
    return _LOWER_CASE.search(name) is not None


def _count_backslashes(text: str, end: int) -> int:
    """How many backslashes come right before a position."""
    start = end
    while start and text[start - 1] == "\\":
        start -= 1
    return end - start


def _has_letters_but_capitals(name: str) -> bool:
    return any(char.isalpha() and not char.isupper() for char in name)


def _find_exactly(name: str, form: CommandForm, commands: CommandIndex) -> SlashCommand | None:
    return commands.by_name.get(name)


def _find_like_openclaw(
    name: str, form: CommandForm, commands: CommandIndex
) -> SlashCommand | None:
    """A command by its own name in any case; after `/skill` and `$` also loosely by the skill's."""
    # `/my-skill` does not find the command `my_skill` there, but `/skill my-skill` does.
    if form == "name":
        return commands.by_name.get(name.lower())
    loose = commands.by_loose_name.get(loosen(name), ())
    for command in loose:
        if name in (command.skill_name, command.name):
            return command
    return loose[0] if loose else None


def _find_forgivingly(name: str, form: CommandForm, commands: CommandIndex) -> SlashCommand | None:
    """The command of exactly that name, else the only one with that name loosely."""
    exact = commands.by_name.get(name)
    # A skill that was refused is meant all the same; another must not run in its place.
    if exact is not None or name in commands.refusals:
        return exact
    loose = commands.by_loose_name.get(loosen(name), ())
    return loose[0] if len(loose) == 1 else None


_LOOKUPS: dict[CommandLookup, Callable[[str, CommandForm, CommandIndex], SlashCommand | None]] = {
    "exact": _find_exactly,
    "openclaw": _find_like_openclaw,
    "forgiving": _find_forgivingly,
    "unique": lambda name, form, commands: commands.by_unique_name.get(name),
}

_STATES: dict[State, str] = {
    State.INVALID: "cannot be loaded",
    State.SKIPPED: "was not read",
    State.DISABLED: "is disabled",
    State.INELIGIBLE: "cannot be used on this machine",
    State.DENIED: "is not permitted here",
    State.DORMANT: "is dormant",
    State.HIDDEN: "is not offered here",
}


def _refuse(refusal: Refusal) -> Notice:
    what = _STATES.get(refusal.state, "cannot be used as a command")
    message = f"The skill “{refusal.skill_name}” {what}: {refusal.reason.rstrip('.')}."
    return Notice(kind=refusal.state.value, name=refusal.skill_name, message=message)


def _for_the_model(command: SlashCommand) -> Notice:
    message = (
        f"The skill “{command.skill_name}” is only for the model: its header says"
        " `user-invocable: false`. Describe the task, and the model can use it."
    )
    return Notice(kind="not-invocable", name=command.skill_name, message=message)
