"""A PowerShell script with placeholders, rewritten so that every value reaches it as a variable and never as text.

`${env:NAME}` is a value wherever PowerShell reads a word or a text in double quotes, and is never read again. In
single quotes nothing is filled, so an argument there is refused, as it is where the script would run it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prowess.activate.simple_command import Unsafe
from prowess.activate.substitution import Reference

_SINGLE = re.compile(r"@'\r?\n.*?\n'@|'(?:[^']|'')*'", re.DOTALL)
_DOUBLE = re.compile(r'@"\r?\n.*?\n"@|"(?:[^"`]|`.|"")*"', re.DOTALL)
_COMMENT = re.compile(r"<#.*?#>|#[^\n]*", re.DOTALL)
# What runs the text that follows, as far as the statement goes.
_RUNS = re.compile(
    r"(?:^|[\s;|({])(?:&|\.(?=\s)|iex|Invoke-Expression|Invoke-Command|icm|Start-Process|saps|Add-Type|"
    r"\[scriptblock\]|(?:pwsh|powershell|cmd|bash|sh)(?:\.exe)?)(?=[\s\"'(${\[:]|$)[^;\n|]*$",
    re.IGNORECASE,
)


class PowerShellScript:
    """Reads a script from left to right and writes it anew. Raises `Unsafe`. The result is as that of `BashScript`."""

    def __init__(self, source: str, references: Sequence[Reference], *, prefix: str) -> None:
        self.env: dict[str, str] = {}
        self.used: list[Reference] = []
        self.last: tuple[str, ...] = ()
        self._source = source
        self._references = {reference.start: reference for reference in references}
        self._prefix = prefix
        self._out: list[str] = []
        self._at = 0
        while self._at < len(source):
            self._read()
        self.script = "".join(self._out)

    def _read(self) -> None:
        """One step: a text in quotes, a comment, a placeholder, or a character."""
        for pattern, fills in ((_SINGLE, False), (_DOUBLE, True), (_COMMENT, False)):
            match = pattern.match(self._source, self._at)
            if match is not None:
                self._read_inside(match.end(), fills=fills, is_comment=pattern is _COMMENT)
                return
        if self._source[self._at] == "`":
            self._copy(2)
        elif not self._put():
            self._copy(1)

    def _read_inside(self, end: int, *, fills: bool, is_comment: bool) -> None:
        while self._at < end:
            reference = self._references.get(self._at)
            if reference is None or is_comment:
                self._copy(1)
            elif fills or reference.kind == "literal":
                self._put()
            else:
                raise Unsafe("PowerShell fills nothing in single quotes; use double quotes")

    def _put(self) -> bool:
        reference = self._references.get(self._at)
        if reference is None:
            return False
        if reference.kind == "literal":
            self._out.append(reference.value)
        else:
            if reference.kind == "argument" and _RUNS.search(self._source, 0, self._at):
                raise Unsafe("PowerShell would run an argument as code")
            name = f"{self._prefix}{reference.label}"
            self.env[name] = reference.value
            self.used.append(reference)
            self._out.append(f"${{env:{name}}}")
        self._at = reference.end
        return True

    def _copy(self, count: int) -> None:
        self._out.append(self._source[self._at : self._at + count])
        self._at += count
