"""Reading a header that may be broken: parse, repair what is at fault, parse again; bounded.

In each round the repairs of the host are tried in its order, and the first one that changes a line
ends the round: it may have removed the cause of what the others would repair. The loop ends when
the header can be read, when no repair has anything to do, or when its bounds are used up.

`fix_header` writes the repairs into the text of a file, so that every YAML parser reads what
Prowess reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from prowess.diagnostics import Diagnostic, diagnose, limit_diagnostics
from prowess.parse.header.fences import MALFORMED, Split, split_header
from prowess.parse.header.lines import Line, join_lines, plain_text, split_lines
from prowess.parse.repair.broken_header import (
    BrokenHeader,
    Patch,
    RepairedLines,
    Repairer,
    apply_patches,
)
from prowess.parse.repair.host_repairs import (
    drop_other_duplicates,
    drop_tabs,
    quote_description,
    quote_lines,
    quote_pairs,
    quote_reserved,
    read_line_by_line,
    read_tabs_before_items,
    write_blocks,
)
from prowess.parse.repair.line_repairs import (
    align_keys,
    drop_controls,
    drop_duplicates,
    join_stray_lines,
    part_keys,
    quote_entries,
    tabs_to_spaces,
)
from prowess.parse.repair.parser_quirks import (
    end_bracketed_keys,
    indent_brackets,
    nest_after_bracketed_key,
    part_closed_values,
    quote_bracketed_keys,
)
from prowess.parse.repair.value_repairs import (
    close_brackets,
    fix_quotes,
    move_block_text,
    quote_colon,
    quote_hint,
    quote_indicator,
)
from prowess.parse.yaml.host_values import find_wrong_type, has_bad_merge
from prowess.parse.yaml.odd_characters import LINE_SEPARATORS
from prowess.parse.yaml.reader import YamlProblem, YamlResult, parse_yaml
from prowess.profiles.schema.header import HeaderRules, Repair
from prowess.profiles.schema.roots import ScanLimits

REPAIRS: dict[Repair, Repairer] = {
    # Prowess's own; some hosts have one or two of them, too
    "drop-controls": drop_controls,
    "tab-to-spaces": tabs_to_spaces,
    "part-keys": part_keys,
    "align-keys": align_keys,
    "join-lines": join_stray_lines,
    "block-text": move_block_text,
    "close-json": close_brackets,
    "quote-hint": quote_hint,
    "quote-indicator": quote_indicator,
    "quote-colon": quote_colon,
    "quote-quotes": fix_quotes,
    "drop-duplicates": drop_duplicates,
    "quote-entries": quote_entries,
    # What the YAML parsers of hosts make of text that is not YAML
    "part-closed": part_closed_values,
    "quote-bracketed-keys": quote_bracketed_keys,
    "end-bracketed-keys": end_bracketed_keys,
    "nest-after-bracketed-keys": nest_after_bracketed_key,
    "indent-brackets": indent_brackets,
    # As single hosts do it, for the most part when their parser has failed
    "tab-dropped": drop_tabs,
    "tab-items": read_tabs_before_items,
    "drop-other-duplicates": drop_other_duplicates,
    "opencode-blocks": write_blocks,
    "quote-description": quote_description,
    "quote-plain": quote_reserved,
    "quote-pairs": quote_pairs,
    "quote-lines": quote_lines,
    "line-by-line": read_line_by_line,
}

_OF_DUPLICATES = ("drop-duplicates", "drop-other-duplicates")

# Real headers have a few dozen lines; nobody writes longer ones by hand.
_MOST_LINES = 1_500

# A header that is rejected for its size was not mistyped.
_LIMITS = ("yaml-aliases", "yaml-nesting")

# Most broken headers have one broken value; only after this many rounds is every entry checked.
_QUICK_ROUNDS = 4

# How many characters may be parsed again after repairs. A header of 16 KB gets every round that the
# repairs can ask for; one as large as is read, which nobody wrote by hand, gets a few.
_MOST_WORK = 1 << 19

_SEPARATOR = re.compile(f"[{LINE_SEPARATORS}]")
_NUMBER = re.compile(r"[-+]?[\w.]+")
_LONG_TAG = r"(?<![^\s\[{,])!!([\w/.:-]+)"
_DEFINED_TAGS = frozenset(
    "str int float bool null map seq binary timestamp set omap pairs merge".split()
)


class RepairedHeader(NamedTuple):
    """A header after reading: its values, its lines as they were parsed, and the findings.

    Where no repair helps, `problem` says what is wrong, and the lines are those of the file.
    """

    value: dict[str, Any]
    lines: list[Line]
    problem: YamlProblem | None
    diagnostics: list[Diagnostic]


def read_lines(lines: list[Line], rules: HeaderRules, limits: ScanLimits) -> RepairedHeader:
    """Read the lines of a header with the repairs a host makes."""
    original = lines
    if rules.tabs == "spaces":
        # omp does so before it parses, also inside text.
        lines = [line._replace(text=line.text.replace("\t", "  ")) for line in lines]
    text = _join_before_fence(lines)
    parsed = as_written = _parse(text, rules, limits)
    diagnostics: list[Diagnostic] = []
    # Every repair gets two turns, because one can uncover what another one is for.
    rounds = 2 * len(rules.repairs) + 4
    if len(lines) > _MOST_LINES:
        rounds = 0
    # Repairs add quotes and blanks; a text that has doubled would grow in every round.
    most_text = 2 * len(text) + 1_000
    work = _MOST_WORK
    for turn in range(rounds):
        problem = _find_problem(parsed, rules)
        if problem is None or problem.code in _LIMITS:
            break
        if len(text) > min(most_text, work):
            break
        work -= len(text)
        thorough = turn >= _QUICK_ROUNDS
        broken = BrokenHeader(
            lines, text, problem, original=original, limits=limits, thorough=thorough
        )
        repaired = _repair(broken, rules)
        if repaired is None:
            break
        lines = repaired.lines
        diagnostics += repaired.diagnostics
        text = _join_before_fence(lines)
        parsed = _parse(text, rules, limits)
    if not _is_readable(parsed, rules):
        # What the author wrote counts and is explained, not what unsuccessful repairs made of it.
        if not _is_readable(as_written, rules):
            return _choose_problem(as_written, parsed, lines, original, rules)
        parsed, lines, diagnostics = as_written, original, []
    diagnostics += [_report_tag(tag) for tag in parsed.tags]
    return RepairedHeader(parsed.value or {}, lines, None, diagnostics)


def _join_before_fence(lines: list[Line]) -> str:
    """The text as the parser gets it. After a blank line the line end before the closing fence is
    part of the fence: a block that keeps its blank lines (`|+`) has one less.
    """
    text = plain_text(lines)
    return text[:-1] if text.endswith("\n\n") else text


def _choose_problem(
    as_written: YamlResult,
    parsed: YamlResult,
    lines: list[Line],
    original: list[Line],
    rules: HeaderRules,
) -> RepairedHeader:
    """A header that no repair helps, with the problem that explains it best."""
    left = _find_problem(parsed, rules)
    if _is_left_as_written(left, lines, original):
        return RepairedHeader({}, lines, left, [])
    return RepairedHeader({}, original, _find_problem(as_written, rules), [])


def _is_left_as_written(
    problem: YamlProblem | None, lines: list[Line], original: list[Line]
) -> bool:
    """Whether a problem is on a line that no repair has touched; then that line is to blame, and
    not the first one that the parser rejected.
    """
    if problem is None or problem.line is None:
        return False
    is_past_end = problem.line > len(lines)
    if is_past_end or lines == original:
        return False
    return lines[problem.line - 1] in original


def _parse(text: str, rules: HeaderRules, limits: ScanLimits) -> YamlResult:
    parsed = parse_yaml(text, limits)
    if rules.tags == "ignored" or "!" not in text:
        return parsed
    # `!` alone means text.
    tags = [tag for tag in parsed.tags if tag != "!"]
    if "!!" in text:
        # The native parser passes over tags such as `!!x` without a trace, but not over `!x`; a
        # `!!x` in the middle of a sentence is none to it either way.
        short = parse_yaml(re.sub(_LONG_TAG, _shorten_tag, text), limits).tags
        tags += [f"!{tag}" for tag in short if tag not in parsed.tags]
    return parsed._replace(tags=tuple(tags))


def _shorten_tag(tag: re.Match[str]) -> str:
    """`!x` for a tag `!!x` that YAML does not define."""
    return tag[0] if tag[1] in _DEFINED_TAGS else f"!{tag[1]}"


def _is_readable(parsed: YamlResult, rules: HeaderRules) -> bool:
    problem = _find_problem(parsed, rules)
    if problem is None:
        return True
    # Repairs may put a tagged value in quotes, as its author may have meant; if none does, the tag
    # is dropped.
    return problem.code == "yaml-tag" and rules.tags == "ignored"


def _find_problem(parsed: YamlResult, rules: HeaderRules) -> YamlProblem | None:
    """What keeps the host from reading a header, also if it is valid YAML."""
    if parsed.problem is not None:
        return parsed.problem
    value = parsed.value
    if isinstance(value, list):
        return YamlProblem("header-not-a-mapping", "it is a list")
    # Nothing at all, such as comments only, is an empty header.
    if not isinstance(value, dict | None):
        return YamlProblem("header-not-a-mapping", "it is plain text")
    # A parser with merge keys rejects `<<: 3`; to all others `<<` is a key.
    if rules.merge_keys and has_bad_merge(value):
        return YamlProblem("yaml-invalid", "`<<` is not followed by a mapping")
    wrong = find_wrong_type(value or {}, rules)
    if wrong is not None:
        return YamlProblem("yaml-invalid", wrong)
    if parsed.tags:
        return YamlProblem("yaml-tag", f"it has the tag `{parsed.tags[0]}`")
    return None


def _report_tag(tag: str) -> Diagnostic:
    return diagnose("yaml-tag", f"The tag `{tag}` is ignored; only its value is read.")


def _repair(broken: BrokenHeader, rules: HeaderRules) -> RepairedLines | None:
    """The lines after the first repair that changes something."""
    rewritten = _rewrite_valid_yaml(broken, rules)
    if rewritten is not None:
        return rewritten
    is_ignored_tag = broken.problem.code == "yaml-tag" and rules.tags == "ignored"
    repairs: Iterable[Repair] = rules.repairs
    if broken.problem.key is not None:
        # A header whose only mistake is a key that appears twice is valid otherwise: no host quotes
        # or joins anything in it.
        repairs = sorted(repairs, key=lambda name: name not in _OF_DUPLICATES)
    for name in repairs:
        # A tag is valid YAML: only its own value may be quoted, nothing else is touched.
        if is_ignored_tag and name != "quote-indicator":
            continue
        repaired = REPAIRS[name](broken)
        if repaired is not None:
            return repaired
    return None


def _rewrite_valid_yaml(broken: BrokenHeader, rules: HeaderRules) -> RepairedLines | None:
    """Write in another way what is valid YAML and only the native parser rejects."""
    if broken.problem.is_number:
        return apply_patches(broken.lines, _quote_number(broken))
    may_have_blanks = "\t" in broken.text or _SEPARATOR.search(broken.text) is not None
    if not may_have_blanks:
        return None
    return apply_patches(broken.lines, _replace_blanks(broken, rules))


def _replace_blanks(broken: BrokenHeader, rules: HeaderRules) -> Iterator[Patch]:
    """Empty lines for those with tabs only, and spaces for line breaks that YAML does not know."""
    for index, line in enumerate(broken.lines):
        has_only_tabs = "\t" in line.text and not line.text.strip()
        if has_only_tabs:
            # Valid YAML, so there is nothing to report.
            yield Patch(index, index, [line._replace(text="")])
            continue
        odd = sorted({f"U+{ord(character):04X}" for character in _SEPARATOR.findall(line.text)})
        if odd and rules.line_separators == "space":
            message = f"The line contains a line break ({', '.join(odd)}); it is read as a space."
            finding = diagnose("yaml-invalid-character", message, line=line.number)
            fixed = line._replace(text=_SEPARATOR.sub(" ", line.text))
            yield Patch(index, index, [fixed], finding)


def _quote_number(broken: BrokenHeader) -> Iterator[Patch]:
    """A number beyond 64 bits, at the place that the parser names, as text."""
    line_number, column = broken.problem.line, broken.problem.column
    if line_number is None or column is None:
        return
    if line_number > len(broken.lines):
        return
    index = line_number - 1
    line = broken.lines[index]
    match = _NUMBER.match(line.text, column - 1)
    if match is None:
        return
    fixed = f'{line.text[: match.start()]}"{match[0]}"{line.text[match.end() :]}'
    message = f"The number {match[0][:24]} is too large for 64 bits and is read as text."
    finding = diagnose("yaml-large-number", message, line=line.number)
    yield Patch(index, index, [line._replace(text=fixed)], finding)


def fix_header(text: str, *, rules: HeaderRules) -> tuple[str, tuple[Diagnostic, ...]]:
    """The text with its header repaired, and what was wrong; the same text if nothing changes.

    Lines that need no repair keep every byte, including their line ends; comments and the order of
    keys stay.
    """
    unchanged = text, ()
    split = split_header(text, rules)
    bad_fence = split.problem == MALFORMED
    has_fixable_fences = split.problem is None or bad_fence
    is_fixable = split.end > 0 and has_fixable_fences
    # Where the host strips comments, the lines of the split may not be those of the file.
    if not is_fixable or not text.endswith(split.text):
        return unchanged
    header = split.text[split.start : split.end]
    limits = ScanLimits()
    if len(header) > limits.header_bytes:
        # A scan rejects such a header, repaired or not.
        return unchanged
    lines = split_lines(header, first=split.line)
    repaired = read_lines(lines, rules, limits)
    needs_fix = bad_fence or repaired.lines != lines
    if repaired.problem is not None or not needs_fix:
        return unchanged
    fixed = join_lines(repaired.lines)
    whole = _fix_opening(text, split) + fixed + split.text[split.end :]
    again = split_header(whole, rules)
    if again.text[again.start : again.end] != fixed:
        # A repair made a fence out of a line; the author has to decide.
        return unchanged
    return whole, (*_report_fences(split), *limit_diagnostics(repaired.diagnostics))


def _fix_opening(text: str, split: Split) -> str:
    """What comes before the header: a byte order mark stays, blank lines and a language go."""
    before = text[: len(text) - len(split.text)].rstrip("\r\n\t ")
    opening = split.text[: split.start]
    if split.language:
        opening = opening.replace(split.language, "", 1)
    return before + opening


def _report_fences(split: Split) -> Iterator[Diagnostic]:
    if split.problem != MALFORMED:
        return
    if split.line > 2:
        yield diagnose(MALFORMED, "There are blank lines before the header.", line=1)
    if split.language:
        yield diagnose(MALFORMED, "The opening fence names a language.", line=split.line - 1)
