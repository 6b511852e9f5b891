"""Patterns as git has them in `.gitignore`, matched against paths.

A pattern is parsed into segments, because no wildcard but `**` crosses a `/`. Matching never
backtracks: a pattern from an untrusted file costs at most the product of its length and the
path's. A regular expression made from a whole pattern does not keep to that; one for `*a*a*a*b`
takes minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

# ASCII only, as in git's own matcher.
_NAMED_CLASS = re.compile(r"\[:([^\]]*):\]")
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_TOKENS = {"*": ("star", "*"), "?": ("one", ".")}
_PLAIN = re.compile(r"[^*?]+")

Token = tuple[str, str]
"""Its kind (`plain`, `one`, `star`), and the character or the regular expression for one."""


class Glob:
    """One segment with wildcards. A name that matches contains all of its `runs` of plain text."""

    __slots__ = ("_regex", "_tokens", "runs", "text")

    def __init__(self, text: str, tokens: Sequence[Token] | None = None) -> None:
        self.text = text
        self._tokens = tokens
        self._regex: re.Pattern[str] | None = None
        self.runs: tuple[str, ...]
        if tokens is None:
            self.runs = tuple(_PLAIN.findall(text))
        else:
            self.runs = _list_runs(tokens)

    def matches(self, name: str) -> bool:
        """Whether a name, which has no `/`, matches."""
        if self._regex is None:
            tokens = self._tokens or [_TOKENS.get(char, ("plain", char)) for char in self.text]
            self._regex = re.compile(_translate(tokens), re.DOTALL)
        return self._regex.fullmatch(name) is not None


def _list_runs(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The stretches of plain text between two wildcards."""
    runs = []
    for is_plain, group in groupby(tokens, lambda token: token[0] == "plain"):
        if is_plain:
            runs.append("".join(value for _, value in group))
    return tuple(runs)


def _translate(tokens: Sequence[Token]) -> str:
    """The tokens as a regular expression that never backtracks.

    Between two stars the first match will do, so each piece is found once and kept, in an atomic
    group.
    """
    pieces = [""]
    for kind, value in tokens:
        if kind == "star":
            pieces.append("")
        else:
            pieces[-1] += re.escape(value) if kind == "plain" else value
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    atoms = [f"(?>.*?{piece})" for piece in middle if piece]
    return f"{first}{''.join(atoms)}.*{last}"


MANY = Glob("**")
ANY = Glob("*")
Segment = str | Glob


class Pattern:
    """A pattern: its text and its segments, where `MANY` means any number of folders.

    `line` is the number of its line if it comes from a file.
    """

    # One of the walk's thousands of patterns, most of which never match: small, and quick to make.
    __slots__ = ("_groups", "_least", "folders_only", "line", "negated", "segments", "text")

    def __init__(
        self, text: str, segments: tuple[Segment, ...], *, negated: bool, folders_only: bool
    ) -> None:
        self.text = text
        self.segments = segments
        self.negated = negated
        self.folders_only = folders_only
        self.line = 0
        self._groups: tuple[tuple[Segment, ...], ...] = ()
        self._least = len(segments) - segments.count(MANY)

    def matches(self, names: Sequence[str], *, is_folder: bool) -> bool:
        """Whether exactly this path, given as its names, matches; not what lies inside it."""
        if len(names) < self._least:
            return False
        if self.folders_only and not is_folder:
            return False
        # Grouped when first tried: of many thousands of patterns only few ever are.
        if not self._groups:
            self._groups = tuple(_group(self.segments))
        first, *middle = self._groups
        if not middle:
            return len(names) == len(first) and _fits(first, names, 0)
        # The first and the last group have fixed places; between them each of the others may match
        # at the first place that it can, because the `**` after it takes any number of names.
        last = middle.pop()
        end = len(names) - len(last)
        has_fitting_ends = _fits(first, names, 0) and _fits(last, names, end)
        return has_fitting_ends and _fit_between(middle, names, len(first), end)


def _group(segments: Iterable[Segment]) -> Iterator[tuple[Segment, ...]]:
    """The stretches of segments between two `MANY`."""
    group: list[Segment] = []
    for segment in segments:
        if segment is MANY:
            yield tuple(group)
            group = []
        else:
            group.append(segment)
    yield tuple(group)


def _fits(group: Sequence[Segment], names: Sequence[str], start: int) -> bool:
    """Whether the names from an index on match the segments of a group, one by one."""
    for index, segment in enumerate(group, start):
        if isinstance(segment, str):
            if segment != names[index]:
                return False
        elif segment is not ANY and not segment.matches(names[index]):
            return False
    return True


def _fit_between(
    groups: Iterable[Sequence[Segment]], names: Sequence[str], start: int, end: int
) -> bool:
    """Whether the groups match one after another between two indexes; the first match will do."""
    for group in groups:
        while start + len(group) <= end and not _fits(group, names, start):
            start += 1
        start += len(group)
        if start > end:
            return False
    return True


