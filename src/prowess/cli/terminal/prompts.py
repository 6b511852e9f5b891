"""Questions to the user. They go to stderr, so that a command's output can be piped."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from prowess.cli.app import Exit
from prowess.machine.interrupts import wait_until_readable
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.reports.approval_request import describe_request

REPLIES = {
    **dict.fromkeys(("o", "once", "y", "yes"), ApprovalChoice.ONCE),
    **dict.fromkeys(("a", "always"), ApprovalChoice.ALWAYS),
    **dict.fromkeys(("r", "reject", "n", "no", ""), ApprovalChoice.REJECT),
}


def can_ask() -> bool:
    """Whether a user sees the question and can type an answer: stdin and stderr are terminals."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask_line(question: str) -> str | None:
    """The line typed in answer to a question, stripped; None at the end of the input."""
    sys.stdout.flush()
    click.echo(f"{question} ", err=True, nl=False)
    # A terminal is readable once a whole line is there, so that the read below never blocks.
    wait_until_readable(sys.stdin.fileno())
    line = sys.stdin.readline()
    if not line:
        click.echo(err=True)
        return None
    return line.strip()


def confirm(question: str) -> bool:
    """Whether the answer is yes; anything else is no."""
    typed = ask_line(f"{question} [y/N]") or ""
    return typed.lower() in ("y", "yes")


def agree(question: str, *, done: str, as_json: bool) -> bool:
    """Whether the user says yes; otherwise stderr says that nothing was `done`.

    Nobody is asked with `as_json`, or where there is no terminal.
    """
    if as_json or not can_ask():
        click.echo(describe_not_asked(done), err=True)
        return False
    if confirm(question):
        return True
    click.echo(f"Nothing was {done}.", err=True)
    return False


def describe_not_asked(done: str) -> str:
    """Why nothing was done by a command that asks first."""
    return f"Not a terminal, so nothing was {done}; use `--yes` to skip the prompt."


def shape_not_asked(done: str) -> dict[str, Any]:
    """The same as the error of a command that prints JSON."""
    message = describe_not_asked(done)
    return {"kind": "not-asked", "message": message, "exit_code": int(Exit.REFUSED)}


class TerminalApprover:
    """Asks the user at the terminal. `is_kept` says whether “always” is remembered on disk."""

    def __init__(self, is_kept: Callable[[], bool]) -> None:
        self._is_kept = is_kept

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Allow once, allow always, or reject."""
        for line in describe_request(request):
            click.echo(line, err=True)
        while (reply := _ask_reply(can_last=bool(request.always))) is None:
            pass
        if reply is ApprovalChoice.ALWAYS and not self._is_kept():
            click.echo(
                'Remembered for this run only; set `approvals = "disk"` in your own prowess.toml'
                " to keep it.",
                err=True,
            )
        if reply is not ApprovalChoice.REJECT:
            return ApprovalAnswer(reply)
        # The model is told, and can go another way.
        instead = ask_line("What should be done instead? (Enter to skip)")
        return ApprovalAnswer(reply, instead or None)


def _ask_reply(*, can_last: bool) -> ApprovalChoice | None:
    """What was typed; None if it is no answer. “Always” is one only where it covers anything."""
    choices = "once, always, or reject? [o/a/R]" if can_last else "once, or reject? [o/R]"
    typed = ask_line(f"Allow {choices}")
    # At the end of the input nobody will ever answer.
    if typed is None:
        return ApprovalChoice.REJECT
    reply = REPLIES.get(typed.lower())
    if reply is ApprovalChoice.ALWAYS and not can_last:
        return None
    return reply
