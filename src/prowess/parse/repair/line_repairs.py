"""Repairs of a header's lines: characters, indentation, stray text, keys that appear twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.lines import Line, measure_indent
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
# A key before a colon without a blank, before a full-width colon, or before a no-break space.
_KEY_WITHOUT_SPACE = re.compile(
    "[\u00a0\u3000\u200b\ufeff]*([^\\W\\d][\\w-]*)"
    "(?:[ \u00a0\u3000]{0,8}：[ \t\u00a0\u3000]*|:[\u00a0\u3000][ \t\u00a0\u3000]*|:(?![\\s/]))"
)
# A key that needs no quotes.
_PLAIN_KEY = re.compile(r"[^\W\d][\w.$-]*")
_INNER_KEY = re.compile(r"[ ]*(?:- +)*([^\s:#][^:#]{0,80}?):(?=[ \t]|$)")


def drop_controls(broken: BrokenHeader) -> RepairedLines | None:
    """Characters that YAML does not allow are dropped."""
    if not _CONTROL.search(broken.text):
        return None
    return apply_patches(broken.lines, _drop_controls(broken))


def _drop_controls(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in enumerate(broken.lines):
        controls = sorted({f"U+{ord(control):04X}" for control in _CONTROL.findall(line.text)})
        if controls:
            message = f"The line contains control characters ({', '.join(controls)})."
            finding = diagnose("yaml-invalid-character", message, line=line.number)
            fixed = line._replace(text=_CONTROL.sub("", line.text))
            yield Patch(index, index, [fixed], finding)


def tabs_to_spaces(broken: BrokenHeader) -> RepairedLines | None:
    """Tabs in the indentation become two spaces each."""
    if "\t" not in broken.text:
        return None
    message = "The line is indented with tabs."
    patches = replace_tabs(_list_broken_lines(broken), "  ", message)
    return apply_patches(broken.lines, patches)


def replace_tabs(lines: Iterable[tuple[int, Line]], blanks: str, message: str) -> Iterator[Patch]:
    """Patches that put blanks in place of every tab in the indentation of these lines."""
    for index, line in lines:
        indent = line.text[: measure_indent(line.text)]
        if "\t" not in indent:
            continue
        fixed = line._replace(text=indent.replace("\t", blanks) + line.text[len(indent) :])
        finding = diagnose("yaml-tab-indentation", message, line=line.number)
        yield Patch(index, index, [fixed], finding)


def _list_broken_lines(broken: BrokenHeader) -> Iterator[tuple[int, Line]]:
    for entry in broken.entries:
        for index in range(entry.first, entry.last + 1):
            yield index, broken.lines[index]


def part_keys(broken: BrokenHeader) -> RepairedLines | None:
    """`name:value` and `name：value` become `name: value`."""
    return apply_patches(broken.lines, _part_keys(broken))


def _part_keys(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in _list_broken_lines(broken):
        match = _KEY_WITHOUT_SPACE.match(line.text)
        if match is None or match.end() == len(line.text):
            continue
        key = match[1]
        # Words like `Note:this` are text; fields are known, or in lower case and no key yet.
        is_new_key = key.islower() and find_key(line.text) is None
        is_field = key in KNOWN_FIELDS or is_new_key
        if not is_field:
            continue
        fixed = line._replace(text=f"{key}: {line.text[match.end() :]}")
        message = f"`{key}` is not followed by a colon and a space."
        hint = f"Write `{key}: `, with a space after the colon."
        finding = diagnose("yaml-missing-space", message, line=line.number, field=key, hint=hint)
        yield Patch(index, index, [fixed], finding)


def align_keys(broken: BrokenHeader) -> RepairedLines | None:
    """A field that is indented below another one's value moves to the start of its line."""
    return apply_patches(broken.lines, _align_keys(broken))


