"""A header that is not YAML, taken apart by its lines, so that repairs can replace some of them.

Repairs need to know which lines belong to which key where no YAML parser can tell. An entry is a
key at the start of a line with everything up to the next one; a value is what follows a key or a
dash, with the deeper lines below it. `BrokenHeader` knows which of them are at fault, and a repair
answers with patches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from prowess.diagnostics import Diagnostic, diagnose
from prowess.parse.header.lines import Line, measure_indent, plain_text
from prowess.parse.yaml.reader import YamlProblem, is_valid_yaml
from prowess.profiles.schema.roots import ScanLimits

BLOCK_MARK = re.compile(r"[|>][-+\d]{0,2}[ \t]*(?:#.*)?$")
"""A block mark alone on its line: what follows is text, line by line."""

_TOP_KEY = re.compile(r"""(?:[^\W\d][\w.$-]*|"[^"]*"|'[^']*')[ \t]*:(?=[ \t]|$)""")
_INNER_KEY = re.compile(
    r"""(?P<dashes>[ \t]*(?:-[ \t]+)*)"""
    r"""(?:(?P<key>"[^"]*"|'[^']*'|[^\s"'\[\]{},&*!|>%@`#:-][^:#]{0,80}?)"""
    r"""[ \t]{0,8}:(?=[ \t]|$)[ \t]*)?"""
)
# An entry that is valid for sure, without asking the parser.
_PLAIN_ENTRY = re.compile(r"[A-Za-z_][\w-]*:(?: [A-Za-z][\w ./-]*)?", re.ASCII)
# They begin at the first blank of a run only: if they could begin at each, a long run would take
# quadratic time.
_COMMENT = re.compile(r"(?<![ \t])[ \t]+#(?=[ \t]|$)")
_HASH_IN_TEXT = re.compile(r"(?<![ \t])[ \t]+#(?=[^\s#])")
_OPEN, _CLOSE = "[{", "]}"
_QUOTES = "\"'"
_BRACKET_OR_QUOTE = re.compile(r"""["'\[\]{}\\]""")

# Closing brackets are searched for in at most this many times an entry's length. A value that
# closes costs its own length; without a bound, brackets that are never closed would be followed
# from each of their lines to the end.
_MOST_SEARCHES = 4


class HeaderEntry(NamedTuple):
    """Lines `first` to `last` of a header: a key and what belongs to it.

    Lines before the first key have the key "".
    """

    first: int
    last: int
    key: str


