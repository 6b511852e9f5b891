"""Where Markdown that is still being written can be cut: what comes before no longer changes."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


class MarkdownBlocks:
    """Takes a text piece by piece, and gives its blocks as soon as they are finished.

    A block ends with a blank line, but not inside a fence, and not where a list may go on. Every
    line is looked at once, however long a block gets. `rest` is what may still grow.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._open = ""
        self._fence = ""
        self._was_blank = False
        self._in_list = False

    @property
    def rest(self) -> str:
        """What is not finished."""
        return "".join((*self._lines, self._open))

    def add(self, text: str) -> str:
        """Take the next piece; what is finished with it."""
        *whole, self._open = (self._open + text).split("\n")
        finished: list[str] = []
        for line in whole:
            # The last line is not looked at before it ends: nobody knows yet how it begins.
            if self._begins_block(line):
                finished += self._lines
                self._lines, self._in_list = [], False
            self._note(line)
        return "".join(finished)

    def end(self) -> str:
        """Everything that is left; the next text begins anew."""
        rest = self.rest
        self._lines, self._open, self._fence = [], "", ""
        self._was_blank = self._in_list = False
        return rest

    def _begins_block(self, line: str) -> bool:
        if not self._was_blank or self._fence or not line.strip():
            return False
        goes_on = line[:1].isspace() or (self._in_list and _ITEM.match(line) is not None)
        return not goes_on

    def _note(self, line: str) -> None:
        self._fence = _follow_fence(line, self._fence)
        self._in_list = self._in_list or (not self._fence and _ITEM.match(line) is not None)
        self._was_blank = not line.strip()
        self._lines.append(f"{line}\n")


def _follow_fence(line: str, fence: str) -> str:
    """The fence that is open after a line; "" if none is."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    is_end = found[1].startswith(fence) and not line[found.end() :].strip()
    return "" if is_end else fence
