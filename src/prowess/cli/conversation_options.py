"""What `activate` and `run` share: the options of a conversation, and words of a shell as one text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from prowess.activate.slash.dispatch import Cancel
from prowess.cli.terminal.background import BackgroundWork
from prowess.cli.terminal.prompts import TerminalApprover, can_ask
from prowess.conversation.conversation import Conversation
from prowess.ports import Approver
from prowess.runtime import Skills

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def conversation_options(command: F) -> F:
    """The options --session and --effort."""
    effort = click.option(
        "--effort", metavar="WORD", help="How hard the model thinks, for bodies that say it."
    )
    session = click.option(
        "--session", metavar="ID", help="The id of the conversation, for bodies that name it."
    )
    return session(effort(command))


def join_words(words: Sequence[str]) -> str:
    """What a shell split, as the one text that a user would have typed behind the name of a skill.

    A single word is that text already. Of several, those with blanks in them are put into quotes,
    so that each stays one argument.
    """
    return words[0] if len(words) == 1 else " ".join(map(_quote, words))


def _quote(word: str) -> str:
    if word and not any(map(str.isspace, word)):
        return word
    return next((f"{mark}{word}{mark}" for mark in "\"'" if mark not in word), word)


def speak(
    skills: Skills,
    work: Callable[[Conversation, Cancel], T],
    *,
    doing: str,
    session: str | None,
    effort: str | None,
    count: bool,
) -> T:
    """Do something in a new conversation. Whoever sits at the terminal is asked; Ctrl-C calls it
    off.
    """

    def begin(cancel: Cancel, approver: Approver | None) -> T:
        return work(
            skills.conversation(session=session, effort=effort, approver=approver, count=count),
            cancel,
        )

    approver = (
        TerminalApprover(lambda: skills.project.load_own_settings().approvals == "disk")
        if can_ask()
        else None
    )
    return BackgroundWork(begin, doing=doing, approver=approver).run()
