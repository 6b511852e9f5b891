"""Which words of a shell command are themselves run as code, so that no argument may be part of them.

A value that is handed to a shell as a variable stays a value, unless the author's own command hands it on as code:
`eval`, a second shell, arithmetic, a program for awk. The tables name the ways that are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# Words of the shell's own grammar after which a command begins.
RESERVED = frozenset("if then elif else fi do done while until { } ! time esac".split())
# Programs that run the program named after them.
WRAPPERS = frozenset("builtin command doas env exec ionice nice nohup setsid stdbuf sudo timeout xargs".split())

# Commands that evaluate their words, or take the names of variables, whose subscripts are evaluated.
_EVALUATE = frozenset(
    ". alias at batch bind compgen complete coproc declare eval export getopts let local mapfile parallel read "
    "readarray readonly source ssh trap typeset unset watch".split()
)
# For these a word NAME=VALUE is harmless, as long as no option makes a number or a reference of it.
_DECLARE = frozenset("declare export local readonly typeset".split())
_TAKE_NAMES_AFTER_V = frozenset("[ [[ printf test".split())
_ARITHMETIC_TESTS = frozenset("-eq -ne -lt -le -gt -ge -v".split())

_SHELL_OPTION = re.compile(r"[-+][A-Za-z]*c")
_CODE_OPTION = re.compile(r"-[A-Za-z]*[ceEpr]|--eval|--print|--execute|--run|-[Cc]ommand")
_SHELLS = "ash bash dash fish ksh mksh sh su zsh".split()
_OTHERS = "bun deno lua node osascript perl php powershell pwsh pypy python R Rscript ruby".split()
_INTERPRETERS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(_SHELLS, _SHELL_OPTION),
    **dict.fromkeys(_OTHERS, _CODE_OPTION),
}
# Programs that run another one elsewhere, and options of programs after which one is named.
_ELSEWHERE = frozenset("chroot docker kubectl nsenter podman".split())
_PROGRAM_FOLLOWS = frozenset("-exec -execdir -ok -okdir".split())
_VERSION = re.compile(r"[0-9.]+$")

# Programs whose first word that is no option is a program itself, and their options that take a value.
_PROGRAM_FIRST: Mapping[str, frozenset[str]] = {
    **dict.fromkeys("awk gawk mawk nawk".split(), frozenset("-v -F -f --assign --field-separator".split())),
    **dict.fromkeys("gsed sed".split(), frozenset("-f -l --file --line-length".split())),
}
_PROGRAM_OPTIONS = ("-e", "--expression", "--source")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def is_assignment(word: str, plain: int | None = None) -> bool:
    """Whether a word gives a value to a variable. `plain` is how much of it stands before the first quote, if any."""
    found = _ASSIGNMENT.match(word)
    return found is not None and (plain is None or plain >= found.end())


def base_name(word: str) -> str:
    """The name of a program without its folder."""
    return word.rpartition("/")[2]


def is_code(head: str, before: Sequence[str], word: str) -> bool:
    """Whether a command runs the word at this place, or a part of it, as code. `before` are the words between."""
    if _is_unknown(head):
        return True
    if head in _EVALUATE:
        has_options = any(other.startswith("-") for other in before)
        return head not in _DECLARE or has_options or not is_assignment(word)
    previous = before[-1] if before else ""
    if previous in _PROGRAM_FOLLOWS or (previous == "-v" and head in _TAKE_NAMES_AFTER_V):
        return True
    if head in _PROGRAM_FIRST:
        return _is_program(_PROGRAM_FIRST[head], before, word)
    return _follows_interpreter([head, *before])


def runs_input(head: str, words: Sequence[str]) -> bool:
    """Whether a program runs what it reads from its input, since its words name no code."""
    chain = [head, *words]
    places = range(len(chain)) if head in _ELSEWHERE else range(1)
    return _is_unknown(head) or any(_reads_code(chain[at], chain[at + 1 :]) for at in places)


def is_arithmetic_test(words: Sequence[str]) -> bool:
    """Whether a `[[ … ]]` with these words compares numbers, which evaluates both sides."""
    return not _ARITHMETIC_TESTS.isdisjoint(words)


def _find_interpreter(word: str) -> re.Pattern[str] | None:
    """The options after which an interpreter's code stands."""
    name = base_name(word)
    return _INTERPRETERS.get(name) or _INTERPRETERS.get(_VERSION.sub("", name))


def _reads_code(program: str, words: Sequence[str]) -> bool:
    """Whether a program is an interpreter that was given no code of its own, or only another interpreter's name."""
    pattern = _find_interpreter(program)
    if pattern is None:
        return False
    operands = [word for word in words if not word.startswith("-")]
    if not operands or "-" in words or "-s" in words or "/dev/stdin" in words:
        return not any(pattern.fullmatch(word) for word in words) or not operands
    return _find_interpreter(operands[0]) is not None or _is_unknown(base_name(operands[0]))


def _is_unknown(head: str) -> bool:
    """Whether the shell finds out itself what program this is; it may be any."""
    return "$" in head or "`" in head


def _follows_interpreter(words: Sequence[str]) -> bool:
    """Whether the next word is the script of an interpreter, or the code after its option, whoever starts it."""
    at = len(words) - 1
    while at > 0 and words[at][:1] in ("-", "+"):
        at -= 1
    pattern = _find_interpreter(words[at])
    return pattern is not None and (at == 0 or any(pattern.fullmatch(option) for option in words[at + 1 :]))


def _is_program(valued: frozenset[str], before: Sequence[str], word: str) -> bool:
    """Whether a word is the program of awk or sed: the first that is no option or its value, or what follows `-e`."""
    previous = before[-1] if before else ""
    if previous in _PROGRAM_OPTIONS or word.startswith(_PROGRAM_OPTIONS):
        return True
    if previous in valued or word.startswith("-"):
        return False
    had_program = any(
        earlier in _PROGRAM_OPTIONS or not (one.startswith("-") or earlier in valued)
        for earlier, one in zip(("", *before), before, strict=False)
    )
    return not had_program
