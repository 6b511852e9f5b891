"""Shells and interpreters as words of a command: what they are told to run, and whether an argument
may be in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prowess.shell import code_words
from prowess.shell.simple_command import Reach, Unsafe, Word

_SHELL_VALUED = ("--rcfile", "--init-file")
_VALUED: Mapping[str, tuple[str, ...]] = {
    "python": ("-W", "-X"),
    "node": ("--import", "--loader"),
    "perl": ("-I",),
    "ruby": ("-I",),
    "php": ("-d", "-c"),
}
_TELL = frozenset("--help --version -V".split())
# Modules of Python that run what their words say.
_MODULES = frozenset("IPython cProfile code doctest pdb profile runpy timeit trace".split())
_SUBCOMMANDS = ("bun", "deno")
_RUNS_TEXT = re.compile(
    r"\b(?:eval|exec|system|popen|Popen|subprocess|spawn|execSync|child_process|compile|__import__|Function|getattr|"
    r"instance_eval|class_eval|send|shell_exec|passthru|loadstring|dofile|do shell script)\b|`"
)


def check_interpreter(
    head: str, name: str, words: Sequence[Word], reach: Reach, *, is_certain: bool
) -> None:
    """Look at what follows a shell or an interpreter. Raises `Unsafe`.

    `is_certain` says that it is run; otherwise its name stands among the words of another program,
    which may run it.
    """
    look = _Look(head, name, reach, is_certain=is_certain)
    if name in code_words.SHELLS:
        look.check_shell(words)
    else:
        look.check_other(words)


class _Look:
    """One interpreter that is looked at."""

    def __init__(self, head: str, name: str, reach: Reach, *, is_certain: bool) -> None:
        self._refusal = Unsafe(f"`{head}` would run an argument as code")
        self._reads = Unsafe(
            f"`{head}` would run what it reads, which an argument may have got into"
        )
        self._name = name
        self._reach = reach
        self._is_certain = is_certain

    def check_shell(self, words: Sequence[Word]) -> None:
        at, runs_text, reads_input = 0, False, False
        while at < len(words) and words[at].text[:1] in ("-", "+") and words[at].text != "-":
            option = words[at].text
            at += 1
            if option == "--":
                break
            if option.startswith("--"):
                at += option in _SHELL_VALUED
                continue
            runs_text = runs_text or "c" in option
            reads_input = reads_input or "s" in option
            at += option.count("o") + option.count("O")
        if self._name == "su":
            runs_text = runs_text or any(word.text in ("-c", "--command") for word in words)
            at = len(words) if runs_text and any(word.is_tainted for word in words) else at
        if (runs_text or self._is_certain) and any(word.is_tainted for word in words[: at + 1]):
            raise self._refusal
        operand = words[at] if at < len(words) else None
        if runs_text:
            self._check_code(operand)
        elif self._is_certain:
            self._check_file(operand, words, reads_input=reads_input)

    def _check_code(self, code: Word | None) -> None:
        if code is None:
            return
        if not code.is_exact:
            raise self._refusal
        self._reach.read_code(code.text)

    def _check_file(self, file: Word | None, words: Sequence[Word], *, reads_input: bool) -> None:
        """The script that is run; without one it is read from the input."""
        if file is None and any(word.text in _TELL for word in words):
            return
        if (
            file is None
            or reads_input
            or file.text == "-"
            or file.text.startswith(("/dev/", "/proc/"))
        ):
            raise self._reads
        if file.is_tainted:
            raise self._refusal
        self._reach.ran.add(code_words.base_name(file.text))

    def check_other(self, words: Sequence[Word]) -> None:
        valued = _VALUED.get(self._name, ())
        at, has_code = 0, False
        while at < len(words) and words[at].text[:1] == "-" and words[at].text != "-":
            option = words[at]
            following = words[at + 1] if at + 1 < len(words) else None
            at += 1
            if option.text == "--":
                break
            if option.is_tainted and (self._is_certain or _holds_code(option.text)):
                raise self._refusal
            if self._name in ("python", "pypy") and re.fullmatch(r"-[A-Za-z]*m", option.text):
                self._check_module(words[at:])
                return
            if option.text in valued:
                at += 1
            elif code_words.CODE_OPTION.fullmatch(option.text):
                has_code = True
                self._check_text(following)
                at += 1
            elif _holds_code(option.text):
                has_code = True
                self._check_text(option)
        if not has_code and self._is_certain:
            self._check_script(words, at)

    def _check_script(self, words: Sequence[Word], at: int) -> None:
        operand = words[at] if at < len(words) else None
        if self._name in _SUBCOMMANDS and operand is not None and not operand.is_tainted:
            rest = words[at + 1 :]
            if operand.text in ("eval", "repl", "exec", "x") and any(
                word.is_tainted for word in rest
            ):
                raise self._refusal
            operand = next((word for word in rest if word.text[:1] != "-"), operand)
        self._check_file(operand, words, reads_input=False)

    def _check_text(self, code: Word | None) -> None:
        """A program in another language, which is not read; it may run nothing that is handed to
        it.
        """
        if code is None:
            return
        if code.is_tainted:
            raise self._refusal
        if _RUNS_TEXT.search(code.text):
            raise self._reads

    def _check_module(self, words: Sequence[Word]) -> None:
        if words and words[0].is_tainted and self._is_certain:
            raise self._refusal
        if words and words[0].text in _MODULES and any(word.is_tainted for word in words):
            raise self._refusal


def _holds_code(option: str) -> bool:
    """Whether code stands in the same word as its option."""
    return re.match(r"-[A-Za-z]*[ce][^A-Za-z]|--(?:eval|print|execute)=", option) is not None
