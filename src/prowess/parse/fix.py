"""Repairs put into the file: the header rewritten so that any YAML reader gets what Prowess got."""

from __future__ import annotations

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.fences import split_header
from prowess.parse.findings import bound_findings
from prowess.parse.mending import read_lines
from prowess.parse.text import join_lines, split_lines
from prowess.profiles.schema import Header, Limits


def fix_header(text: str, *, rules: Header) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text with its header repaired, and what was changed; the same text where nothing helps or is needed.

    Lines that need no repair keep every byte, their line ends too; comments and the order of keys stay.
    """
    split = split_header(text, rules)
    below_blanks = split.problem == "repaired-fence"
    if split.end == 0 or not (split.problem is None or below_blanks) or not text.endswith(split.text):
        return text, ()
    # A byte order mark may stand before the text that was split, and blank lines that no host reads past.
    before = text[: len(text) - len(split.text)].rstrip("\r\n\t ")
    header = split.text[split.start : split.end]
    limits = Limits()
    if len(header) > limits.header_bytes:
        return text, ()
    lines = split_lines(header, first=split.line)
    mended = read_lines(lines, rules.repairs, limits)
    if mended.value is None or (mended.lines == lines and not below_blanks):
        return text, ()
    fixed = join_lines(mended.lines)
    whole = before + split.text[: split.start] + fixed + split.text[split.end :]
    again = split_header(whole, rules)
    if again.text[again.start : again.end] != fixed:
        # A repair made a fence out of a line; whoever wrote that has to look at it.
        return text, ()
    moved = (
        (diagnose("repaired-fence", "Blank lines before the header were left out.", line=1),) if below_blanks else ()
    )
    return whole, (*moved, *bound_findings(mended.diagnostics))