class HeaderValue(NamedTuple):
    """A value: it begins at `column` of line `first` and goes on to line `last`.

    Its key is at `indent`; an item of a list has the key "" and the indent of its dash. `parts` is
    the text of each line without the blanks around it.
    """

    first: int
    last: int
    indent: int
    column: int
    key: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The text on the first line."""
        return self.parts[0]


class Patch(NamedTuple):
    """New lines for the lines `first` to `last` of a header, and the diagnostic that says so.

    `key` is the one that the lines belong to, where a repair names it.
    """

    first: int
    last: int
    lines: Sequence[Line]
    diagnostic: Diagnostic | None = None
    key: str = ""


class RepairedLines(NamedTuple):
    """The lines of a header after a repair, and what was changed."""

    lines: list[Line]
    diagnostics: list[Diagnostic]


class BrokenHeader:
    """What a repair gets to see; what it asks for is worked out once.

    `text` are the lines as the parser was given them, `original` the lines as they are in the file.
    Unless it is `thorough`, only the entry at which the parser stopped is taken for broken.
    """

    def __init__(
        self,
        lines: list[Line],
        text: str,
        problem: YamlProblem,
        *,
        original: list[Line],
        limits: ScanLimits,
        thorough: bool,
    ) -> None:
        self.lines = lines
        self.text = text
        self.problem = problem
        self.original = original
        self.limits = limits
        self.thorough = thorough

    @cached_property
    def all_entries(self) -> list[HeaderEntry]:
        """Every entry of the header."""
        return split_entries(self.lines)

    @cached_property
    def entries(self) -> list[HeaderEntry]:
        """The entries that cannot be parsed even alone."""
        if not self.thorough:
            # One entry is checked in place of all: most headers have one mistake.
            at_fault = self._find_at_fault()
            if at_fault is not None:
                return [at_fault]
        return [entry for entry in self.all_entries if not self._is_valid(entry)]

    def _find_at_fault(self) -> HeaderEntry | None:
        """The entry on the line that the parser names; None if that one is valid alone.

        A parser can notice a mistake only after the entry that contains it.
        """
        if self.problem.line is None:
            return None
        index = self.problem.line - 1
        for entry in self.all_entries:
            if entry.first <= index <= entry.last:
                return None if self._is_valid(entry) else entry
        return None

    @cached_property
    def values(self) -> list[HeaderValue]:
        """The values, inside broken entries, that cannot be parsed even alone."""
        return [
            value
            for entry in self.entries
            for value in find_values(self.lines, entry)
            if not is_valid_yaml(_isolate(self.lines, value), self.limits)
        ]

    def _is_valid(self, entry: HeaderEntry) -> bool:
        lines = self.lines[entry.first : entry.last + 1]
        is_one_line = len(lines) == 1
        if is_one_line and _PLAIN_ENTRY.fullmatch(lines[0].text):
            return True
        comes_before_keys = not entry.key and len(self.all_entries) > 1
        if comes_before_keys:
            # Indented fields can be valid YAML alone, but not with fields at the margin below.
            is_indented = any(line.text.startswith(" ") for line in lines)
            if is_indented:
                return False
        return is_valid_yaml(plain_text(lines), self.limits)


Repairer = Callable[[BrokenHeader], RepairedLines | None]


def apply_patches(lines: Sequence[Line], patches: Iterable[Patch]) -> RepairedLines | None:
    """The lines with patches, which are in order and do not overlap; None if there are none."""
    patched: list[Line] = []
    diagnostics = []
    position = 0
    for patch in patches:
        patched.extend(lines[position : patch.first])
        patched.extend(patch.lines)
        position = patch.last + 1
        if patch.diagnostic is not None:
            diagnostics.append(patch.diagnostic)
    if position == 0:
        return None
    patched.extend(lines[position:])
    return RepairedLines(patched, diagnostics)


def match_lines(
    lines: Iterable[Line], pattern: re.Pattern[str]
) -> Iterator[tuple[int, Line, re.Match[str]]]:
    """The lines that match a pattern as a whole, each with its index."""
    for index, line in enumerate(lines):
        match = pattern.fullmatch(line.text)
        if match is not None:
            yield index, line, match


def report(code: str, message: str, line: Line, key: str) -> Diagnostic:
    """The diagnostic of a repair on a line of the file."""
    return diagnose(code, message, line=line.number, field=key or None)


def name_value(key: str) -> str:
    """A value in words."""
    return f"The value of `{key}`" if key else "An item of a list"


def find_key(text: str) -> str | None:
    """The key at the very start of a line, without quotes."""
    match = _TOP_KEY.match(text)
    if match is None:
        return None
    return match[0].rstrip(": \t").strip("\"'")


def split_entries(lines: Sequence[Line]) -> list[HeaderEntry]:
    """The header's entries, which together hold every line."""
    if not lines:
        return []
    entries: list[HeaderEntry] = []
    # Lines before the first key are an entry without one.
    first, key = 0, find_key(lines[0].text) or ""
    for index, line in enumerate(lines[1:], start=1):
        next_key = find_key(line.text)
        if next_key is not None:
            entries.append(HeaderEntry(first, index - 1, key))
            first, key = index, next_key
    entries.append(HeaderEntry(first, len(lines) - 1, key))
    return entries


def find_values(lines: Sequence[Line], entry: HeaderEntry) -> Iterator[HeaderValue]:
    """The values inside an entry: its own, or those of the keys and dashes below it."""
    size = sum(len(line.text) for line in lines[entry.first : entry.last + 1])
    budget = _SearchBudget(_MOST_SEARCHES * size)
    index = entry.first
    while index <= entry.last:
        value = _find_value(lines, index, entry.last, budget)
        if value is not None:
            yield value
            # What looks like a key in the lines of a value is part of it.
            index = value.last
        index += 1


class _SearchBudget:
    """How many characters may still be searched for a closing bracket."""

    def __init__(self, left: int) -> None:
        self.left = left


def _find_value(
    lines: Sequence[Line], index: int, last: int, budget: _SearchBudget
) -> HeaderValue | None:
    """The value that begins on a line, if one does."""
    text = lines[index].text
    match = _INNER_KEY.match(text)
    if match is None:
        return None
    dashes, key = match["dashes"], match["key"]
    if key is not None:
        indent = match.end("dashes")
    elif "-" in dashes:
        indent = dashes.rindex("-")
    else:
        return None
    column = match.end()
    rest = text[column:].strip()
    has_value = rest != "" and not rest.startswith("#")
    if not has_value:
        return None
    end = _find_end(lines, index, last, indent, rest, budget)
    below = [line.text.strip() for line in lines[index + 1 : end + 1]]
    name = (key or "").strip("\"'")
    return HeaderValue(index, end, indent, column, name, (rest, *below))


def _find_end(
    lines: Sequence[Line], first: int, last: int, indent: int, rest: str, budget: _SearchBudget
) -> int:
    """The last line of a value: where its bracket closes, else the last deeper line."""
    if rest[0] in _OPEN:
        column = lines[first].text.index(rest[0], indent)
        end = _find_closing(lines, first, last, column, budget)
        if end is not None:
            return end
    end = first
    for index in range(first + 1, last + 1):
        text = lines[index].text
        if not text.strip():
            continue
        if measure_indent(text) <= indent:
            break
        end = index
    return end


