"""The pages that people read, and the blocks of code in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
# Written by a program from the program itself; `make docs-check` holds it.
GENERATED = ROOT / "docs" / "reference"

_FENCE = re.compile(r"(`{3,})(.*)")


class Block(NamedTuple):
    """A fenced block: the page and line where its text begins, its language, what else its fence
    says, its text.

    `follows` is the language of the block right before it, with nothing but blank lines in between.
    """

    page: Path
    line: int
    language: str
    words: tuple[str, ...]
    text: str
    follows: str | None = None

    @property
    def place(self) -> str:
        """Where the block stands, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def list_pages() -> list[Path]:
    """Every page that is written by hand."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    below = sorted(
        path for path in (ROOT / "docs").rglob("*.md") if not path.is_relative_to(GENERATED)
    )
    return [*pages, *below]


def name_page(page: Path) -> str:
    """A page by its path in the repository."""
    return str(page.relative_to(ROOT))


def parse_blocks(page: Path, text: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = text.splitlines()
    previous: str | None = None
    index = 0
    while index < len(lines):
        fence = _FENCE.fullmatch(lines[index])
        if fence is None:
            previous = previous if not lines[index].strip() else None
            index += 1
            continue
        start = index + 1
        closing = (
            number for number in range(start, len(lines)) if lines[number].rstrip() == fence[1]
        )
        end = next(closing, None)
        assert end is not None, f"{page.name}:{start}: the block is never closed"
        language, *words = fence[2].split() or [""]
        body = "".join(f"{line}\n" for line in lines[start:end])
        yield Block(page, start + 1, language, tuple(words), body, previous)
        previous = language
        index = end + 1


def load_blocks(page: Path) -> list[Block]:
    """The blocks of a page on disk."""
    return list(parse_blocks(page, page.read_text(encoding="utf-8")))
