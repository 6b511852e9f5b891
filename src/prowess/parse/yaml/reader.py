"""The native YAML parser behind guards: no text may crash it, hang it or fill the memory.

It reads YAML 1.2 in microseconds, but copies an aliased value once for every alias, slows down on
deep flow collections, turns `!tag x` into a mapping, rejects numbers beyond 64 bits and lets the
keys `1` and `true` collide. Its input is bounded first, its output cleaned up after.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import ryaml

from prowess.parse.yaml.text_values import render_scalar
from prowess.profiles.schema.roots import ScanLimits

parse_natively: Callable[[str], Any] = ryaml.loads  # type: ignore[attr-defined]
"""The native parser itself, for text that is known to be harmless. Raises on invalid YAML."""

# Aliases may not make the values larger than this many bytes of text.
_MOST_EXPANDED = 1 << 20

# The parser gives up at 128 levels by itself; Python's own recursion is safe with that.
_DEEPEST = 128
_COLLECTIONS = (dict, list)

# Every scan imports this module, and few headers need these: they are compiled on first use.
_ALIAS = r"(?<![^\s\[\]{},:])\*[\w-]"
_ANCHOR = r"(?<![^\s\[\]{},:])&[\w-]"
_BRACKET = r"[\[\]{}]"
_QUOTED_MARK = r"""(?<=["'])!"""
_ZEROS = r":\s+[-+]?0[\dbox]"
_LINE_AND_COLUMN = r"at line (\d+) column (\d+)"
_POSITION = r"at position (\d+)"
_DUPLICATE = r"(?s)duplicate entry with key (.+?)(?: at line|$)"
# How the parser writes a character that it does not print.
_ESCAPED = r"\\u\{([\da-f]{1,6})\}"
_WORD_KEY = (
    r"(?im)^([ ]*(?:- +)*)"
    r"(true|false|null|~|[-+.]?\d[\w.+-]*|[-+]?\.(?:inf|nan))"
    r"(?=[ \t]*:(?:[ \t]|$))"
)

_BAD_ESCAPE = "invalid Unicode character escape code"
_REST_OF_QUOTED = r'(?s)(?:[^"\\]|\\.)*'
_SURROGATES = r"(?i)(?<!\\)((?:\\\\)*)\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})"
# In so many quoted values are pairs joined; nobody writes more of them by hand.
_MOST_JOINED = 32

# Part of the parser's message, and the reason in our words. The first that fits is taken.
_REASONS = (
    ("recursion limit", "it is nested too deeply"),
    ("repetition limit", "its aliases expand without limit"),
    ("mapping values are not allowed", "an unquoted value contains `: `"),
    ("expected comment or line break", "text follows a block mark (`|` or `>`) on the same line"),
    ("tab character", "a tab is used for indentation"),
    ("cannot start any token", "a value begins with a reserved character, or a line with a tab"),
    ("block sequence entries", "a list starts on the same line as its key"),
    ("mapping keys are not allowed", "a value begins with `? `"),
    ("unknown anchor", "a value begins with `*`, and there is no such anchor"),
    ("alphabetic or numeric", "a value begins with `*` or `&`"),
    ("duplicate entry", "a key appears twice"),
    ("unknown escape", "a backslash in double quotes is not a valid YAML escape"),
    ("escape code", "an escape in double quotes is not a valid character"),
    ("unexpected end of stream", "a quote is never closed"),
    ("expected ',' or", "a bracket is never closed"),
    ("expected ':'", "a line is neither `key: value` nor indented"),
    ("expected key", "text follows a closed value, or the indentation changes"),
    ("control characters", "it contains a control character"),
    ("integer", "a number is too large"),
    ("more than one document", "it contains more than one document"),
    ("unhashable", "a list or a mapping is used as a key"),
)
_UNKNOWN_REASON = ("", "the YAML parser rejects it")
# Every other message of the parser means `yaml-invalid`.
_CODES = {"recursion limit": "yaml-nesting", "repetition limit": "yaml-aliases"}


class YamlProblem(NamedTuple):
    """Why a header could not be parsed: the code of a diagnostic, the reason, and where it is.

    `line` and `column` count from 1 inside the header. `key` is the one that appears twice, if that
    is the reason. With `is_number` it is a number beyond 64 bits.
    """

    code: str
    why: str
    line: int | None = None
    column: int | None = None
    key: str | None = None
    is_number: bool = False


class YamlResult(NamedTuple):
    """A parsed value and the tags that were removed from it, or the problem."""

    value: Any
    problem: YamlProblem | None = None
    tags: tuple[str, ...] = ()


class _TooDeep(Exception):
    """A value has more levels than are read."""


def parse_yaml(text: str, limits: ScanLimits) -> YamlResult:
    """Parse YAML; never raises, whatever the text."""
    problem = _find_danger(text, limits)
    if problem is not None:
        return YamlResult(None, problem)
    has_quoted_mark = "!" in text and re.search(_QUOTED_MARK, text) is not None
    if has_quoted_mark:
        return _parse_quoted_marks(text, limits)
    return _parse_guarded(text, limits)


def _parse_guarded(text: str, limits: ScanLimits) -> YamlResult:
    try:
        value = _parse_joined(text)
    except Exception as error:
        # Whatever the parser raises is a fact about the text, never the end of a scan.
        return YamlResult(None, _explain(str(error), text))
    if is_clean(value, _get_depth(limits), tags="!" in text):
        return YamlResult(value)
    return _clean_up(text, value, limits)


def _parse_quoted_marks(text: str, limits: ScanLimits) -> YamlResult:
    """Parse a text with `!` behind quotes, which is never a tag: `{"!x": 1}` has the key `!x`.

    To the parser that is the same as the tag in `!x 1`, so it gets another character to read.
    """
    # Few headers have such a text, so most scans do without this module.
    from prowess.parse.yaml.odd_characters import OddCharacters

    hidden = OddCharacters("!", text)
    result = _parse_guarded(re.sub(_QUOTED_MARK, hidden.hide("!"), text), limits)
    problem = result.problem
    if problem is not None:
        problem = problem._replace(key=hidden.restore(problem.key), why=hidden.restore(problem.why))
    return YamlResult(hidden.restore(result.value), problem, tuple(hidden.restore([*result.tags])))


def is_valid_yaml(text: str, limits: ScanLimits) -> bool:
    """Whether a piece of YAML can be parsed as it is, as a mapping or as nothing."""
    if _find_danger(text, limits) is not None:
        return False
    try:
        value = _parse_joined(text)
    except Exception:
        # Whatever the parser raises means no.
        return False
    if type(value) is not dict:
        return value is None
    if "!" not in text:
        return True
    # A tag is valid, but rarely meant: `key: !important` is text without its quotes.
    return not parse_yaml(text, limits).tags


def _parse_joined(text: str) -> Any:
    """Parse, with the two escapes of a surrogate pair read as the one character that they mean.

    `json.dumps` writes an emoji like this, and every host reads it; the native parser does not. It
    names the place of the first one, so that text outside double quotes is left alone.
    """
    for _ in range(_MOST_JOINED):
        try:
            return parse_natively(text)
        except Exception as error:
            message = str(error)
            if _BAD_ESCAPE not in message:
                raise
            joined = _join_surrogates(text, message)
            if joined == text:
                # Half of a pair is no character.
                raise
            text = joined
    return parse_natively(text)


def _join_surrogates(text: str, message: str) -> str:
    """The text with the pairs joined in the quoted value in which the parser stopped."""
    line, column = _find_position(message, text)
    if line is None or column is None:
        return text
    lines = text.split("\n")
    # The parser names the first digit of the escape.
    start = sum(len(above) + 1 for above in lines[: line - 1]) + column - len("\\u") - 1
    end = re.compile(_REST_OF_QUOTED).match(text, start)
    if end is None:
        return text
    joined = re.sub(_SURROGATES, _join_pair, end[0])
    return text[:start] + joined + text[end.end() :]


def _join_pair(match: re.Match[str]) -> str:
    high, low = int(match[2], 16), int(match[3], 16)
    code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
    return f"{match[1]}\\U{code:08X}"


def is_clean(value: Any, depth: int, *, tags: bool) -> bool:
    """Whether every key is text, no mapping represents a tag, and there are at most `depth` levels.

    This runs for every header of a scan, so scalars are passed over without a call.
    """
    if type(value) not in _COLLECTIONS:
        return True
    if depth <= 0:
        return False
    items = value
    if type(value) is dict:
        if not _has_clean_keys(value, tags=tags):
            return False
        items = value.values()
    for item in items:
        if type(item) in _COLLECTIONS and not is_clean(item, depth - 1, tags=tags):
            return False
    return True


def _has_clean_keys(mapping: dict[Any, Any], *, tags: bool) -> bool:
    """Whether every key is text and, if there may be `tags`, none represents one."""
    for key in mapping:
        if type(key) is not str:
            return False
    if not tags:
        return True
    return _find_tag(mapping) is None


def may_have_zeros(text: str) -> bool:
    """Whether a value may begin with a zero: of `0755`, `0b11` and `-0x1f` the parser makes what
    YAML 1.2 does not.
    """
    return re.search(_ZEROS, text) is not None


def _get_depth(limits: ScanLimits) -> int:
    """How many levels are read."""
    return limits.yaml_depth or _DEEPEST


def _find_danger(text: str, limits: ScanLimits) -> YamlProblem | None:
    """What would make the parser slow or fill the memory, found before it runs."""
    depth = _get_depth(limits)
    if not _has_shallow_brackets(text, depth):
        return YamlProblem("yaml-nesting", f"its brackets are nested more than {depth} levels deep")
    # Without an anchor an alias is only a mistake, which the parser reports.
    may_have_aliases = "&" in text and "*" in text
    if not may_have_aliases or not re.search(_ANCHOR, text):
        return None
    aliases = len(re.findall(_ALIAS, text))
    if limits.yaml_aliases and aliases > limits.yaml_aliases:
        why = f"it has {aliases} aliases; at most {limits.yaml_aliases} are allowed"
        return YamlProblem("yaml-aliases", why)
    # The worst that n aliases can do, each holding the ones before it, is to repeat the text
    # e^(n/e) times.
    growth = math.exp(min(aliases, 100) / math.e)
    if growth * len(text) > _MOST_EXPANDED:
        why = f"its {aliases} aliases could repeat the text without limit"
        return YamlProblem("yaml-aliases", why)
    return None


def _has_shallow_brackets(text: str, depth: int) -> bool:
    """Whether flow collections are nested at most so deep; beyond that the parser is slow."""
    if text.count("[") + text.count("{") <= depth:
        return True
    level = 0
    # Brackets in quotes and comments are counted, too: knowing which those are takes a parser.
    for match in re.finditer(_BRACKET, text):
        if match[0] in "[{":
            level += 1
        elif level:
            level -= 1
        if level > depth:
            return False
    return True


def _explain(message: str, text: str) -> YamlProblem:
    """The parser's message as a problem."""
    matching = (reason for reason in _REASONS if reason[0] in message)
    sign, why = next(matching, _UNKNOWN_REASON)
    line, column = _find_position(message, text)
    duplicate = re.search(_DUPLICATE, message)
    key = re.sub(_ESCAPED, _unescape, duplicate[1].strip('"')) if duplicate else None
    if key is not None:
        why = f"the key `{key}` appears twice"
    code = _CODES.get(sign, "yaml-invalid")
    is_number = "invalid type: integer" in message
    return YamlProblem(code, why, line, column, key, is_number)


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _find_position(message: str, text: str) -> tuple[int | None, int | None]:
    """Line and column that the parser names; some of its messages count bytes instead."""
    position = re.search(_POSITION, message)
    if position is not None:
        before = text.encode()[: int(position[1])]
        return before.count(b"\n") + 1, None
    line_and_column = re.search(_LINE_AND_COLUMN, message)
    if line_and_column is None:
        return None, None
    return int(line_and_column[1]), int(line_and_column[2])


def _clean_up(text: str, value: Any, limits: ScanLimits) -> YamlResult:
    """Take off tags and make text of every key, at most as deep as the limits allow."""
    # Keys that are numbers or truth words may have collided; as text they cannot.
    quoted = re.sub(_WORD_KEY, r'\1"\2"', text)
    if quoted != text:
        # Where quoting the keys breaks something else, the first parse counts.
        with suppress(ValueError):
            value = parse_natively(quoted)
    depth = _get_depth(limits)
    tags: list[str] = []
    # Without a `!` in the text, a key such as "\x21x" was written with an escape and is no tag.
    may_have_tags = "!" in text
    try:
        clean = _clean(value, depth, tags if may_have_tags else None)
    except _TooDeep:
        return YamlResult(None, _report_depth(depth))
    return YamlResult(clean, None, tuple(tags))


def find_too_deep(value: Any, limits: ScanLimits) -> YamlProblem | None:
    """The problem of a value that has more levels than are read, where all keys are text."""
    depth = _get_depth(limits)
    return None if is_clean(value, depth, tags=False) else _report_depth(depth)


def _report_depth(depth: int) -> YamlProblem:
    return YamlProblem("yaml-nesting", f"it is nested more than {depth} levels deep")


def _clean(value: Any, depth: int, tags: list[str] | None) -> Any:
    """A value without the mappings that represent tags, which are added to `tags`."""
    if type(value) not in _COLLECTIONS:
        return value
    if depth <= 0:
        raise _TooDeep
    if type(value) is list:
        return [_clean(item, depth - 1, tags) for item in value]
    tag = _find_tag(value)
    if tags is not None and tag is not None:
        # The parser names a lone `!` with two of them.
        tags.append("!" if tag == "!!" else tag)
        # Its mapping is not a level of what the author wrote.
        return _clean(value[tag], depth, tags)
    return {render_scalar(key): _clean(item, depth - 1, tags) for key, item in value.items()}


def _find_tag(value: dict[Any, Any]) -> str | None:
    """The tag that a mapping represents: the parser gives `!tag x` as `{"!tag": x}`."""
    if len(value) != 1:
        return None
    [key] = value
    is_tag = type(key) is str and key.startswith("!")
    return key if is_tag else None
