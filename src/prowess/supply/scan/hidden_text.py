"""Rules about text that a person does not see and a model reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.instructions import find_order, find_override
from prowess.supply.scan.rule import Kind, Match, Passage, Rule

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
# A flag of a region, such as that of Scotland, is a black flag followed by tags.
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_OVERRIDES = "\u202d\u202e"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ZERO_WIDTH = "\u00ad\u115f\u1160\u180e\u200b-\u200d\u2060-\u2064\u3164\ufeff\uffa0"
# Joiners belong to many scripts and to emoji, so one counts only between Latin letters.
_SPLIT_WORD = re.compile(f"[A-Za-z][{_ZERO_WIDTH}]+[A-Za-z]")
_SOFT_HYPHEN = "\u00ad"
_RUN = re.compile(f"[{_ZERO_WIDTH}]{{4,}}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")


def _match_tags(passage: Passage) -> Iterator[Match]:
    if passage.text.isascii():
        return
    flags = {found.start() + 1 for found in _FLAG.finditer(passage.text)}
    for found in _TAGS.finditer(passage.text):
        if found.start() in flags:
            continue
        spelled = "".join(chr(ord(one) & 0x7F) for one in found[0]).strip("\x00\x01\x7f")
        says = f" that spell “{spelled[:60]}”" if spelled else ""
        count = len(found[0])
        reason = f"There are {count} invisible tag characters here{says}."
        yield Match(passage.find_line(found.start()), reason)


def _match_bidi(passage: Passage) -> Iterator[Match]:
    if passage.text.isascii():
        return
    for found in _BIDI.finditer(passage.text):
        around = passage.text[max(0, found.start() - 200) : found.end() + 200]
        is_script = found[0] not in _OVERRIDES and _RIGHT_TO_LEFT.search(around) is not None
        if not is_script:
            reason = f"U+{ord(found[0]):04X} changes the order in which the line is shown."
            yield Match(passage.find_line(found.start()), reason)


def _match_zero_width(passage: Passage) -> Iterator[Match]:
    text = passage.text
    if text.isascii():
        return
    for pattern in (_RUN, _SELECTORS):
        for found in pattern.finditer(text):
            reason = f"{len(found[0])} zero-width characters in a row."
            yield Match(passage.find_line(found.start()), reason, Severity.ERROR)
    for found in _SPLIT_WORD.finditer(text):
        inner = found[0][1:-1]
        if len(inner) < 4 and inner.strip(_SOFT_HYPHEN):
            reason = f"U+{ord(inner[0]):04X} is hidden inside a word."
            yield Match(passage.find_line(found.start()), reason)


def _match_comment(passage: Passage) -> Iterator[Match]:
    override = find_override(passage.plain)
    if override is not None:
        reason = f"A comment that pages do not show says “{override}”."
        yield Match(passage.line, reason, Severity.ERROR)
        return
    order = find_order(passage.plain)
    if order is not None:
        yield Match(passage.line, f"A comment that pages do not show says “{order}”.")


RULES = (
    Rule(
        code="hidden-tags",
        severity=Severity.ERROR,
        summary="The text has invisible tag characters, which spell words that only a model reads.",
        hint="Remove them; only flag emoji of regions need them.",
        reads=(Kind.FILE, Kind.NAME),
        match=_match_tags,
    ),
    Rule(
        code="hidden-bidi",
        severity=Severity.ERROR,
        summary="A control character changes the order in which text is shown.",
        hint="Remove it; what is shown must be what is read.",
        reads=(Kind.FILE, Kind.NAME),
        match=_match_bidi,
    ),
    Rule(
        code="hidden-zero-width",
        severity=Severity.WARNING,
        summary="Zero-width characters split a word or carry a message.",
        hint="Remove them, or write them as escapes if they are intended.",
        reads=(Kind.FILE, Kind.NAME),
        match=_match_zero_width,
    ),
    Rule(
        code="hidden-comment",
        severity=Severity.WARNING,
        summary="A comment that is hidden when rendered gives the model instructions.",
        hint="Write instructions where people see them, or remove the comment.",
        reads=(Kind.COMMENT,),
        match=_match_comment,
    ),
)
