"""One simple command of a script while it is read, and what in it must not be an argument."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from prowess.shell import code_words

_DURATION = re.compile(r"[0-9]+(?:\.[0-9]+)?[smhd]?")
_OPTION: Mapping[str, re.Pattern[str]] = {
    "argument": re.compile(r"\A[-+]"),
    "variable": re.compile(r"(?:\A|\s)[-+]"),
}
_COMPUTED = re.compile(r"[{}*?\[\]]")
_ARRAY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\+?=\(|\[)")
_MAKES_ARRAYS = re.compile(
    r"\b(?:declare|export|local|mapfile|read|readarray|readonly|typeset)\s[^;\n]*-\w*[aA]"
)
_INPUT = re.compile(r"[|<]")


class Unsafe(Exception):
    """A command that would run an argument as code; the text says why."""


class Word(NamedTuple):
    """A word of a command. `is_tainted` where an argument may be in it; `is_exact` where `text` is
    all that it holds.

    `plain` is how much of it stands before its first quote, None where it has none; `leads` says
    that it begins with an argument (`argument`), or with what may be one or several (`variable`),
    and `splits` that the shell makes as many words of it as it holds.
    """

    text: str
    is_tainted: bool = False
    is_exact: bool = True
    plain: int | None = None
    leads: str = ""
    splits: bool = False


class Reach:
    """What the commands of one script with arguments share: which files they write and run, and
    what they may get.

    `read_code` reads a text that a command runs as a script of its own. Raises `Unsafe` where it
    would run an argument.
    """

    def __init__(
        self, source: str, *, values: Sequence[str] = (), read_code: Callable[[str], None]
    ) -> None:
        self.has_input = _INPUT.search(source) is not None
        self._options = {
            lead: any(map(pattern.search, values)) for lead, pattern in _OPTION.items()
        }
        self.read_code = read_code
        self._arrays = set(_ARRAY.findall(source))
        self._has_arrays = _MAKES_ARRAYS.search(source) is not None
        self.written: set[str] = set()
        self.ran: set[str] = set()

    def may_be_option(self, word: Word) -> bool:
        """Whether a word may turn out to be an option, since an argument begins as options do."""
        return self._options.get(word.leads, False)

    def may_be_array(self, name: str) -> bool:
        """Whether a variable may be an array; a declaration then evaluates what it is given."""
        return self._has_arrays or name in self._arrays

    def finish(self) -> None:
        """Look at the script as a whole. Raises `Unsafe`."""
        for name in sorted(self.written & self.ran):
            raise Unsafe(f"it runs `{name}`, a file that it writes, and an argument may be in it")


class SimpleCommand:
    """A program and its words. Where there is a `reach`, nothing is taken that would run an
    argument.
    """

    __slots__ = (
        "_is_function",
        "_skips",
        "_wrappers",
        "head",
        "is_case",
        "is_test",
        "reach",
        "words",
    )

    def __init__(self, reach: Reach | None = None) -> None:
        self.head: str | None = None
        self.words: list[Word] = []
        self.reach = reach
        self.is_case = False
        self.is_test = False
        self._wrappers: list[str] = []
        self._is_function = False
        self._skips = False

    def take(self, word: Word) -> None:
        """Add a word. Raises `Unsafe` where an argument would decide which program is run."""
        if self.head is None:
            self._take_head(word)
        else:
            self.words.append(word)

    @property
    def texts(self) -> list[str]:
        """The words as they are written."""
        return [word.text for word in self.words]

    @property
    def is_open_test(self) -> bool:
        """Whether this is a `[[` that was not closed yet."""
        return self.is_test and self.texts[-1:] != ["]]"]

    @property
    def takes_input_as_words(self) -> bool:
        """Whether what the command reads becomes words of the program."""
        return "xargs" in self._wrappers

    def has_program_next(self) -> bool:
        """Whether the word that comes next is a program in a language of its own, such as that of
        awk.
        """
        return self.head is not None and code_words.has_program_next(self.head, self.texts)

    def _take_head(self, word: Word) -> None:
        text, is_plain = word.text, word.plain is None
        if self._is_function or self._skips:
            self._is_function = self._skips = False
            self._refuse_tainted(word)
        elif (
            is_plain and not word.is_tainted and (text in code_words.RESERVED or text == "function")
        ):
            self._is_function = text == "function"
        elif code_words.is_assignment(text, word.plain):
            if word.is_tainted and self.reach is not None:
                check_name(code_words.assigned_name(text))
        elif (
            self._wrappers
            and not word.is_tainted
            and (text[:1] == "-" or _DURATION.fullmatch(text))
        ):
            self._skips = text in code_words.VALUED.get(self._wrappers[-1], ())
        elif text == "-p" and not self._wrappers:
            # Of `time`, which is a word of the grammar.
            return
        else:
            self._take_program(word)

    def _refuse_tainted(self, word: Word) -> None:
        if word.is_tainted and self.reach is not None:
            raise Unsafe("an argument would decide which program is run")

    def _take_program(self, word: Word) -> None:
        self._refuse_tainted(word)
        text, is_plain = word.text, word.plain is None
        name = code_words.base_name(text)
        if self.reach is not None:
            is_known = text in ("[", "[[") or not _COMPUTED.search(text)
            if (
                not is_known
                or (not is_plain and text in code_words.GRAMMAR)
                or (not word.is_exact and not name)
            ):
                raise Unsafe(
                    "the name of a program is not written plainly, so it cannot be told what is run"
                )
            if not word.is_exact and "/" not in text and "$" not in text:
                raise Unsafe(
                    "the name of a program is not written plainly, so it cannot be told what is run"
                )
            if "/" in text:
                self.reach.ran.add(name)
        if name in code_words.WRAPPERS:
            self._wrappers.append(name)
            return
        self.head = name
        self.is_test = text == "[[" and is_plain and not self._wrappers
        self.is_case = text == "case" and is_plain and not self._wrappers


def check_name(name: str) -> None:
    """Raise `Unsafe` where a variable of this name must hold no argument, since programs or the
    shell evaluate it.
    """
    if code_words.is_evaluated_name(name):
        raise Unsafe(f"an argument would get into `{name}`, which is evaluated")
