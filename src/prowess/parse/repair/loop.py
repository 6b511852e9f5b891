"""Reading a header that may be broken: parse, repair what is at fault, parse again; bounded.

`fix_header` does the same for the text of a file, so that any YAML parser gets what Prowess got.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, diagnose, limit_diagnostics
from prowess.parse.header.fences import Split, split_header
from prowess.parse.header.lines import Line, join_lines, plain_text, split_lines
from prowess.parse.repair.broken_header import (
    BrokenHeader,
    Patch,
    RepairedLines,
    Repairer,
    apply_patches,
)
from prowess.parse.repair.host_repairs import (
    drop_tabs,
    quote_description,
    quote_pairs,
    quote_reserved,
    read_line_by_line,
    write_blocks,
)
from prowess.parse.repair.line_repairs import (
    align_keys,
    drop_controls,
    drop_duplicates,
    join_stray_lines,
    part_keys,
    quote_entries,
    tabs_to_spaces,
)
from prowess.parse.repair.value_repairs import (
    close_brackets,
    fix_quotes,
    move_block_text,
    quote_colon,
    quote_hint,
    quote_indicator,
)
from prowess.parse.yaml.reader import YamlProblem, YamlResult, parse_yaml
from prowess.profiles.schema.header import HeaderRules, Repair
from prowess.profiles.schema.roots import Limits

REPAIRS: dict[Repair, Repairer] = {
    "drop-controls": drop_controls,
    "tab-to-spaces": tabs_to_spaces,
    "tab-dropped": drop_tabs,
    "part-keys": part_keys,
    "align-keys": align_keys,
    "join-lines": join_stray_lines,
    "block-text": move_block_text,
    "close-json": close_brackets,
    "quote-hint": quote_hint,
    "quote-indicator": quote_indicator,
    "quote-colon": quote_colon,
    "quote-quotes": fix_quotes,
    "drop-duplicates": drop_duplicates,
    "quote-entries": quote_entries,
    "opencode-blocks": write_blocks,
    "quote-description": quote_description,
    "quote-plain": quote_reserved,
    "quote-pairs": quote_pairs,
    "line-by-line": read_line_by_line,
}

# Real headers have a few dozen lines; beyond this nobody wrote the header by hand.
_MOST_LINES = 1_500

# A header that is refused for its size is not one that was mistyped.
_REFUSALS = ("yaml-aliases", "yaml-nesting")

# Most broken headers have one broken value; only where there are more is every entry looked at.
_QUICK_ROUNDS = 4

# How many characters the reader may be given again after a repair. A header of 16 KB gets every
# round that the repairs can ask for; one that is as large as is read, and was therefore made by no
# hand, gets a few.
_MOST_WORK = 1 << 19

_ODD_BREAK = re.compile("[\x85\u2028\u2029]")
_NUMBER = re.compile(r"[-+]?[\w.]+")


class RepairedHeader(NamedTuple):
    """A header after reading: its values, its lines as they were read, and what was changed or is
    wrong.
    """

    value: dict[str, Any] | None
    lines: list[Line]
    trouble: YamlProblem | None
    diagnostics: list[Diagnostic]


def read_lines(lines: list[Line], repairs: tuple[Repair, ...], limits: Limits) -> RepairedHeader:
    """Read the lines of a header with the repairs a host makes; the value is None where nothing
    helps.
    """
    original = lines
    diagnostics: list[Diagnostic] = []
    text = plain_text(lines)
    loaded = as_written = parse_yaml(text, limits)
    first = _trouble(loaded)
    rounds = 2 * len(repairs) + 4 if len(lines) <= _MOST_LINES else 0
    most = 2 * len(text) + 1_000
    work = _MOST_WORK
    for turn in range(rounds):
        trouble = _trouble(loaded)
        if trouble is None or trouble.code in _REFUSALS or len(text) > min(most, work):
            break
        work -= len(text)
        thorough = turn >= _QUICK_ROUNDS
        broken = BrokenHeader(
            lines, text, trouble, original=original, limits=limits, thorough=thorough
        )
        repaired = _repair(broken, repairs)
        if repaired is None:
            break
        lines = repaired.lines
        diagnostics.extend(repaired.diagnostics)
        text = plain_text(lines)
        loaded = parse_yaml(text, limits)
    if not _is_readable(loaded):
        # What the author wrote is what counts and is explained, not what repairs that did not help
        # made of it.
        if not _is_readable(as_written):
            return RepairedHeader(None, original, first, [])
        loaded, lines, diagnostics = as_written, original, []
    diagnostics.extend(_report_tag(tag) for tag in loaded.tags)
    return RepairedHeader(loaded.value or {}, lines, None, diagnostics)


def _is_readable(loaded: YamlResult) -> bool:
    trouble = _trouble(loaded)
    return trouble is None or trouble.code == "yaml-tag"


def _trouble(loaded: YamlResult) -> YamlProblem | None:
    if loaded.problem is not None:
        return loaded.problem
    if loaded.value is not None and not isinstance(loaded.value, dict):
        kind = "a list" if isinstance(loaded.value, list) else "plain text"
        return YamlProblem("header-not-a-mapping", f"it is {kind}")
    return YamlProblem("yaml-tag", "it has a tag") if loaded.tags else None


def _report_tag(tag: str) -> Diagnostic:
    return diagnose(
        "yaml-tag", f"The tag `{tag}` is not interpreted; the value behind it was kept."
    )


def _repair(broken: BrokenHeader, repairs: tuple[Repair, ...]) -> RepairedLines | None:
    if (widened := _widen(broken)) is not None:
        return widened
    for word in repairs:
        # A tag is good YAML: at most its own value is quoted, nothing else is touched for its sake.
        if broken.problem.code == "yaml-tag" and word != "quote-indicator":
            continue
        repaired = REPAIRS[word](broken)
        if repaired is not None:
            return repaired
    return None


def _widen(broken: BrokenHeader) -> RepairedLines | None:
    """Write down otherwise what is good YAML and only the native reader refuses."""
    if broken.problem.is_number:
        return apply_patches(broken.lines, _number_patch(broken))
    if "\t" not in broken.text and not _ODD_BREAK.search(broken.text):
        return None
    patches = []
    for index, line in enumerate(broken.lines):
        if "\t" in line.text and not line.text.strip():
            patches.append(Patch(index, index, [line._replace(text="")]))
        elif _ODD_BREAK.search(line.text):
            message = (
                "The line holds a line break that is not one to YAML; it was replaced by a blank."
            )
            finding = diagnose("repaired-character", message, line=line.number)
            patches.append(
                Patch(index, index, [line._replace(text=_ODD_BREAK.sub(" ", line.text))], finding)
            )
    return apply_patches(broken.lines, patches)


def _number_patch(broken: BrokenHeader) -> list[Patch]:
    trouble = broken.problem
    if trouble.line is None or trouble.column is None or trouble.line > len(broken.lines):
        return []
    index = trouble.line - 1
    line = broken.lines[index]
    start = trouble.column - 1
    match = _NUMBER.match(line.text, start)
    if match is None:
        return []
    text = f'{line.text[:start]}"{match[0]}"{line.text[match.end() :]}'
    message = f"The number {match[0][:24]} is too large to be read as one; it was read as text."
    return [
        Patch(
            index,
            index,
            [line._replace(text=text)],
            diagnose("repaired-number", message, line=line.number),
        )
    ]


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
    return whole, (*_report_fence(split), *limit_diagnostics(mended.diagnostics))


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
