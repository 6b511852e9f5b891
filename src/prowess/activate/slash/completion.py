"""Completion: the commands that match what a user has typed so far, best first."""

from __future__ import annotations

import msgspec

from prowess.activate.slash.commands import CommandIndex, SlashCommand
from prowess.profiles.schema.commands import CommandForm, CommandRules

MOST = 25

_EXACT, _PREFIX, _WITHIN, _DESCRIBED, _SCATTERED = 100, 80, 60, 40, 20
_SPELLINGS: dict[CommandForm, str] = {
    "name": "/{}",
    "skill-word": "/skill {}",
    "skill-colon": "/skill:{}",
    "token": "/skill:{}",
    "mention": "${}",
}
_BEHIND_SKILL: tuple[CommandForm, ...] = ("skill-colon", "skill-word", "mention")


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A command that matches, and the text that types it. A higher score is a better match."""

    text: str
    command: SlashCommand
    score: int

    @property
    def hint(self) -> str:
        """The arguments that the command takes, as its author describes them."""
        if self.command.argument_hint:
            return self.command.argument_hint
        return " ".join(f"<{name}>" for name in self.command.arguments)


def spell(command: SlashCommand, rules: CommandRules) -> str:
    """A command as it is typed in a host's usual form.

    If the agent has a command of that name itself, a form with `skill` in front is used.
    """
    form = rules.forms[0]
    if command.is_taken:
        unambiguous = [known for known in _BEHIND_SKILL if known in rules.forms]
        form = next(iter(unambiguous), form)
    name = command.skill_name if form == "skill-word" else command.name
    return _SPELLINGS[form].format(name)


def complete(
    typed: str, commands: CommandIndex, rules: CommandRules, *, most: int = MOST
) -> tuple[Completion, ...]:
    """The commands that match a beginning such as `/rev`, `/skill:rev`, `$rev` or `rev`.

    An exact name comes first, then one that starts with the text, one that contains it, one whose
    description contains it, and one that has its letters in this order. Case does not matter; equal
    matches keep the host's order.
    """
    query = _strip_form(typed).casefold()
    scored = []
    for order, (command, names, description) in enumerate(commands.searched):
        score = _score(query, names, description)
        if score:
            scored.append((-score, order, command))
    scored.sort(key=lambda found: found[:2])
    return tuple(
        Completion(text=spell(command, rules), command=command, score=-score)
        for score, _, command in scored[:most]
    )


def _strip_form(typed: str) -> str:
    start = typed.lstrip()
    for lead in ("/skill:", "/skill ", "/", "$"):
        if start.startswith(lead):
            return start[len(lead) :].strip()
    return start.strip()


def _score(query: str, names: tuple[str, ...], description: str) -> int:
    if not query:
        return _PREFIX
    best = max([_score_name(query, name) for name in names])
    if best < _DESCRIBED and query in description:
        return _DESCRIBED
    return best


def _score_name(query: str, name: str) -> int:
    if query == name:
        return _EXACT
    if name.startswith(query):
        return _PREFIX
    if query in name:
        return _WITHIN
    # Searching an iterator uses it up, so each letter is found after the one before.
    letters = iter(name)
    return _SCATTERED if all(letter in letters for letter in query) else 0
