"""A PowerShell script with placeholders, rewritten so that every value reaches it as a variable and
never as text.

`${env:NAME}` is a value wherever PowerShell reads a word or a text in double quotes, and is never
read again. In single quotes nothing is filled, so an argument there is refused, as is a script with
arguments that evaluates text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prowess.activate.body.substitution import Reference
from prowess.shell.simple_command import Unsafe

_SINGLE = re.compile(r"@'\r?\n.*?\n'@|'(?:[^']|'')*'", re.DOTALL)
_DOUBLE = re.compile(r'@"\r?\n.*?\n"@|"(?:[^"`]|`.|"")*"', re.DOTALL)
_COMMENT = re.compile(r"<#.*?#>|#[^\n]*", re.DOTALL)
# What evaluates text. Where a value has got to is not followed, so none of it may stand in a script
# with arguments.
_EVALUATES: Mapping[str, re.Pattern[str]] = {
    what: re.compile(pattern, re.IGNORECASE)
    for what, pattern in {
        "`Invoke-Expression`": r"\b(?:iex|Invoke-Expression)\b",
        "`&` or `.` before what is not the plain name of a program": (
            r"(?:^|[\s;|({=])(?:&(?![&>])|\.(?=\s))(?!\s*[\w./\\~-][^\s$;|()]*(?:[\s;|)}]|$))"
        ),
        "`Invoke-Command` or what starts programs by name": (
            r"\b(?:Invoke-Command|icm|Start-Process|saps|start|Start-Job|sajb|Start-ThreadJob|Invoke-Item|ii|"
            r"Invoke-WmiMethod|Invoke-CimMethod|Register-\w+|Set-Alias|New-Alias|sal|nal|Set-PSBreakpoint|New-Module|"
            r"Import-Module|ipmo|Invoke-History|ihy|Trace-Command|Measure-Command)\b"
        ),
        "code made of text": (
            r"\[\s*(?:System\.)?(?:Management\.Automation\.)?(?:scriptblock|powershell)\b|\bAdd-Type\b|"
            r"\.\s*(?:Invoke\w*|ExpandString|AddScript|AddCommand|NewScriptBlock|CreatePipeline)\b|"
            r"\$ExecutionContext\b|\bDiagnostics\.Process\b"
        ),
        "another shell or interpreter": (
            r"\b(?:pwsh|powershell|cmd|wsl|ssh|bash|sh|zsh|dash|python[\d.]*|py|node|perl|ruby|php|lua|deno|bun|osascript|"
            r"awk|sed|xargs|wscript|cscript|mshta|rundll32|regsvr32)(?:\.exe)?\b(?=[^\n;|]*\s[-/]{1,2}(?:[a-z]*[cekpr]\b|eval|"
            r"command|encodedcommand|file|enc|print|exec)|\s*(?:-\s*)?(?:$|[;\n|)}]))"
        ),
        "a member that is named by a variable": r"(?:[\w)\]}]\.|::)\s*[$\"']",
        "an option that hands over code": (
            r"\s-(?:Command|EncodedCommand|enc|ScriptBlock|FilterScript|ArgumentList)\b"
        ),
    }.items()
}


class PowerShellScript:
    """Reads a script from left to right and writes it anew. Raises `Unsafe`. The result is as that
    of `BashScript`.
    """

    def __init__(self, source: str, references: Sequence[Reference], *, prefix: str) -> None:
        self.env: dict[str, str] = {}
        self.used: list[Reference] = []
        self.last: tuple[str, ...] = ()
        self._source = source
        self._references = {reference.start: reference for reference in references}
        self._prefix = prefix
        self._out: list[str] = []
        self._at = 0
        if any(reference.kind == "argument" for reference in references):
            _check(_without_variables(source, references))
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
        start = self._at
        while self._at < end:
            reference = self._references.get(self._at)
            if reference is None or is_comment:
                self._copy(1)
            elif fills and "$(" in self._source[start:end] and reference.kind == "argument":
                raise Unsafe(
                    "an argument stands in double quotes beside `$(…)`, where quotes cannot be told"
                    " apart"
                )
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
            name = f"{self._prefix}{reference.label}"
            self.env[name] = reference.value
            self.used.append(reference)
            self._out.append(f"${{env:{name}}}")
        self._at = reference.end
        return True

    def _copy(self, count: int) -> None:
        self._out.append(self._source[self._at : self._at + count])
        self._at += count


def _check(source: str) -> None:
    """Raise `Unsafe` where a script that gets arguments evaluates text, or begins a command with
    one.
    """
    for what, pattern in _EVALUATES.items():
        if pattern.search(source):
            raise Unsafe(
                f"PowerShell could run an argument as code, since there is {what} in the script"
            )


def _without_variables(source: str, references: Sequence[Reference]) -> str:
    """A script with a plain word where a value stands that is no argument, such as the folder of
    the skill.
    """
    for reference in reversed(references):
        if reference.kind == "variable":
            source = f"{source[: reference.start]}x{source[reference.end :]}"
    return source
