"""One simple command of a script while it is read, and what in it must not be an argument."""

from __future__ import annotations

import re

from prowess.activate import code_words

_DURATION = re.compile(r"[0-9]+(?:\.[0-9]+)?[smhd]?")


class Unsafe(Exception):
    """A command that would run an argument as code; the text says why."""


class SimpleCommand:
    """A program and its words. `is_tainted` where an argument has a part in it, or in what is piped into it."""

    __slots__ = ("_is_test", "_is_wrapped", "head", "input_is_tainted", "is_tainted", "words")

    def __init__(self, *, input_is_tainted: bool = False) -> None:
        self.head: str | None = None
        self.words: list[str] = []
        self.is_tainted = input_is_tainted
        self.input_is_tainted = input_is_tainted
        self._is_wrapped = False
        self._is_test = False

    def take(self, word: str, *, is_tainted: bool, plain: int | None = None) -> None:
        """Add a word. Raises `Unsafe` where it holds an argument and would be run.

        `plain` is how much of the word stands before its first quote; a word of the shell's grammar has none.
        """
        self.is_tainted = self.is_tainted or is_tainted
        if self.head is None:
            self._take_head(word, is_tainted=is_tainted, plain=plain)
            return
        if is_tainted and self.runs_next(word):
            raise Unsafe(f"`{self.head}` would run an argument as code")
        self.words.append(word)

    @property
    def is_open_test(self) -> bool:
        """Whether this is a `[[` that was not closed yet."""
        return self._is_test and self.words[-1:] != ["]]"]

    def runs_next(self, word: str) -> bool:
        """Whether the word that comes next would be run as code."""
        return self.head is not None and code_words.is_code(self.head, self.words, word)

    def finish(self) -> None:
        """Look at the command as a whole. Raises `Unsafe`."""
        if self.head is None:
            return
        if self._is_test and self.is_tainted and code_words.is_arithmetic_test(self.words):
            raise Unsafe("an argument would be evaluated as arithmetic")
        if self.input_is_tainted and code_words.runs_input(self.head, self.words):
            raise Unsafe(f"`{self.head}` would run an argument as code")

    def _take_head(self, word: str, *, is_tainted: bool, plain: int | None) -> None:
        is_reserved = plain is None and word in code_words.RESERVED
        if is_reserved or code_words.is_assignment(word, plain):
            return
        if is_tainted:
            raise Unsafe("an argument would decide which program is run")
        if self._is_wrapped and (word.startswith("-") or _DURATION.fullmatch(word)):
            return
        name = code_words.base_name(word)
        if name in code_words.WRAPPERS:
            self._is_wrapped = True
        else:
            self.head = name
            self._is_test = name == "[[" and plain is None and not self._is_wrapped
