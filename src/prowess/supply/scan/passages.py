"""A file of a skill as the passages that rules read."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from prowess.supply.scan.rule import Kind, Passage

_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|[0-9]{1,9}[.)][ \t]+)?(`{3,}|~{3,})[ \t]*([^`\n]*)")
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
        is_shell = posixpath.basename(shebang[1]) in _SHELL_WORDS
        return Kind.COMMANDS if is_shell else Kind.CODE
    if end in _SHELL_ENDS or name in _SHELL_NAMES:
        return Kind.COMMANDS
    if end in _PROSE_ENDS or not end:
        return Kind.PROSE
    return None if end in _DATA_ENDS else Kind.CODE


def _list_code(text: str, line: int) -> Iterator[Passage]:
    """Code, and the commands in its strings."""
    yield Passage(Kind.CODE, text, line)
    number, at = line, 0
    for found in _STRING.finditer(text):
        number += text.count("\n", at, found.start())
        at = found.start()
        command = next(filter(None, found.groups()), "")
        if " " in command:
            yield Passage(Kind.COMMANDS, command.replace('\\"', '"').replace("\\'", "'"), number)


def _list_prose(text: str) -> Iterator[Passage]:
    """A page: its name, its comments, paragraphs, code blocks and the commands in its lines."""
    yield from _list_names(text)
    yield from _list_comments(text)
    for first, lines, info in _list_blocks(text.split("\n")):
        block = "\n".join(lines)
        language = info.partition(" ")[0].partition("{")[0].lower()
        if info == _PARAGRAPH:
            yield Passage(Kind.PROSE, block, first)
            yield from _list_spans(lines, first)
        elif language in _SHELL_WORDS or not language:
            yield Passage(Kind.COMMANDS, block, first)
            # Words in a block without a language are read as text, too.
            yield from () if language else (Passage(Kind.PROSE, block, first),)
        elif language in _PLAIN_WORDS:
            yield Passage(Kind.PROSE, block, first)
        else:
            yield from _list_code(block, first)


def _list_names(text: str) -> Iterator[Passage]:
    header = re.match(r"\s*---[ \t]*\n(.{0,20000}?)\n---", text, re.DOTALL)
    found = _NAME.search(text, 0, header.end()) if header is not None else None
    if found is not None:
        yield Passage(Kind.NAME, found[1], text.count("\n", 0, found.start()) + 1)


def _list_comments(text: str) -> Iterator[Passage]:
    for pattern in (_COMMENT, _LINE_COMMENT, _HIDDEN_TAG):
        line, at = 1, 0
        for found in pattern.finditer(text):
            line += text.count("\n", at, found.start())
            at = found.start()
            yield Passage(Kind.COMMENT, found[found.lastindex or 0], line)


def _list_spans(lines: list[str], first: int) -> Iterator[Passage]:
    """The commands in the lines of a paragraph."""
    for number, line in enumerate(lines, first):
        for found in _SPAN.finditer(line):
            yield Passage(Kind.COMMANDS, found[1], number)
        bare = _BARE_COMMAND.search(line) if "`" not in line else None
        if bare is not None:
            yield Passage(Kind.COMMANDS, bare[0], number)


_PARAGRAPH = "\n"


def _list_blocks(lines: list[str]) -> Iterator[tuple[int, list[str], str]]:
    """Paragraphs and code blocks with the line they begin on and the words after their fence."""
    block: list[str] = []
    fence, info = "", _PARAGRAPH
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        is_close = fence and mark is not None and mark[1].startswith(fence) and not mark[2].strip()
        is_open = not fence and mark is not None
        ends = is_close or is_open or (not fence and not line.strip())
        if not ends:
            block.append(line)
            continue
        if block:
            yield number - len(block), block, info
        block = []
        fence, info = (mark[1], mark[2].strip()) if is_open and mark else ("", _PARAGRAPH)
    if block:
        yield len(lines) + 1 - len(block), block, info
