"""The files a body references: links, and paths that can only mean files of the skill."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

# Most repeats are bounded: a line that was made to be slow must cost no more than a long one.
_FENCE = re.compile(r"([ \t]{0,12})(```+|~~~+)[ \t]*([\w+-]*)")
_LINK = re.compile(
    r"\]\(\s{0,4}"
    r"(<[^<>\n]{1,400}>(?=[\s)])|[^()\s]{1,400}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?)"
    r"[^()\n]{0,200}\)"
)
_DEFINITION = re.compile(r"[ \t]{0,3}\[[^\]\n]{1,200}\]:[ \t]*(\S{1,400})")
_ATTRIBUTE = re.compile(
    r"""<(?:img|a|source|video|audio)\b[^<>\n]{0,200}?\b(?:src|href)=["']([^"'\n]{1,400})["']""",
    re.I,
)
_CODE = re.compile(r"(`+)(.{1,400}?)\1(?!`)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z\d+.-]*:")
_FILE_SCHEME = re.compile(r"file:/*(?=/)", re.I)
_PATH = re.compile(r"(?:\./|\.\./)*[\w.-]+(?:/[\w.-]+)*")
_MENTION = re.compile(r"(?<![^\s(\[,;])@((?:\./)?[\w.-]+(?:/[\w.-]+)+)")
_FOLDER_VARIABLE = re.compile(
    r"(?:\{baseDir\}|\$\{(?:CLAUDE_)?SKILL_DIR\}|\$(?:CLAUDE_)?SKILL_DIR)"
    r"/((?:\.\./)*[\w.-]+(?:/[\w.-]+)*)"
)
_PLACEHOLDER = re.compile(r"[*?<>{}$%|…\[\]]|\.\.\.|(?i:\b(?:x{3,}|yyyy|path/to|your[-_]))")
_EXTENSION = re.compile(r".+\.\d?[A-Za-z][A-Za-z\d]{0,11}$")

# A page that is named alone. ./README.md and ./CLAUDE.md belong to the project, and so does what is
# built or run there.
_LONE_PAGE = re.compile(r"\./(?![A-Z\d_-]+\.md)[\w-][\w.-]*\.md")

# Folders in which skills keep their files; any other path outside a link may belong to the user's
# project.
_SKILL_FOLDERS = frozenset(
    {"scripts", "references", "reference", "assets", "resources", "templates"}
)
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "shell-session"})
# What may come before and after a path that is a word of its own.
_BEFORE = ("", " ", "\t", '"', "'", "=", "(")
_AFTER = ("", " ", "\t", '"', "'", ")", ",", ";", ":")
# A path goes on after these, so what was matched is only its beginning.
_CONTINUES = ("/", "*", "{", "<", "$")

Owns = Callable[[str], bool]


class FileReference(NamedTuple):
    """A file that a body references: the path as written, its target in the folder, its line."""

    path: str
    target: str
    line: int

    @property
    def is_outside(self) -> bool:
        """Whether the path leaves the skill's folder."""
        return self.target == ".." or self.target.startswith(("/", "../"))


class _CodeBlock(NamedTuple):
    """An open code block: its fence, its language, and the deepest indent of a closing fence."""

    fence: str
    language: str
    deepest: int

    def closes_with(self, text: str, mark: re.Match[str] | None) -> bool:
        """Whether a line ends the block: a fence at least as long as its own, and nothing else."""
        if mark is None or not mark[2].startswith(self.fence):
            return False
        is_too_deep = len(mark[1]) > self.deepest
        # After a closing fence there is no language; with one it is a line of the block.
        has_text = text.strip(" \t`~") != ""
        return not is_too_deep and not has_text


def _owns_nothing(folder: str) -> bool:
    return False


def find_references(
    body: str, *, first: int = 1, owns: Owns = _owns_nothing
) -> Iterator[FileReference]:
    """Every file that a body references, with its line.

    `owns` says which folders are in the skill's, beside those that skills usually have. Code blocks
    are examples: there, only paths after a variable for the skill's folder count, and paths in
    commands for a shell.
    """
    block: _CodeBlock | None = None
    for number, text in enumerate(body.splitlines(), start=first):
        mark = _FENCE.match(text)
        if block is None and mark is not None:
            # A block in a list item is indented; a fence that is deeper by more than three spaces
            # does not close it.
            block = _CodeBlock(mark[2], mark[3].lower(), len(mark[1]) + 3)
        elif block is None:
            yield from _find_in_prose(text, number, owns)
        elif block.closes_with(text, mark):
            block = None
        else:
            yield from _find_in_block(text, number, block, owns)


