"""Repairs of values: each knows one way in which people break YAML, and says what it changed.

A repair touches only values that cannot be read even alone, so that what is sound stays as it was
written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from prowess.parse.header.lines import Line
from prowess.parse.repair.broken_header import (
    BLOCK_MARK,
    Brackets,
    BrokenHeader,
    HeaderValue,
    Patch,
    RepairedLines,
    apply_patches,
    name_value,
    quote_value,
    report,
    split_comment,
    write_block,
)
from prowess.parse.yaml.reader import is_valid_yaml

_BLOCK_WITH_TEXT = re.compile(r"([|>][-+\d]{0,2})[ \t]+(?=[^\s#])")
_COLON = re.compile(r":(?=[ \t]|$)")
_INDICATORS = "@`%*&!|>?-,]}:"
_ESCAPE = re.compile(
    r"(\\(?:[0abtnvfre"
    r' "/\\N_LP]|x[\da-fA-F]{2}|u(?![dD][89a-fA-F])[\da-fA-F]{4}|U00(?:0\d|10)[\da-fA-F]{4}))|[\\"]'
)

# Fields that hold text: a bracket at their start is a hint to the reader, not a list.
TEXT_FIELDS = frozenset(
    "name description when_to_use argument-hint license compatibility version model agent homepage".split()
)


def _patch_values(
    broken: BrokenHeader, applies: Callable[[HeaderValue], bool], code: str, sentence: str
) -> RepairedLines | None:
    """Quote every broken value to which a repair applies."""
    return apply_patches(
        broken.lines,
        (
            Patch(
                value.first,
                value.last,
                quote_value(broken.lines, value),
                report(
                    code,
                    f"{name_value(value.key)} {sentence}; it was put in quotes.",
                    broken.lines[value.first],
                    value.key,
                ),
            )
            for value in broken.values
            if applies(value)
        ),
    )


def move_block_text(broken: BrokenHeader) -> RepairedLines | None:
    """`description: > Text` becomes a block with the text on the next line."""
    return apply_patches(broken.lines, _block_patches(broken))


def _block_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        mark = _BLOCK_WITH_TEXT.match(value.text)
        if mark is None:
            continue
        line = broken.lines[value.first]
        below = [
            later.text
            for later in broken.lines[value.first + 1 : value.last + 1]
            if later.text.strip()
        ]
        depth = min((len(text) - len(text.lstrip(" ")) for text in below), default=value.indent + 2)
        lines = [
            Line(line.number, line.text[: value.column] + mark[1], line.end),
            Line(line.number, " " * depth + value.text[mark.end() :], line.end),
        ]
        message = (
            f"{name_value(value.key)} has text after its block mark `{mark[1]}`; it was moved into"
            " the block."
        )
        yield Patch(
            value.first, value.first, lines, report("repaired-block-text", message, line, value.key)
        )


def close_brackets(broken: BrokenHeader) -> RepairedLines | None:
    """JSON or a list whose last brackets are missing is closed, where it can be read then."""
    return apply_patches(broken.lines, _closing_patches(broken))


def _closing_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        if value.text[0] not in "[{" or value.key in TEXT_FIELDS:
            continue
        brackets = Brackets()
        text = "\n".join(value.parts)
        if brackets.close_in(text) or not brackets.missing or not brackets.matched:
            continue
        if not is_valid_yaml(
            f"k: {text.replace(chr(10), chr(10) + '  ')}{brackets.missing}\n", broken.limits
        ):
            continue
        last = broken.lines[value.last]
        closed = Line(last.number, last.text.rstrip() + brackets.missing, last.end)
        message = (
            f"{name_value(value.key)} is never closed; `{brackets.missing}` was added at its end."
        )
        yield Patch(
            value.last, value.last, [closed], report("repaired-json", message, last, value.key)
        )


def quote_hint(broken: BrokenHeader) -> RepairedLines | None:
    """`[a] [b]` and other text that begins with a bracket; over several lines it becomes a block."""
    return apply_patches(broken.lines, _hint_patches(broken))


def _hint_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        if value.text[0] not in "[{":
            continue
        line = broken.lines[value.first]
        in_block = value.last > value.first
        lines = write_block(broken.lines, value) if in_block else quote_value(broken.lines, value)
        how = "written as a block of text" if in_block else "put in quotes"
        message = (
            f"{name_value(value.key)} begins with a bracket and is neither a list nor a mapping; it"
            f" was {how}."
        )
        yield Patch(
            value.first, value.last, lines, report("repaired-hint", message, line, value.key)
        )


def quote_indicator(broken: BrokenHeader) -> RepairedLines | None:
    """Text that begins with a character that YAML keeps for itself."""

    def applies(value: HeaderValue) -> bool:
        return value.text[0] in _INDICATORS and not BLOCK_MARK.match(value.text)

    return _patch_values(broken, applies, "repaired-indicator", "begins with a reserved character")


def quote_colon(broken: BrokenHeader) -> RepairedLines | None:
    """Plain text with a colon before a blank or at the end of a line, also over several lines."""

    def applies(value: HeaderValue) -> bool:
        if value.text[0] in "\"'[{" or value.text[0] in _INDICATORS.replace(":", ""):
            return False
        return any(_COLON.search(part) for part in value.parts)

    return _patch_values(broken, applies, "repaired-colon", "holds a colon that ends a key in YAML")


def fix_quotes(broken: BrokenHeader) -> RepairedLines | None:
    """Quotes inside quotes, a quote that is never closed, text after the closing quote, unknown
    escapes.
    """
    return apply_patches(broken.lines, _quote_patches(broken))


def _quote_patches(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        if value.text[0] not in "\"'":
            continue
        line = broken.lines[value.first]
        quote = value.text[0]
        *before, last = value.parts
        last, comment = split_comment(last)
        last = last[:-1] if last.endswith(quote + ",") else last
        closes = last.endswith(quote) and (bool(before) or len(last) > 1)
        inner = [*before, last]
        if _is_several(" ".join(inner), quote, closes=closes):
            message = (
                f"{name_value(value.key)} has text after its closing quote; the whole was put in"
                " quotes."
            )
            lines = quote_value(broken.lines, value)
        else:
            inner[0] = inner[0][1:]
            inner[-1] = inner[-1][:-1] if closes else inner[-1]
            message = (
                f"{name_value(value.key)} has quotes or backslashes that do not fit; they were"
                " mended."
            )
            lines = _requote(broken, value, inner, quote, comment)
        yield Patch(
            value.first, value.last, lines, report("repaired-quote", message, line, value.key)
        )


def _is_several(text: str, quote: str, *, closes: bool) -> bool:
    """Whether the first quote closes before the end, so that what follows is text of its own."""
    return f"{quote}, {quote}" in text or (not closes and quote in text[1:])


def _requote(
    broken: BrokenHeader, value: HeaderValue, inner: list[str], quote: str, comment: str
) -> list[Line]:
    escape = _escape_double if quote == '"' else _escape_single
    texts = [escape(part) for part in inner]
    texts[0] = quote + texts[0]
    texts[-1] += quote + comment
    lines = []
    for offset, text in enumerate(texts):
        line = broken.lines[value.first + offset]
        before = (
            line.text[: value.column]
            if offset == 0
            else line.text[: len(line.text) - len(line.text.lstrip())]
        )
        lines.append(Line(line.number, before + text if text else "", line.end))
    return lines


def _escape_double(text: str) -> str:
    """Text for double quotes: escapes that YAML knows stay, other backslashes and quotes are
    escaped.
    """
    return _ESCAPE.sub(lambda match: match[0] if match[1] else "\\" + match[0], text)


def _escape_single(text: str) -> str:
    """Text for single quotes: a quote that is doubled already stays."""
    return text.replace("''", "'").replace("'", "''")
