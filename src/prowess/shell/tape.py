"""What a reader of bash stands on: the script it reads, the one it writes, and where an argument
may have got to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prowess.activate.body.substitution import Reference
from prowess.shell.evaluating import check_command
from prowess.shell.simple_command import Reach, SimpleCommand, Unsafe, Word

_QUOTED: Mapping[str, str] = {
    "bare": '"${%s}"',
    "double": "${%s}",
    "single": "'\"${%s}\"'",
    "ansi": "'\"${%s}\"$'",
}
_NUMBERED = re.compile(r"\[[0-9]+\]\+?=")
# Variables that the shell itself fills, also with what it was given.
_FILLED = re.compile(
    r"_|REPLY|MAPFILE|OPTARG|OPTIND|(?:OLD)?PWD|DIRSTACK|COPROC.*|BASH.*|PROWESS_.*|FUNCNAME|PIPESTATUS"
)


class Heredoc:
    """A text block that begins on the next line. `place` is where its end word stands in what was
    written so far.
    """

    def __init__(self, word: str, *, dash: bool, place: int) -> None:
        self.end = re.sub(r"\\(.)|['\"]", r"\1", word)
        self.is_quoted = self.end != word
        self.dash = dash
        self.place = place


class Level:
    """What belongs to one level of nesting: the word and the command that are being read.

    `is_tainted` says that an argument may be in the word, `leads` what it begins with then,
    `splits` that it may become several words, and `ever_tainted` that an argument may be in
    anything at this level. `is_exact` says that the word holds nothing but its text, and `plain` is
    how much of it stands before its first quote, None where it has none. `cases` counts the open
    `case`s, and `in_pattern` says that a pattern of one is being read.
    """

    __slots__ = (
        "cases", "command", "ever_tainted", "in_pattern", "is_data", "is_exact", "is_tainted", "leads", "plain",
        "redirect", "splits", "word",
    )  # fmt: skip

    def __init__(self, command: SimpleCommand, *, is_data: bool = False) -> None:
        self.command = command
        self.is_data = is_data
        self.ever_tainted = False
        self.cases = 0
        self.in_pattern = False
        self.redirect = ""
        self.begin()

    def begin(self) -> None:
        """Forget the word."""
        self.word: list[str] | None = None
        self.plain: int | None = None
        self.is_tainted = False
        self.is_exact = True
        self.leads = ""
        self.splits = False

    @property
    def text(self) -> str:
        """The word so far."""
        return "".join(self.word or ())


class Tape:
    """A script on its way from one text to another.

    `script` is the result, `env` the variables it needs, `used` the placeholders that were filled,
    `commands` the words of every command in it, and `last` those of the last, whose exit code is
    that of the script. `is_inner` marks a script that stands in another one which gets arguments,
    so that they may be in its variables.
    """

    def __init__(
        self,
        source: str,
        references: Sequence[Reference],
        *,
        prefix: str,
        is_inner: bool = False,
        depth: int = 0,
    ) -> None:
        self.script = ""
        self.env: dict[str, str] = {}
        self.used: list[Reference] = []
        self.commands: list[tuple[str, ...]] = []
        self.last: tuple[str, ...] = ()
        self._source = source
        self._references = {reference.start: reference for reference in references}
        self._prefix = prefix
        self._at = 0
        self._out: list[str] = []
        self._depth = depth
        self._outermost = depth + 1
        self._is_inner = is_inner
        self._in_quotes = 0
        self._from_outside: dict[str, bool] = {}
        values = [reference.value for reference in references if reference.kind == "argument"]
        self._reach = (
            Reach(source, values=values, read_code=self._read_inner) if values or is_inner else None
        )
        self._level = Level(SimpleCommand(self._reach))

    def _read_inner(self, text: str) -> None:
        """Read a text that a command of this script runs."""
        type(self)(text, (), prefix=self._prefix, is_inner=True, depth=self._depth)

    def _refuse(self, why: str) -> None:
        """Raise `Unsafe` if this script gets arguments; one that gets none may do as it likes."""
        if self._reach is not None:
            raise Unsafe(why)

    def _taint(self, by: str = "variable") -> None:
        """An argument may be part of the word here."""
        level = self._level
        level.leads = level.leads or ("" if level.text else by)
        level.splits = level.splits or (by == "variable" and not self._in_quotes)
        level.is_tainted = level.ever_tainted = True
        level.is_exact = False

    def _put(self, quoting: str, *, refuse: str = "") -> bool:
        """Write the placeholder that stands here, if one does."""
        reference = self._references.get(self._at)
        if reference is None:
            return False
        if reference.kind != "variable" and refuse:
            self._refuse(refuse)
        self._at = reference.end
        if reference.kind == "literal":
            if quoting in ("bare", "double") and self._reach is not None:
                self._taint()
            self._out.append(reference.value)
            self._grow(reference.value)
            return True
        if reference.kind == "argument":
            self._taint("argument")
        self._level.is_exact = False
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
            self._level.plain = len(self._level.text)

    def _note_expansion(self, name: str) -> None:
        """The shell fills a variable or a parameter; only one that nothing in the script fills
        holds no argument.
        """
        if self._reach is None or not name:
            return
        self._level.is_exact = False
        if name not in "#?$!-" and not self._is_from_outside(name):
            self._taint()

    def _is_from_outside(self, name: str) -> bool:
        """Whether a variable is only ever read, and not filled by the shell itself."""
        if self._is_inner or not name.isidentifier() or _FILLED.fullmatch(name):
            return False
        if name in self._from_outside:
            return self._from_outside[name]
        named = len(re.findall(rf"(?<!\w){name}(?!\w)", self._source))
        read = len(re.findall(rf"\$(?:{name}(?!\w)|\{{{name}\}})", self._source))
        self._from_outside[name] = named == read
        return named == read

    def _end_word(self) -> None:
        level = self._level
        if level.word is None:
            return
        word = Word(
            level.text, level.is_tainted, level.is_exact, level.plain, level.leads, level.splits
        )
        redirect, level.redirect = level.redirect, ""
        level.begin()
        if level.in_pattern or (level.cases and level.command.head is None and not redirect):
            if word.text == "esac" and word.plain is None:
                level.in_pattern = False
                level.cases -= 1
                return
            if level.in_pattern:
                return
        if redirect:
            self._end_redirect(redirect, word)
        elif level.is_data:
            if word.text.startswith("[") and not _NUMBERED.match(word.text):
                self._refuse("an argument would be evaluated as arithmetic")
        else:
            level.command.take(word)
            self._begin_case(level)

    def _end_redirect(self, redirect: str, word: Word) -> None:
        if word.is_tainted and redirect.endswith("&"):
            # Bash expands the word after `>&` a second time, and with it what a variable held.
            self._refuse("an argument would be evaluated after `>&`")
        if self._reach is not None and ">" in redirect:
            self._reach.written.add(word.text.rpartition("/")[2])

    def _begin_case(self, level: Level) -> None:
        if not level.command.is_case or len(level.command.words) < 2:
            return
        if level.command.words[1].text != "in":
            self._refuse("the `case` in it cannot be read")
        level.cases += 1
        level.in_pattern = True
        level.command = SimpleCommand(self._reach)

    def _end_command(self) -> None:
        self._end_word()
        ended = self._level.command
        if ended.is_case:
            self._refuse("the `case` in it cannot be read")
        check_command(ended)
        if ended.head is not None:
            self.commands.append((ended.head, *ended.texts))
            if self._depth == self._outermost:
                self.last = self.commands[-1]
        self._level.command = SimpleCommand(self._reach)
