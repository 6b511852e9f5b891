"""A bash script, or a command without a shell, with its values filled in."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from prowess.activate.body.substitution import Reference
from prowess.shell.quotes import FilledCommand, ValueRefused, apply_edits
from prowess.shell.scanner import BashScanner

# Each pass but the last finds at least one more variable that may hold a value.
_MOST_PASSES = 20


def fill_bash(source: str, references: Sequence[Reference]) -> FilledCommand:
    """A script with its values as parameters. Raises `ValueRefused` if one could be evaluated."""
    kept: frozenset[str] = frozenset()
    for _ in range(_MOST_PASSES):
        scanner = BashScanner(source, references, kept)
        scanner.read()
        if scanner.kept == kept:
            break
        # In a loop a variable may be used above the line that puts a value into it.
        kept = frozenset(scanner.kept)
    else:
        raise ValueRefused("too many variables contain an argument")
    edits = scanner.edits
    takes_argument = any(reference.kind == "argument" for reference in scanner.used)
    if takes_argument:
        if scanner.problem is not None:
            raise scanner.problem
        edits = edits + scanner.path_edits
    script, readable = apply_edits(source, edits)
    return FilledCommand(script, scanner.env, scanner.used, readable, tuple(scanner.programs))


def fill_argv(source: str, references: Sequence[Reference]) -> FilledCommand:
    """A command without a shell: words as bash splits them, no more. Raises `ValueRefused`."""
    scanner = BashScanner(source, references)
    scanner.read()
    words = scanner.last
    if scanner.shell_use is not None:
        raise scanner.shell_use
    for word in words:
        is_home = source[word.start] == "~"
        if is_home or word.marks & {"expansion", "command", "glob", "brace"}:
            raise ValueRefused(f"`{word.text}` only works in a shell; quote it", word.start)
    if words[0].takes_value:
        raise ValueRefused("an argument would decide which program runs", words[0].start)
    argv = tuple(word.text for word in words)
    return FilledCommand("", {}, scanner.used, shlex.join(argv), tuple(scanner.programs), argv)
