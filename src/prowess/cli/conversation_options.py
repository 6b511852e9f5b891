"""What `activate` and `run` share: the options of a conversation, and the work done in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import msgspec

from prowess.activate.slash.dispatch import Cancel
from prowess.cli.terminal.background import BackgroundWork
from prowess.cli.terminal.prompts import TerminalApprover, can_ask
from prowess.conversation.conversation import Conversation
from prowess.ports import Approver
from prowess.runtime import Skills

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class ConversationOptions(msgspec.Struct, frozen=True):
    """The values of --session and --effort."""

    session: str | None = None
    effort: str | None = None


def conversation_options(command: F) -> F:
    """Add the options --session and --effort."""
    effort = click.option(
        "--effort", metavar="WORD", help="Reasoning effort, for skills that refer to it."
    )
    session = click.option(
        "--session", metavar="ID", help="Session id, for skills that refer to it."
    )
    return session(effort(command))


def join_words(words: Sequence[str]) -> str:
    """The words of a shell as the text that a user would type after the name of a skill.

    A single word is that text already. Of several, those with spaces are quoted, so that each stays
    one argument.
    """
    return words[0] if len(words) == 1 else " ".join(map(_quote, words))


def _quote(word: str) -> str:
    is_one_argument = word and not any(map(str.isspace, word))
    if is_one_argument:
        return word
    # Arguments know no escapes: a word with both marks in it cannot be quoted at all.
    for mark in "\"'":
        if mark not in word:
            return f"{mark}{word}{mark}"
    return word


def run_in_conversation(
    skills: Skills,
    options: ConversationOptions,
    work: Callable[[Conversation, Cancel], T],
    *,
    doing: str,
    count: bool,
) -> T:
    """Do something in a new conversation. The user is asked for approvals; Ctrl-C cancels it."""

    def begin(cancel: Cancel, approver: Approver | None) -> T:
        conversation = skills.conversation(
            session=options.session, effort=options.effort, approver=approver, count=count
        )
        return work(conversation, cancel)

    def is_kept() -> bool:
        return skills.project.load_own_settings().approvals == "disk"

    approver = TerminalApprover(is_kept) if can_ask() else None
    return BackgroundWork(begin, doing=doing, approver=approver).run()
