"""What every kind of shell needs to take a value as data: one quoted parameter, never text."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from prowess.activate.body.substitution import Reference
from prowess.model.command import FilledProgram

Context = Literal["bare", "double", "single", "ansi"]
"""The quotes around a placeholder: none, `"…"`, `'…'` or `$'…'`."""

NUMBERED = re.compile(r"\$[0-9]+")
"""A placeholder that is a number. In single quotes it is left to the program, such as awk."""

PREFIX = "PROWESS_"
"""What the names of the variables begin with that hold the values of a command."""

# How a parameter is written in each kind of quotes, and how a person reads its value there.
PARAMETERS: Mapping[Context, str] = {
    "bare": '"${%s}"',
    "double": "${%s}",
    "single": "'\"${%s}\"'",
    "ansi": "'\"${%s}\"$'",
}
READABLE: Mapping[Context, Callable[[str], str]] = {
    "bare": shlex.quote,
    "double": lambda value: re.sub(r'([\\"$`])', r"\\\1", value),
    "single": lambda value: value.replace("'", "'\\''"),
    "ansi": lambda value: re.sub(r"([\\'])", r"\\\1", value),
}


class ValueRefused(Exception):
    """A command that cannot be given its values safely. `at` is where, as an index of its text."""

    def __init__(self, why: str, at: int = 0) -> None:
        self.why = why
        self.at = at
        super().__init__(why)


class FilledCommand(NamedTuple):
    """A command that is ready to run.

    `script` is what its shell runs (`argv` where there is no shell), `env` are the variables with
    its values and `used` the placeholders they came from. `readable` is the command with the values
    in their places, and `programs` are the programs in it that get an argument.
    """

    script: str
    env: Mapping[str, str]
    used: Sequence[Reference]
    readable: str
    programs: tuple[FilledProgram, ...] = ()
    argv: tuple[str, ...] = ()


class Edit(NamedTuple):
    """A part of a script that is replaced: for the shell, and for the person who reads it."""

    start: int
    end: int
    script: str
    readable: str


def apply_edits(source: str, edits: list[Edit]) -> tuple[str, str]:
    """The script with its edits, for the shell and for a reader."""
    script: list[str] = []
    readable: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        script += (source[at : edit.start], edit.script)
        readable += (source[at : edit.start], edit.readable)
        at = edit.end
    return "".join((*script, source[at:])), "".join((*readable, source[at:]))


def check_option(reference: Reference, text: str) -> None:
    """Refuse a value that begins a word and would be read as an option."""
    if reference.value.startswith("-") and not reference.may_be_option:
        why = (
            f"`{text}` is “{shorten(reference.value)}”, which begins with `-`, so a program could"
            " read it as an option"
        )
        raise ValueRefused(why, reference.start)


def shorten(value: str, most: int = 60) -> str:
    """A value as part of a sentence."""
    line = value.replace("\n", " ")
    return line if len(line) <= most else f"{line[: most - 1]}…"
