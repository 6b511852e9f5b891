"""What the user typed: whether it can be sent, and what of it the session deals with itself."""

from __future__ import annotations

from prowess.activate.slash.messages import Message
from prowess.activate.slash.parser import Plain
from prowess.conversation.slash_commands import RunResult
from prowess.errors import UsageError

_COMMANDS = ("/compact", "/clear")


def check_text(text: str) -> None:
    """Raise `UsageError` for what no model can be sent."""
    if not text.strip():
        raise UsageError("The prompt is empty.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError("The prompt is not valid UTF-8.") from None


def runs_apart(typed: RunResult) -> bool:
    """Whether a sub-agent answers, which cannot steer the model that works."""
    return isinstance(typed, Message) and any(one.fork for one in typed.requests.values())


def runs_in_background(message: Message) -> bool:
    """Whether a sub-agent answers while the model that works goes on."""
    forks = [one for one in message.requests.values() if one.fork]
    return bool(forks) and bool(forks[0].background)


def find_own_command(typed: RunResult) -> tuple[str, str] | None:
    """A command of the session itself and its arguments, where no skill has the name."""
    if not isinstance(typed, Plain):
        return None
    word, _, arguments = typed.text.strip().partition(" ")
    return (word[1:], arguments.strip()) if word in _COMMANDS else None
