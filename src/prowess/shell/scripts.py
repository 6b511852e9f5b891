"""Scripts in a skill's folder: which program runs one, and what came of it.

A script gets its arguments as they are. No shell reads them, and none is a part of a command line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from prowess.diagnostics import Diagnostic
from prowess.errors.activation import ScriptRefused
from prowess.model.command import Command, FilledProgram
from prowess.shell.process_limits import find_ungivable
from prowess.shell.quotes import PREFIX

# For files without a `#!` line; the guide for agents has this table, too.
INTERPRETERS: Mapping[str, str] = {
    "py": "python3",
    "sh": "bash",
    "bash": "bash",
    "js": "node",
    "mjs": "node",
    "cjs": "node",
    "rb": "ruby",
    "pl": "perl",
    "ps1": "pwsh",
}
# Linux reads this much of a `#!` line.
SHEBANG_BYTES = 256
_BLANKS = re.compile(r"[ \t]+")


class ScriptResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a script: its exit code, None where it was stopped at its time limit.

    `output` is what it printed, errors included, with secrets masked; `left_out` is the number of
    bytes that it lacks. `text` is all of that for a model. `seconds` is how long it ran.
    """

    skill: str
    script: str
    code: int | None
    output: str
    text: str
    left_out: int = 0
    seconds: float = 0.0
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether it exited with code 0."""
        return self.code == 0

    @property
    def is_cut(self) -> bool:
        """Whether it printed more than is kept."""
        return self.left_out > 0


def find_interpreter(script: str, head: bytes, *, with_shebang: bool = True) -> tuple[str, ...]:
    """The program that runs a script, with its own arguments: by its `#!` line, or by its ending.

    Without `with_shebang` only the ending counts, as on Windows. Raises `ScriptRefused`.
    """
    if with_shebang and head.startswith(b"#!"):
        line = head[2:SHEBANG_BYTES].split(b"\n", 1)[0].decode("utf-8", "replace").strip()
        # As the kernel does: everything after the program is one argument.
        program, *argument = _BLANKS.split(line, maxsplit=1)
        if program:
            return (program, *argument)
    name = script.rpartition("/")[2]
    _, dot, ending = name.rpartition(".")
    # Without a dot, a file named `py` would count as Python.
    by_ending = INTERPRETERS.get(ending.lower()) if dot else None
    if by_ending is None:
        known = ", ".join(f".{ending}" for ending in INTERPRETERS)
        why = f"it has no `#!` line, and its name ends with none of {known}"
        raise ScriptRefused(script, why)
    return (by_ending,)


def plan_script(
    script: str,
    argv: Sequence[str],
    *,
    interpreter: Sequence[str],
    shown: str,
    real: str,
    folder: str,
    env: Mapping[str, str],
    cwd: str | None,
    seconds: float,
    output_bytes: int,
) -> Command:
    """The command that runs a script: `real` is its path, `shown` the path that people read.

    Raises `ScriptRefused` for arguments that no program can be given.
    """
    ungivable = find_ungivable(argv)
    if ungivable is not None:
        raise ScriptRefused(script, f"it would receive {ungivable}")
    text = shlex.join((*interpreter, shown))
    readable = shlex.join((*interpreter, shown, *argv))
    programs = (FilledProgram(readable, f"{text} *"),) if argv else ()
    return Command(
        text=text,
        argv=(*interpreter, real, *argv),
        env={**env, f"{PREFIX}SKILL_DIR": folder},
        cwd=cwd,
        seconds=seconds,
        output_bytes=output_bytes,
        readable=readable if argv else "",
        programs=programs,
    )
