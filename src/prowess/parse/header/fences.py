"""Where a header ends and the body begins: the fences, by the rules of a profile."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from prowess.parse.header.lines import strip_mark
from prowess.profiles.schema.header import FenceClose, FenceOpen, HeaderRules

LINE_END = re.compile(r"\r\n?|\n")
MALFORMED = "header-malformed-fence"
_YAML_WORDS = ("yaml", "yml")

_FENCE_LINE = re.compile(r"---[ \t]*(?:\r\n?|\n|\Z)")
_EXACT_LINE = re.compile(r"---(?:\r\n?|\n)")
_TRIMMED_LINE = re.compile(r"[^\S\r\n]*---[^\S\r\n]*(?:\r\n?|\n|\Z)")
_LANGUAGE_LINE = re.compile(r"---[ \t]*([A-Za-z][\w.+-]*)?[ \t]*(?:\r\n?|\n|\Z)")
_REST_OF_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_CLOSING_LINE = re.compile(r"(?<=[\r\n])---[ \t]*(?:\r\n?|\n|\Z)")
_CLOSING_EXACT_LINE = re.compile(r"(?<=[\r\n])---(?:\r\n?|\n|\Z)")
_CLOSING_TRIMMED = re.compile(r"(?<=[\r\n])[^\S\r\n]*---[^\S\r\n]*(?:\r\n?|\n|\Z)")
_CLOSING_PREFIX = re.compile(r"(?<=[\r\n])---(?:\r\n?|\n)?")
_CLOSING_WHOLE_LINE = re.compile(r"(?<=\n)---(?:\r?\n|(?s:.*))")
_CLOSING_ANYWHERE = re.compile(r"---\s*")
_PLAIN_CLOSING = re.compile(r"(?<![^\r\n])---[ \t]*(?:[\r\n]|\Z)")
# What a lone CR becomes keeps its place, so that positions hold in the original text, too.
_LONE_CR = re.compile(r"\r(?!\n)")
# An atomic group: where one line end can be read as two, a failing search would try every way of
# doing so.
_BLANK_LINES = re.compile(r"(?>[ \t]*(?:\r\n?|\n))+(?=---)")


class Split(NamedTuple):
    """The text of a file in its two parts.

    The header is `text[start:end]` and begins on line `line` of the file, the body is
    `text[body:]`; both count in `text`, which is the file's text without what the host strips
    first. A file without a header has `end` 0. `problem` is the code of a diagnostic about the
    fences. With `odd_closing` something else than a plain `---` line closes the header. `language`
    is the word after the opening fence, where the host accepts one. With `is_json` the header is
    JSON. `plain_opening` is False if anything follows the opening `---` on its line.
    """

    text: str
    start: int = 0
    end: int = 0
    body: int = 0
    line: int = 2
    problem: str | None = None
    odd_closing: bool = False
    language: str = ""
    is_json: bool = False
    plain_opening: bool = True


class _Opened(NamedTuple):
    """The opening fence: where the header starts, on which line, and what is wrong so far."""

    start: int
    line: int = 2
    problem: str | None = None
    language: str = ""
    is_json: bool = False


def split_header(text: str, rules: HeaderRules) -> Split:
    """Find the fences of a text under a host's rules."""
    text = strip_mark(text, rules)
    if rules.strip_comments:
        text = strip_comments(text)
    skipped = 0
    blank = _BLANK_LINES.match(text) if rules.leading_blanks else None
    if blank is not None:
        text = text[blank.end() :]
        skipped = len(LINE_END.findall(blank[0]))
    # For a host to which a lone CR is text, fences are searched for in a text without any.
    lines = text if rules.lone_cr else _LONE_CR.sub("\0", text)
    opened = _OPENINGS[rules.open](lines, rules)
    if opened is None:
        return Split(text, problem="header-missing")
    if skipped:
        problem = opened.problem or MALFORMED
        opened = opened._replace(line=opened.line + skipped, problem=problem)
    # Two hosts want a line, if only an empty one, between the fences.
    first = opened.start + (rules.close in _CLOSE_AFTER_A_LINE)
    closing = _CLOSINGS[rules.close].search(lines, first)
    if closing is None:
        return _split_unclosed(text, opened, rules)
    return Split(
        text,
        start=opened.start,
        end=closing.start(),
        body=closing.end(),
        line=opened.line,
        problem=opened.problem,
        odd_closing=_PLAIN_CLOSING.match(text, closing.start()) is None,
        language=opened.language,
        is_json=opened.is_json,
        plain_opening=text[3 : opened.start] in ("\n", "\r\n"),
    )


