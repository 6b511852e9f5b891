"""Shell commands as rules see them: words, pipes and addresses, read by the shell scanner.

A variable that a line sets is read as its value in the words after it, so that a name in between
hides nothing. Scripts in quotes, as in `sh -c "…"`, are lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, pairwise

from prowess.shell.command_list import list_pipelines
from prowess.shell.program_words import unwrap

# The scanner is exact and not fast, so a line is parsed only if it has a word that a rule is about.
_PROGRAMS = re.compile(
    r"(?<![\w.-])(?:curl|wget|aria2c|fetch|https?|iwr|irm|iex|invoke-\w+|eval|source|ba|sh"
    r"|bash|zsh|dash|ksh|fish|python[0-9.]*|perl|ruby|node|deno|php|pwsh|powershell|base64|base32"
    r"|xxd|openssl|nc|ncat|netcat|socat|telnet|dig|nslookup|host|scp|sftp|rsync|ftp|cat|less|more"
    r"|head|tail|cp|mv|tar|zip|7z|gpg|strings|grep|awk|sed|find|security|printenv|env|history"
    r"|pip[0-9.]*|pipx|uv|uvx|npm|npx|pnpm|yarn|bun|bunx|go|cargo|gem|docker|podman|git|gh|chmod"
    r"|mkfifo|exec|sqlite3|rg|busybox|toybox|certutil|bitsadmin|mshta|osascript|get-content|gc"
    r"|type|dd|od)(?![\w/])|/dev/tcp/"
    r"|^[ \t]*(?:sudo[ \t]+)?[.~]{0,2}/\w"
    # Variables are read as their values later, and some say where packages come from.
    r"|^[ \t]*(?:export[ \t]+)?[A-Z_]\w{0,80}=[^\s=]|\b(?:PIP|UV|NPM|PNPM|BUN|YARN)_\w{1,80}=",
    re.IGNORECASE | re.MULTILINE,
)
# Examples show a prompt, which is no part of the command: `$ npm install`.
_PROMPT = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[$%❯][ \t]+|PS [^>\n]{0,80}>[ \t]*)?")
_CONTINUED = re.compile(r"(?:\\|\||&&)[ \t]*$")
_JOINED = re.compile(r"[ \t]*(?:\||&&)")
_URL = re.compile(r"(?:https?|ftp|wss?)://[^\s'\"`<>|)\]}]{1,2000}", re.IGNORECASE)
_INTERPRETER = re.compile(r"python[0-9.]*|perl|ruby|node|deno|php|pwsh|powershell")
SHELLS = frozenset("ash bash dash fish ksh sh zsh".split())

# One program under many names, the first argument being the one that is meant.
_BOXES = frozenset(("busybox", "toybox"))
# Longer commands are read in parts: what the scanner does with one word grows with its length.
_LONGEST = 4_000
# Parsing takes longer the longer a command is, so a file of continued lines is cut.
_MOST_JOINED = 40
# `sh -c "sh -c '…'"`: each level is parsed again.
_DEEPEST = 3
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_SETTERS = frozenset("declare export local readonly typeset".split())
# Bounds for texts that are nothing but variables.
_MOST_VARIABLES = 500
_LONGEST_VALUE = 1_000
_MOST_EXPANDED = 10
_SHORT_OPTIONS = re.compile(r"-(?!-)")
# Of a long word only the beginning is read as joined options: nobody joins more of them.
_MOST_JOINED_OPTIONS = 8
# Options with which a shell reads its program from its input, whatever else is there.
_READ_INPUT = frozenset(("-s", "-is"))
# Arguments that leave the input as the program.
_LEAVE_INPUT = frozenset(("-", "/dev/stdin", "-x", "-e", "-i", "-u"))


class CommandLine:
    """One line of a script, or several that are one command.

    `variables` are those that earlier lines set; the line adds its own. `assignments` are its words
    that set one, and `targets` say where input and output are redirected to.
    """

    def __init__(self, text: str, variables: dict[str, str] | None = None, depth: int = 0) -> None:
        self.text = text
        self._depth = depth
        self._variables = {} if variables is None else variables
        parsed = list_pipelines(text)
        self._pipes = parsed.pipes
        exported = (words[1:] for words in parsed.commands if words[0] in _SETTERS)
        self.assignments = (*parsed.assignments, *chain.from_iterable(exported))
        self._set_variables()
        self._commands = [tuple(map(self._expand, words)) for words in parsed.commands]
        self.targets = tuple(map(self._expand, parsed.targets))

    def _set_variables(self) -> None:
        for word in self.assignments:
            name, _, value = word.partition("=")
            is_kept = value and len(self._variables) < _MOST_VARIABLES
            if is_kept:
                self._variables[name] = self._expand(value)[:_LONGEST_VALUE]

    def _expand(self, word: str) -> str:
        """A word with the variables in it that are known."""
        # In an address a variable is mostly a token that logs in.
        if "$" not in word or "://" in word:
            return word
        return _VARIABLE.sub(self._find_value, word, count=_MOST_EXPANDED)

    def _find_value(self, variable: re.Match[str]) -> str:
        name = variable[1] or variable[2]
        return self._variables.get(name, variable[0])

    @cached_property
    def calls(self) -> tuple[ProgramCall, ...]:
        """Every program that the line starts."""
        calls: list[ProgramCall] = []
        for index, command in enumerate(self._commands):
            meant = command[1:] if command[0] in _BOXES else command
            # `sudo env A=1 curl …` is three programs, each of which a rule may be about.
            calls += [ProgramCall(self, index, words) for words in unwrap(meant)]
        return tuple(calls)

    @cached_property
    def expanded(self) -> str:
        """The text, and after it the words of its commands with the values of variables."""
        words = chain.from_iterable(self._commands)
        return " ".join((self.text, *words)) if "$" in self.text else self.text

    @cached_property
    def _calls_by_index(self) -> dict[int, list[ProgramCall]]:
        grouped: dict[int, list[ProgramCall]] = {}
        for call in self.calls:
            grouped.setdefault(call.index, []).append(call)
        return grouped

    @cached_property
    def urls(self) -> tuple[str, ...]:
        """Every address in the line."""
        return tuple(_URL.findall(self.expanded))

    def list_input(self, index: int) -> Iterator[ProgramCall]:
        """The calls whose output reaches a command through pipes, the nearest first."""
        seen: set[int] = set()
        while (before := self._pipes.get(index)) is not None and before not in seen:
            seen.add(before)
            yield from self._calls_by_index[before]
            index = before

    def list_nested(self) -> Iterator[CommandLine]:
        """The line itself, and the scripts that it hands to another shell in quotes."""
        yield self
        if self._depth >= _DEEPEST:
            return
        for call in self.calls:
            script = call.script
            # A script is a part of the line; one that is not shorter would never end.
            if script is not None and len(script) < len(self.text):
                nested = CommandLine(script, self._variables, self._depth + 1)
                yield from nested.list_nested()


class ProgramCall:
    """A program that is started, with its arguments."""

    def __init__(self, line: CommandLine, index: int, words: tuple[str, ...]) -> None:
        self.line = line
        self.index = index
        self.name = words[0].lower().removesuffix(".exe")
        self.arguments = words[1:]

    @property
    def text(self) -> str:
        """The program and its arguments, with blanks between them."""
        return " ".join((self.name, *self.arguments))

    @property
    def operand(self) -> str:
        """The first argument that is not an option; empty if there is none."""
        return next((word for word in self.arguments if not word.startswith("-")), "")

    def list_options(self) -> Iterator[tuple[str, str]]:
        """Every option with the value that it has if it takes one; "" if there is no word for it.

        Which short options take a value only the program knows, so each reading is listed: in
        `-sT FILE` both letters may be options, and `-TFILE` may have a value without a blank.
        """
        for word, following in pairwise((*self.arguments, "")):
            if not word.startswith("-"):
                continue
            name, _, inline = word.partition("=")
            yield name, inline or following
            letters = word[1 : 1 + _MOST_JOINED_OPTIONS]
            is_joined = len(letters) > 1 and _SHORT_OPTIONS.match(word)
            if not is_joined:
                continue
            for after, letter in enumerate(letters, 2):
                yield f"-{letter}", word[after:] or following

    def has_option(self, option: re.Pattern[str], value: re.Pattern[str]) -> bool:
        """Whether an option of this shape is followed by a value of this shape."""
        for word, following in pairwise(self.arguments):
            if option.fullmatch(word) and value.fullmatch(following):
                return True
        return False

    @property
    def input(self) -> Iterator[ProgramCall]:
        """The calls whose output it reads."""
        return self.line.list_input(self.index)

    @property
    def is_shell(self) -> bool:
        """Whether it is a shell."""
        return self.name in SHELLS

    @property
    def takes_program(self) -> bool:
        """Whether its first operand, or its input, is a program that it runs."""
        return self.is_shell or self.is_interpreter

    @property
    def is_interpreter(self) -> bool:
        """Whether it runs programs in another language than that of a shell."""
        return _INTERPRETER.fullmatch(self.name) is not None

    @property
    def script(self) -> str | None:
        """The script that a shell gets as an argument."""
        if self.name == "eval":
            return " ".join(self.arguments)
        if not self.is_shell:
            return None
        # Short options may be joined: `bash -lc SCRIPT`.
        short_options = (word for word in self.arguments if _SHORT_OPTIONS.match(word))
        if not any("c" in option for option in short_options):
            return None
        return next((word for word in self.arguments if not word.startswith("-")), None)

    @property
    def runs_input(self) -> bool:
        """Whether it takes what it reads as its program."""
        if self.name in ("iex", "invoke-expression"):
            return True
        if self.name in ("source", "."):
            return self.arguments[:1] in (("/dev/stdin",), ("-",))
        if self.is_shell and not _READ_INPUT.isdisjoint(self.arguments):
            return True
        # With `-c` or a file the program is an argument, and what is read is its data.
        return self.takes_program and _LEAVE_INPUT.issuperset(self.arguments)


def parse_command_lines(script: str) -> Iterator[tuple[int, CommandLine]]:
    """The commands of a script and of those in its quotes, each with the number of lines before it.

    Every line is read on its own, so that an open quote in one does not hide the next.
    """
    lines = script.split("\n")
    variables: dict[str, str] = {}
    first = 0
    while first < len(lines):
        end = _find_end(lines, first)
        text = _PROMPT.sub("", "\n".join(lines[first:end]), count=1)
        for part in _cut(text):
            for line in CommandLine(part, variables).list_nested():
                yield first, line
        first = end


def _find_end(lines: list[str], first: int) -> int:
    """Where the next command begins, after one that may go over several lines."""
    limit = min(len(lines), first + _MOST_JOINED)
    for at in range(first + 1, limit):
        # The end of a line is enough, and a search from the start of a long one is slow.
        is_continued = _CONTINUED.search(lines[at - 1][-80:]) or _JOINED.match(lines[at])
        if not is_continued:
            return at
    return limit


def _cut(text: str) -> Iterator[str]:
    """The parts of a command to parse: all of it, or from each program on if it is long."""
    if _PROGRAMS.search(text) is None:
        return
    # The line ends of one command mean nothing to the rules.
    text = text.replace("\\\n", " ")
    if len(text) <= _LONGEST:
        yield text
        return
    end = 0
    for program in _PROGRAMS.finditer(text):
        start = program.start()
        if start >= end:
            end = start + _LONGEST
            yield text[start:end]
