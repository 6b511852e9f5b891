"""The files a body refers to: links, and paths in code spans that lie in a skill's usual folders."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

_FENCE = re.compile(r"[ \t]{0,3}(```+|~~~+)")
_LINK = re.compile(
    r"\]\(\s{0,4}(<[^<>\n]{1,400}>(?=[\s)])|[^()\s]{1,400}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?)[^()\n]{0,200}\)"
)
_DEFINITION = re.compile(r"[ \t]{0,3}\[[^\]\n]{1,200}\]:[ \t]*(\S{1,400})")
_CODE = re.compile(r"(`+)(.{1,400}?)\1(?!`)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z\d+.-]*:")
_PATH_IN_CODE = re.compile(r"(?:\./|\.\./)*[\w.-]+(?:/[\w.-]+)+")
_PLACEHOLDER = re.compile(r"[*?<>{}$%|…\[\]]|\.\.\.|(?i:\b(?:x{3,}|yyyy|path/to|your[-_]))")

# Folders that skills keep their files in; any other path in a code span may belong to the user's project.
_SKILL_FOLDERS = frozenset({"scripts", "references", "reference", "assets", "resources", "templates"})


class Reference(NamedTuple):
    """A file that a body refers to: the path as written, where it leads inside the folder, and its line."""

    path: str
    target: str
    line: int

    @property
    def is_outside(self) -> bool:
        """Whether the path leaves the skill's folder."""
        return self.target == ".." or self.target.startswith(("/", "../"))


def find_references(body: str, *, first: int = 1) -> Iterator[Reference]:
    """Every file that a body refers to, with the line it stands on; code blocks are examples, not references."""
    fence = ""
    for number, text in enumerate(body.splitlines(), start=first):
        mark = _FENCE.match(text)
        if mark is not None and (not fence or (mark[1].startswith(fence) and not text.strip(" \t`~"))):
            fence = "" if fence else mark[1]
            continue
        if not fence:
            yield from _find_in_line(text, number)


def _find_in_line(text: str, number: int) -> Iterator[Reference]:
    codes = [match[2] for match in _CODE.finditer(text)]
    prose = _CODE.sub("``", text)
    targets = [match[1] for match in _LINK.finditer(prose)]
    definition = _DEFINITION.match(prose)
    if definition is not None:
        targets.append(definition[1])
    for target in targets:
        path = unquote(target.strip("<>").partition("#")[0].partition("?")[0])
        if path and not _SCHEME.match(path) and not path.startswith("//") and not _PLACEHOLDER.search(path):
            yield _refer(path, number)
    for code in codes:
        for match in _PATH_IN_CODE.finditer(code):
            if _is_own_file(code, match):
                yield _refer(match[0], number)


def _refer(path: str, number: int) -> Reference:
    return Reference(path, posixpath.normpath(path.replace("\\", "/")), number)


def _is_own_file(code: str, match: re.Match[str]) -> bool:
    """Whether a path in a code span names a file of the skill rather than one of the user's project."""
    before = code[match.start() - 1 : match.start()]
    after = code[match.end() : match.end() + 1]
    names = [name for name in match[0].split("/") if name != "."]
    folder = next((name for name in names if name != ".."), "")
    if (before and before not in " \t\"'=(") or (after and after not in " \t\"'),;:"):
        return False
    return folder in _SKILL_FOLDERS and "." in names[-1].strip(".") and not _PLACEHOLDER.search(match[0])
