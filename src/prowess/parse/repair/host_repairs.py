"""Repairs as hosts make them: broader or narrower than Prowess's own, so that answers agree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prowess.diagnostics import diagnose
from prowess.parse.header.lines import Line
from prowess.parse.repair.broken_header import (
    BrokenHeader,
    Patch,
    RepairedLines,
    apply_patches,
    find_key,
    match_lines,
    quote_parts,
    report,
)
from prowess.parse.repair.line_repairs import find_duplicates, replace_tabs
from prowess.parse.yaml.reader import is_valid_yaml
from prowess.parse.yaml.text_values import strip_quotes

# The hosts' own patterns, quirks included.
_PLAIN_PAIR = re.compile(r"([A-Za-z_]\w*)[ \t]*:[ \t]*(.*)", re.ASCII)
_DASHED_PAIR = re.compile(r"([A-Za-z_-]+):[ \t]+(.+)")
_ANY_PAIR = re.compile(r"([ \t]*[A-Za-z_][\w-]*:[ \t]+)(\S.*)", re.ASCII)
_LINE_PAIR = re.compile(r"([\w-]+):[ \t]*(.*)", re.ASCII)
_ITEM = re.compile(r"[ \t]*-(?:[ \t]|$)")
_RESERVED = re.compile(r"[{}\[\]*&#!|>%@`]|: ")
# The fields that Codex reads; it rejects a header that has one of them twice.
_READ_ONCE = ("name", "description", "metadata")
# The fields in which OpenClaw looks for a colon that breaks the header.
_RESCUED_FIELDS = ("description", "summary", "read_when")


def drop_tabs(broken: BrokenHeader) -> RepairedLines | None:
    """Tabs at the start of a line count as no indentation at all."""
    message = "The line is indented with tabs, which this host ignores."
    patches = replace_tabs(enumerate(broken.lines), "", message)
    return apply_patches(broken.lines, patches)


def read_tabs_before_items(broken: BrokenHeader) -> RepairedLines | None:
    """A tab before the dash of a list is indentation; nowhere else."""
    message = "The item is indented with a tab, which YAML does not allow."
    items = [(index, line) for index, line in enumerate(broken.lines) if _ITEM.match(line.text)]
    return apply_patches(broken.lines, replace_tabs(items, "  ", message))


def write_blocks(broken: BrokenHeader) -> RepairedLines | None:
    """Every unquoted value with a colon, of a key without a hyphen, becomes a block of text.

    The host does so with the header as it is written, whatever its parser would have tolerated.
    """
    return apply_patches(broken.original, _write_blocks(broken))


def _write_blocks(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line, match in match_lines(broken.original, _PLAIN_PAIR):
        key, value = match[1], match[2].strip()
        # opencode asks for any colon, not only for one before a blank: `a:b` becomes a block, too.
        if ":" not in value or value[0] in "\"'":
            continue
        block = [line._replace(text=f"{key}: |-"), line._replace(text=f"  {value}")]
        message = (
            f"This host reads the value of `{key}` as a block of text because it contains `:`."
        )
        yield Patch(index, index, block, report("yaml-unquoted-colon", message, line, key))


def quote_description(broken: BrokenHeader) -> RepairedLines | None:
    """Only a broken `description` is quoted, and `summary` and `read_when` if they contain `: `."""
    return apply_patches(broken.lines, _quote_description(broken))


def _quote_description(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in enumerate(broken.lines):
        key = find_key(line.text)
        if key not in _RESCUED_FIELDS:
            continue
        value = line.text.partition(":")[2].strip()
        # OpenClaw saves a description from any error, the other two only from a colon.
        is_rescued = key == "description" or ": " in value
        if not value or not is_rescued:
            continue
        if not is_valid_yaml(f"k: {value}\n", broken.limits):
            yield _quote(index, line, f"{key}: ", strip_quotes(value), key)


def quote_reserved(broken: BrokenHeader) -> RepairedLines | None:
    """Every value at the margin with a reserved character is quoted, broken or not."""
    return apply_patches(broken.lines, _quote_reserved(broken))


def _quote_reserved(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line, match in match_lines(broken.lines, _DASHED_PAIR):
        key, value = match[1], match[2].strip()
        is_quoted = len(value) > 1 and value[0] == value[-1] in ('"', "'")
        if not is_quoted and _RESERVED.search(value):
            yield _quote(index, line, f"{key}: ", value, key)


def quote_pairs(broken: BrokenHeader) -> RepairedLines | None:
    """Every plain value that contains `: ` is quoted, at any indentation."""
    return apply_patches(broken.lines, _quote_pairs(broken))


def _quote_pairs(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line, match in match_lines(broken.lines, _ANY_PAIR):
        before, value = match[1], match[2].rstrip()
        if ": " in value and value[0] not in "\"'[{|>!&*#":
            yield _quote(index, line, before, value, before.strip(": \t"))


def quote_lines(broken: BrokenHeader) -> RepairedLines | None:
    """Every unquoted value with `: `, and every broken one that begins with a bracket, `@` or a
    backtick, is quoted, line by line.
    """
    return apply_patches(broken.lines, _quote_lines(broken))


def _quote_lines(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line, match in match_lines(broken.lines, _ANY_PAIR):
        before, value = match[1], match[2].rstrip()
        # A no-break space is text to the pattern, and a blank that is stripped.
        if not value or value[0] in "\"'|>":
            continue
        # Codex quotes brackets only where they are broken: a list that can be parsed stays one.
        begins_oddly = value[0] in "[{@`" and not is_valid_yaml(f"k: {value}\n", broken.limits)
        if ": " in value or begins_oddly:
            yield _quote(index, line, before, value, before.strip(": \t"))


def drop_other_duplicates(broken: BrokenHeader) -> RepairedLines | None:
    """Of two equal keys the last counts, unless it is one that the host reads."""
    if broken.problem.key is None:
        return None
    patches = find_duplicates(broken)
    others = [patch for patch in patches if patch.key not in _READ_ONCE]
    return apply_patches(broken.lines, others)


def _quote(index: int, line: Line, before: str, value: str, key: str) -> Patch:
    quote, [text] = quote_parts([value])
    message = f"This host quotes the value of `{key}` because the header is invalid YAML otherwise."
    finding = report("yaml-unquoted-colon", message, line, key)
    return Patch(index, index, [line._replace(text=f"{before}{quote}{text}{quote}")], finding)


def read_line_by_line(broken: BrokenHeader) -> RepairedLines | None:
    """Every `key: value` line at the margin is text; all other lines are dropped."""
    pairs: dict[str, Line] = {}
    for _, line, match in match_lines(broken.original, _LINE_PAIR):
        key = match[1]
        quote, [text] = quote_parts([match[2].strip()])
        # Of a key that appears twice the last one counts, at its own place.
        pairs.pop(key, None)
        pairs[key] = line._replace(text=f"{key}: {quote}{text}{quote}")
    lines = list(pairs.values())
    if not lines or lines == broken.lines:
        return None
    message = (
        "The header is not valid YAML; each `key: value` line is read as text, other lines are"
        " ignored."
    )
    return RepairedLines(lines, [diagnose("yaml-invalid-value", message, line=lines[0].number)])
