"""The commands of a script, for the rules that are about them."""

from __future__ import annotations

import contextlib

from prowess.shell.program_words import unwrap
from prowess.shell.quotes import Refusal
from prowess.shell.scanner import BashScanner


def list_commands(source: str) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """The words of every command in a script, and those of the last, which sets its exit code.

    Of a program that starts another one, such as `env` or `sudo`, both are listed. Commands that
    are nested too deeply are not.
    """
    scanner = BashScanner(source)
    with contextlib.suppress(Refusal):
        scanner.read()
    listed = [each for words in scanner.commands for each in unwrap(words)]
    last = unwrap(tuple(word.text for word in scanner.last))
    return listed, next(iter(last), ())


def is_too_deep(source: str) -> bool:
    """Whether a script has commands that cannot be listed."""
    try:
        BashScanner(source).read()
    except Refusal:
        return True
    return False
