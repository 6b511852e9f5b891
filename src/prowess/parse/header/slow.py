"""Reading a header that needs a second look: odd bytes, odd fences, broken YAML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose, limit_diagnostics
from prowess.parse.header.fences import LINE_END, MALFORMED, Split, split_header
from prowess.parse.header.lines import Line, decode, plain_text, split_lines, strip_mark
from prowess.parse.header.result import HeaderReading
from prowess.parse.repair.broken_header import find_cut, find_key
from prowess.parse.repair.fallbacks import needs_fallback, read_fallback
from prowess.parse.repair.loop import read_lines
from prowess.parse.yaml.host_values import convert_values
from prowess.parse.yaml.odd_characters import OddCharacters, find_odd_characters
from prowess.parse.yaml.reader import YamlProblem, find_too_deep
from prowess.parse.yaml.text_values import make_whole
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import ScanLimits

# The host makes these repairs only if nothing follows the opening `---` on its line.
_NEED_PLAIN_OPENING = ("opencode-blocks",)
# Fields that hold sentences; in others a comment is usually meant as one.
_SENTENCES = ("description", "when_to_use")
# How much of a user's text a message quotes.
_MOST_QUOTED = 24


def read_any_header(data: bytes, rules: HeaderRules, limits: ScanLimits) -> HeaderReading:
    """Read the header of any bytes: decode, find the fences, parse, repair; report all of it."""
    findings: list[Diagnostic] = []
    text, finding = decode(data, rules)
    if finding is not None:
        findings.append(finding)
        if finding.severity is Severity.ERROR:
            return HeaderReading({}, diagnostics=(finding,), valid=False)
    if not strip_mark(text, rules).strip():
        return _read_empty(rules)
    split = split_header(text, rules)
    body = split.text[split.body :]
    if split.problem is not None:
        fence = _report_fence(split, rules)
        findings.append(fence)
        if fence.severity is Severity.ERROR:
            return HeaderReading({}, body, tuple(findings), valid=False)
    has_header = split.end > 0
    # A header in another language, such as `---js`, is never evaluated: its fields do not exist.
    if not has_header or split.problem == "header-language":
        return HeaderReading({}, body, tuple(findings))
    if split.odd_closing:
        findings.append(_report_closing(split))
    return _read_split(split, body, findings, rules, limits)


def _grade_missing(rules: HeaderRules) -> Severity | None:
    return Severity.ERROR if rules.missing == "invalid" else None


def _read_empty(rules: HeaderRules) -> HeaderReading:
    severity = Severity.WARNING if rules.empty_file_is_skill else None
    finding = diagnose("empty-file", "The file is empty.", severity=severity)
    return HeaderReading({}, diagnostics=(finding,), valid=rules.empty_file_is_skill)


def _read_split(
    split: Split, body: str, findings: list[Diagnostic], rules: HeaderRules, limits: ScanLimits
) -> HeaderReading:
    """Parse the header between its fences, with the repairs the host makes."""
    header = split.text[split.start : split.end]
    # Claude Code and omp take a header that they cannot read for an empty one.
    valid = rules.broken == "empty"
    severity = Severity.WARNING if valid else Severity.ERROR
    size = len(header.encode(errors="replace"))
    if size > limits.header_bytes > 0:
        message = f"The header has {size:,} bytes; at most {limits.header_bytes:,} are allowed."
        findings.append(diagnose("header-too-large", message, line=1, severity=severity))
        return HeaderReading({}, body, tuple(findings), valid=valid)
    if split.is_json:
        return _read_json(split, header, findings, limits)
    if not split.plain_opening:
        rules = _drop_repairs(rules)
    # Characters that only the native parser minds are hidden from it and put back at the end.
    odd = OddCharacters(find_odd_characters(header, rules), header)
    lines = split_lines(odd.hide(header), first=split.line)
    repaired = read_lines(lines, rules, limits)
    problem = repaired.problem
    if rules.fallback:
        # Gemini CLI and Qwen Code have a reader of their own for what their parser rejects.
        is_read_again = problem is not None or needs_fallback(repaired.value, rules)
        if is_read_again:
            reading = read_fallback(lines, problem, body, findings, rules)
            return msgspec.structs.replace(reading, frontmatter=odd.restore(reading.frontmatter))
    if problem is not None:
        # Copilot loads a skill whose header is a list or plain text, as one without fields.
        is_tolerated = problem.code == "header-not-a-mapping" and rules.not_a_mapping == "empty"
        if is_tolerated:
            severity, valid = Severity.WARNING, True
        findings.append(_report_problem(problem, repaired.lines, severity))
        return HeaderReading({}, body, tuple(findings), valid=valid)
    value = odd.restore(convert_values(repaired.value, plain_text(repaired.lines), rules))
    findings += [*repaired.diagnostics, *_report_cuts(repaired.lines)]
    return HeaderReading(value, body, limit_diagnostics(findings))


def _read_json(
    split: Split, header: str, findings: list[Diagnostic], limits: ScanLimits
) -> HeaderReading:
    """A header in JSON; none of the repairs is for it."""
    body = split.text[split.body :]
    try:
        value = _parse_json(header)
    except (msgspec.DecodeError, RecursionError):
        message = "The opening fence says `json`, but the header is not valid JSON."
        findings.append(diagnose("header-language", message, line=split.line - 1))
        return HeaderReading({}, body, tuple(findings), valid=False)
    too_deep = find_too_deep(value, limits)
    if too_deep is not None:
        findings.append(_report_problem(too_deep, [], Severity.ERROR))
        return HeaderReading({}, body, tuple(findings), valid=False)
    fields = value if isinstance(value, dict) else {}
    return HeaderReading(fields, body, tuple(findings))


def _parse_json(header: str) -> Any:
    value = msgspec.json.decode(header)
    try:
        msgspec.msgpack.encode(value)
    except OverflowError:
        # The cache stores no number beyond 64 bits; JavaScript makes a double of it.
        import json

        return json.loads(header, parse_int=lambda digits: make_whole(float(digits)))
    return value


def _drop_repairs(rules: HeaderRules) -> HeaderRules:
    repairs = tuple(repair for repair in rules.repairs if repair not in _NEED_PLAIN_OPENING)
    return msgspec.structs.replace(rules, repairs=repairs)


def _report_fence(split: Split, rules: HeaderRules) -> Diagnostic:
    if split.problem == "header-language":
        return _report_language(split, rules)
    if split.problem == "header-unclosed":
        severity = Severity.ERROR if rules.unclosed == "invalid" else Severity.WARNING
        message = "The header that starts on line 1 is never closed by a `---` line."
        return diagnose("header-unclosed", message, line=1, severity=severity)
    if split.problem == MALFORMED:
        return _report_opening(split)
    message = "The file does not start with a `---` line, so it has no header."
    return diagnose("header-missing", message, line=1, severity=_grade_missing(rules))


def _report_language(split: Split, rules: HeaderRules) -> Diagnostic:
    language = split.text[3:].split("\n", 1)[0].strip()[:_MOST_QUOTED]
    known = "YAML"
    if rules.languages:
        known = f"one of {', '.join(rules.languages)}"
    message = f"The header's language is “{language}”, not {known}; headers are never evaluated."
    # Where a host accepts the name of a language, the skill loads as one without a header.
    severity = Severity.WARNING if split.language else None
    return diagnose("header-language", message, line=split.line - 1, severity=severity)


def _report_opening(split: Split) -> Diagnostic:
    if split.language:
        language = split.language[:_MOST_QUOTED]
        message = f"The opening fence names a language, “{language}”; most hosts find no header."
        return diagnose(MALFORMED, message, line=split.line - 1)
    message = "There are blank lines before the header; most hosts find no header."
    return diagnose(MALFORMED, message, line=1, hint="Start the file with the `---` line.")


def _report_closing(split: Split) -> Diagnostic:
    """Say that a header ends where its author may not have meant it to."""
    before = split.text[split.start : split.end]
    number = split.line + len(LINE_END.findall(before))
    is_at_margin = not before or before[-1] in "\r\n"
    if is_at_margin:
        message = f"Line {number} begins with `---`, which closes the header; the rest is body."
    else:
        message = f"`---` in the middle of line {number} closes the header; the rest is body."
    return diagnose(MALFORMED, message, line=number)


def _report_cuts(lines: list[Line]) -> Iterator[Diagnostic]:
    """Text after ` #` is a comment in YAML, which few authors mean in the middle of a sentence."""
    for line in lines:
        if " #" not in line.text:
            continue
        key = find_key(line.text)
        if key not in _SENTENCES:
            continue
        cut = find_cut(line.text)
        if cut is None:
            continue
        text = cut if len(cut) <= _MOST_QUOTED else cut[: _MOST_QUOTED - 1] + "…"
        message = f"`{key}` is cut off before “{text}” because ` #` starts a comment."
        yield diagnose("value-cut", message, line=line.number, field=key)


def _report_problem(
    problem: YamlProblem, lines: list[Line], severity: Severity | None
) -> Diagnostic:
    line, where = None, ""
    if problem.line is not None and lines:
        # The parser may name the line after the last one, where it missed the end of a value.
        last = min(problem.line, len(lines))
        line = lines[last - 1].number
        where = f" (line {line})"
    if problem.code == "header-not-a-mapping":
        message = f"The header has no `key: value` lines: {problem.why}."
    else:
        message = f"The header cannot be parsed: {problem.why}{where}."
    return diagnose(problem.code, message, line=line, severity=severity)
