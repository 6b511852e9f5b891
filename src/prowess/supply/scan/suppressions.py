"""Findings that an author has looked at and explains: comments with a code and a reason.

`prowess: ignore CODE -- REASON` on the line of the finding or the line above it, in whatever the
file uses for comments.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec

from prowess.diagnostics import Diagnostic

_MARK = re.compile(
    r"prowess: ignore[ \t]+([a-z][a-z-]*(?:[ \t]*,[ \t]*[a-z][a-z-]*)*)(?:[ \t]+--[ \t]*(.*))?"
)
_COMMENT_END = re.compile(r"[ \t]*(?:-->|\*/|#\}|%>)[ \t]*$")


class Suppression(msgspec.Struct, frozen=True):
    """A comment that explains findings of some codes; without a `reason` it explains none."""

    line: int
    codes: tuple[str, ...]
    reason: str


class SuppressedFinding(msgspec.Struct, frozen=True):
    """A finding that a comment explains, and how."""

    finding: Diagnostic
    reason: str


def parse_suppressions(text: str) -> Iterator[Suppression]:
    """The suppressions in a text."""
    if "prowess: ignore" not in text:
        return
    for number, line in enumerate(text.split("\n"), 1):
        mark = _MARK.search(line)
        if mark is None:
            continue
        codes = tuple(code.strip() for code in mark[1].split(","))
        # The reason goes on to the end of the line, so the end of the comment is in it.
        reason = _COMMENT_END.sub("", mark[2] or "").strip()
        yield Suppression(number, codes, reason)


def find_reason(finding: Diagnostic, suppressions: Collection[Suppression]) -> str | None:
    """The reason why a finding is suppressed; None if it is not."""
    for suppression in suppressions:
        is_near = finding.line in (suppression.line, suppression.line + 1)
        is_meant = finding.code in suppression.codes
        # Without a reason it explains nothing, and is a finding itself.
        if is_near and is_meant and suppression.reason:
            return suppression.reason
    return None
