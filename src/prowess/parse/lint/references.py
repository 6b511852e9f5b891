"""The files a body refers to: links, and paths that can only mean files of the skill."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

_FENCE = re.compile(r"([ \t]{0,12})(```+|~~~+)[ \t]*([\w+-]*)")
_LINK = re.compile(
    r"\]\(\s{0,4}(<[^<>\n]{1,400}>(?=[\s)])|[^()\s]{1,400}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?)[^()\n]{0,200}\)"
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
    r"(?:\{baseDir\}|\$\{(?:CLAUDE_)?SKILL_DIR\}|\$(?:CLAUDE_)?SKILL_DIR)/((?:\.\./)*[\w.-]+(?:/[\w.-]+)*)"
)
_PLACEHOLDER = re.compile(r"[*?<>{}$%|…\[\]]|\.\.\.|(?i:\b(?:x{3,}|yyyy|path/to|your[-_]))")
_EXTENSION = re.compile(r".+\.\d?[A-Za-z][A-Za-z\d]{0,11}$")

# A page that is named alone. ./README.md and ./CLAUDE.md are the project's, and so is what is built
# or run there.
_LONE_PAGE = re.compile(r"\./(?![A-Z\d_-]+\.md)[\w-][\w.-]*\.md")

# Folders that skills keep their files in; any other path outside of a link may belong to the user's
# project.
_SKILL_FOLDERS = frozenset(
    {"scripts", "references", "reference", "assets", "resources", "templates"}
)
_SHELLS = frozenset({"bash", "sh", "shell", "zsh", "console", "shell-session"})
# What stands before and after a path that is a word of its own.
_BEFORE, _AFTER = " \t\"'=(", " \t\"'),;:"

Owns = Callable[[str], bool]


class FileReference(NamedTuple):
    """A file that a body refers to: the path as written, where it leads inside the folder, and its
    line.
    """

    path: str
    target: str
    line: int

    @property
    def is_outside(self) -> bool:
        """Whether the path leaves the skill's folder."""
        return self.target == ".." or self.target.startswith(("/", "../"))


def _owns_nothing(folder: str) -> bool:
    return False


def find_references(
    body: str, *, first: int = 1, owns: Owns = _owns_nothing
) -> Iterator[FileReference]:
    """Every file that a body refers to, with the line it stands on.

    `owns` tells which folders lie in the skill's, beside those that skills usually have. Code
    blocks are examples; only what they say by a variable for the skill's folder counts, and the
    paths in commands for a shell.
    """
    fence = language = ""
    deepest = 0
    for number, text in enumerate(body.splitlines(), start=first):
        mark = _FENCE.match(text)
        if mark is not None and not fence:
            # A block in an item of a list is indented; what is indented more than by three blanks
            # does not close it.
            deepest, fence, language = len(mark[1]) + 3, mark[2], mark[3].lower()
            continue
        if (
            mark is not None
            and mark[2].startswith(fence)
            and len(mark[1]) <= deepest
            and not text.strip(" \t`~")
        ):
            fence = ""
            continue
        if not fence:
            yield from _find_in_prose(text, number, owns)
        else:
            yield from _find_by_variable(text, number)
            if language in _SHELLS:
                # Where a command is run from is not known, so what lies above that place is
                # neither.
                found = _find_words(text.partition(" #")[0], number, owns)
                yield from (one for one in found if not one.path.startswith("../"))


def _find_in_prose(text: str, number: int, owns: Owns) -> Iterator[FileReference]:
    yield from _find_by_variable(text, number)
    prose = _CODE.sub("``", text)
    targets = [match[1] for match in _LINK.finditer(prose)]
    targets += [match[1] for match in _ATTRIBUTE.finditer(prose)]
    definition = _DEFINITION.match(prose)
    if definition is not None:
        targets.append(definition[1])
    for target in targets:
        path = _FILE_SCHEME.sub("", unquote(target.strip("<>").partition("#")[0].partition("?")[0]))
        if (
            path
            and not _SCHEME.match(path)
            and not path.startswith("//")
            and not _PLACEHOLDER.search(path)
        ):
            yield _refer(path, number)
    for match in _MENTION.finditer(prose):
        path = match[1].rstrip(".")
        if _is_own_file(path, owns):
            yield _refer(path, number)
    for match in _CODE.finditer(text):
        code = match[2].strip()
        if _LONE_PAGE.fullmatch(code) and not _PLACEHOLDER.search(code):
            yield _refer(code, number)
        yield from _find_words(code, number, owns)


def _find_by_variable(text: str, number: int) -> Iterator[FileReference]:
    """Paths behind a variable that stands for the skill's folder, wherever they are written."""
    for match in _FOLDER_VARIABLE.finditer(text):
        path = match[1].rstrip(".")
        after = text[match.end() : match.end() + 1]
        if (
            after not in ("/", "*", "{", "<", "$")
            and _has_extension(path)
            and not _PLACEHOLDER.search(path)
        ):
            yield FileReference(match[0].rstrip("."), posixpath.normpath(path), number)


def _find_words(text: str, number: int, owns: Owns) -> Iterator[FileReference]:
    """Paths that are words of a code span or of a command, and name files of the skill."""
    if "/" not in text:
        return
    for match in _PATH.finditer(text):
        before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
        if (
            (not before or before in _BEFORE)
            and (not after or after in _AFTER)
            and _is_own_file(match[0], owns)
        ):
            yield _refer(match[0], number)


def _refer(path: str, number: int) -> FileReference:
    return FileReference(path, posixpath.normpath(path.replace("\\", "/")), number)


def _is_own_file(path: str, owns: Owns) -> bool:
    """Whether a path outside of a link names a file of the skill rather than one of the user's
    project.
    """
    if "/" not in path or not _has_extension(path) or _PLACEHOLDER.search(path):
        return False
    names = [name for name in path.split("/") if name not in (".", "..")]
    if len(names) < 2:
        return False
    return names[0] in _SKILL_FOLDERS or (not path.startswith("../") and owns(names[0]))


def _has_extension(path: str) -> bool:
    return _EXTENSION.match(posixpath.basename(path)) is not None
