"""Rules about text that a person does not see and a model reads."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.instructions import find_order, find_override
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

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
    flag_tags = {flag.start() + 1 for flag in _FLAG.finditer(passage.text)}
    for tags in _TAGS.finditer(passage.text):
        if tags.start() in flag_tags:
            continue
        # Tags are a copy of ASCII; the two that are no letters mark a language and an end.
        ascii_text = "".join(chr(ord(tag) & 0x7F) for tag in tags[0])
        spelled = ascii_text.strip("\x00\x01\x7f")
        says = f" that spell “{spelled[:60]}”" if spelled else ""
        reason = f"There are {len(tags[0])} invisible tag characters here{says}."
        yield Match(passage.find_line(tags.start()), reason)


def _match_bidi(passage: Passage) -> Iterator[Match]:
    if passage.text.isascii():
        return
    for control in _BIDI.finditer(passage.text):
        around = passage.text[max(0, control.start() - 200) : control.end() + 200]
        # Hebrew and Arabic need embeddings and isolates; no text needs an override.
        is_override = control[0] in _OVERRIDES
        if not is_override and _RIGHT_TO_LEFT.search(around):
            continue
        reason = f"U+{ord(control[0]):04X} changes the order in which the line is shown."
        yield Match(passage.find_line(control.start()), reason)


def _match_zero_width(passage: Passage) -> Iterator[Match]:
    text = passage.text
    if text.isascii():
        return
    for run in itertools.chain(_RUN.finditer(text), _SELECTORS.finditer(text)):
        reason = f"{len(run[0])} zero-width characters in a row."
        yield Match(passage.find_line(run.start()), reason, Severity.ERROR)
    for word in _SPLIT_WORD.finditer(text):
        hidden = word[0][1:-1]
        # Four and more are a run, which was reported above; soft hyphens are typesetting.
        is_reported = len(hidden) >= 4
        is_hyphenated = not hidden.strip(_SOFT_HYPHEN)
        if not is_reported and not is_hyphenated:
            reason = f"U+{ord(hidden[0]):04X} is hidden inside a word."
            yield Match(passage.find_line(word.start()), reason)


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
    ScanRule(
        code="hidden-tags",
        severity=Severity.ERROR,
        summary="The text has invisible tag characters, which spell words that only a model reads.",
        hint="Remove them; only flag emoji of regions need them.",
        reads=(Kind.FILE, Kind.NAME),
        match=_match_tags,
    ),
    ScanRule(
        code="hidden-bidi",
        severity=Severity.ERROR,
        summary="A control character changes the order in which text is shown.",
        hint="Remove it; what is shown must be what is read.",
        reads=(Kind.FILE, Kind.NAME),
        match=_match_bidi,
    ),
    ScanRule(
        code="hidden-zero-width",
        severity=Severity.WARNING,
        summary="Zero-width characters split a word or carry a message.",
        hint="Remove them, or write them as escapes if they are intended.",
        reads=(Kind.FILE, Kind.NAME),
        match=_match_zero_width,
    ),
    ScanRule(
        code="hidden-comment",
        severity=Severity.WARNING,
        summary="A comment that is hidden when rendered gives the model instructions.",
        hint="Write instructions where people see them, or remove the comment.",
        reads=(Kind.COMMENT,),
        match=_match_comment,
    ),
)
