"""What a typed text comes to where no model is configured: nothing pretends to be one."""

from __future__ import annotations

import msgspec

from prowess.activate.slash.completion import spell
from prowess.activate.slash.dispatch import ToolReply
from prowess.activate.slash.parser import Notice, Plain
from prowess.conversation.slash_commands import RunResult
from prowess.diagnostics import Diagnostic
from prowess.errors.agent import NoModel
from prowess.runtime import Skills
from prowess.text.display import join_some

_MOST_NAMES = 8
_MOST_OTHERS = 4


class Answer(msgspec.Struct, frozen=True):
    """What to show: lines for the person, and the text that a tool replied or a model would get."""

    notes: tuple[str, ...] = ()
    text: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()


def answer_without_model(result: RunResult, skills: Skills) -> Answer:
    """The reply of a tool, the message for a model, or the skill that fits best."""
    if isinstance(result, Notice):
        return Answer((result.message,))
    if isinstance(result, Plain):
        explained = _explain_plain(result, skills)
        # A misspelt command is no request that a skill could fit.
        if result.name is not None:
            return Answer((explained,))
        proposed = _propose_skill(result.text, skills)
        return Answer((explained, *proposed.notes), proposed.text)
    # A reply is for people, not for a model, so its last line is ended.
    text = f"{result.text}\n" if isinstance(result, ToolReply) else result.text
    return Answer((), text, result.diagnostics)


def _explain_plain(plain: Plain, skills: Skills) -> str:
    """Say that a text is not a command, and which ones there are."""
    typed = "This" if plain.name is None else f"“{plain.text.split()[0]}”"
    problem = f"{typed} is not a command here; a model would receive the text unchanged."
    return f"{problem} {_suggest_commands(plain, skills)}"


def _suggest_commands(plain: Plain, skills: Skills) -> str:
    rules = skills.profile.commands
    commands = {one.name: spell(one, rules) for one in skills.commands().typable}
    if plain.nearest:
        nearest = [f"“{commands[name]}”" for name in plain.nearest]
        return f"Did you mean {' or '.join(nearest)}?"
    if not commands:
        return "No skill can be used as a command here."
    return f"Commands here: {join_some(list(commands.values()), _MOST_NAMES)}."


def _propose_skill(request: str, skills: Skills) -> Answer:
    """The skill that fits a request best, and the message that a model would get with it."""
    from prowess.agent.skill_match import match_skills
    from prowess.present.word_match import WordRanker

    matches = match_skills(request, skills.snapshot.skills, WordRanker())
    if not matches:
        return Answer((f"No skill fits it. {NoModel()} {NoModel().hint}",))
    best, *others = matches[:_MOST_OTHERS]
    shared = ", ".join(f"“{word}”" for word in best.words)
    lines = [f"The skill “{best.skill.name}” fits best: its name or description has {shared}."]
    if others:
        lines.append(f"Next: {', '.join(match.skill.name for match in others)}.")
    lines.append(f"A model that loads it receives the text below. {NoModel()} {NoModel().hint}")
    # Nobody counts this as a use: no model has seen it.
    conversation = skills.conversation(count=False)
    return Answer(tuple(lines), conversation.activate(best.skill.name, by="model").text + "\n")