def _find_closing(
    lines: Sequence[Line], first: int, last: int, column: int, budget: _SearchBudget
) -> int | None:
    """The line on which the bracket at `column` of the first line is closed."""
    brackets = Brackets()
    for index in range(first, last + 1):
        text = lines[index].text
        budget.left -= len(text)
        if budget.left < 0:
            return None
        if index == first:
            text = text[column:]
        if brackets.close_in(text):
            return index
    return None


class Brackets:
    """Counts brackets over pieces of text; those in quotes do not count."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.quote = ""
        self.matched = True

    def close_in(self, text: str) -> bool:
        """Go over more text; True as soon as the outermost bracket is closed."""
        escaped = -1
        for match in _BRACKET_OR_QUOTE.finditer(text):
            if match.start() == escaped:
                continue
            character = match[0]
            # YAML has escapes in double quotes only; in single ones a backslash is text.
            is_escape = character == "\\" and self.quote == '"'
            if is_escape:
                escaped = match.end()
            elif self.quote:
                self._close_quote(character)
            elif character in _QUOTES:
                self.quote = character
            elif character in _OPEN:
                self.opened.append(_CLOSE[_OPEN.index(character)])
            elif character in _CLOSE and self._close_bracket(character):
                return True
        return False

    def _close_quote(self, character: str) -> None:
        if character == self.quote:
            self.quote = ""

    def _close_bracket(self, character: str) -> bool:
        """Whether this closes the outermost bracket."""
        if not self.opened:
            return False
        expected = self.opened.pop()
        if character != expected:
            self.matched = False
        return not self.opened

    @property
    def missing(self) -> str:
        """The quote and the brackets that would close what is open."""
        return self.quote + "".join(reversed(self.opened))


def _isolate(lines: Sequence[Line], value: HeaderValue) -> str:
    """A value as a header of its own, to see whether it can be parsed alone."""
    first, *below = lines[value.first : value.last + 1]
    deeper = ["  " + line.text[value.indent :].lstrip("\t") + "\n" for line in below]
    return "k: " + first.text[value.column :] + "\n" + "".join(deeper)


def quote_value(lines: Sequence[Line], value: HeaderValue) -> list[Line]:
    """The lines of a value with all of it in quotes; a comment after its last word stays one.

    Line breaks inside quotes fold as they do without.
    """
    *parts, last = value.parts
    last, comment = split_comment(last)
    quote, texts = quote_parts([*parts, last])
    texts[0] = quote + texts[0]
    texts[-1] += quote + comment
    return replace_texts(lines, value, texts)


def replace_texts(lines: Sequence[Line], value: HeaderValue, texts: Sequence[str]) -> list[Line]:
    """The lines of a value with another text for each; keys and indentation stay."""
    replaced: list[Line] = []
    column = value.column
    for line, text in zip(lines[value.first : value.last + 1], texts, strict=True):
        if replaced:
            # Parts come without any blanks around them, not only without spaces and tabs.
            column = len(line.text) - len(line.text.lstrip())
        replaced.append(line._replace(text=line.text[:column] + text if text else ""))
    return replaced


def quote_parts(parts: Sequence[str]) -> tuple[str, list[str]]:
    """The quote to put around the lines of a text, and the lines as they are written inside it."""
    # Single quotes where they save escapes: inside them only the quote itself needs one.
    if any('"' in part or "\\" in part for part in parts):
        return "'", [part.replace("'", "''") for part in parts]
    return '"', list(parts)


def write_block(lines: Sequence[Line], value: HeaderValue) -> list[Line]:
    """The lines of a value as a block of text, line by line, below its key."""
    first, *below = lines[value.first : value.last + 1]
    blanks = " " * (value.indent + 2)
    block = [
        first._replace(text=first.text[: value.column] + "|-"),
        first._replace(text=blanks + first.text[value.column :].rstrip()),
    ]
    for line in below:
        text = blanks + line.text if line.text.strip() else ""
        block.append(line._replace(text=text))
    return block


def split_comment(text: str) -> tuple[str, str]:
    """A value and the comment after it: ` # ` begins one, ` #12` is text."""
    match = _COMMENT.search(text)
    if match is None or match.start() == 0:
        return text, ""
    end = match.start()
    return text[:end], text[end:]


def find_cut(line: str) -> str | None:
    """What ` #` cuts off a plain value in the middle of a sentence."""
    value = line.partition(":")[2].strip()
    # In quotes and blocks a hash is text; where a value begins with one, no sentence is cut.
    if value[:1] in ('"', "'", "|", ">", "#", ""):
        return None
    match = _HASH_IN_TEXT.search(value)
    if match is None:
        return None
    hash_at = match.end() - 1
    return value[hash_at:]
