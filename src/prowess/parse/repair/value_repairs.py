"""Repairs of values: each knows one way in which people break YAML.

A repair touches only values that cannot be parsed even alone, so that what is valid stays as it was
written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

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
    replace_texts,
    report,
    split_comment,
    write_block,
)
from prowess.parse.yaml.reader import is_valid_yaml

_BLOCK_WITH_TEXT = re.compile(r"([|>][-+\d]{0,2})[ \t]+(?=[^\s#])")
_COLON = re.compile(r":(?=[ \t]|$)")
_RESERVED = "@`%*&!|>?-,]}:"
# What YAML knows as an escape in double quotes, else a backslash or a quote that is none. Halves of
# a surrogate pair are no characters.
_ESCAPE = re.compile(
    r'(\\(?:[0abtnvfre "/\\N_LP]'
    r"|x[\da-fA-F]{2}|u(?![dD][89a-fA-F])[\da-fA-F]{4}|U00(?:0\d|10)[\da-fA-F]{4}))"
    r'|[\\"]'
)

# Fields that are text: a bracket at their start is a hint to the reader, not a list.
_TEXT_FIELDS = frozenset(
    "name description when_to_use argument-hint license compatibility version model agent"
    " homepage".split()
)


def _quote_values(
    broken: BrokenHeader, explain: Callable[[HeaderValue], str | None], code: str
) -> RepairedLines | None:
    """Quote every broken value about which `explain` has something to say."""
    return apply_patches(broken.lines, _quote_explained(broken, explain, code))


def _quote_explained(
    broken: BrokenHeader, explain: Callable[[HeaderValue], str | None], code: str
) -> Iterator[Patch]:
    for value in broken.values:
        problem = explain(value)
        if problem is not None:
            yield _patch(broken, value, quote_value(broken.lines, value), code, problem)


def _patch(
    broken: BrokenHeader, value: HeaderValue, lines: Sequence[Line], code: str, problem: str
) -> Patch:
    """New lines for all lines of a value."""
    message = f"{name_value(value.key)} {problem}."
    finding = report(code, message, broken.lines[value.first], value.key)
    return Patch(value.first, value.last, lines, finding)


def move_block_text(broken: BrokenHeader) -> RepairedLines | None:
    """`description: > Text` becomes a block with the text on the next line."""
    return apply_patches(broken.lines, _move_block_text(broken))


def _move_block_text(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        mark = _BLOCK_WITH_TEXT.match(value.text)
        if mark is None:
            continue
        line = broken.lines[value.first]
        below = [later.text for later in broken.lines[value.first + 1 : value.last + 1]]
        indents = [len(text) - len(text.lstrip(" ")) for text in below if text.strip()]
        # As deep as the least indented line: the first line of a block sets its depth.
        depth = min(indents, default=value.indent + 2)
        lines = [
            line._replace(text=line.text[: value.column] + mark[1]),
            line._replace(text=" " * depth + value.text[mark.end() :]),
        ]
        message = f"{name_value(value.key)} has text on the line of its block mark `{mark[1]}`."
        finding = report("yaml-text-after-block-mark", message, line, value.key)
        yield Patch(value.first, value.first, lines, finding)


def close_brackets(broken: BrokenHeader) -> RepairedLines | None:
    """JSON or a list whose last brackets are missing is closed, if it can be parsed then."""
    return apply_patches(broken.lines, _close_brackets(broken))


def _close_brackets(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        is_bracketed = value.text[0] in "[{"
        # `description: [Beta] …` is no list; `quote_hint` makes it text.
        if not is_bracketed or value.key in _TEXT_FIELDS:
            continue
        brackets = Brackets()
        is_closed = brackets.close_in("\n".join(value.parts))
        missing = brackets.missing
        # Brackets of the wrong kind are another mistake than a cut-off end.
        is_cut_off = not is_closed and brackets.matched
        if not missing or not is_cut_off:
            continue
        # With its lines indented, as they have to be below a key.
        closed = "\n  ".join(value.parts) + missing
        if not is_valid_yaml(f"k: {closed}\n", broken.limits):
            continue
        last = broken.lines[value.last]
        message = f"{name_value(value.key)} is never closed; `{missing}` is missing at its end."
        finding = report("yaml-unclosed-bracket", message, last, value.key)
        fixed = last._replace(text=last.text.rstrip() + missing)
        yield Patch(value.last, value.last, [fixed], finding)


def quote_hint(broken: BrokenHeader) -> RepairedLines | None:
    """`[a] [b]` and other text that begins with a bracket is quoted; several lines make a block."""
    return apply_patches(broken.lines, _quote_hints(broken))


def _quote_hints(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        bracket = value.text[0]
        if bracket not in "[{":
            continue
        # A block keeps the lines apart; in quotes they would fold into one.
        has_lines_below = value.last > value.first
        write = write_block if has_lines_below else quote_value
        kind = "list" if bracket == "[" else "mapping"
        problem = f"begins with `{bracket}` but is not a valid {kind}"
        yield _patch(broken, value, write(broken.lines, value), "yaml-unquoted-bracket", problem)


def quote_indicator(broken: BrokenHeader) -> RepairedLines | None:
    """Text that begins with a character that YAML keeps for itself is quoted."""
    return _quote_values(broken, _explain_indicator, "yaml-reserved-character")


def _explain_indicator(value: HeaderValue) -> str | None:
    character = value.text[0]
    is_block = BLOCK_MARK.match(value.text) is not None
    if is_block or character not in _RESERVED:
        return None
    shown = f"`{character}`" if character != "`" else "a backtick"
    return f"begins with {shown}, which is reserved in YAML"


def quote_colon(broken: BrokenHeader) -> RepairedLines | None:
    """Plain text with a colon before a blank or at the end of a line is quoted."""
    return _quote_values(broken, _explain_colon, "yaml-unquoted-colon")


def _explain_colon(value: HeaderValue) -> str | None:
    first = value.text[0]
    # Values that begin with a quote, a bracket or a reserved character have repairs of their own.
    is_reserved = first in _RESERVED and first != ":"
    is_quoted_or_bracketed = first in "\"'[{"
    if is_reserved or is_quoted_or_bracketed:
        return None
    has_colon = any(_COLON.search(part) for part in value.parts)
    if not has_colon:
        return None
    if any(": " in part for part in value.parts):
        return "contains `: `, which YAML reads as a new key"
    return "has a line that ends with `:`, which YAML reads as a new key"


def fix_quotes(broken: BrokenHeader) -> RepairedLines | None:
    """Quotes in quotes, unclosed quotes, text after the closing quote and unknown escapes."""
    return apply_patches(broken.lines, _fix_quotes(broken))


def _fix_quotes(broken: BrokenHeader) -> Iterator[Patch]:
    for value in broken.values:
        quote = value.text[0]
        if quote not in "\"'":
            continue
        *before, last = value.parts
        last, comment = split_comment(last)
        has_comma = last.endswith(quote + ",")
        if has_comma:
            # Pasted from JSON.
            last = last[:-1]
        # A lone quote on the only line opens the value and cannot close it, too.
        is_opening = not before and len(last) == 1
        is_closed = last.endswith(quote) and not is_opening
        parts = [*before, last]
        if _has_text_after(" ".join(parts), quote, is_closed=is_closed):
            lines = quote_value(broken.lines, value)
            problem = "has text after its closing quote"
        else:
            parts[0] = parts[0][1:]
            if is_closed:
                parts[-1] = parts[-1][:-1]
            lines = _requote(broken, value, parts, quote, comment)
            problem = _explain_quotes(parts, quote, is_closed=is_closed, has_comma=has_comma)
        yield _patch(broken, value, lines, "yaml-invalid-quotes", problem)


def _has_text_after(text: str, quote: str, *, is_closed: bool) -> bool:
    """Whether the first quote closes before the end, as in `"a", "b"`."""
    has_two_values = f"{quote}, {quote}" in text
    closes_early = not is_closed and quote in text[1:]
    return has_two_values or closes_early


def _explain_quotes(parts: list[str], quote: str, *, is_closed: bool, has_comma: bool) -> str:
    if not is_closed:
        return "has an unclosed quote"
    unescaped = _find_unescaped("\n".join(parts), quote)
    if quote in unescaped:
        return "has an unescaped quote inside its quotes"
    if unescaped:
        return "has a backslash that is not a valid YAML escape"
    if has_comma:
        return "has text after its closing quote"
    return "is not quoted correctly"


def _find_unescaped(text: str, quote: str) -> list[str]:
    if quote == "'":
        # A doubled quote is the only escape in single quotes.
        without_escapes = text.replace("''", "")
        return ["'"] if "'" in without_escapes else []
    return [match[0] for match in _ESCAPE.finditer(text) if not match[1]]


def _requote(
    broken: BrokenHeader, value: HeaderValue, parts: list[str], quote: str, comment: str
) -> list[Line]:
    escape = _escape_double if quote == '"' else _escape_single
    texts = [escape(part) for part in parts]
    texts[0] = quote + texts[0]
    texts[-1] += quote + comment
    return replace_texts(broken.lines, value, texts)


def _escape_double(text: str) -> str:
    """Text for double quotes: escapes of YAML stay, other backslashes and quotes are escaped."""
    return _ESCAPE.sub(lambda match: match[0] if match[1] else "\\" + match[0], text)


def _escape_single(text: str) -> str:
    """Text for single quotes: a quote that is doubled already stays."""
    return text.replace("''", "'").replace("'", "''")
