"""A file of a skill as the passages that rules read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from prowess.supply.scan.rule import Kind, Passage

_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|[0-9]{1,9}[.)][ \t]+)?(`{3,}|~{3,})[ \t]*([^`\n]*)")
# Patterns have bounds on every gap, so that no text makes a search slow.
_SPAN = re.compile(r"`([^`\n]{4,400})`")
# In running text a command without quotes is read from the name of its program on.
_BARE_COMMAND = re.compile(r"\b(?:curl|wget|iwr|npx|pip install|uvx|irm) [^\n]{0,400}")
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)|^\[//\]: # \((.*)\)$", re.DOTALL)
_LINE_COMMENT = re.compile(
    r"^\[(?://|comment)\]: *(?:#|<>) *[(\"'](.{0,2000})[)\"']$", re.MULTILINE
)
_HIDDEN_TAG = re.compile(
    r"<(\w{1,10})[^>\n]{0,200}(?:display:\s*none|visibility:\s*hidden|font-size:\s*0|opacity:\s*0"
    r"|color:\s*(?:white|#fff\w*|transparent)|\bhidden\b)[^>\n]{0,200}>([^<]{1,4000})</",
    re.IGNORECASE,
)
_HEADER = re.compile(r"\s*---[ \t]*\n(.{0,20000}?)\n---", re.DOTALL)
_NAME = re.compile(r"^name:[ \t]*[\"']?([^\n\"']{1,200}?)[\"']?[ \t]*$", re.MULTILINE)
_STRING = re.compile(
    r"\"((?:[^\"\\\n]|\\.){4,2000})\"|'((?:[^'\\\n]|\\.){4,2000})'|`([^`]{4,2000})`"
)
_SHEBANG = re.compile(r"#![ \t]*(?:\S*/env[ \t]+(?:-\S+[ \t]+)?)?(\S+)")

_SHELL_WORDS = frozenset(
    "bash sh shell zsh console shell-session terminal fish ksh dash powershell ps1 pwsh cmd bat"
    " dockerfile makefile just".split()
)
_PLAIN_WORDS = frozenset("text txt markdown md plaintext prompt".split())
_SHELL_ENDS = frozenset(".sh .bash .zsh .fish .ksh .ps1 .psm1 .bat .cmd .command".split())
_PROSE_ENDS = frozenset(".md .mdx .markdown .txt .rst .adoc .html .htm .xml .svg".split())
_SHELL_NAMES = frozenset("dockerfile makefile justfile .bashrc .zshrc .profile .envrc".split())
# Data has neither instructions nor commands, but it may hide text.
_DATA_ENDS = frozenset(".json .jsonl .csv .tsv .lock .po .pot .ipynb .map".split())


def list_passages(path: str, text: str) -> Iterator[Passage]:
    """The passages of a file; `path` says what kind of file it is."""
    # Hidden characters, blobs and addresses are looked for in all of a file, whatever it is.
    yield Passage(Kind.FILE, text)
    yield Passage(Kind.NAME, posixpath.basename(path))
    kind = _find_kind(path, text)
    if kind is Kind.PROSE:
        yield from _list_prose(text)
    elif kind is Kind.COMMANDS:
        yield Passage(Kind.COMMANDS, text)
    elif kind is Kind.CODE:
        yield from _list_code(text, 1)


def _find_kind(path: str, text: str) -> Kind | None:
    name = posixpath.basename(path).lower()
    end = posixpath.splitext(name)[1]
    shebang = _SHEBANG.match(text)
    if shebang is not None:
        # It decides before the name does: that is how the kernel runs the file.
        is_shell = posixpath.basename(shebang[1]) in _SHELL_WORDS
        return Kind.COMMANDS if is_shell else Kind.CODE
    if end in _SHELL_ENDS or name in _SHELL_NAMES:
        return Kind.COMMANDS
    if end in _PROSE_ENDS or not end:
        return Kind.PROSE
    if end in _DATA_ENDS:
        return None
    return Kind.CODE


def _list_code(text: str, line: int) -> Iterator[Passage]:
    """Code, and the commands in its strings."""
    yield Passage(Kind.CODE, text, line)
    for number, literal in _number_matches(_STRING, text, line):
        command = next(filter(None, literal.groups()), "")
        # A word alone is a key or a name; a command that does harm has arguments.
        if " " in command:
            unescaped = command.replace('\\"', '"').replace("\\'", "'")
            yield Passage(Kind.COMMANDS, unescaped, number)


def _number_matches(
    pattern: re.Pattern[str], text: str, line: int = 1
) -> Iterator[tuple[int, re.Match[str]]]:
    """Every match with its line; lines are counted on, because texts may have many matches."""
    at = 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield line, match


def _list_prose(text: str) -> Iterator[Passage]:
    """A page: its name, its comments, paragraphs, code blocks and the commands in its lines."""
    yield from _list_names(text)
    yield from _list_comments(text)
    for block in _list_blocks(text.split("\n")):
        if block.language is None:
            yield Passage(Kind.PROSE, block.text, block.first)
            yield from _list_spans(block)
        else:
            yield from _list_fenced(block.language, block.text, block.first)


def _list_fenced(language: str, text: str, first: int) -> Iterator[Passage]:
    """The passages of a code block."""
    if not language:
        # Nobody says what it is, so it is read both as commands and as text.
        yield Passage(Kind.COMMANDS, text, first)
        yield Passage(Kind.PROSE, text, first)
    elif language in _SHELL_WORDS:
        yield Passage(Kind.COMMANDS, text, first)
    elif language in _PLAIN_WORDS:
        yield Passage(Kind.PROSE, text, first)
    else:
        yield from _list_code(text, first)


def _list_names(text: str) -> Iterator[Passage]:
    header = _HEADER.match(text)
    if header is None:
        return
    name = _NAME.search(text, 0, header.end())
    if name is not None:
        lines_before = text.count("\n", 0, name.start())
        yield Passage(Kind.NAME, name[1], lines_before + 1)


def _list_comments(text: str) -> Iterator[Passage]:
    for pattern in (_COMMENT, _LINE_COMMENT, _HIDDEN_TAG):
        for line, comment in _number_matches(pattern, text):
            yield Passage(Kind.COMMENT, comment[comment.lastindex or 0], line)


def _list_spans(paragraph: _Block) -> Iterator[Passage]:
    """The commands in the lines of a paragraph."""
    for number, line in enumerate(paragraph.lines, paragraph.first):
        for span in _SPAN.finditer(line):
            yield Passage(Kind.COMMANDS, span[1], number)
        # Where commands are marked as code, the words around them are not commands.
        if "`" in line:
            continue
        bare = _BARE_COMMAND.search(line)
        if bare is not None:
            yield Passage(Kind.COMMANDS, bare[0], number)


def _list_blocks(lines: list[str]) -> Iterator[_Block]:
    """The paragraphs and code blocks of a page."""
    block = _Block(1)
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if not block.is_ended_by(line, mark):
            block.lines.append(line)
            continue
        if block.lines:
            yield block
        is_open = mark is not None and not block.fence
        block = _Block(number + 1, mark if is_open else None)
    if block.lines:
        yield block


class _Block:
    """A paragraph, or a code block after the mark that opens it; `first` is its first line."""

    def __init__(self, first: int, mark: re.Match[str] | None = None) -> None:
        self.first = first
        self.lines: list[str] = []
        self.fence = mark[1] if mark is not None else ""
        self._info = mark[2].strip() if mark is not None else None

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def language(self) -> str | None:
        """The first word after the fence; None for a paragraph."""
        if self._info is None:
            return None
        # `bash {linenos=true}` and `bash{1,3}` both name a language and options of a renderer.
        return self._info.partition(" ")[0].partition("{")[0].lower()

    def is_ended_by(self, line: str, mark: re.Match[str] | None) -> bool:
        """Whether a line ends the block; such a line is not part of it."""
        if not self.fence:
            return mark is not None or not line.strip()
        if mark is None:
            return False
        # As in CommonMark, only a fence of the same kind, as long and without a word, ends it.
        is_same_kind = mark[1].startswith(self.fence)
        return is_same_kind and not mark[2].strip()
