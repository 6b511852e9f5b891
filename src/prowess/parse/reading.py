"""From the bytes of a SKILL.md to its header, under a host's rules; never raises, whatever the bytes."""

from __future__ import annotations

from typing import Any

import msgspec

from prowess.diagnostics import Diagnostic, Severity, diagnose
from prowess.parse.fences import Split, split_body, split_header
from prowess.parse.mending import read_lines
from prowess.parse.scalars import read_old_scalars, values_as_text
from prowess.parse.text import Line, decode, find_lead, plain_text, split_lines
from prowess.parse.yaml import Trouble, is_settled, read_natively
from prowess.profiles.schema import Header, Limits

__all__ = ["Reading", "read_header", "split_body"]

# The first line of nearly every body lies within so many bytes.
_LEAD_BYTES = 400

# So few brackets cannot be nested too deeply; more are counted.
_FEW_BRACKETS = 16
_SAFE_DEPTH = 64
_COLLECTIONS = (dict, list)


class Reading(msgspec.Struct, frozen=True):
    """What a header says: its fields, the first line of the body, and what was found on the way.

    It holds no path, so that it can be kept for every copy of a file. `valid` is False where this host
    would not load the file because of how it is written.
    """

    frontmatter: dict[str, Any]
    lead: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    valid: bool = True


def read_header(data: bytes, *, rules: Header, limits: Limits) -> Reading:
    """Read the header from the beginning of a file."""
    reading = _read_plain(data, rules, limits)
    return reading if reading is not None else _read_with_care(data, rules, limits)


def _read_plain(data: bytes, rules: Header, limits: Limits) -> Reading | None:
    """The short way for a header that is as it should be; None for anything that needs a second look."""
    end = data.find(b"\n---", 3)
    if end < 0 or data[end + 4 : end + 5] != b"\n" or not data.startswith(b"---\n") or end > limits.header_bytes > 0:
        return None
    header = data[4 : end + 1]
    if b"\r" in header or b"!" in header or (b"&" in header and b"*" in header) or _is_bracketed(header):
        return None
    if (rules.close == "anywhere" and b"---" in header) or (rules.strip_comments and b"<!--" in data):
        return None
    try:
        if not data.isascii():
            data.decode()
        value = read_natively(header.decode())
    except Exception:
        return None
    if type(value) is not dict:
        return None
    depth = (limits.yaml_depth or _SAFE_DEPTH) - 1
    for key, item in value.items():
        if type(key) is not str or (type(item) in _COLLECTIONS and not is_settled(item, depth, tags=False)):
            return None
    if rules.values == "text" or not rules.dates_are_text:
        value = _reread(value, header.decode(), rules)
    return Reading(value, _find_lead(data, end + 5))


def _is_bracketed(header: bytes) -> bool:
    """Whether there are enough brackets for nesting to be counted."""
    if b"[" not in header and b"{" not in header:
        return False
    return header.count(b"[") + header.count(b"{") > _FEW_BRACKETS


def _reread(value: dict[str, Any], header: str, rules: Header) -> dict[str, Any]:
    if not rules.dates_are_text:
        value = read_old_scalars(value, header)
    if rules.values == "text":
        value = values_as_text(value, structured="metadata")
    return value


def _find_lead(data: bytes, start: int) -> str:
    line, _, rest = data[start : start + _LEAD_BYTES].lstrip().partition(b"\n")
    if rest:
        return find_lead(line.decode())
    return find_lead(data[start:].decode(errors="replace"))


def _read_with_care(data: bytes, rules: Header, limits: Limits) -> Reading:
    text, finding = decode(data)
    found = [] if finding is None else [finding]
    if finding is not None and finding.code == "utf16":
        return Reading({}, diagnostics=(finding,), valid=False)
    if not text.strip():
        return _read_empty(rules)
    split = split_header(text, rules)
    lead = find_lead(split.text[split.body :])
    if split.problem is not None:
        found.append(_report_fence(split, rules))
        if found[-1].severity is Severity.ERROR:
            return Reading({}, lead, tuple(found), valid=False)
    if split.end == 0:
        return Reading({}, lead, tuple(found))
    return _read_split(split, lead, found, rules, limits)


def _read_empty(rules: Header) -> Reading:
    severity = Severity.WARNING if rules.empty_file_is_skill else None
    finding = diagnose("empty-file", "The file is empty.", severity=severity)
    return Reading({}, diagnostics=(finding,), valid=rules.empty_file_is_skill)


def _report_fence(split: Split, rules: Header) -> Diagnostic:
    if split.problem == "header-language":
        first = split.text[3:].split("\n", 1)[0].strip()[:24]
        known = ", ".join(rules.languages) or "YAML"
        message = f"The header is written in “{first}”; only {known} is read, and nothing is evaluated."
        return diagnose("header-language", message, line=1)
    if split.problem == "header-unclosed":
        severity = Severity.ERROR if rules.unclosed == "invalid" else Severity.WARNING
        message = "The header that begins on line 1 is never closed by a line `---`."
        return diagnose("header-unclosed", message, line=1, severity=severity)
    return diagnose("header-missing", "The file does not begin with a line `---`, so it has no header.", line=1)


def _read_split(split: Split, lead: str, found: list[Diagnostic], rules: Header, limits: Limits) -> Reading:
    header = split.text[split.start : split.end]
    valid = rules.broken == "empty"
    severity = Severity.WARNING if valid else None
    size = len(header.encode(errors="replace"))
    if size > limits.header_bytes > 0:
        message = f"The header has {size:,} bytes; at most {limits.header_bytes:,} are read."
        found.append(diagnose("header-too-large", message, line=1, severity=severity))
        return Reading({}, lead, tuple(found), valid=valid)
    mended = read_lines(split_lines(header, first=split.line), rules.repairs, limits)
    if mended.value is None:
        found.append(_report_trouble(mended.trouble, mended.lines, severity))
        return Reading({}, lead, tuple(found), valid=valid)
    value = _reread(mended.value, plain_text(mended.lines), rules)
    return Reading(value, lead, (*found, *mended.diagnostics))


def _report_trouble(trouble: Trouble | None, lines: list[Line], severity: Severity | None) -> Diagnostic:
    if trouble is None:
        trouble = Trouble("yaml-invalid", "the YAML reader refused it")
    line = None
    if trouble.line is not None and lines:
        line = lines[min(trouble.line, len(lines)) - 1].number
    where = f" (line {line})" if line is not None else ""
    if trouble.code == "header-not-a-mapping":
        message = f"The header has no `key: value` lines: {trouble.why}."
    else:
        message = f"The header cannot be read: {trouble.why}{where}."
    return diagnose(trouble.code, message, line=line, severity=severity)
