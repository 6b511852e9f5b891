"""What the words of a command start: a second shell with a script, or a program inside another."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

_SHELLS = frozenset("ash bash dash fish ksh mksh rbash sh zsh".split())
_CODE_OPTION = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*")
_NAMED_OPTION = re.compile(r"[-+][A-Za-z]*[oO]|--(?:init-file|rcfile)")
_INPUT_OPTION = re.compile(r"[-+][A-Za-z]*s[A-Za-z]*")
_WRAPPERS = frozenset(
    "builtin command doas env exec nice nohup setsid stdbuf sudo time timeout xargs".split()
)
_MOST_WRAPPERS = 20
# What comes before the program: options, a time limit, variables.
_WRAPPER_WORD = re.compile(r"-.*|[0-9.]+[smhd]?|[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)


def runs_code(words: Sequence[str | None]) -> bool:
    """Whether a shell among these words would run a value (None) as its script, or its input.

    A shell must be followed by its script, wherever it is: which programs start another one, as
    `env` and `sudo` do, nobody can list. Values after the script are fine: `bash build.sh VALUE`,
    `sh -c 'echo "$1"' sh VALUE`.
    """
    shells = _find_shells(words)
    # The word after a script is the name that the script gets, which is often that of a shell.
    names = [_find_script(words, shell) + 1 for shell in shells if _takes_code(words, shell)]
    # Each counts: in `docker run bash sh -c VALUE` the first is the name of an image.
    return any(_runs_value(words, shell) for shell in shells if shell not in names)


def _find_shells(words: Sequence[str | None]) -> list[int]:
    """The places of the words that may be a shell."""
    known = [(index, word) for index, word in enumerate(words) if word is not None]
    return [index for index, word in known if _name(word) in _SHELLS]


def _runs_value(words: Sequence[str | None], shell: int) -> bool:
    """Whether the shell at this place would run a value, or its input."""
    script = _find_script(words, shell)
    takes_code = _takes_code(words, shell)
    if script == len(words):
        # It runs what it reads, or what a program such as `xargs` puts after the last word.
        return not takes_code or shell > 0
    reads_input = any(map(_INPUT_OPTION.fullmatch, _list_options(words, shell)))
    return words[script] is None or (reads_input and not takes_code)


def _takes_code(words: Sequence[str | None], shell: int) -> bool:
    return any(map(_CODE_OPTION.fullmatch, _list_options(words, shell)))


def _list_options(words: Sequence[str | None], shell: int) -> list[str]:
    """The words between a shell and its script; a value ends them."""
    return [word or "" for word in words[shell + 1 : _find_script(words, shell)]]


def _find_script(words: Sequence[str | None], shell: int) -> int:
    """Where the script of a shell is, or would be, after its options; `-o` takes a name along."""
    at = shell + 1
    while at < len(words):
        option = words[at] or ""
        if option[:1] not in ("-", "+"):
            break
        at += 2 if _NAMED_OPTION.fullmatch(option) else 1
    return min(at, len(words))


def unwrap(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """A command and the programs that it starts, as `env` and `sudo` do, each with its words."""
    if not words:
        return []
    starts = [0]
    # The list grows while it is gone through: a wrapper may start another one.
    for start in starts:
        is_wrapper = _name(words[start]) in _WRAPPERS
        # Long chains of wrappers are not commands that a person wrote.
        if not is_wrapper or len(starts) > _MOST_WRAPPERS:
            continue
        wrapped = _find_wrapped(words, start)
        starts += [program for program in wrapped if program not in starts]
    return [(_name(words[start]), *words[start + 1 :]) for start in starts]


def _find_wrapped(words: Sequence[str], wrapper: int) -> range:
    """Where the name of the program may be that a wrapper starts."""
    before = list(itertools.takewhile(_WRAPPER_WORD.fullmatch, words[wrapper + 1 :]))
    program = wrapper + 1 + len(before)
    # An option may take a value; then the program comes one word later.
    has_option = any(word.startswith("-") for word in before)
    last = program + 1 if has_option else program
    return range(program, min(last + 1, len(words)))


def _name(program: str) -> str:
    return program.rpartition("/")[2]
