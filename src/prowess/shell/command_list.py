"""The commands of a script, for the rules that are about them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import NamedTuple

from prowess.shell.program_words import unwrap
from prowess.shell.quotes import ValueRefused
from prowess.shell.scanner import BashScanner


def list_commands(source: str) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """The words of every command in a script, and those of the last, which sets its exit code.

    Of a program that starts another one, such as `env` or `sudo`, both are listed. Commands that
    are nested too deeply are not.
    """
    scanner = BashScanner(source)
    with contextlib.suppress(ValueRefused):
        scanner.read()
    listed: list[tuple[str, ...]] = []
    for words in scanner.commands:
        listed += unwrap(words)
    last = unwrap(tuple(word.text for word in scanner.last))
    return listed, last[0] if last else ()


class Pipelines(NamedTuple):
    """The commands of a script by their words, and how they are joined.

    `pipes` says which command another one reads its input from, both by their index; `targets` are
    the files and processes that input and output are redirected to. `assignments` are the words
    that set variables, alone or before a command.
    """

    commands: tuple[tuple[str, ...], ...]
    pipes: Mapping[int, int]
    targets: tuple[str, ...]
    assignments: tuple[str, ...]


def list_pipelines(source: str) -> Pipelines:
    """The commands of a script and how they are joined; those nested too deeply are not listed."""
    scanner = BashScanner(source)
    with contextlib.suppress(ValueRefused):
        scanner.read()
    return Pipelines(
        tuple(scanner.commands), scanner.pipes, tuple(scanner.targets), tuple(scanner.assignments)
    )


def is_too_deep(source: str) -> bool:
    """Whether a script has commands that cannot be listed."""
    try:
        BashScanner(source).read()
    except ValueRefused:
        return True
    return False
