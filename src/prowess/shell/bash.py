"""A bash script with placeholders, rewritten so that every value reaches it as a variable and never
as text.

Only `${NAME}` is ever written into the script, with quotes that fit the place, so a value can
neither end a quote nor begin a command, whatever it holds. What can still run a value is the
author's own command, by handing it on as code: such commands are refused, and so is whatever cannot
be told from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from prowess.activate.body.substitution import Reference
from prowess.shell.nesting import Nesting
from prowess.shell.simple_command import SimpleCommand, Unsafe
from prowess.shell.tape import Heredoc, Level

_DEEPEST = 40
_HEREDOC = re.compile(
    r"<<(?P<dash>-?)[ \t]*(?P<word>(?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s;&|<>()'\"\\])+)"
)
_PLAIN_END = re.compile(r"(['\"]?)\\?[A-Za-z_][A-Za-z0-9_]*\1")
_REDIRECT = re.compile(r"&?[<>][<>&|]*")
_COMMENT = re.compile(r"[^\n]*")
_OPERATOR = re.compile(r";;&|;;|;&|&&|\|\||\|&|[;&|]")
_PLAIN = re.compile(r"[A-Za-z0-9_./,:@%+-]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_EMPTY = re.compile(r"\([ \t]*\)")
_WORD_INDEX = re.compile(r"\$[0-9]")


class BashScript(Nesting):
    """Reads a script from left to right and writes it anew. Raises `Unsafe`."""

    def __init__(
        self,
        source: str,
        references: Sequence[Reference],
        *,
        prefix: str,
        is_inner: bool = False,
        depth: int = 0,
    ) -> None:
        super().__init__(source, references, prefix=prefix, is_inner=is_inner, depth=depth)
        self._heredocs: list[Heredoc] = []
        self._read_code("")
        if self._reach is not None:
            self._reach.finish()
        self.script = "".join(self._out)

    def _read_code(self, closer: str, *, is_data: bool = False) -> None:
        """Code up to what closes it. `is_data` marks the items of an array, which are no commands."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unsafe("it is nested too deeply to be read")
        outer, self._level = self._level, Level(SimpleCommand(self._reach), is_data=is_data)
        before, quotes = len(self._heredocs), self._in_quotes
        self._in_quotes = 0
        while self._at < len(self._source) and not (closer and self._closes(closer)):
            if not self._put("bare"):
                _READERS.get(self._source[self._at], BashScript._read_character)(self)
        self._end_command()
        if (
            self._level.cases
            or len(self._heredocs) > before
            or (closer and self._at >= len(self._source))
        ):
            self._refuse("something in it is never ended")
        self._copy(1)
        if self._level.ever_tainted:
            outer.is_tainted = outer.ever_tainted = True
            outer.is_exact = False
        self._level, self._in_quotes = outer, quotes
        self._depth -= 1

    def _closes(self, closer: str) -> bool:
        """Whether the code ends here, and not a pattern or a part of a test."""
        if self._source[self._at] != closer:
            return False
        if closer == ")" and (self._level.in_pattern or self._level.command.is_open_test):
            self._end_word()
            return not self._level.in_pattern and not self._level.command.is_open_test
        return True

    def _read_character(self) -> None:
        """One character, or as many as mean nothing anywhere."""
        plain = _PLAIN.match(self._source, self._at)
        self._grow(self._copy(len(plain[0]) if plain is not None else 1))

    def _read_blank(self) -> None:
        self._end_word()
        self._copy(1)

    def _read_line_end(self) -> None:
        if self._level.command.is_open_test:
            self._end_word()
        if not self._level.command.is_open_test:
            self._end_command()
        self._copy(1)
        heredocs, self._heredocs = self._heredocs, []
        for heredoc in heredocs:
            self._read_heredoc(heredoc)

    def _read_operator(self) -> None:
        """What stands between commands; inside `[[ … ]]` it stands between tests, in a `case`
        between patterns.
        """
        level = self._level
        if level.in_pattern or level.command.is_open_test:
            self._end_word()
        operator = _OPERATOR.match(self._source, self._at)
        if self._source.startswith("&>", self._at) and not level.command.is_open_test:
            self._read_redirect()
        elif operator is None or level.in_pattern or level.command.is_open_test:
            self._copy(1 if operator is None else len(operator[0]))
        else:
            level.is_data = False
            self._end_command()
            self._copy(len(operator[0]))
            level.in_pattern = bool(level.cases) and operator[0] in (";;", ";&", ";;&")

    def _read_comment(self) -> None:
        comment = _COMMENT.match(self._source, self._at)
        if self._level.word is None and comment is not None:
            self._copy(len(comment[0]))
        else:
            self._read_character()

    def _read_open(self) -> None:
        level = self._level
        if level.command.is_open_test:
            self._read_blank()
        elif level.in_pattern:
            if level.word is not None:
                self._refuse("the `case` in it cannot be read")
            self._copy(1)
        elif level.word is None and self._source.startswith("((", self._at):
            self._read_arithmetic("((", "))")
            level.begin()
        elif level.word is not None and level.word[-1] == "=":
            self._read_character()
            self._read_code(")", is_data=True)
        else:
            if level.word is not None and _EMPTY.match(self._source, self._at) is None:
                self._refuse("a bracket in it cannot be read")
            self._end_command()
            self._copy(1)
            self._read_code(")")
            level.begin()

    def _read_bracket(self) -> None:
        """A subscript, which takes everything up to its end where an assignment may stand."""
        level = self._level
        if (
            level.command.head is None
            and level.text.isidentifier()
            and not level.in_pattern
            and not level.is_data
        ):
            self._read_arithmetic("[", "]")
            level.is_exact = True
        else:
            self._read_character()

    def _read_close(self) -> None:
        """The end of a pattern of a `case`, a part of a test, or a bracket that closes nothing."""
        if self._level.command.is_open_test:
            self._read_blank()
            return
        if not self._level.in_pattern:
            self._refuse("a bracket in it cannot be read")
        self._end_command()
        self._copy(1)
        self._level.in_pattern = False

    def _read_redirect(self) -> None:
        level = self._level
        redirect = _REDIRECT.match(self._source, self._at)
        if level.command.is_open_test and redirect is not None and redirect[0] in ("<", ">"):
            self._read_blank()
            return
        if self._source.startswith(("<(", ">("), self._at):
            self._read_output(2)
            return
        if level.is_data or level.in_pattern:
            self._refuse("a redirection in it cannot be read")
        if (
            level.word is None
            or not level.text.isdigit()
            or level.is_tainted
            or level.plain is not None
        ):
            self._end_word()
        level.begin()
        heredoc = _HEREDOC.match(self._source, self._at)
        if heredoc is not None and not self._source.startswith("<<<", self._at):
            self._begin_heredoc(heredoc)
            return
        level.redirect = self._copy(len(redirect[0]) if redirect is not None else 1)
        if level.redirect.startswith("<<") and level.redirect != "<<<":
            self._refuse("a text block in it cannot be read")

    def _begin_heredoc(self, heredoc: re.Match[str]) -> None:
        end = heredoc["word"]
        self._copy(heredoc.start("word") - self._at)
        self._heredocs.append(Heredoc(end, dash=bool(heredoc["dash"]), place=len(self._out)))
        self._copy(len(end))
        if _PLAIN_END.fullmatch(end) is None or self._source[self._at : self._at + 1].strip(
            " \t\n;&|<>)"
        ):
            name = self._heredocs[-1].end
            self._refuse(
                f"an argument stands in a text block that ends with “{name}”, which is no plain"
                " word"
            )

    def _read_backslash(self) -> None:
        if self._at + 1 in self._references:
            # The value's own quotes come next; a backslash before them would be read as part of
            # them.
            self._at += 1
            return
        if self._source.startswith("\\\n", self._at) and self._source[
            self._at - 1 : self._at
        ].strip(" \t\n"):
            self._refuse("a word in it is broken over two lines")
        if self._source.startswith("\\\n", self._at):
            self._copy(2)
            return
        self._note_quote()
        self._grow(self._copy(2)[1:])

    def _read_single(self) -> None:
        # `$1` in a program that stands in single quotes is that program's own, as awk's fields are.
        is_program = self._level.word is None and self._level.command.has_program_next()
        self._note_quote()
        self._copy(1)
        self._grow("")
        while self._at < len(self._source) and self._source[self._at] != "'":
            is_own = is_program and _WORD_INDEX.match(self._source, self._at) is not None
            if is_own or not self._put("single"):
                self._read_character()
        self._end_quote()

    def _end_quote(self) -> None:
        if self._at >= len(self._source):
            self._refuse("a quote in it is never closed")
        self._copy(1)

    def _read_ansi(self) -> None:
        self._note_quote()
        self._level.is_exact = False
        self._copy(2)
        self._grow("")
        while self._at < len(self._source) and self._source[self._at] != "'":
            if not self._put("ansi"):
                self._grow(self._copy(2 if self._source[self._at] == "\\" else 1))
        self._end_quote()

    def _read_double(self) -> None:
        self._note_quote()
        self._copy(1)
        self._grow("")
        self._in_quotes += 1
        while self._at < len(self._source) and self._source[self._at] != '"':
            if not self._put("double"):
                self._read_quoted()
        self._in_quotes -= 1
        self._end_quote()

    def _read_quoted(self) -> None:
        """One step inside double quotes or braces."""
        character = self._source[self._at]
        if character == "\\":
            is_before_value = self._at + 1 in self._references
            copied = self._copy(1 if is_before_value else 2)
            self._grow(
                copied[1:]
                if copied[1:] in ("$", "`", '"', "\\")
                else copied
                if copied != "\\\n"
                else ""
            )
            self._out += ["\\"] if is_before_value else []
        elif character == "$":
            self._read_dollar(is_quoted=True)
        elif character == "`":
            self._read_back_quote()
        else:
            self._read_character()

    def _read_dollar(self, *, is_quoted: bool = False) -> None:
        following = self._source[self._at + 1 : self._at + 3]
        if self._at + 1 in self._references or following == "\\\n":
            self._refuse("a `$` stands right before an argument or the end of a line")
        if following == "((":
            self._read_arithmetic("$((", "))")
        elif following[:1] == "(":
            self._read_output(2)
        elif following[:1] == "[":
            self._read_arithmetic("$[", "]")
        elif following[:1] == "{":
            self._read_braces(is_quoted=is_quoted)
        elif following[:1] == "'" and not is_quoted:
            self._read_ansi()
        else:
            name = _NAME.match(self._source, self._at + 1)
            self._note_expansion(name[0] if name is not None else "")
            self._level.is_exact = self._level.is_exact and (is_quoted or following[:1] != '"')
            self._grow(self._copy(1 if name is None else 1 + len(name[0])))


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
