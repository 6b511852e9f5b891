"""A bash script with placeholders, rewritten so that bash never evaluates a value.

Every value becomes one quoted parameter, and it may be only where bash takes it as data: in an
argument of a program, of `echo` or of `printf`, or in an assignment to an ordinary variable. The
rest of a script with arguments may use only what `bash_rules` lists, because variables, functions
and files could hand a value on. Whatever is not listed is refused; nothing here guesses what might
be dangerous.

A script is a list of commands (`_read_list`), a command a list of words (`_add_word`), and it is
checked as a whole where it ends (`_end_command`). A word is read in steps, each by its first
character (`_READERS`); what the check has to know about it is in its marks. Commands inside a word,
such as `$(…)`, are lists again.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from prowess.activate.body.substitution import Reference
from prowess.model.command import FilledProgram
from prowess.shell.bash_rules import (
    BUILTINS,
    KEYWORDS,
    PLAIN_BUILTINS,
    PRINTF_FORMAT,
    RESERVED,
    SHELL_VARIABLES,
    spell_argument,
)
from prowess.shell.env_denylist import is_read_by_programs
from prowess.shell.program_words import runs_code
from prowess.shell.quotes import (
    NUMBERED,
    PARAMETERS,
    PREFIX,
    READABLE,
    Context,
    Edit,
    ValueRefused,
    check_option,
)
from prowess.shell.scanned_word import ScannedWord

_DEEPEST = 40

_BETWEEN = re.compile(r"(?:[ \t]|\\\n)+|#[^\n]*")
_OPERATOR = re.compile(r"\n|;;&|;;|;&|&&|\|\||\|&|&(?!>)|[;|]")
_REDIRECT = re.compile(r"[0-9]*(?:<<<|<<-?|<>|<&|>>|>&|>\||&>>|&>|[<>](?!\())")
_HEREDOC_END = re.compile(r"[ \t]*((?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s;&|<>()'\"\\])+)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_TEST_COMMAND = re.compile(r"\[\[?(?=[ \t\n])")
_PLAIN = re.compile(r"[^ \t\n;&|()<>'\"\\$`*?\[{]+")
_PLAIN_IN_QUOTES = re.compile(r"[^\"\\$`]+")
_QUOTES = re.compile(r"\$?'|\"")
_CONTEXTS: Mapping[str, Context] = {"'": "single", "$'": "ansi", '"': "double"}
_NAME = re.compile(r"\$(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_BRACED = re.compile(
    r"\$\{(?P<count>#)?(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])"
    r"(?P<change>(?::?[-+?]|##?|%%?)[A-Za-z0-9_./ :,@*-]*)?\}"
)
_NUMBERS = re.compile(r"\$\(\([0-9 ()+*/%-]*\)\)")


class BashScanner:
    """Reads a script from left to right. `kept` are the variables that may hold a value.

    Reading does not stop at what a script with arguments may not do: `problem` is the first such
    thing, and it counts only where an argument is used. `shell_use` is the first thing that only a
    shell can do. `commands` are the words of every command, and `last` is the last command, whose
    exit code is that of the script. `pipes` says which command another one reads its input from,
    both by their index, and `targets` are the files and processes that input and output go to.
    `assignments` are the words that set variables, alone or before a command.
    """

    def __init__(
        self, source: str, references: Sequence[Reference] = (), kept: frozenset[str] = frozenset()
    ) -> None:
        self.problem: ValueRefused | None = None
        self.shell_use: ValueRefused | None = None
        self.env: dict[str, str] = {}
        self.used: list[Reference] = []
        self.edits: list[Edit] = []
        self.path_edits: list[Edit] = []
        self.programs: list[FilledProgram] = []
        self.commands: list[tuple[str, ...]] = []
        self.last: list[ScannedWord] = []
        self.pipes: dict[int, int] = {}
        self.targets: list[str] = []
        self.assignments: list[str] = []
        self.kept = set(kept)
        self._source = source
        self._references = {reference.start: reference for reference in references}
        self._at = 0
        self._depth = 0
        self._in_backquotes = False
        self._piped_from: int | None = None
        # The line that ends a here-document, and whether its name was in quotes.
        self._heredocs: list[tuple[re.Pattern[str], bool]] = []
        self._unended: set[re.Pattern[str]] = set()
        self._expanded_to = 0

    def read(self) -> None:
        """Read the whole script. Raises `ValueRefused` where it is nested too deeply."""
        self._read_list("")

    def _refuse(self, why: str, at: int | None = None) -> None:
        self.problem = self.problem or ValueRefused(why, self._at if at is None else at)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._source, self._at)
        text = found[0] if found is not None else ""
        self._at += len(text)
        return text

    def _note_shell_use(self, at: int) -> None:
        text = self._source[at : self._at].replace("\n", "a line end")
        why = f"`{text}` only works in a shell; quote it"
        self.shell_use = self.shell_use or ValueRefused(why, at)

    def _is_open(self, closer: str) -> bool:
        return self._at < len(self._source) and self._source[self._at] != closer

    def _close(self, closer: str) -> None:
        if closer and self._at >= len(self._source):
            self._refuse(f"a `{closer}` is missing")
        self._at += len(closer)

    # Commands

    def _read_list(self, closer: str) -> bool:
        """Read commands up to what closes them; whether a value may be in any of them."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueRefused("it is nested too deeply", self._at)
        takes_value = False
        command: list[ScannedWord] = []
        while self._is_open(closer):
            start = self._at
            if self._take(_BETWEEN):
                continue
            if operator := self._take(_OPERATOR):
                takes_value |= self._end_command(command)
                self._note_pipe(operator)
                self._note_shell_use(start)
                if operator == "\n":
                    self._read_heredocs()
            elif redirect := self._take(_REDIRECT):
                self._note_shell_use(start)
                takes_value |= self._read_redirect(redirect)
            elif self._source[start] in "()":
                takes_value |= self._read_bracket(command)
                self._note_shell_use(start)
            else:
                self._add_word(command)
        takes_value |= self._end_command(command)
        self._close(closer)
        self._depth -= 1
        return takes_value

    def _note_pipe(self, operator: str) -> None:
        if operator in ("|", "|&"):
            self._piped_from = len(self.commands) - 1 if self.commands else None
        elif operator != "\n":
            # A pipe may be followed by the end of its line.
            self._piped_from = None

    def _add_word(self, command: list[ScannedWord]) -> None:
        word = self._read_word(may_assign=not command or bool(command[-1].assigns))
        if self._at == word.start:
            # Only a stray back-quote ends a word before it begins.
            self._refuse("an unmatched backquote is not allowed")
            self._at += 1
        # Bash takes a word as grammar only where a command begins, and never a quoted one.
        is_grammar = not command and word.marks.isdisjoint(("quote", "value"))
        name = word.text if is_grammar else ""
        if name in KEYWORDS:
            self._refuse_use(f"`{name}`", word.start)
        if word.assigns or name in RESERVED:
            self._note_shell_use(word.start)
        if name == "function":
            # The name of a function is no command.
            self._take(_BETWEEN)
            self._read_word()
            return
        precedes_command = name in RESERVED or name in ("coproc", "time")
        if not precedes_command:
            command.append(word)

    def _refuse_use(self, what: str, at: int | None = None) -> None:
        self._refuse(f"{what} cannot be used in a command that takes arguments", at)

    def _read_bracket(self, command: list[ScannedWord]) -> bool:
        """A subshell, or a bracket that a script with arguments may not have."""
        is_open = self._source[self._at] == "("
        is_arithmetic = self._source.startswith("((", self._at)
        is_subshell = is_open and not is_arithmetic and not command
        if not is_subshell:
            self._refuse_use("a bracket here")
        takes_value = self._end_command(command)
        self._at += 1
        if is_open:
            takes_value |= self._read_list(")")
        return takes_value

    def _read_redirect(self, redirect: str) -> bool:
        if redirect.lstrip("0123456789") in ("<<", "<<-"):
            self._begin_heredoc(strips_tabs=redirect.endswith("-"))
            return False
        self._take(_BETWEEN)
        target = self._read_word()
        self.targets.append(target.text)
        if target.takes_value:
            self._refuse(f"an argument is used in the target of `{redirect}`", target.start)
        return target.takes_value

    def _end_command(self, command: list[ScannedWord]) -> bool:
        """Check the command that ends here; whether a value may be in it."""
        assigned = list(itertools.takewhile(lambda word: word.assigns, command))
        words = command[len(assigned) :]
        takes_value = bool(_list_taking(command))
        command.clear()
        self.assignments += [word.text for word in assigned]
        filled = _list_taking(assigned)
        for word in filled:
            self._keep(word)
        if not words:
            return takes_value
        self._check_command(words)
        self._note_program(words, gets_variable=bool(filled))
        if self._piped_from is not None:
            self.pipes[len(self.commands)] = self._piped_from
            self._piped_from = None
        self.commands.append(tuple(word.text for word in words))
        if self._depth == 1:
            self.last = words
        return takes_value

    # What a script with arguments may do

    def _keep(self, word: ScannedWord) -> None:
        self.kept.add(word.assigns)
        self._check_assigned(word)

    def _check_assigned(self, word: ScannedWord) -> None:
        """A word such as `PATH=VALUE` may set a variable behind a program, too: `env`, `make`."""
        # A value of this form is only text to most programs, so what the script says counts.
        assigned = _ASSIGNMENT.match(word.before_value)
        name = assigned[1] if assigned is not None else ""
        if name and (is_read_by_programs(name) or SHELL_VARIABLES.fullmatch(name)):
            why = f"an argument would be assigned to `{name}`, which is a special variable"
            self._refuse(why, word.start)

    def _check_command(self, words: list[ScannedWord]) -> None:
        head, *arguments = words
        is_builtin = head.text in BUILTINS and head.is_literal
        if head.takes_value:
            self._refuse("an argument would decide which program runs", head.start)
        elif head.text == "for" and "quote" not in head.marks:
            self._check_no_value("for", arguments)
        elif is_builtin:
            self._check_builtin(head.text, arguments)
        else:
            self._check_program(head)
        for word in _list_taking(arguments):
            self._check_assigned(word)
            if "split" in word.marks:
                why = f"bash would split `{word.text}` into words; put it in double quotes"
                self._refuse(why, word.start)
            if "brace" in word.marks:
                self._refuse("bash would expand `{…}` into several words; quote it", word.start)
        # A builtin starts no program, so that `command -v bash` is only a name.
        if not is_builtin:
            self._check_shells(words)

    def _check_program(self, head: ScannedWord) -> None:
        """The name of a program must be known, or be a path, because a path is never a builtin."""
        if head.is_literal and head.text:
            return
        is_path = "slash" in head.marks
        # What bash makes of these is known only when it runs, and may be several words.
        is_open_ended = not head.marks.isdisjoint(("brace", "command", "glob"))
        if not is_path or is_open_ended:
            self._refuse("the name of the program is not literal text", head.start)
            return
        for start, end in head.bare:
            # In quotes the path stays one word, whatever the variable holds.
            self.path_edits += (Edit(start, start, '"', '"'), Edit(end, end, '"', '"'))

    def _check_builtin(self, name: str, arguments: list[ScannedWord]) -> None:
        if name == "echo":
            return
        if name == "printf":
            template = arguments[0] if arguments else ScannedWord(self._at)
            if not template.is_literal or not PRINTF_FORMAT.fullmatch(template.text):
                self._refuse("the format of `printf` is not literal text", template.start)
            return
        self._check_no_value(name, arguments)
        allowed = PLAIN_BUILTINS.get(name)
        if allowed is None:
            self._refuse_use(f"`{name}`")
        elif not allowed.fullmatch(" ".join(map(spell_argument, arguments))):
            self._refuse_use(f"`{name}` with these arguments")

    def _check_no_value(self, name: str, arguments: list[ScannedWord]) -> None:
        for word in _list_taking(arguments):
            self._refuse(f"`{name}` is part of the shell and could evaluate it", word.start)

    def _check_shells(self, words: list[ScannedWord]) -> None:
        known = [_get_known_text(word) for word in words]
        if runs_code(known):
            self._refuse("a second shell would run an argument or its input", words[0].start)

    def _note_program(self, words: list[ScannedWord], *, gets_variable: bool) -> None:
        fixed = list(itertools.takewhile(lambda word: not word.takes_value, words))
        gets_argument = len(fixed) < len(words)
        if gets_argument or gets_variable:
            texts = [shlex.quote(word.text) for word in words]
            # A rule that allows it covers whatever the first value and the words after it are.
            rule = " ".join((*texts[: len(fixed)], "*"))
            self.programs.append(FilledProgram(" ".join(texts), rule))

    # Words

    def _read_word(self, *, may_assign: bool = False) -> ScannedWord:
        word = ScannedWord(self._at)
        assignment = _ASSIGNMENT.match(self._source, self._at) if may_assign else None
        if assignment is not None:
            word.assigns = assignment[1]
            word.text = self._take(_ASSIGNMENT)
        while self._at < len(self._source) and not self._ends_word():
            if not self._place(word, "bare"):
                _READERS.get(self._source[self._at], BashScanner._read_plain)(self, word)
        return word

    def _ends_word(self) -> bool:
        character = self._source[self._at]
        if character == "`":
            return self._in_backquotes
        is_process = self._source.startswith(("<(", ">("), self._at)
        return character in " \t\n;&|()<>" and not is_process

    def _read_plain(self, word: ScannedWord) -> None:
        text = self._take(_PLAIN)
        if not text and not word.text:
            # At the start of a word, `[` before a blank is the command, not a pattern.
            text = self._take(_TEST_COMMAND)
        if text:
            word.add(text)
            return
        character = self._source[self._at]
        self._at += 1
        word.marks.add("brace" if character == "{" else "glob")
        word.text += character
        if character != "*":
            # `*` may match nothing, and then the word begins with what comes after it.
            word.marks.add("begun")

    def _place(self, word: ScannedWord, context: Context) -> bool:
        """Put a parameter in place of the placeholder that is here, if one is."""
        reference = self._references.get(self._at)
        if reference is None:
            return False
        text = self._source[reference.start : reference.end]
        if context in ("single", "ansi") and NUMBERED.fullmatch(text):
            return False
        self._at = reference.end
        if reference.kind == "literal":
            self._place_literal(word, reference, context)
            return True
        name = f"{PREFIX}{reference.label}"
        self.env[name] = reference.value
        self.used.append(reference)
        parameter, readable = PARAMETERS[context] % name, READABLE[context](reference.value)
        self.edits.append(Edit(reference.start, reference.end, parameter, readable))
        if reference.kind == "argument":
            word.take_value()
            # Only what begins a word can be taken for an option.
            if "begun" not in word.marks:
                check_option(reference, text)
        word.add(reference.value)
        word.marks.add("quote")
        return True

    def _place_literal(self, word: ScannedWord, reference: Reference, context: Context) -> None:
        """The author asks for `$1` as bash means it."""
        value = reference.value
        self.edits.append(Edit(reference.start, reference.end, value, value))
        word.add(value)
        if context in ("bare", "double"):
            self._expand(word, value[1:], is_quoted=context == "double")
            # It must not be part of a program's name.
            word.marks.add("command")

    def _read_backslash(self, word: ScannedWord) -> None:
        word.marks.add("quote")
        escaped = self._source[self._at + 1 : self._at + 2]
        if escaped == "\n":
            self._refuse("a word is split across two lines")
        else:
            word.add(escaped)
        self._at += 2

    def _read_quotes(self, word: ScannedWord) -> None:
        opening = self._take(_QUOTES)
        context = _CONTEXTS[opening]
        word.marks |= {"quote", "expansion"} if context == "ansi" else {"quote"}
        while self._is_open(opening[-1]):
            if self._place(word, context):
                continue
            if context == "double":
                self._read_quoted(word)
            else:
                # In `$'…'` a backslash protects what follows it, even the closing quote.
                is_pair = context == "ansi" and self._source[self._at] == "\\"
                word.add(self._source[self._at : self._at + 1 + is_pair])
                self._at += 1 + is_pair
        self._close(opening[-1])

    def _read_quoted(self, word: ScannedWord) -> None:
        """One step inside double quotes."""
        character = self._source[self._at]
        if character == "$":
            self._read_dollar(word, is_quoted=True)
        elif character == "`":
            self._read_commands(word, "`", is_quoted=True)
        elif character == "\\":
            pair = self._source[self._at : self._at + 2]
            if pair == "\\\n":
                self._refuse("a word is split across two lines")
            # Before any other character the backslash stays.
            is_escape = pair[1:] in ("$", "`", '"', "\\")
            word.add(pair[1:] if is_escape else pair)
            self._at += 2
        else:
            word.add(self._take(_PLAIN_IN_QUOTES))

    # Expansions

    def _read_dollar(self, word: ScannedWord, *, is_quoted: bool = False) -> None:
        following = self._source[self._at + 1 : self._at + 2]
        name = _NAME.match(self._source, self._at) or _BRACED.match(self._source, self._at)
        if numbers := self._take(_NUMBERS):
            word.marks.add("expansion")
            word.text += numbers
        elif following == "(":
            self._read_commands(word, "$(", is_quoted=is_quoted)
        elif following == "'" and not is_quoted:
            self._read_quotes(word)
        elif name is not None:
            self._read_variable(word, name, is_quoted=is_quoted)
        else:
            # `$"…"` is a text that bash translates; a lone `$` is a character.
            is_translated = following == '"' and not is_quoted
            if is_translated or following in ("{", "[", "\\"):
                self._refuse(f"this kind of `${following}` is not supported")
                word.marks.add("command")
            word.add("$")
            self._at += 1

    def _read_variable(self, word: ScannedWord, found: re.Match[str], *, is_quoted: bool) -> None:
        parts = found.groupdict()
        # How long a value is tells nothing of what it says.
        name = "#" if parts.get("count") else parts["name"]
        if parts.get("change") and name in self.kept:
            self._refuse(f"`{found[0]}` changes a value")
        self._at = found.end()
        self._expand(word, name, is_quoted=is_quoted, span=found.span())
        word.text += found[0]

    def _expand(
        self, word: ScannedWord, name: str, *, is_quoted: bool, span: tuple[int, int] = (0, 0)
    ) -> None:
        """Bash fills in a variable here, which may hold a value."""
        word.marks.add("expansion")
        # `$_` is the last word of the command before.
        if name == "_" or name.startswith(f"{PREFIX}ARGUMENT"):
            self._refuse(f"`${name}` may contain an argument")
        if name in self.kept:
            word.take_value()
            # Bash splits neither what is in quotes nor what is assigned.
            if not is_quoted and not word.assigns:
                word.marks.add("split")
        if not is_quoted:
            # Bash splits what the variable holds, so what comes next may begin a word.
            word.marks.discard("begun")
            word.bare.append(span)

    def _read_commands(self, word: ScannedWord, opening: str, *, is_quoted: bool = False) -> None:
        """Commands whose output becomes part of a word, or `<(…)`, the name of a file with it."""
        start = self._at
        if opening == "`":
            self._refuse("a command in backquotes is not supported; use `$(…)`")
        elif self._source.startswith("$((", start):
            self._refuse("arithmetic evaluates its contents")
        self._at += len(opening)
        outer = self._in_backquotes, self._piped_from
        self._in_backquotes, self._piped_from = opening == "`", None
        takes_value = self._read_list("`" if opening == "`" else ")")
        self._in_backquotes, self._piped_from = outer
        word.marks.add("command")
        # What a command prints may be the argument that it was given.
        if takes_value:
            word.take_value()
        if not is_quoted:
            word.marks.discard("begun")
            word.bare.append((start, self._at))
            if takes_value and not word.assigns:
                word.marks.add("split")
        word.text += self._source[start : self._at]

    # Here-documents, which only a script without arguments may have

    def _begin_heredoc(self, *, strips_tabs: bool) -> None:
        self._refuse_use("a here-document")
        word = self._take(_HEREDOC_END).strip(" \t")
        end = re.sub(r"\\(.)|['\"]", r"\1", word)
        tabs = "\t*" if strips_tabs else ""
        line = re.compile(rf"^{tabs}{re.escape(end)}$", re.MULTILINE)
        self._heredocs.append((line, end != word))

    def _read_heredocs(self) -> None:
        heredocs, self._heredocs = self._heredocs, []
        for end_line, is_quoted in heredocs:
            end = self._find_heredoc_end(end_line)
            if not is_quoted:
                self._list_expanded(len(self._source) if end is None else end.start())
            if end is not None:
                self._fill_heredoc(end.start(), is_quoted=is_quoted)
                self._at = end.end()

    def _fill_heredoc(self, end: int, *, is_quoted: bool) -> None:
        used = len(self.used)
        quotes: Context = "single" if is_quoted else "double"
        while self._at < end:
            if not self._place(ScannedWord(self._at), quotes):
                self._at += 1
        if is_quoted and len(self.used) > used:
            # Not even the folder of the skill, which is no argument, could be put there.
            why = "bash expands nothing in a here-document with a quoted delimiter"
            raise ValueRefused(why, self.used[-1].start)

    def _find_heredoc_end(self, end_line: re.Pattern[str]) -> re.Match[str] | None:
        # One that nothing ends is not searched for again: each search reads the rest of the script.
        if end_line in self._unended:
            return None
        end = end_line.search(self._source, self._at)
        if end is None:
            self._unended.add(end_line)
        return end

    def _list_expanded(self, end: int) -> None:
        """Note the commands that bash runs while it expands the text of a here-document.

        Quotes mean nothing there. If nothing ends the document, it goes to the end of the script.
        """
        if self._expanded_to >= end:
            return
        self._expanded_to = end
        inner = BashScanner(self._source[self._at : end])
        inner._depth = self._depth
        while inner._at < len(inner._source):
            if inner._source[inner._at] == '"':
                inner._at += 1
            else:
                inner._read_quoted(ScannedWord(inner._at))
        self.commands += inner.commands
        self.assignments += inner.assignments


_READERS: Mapping[str, Callable[[BashScanner, ScannedWord], None]] = {
    "\\": BashScanner._read_backslash,
    "'": BashScanner._read_quotes,
    '"': BashScanner._read_quotes,
    "$": BashScanner._read_dollar,
    "`": lambda scanner, word: scanner._read_commands(word, "`"),
    # The name of a file is never split.
    **dict.fromkeys("<>", lambda scanner, word: scanner._read_commands(word, "<(", is_quoted=True)),
}


def _get_known_text(word: ScannedWord) -> str | None:
    """The text of a word; "" if only bash knows it, None if a value may be in it."""
    if word.takes_value:
        return None
    return word.text if word.is_literal else ""


def _list_taking(words: Sequence[ScannedWord]) -> list[ScannedWord]:
    return [word for word in words if word.takes_value]
