"""Reading a header that may be broken: parse, repair what is at fault, parse again; a bounded
number of times.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.lines import Line, plain_text
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
    mend_quotes,
    move_block_text,
    quote_colon,
    quote_hint,
    quote_indicator,
)
from prowess.parse.repair.yaml_errors import Damage, Patch, Repaired, Repairer, apply_patches
from prowess.parse.yaml.reader import Loaded, Trouble, load
from prowess.profiles.schema.header import Repair
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
    "quote-quotes": mend_quotes,
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


class Mended(NamedTuple):
    """A header after reading: its values, its lines as they were read, and what was changed or is
    wrong.
    """

    value: dict[str, Any] | None
    lines: list[Line]
    trouble: Trouble | None
    diagnostics: list[Diagnostic]


def read_lines(lines: list[Line], repairs: tuple[Repair, ...], limits: Limits) -> Mended:
    """Read the lines of a header with the repairs a host makes; the value is None where nothing
    helps.
    """
    original = lines
    diagnostics: list[Diagnostic] = []
    text = plain_text(lines)
    loaded = as_written = load(text, limits)
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
        damage = Damage(lines, text, trouble, original=original, limits=limits, thorough=thorough)
        repaired = _repair(damage, repairs)
        if repaired is None:
            break
        lines = repaired.lines
        diagnostics.extend(repaired.diagnostics)
        text = plain_text(lines)
        loaded = load(text, limits)
    if not _is_readable(loaded):
        # What the author wrote is what counts and is explained, not what repairs that did not help
        # made of it.
        if not _is_readable(as_written):
            return Mended(None, original, first, [])
        loaded, lines, diagnostics = as_written, original, []
    diagnostics.extend(_report_tag(tag) for tag in loaded.tags)
    return Mended(loaded.value or {}, lines, None, diagnostics)


def _is_readable(loaded: Loaded) -> bool:
    trouble = _trouble(loaded)
    return trouble is None or trouble.code == "yaml-tag"


def _trouble(loaded: Loaded) -> Trouble | None:
    if loaded.trouble is not None:
        return loaded.trouble
    if loaded.value is not None and not isinstance(loaded.value, dict):
        kind = "a list" if isinstance(loaded.value, list) else "plain text"
        return Trouble("header-not-a-mapping", f"it is {kind}")
    return Trouble("yaml-tag", "it has a tag") if loaded.tags else None


def _report_tag(tag: str) -> Diagnostic:
    return diagnose(
        "yaml-tag", f"The tag `{tag}` is not interpreted; the value behind it was kept."
    )


def _repair(damage: Damage, repairs: tuple[Repair, ...]) -> Repaired | None:
    if (widened := _widen(damage)) is not None:
        return widened
    for word in repairs:
        # A tag is good YAML: at most its own value is quoted, nothing else is touched for its sake.
        if damage.trouble.code == "yaml-tag" and word != "quote-indicator":
            continue
        repaired = REPAIRS[word](damage)
        if repaired is not None:
            return repaired
    return None


def _widen(damage: Damage) -> Repaired | None:
    """Write down otherwise what is good YAML and only the native reader refuses."""
    if damage.trouble.number:
        return apply_patches(damage.lines, _number_patch(damage))
    if "\t" not in damage.text and not _ODD_BREAK.search(damage.text):
        return None
    patches = []
    for index, line in enumerate(damage.lines):
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
    return apply_patches(damage.lines, patches)


def _number_patch(damage: Damage) -> list[Patch]:
    trouble = damage.trouble
    if trouble.line is None or trouble.column is None or trouble.line > len(damage.lines):
        return []
    index = trouble.line - 1
    line = damage.lines[index]
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
