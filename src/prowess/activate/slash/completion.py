"""Completion: the commands that fit what a user has typed so far, best first."""

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
    """A command that fits: the text that types it, and what to show beside it. A higher score fits
    better.
    """

    text: str
    command: SlashCommand
    score: int

    @property
    def hint(self) -> str:
        """What the command takes, as its author puts it."""
        return self.command.argument_hint or " ".join(
            f"<{name}>" for name in self.command.arguments
        )


def spell(command: SlashCommand, rules: CommandRules) -> str:
    """A command as it is typed in a host's usual form; where the agent has its name, in one that
    names a skill.
    """
    forms = [form for form in _BEHIND_SKILL if form in rules.forms] if command.is_taken else []
    form = (forms or rules.forms)[0]
    return _SPELLINGS[form].format(command.skill_name if form == "skill-word" else command.name)


def complete(
    typed: str, commands: CommandIndex, rules: CommandRules, *, most: int = MOST
) -> tuple[Completion, ...]:
    """The commands that fit a beginning such as `/rev`, `/skill:rev`, `$rev` or `rev`, at most so
    many.

    A name that is exactly so comes first, then one that begins so, one that holds it, one whose
    description holds it, and one that has its letters in this order. Case does not matter. Equal
    ones keep the host's order.
    """
    query = _strip_form(typed).casefold()
    scored = []
    for place, (command, names, description) in enumerate(commands.searched):
        score = _score(query, names, description)
        if score:
            scored.append((-score, place, command))
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
    return _DESCRIBED if best < _DESCRIBED and query in description else best


def _score_name(query: str, name: str) -> int:
    if query == name:
        return _EXACT
    if name.startswith(query):
        return _PREFIX
    if query in name:
        return _WITHIN
    letters = iter(name)
    return _SCATTERED if all(letter in letters for letter in query) else 0
