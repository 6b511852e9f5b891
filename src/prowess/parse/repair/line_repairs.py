"""Repairs of a header's lines: characters, indentation, stray text, keys that stand twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.lines import Line
from prowess.parse.manifest.fields import KNOWN_FIELDS
from prowess.parse.repair.broken_header import (
    BLOCK_MARK,
    BrokenHeader,
    HeaderEntry,
    Patch,
    RepairedLines,
    apply_patches,
    find_key,
    find_values,
    quote_parts,
    report,
)
from prowess.parse.yaml.reader import is_valid_yaml

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_KEY_WITHOUT_BLANK = re.compile(
    "[\u00a0\u3000\u200b\ufeff]*([^\\W\\d][\\w-]*)"
    "(?:[ \u00a0\u3000]{0,8}：[ \t\u00a0\u3000]*|:[\u00a0\u3000][ \t\u00a0\u3000]*|:(?![\\s/]))"
)
_PLAIN_KEY = re.compile(r"[^\W\d][\w.$-]*")
_INNER_KEY = re.compile(r"[ ]*(?:- +)*([^\s:#][^:#]{0,80}?):(?=[ \t]|$)")


def drop_controls(broken: BrokenHeader) -> RepairedLines | None:
    """Characters that no YAML may hold are left out."""
    if not _CONTROL.search(broken.text):
        return None
    return apply_patches(
        broken.lines,
        (
            Patch(
                index, index, [line._replace(text=_CONTROL.sub("", line.text))], _say_dropped(line)
            )
            for index, line in enumerate(broken.lines)
            if _CONTROL.search(line.text)
        ),
    )


def _say_dropped(line: Line) -> Diagnostic:
    found = sorted({f"U+{ord(character):04X}" for character in _CONTROL.findall(line.text)})
    message = f"The line holds control characters ({', '.join(found)}); they were left out."
    return diagnose("repaired-character", message, line=line.number)


def tabs_to_spaces(broken: BrokenHeader) -> RepairedLines | None:
    """Tabs in the indentation become two spaces each."""
    return apply_patches(broken.lines, _tab_patches(broken)) if "\t" in broken.text else None


def _tab_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        for index in range(entry.first, entry.last + 1):
            line = broken.lines[index]
            blanks = _indentation(line.text)
            if "\t" in blanks:
                text = blanks.replace("\t", "  ") + line.text[len(blanks) :]
                message = "The line is indented with tabs; each was replaced by two spaces."
                yield Patch(
                    index,
                    index,
                    [line._replace(text=text)],
                    diagnose("repaired-tab", message, line=line.number),
                )


def _indentation(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def part_keys(broken: BrokenHeader) -> RepairedLines | None:
    """`name:value` and `name：value` become `name: value`."""
    return apply_patches(broken.lines, _parting_patches(broken))


def _parting_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        for index in range(entry.first, entry.last + 1):
            line = broken.lines[index]
            match = _KEY_WITHOUT_BLANK.match(line.text)
            if match is None or match.end() == len(line.text):
                continue
            if match[1] in KNOWN_FIELDS or (match[1].islower() and find_key(line.text) is None):
                text = f"{match[1]}: {line.text[match.end() :]}"
                message = f"`{match[1]}` was not followed by a colon and a blank; they were put in."
                yield Patch(
                    index,
                    index,
                    [line._replace(text=text)],
                    report("repaired-space", message, line, match[1]),
                )


def align_keys(broken: BrokenHeader) -> RepairedLines | None:
    """A field that is indented below another one's value moves to the start of its line."""
    return apply_patches(broken.lines, _aligning_patches(broken))


def _aligning_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        depth = 0
        for index in range(_first_below(broken, entry), entry.last + 1):
            line = broken.lines[index]
            indent = len(line.text) - len(line.text.lstrip(" "))
            key = find_key(line.text.lstrip(" ")) if indent else None
            if (
                key is not None
                and (key in KNOWN_FIELDS or not entry.key)
                and (not depth or indent <= depth)
            ):
                depth = indent
                message = f"`{key}` does not begin at the start of its line; it was moved there."
                yield Patch(
                    index,
                    index,
                    [line._replace(text=line.text[indent:])],
                    report("repaired-indent", message, line, key),
                )
            elif depth and indent >= depth:
                yield Patch(index, index, [line._replace(text=line.text[depth:])])


def _first_below(broken: BrokenHeader, entry: HeaderEntry) -> int:
    """The first line of an entry on which a field could stand by mistake; none below a block or an
    empty value.
    """
    if not entry.key:
        return entry.first
    rest = broken.lines[entry.first].text.partition(":")[2].strip()
    takes_lines = not rest or rest.startswith("#") or BLOCK_MARK.match(rest)
    return entry.last + 1 if takes_lines else entry.first + 1


def join_stray_lines(broken: BrokenHeader) -> RepairedLines | None:
    """Text at the start of a line joins the value before it; text before the first key becomes a
    comment.
    """
    return apply_patches(broken.lines, _joining_patches(broken))


def _joining_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        if not entry.key:
            if len(broken.all_entries) > 1:
                yield from _comment_out(broken, entry)
            continue
        rest = broken.lines[entry.first].text.partition(":")[2].strip()
        below = range(entry.first + 1, entry.last + 1)
        depths = (
            _block_depths(broken, below)
            if BLOCK_MARK.match(rest)
            else _text_depths(broken, below, rest)
        )
        for index, depth in depths.items():
            line = broken.lines[index]
            if line.text.startswith("```"):
                yield _comment(index, line)
                continue
            message = f"The line is not indented as part of `{entry.key}`; it was indented."
            finding = report("repaired-line", message, line, entry.key)
            yield Patch(index, index, [line._replace(text=" " * depth + line.text)], finding)


