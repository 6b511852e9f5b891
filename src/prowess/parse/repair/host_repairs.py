"""Repairs as hosts do them: broader or narrower than Prowess's own, so that answers agree with
theirs.
"""

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
    quote_parts,
    report,
)
from prowess.parse.yaml.reader import is_valid_yaml

_PLAIN_PAIR = re.compile(r"([A-Za-z_]\w*)[ \t]*:[ \t]*(.*)", re.ASCII)
_DASHED_PAIR = re.compile(r"([A-Za-z_-]+):[ \t]+(.+)")
_ANY_PAIR = re.compile(r"([ \t]*[A-Za-z_][\w-]*:[ \t]+)(\S.*)", re.ASCII)
_LINE_PAIR = re.compile(r"([\w-]+):[ \t]*(.*)", re.ASCII)
_RESERVED = re.compile(r"[{}\[\]*&#!|>%@`]|: ")


def drop_tabs(broken: BrokenHeader) -> RepairedLines | None:
    """Tabs at the start of a line count as no indentation at all."""
    return apply_patches(broken.lines, _tab_patches(broken))


def _tab_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in enumerate(broken.lines):
        rest = line.text.lstrip(" \t")
        blanks = line.text[: len(line.text) - len(rest)]
        if "\t" in blanks:
            finding = diagnose(
                "repaired-tab", "Tabs at the start of the line were left out.", line=line.number
            )
            yield Patch(
                index, index, [line._replace(text=blanks.replace("\t", "") + rest)], finding
            )


def write_blocks(broken: BrokenHeader) -> RepairedLines | None:
    """Every unquoted value with a colon, of a key without a hyphen, becomes a block of text."""
    return apply_patches(broken.lines, _block_patches(broken))


def _block_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in enumerate(broken.lines):
        match = _PLAIN_PAIR.fullmatch(line.text)
        value = match[2].strip() if match else ""
        if match is None or ":" not in value or value[0] in "\"'":
            continue
        lines = [
            line._replace(text=f"{match[1]}: |-"),
            line._replace(text=f"  {value}"),
        ]
        message = f"The value of `{match[1]}` holds a colon; it was written as a block of text."
        yield Patch(index, index, lines, report("repaired-colon", message, line, match[1]))


def quote_description(broken: BrokenHeader) -> RepairedLines | None:
    """Only a broken `description` is rescued; `summary` and `read_when` where they hold a colon and
    a blank.
    """
    return apply_patches(broken.lines, _description_patches(broken))


def _description_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in enumerate(broken.lines):
        key = find_key(line.text)
        if key not in ("description", "summary", "read_when"):
            continue
        value = line.text.partition(":")[2].strip()
        if not value or is_valid_yaml(f"k: {value}\n", broken.limits):
            continue
        if key == "description" or ": " in value:
            yield _quoted(index, line, f"{key}: ", value, key)


def quote_reserved(broken: BrokenHeader) -> RepairedLines | None:
    """Every value at the margin that holds a reserved character is quoted, whether it was broken or
    not.
    """
    return apply_patches(broken.lines, _reserved_patches(broken))


def _reserved_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in enumerate(broken.lines):
        match = _DASHED_PAIR.fullmatch(line.text)
        value = match[2].strip() if match else ""
        if match is None or not value or not _RESERVED.search(value):
            continue
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            continue
        yield _quoted(index, line, f"{match[1]}: ", value, match[1])


def quote_pairs(broken: BrokenHeader) -> RepairedLines | None:
    """Every plain value with a colon and a blank in it is quoted, at any indentation."""
    return apply_patches(broken.lines, _pair_patches(broken))


def _pair_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for index, line in enumerate(broken.lines):
        match = _ANY_PAIR.fullmatch(line.text)
        value = match[2].rstrip() if match else ""
        if match is not None and ": " in value and value[0] not in "\"'[{|>!&*#":
            yield _quoted(index, line, match[1], value, match[1].strip(": \t"))


def _quoted(index: int, line: Line, before: str, value: str, key: str) -> Patch:
    quote, [text] = quote_parts([value])
    message = f"The value of `{key}` was put in quotes, since the header is not YAML without."
    finding = report("repaired-colon", message, line, key)
    return Patch(index, index, [line._replace(text=f"{before}{quote}{text}{quote}")], finding)


def read_line_by_line(broken: BrokenHeader) -> RepairedLines | None:
    """Every `key: value` line at the margin is text as it stands; everything else is left out."""
    pairs: dict[str, Line] = {}
    for line in broken.original:
        match = _LINE_PAIR.fullmatch(line.text)
        if match is not None:
            quote, [text] = quote_parts([match[2].strip()])
            pairs.pop(match[1], None)
            pairs[match[1]] = line._replace(text=f"{match[1]}: {quote}{text}{quote}")
    lines = list(pairs.values())
    if not lines or lines == broken.lines:
        return None
    message = (
        "The header is not YAML; each `key: value` line was read as text, other lines were left"
        " out."
    )
    return RepairedLines(lines, [diagnose("repaired-lines", message, line=lines[0].number)])
