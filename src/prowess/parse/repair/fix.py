"""Repairs put into the file: the header rewritten so that any YAML reader gets what Prowess got."""

from __future__ import annotations

from collections.abc import Iterator

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.fences import Split, split_header
from prowess.parse.header.lines import join_lines, split_lines
from prowess.parse.lint.diagnostic_limit import bound_findings
from prowess.parse.repair.loop import read_lines
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import Limits


def fix_header(text: str, *, rules: HeaderRules) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text with its header repaired, and what was changed; the same text where nothing helps or
    is needed.

    Lines that need no repair keep every byte, their line ends too; comments and the order of keys
    stay.
    """
    split = split_header(text, rules)
    bad_fence = split.problem == "repaired-fence"
    if split.end == 0 or not (split.problem is None or bad_fence) or not text.endswith(split.text):
        return text, ()
    # A byte order mark may stand before the text that was split, and blank lines that no host reads
    # past.
    before = text[: len(text) - len(split.text)].rstrip("\r\n\t ")
    header = split.text[split.start : split.end]
    limits = Limits()
    if len(header) > limits.header_bytes:
        return text, ()
    lines = split_lines(header, first=split.line)
    mended = read_lines(lines, rules.repairs, limits)
    if mended.value is None or (mended.lines == lines and not bad_fence):
        return text, ()
    fixed = join_lines(mended.lines)
    opening = (
        split.text[: split.start].replace(split.language, "", 1)
        if split.language
        else split.text[: split.start]
    )
    whole = before + opening + fixed + split.text[split.end :]
    again = split_header(whole, rules)
    if again.text[again.start : again.end] != fixed:
        # A repair made a fence out of a line; whoever wrote that has to look at it.
        return text, ()
    return whole, (*_report_fence(split), *bound_findings(mended.diagnostics))


def _report_fence(split: Split) -> Iterator[Diagnostic]:
    if split.problem != "repaired-fence":
        return
    if split.line > 2:
        yield diagnose("repaired-fence", "Blank lines before the header were left out.", line=1)
    if split.language:
        yield diagnose(
            "repaired-fence",
            "The language behind the opening fence was left out.",
            line=split.line - 1,
        )
