"""HeaderReading a header that needs a second look: odd bytes, odd fences, broken YAML."""

from __future__ import annotations

from collections.abc import Iterator

from prowess.diagnostics import Diagnostic, Severity, diagnose, limit_diagnostics
from prowess.parse.header.fences import LINE_END, Split, split_header
from prowess.parse.header.lines import Line, decode, plain_text, split_lines
from prowess.parse.header.result import HeaderReading, find_lead
from prowess.parse.repair.broken_header import find_cut, find_key
from prowess.parse.repair.loop import read_lines
from prowess.parse.yaml.host_values import convert_values
from prowess.parse.yaml.reader import YamlProblem
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import Limits


def read_any_header(data: bytes, rules: HeaderRules, limits: Limits) -> HeaderReading:
    """Read the header of any bytes: decode, find the fences, parse, repair, and report all of it."""
    text, finding = decode(data)
    found = [] if finding is None else [finding]
    if finding is not None and finding.code == "utf16":
        return HeaderReading({}, diagnostics=(finding,), valid=False)
    if not text.strip():
        return _read_empty(rules)
    split = split_header(text, rules)
    lead = find_lead(split.text[split.body :])
    if split.problem is not None:
        found.append(_report_fence(split, rules))
        if found[-1].severity is Severity.ERROR:
            return HeaderReading({}, lead, tuple(found), valid=False)
    if split.end == 0 or split.problem == "header-language":
        return HeaderReading({}, lead, tuple(found))
    if split.odd_closing:
        found.append(_report_closing(split))
    return _read_split(split, lead, found, rules, limits)


def _read_empty(rules: HeaderRules) -> HeaderReading:
    severity = Severity.WARNING if rules.empty_file_is_skill else None
    finding = diagnose("empty-file", "The file is empty.", severity=severity)
    return HeaderReading({}, diagnostics=(finding,), valid=rules.empty_file_is_skill)


def _report_fence(split: Split, rules: HeaderRules) -> Diagnostic:
    if split.problem == "header-language":
        first = split.text[3:].split("\n", 1)[0].strip()[:24]
        known = ", ".join(rules.languages) or "YAML"
        message = (
            f"The header is written in “{first}”; only {known} is read, and nothing is evaluated."
        )
        # Where the word is forgiven, the skill loads as one without a header.
        severity = Severity.WARNING if split.language else None
        return diagnose("header-language", message, line=split.line - 1, severity=severity)
    if split.problem == "header-unclosed":
        severity = Severity.ERROR if rules.unclosed == "invalid" else Severity.WARNING
        message = "The header that begins on line 1 is never closed by a line `---`."
        return diagnose("header-unclosed", message, line=1, severity=severity)
    if split.problem == "repaired-fence" and split.language:
        message = (
            f"The fence names the language “{split.language[:24]}”; the header was read as YAML all"
            " the same."
        )
        hint = "Write `---` alone on its line: most hosts read no header behind anything else."
        return diagnose("repaired-fence", message, line=split.line - 1, hint=hint)
    if split.problem == "repaired-fence":
        message = (
            "Blank lines stand before the header; they were left out, since hosts read no header"
            " below them."
        )
        return diagnose(
            "repaired-fence", message, line=1, hint="Begin the file with the line `---`."
        )
    return diagnose(
        "header-missing", "The file does not begin with a line `---`, so it has no header.", line=1
    )


def _report_closing(split: Split) -> Diagnostic:
    """Say that a header ends where its author may not have meant it to."""
    before = split.text[split.start : split.end]
    number = split.line + len(LINE_END.findall(before))
    if not before or before[-1] in "\r\n":
        message = (
            f"The header is closed by line {number}, which begins with `---`; what follows on it"
            " counts as body."
        )
    else:
        message = (
            f"The header is closed by `---` in the middle of line {number}; what follows counts as"
            " body."
        )
    return diagnose("repaired-fence", message, line=number)


def _read_split(
    split: Split, lead: str, found: list[Diagnostic], rules: HeaderRules, limits: Limits
) -> HeaderReading:
    header = split.text[split.start : split.end]
    valid = rules.broken == "empty"
    severity = Severity.WARNING if valid else None
    size = len(header.encode(errors="replace"))
    if size > limits.header_bytes > 0:
        message = f"The header has {size:,} bytes; at most {limits.header_bytes:,} are read."
        found.append(diagnose("header-too-large", message, line=1, severity=severity))
        return HeaderReading({}, lead, tuple(found), valid=valid)
    mended = read_lines(split_lines(header, first=split.line), rules.repairs, limits)
    if mended.value is None:
        found.append(_report_trouble(mended.trouble, mended.lines, severity))
        return HeaderReading({}, lead, tuple(found), valid=valid)
    value = convert_values(mended.value, plain_text(mended.lines), rules)
    return HeaderReading(
        value, lead, limit_diagnostics((*found, *mended.diagnostics, *_report_cuts(mended.lines)))
    )


def _report_cuts(lines: list[Line]) -> Iterator[Diagnostic]:
    """Text behind ` #` is a comment to YAML, which few authors mean in the middle of a sentence."""
    for line in lines:
        if " #" in line.text and (key := find_key(line.text)) in ("description", "when_to_use"):
            cut = find_cut(line.text)
            if cut is not None:
                text = cut if len(cut) <= 24 else cut[:23] + "…"
                message = f"`{key}` is cut off before “{text}”, since ` #` begins a comment."
                yield diagnose("value-cut", message, line=line.number, field=key)


def _report_trouble(
    trouble: YamlProblem | None, lines: list[Line], severity: Severity | None
) -> Diagnostic:
    if trouble is None:
        trouble = YamlProblem("yaml-invalid", "the YAML reader refused it")
    line = None
    if trouble.line is not None and lines:
        line = lines[min(trouble.line, len(lines)) - 1].number
    where = f" (line {line})" if line is not None else ""
    if trouble.code == "header-not-a-mapping":
        message = f"The header has no `key: value` lines: {trouble.why}."
    else:
        message = f"The header cannot be read: {trouble.why}{where}."
    return diagnose(trouble.code, message, line=line, severity=severity)