def _split_unclosed(text: str, opened: _Opened, rules: HeaderRules) -> Split:
    is_language = opened.problem == "header-language"
    if is_language and opened.language:
        # A line such as `--- Title` that no other fence follows is text.
        return Split(text, problem="header-missing")
    if rules.unclosed == "header":
        # opencode takes everything to the end of the file for the header.
        whole = len(text)
        return Split(
            text,
            start=opened.start,
            end=whole,
            body=whole,
            line=opened.line,
            problem=opened.problem or "header-unclosed",
            is_json=opened.is_json,
            plain_opening=False,
        )
    return Split(text, problem="header-language" if is_language else "header-unclosed")


def split_body(text: str, *, rules: HeaderRules) -> str:
    """The body of a file: what follows the closing fence and its line end, else the whole text."""
    split = split_header(text, rules)
    return split.text[split.body :]


def strip_comments(text: str) -> str:
    """The text without `<!-- … -->`; one that is never closed stays."""
    kept = []
    position = 0
    while True:
        start = text.find("<!--", position)
        end = text.find("-->", start + 4) if start >= 0 else -1
        if end < 0:
            break
        kept.append(text[position:start])
        position = end + 3
    return "".join((*kept, text[position:])) if kept else text


OpenFence = Callable[[str, HeaderRules], _Opened | None]


def _open_with(line: re.Pattern[str]) -> OpenFence:
    """Opens a header whose first line looks like this and says nothing more."""

    def open_fence(text: str, rules: HeaderRules) -> _Opened | None:
        fence = line.match(text)
        return _Opened(fence.end()) if fence else None

    return open_fence


def _open_prefix(text: str, rules: HeaderRules) -> _Opened | None:
    # omp and pi drop four characters and read the rest of the line as part of the header.
    if not text.startswith("---"):
        return None
    if text.startswith("---\r\n"):
        return _Opened(5)
    return _Opened(4, line=2 if text[3:4] in ("\n", "\r") else 1)


def _open_language(text: str, rules: HeaderRules) -> _Opened | None:
    # As in gray-matter, which opencode uses: four dashes are no fence, and any word after three of
    # them is a language.
    if not text.startswith("---") or text[3:4] == "-":
        return None
    rest = _REST_OF_LINE.match(text, 3)
    if rest is None:
        return _Opened(3)
    language = rest[0].strip()
    # `YAML` is known in any case, `JSON` only as `json`.
    if language.lower() in _YAML_WORDS:
        language = language.lower()
    is_known = language in ("", *rules.languages)
    if not is_known:
        return _Opened(rest.end(), problem="header-language")
    return _Opened(rest.end(), is_json=language == "json")


def _open_line_or_language(text: str, rules: HeaderRules) -> _Opened | None:
    fence = _LANGUAGE_LINE.match(text)
    if fence is None:
        return None
    if not fence[1]:
        return _Opened(fence.end())
    problem = MALFORMED if fence[1].lower() in rules.languages else "header-language"
    return _Opened(fence.end(), problem=problem, language=fence[1])


_OPENINGS: dict[FenceOpen, OpenFence] = {
    "line": _open_with(_FENCE_LINE),
    "exact-line": _open_with(_EXACT_LINE),
    "trimmed": _open_with(_TRIMMED_LINE),
    "prefix": _open_prefix,
    "language": _open_language,
    "line-or-language": _open_line_or_language,
}

_CLOSINGS: dict[FenceClose, re.Pattern[str]] = {
    "line": _CLOSING_LINE,
    "exact-line": _CLOSING_EXACT_LINE,
    "trimmed": _CLOSING_TRIMMED,
    "line-prefix": _CLOSING_PREFIX,
    # Gemini CLI loses the body of a file whose closing line has anything after the dashes.
    "line-prefix-or-end": _CLOSING_WHOLE_LINE,
    "anywhere": _CLOSING_ANYWHERE,
}

# Where the line end before the closing fence cannot be the one after the opening fence.
_CLOSE_AFTER_A_LINE: tuple[FenceClose, ...] = ("exact-line", "line-prefix-or-end")