def _align_keys(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        # How far the last field that moves was indented; 0 before the first one.
        depth = 0
        for index in range(_find_first_below(broken, entry), entry.last + 1):
            line = broken.lines[index]
            indent = len(line.text) - len(line.text.lstrip(" "))
            # What looks like a field deeper than one that moves is part of its value.
            is_inside_field = depth > 0 and indent > depth
            key = None if is_inside_field else _find_indented_field(line.text, indent, entry)
            if key is not None:
                depth = indent
                message = f"`{key}` does not start at the beginning of its line."
                finding = report("yaml-indented-field", message, line, key)
                yield Patch(index, index, [line._replace(text=line.text[indent:])], finding)
            elif depth and indent >= depth:
                # What belongs to the field moves with it.
                yield Patch(index, index, [line._replace(text=line.text[depth:])])


def _find_indented_field(text: str, indent: int, entry: HeaderEntry) -> str | None:
    """The key of an indented line that was meant as a field of its own."""
    if indent == 0:
        return None
    key = find_key(text[indent:])
    # Below the value of a key, other words with a colon are part of its text.
    is_field = not entry.key or key in KNOWN_FIELDS
    return key if is_field else None


def _find_first_below(broken: BrokenHeader, entry: HeaderEntry) -> int:
    """The first line of an entry on which a field may be by mistake.

    There is none below a block mark or an empty value: indented lines belong there.
    """
    if not entry.key:
        return entry.first
    rest = _get_rest(broken, entry)
    takes_lines = not rest or rest.startswith("#") or BLOCK_MARK.match(rest)
    return entry.last + 1 if takes_lines else entry.first + 1


def _get_rest(broken: BrokenHeader, entry: HeaderEntry) -> str:
    """What follows the key of an entry on its line."""
    return broken.lines[entry.first].text.partition(":")[2].strip()


def join_stray_lines(broken: BrokenHeader) -> RepairedLines | None:
    """Text at the margin joins the value before it; before the first key it becomes a comment."""
    return apply_patches(broken.lines, _join_stray_lines(broken))


def _join_stray_lines(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        if not entry.key:
            yield from _comment_out_lead(broken, entry)
            continue
        for index, blanks in _list_missing_blanks(broken, entry):
            yield _indent_stray_line(index, broken.lines[index], blanks, entry.key)


def _indent_stray_line(index: int, line: Line, blanks: int, key: str) -> Patch:
    if line.text.startswith("```"):
        # Somebody pasted the header with the code fence around it.
        return _comment_out_line(index, line)
    message = f"The line is not indented as part of `{key}`."
    finding = report("yaml-stray-line", message, line, key)
    return Patch(index, index, [line._replace(text=" " * blanks + line.text)], finding)


def _list_missing_blanks(broken: BrokenHeader, entry: HeaderEntry) -> Iterator[tuple[int, int]]:
    """The lines of an entry that are indented too little, each with the blanks it needs."""
    rest = _get_rest(broken, entry)
    below = {index: broken.lines[index].text for index in range(entry.first + 1, entry.last + 1)}
    if BLOCK_MARK.match(rest):
        return _list_blanks_of_block(below)
    return _list_blanks_of_text(below, rest)


def _list_blanks_of_block(below: dict[int, str]) -> Iterator[tuple[int, int]]:
    """Every line of a block has to be as deep as its first one; two blanks if that has none."""
    first: int | None = None
    for index, text in below.items():
        if not text.strip():
            continue
        indent = len(text) - len(text.lstrip(" "))
        if first is None:
            first = indent
        if first == 0:
            # All lines move, so that those that are deeper than the first one stay so.
            yield index, 2
        elif indent < first:
            yield index, first - indent


def _list_blanks_of_text(below: dict[int, str], rest: str) -> Iterator[tuple[int, int]]:
    stray = [index for index, text in below.items() if _is_stray(text, after=rest)]
    if stray and below[stray[0]].startswith(("[", "{")):
        # JSON on lines of its own: all of them belong to the value.
        stray = [index for index, text in below.items() if text.strip()]
    for index in stray:
        yield index, 2


def _is_stray(text: str, *, after: str) -> bool:
    """Whether a line at the margin is neither a comment, nor an item, nor inside brackets."""
    is_indented_or_comment = text[:1] in ("", " ", "\t", "#")
    is_in_brackets = after.startswith(("[", "{"))
    if is_indented_or_comment or is_in_brackets:
        return False
    is_item = text == "-" or text.startswith("- ")
    # After a value on the line of the key, there cannot be a list, too.
    return bool(after) or not is_item


def _comment_out_lead(broken: BrokenHeader, entry: HeaderEntry) -> Iterator[Patch]:
    """Comments in place of the text before the first key, if there is a key at all."""
    if len(broken.all_entries) > 1:
        yield from _comment_out(broken, entry)


def _comment_out(broken: BrokenHeader, entry: HeaderEntry) -> Iterator[Patch]:
    for index in range(entry.first, entry.last + 1):
        line = broken.lines[index]
        text = line.text.lstrip()
        if text and not text.startswith("#"):
            yield _comment_out_line(index, line)


def _comment_out_line(index: int, line: Line) -> Patch:
    message = "The line belongs to no field and is ignored."
    finding = diagnose("yaml-stray-line", message, line=line.number)
    return Patch(index, index, [line._replace(text="# " + line.text)], finding)


def drop_duplicates(broken: BrokenHeader) -> RepairedLines | None:
    """Of keys that appear twice in one mapping the last is kept."""
    if broken.problem.key is None:
        return None
    return apply_patches(broken.lines, find_duplicates(broken))


def find_duplicates(broken: BrokenHeader) -> Iterator[Patch]:
    """Patches that drop every key but the last of its name, each with its key."""
    keys = list(_find_keys(broken))
    kept = {(key.scope, key.name): key.first for key in keys}
    dropped_to = -1
    for key in keys:
        last = kept[key.scope, key.name]
        # A key below a dropped one is gone with it.
        is_gone = key.first <= dropped_to
        if is_gone or key.first == last:
            continue
        dropped_to = key.last
        used = broken.lines[last].number
        message = f"`{key.name}` appears twice; the one on line {used} is used."
        line = broken.lines[key.first]
        finding = report("yaml-duplicate-key", message, line, key.name)
        yield Patch(key.first, key.last, [], finding, key.name)


class _KeyLines(NamedTuple):
    """A key that begins line `first`, with everything below it up to line `last`.

    `scope` identifies its mapping: the line above that is less indented, -1 for the header itself.
    """

    first: int
    last: int
    scope: int
    name: str


def _find_keys(broken: BrokenHeader) -> Iterator[_KeyLines]:
    inside_values = _list_lines_inside_values(broken)
    # Indent and line of the keys and dashes that the current line may be below.
    above: list[tuple[int, int]] = []
    for index, line in enumerate(broken.lines):
        if index in inside_values:
            continue
        match = _INNER_KEY.match(line.text)
        if match is None:
            continue
        indent = match.start(1)
        is_item = "-" in line.text[:indent]
        margin = line.text.index("-") if is_item else indent
        # Keys at the same depth or deeper are complete; this line is not below them.
        while above and above[-1][0] >= margin:
            above.pop()
        if is_item:
            # Each item is a mapping of its own: equal keys in two of them are no duplicates.
            above.append((margin, index))
        scope = above[-1][1] if above else -1
        above.append((indent, index))
        if not is_item:
            name = match[1].strip().strip("\"'")
            yield _KeyLines(index, _find_last_below(broken, index, indent), scope, name)


def _list_lines_inside_values(broken: BrokenHeader) -> set[int]:
    """The lines that continue a value. What looks like a key there is text."""
    inside: set[int] = set()
    for entry in broken.all_entries:
        for value in find_values(broken.lines, entry):
            inside.update(range(value.first + 1, value.last + 1))
    return inside


def _find_last_below(broken: BrokenHeader, index: int, indent: int) -> int:
    """The last line that belongs to a key: those below it that are deeper, or items beside it."""
    last = index
    for later in range(index + 1, len(broken.lines)):
        text = broken.lines[later].text
        if not text.strip():
            continue
        is_deeper = measure_indent(text) > indent
        # The items of a list may be as deep as its key.
        is_item = text[indent:].startswith("- ") and not text[:indent].strip()
        if not is_deeper and not is_item:
            break
        last = later
    return last


def quote_entries(broken: BrokenHeader) -> RepairedLines | None:
    """The last resort: whatever still cannot be parsed becomes the text of its key."""
    return apply_patches(broken.lines, _quote_entries(broken))


def _quote_entries(broken: BrokenHeader) -> Iterator[Patch]:
    for entry in broken.entries:
        if not entry.key:
            yield from _comment_out_lead(broken, entry)
            continue
        text = _render_entry(broken, entry)
        if not is_valid_yaml(text, broken.limits):
            # Not even in quotes can it be parsed.
            yield from _comment_out(broken, entry)
            continue
        first = broken.lines[entry.first]
        finding = _report_invalid_value(first, entry.key)
        yield Patch(entry.first, entry.last, [first._replace(text=text)], finding)


def _report_invalid_value(line: Line, key: str) -> Diagnostic:
    message = f"The value of `{key}` is not valid YAML and is read as plain text."
    return report("yaml-invalid-value", message, line, key)


def _render_entry(broken: BrokenHeader, entry: HeaderEntry) -> str:
    """An entry on one line, with all of its value in quotes."""
    # A block mark says how lines are joined and is no part of the text.
    rest = BLOCK_MARK.sub("", _get_rest(broken, entry))
    below = [line.text.strip() for line in broken.lines[entry.first + 1 : entry.last + 1]]
    value = " ".join(filter(None, (rest, *below)))
    key = entry.key if _PLAIN_KEY.fullmatch(entry.key) else _quote(entry.key)
    return f"{key}: {_quote(value)}"


def _quote(text: str) -> str:
    quote, [escaped] = quote_parts([text])
    return f"{quote}{escaped}{quote}"