def _block_depths(broken: BrokenHeader, below: range) -> dict[int, int]:
    """How many blanks each line of a block needs, so that it is as deep as the block's first line,
    or two.
    """
    margins = {
        index: len(text) - len(text.lstrip(" "))
        for index in below
        if (text := broken.lines[index].text).strip()
    }
    first = next(iter(margins.values()), 0)
    if first == 0:
        return dict.fromkeys(margins, 2)
    return {index: first - margin for index, margin in margins.items() if margin < first}


def _text_depths(broken: BrokenHeader, below: range, rest: str) -> dict[int, int]:
    stray = [index for index in below if _is_stray(broken.lines[index].text, after=rest)]
    if stray and broken.lines[stray[0]].text[0] in "[{":
        stray = [index for index in below if broken.lines[index].text.strip()]
    return dict.fromkeys(stray, 2)


def _is_stray(text: str, *, after: str) -> bool:
    if not text or text[0] in " \t#" or after[:1] in ("[", "{"):
        return False
    return bool(after) or not (text == "-" or text.startswith("- "))


def _comment_out(broken: BrokenHeader, entry: HeaderEntry) -> Iterator[Patch]:
    for index in range(entry.first, entry.last + 1):
        line = broken.lines[index]
        if line.text.strip() and not line.text.lstrip().startswith("#"):
            yield _comment(index, line)


def _comment(index: int, line: Line) -> Patch:
    finding = diagnose(
        "repaired-line", "The line belongs to no field; it was left out.", line=line.number
    )
    return Patch(index, index, [line._replace(text="# " + line.text)], finding)


def drop_duplicates(broken: BrokenHeader) -> RepairedLines | None:
    """Of keys that stand twice in one mapping the last is kept."""
    if broken.problem.key is None:
        return None
    return apply_patches(broken.lines, _duplicate_patches(broken))


def _duplicate_patches(broken: BrokenHeader) -> Iterator[Patch]:
    last: dict[tuple[int, str], int] = {}
    keys = list(_find_keys(broken))
    for index, _, scope, key in keys:
        last[scope, key] = index
    place = -1
    for index, end, scope, key in keys:
        if index > place and last[scope, key] != index:
            kept = broken.lines[last[scope, key]].number
            message = f"`{key}` stands twice; the one on line {kept} was kept."
            place = end
            yield Patch(
                index, end, [], report("repaired-duplicate", message, broken.lines[index], key)
            )


def _find_keys(broken: BrokenHeader) -> Iterator[tuple[int, int, int, str]]:
    """Every key that begins a line: its line, the last line that hangs below it, its mapping, and
    the key.

    A mapping is told by the line above it that is less indented, -1 for the header itself.
    """
    inside = {
        index
        for entry in broken.all_entries
        for value in find_values(broken.lines, entry)
        for index in range(value.first + 1, value.last + 1)
    }
    open_keys: list[tuple[int, int]] = []
    for index, line in enumerate(broken.lines):
        match = None if index in inside else _INNER_KEY.match(line.text)
        if match is None:
            continue
        indent = match.start(1)
        dashed = "-" in line.text[:indent]
        while open_keys and open_keys[-1][0] >= (line.text.index("-") if dashed else indent):
            open_keys.pop()
        if dashed:
            open_keys.append((line.text.index("-"), index))
        scope = open_keys[-1][1] if open_keys else -1
        open_keys.append((indent, index))
        if not dashed:
            yield index, _last_below(broken, index, indent), scope, match[1].strip().strip("\"'")


def _last_below(broken: BrokenHeader, index: int, indent: int) -> int:
    last = index
    for later in range(index + 1, len(broken.lines)):
        text = broken.lines[later].text
        if not text.strip():
            continue
        deeper = len(text) - len(text.lstrip(" \t")) > indent
        if not deeper and not (text[indent:].startswith("- ") and not text[:indent].strip()):
            break
        last = later
    return last


def quote_entries(broken: BrokenHeader) -> RepairedLines | None:
    """The last resort: whatever still cannot be read becomes the text of its key."""
    return apply_patches(broken.lines, _entry_patches(broken))


def _entry_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        if not entry.key:
            if len(broken.all_entries) > 1:
                yield from _comment_out(broken, entry)
            continue
        first = broken.lines[entry.first]
        text = _as_text(broken, entry)
        if not is_valid_yaml(text, broken.limits):
            yield from _comment_out(broken, entry)
            continue
        message = f"The value of `{entry.key}` is not YAML; the whole of it was read as text."
        finding = report("repaired-lines", message, first, entry.key)
        yield Patch(entry.first, entry.last, [first._replace(text=text)], finding)


def _as_text(broken: BrokenHeader, entry: HeaderEntry) -> str:
    rest = broken.lines[entry.first].text.partition(":")[2].strip()
    below = (line.text.strip() for line in broken.lines[entry.first + 1 : entry.last + 1])
    value = " ".join(part for part in (BLOCK_MARK.sub("", rest), *below) if part)
    return (
        f"{_quoted(entry.key) if not _PLAIN_KEY.fullmatch(entry.key) else entry.key}:"
        f" {_quoted(value)}"
    )


def _quoted(text: str) -> str:
    quote, [escaped] = quote_parts([text])
    return f"{quote}{escaped}{quote}"
