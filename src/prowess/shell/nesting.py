"""What bash nests in words: variables in braces, arithmetic, commands in back-quotes, and text
blocks.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from prowess.activate.body.substitution import Reference
from prowess.shell.simple_command import Unsafe, check_name
from prowess.shell.tape import Heredoc, Tape

_BRACED = re.compile(
    r"(?P<lead>[#!]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])?(?P<item>\[[@*]\])?"
)
_CHANGED = re.compile(r"@[QUuLE]\}")
# Arithmetic in which no name stands that would be evaluated: numbers and what counts things.
_NUMBERS = re.compile(
    r"(?:[0-9\s()+*/%<>=!&|^~?:,-]|\$[#?]|\$\{#(?:[A-Za-z_][A-Za-z0-9_]*(?:\[[@*]\])?)?\})*"
)
_ARITHMETIC = "an argument would be evaluated as arithmetic"
_SPECIAL_IN_HEREDOC = re.compile(r"[\\$`]")
_EVALUATED_IN_HEREDOC = re.compile(r"`|\$[(\[]|\$\{(?![A-Za-z_][A-Za-z0-9_]*\})|\\\n")


class Nesting(Tape, ABC):
    """The part of a reader that reads what stands inside of words, and text blocks."""

    @abstractmethod
    def _read_code(self, closer: str, *, is_data: bool = False) -> None:
        """Commands up to what closes them."""

    @abstractmethod
    def _read_quoted(self) -> None:
        """One piece of what stands in double quotes."""

    @abstractmethod
    def _read_double(self) -> None:
        """A text in double quotes."""

    @abstractmethod
    def _read_single(self) -> None:
        """A text in single quotes."""

    def _read_output(self, opening: int) -> None:
        """A command whose output becomes part of the word, or a file that holds it."""
        if self._reach is not None:
            self._taint()
        self._grow(self._copy(opening))
        self._read_code(")")

    def _read_back_quote(self) -> None:
        """A command in back-quotes, from which bash first takes backslashes, whatever quotes there
        are.
        """
        end = self._source.find("`", self._at + 1)
        inside = self._source[self._at + 1 : end]
        if end < 0 or "\\" in inside or "#" in inside or "<<" in inside:
            self._refuse("what stands in back-quotes cannot be read; use `$(…)`")
        if self._reach is not None:
            self._taint()
        self._grow(self._copy(1))
        self._read_code("`")
        if self._at != end + 1:
            self._refuse("what stands in back-quotes cannot be read; use `$(…)`")

    def _read_braces(self, *, is_quoted: bool) -> None:
        self._grow(self._copy(2))
        found = _BRACED.match(self._source, self._at)
        if found is not None:
            self._note_braced(found)
        while self._at < len(self._source) and self._source[self._at] != "}":
            character = self._source[self._at]
            if self._put("double", refuse="an argument would be evaluated inside `${…}`"):
                continue
            if (
                character in "<>("
                or self._source.startswith("$'", self._at)
                or (character == "'" and is_quoted)
            ):
                self._refuse("what stands in `${…}` cannot be read")
            if character == '"':
                self._read_double()
            elif character == "'" and not is_quoted:
                self._read_single()
            else:
                self._read_quoted()
        self._grow(self._copy(1))

    def _note_braced(self, found: re.Match[str]) -> None:
        """The beginning of `${…}`: which variable it is, and whether something behind it is
        evaluated.
        """
        rest = self._source[found.end() :]
        is_count = found["lead"] == "#" and rest[:1] == "}"
        if found["lead"] == "!" and (found["name"] or found["item"]):
            self._refuse("a variable would be read whose name an argument may have given")
        if rest[:1] == "[" or (rest[:1] == ":" and rest[1:2] not in ("-", "=", "+", "?")):
            size = rest.find("]" if rest[0] == "[" else "}")
            if size < 0 or _NUMBERS.fullmatch(rest, 1, size) is None:
                self._refuse(_ARITHMETIC)
            after = rest[size + 1 :]
            if rest[0] == "[" and after[:1] == ":" and after[1:2] not in ("-", "=", "+", "?"):
                self._refuse(_ARITHMETIC)
            if rest[0] == "[" and after[:1] == "@":
                self._refuse("what stands in `${…}` cannot be read")
        if self._reach is not None and rest.lstrip(":")[:1] == "=":
            check_name(found["name"] or "")
        if rest[:1] == "@" and _CHANGED.match(rest) is None:
            self._refuse("a variable would be evaluated, and an argument may be in it")
        if not is_count:
            self._note_expansion(found["name"] or found["lead"] or "@")
        elif self._reach is not None:
            self._level.is_exact = False

    def _read_arithmetic(self, opening: str, closing: str) -> None:
        self._level.is_exact = False
        self._grow(self._copy(len(opening)))
        start, depth = self._at, 0
        while self._at < len(self._source) and (
            depth or not self._source.startswith(closing, self._at)
        ):
            if self._put("double", refuse=_ARITHMETIC):
                continue
            depth = max(depth + {"(": 1, ")": -1}.get(self._source[self._at], 0), 0)
            self._read_quoted()
        if _NUMBERS.fullmatch(self._source, start, self._at) is None:
            self._refuse(_ARITHMETIC)
        self._grow(self._copy(len(closing)))

    def _read_heredoc(self, heredoc: Heredoc) -> None:
        end = self._find_heredoc_end(heredoc)
        inside = [one for at, one in self._references.items() if self._at <= at < end]
        if not heredoc.is_quoted:
            self._check_block(inside, end)
        if not inside:
            self._copy(end - self._at)
        elif heredoc.is_quoted:
            self._write_literal_block(heredoc, end)
        else:
            self._write_block(end)
        line_end = self._source.find("\n", end)
        self._copy((line_end if line_end >= 0 else len(self._source)) - self._at)
        self._level.begin()

    def _find_heredoc_end(self, heredoc: Heredoc) -> int:
        place = self._at
        while place < len(self._source):
            line_end = self._source.find("\n", place)
            line = self._source[place : line_end if line_end >= 0 else None]
            text = line.lstrip("\t") if heredoc.dash else line
            if text == heredoc.end:
                return place
            if text.startswith(heredoc.end):
                self._refuse(
                    f"a line of a text block begins with “{heredoc.end}”, which is to end it"
                )
            place = line_end + 1 if line_end >= 0 else len(self._source)
        self._refuse("a text block in it is never ended")
        return place

    def _check_block(self, inside: list[Reference], end: int) -> None:
        """A block in which the shell fills variables. Commands inside it would need quotes of their
        own.
        """
        ends = [self._at, *(one.end for one in inside)]
        between = zip(ends, [*(one.start for one in inside), end], strict=True)
        if any(_EVALUATED_IN_HEREDOC.search(self._source, *span) for span in between):
            has_argument = any(one.kind == "argument" for one in inside)
            what = "an argument stands in" if has_argument else "an argument may get into"
            self._refuse(f"{what} a text block beside something that the shell evaluates")
        if any(
            self._source[one.start - 1 : one.start] in ("$", "\\")
            for one in inside
            if one.kind != "literal"
        ):
            self._refuse("a `$` or a backslash stands right before an argument")

    def _write_block(self, end: int) -> None:
        while self._at < end:
            if not self._put("double"):
                self._copy(1)

    def _write_literal_block(self, heredoc: Heredoc, end: int) -> None:
        """A block in which the shell fills nothing: made one in which it does, with everything else
        escaped.
        """
        if not heredoc.end.isidentifier():
            raise Unsafe(
                f"an argument stands in a text block that ends with “{heredoc.end}”, which is no"
                " plain word"
            )
        self._out[heredoc.place] = heredoc.end
        while self._at < end:
            place = len(self._out)
            reference = self._references.get(self._at)
            if not self._put("double"):
                self._copy(1)
            if reference is None or reference.kind == "literal":
                self._out[place:] = [
                    _SPECIAL_IN_HEREDOC.sub(r"\\\g<0>", "".join(self._out[place:]))
                ]