def _find_in_block(
    text: str, number: int, block: _CodeBlock, owns: Owns
) -> Iterator[FileReference]:
    yield from _find_by_variable(text, number)
    if block.language not in _SHELLS:
        return
    for reference in _find_words(text.partition(" #")[0], number, owns):
        # Nobody knows where a command is run, and so what is above that folder.
        if not reference.path.startswith("../"):
            yield reference


def _find_in_prose(text: str, number: int, owns: Owns) -> Iterator[FileReference]:
    yield from _find_by_variable(text, number)
    # A link in a code span is an example of a link.
    prose = _CODE.sub("``", text)
    yield from _find_links(prose, number)
    for mention in _MENTION.finditer(prose):
        path = mention[1].rstrip(".")
        if _is_own_file(path, owns):
            yield _refer(path, number)
    for span in _CODE.finditer(text):
        code = span[2].strip()
        is_lone_page = _LONE_PAGE.fullmatch(code) is not None
        if is_lone_page and not _PLACEHOLDER.search(code):
            yield _refer(code, number)
        yield from _find_words(code, number, owns)


def _find_links(prose: str, number: int) -> Iterator[FileReference]:
    """The files that links lead to; addresses and examples such as `path/to/file` are none."""
    for target in _find_targets(prose):
        # Markdown has `<…>` around a target with blanks.
        without_anchor = target.strip("<>").partition("#")[0].partition("?")[0]
        path = _FILE_SCHEME.sub("", unquote(without_anchor))
        if not path:
            # A link to a heading of the same page.
            continue
        is_address = path.startswith("//") or _SCHEME.match(path) is not None
        is_example = _PLACEHOLDER.search(path) is not None
        if not is_address and not is_example:
            yield _refer(path, number)


def _find_targets(prose: str) -> Iterator[str]:
    """The targets of links, of HTML attributes and of a link definition, as written."""
    for pattern in (_LINK, _ATTRIBUTE):
        for match in pattern.finditer(prose):
            yield match[1]
    definition = _DEFINITION.match(prose)
    if definition is not None:
        yield definition[1]


def _find_by_variable(text: str, number: int) -> Iterator[FileReference]:
    """Paths after a variable for the skill's folder, wherever they are."""
    for match in _FOLDER_VARIABLE.finditer(text):
        # A dot at the end belongs to the sentence.
        path = match[1].rstrip(".")
        after = text[match.end() : match.end() + 1]
        is_whole = after not in _CONTINUES
        if not is_whole or not _has_extension(path):
            continue
        if not _PLACEHOLDER.search(path):
            yield FileReference(match[0].rstrip("."), posixpath.normpath(path), number)


def _find_words(text: str, number: int, owns: Owns) -> Iterator[FileReference]:
    """Paths that are words of a code span or of a command, and name files of the skill."""
    if "/" not in text:
        return
    for match in _PATH.finditer(text):
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        # Part of an address or of a longer path is no path of its own.
        is_word = before in _BEFORE and after in _AFTER
        if is_word and _is_own_file(match[0], owns):
            yield _refer(match[0], number)


def _refer(path: str, number: int) -> FileReference:
    return FileReference(path, posixpath.normpath(path.replace("\\", "/")), number)


def _is_own_file(path: str, owns: Owns) -> bool:
    """Whether a path outside a link means a file of the skill, not one of the user's project."""
    if "/" not in path or not _has_extension(path):
        return False
    if _PLACEHOLDER.search(path):
        return False
    names = [name for name in path.split("/") if name not in (".", "..")]
    if len(names) < 2:
        # A file name alone may be anybody's.
        return False
    if names[0] in _SKILL_FOLDERS:
        return True
    # A folder of the same name may lie above the skill's, so `../` says nothing about this one.
    return not path.startswith("../") and owns(names[0])


def _has_extension(path: str) -> bool:
    return _EXTENSION.match(posixpath.basename(path)) is not None
