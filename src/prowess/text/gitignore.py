"""Patterns as git has them in `.gitignore`, for whoever asks whether a path is meant by one.

A pattern is parsed into segments, since no wildcard but `**` crosses a `/`. Matching never goes
back over what it has tried: a pattern of an untrusted file costs at most the product of its length
and the path's, which regular expressions made from whole patterns do not hold to (`*a*a*a*b` and
its kin take minutes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

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


class Glob:
    """One segment with wildcards. `runs` are its stretches of plain text, all of which a name must
    hold to match.
    """

    __slots__ = ("_regex", "_tokens", "runs", "text")

    def __init__(self, text: str, tokens: Sequence[Token] | None = None) -> None:
        self.text = text
        self._tokens = tokens
        self._regex: re.Pattern[str] | None = None
        plain = (
            text
            if tokens is None
            else "".join(value if kind == "plain" else "*" for kind, value in tokens)
        )
        self.runs = (
            tuple(_PLAIN.findall(plain))
            if tokens is None
            else tuple(run for run in plain.split("*") if run)
        )

    def matches(self, name: str) -> bool:
        """Whether a name, which has no `/`, is meant."""
        if self._regex is None:
            tokens = self._tokens or [_TOKENS.get(char, ("plain", char)) for char in self.text]
            self._regex = re.compile(_translate(tokens), re.DOTALL)
        return self._regex.fullmatch(name) is not None


def _translate(tokens: Sequence[Token]) -> str:
    """Between two stars the first place that fits will do, so each is found once and kept (an
    atomic group).
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
    return first + "".join(f"(?>.*?{piece})" for piece in middle if piece) + ".*" + last


MANY = Glob("**")
ANY = Glob("*")
Segment = str | Glob


class Pattern:
    """A pattern: what its line says, and its segments; `MANY` among them stands for any number of
    folders.

    `line` is the number of its line, where it stands in a file.
    """

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
        """Whether exactly this path, given as its names, is meant; what lies in a folder is not
        asked for here.
        """
        if len(names) < self._least or (self.folders_only and not is_folder):
            return False
        # Made when a pattern is first tried: of many thousands that are only looked up, few ever
        # are.
        self._groups = self._groups or tuple(_group(self.segments))
        first, *middle = self._groups
        if not middle:
            return len(names) == len(first) and _fits(first, names, 0)
        last = middle.pop()
        end = len(names) - len(last)
        return (
            _fits(last, names, end)
            and _fits(first, names, 0)
            and _follow(middle, names, len(first), end)
        )


def _group(segments: Iterable[Segment]) -> Iterator[tuple[Segment, ...]]:
    """The stretches between the places where any number of folders may stand."""
    group: list[Segment] = []
    for segment in segments:
        if segment is MANY:
            yield tuple(group)
            group = []
        else:
            group.append(segment)
    yield tuple(group)


def _fits(group: Sequence[Segment], names: Sequence[str], place: int) -> bool:
    for segment in group:
        name = names[place]
        if segment is not ANY and not (
            segment == name if isinstance(segment, str) else segment.matches(name)
        ):
            return False
        place += 1
    return True


def _follow(
    groups: Iterable[Sequence[Segment]], names: Sequence[str], place: int, end: int
) -> bool:
    """Whether the groups stand one after another between two places; the first place that fits will
    do.
    """
    for group in groups:
        while place + len(group) <= end and not _fits(group, names, place):
            place += 1
        place += len(group)
        if place > end:
            return False
    return True


def parse_pattern(line: str) -> Pattern | None:
    """The pattern of a line; None for a blank one, a comment, and one that git can make nothing of."""
    text = _strip_end(line)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    body = text[1:] if negated else text
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    anchored = "/" in body
    segments = _parse_segments(body.removeprefix("/"), anchored=anchored)
    if not segments:
        return None
    if not anchored:
        segments.insert(0, MANY)
    return Pattern(text, tuple(segments), negated=negated, folders_only=folders_only)


