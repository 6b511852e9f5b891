"""A PowerShell script with placeholders, rewritten so that every value is a variable, never text.

In a script with arguments only plain commands are allowed: programs, `echo`, `Write-Output` and
`Write-Host` with words and texts in quotes, joined by `|`, `;`, `&&`, `||` or line ends. A value is
a whole word, or in double quotes. Everything else is refused.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence

from prowess.activate.body.substitution import Reference
from prowess.model.command import FilledProgram
from prowess.shell.quotes import (
    NUMBERED,
    PREFIX,
    Edit,
    FilledCommand,
    ValueRefused,
    apply_edits,
    check_option,
)

_STEP = re.compile(
    r"(?P<single>@'\r?\n.*?\n'@|'(?:[^']|'')*')"
    r'|(?P<double>@"\r?\n.*?\n"@|"(?:[^"`]|`.|"")*")'
    r"|(?P<comment><#.*?#>|#[^\n]*)|(?P<escape>`.)|.",
    re.DOTALL,
)

# A script whose arguments are `\0`.
_WORD = r"""(?:[\w./\\:~=-]+|'[^'\0]*'|"[^"`$]*"|\0)"""
_COMMAND = re.compile(
    rf"\s*(?P<name>(?:[A-Za-z_~]|\.{{0,2}}[/\\])[\w./\\:~-]*)(?P<words>(?:[ \t]+{_WORD})*)[ \t]*"
)
_SEPARATOR = re.compile(r"(?:\|\||&&|\||;|\r?\n)\s*")
_PRINTS = frozenset(("echo", "write-output", "write-host"))
_PROGRAM_FILE = re.compile(r".*[/\\].*|.*\.exe", re.DOTALL)
# The aliases, functions and keywords of PowerShell are no programs; commandlets have a hyphen.
_BUILT_IN = frozenset(
    "ac asnp begin break cat catch cd chdir class clc clear clhy cli clp cls clv cnsn compare"
    " configuration continue copy cp cpi cpp curl cvpa data dbp define del diff dir dnsn do"
    " dynamicparam ebp else elseif end enum epal epcsv epsn erase etsn exit exsn fc fhx filter"
    " finally fl for foreach from ft function fw gal gbp gc gci gcim gcm gcs gdr ghy gi gin"
    " gjb gl gm gmo gp gps gpv group gsn gsnp gsv gtz gu gv gwmi h help hidden history icim"
    " icm iex if ihy ii in inlinescript inmo ipal ipcsv ipmo ipsn irm ise iwmi iwr kill lp ls"
    " man md measure mi mkdir more mount move mp mv nal ncim ndr ni nmo npssc nsn nv ogv oh"
    " oss parallel param pause popd process prompt ps pushd pwd r rbp rcie rcim rcjb rcms rcsn"
    " rd rdr ren return ri rjb rm rmdir rmo rni rnp rp rsn rsnp rujb rv rvpa rwmi sajb sal"
    " saps sasv sbp sc scb scim select sequence set shcm si sl sleep sls sort sp spjb spps"
    " spsv start static stz sujb sv switch swmi tee throw trap trcm try type until using var"
    " wget where while wjb workflow write".split()
)


def fill_powershell(source: str, references: Sequence[Reference]) -> FilledCommand:
    """A script with its values as variables. Raises `ValueRefused` where one could be evaluated."""
    env: dict[str, str] = {}
    used: list[Reference] = []
    edits: list[Edit] = []
    masks: list[Edit] = []
    for reference, quotes in _find_quotes(source, references):
        span = reference.start, reference.end
        if reference.kind == "literal":
            edits.append(Edit(*span, reference.value, reference.value))
            continue
        if quotes == "single":
            raise ValueRefused(
                "PowerShell does not expand variables in single quotes", reference.start
            )
        name = f"{PREFIX}{reference.label}"
        env[name] = reference.value
        used.append(reference)
        edits.append(Edit(*span, f"${{env:{name}}}", _render(reference.value, quotes)))
        # What Prowess itself fills in, such as the skill's folder, is checked as a word would be.
        mask = "\0" if reference.kind == "argument" else "x"
        masks.append(Edit(*span, mask, mask))
    # Only a script that gets an argument is checked; without one its author may use all of
    # PowerShell.
    masked, _ = apply_edits(source, masks)
    script, readable = apply_edits(source, edits)
    if "\0" not in masked:
        return FilledCommand(script, env, used, readable)
    _check_commands(masked)
    _check_values(source, used)
    return FilledCommand(script, env, used, readable, (FilledProgram(readable, readable),))


def _find_quotes(source: str, references: Sequence[Reference]) -> Iterator[tuple[Reference, str]]:
    """The placeholders that are filled in, each with its quotes: `single`, `double` or none."""
    left = deque(references)
    for step in _STEP.finditer(source):
        quotes = step.lastgroup or ""
        while left and left[0].start < step.end():
            reference = left.popleft()
            if quotes in ("comment", "escape"):
                continue
            is_number = NUMBERED.fullmatch(source, reference.start, reference.end) is not None
            # As in bash, a number in single quotes is left to the program, such as awk.
            is_left = is_number and quotes == "single"
            if not is_left:
                yield reference, quotes


def _render(value: str, quotes: str) -> str:
    if quotes == "double":
        return re.sub(r'([`"$])', r"`\1", value)
    return "'" + value.replace("'", "''") + "'"


def _check_commands(masked: str) -> None:
    """Refuse a script with arguments that has more than plain commands."""
    at = 0
    while at < len(masked):
        command = _COMMAND.match(masked, at)
        if command is None:
            raise ValueRefused("only plain commands can take arguments in PowerShell", at)
        # PowerShell takes no notice of case.
        name = command["name"].lower()
        is_plain = "-" not in name and name not in _BUILT_IN
        is_program = is_plain or _PROGRAM_FILE.fullmatch(name) is not None
        if not is_program and name not in _PRINTS:
            raise ValueRefused(
                f"`{command['name']}` is part of PowerShell and could evaluate it", at
            )
        at = command.end()
        if at == len(masked):
            return
        separator = _SEPARATOR.match(masked, at)
        if separator is None:
            why = "this cannot be used in a PowerShell command that takes arguments"
            raise ValueRefused(why, at)
        at = separator.end()


def _check_values(source: str, used: Sequence[Reference]) -> None:
    for reference in used:
        if reference.kind != "argument":
            continue
        if '"' in reference.value or reference.value.endswith("\\"):
            # Before version 7.3 it hands them to programs without escaping them.
            raise ValueRefused(
                'PowerShell mangles a value that contains `"` or ends with `\\`', reference.start
            )
        begins_word = source[reference.start - 1 : reference.start] in ("", " ", "\t", '"')
        if begins_word:
            check_option(reference, source[reference.start : reference.end])
