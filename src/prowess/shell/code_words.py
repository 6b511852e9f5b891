"""Which words and names of a shell command are themselves run as code, so that no argument may be
part of them.

A value that is handed to a shell as a variable stays a value, unless the author's own command hands
it on as code: `eval`, a second shell, arithmetic, a program for awk. The tables name the ways that
are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prowess.shell.env_denylist import find_refusal

# Words of the shell's own grammar after which a command begins, and all words of it.
RESERVED = frozenset("if then elif else fi do done while until { } ! time esac".split())
GRAMMAR = RESERVED | frozenset("case for function select coproc in [[ ]]".split())
# Programs that run the program named after them, and their options that take a value.
WRAPPERS = frozenset(
    "builtin bunx busybox chronic chrt command doas dumb-init env exec firejail gosu ionice ltrace"
    " nice nohup npx pipx setpriv setsid stdbuf strace sudo systemd-run taskset time timeout tini"
    " unbuffer unshare uvx xargs".split()
)
VALUED: Mapping[str, frozenset[str]] = {
    "doas": frozenset("-u -C".split()),
    "env": frozenset("-u -C --unset --chdir".split()),
    "exec": frozenset(("-a",)),
    "ionice": frozenset("-c -n".split()),
    "nice": frozenset(("-n",)),
    "npx": frozenset("-p --package".split()),
    "stdbuf": frozenset("-i -o -e".split()),
    "sudo": frozenset("-u -g -C -D -h -p -r -t -T -U".split()),
    "timeout": frozenset("-s -k --signal --kill-after".split()),
    "xargs": frozenset(
        "-I -n -P -L -s -E -d -a --arg-file --delimiter --max-args --max-procs --replace".split()
    ),
}

SHELLS = frozenset("ash bash dash fish ksh mksh rbash sh su zsh".split())
INTERPRETERS = frozenset(
    "bun deno elixir ghci groovy guile ipython irb julia lua luajit node nodejs ocaml osascript"
    " perl php pypy python R Rscript ruby scala swift tclsh tsx ts-node".split()
)
AWKS = frozenset("awk gawk mawk nawk".split())
SEDS = frozenset("gsed sed".split())
CODE_OPTION = re.compile(r"-[A-Za-z]*[ceEpr]|--eval|--print|--execute|--run|-[Cc]ommand")
PROGRAM_OPTIONS = ("-e", "--expression", "--source")
PROGRAM_VALUED: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(AWKS, frozenset("-v -F -f --assign --field-separator --file".split())),
    **dict.fromkeys(SEDS, frozenset("-f -l --file --line-length".split())),
}
_OWN_PROGRAM = frozenset("eval trap ssh".split())
_SHELL_CODE = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*")
_VERSION = re.compile(r"[0-9.]+$")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[0-9]+\])?\+?=")
_EVALUATED = re.compile(r"PS[0-4]|BASH.*|PROWESS_.*|.*_(?:COMMAND|PAGER|EDITOR)")


def is_assignment(word: str, plain: int | None = None) -> bool:
    """Whether a word gives a value to a variable. `plain` is how much of it stands before the first
    quote, if any.
    """
    found = _ASSIGNMENT.match(word)
    return found is not None and (plain is None or plain >= found.end())


def assigned_name(word: str) -> str:
    """The variable that an assignment gives a value to."""
    found = _ASSIGNMENT.match(word)
    return "" if found is None else found[1]


def is_evaluated_name(name: str) -> bool:
    """Whether a variable decides what the shell or another program runs."""
    return _EVALUATED.fullmatch(name) is not None or (
        name.isupper() and find_refusal(name) is not None
    )


def base_name(word: str) -> str:
    """The name of a program without its folder."""
    return word.rpartition("/")[2]


def find_interpreter(word: str) -> str | None:
    """The name of a shell or an interpreter without its version, None where a program is neither."""
    name = base_name(word).removesuffix(".exe")
    short = name if name in SHELLS or name in INTERPRETERS else _VERSION.sub("", name)
    return short if short in SHELLS or short in INTERPRETERS else None


def has_program_next(head: str, before: Sequence[str]) -> bool:
    """Whether the next word of a command is a program in a language with `$1` of its own. `before`
    are its words.
    """
    if head in _OWN_PROGRAM:
        return True
    if head in PROGRAM_VALUED:
        return is_program(head, before, "")
    words = [head, *before]
    at = len(words) - 1
    while at > 0 and (words[at][:1] in ("-", "+") or words[at] == "pipefail"):
        at -= 1
    name = find_interpreter(words[at])
    pattern = _SHELL_CODE if name in SHELLS else CODE_OPTION
    return name is not None and any(pattern.fullmatch(option) for option in words[at + 1 :])


def is_program(head: str, before: Sequence[str], word: str) -> bool:
    """Whether a word is the program of awk or sed: the first that is no option or its value, or
    what follows `-e`.
    """
    valued = PROGRAM_VALUED[head]
    previous = before[-1] if before else ""
    if previous in PROGRAM_OPTIONS or word.startswith(PROGRAM_OPTIONS):
        return True
    if previous in valued or word.startswith("-"):
        return False
    had_program = any(
        earlier in PROGRAM_OPTIONS or not (one.startswith("-") or earlier in valued)
        for earlier, one in zip(("", *before), before, strict=False)
    )
    return not had_program
