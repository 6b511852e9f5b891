"""A command that a skill has run, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from prowess.model.sandbox import SandboxPolicy


class FilledProgram(NamedTuple):
    """A program inside a command that gets an argument of the caller, and a rule that allows it."""

    text: str
    rule: str


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A program to run for a skill, whole: nothing is left to be put in.

    `text` is the command as its author wrote it, which is what people are asked about. `env` are
    the variables it gets beside those that every program needs; they may hold secrets and are never
    shown. `shell` is the kind of shell that `argv` starts, "" where there is none. `input` is what
    it can read from stdin. With `separate_errors` its error output is kept apart from its output.
    `seconds` and `output_bytes` bound it; `sandbox` says what it may touch, None where nothing
    confines it.
    `readable` is the command with the caller's arguments in it, quoted, and `programs` are the
    programs that get them; both are empty where it takes none.
    """

    text: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    cwd: str | None = None
    shell: str = ""
    input: bytes = b""
    separate_errors: bool = False
    seconds: float = 120.0
    output_bytes: int = 30_000
    sandbox: SandboxPolicy | None = None
    readable: str = ""
    programs: tuple[FilledProgram, ...] = ()

    # Both leave out the values of variables, which tracebacks and logs would show.

    def __repr__(self) -> str:
        return (
            f"Command(text={self.text!r}, argv={self.argv!r}, env=<{len(self.env)} hidden>,"
            f" cwd={self.cwd!r})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [
            ("text", self.text),
            ("argv", self.argv),
            ("env", sorted(self.env)),
            ("cwd", self.cwd),
        ]


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a command: its exit code, None where it was stopped at its time limit, and its
    output.

    Where the output was longer than allowed, `output` is its beginning, `tail` its end, and
    `left_out` the number of bytes that `output` lacks. `errors` is the beginning of the error
    output where it was kept apart.
    """

    code: int | None
    output: str = ""
    tail: str = ""
    left_out: int = 0
    errors: str = ""
