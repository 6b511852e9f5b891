"""A bash script with placeholders, rewritten so that every value reaches it as a variable and never as text.

Only `${NAME}` is ever written into the script, with quotes that fit the place, so a value can neither end a quote
nor begin a command, whatever it holds. What can still run a value is the author's own command, by handing it on as
code: such commands are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from prowess.activate.simple_command import SimpleCommand, Unsafe
from prowess.activate.substitution import Reference
from prowess.activate.tape import Heredoc, Level, Tape

_DEEPEST = 40
_HEREDOC = re.compile(r"<<(?P<dash>-?)[ \t]*(?P<word>(?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s;&|<>()'\"\\])+)")
_REDIRECT = re.compile(r"&?[<>][<>&|]*")
_COMMENT = re.compile(r"[^\n]*")
_OPERATOR = re.compile(r"&&|\|\||\|&|[;&|]")
_PLAIN = re.compile(r"[A-Za-z0-9_./,:@%+-]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD_INDEX = re.compile(r"\$[0-9]")
_SPECIAL_IN_HEREDOC = re.compile(r"[\\$`]")
_EVALUATED_IN_HEREDOC = re.compile(r"`|\$[({[]")


class BashScript(Tape):
    """Reads a script from left to right and writes it anew. Raises `Unsafe`."""

    def __init__(self, source: str, references: Sequence[Reference], *, prefix: str) -> None:
        super().__init__(source, references, prefix=prefix)
        self._heredocs: list[Heredoc] = []
        self._read_code("")
        self.script = "".join(self._out)

    def _read_code(self, closer: str, *, is_data: bool = False) -> None:
        """Code up to what closes it. `is_data` marks the items of an array, which are no commands."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unsafe("it is nested too deeply to be read")
        outer, self._level = self._level, Level(is_data=is_data)
        while self._at < len(self._source) and (not closer or self._source[self._at] != closer):
            if not self._put("bare"):
                _READERS.get(self._source[self._at], BashScript._read_character)(self)
        self._end_command()
        self._copy(1)
        if self._level.ever_tainted:
            outer.is_tainted = outer.ever_tainted = True
        self._level = outer
        self._depth -= 1

    def _read_character(self) -> None:
        """One character, or as many as mean nothing anywhere."""
        plain = _PLAIN.match(self._source, self._at)
        self._grow(self._copy(len(plain[0]) if plain is not None else 1))

    def _read_blank(self) -> None:
        self._end_word()
        self._copy(1)

    def _read_line_end(self) -> None:
        self._end_command()
        self._copy(1)
        heredocs, self._heredocs = self._heredocs, []
        for heredoc in heredocs:
            self._read_heredoc(heredoc)
        self._line = []

    def _read_operator(self) -> None:
        """What stands between commands; inside `[[ … ]]` it stands between tests."""
        self._level.is_data = False
        operator = _OPERATOR.match(self._source, self._at)
        if self._source.startswith("&>", self._at):
            self._read_redirect()
        elif operator is None or (self._level.command.is_open_test and operator[0] in ("&&", "||")):
            self._read_blank()
            self._copy(1 if operator is not None else 0)
        else:
            self._end_command()
            # What is piped may come from a group, a loop or a function; any argument before it may be in it.
            is_piped = operator[0] in ("|", "|&") and self._took_argument
            self._level.command = SimpleCommand(input_is_tainted=is_piped)
            self._copy(len(operator[0]))

    def _read_comment(self) -> None:
        comment = _COMMENT.match(self._source, self._at)
        if self._level.word is None and comment is not None:
            self._copy(len(comment[0]))
        else:
            self._read_character()

    def _read_open(self) -> None:
        if self._level.command.is_open_test:
            self._read_blank()
        elif self._level.word is None and self._source.startswith("((", self._at):
            self._read_arithmetic("((", "))")
        elif self._level.word is not None and self._level.word[-1] == "=":
            self._read_character()
            self._read_code(")", is_data=True)
        else:
            self._end_command()
            self._copy(1)
            self._read_code(")")
            self._level.is_tainted = False

    def _read_bracket(self) -> None:
        """A subscript, which takes everything up to its end where an assignment may stand."""
        name = "".join(self._level.word or ())
        if self._level.command.head is None and name.isidentifier():
            self._read_arithmetic("[", "]")
        else:
            self._read_character()

    def _read_close(self) -> None:
        """A bracket that closes nothing, as after the pattern of a `case`."""
        self._end_command()
        self._copy(1)

    def _read_redirect(self) -> None:
        level = self._level
        level.is_data = False
        redirect = _REDIRECT.match(self._source, self._at)
        if level.command.is_open_test and redirect is not None and redirect[0] in ("<", ">"):
            self._read_blank()
            return
        if self._source.startswith(("<(", ">("), self._at):
            self._grow(self._copy(2))
            self._read_code(")")
            return
        is_number = level.word is not None and "".join(level.word).isdigit()
        if not is_number or level.is_tainted or level.plain is not None:
            self._end_word()
        level.word = None
        heredoc = _HEREDOC.match(self._source, self._at)
        if heredoc is not None and not self._source.startswith("<<<", self._at):
            self._copy(heredoc.start("word") - self._at)
            self._heredocs.append(Heredoc(heredoc["word"], dash=bool(heredoc["dash"]), place=len(self._out)))
            self._copy(len(heredoc["word"]))
            return
        level.redirect = self._copy(len(redirect[0]) if redirect is not None else 1)

    def _read_backslash(self) -> None:
        if self._at + 1 in self._references:
            # The value's own quotes come next; a backslash before them would be read as part of them.
            self._at += 1
            return
        self._note_quote()
        copied = self._copy(2)
        if copied != "\\\n":
            self._grow(copied[1:])

    def _read_back_quote(self) -> None:
        self._grow(self._copy(1))
        self._read_code("`")

    def _read_single(self) -> None:
        # `$1` in a program that stands in single quotes is that program's own, as awk's fields are.
        is_program = self._level.command.runs_next("".join(self._level.word or ()))
        self._note_quote()
        self._copy(1)
        self._grow("")
        while self._at < len(self._source) and self._source[self._at] != "'":
            is_own = is_program and _WORD_INDEX.match(self._source, self._at) is not None
            if is_own or not self._put("single"):
                self._read_character()
        self._copy(1)

    def _read_ansi(self) -> None:
        self._note_quote()
        self._copy(2)
        self._grow("")
        while self._at < len(self._source) and self._source[self._at] != "'":
            if not self._put("ansi"):
                self._grow(self._copy(2 if self._source[self._at] == "\\" else 1))
        self._copy(1)

    def _read_double(self) -> None:
        self._note_quote()
        self._copy(1)
        self._grow("")
        while self._at < len(self._source) and self._source[self._at] != '"':
            if not self._put("double"):
                self._read_quoted()
        self._copy(1)

    def _read_quoted(self) -> None:
        """One step inside double quotes or braces."""
        character = self._source[self._at]
        if character == "\\":
            is_before_value = self._at + 1 in self._references
            self._grow(self._copy(1 if is_before_value else 2))
            self._out += ["\\"] if is_before_value else []
        elif character == "$":
            self._read_dollar(is_quoted=True)
        elif character == "`":
            self._read_back_quote()
        else:
            self._read_character()

    def _read_dollar(self, *, is_quoted: bool = False) -> None:
        following = self._source[self._at + 1 : self._at + 3]
        if following == "((":
            self._read_arithmetic("$((", "))")
        elif following[:1] == "(":
            self._grow(self._copy(2))
            self._read_code(")")
        elif following[:1] == "[":
            self._read_arithmetic("$[", "]")
        elif following[:1] == "{":
            self._read_braces(is_quoted=is_quoted)
        elif following[:1] == "'" and not is_quoted:
            self._read_ansi()
        else:
            self._note_name(self._at + 1)
            self._read_character()

    def _read_braces(self, *, is_quoted: bool) -> None:
        self._grow(self._copy(2))
        self._note_name(self._at)
        while self._at < len(self._source) and self._source[self._at] != "}":
            character = self._source[self._at]
            if self._put("double", refuse="an argument would be evaluated inside `${…}`"):
                continue
            if character == '"':
                self._read_double()
            elif character == "'" and not is_quoted:
                self._read_single()
            else:
                self._read_quoted()
        self._grow(self._copy(1))

    def _read_arithmetic(self, opening: str, closing: str) -> None:
        self._grow(self._copy(len(opening)))
        start, depth = self._at, 0
        while self._at < len(self._source) and (depth or not self._source.startswith(closing, self._at)):
            if self._put("double", refuse="an argument would be evaluated as arithmetic"):
                continue
            depth = max(depth + {"(": 1, ")": -1}.get(self._source[self._at], 0), 0)
            self._read_quoted()
        if not self._names.isdisjoint(_NAME.findall(self._source, start, self._at)):
            raise Unsafe("an argument would be evaluated as arithmetic")
        self._grow(self._copy(len(closing)))

    def _read_heredoc(self, heredoc: Heredoc) -> None:
        end = self._find_heredoc_end(heredoc)
        inside = [one for at, one in self._references.items() if self._at <= at < end]
        for command in self._line if any(one.kind == "argument" for one in inside) else ():
            # Whose input the block is, or what is made of it, is not told; every command of the line may be it.
            command.input_is_tainted = True
            command.finish()
        if not inside:
            self._copy(end - self._at)
        elif heredoc.is_quoted:
            self._write_literal_block(heredoc, end)
        else:
            self._write_block(inside, end)
        line_end = self._source.find("\n", end)
        self._copy((line_end if line_end >= 0 else len(self._source)) - self._at)
        self._level.word, self._level.is_tainted = None, False

    def _find_heredoc_end(self, heredoc: Heredoc) -> int:
        place = self._at
        while place < len(self._source):
            line_end = self._source.find("\n", place)
            line = self._source[place : line_end if line_end >= 0 else None]
            if (line.lstrip("\t") if heredoc.dash else line) == heredoc.end:
                break
            place = line_end + 1 if line_end >= 0 else len(self._source)
        return place

    def _write_block(self, inside: list[Reference], end: int) -> None:
        """A block in which the shell fills variables. Commands inside it would need quotes of their own."""
        between = zip([self._at, *(one.end for one in inside)], [*(one.start for one in inside), end], strict=True)
        has_argument = any(one.kind == "argument" for one in inside)
        if has_argument and any(_EVALUATED_IN_HEREDOC.search(self._source, *span) for span in between):
            raise Unsafe("an argument stands in a text block beside something that the shell evaluates")
        while self._at < end:
            if not self._put("double"):
                self._copy(1)

    def _write_literal_block(self, heredoc: Heredoc, end: int) -> None:
        """A block in which the shell fills nothing: made one in which it does, with everything else escaped."""
        if not heredoc.end.isidentifier():
            raise Unsafe(f"an argument stands in a text block that ends with “{heredoc.end}”, which is no plain word")
        self._out[heredoc.place] = heredoc.end
        while self._at < end:
            place = len(self._out)
            reference = self._references.get(self._at)
            if not self._put("double"):
                self._copy(1)
            if reference is None or reference.kind == "literal":
                self._out[place:] = [_SPECIAL_IN_HEREDOC.sub(r"\\\g<0>", "".join(self._out[place:]))]


_READERS: Mapping[str, Callable[[BashScript], None]] = {
    **dict.fromkeys(" \t", BashScript._read_blank),
    **dict.fromkeys(";&|", BashScript._read_operator),
    **dict.fromkeys("<>", BashScript._read_redirect),
    "\n": BashScript._read_line_end,
    "#": BashScript._read_comment,
    "(": BashScript._read_open,
    ")": BashScript._read_close,
    "[": BashScript._read_bracket,
    "\\": BashScript._read_backslash,
    "'": BashScript._read_single,
    '"': BashScript._read_double,
    "`": BashScript._read_back_quote,
    "$": BashScript._read_dollar,
}
