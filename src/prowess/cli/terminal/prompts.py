"""Questions to the person at the terminal, on the error output, so that a command's answer can be
piped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import click

from prowess.model.permission import Answer, Reply, Request
from prowess.text.display import escape_line, escape_text

_REPLIES = {
    **dict.fromkeys(("o", "once", "y", "yes"), Reply.ONCE),
    **dict.fromkeys(("a", "always"), Reply.ALWAYS),
    **dict.fromkeys(("r", "reject", "n", "no", ""), Reply.REJECT),
}


def can_ask() -> bool:
    """Whether somebody is there who sees a question and can answer it."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask_line(question: str) -> str | None:
    """What is typed in answer to a question, without blanks around it; None where the input has
    ended.
    """
    sys.stdout.flush()
    click.echo(f"{question} ", err=True, nl=False)
    line = sys.stdin.readline()
    if not line:
        click.echo(err=True)
        return None
    return line.strip()


def confirm(question: str) -> bool:
    """Whether somebody says yes; anything else is a no."""
    return (ask_line(f"{question} [y/N]") or "").lower() in ("y", "yes")


class TerminalApprover:
    """Asks whoever sits at the terminal. `is_kept` says whether “always” outlasts this run."""

    def __init__(self, is_kept: Callable[[], bool]) -> None:
        self._is_kept = is_kept

    def ask(self, request: Request) -> Answer:
        """Once, always or not at all."""
        for line in _describe(request):
            click.echo(line, err=True)
        while (reply := self._ask_reply()) is None:
            pass
        if reply is Reply.ALWAYS and not self._is_kept():
            click.echo(
                'It holds for this run only; `approvals = "disk"` in your own prowess.toml'
                " keeps it.",
                err=True,
            )
        if reply is not Reply.REJECT:
            return Answer(reply)
        return Answer(reply, ask_line("What should be done instead? (Enter for nothing)") or None)

    def _ask_reply(self) -> Reply | None:
        typed = ask_line("Allow it once, always, or reject it? [o/a/R]")
        return Reply.REJECT if typed is None else _REPLIES.get(typed.lower())


def _describe(request: Request) -> list[str]:
    """What is wanted, and what is special about it this time."""
    details = request.metadata
    if "commands" in details:
        lines = [f"{_name(details)} wants to run:", *_indent(details["commands"])]
    else:
        names = ", ".join(f"“{escape_line(name)}”" for name in request.patterns)
        lines = [
            f"A model wants to use the skill {names}, and the rules leave it to you.",
            *_list_wishes(details),
        ]
    return [*lines, escape_line(request.note)] if request.note else lines


def _list_wishes(details: Mapping[str, Any]) -> Iterator[str]:
    """What the header of a skill wants to have approved along with it."""
    if details.get("allowed-tools"):
        yield f"{_name(details)} would use these tools without being asked:"
        yield from _indent(details["allowed-tools"])
    if details.get("hooks"):
        from prowess.reports.trust_preview import describe_hooks

        yield f"{_name(details)} would have these hooks run:"
        yield from _indent(describe_hooks(details["hooks"]))


def _name(details: Mapping[str, Any]) -> str:
    return f"The skill “{escape_line(details['skill'])}” ({escape_line(details['location'])})"


def _indent(texts: Iterable[str]) -> list[str]:
    return [f"    {escape_text(line)}" for text in texts for line in text.split("\n")]
