"""What a reader of bash stands on: the script it reads, the one it writes, and where an argument has got to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prowess.activate.code_words import is_assignment
from prowess.activate.simple_command import SimpleCommand, Unsafe
from prowess.activate.substitution import Reference

_VARIABLE = re.compile(r"[#!]?([A-Za-z_][A-Za-z0-9_]*)")
_LOOPS = ("for", "select")
_QUOTED: Mapping[str, str] = {
    "bare": '"${%s}"',
    "double": "${%s}",
    "single": "'\"${%s}\"'",
    "ansi": "'\"${%s}\"$'",
}


class Heredoc:
    """A text block that begins on the next line. `place` is where its end word stands in what was written so far."""

    def __init__(self, word: str, *, dash: bool, place: int) -> None:
        self.end = re.sub(r"\\(.)|['\"]", r"\1", word)
        self.is_quoted = self.end != word
        self.dash = dash
        self.place = place


class Level:
    """What belongs to one level of nesting: the word and the command that are being read.

    `is_tainted` says that the word holds an argument, `ever_tainted` that anything at this level does; `plain` is how
    much of the word stands before its first quote, None where it has none.
    """

    __slots__ = ("command", "ever_tainted", "is_data", "is_tainted", "plain", "redirect", "word")

    def __init__(self, *, is_data: bool = False) -> None:
        self.word: list[str] | None = None
        self.plain: int | None = None
        self.is_tainted = False
        self.ever_tainted = False
        self.redirect = ""
        self.is_data = is_data
        self.command = SimpleCommand()


class Tape:
    """A script on its way from one text to another.

    `script` is the result, `env` the variables it needs, `used` the placeholders that were filled, and `last` the
    words of the last command, whose exit code is that of the script.
    """

    def __init__(self, source: str, references: Sequence[Reference], *, prefix: str) -> None:
        self.script = ""
        self.env: dict[str, str] = {}
        self.used: list[Reference] = []
        self.last: tuple[str, ...] = ()
        self._source = source
        self._references = {reference.start: reference for reference in references}
        self._prefix = prefix
        self._at = 0
        self._out: list[str] = []
        self._depth = 0
        self._level = Level()
        self._line: list[SimpleCommand] = []
        self._names: set[str] = set()

    @property
    def _took_argument(self) -> bool:
        return any(reference.kind == "argument" for reference in self.used)

    def _put(self, quoting: str, *, refuse: str = "") -> bool:
        """Write the placeholder that stands here, if one does."""
        reference = self._references.get(self._at)
        if reference is None:
            return False
        self._at = reference.end
        if reference.kind == "literal":
            self._out.append(reference.value)
            self._grow(reference.value)
            return True
        if reference.kind == "argument":
            if refuse:
                raise Unsafe(refuse)
            self._level.is_tainted = self._level.ever_tainted = True
        name = f"{self._prefix}{reference.label}"
        self.env[name] = reference.value
        self.used.append(reference)
        self._out.append(_QUOTED[quoting] % name)
        self._grow("")
        return True

    def _copy(self, count: int) -> str:
        text = self._source[self._at : self._at + count]
        self._out.append(text)
        self._at += count
        return text

    def _grow(self, text: str) -> None:
        if self._level.word is None:
            self._level.word = []
        self._level.word.append(text)

    def _note_quote(self) -> None:
        """A quote or a backslash stands here: the word has one from now on."""
        if self._level.plain is None:
            self._level.plain = sum(map(len, self._level.word or ()))

    def _note_name(self, place: int) -> None:
        """A variable of the script is read; one that was given an argument passes it on."""
        name = _VARIABLE.match(self._source, place)
        if name is not None and name[1] in self._names:
            self._level.is_tainted = self._level.ever_tainted = True

    def _end_word(self) -> None:
        level = self._level
        if level.word is None:
            return
        word, is_tainted, redirect, plain = "".join(level.word), level.is_tainted, level.redirect, level.plain
        level.word, level.is_tainted, level.redirect, level.plain = None, False, "", None
        command = level.command
        if is_tainted:
            self._note_values(word, command)
        if not redirect and not level.is_data:
            command.take(word, is_tainted=is_tainted, plain=plain)
            return
        command.is_tainted = command.is_tainted or is_tainted
        command.input_is_tainted = command.input_is_tainted or (is_tainted and redirect == "<<<")
        if level.is_data and is_tainted and word.startswith("["):
            raise Unsafe("an argument would be evaluated as arithmetic")
        if is_tainted and redirect[1:] == "&":
            # Bash expands the word after `>&` a second time, and with it what a variable held.
            raise Unsafe("an argument would be evaluated after `>&`")

    def _note_values(self, word: str, command: SimpleCommand) -> None:
        """Remember the variables that get an argument from a word: of an assignment, or of a loop over it."""
        if is_assignment(word):
            self._names.add(word.partition("=")[0].rstrip("+"))
        elif command.head in _LOOPS:
            self._names.update(command.words[:1])

    def _end_command(self) -> SimpleCommand:
        self._end_word()
        ended = self._level.command
        ended.finish()
        if ended.head == "read" and ended.input_is_tainted:
            self._names.update(ended.words)
        self._line.append(ended)
        if self._depth == 1 and ended.head is not None:
            self.last = (ended.head, *ended.words)
        self._level.command = SimpleCommand()
        return ended
