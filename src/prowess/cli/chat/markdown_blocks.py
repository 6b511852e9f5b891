"""Where Markdown that is still being written can be cut: what comes before no longer changes."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


def split_finished(text: str) -> tuple[str, str]:
    """The blocks of a text that are finished, and the rest, which may still grow.

    A block ends with a blank line, but not inside a fence, and not where a list may go on.
    """
    end = 0
    fence = ""
    was_blank = in_list = False
    at = 0
    # The last line is not finished, so that nobody knows yet how it begins.
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        begins_block = was_blank and not fence and bool(line.strip())
        is_item = _ITEM.match(line) is not None
        goes_on = line[:1].isspace() or (in_list and is_item)
        if begins_block and not goes_on:
            end, in_list = at, False
        fence = _follow_fence(line, fence)
        in_list = in_list or (is_item and not fence)
        was_blank = not line.strip()
        at += len(line)
    return text[:end], text[end:]


def _follow_fence(line: str, fence: str) -> str:
    """The fence that is open after a line; "" if none is."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    if not fence:
        return found[1]
    is_end = found[1].startswith(fence) and not line[found.end() :].strip()
    return "" if is_end else fence