def parse_pattern(line: str) -> Pattern | None:
    """The pattern of a line; None for a blank line, a comment, or one that git cannot use."""
    text = _strip_end(line)
    # `\\#` begins a pattern for a name that begins with a hash.
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    body = text[1:] if negated else text
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    # A `/` at the beginning or in the middle ties a pattern to the folder of its file; without one
    # it matches at any depth.
    anchored = "/" in body
    segments = _parse_segments(body.removeprefix("/"), anchored=anchored)
    if not segments:
        return None
    if not anchored:
        segments.insert(0, MANY)
    return Pattern(text, tuple(segments), negated=negated, folders_only=folders_only)


def _strip_end(line: str) -> str:
    """The line without blanks at its end, except one that a backslash protects."""
    line = line.removesuffix("\r")
    text = line.rstrip(" ")
    backslashes = len(text) - len(text.rstrip("\\"))
    is_escaped = backslashes % 2 == 1 and text != line
    return f"{text} " if is_escaped else text


def _parse_segments(body: str, *, anchored: bool) -> list[Segment] | None:
    if not body:
        return None
    # Most patterns have no brackets and backslashes, and need not be read character by character.
    needs_tokens = "[" in body or "\\" in body
    if needs_tokens:
        split = _split(body)
        if split is None:
            return None
        return _merge_many([_make_segment(*segment, anchored=anchored) for segment in split])
    texts = body.split("/")
    has_wildcard = "*" in body or "?" in body
    if not has_wildcard:
        return [*texts]
    return _merge_many([_make_plain_segment(text, anchored=anchored) for text in texts])


def _merge_many(found: list[Segment]) -> list[Segment]:
    """The segments with every run of `**` as one; a name has to follow one at the end."""
    segments: list[Segment] = []
    for segment in found:
        is_repeated = segment is MANY and segments[-1:] == [MANY]
        if not is_repeated:
            segments.append(segment)
    if segments[-1] is MANY:
        segments.append(ANY)
    return segments


def _make_plain_segment(text: str, *, anchored: bool) -> Segment:
    if "*" not in text and "?" not in text:
        return text
    if not text.strip("*"):
        return _make_stars(len(text), anchored=anchored)
    return Glob(text)


def _make_segment(text: str, tokens: list[Token], *, anchored: bool) -> Segment:
    kinds = {kind for kind, _ in tokens}
    if kinds == {"star"}:
        return _make_stars(len(tokens), anchored=anchored)
    if kinds <= {"plain"}:
        return "".join(value for _, value in tokens)
    return Glob(text, tokens)


def _make_stars(count: int, *, anchored: bool) -> Glob:
    # Two stars cross folders only in a pattern that has a `/`; elsewhere they are like one.
    return MANY if anchored and count > 1 else ANY


def _split(body: str) -> list[tuple[str, list[Token]]] | None:
    """The segments of a pattern, each with its tokens; None for an open bracket or backslash."""
    segments: list[tuple[str, list[Token]]] = []
    tokens: list[Token] = []
    start = position = 0
    while position < len(body):
        char = body[position]
        following = body[position + 1 : position + 2]
        is_escaped_slash = char == "\\" and following == "/"
        if char == "/" or is_escaped_slash:
            segments.append((body[start:position], tokens))
            tokens = []
            position += 2 if is_escaped_slash else 1
            start = position
        elif char == "[":
            parsed = parse_class(body, position)
            if parsed is None:
                return None
            regex, position = parsed
            tokens.append(("one", regex))
        elif char == "\\":
            if not following:
                return None
            tokens.append(("plain", following))
            position += 2
        else:
            tokens.append(_TOKENS.get(char, ("plain", char)))
            position += 1
    return [*segments, (body[start:], tokens)]


def parse_class(body: str, start: int) -> tuple[str, int] | None:
    """The bracket that begins at an index, as a regular expression, and the index after its end.

    None if it has no end or names an unknown class.
    """
    negated = body[start + 1 : start + 2] in ("!", "^")
    first = position = start + 1 + negated
    parts: list[str] = []
    # The character before a hyphen, which begins a range; none after a class or another range.
    before = ""
    while position < len(body):
        # A bracket right at the beginning is one of the characters.
        if body[position] == "]" and position > first:
            sign = "^" if negated else ""
            return f"[{sign}{''.join(parts)}]", position + 1
        named = _NAMED_CLASS.match(body, position)
        if named is not None:
            if named[1] not in _CLASSES:
                return None
            parts.append(_CLASSES[named[1]])
            before, position = "", named.end()
            continue
        is_range = _begins_range(body, position, before)
        char, position = _read_member(body, position + is_range)
        if not is_range:
            parts.append(re.escape(char))
        # A range in the wrong order, such as `z-a`, contains no character in git either.
        elif before <= char:
            parts.append(f"{re.escape(before)}-{re.escape(char)}")
        before = "" if is_range else char
    return None


def _begins_range(body: str, position: int, before: str) -> bool:
    following = body[position + 1 : position + 2]
    return body[position] == "-" and before != "" and following not in ("", "]")


def _read_member(body: str, position: int) -> tuple[str, int]:
    """The character at an index, or the one that a backslash there protects, and the next index."""
    if body[position] == "\\":
        position += 1
    return body[position : position + 1], position + 1