def _strip_end(line: str) -> str:
    line = line.removesuffix("\r")
    text = line.rstrip(" ")
    escaped = len(text) - len(text.rstrip("\\"))
    return text + " " if escaped % 2 and len(text) < len(line) else text


def _parse_segments(body: str, *, anchored: bool) -> list[Segment] | None:
    if not body:
        return None
    if "[" in body or "\\" in body:
        split = _split(body)
        found = (
            None
            if split is None
            else [_make_segment(text, tokens, anchored=anchored) for text, tokens in split]
        )
    elif "*" in body or "?" in body:
        found = [_make_plain_segment(text, anchored=anchored) for text in body.split("/")]
    else:
        return list(body.split("/"))
    return None if found is None else _tidy_many(found)


def _tidy_many(found: list[Segment]) -> list[Segment]:
    """Any number of folders, any number of times, is the same as once; at the end a name has to
    follow.
    """
    before = [None, *found]
    segments = [
        one for one, last in zip(found, before, strict=False) if one is not MANY or last is not MANY
    ]
    return [*segments, ANY] if segments[-1] is MANY else segments


def _make_plain_segment(text: str, *, anchored: bool) -> Segment:
    """A segment without brackets and backslashes, which most have."""
    if "*" not in text and "?" not in text:
        return text
    if not text.strip("*"):
        return MANY if anchored and len(text) > 1 else ANY
    return Glob(text)


def _make_segment(text: str, tokens: list[Token], *, anchored: bool) -> Segment:
    if tokens and all(kind == "star" for kind, _ in tokens):
        return MANY if anchored and len(tokens) > 1 else ANY
    if all(kind == "plain" for kind, _ in tokens):
        return "".join(value for _, value in tokens)
    return Glob(text, tokens)


def _split(body: str) -> list[tuple[str, list[Token]]] | None:
    """The segments of a pattern, each with its tokens; None where a bracket or a backslash has no
    end.
    """
    segments: list[tuple[str, list[Token]]] = []
    tokens: list[Token] = []
    start = place = 0
    while place < len(body):
        char = body[place]
        if char == "/" or body.startswith("\\/", place):
            segments.append((body[start:place], tokens))
            tokens = []
            place += 1 if char == "/" else 2
            start = place
        elif char == "[":
            parsed = parse_class(body, place)
            if parsed is None:
                return None
            tokens.append(("one", parsed[0]))
            place = parsed[1]
        elif char == "\\":
            if place + 1 == len(body):
                return None
            tokens.append(("plain", body[place + 1]))
            place += 2
        else:
            tokens.append(_TOKENS.get(char, ("plain", char)))
            place += 1
    return [*segments, (body[start:], tokens)]


def parse_class(body: str, place: int) -> tuple[str, int] | None:
    """The bracket that begins at a place, as part of a regular expression, and where it ends; None
    without an end.
    """
    place += 1
    negated = body[place : place + 1] in ("!", "^")
    place += negated
    parts: list[str] = []
    before, start = "", place
    while place < len(body) and (body[place] != "]" or place == start):
        named = _NAMED_CLASS.match(body, place)
        if named is not None:
            if named[1] not in _CLASSES:
                return None
            parts.append(_CLASSES[named[1]])
            before, place = "", named.end()
            continue
        is_range = body[place] == "-" and before and body[place + 1 : place + 2] not in ("", "]")
        place += bool(is_range)
        place += body[place] == "\\"
        if place >= len(body):
            return None
        char = body[place]
        if is_range:
            parts += [f"{re.escape(before)}-{re.escape(char)}"] if before <= char else []
        else:
            parts.append(re.escape(char))
        before, place = "" if is_range else char, place + 1
    if place >= len(body):
        return None
    inside = "".join(parts)
    if not inside:
        return ("." if negated else "(?!)"), place + 1
    return f"[{'^' if negated else ''}{inside}]", place + 1
