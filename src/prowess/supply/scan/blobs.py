"""The rule about long encoded text, which neither a person nor a reviewer reads."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.instructions import find_order, find_override
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{40,}={0,2}(?![\w+/=-])")
_BASE32 = re.compile(r"(?<![\w+/=-])[A-Z2-7]{40,}={0,6}(?![\w+/=-])")
_HEX = re.compile(r"(?<![\w-])(?:0x)?(?:[0-9a-fA-F]{2}){24,}(?![\w-])|(?:\\x[0-9a-fA-F]{2}){16,}")
_DATA_URI = re.compile(r"data:(?:image|font|audio|video)/[\w.+-]{1,60};base64,$")
_INTEGRITY = re.compile(r"(?:sha(?:1|256|384|512)|md5|integrity|digest|hash|ssh-\w+)\W{0,4}$", re.I)
_COMMAND = re.compile(
    r"\b(?:curl|wget|bash|sh -|eval|exec|import |subprocess|os\.system|powershell|rm -rf|nc |chmod"
    r"|https?://|<script)",
)
_PRINTABLE = bytes(range(32, 127)) + b"\t\n\r"
# A few bytes may be anything; of random bytes two in three are not printable.
_MOST_UNPRINTABLE = 0.05
_LEAST_DATA = 16
# Shorter ones are keys, digests and identifiers.
_LARGE = 1_000
# Enough to see what it says.
_MOST_DECODED = 20_000


def _match_blob(passage: Passage) -> Iterator[Match]:
    text = passage.text
    for pattern, decode in _ENCODINGS:
        for blob in pattern.finditer(text):
            start = blob.start()
            before = text[max(0, start - 60) : start]
            # Pictures and digests are what encoded data usually is.
            is_usual = _DATA_URI.search(before) or _INTEGRITY.search(before)
            if is_usual:
                continue
            data = decode(blob[0][:_MOST_DECODED])
            match = _judge(passage, blob, data)
            if match is not None:
                yield match


def _judge(passage: Passage, blob: re.Match[str], data: bytes | None) -> Match | None:
    if data is None:
        return None
    line = passage.find_line(blob.start())
    size = len(blob[0])
    text = _find_text(data)
    if text is not None:
        is_order = find_override(text) or find_order(text) or _COMMAND.search(text)
        severity = None if is_order else Severity.INFO
        shown = " ".join(text.split())[:60]
        return Match(line, f"Encoded text says “{shown}”.", severity)
    if size >= _LARGE:
        reason = f"{size:,} characters of encoded data are here."
        return Match(line, reason, Severity.INFO)
    return None


def _decode_base64(text: str) -> bytes | None:
    # A word of one case is not base64.
    if not all(re.search(kind, text) for kind in ("[a-z]", "[A-Z]", "[0-9+/=]")):
        return None
    # Nor is a path or a long identifier: in base64 one character of 64 is a `/` or a `_`.
    most_separators = len(text) // 12
    if text.count("/") > most_separators or text.count("_") > most_separators:
        return None
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    # A blob may be cut anywhere; of its last group only a whole one can be decoded.
    whole = plain[: len(plain) // 4 * 4]
    try:
        return base64.b64decode(whole)
    except (binascii.Error, ValueError):
        # A long word that only looked like base64.
        return None


def _decode_hex(text: str) -> bytes | None:
    digits = text.replace("\\x", "").removeprefix("0x")
    whole = digits[: len(digits) // 2 * 2]
    return bytes.fromhex(whole)


def _decode_base32(text: str) -> bytes | None:
    plain = text.rstrip("=")
    whole = plain[: len(plain) // 8 * 8]
    try:
        return base64.b32decode(whole)
    except (binascii.Error, ValueError):
        # A long word in capitals that only looked like base32.
        return None


_ENCODINGS = (
    (_BASE64, _decode_base64),
    (_BASE32, _decode_base32),
    (_HEX, _decode_hex),
)


def _find_text(data: bytes) -> str | None:
    """What data says if it is text in ASCII, which hides most easily; None if it is not."""
    if len(data) < _LEAST_DATA:
        return None
    unprintable = len(data.translate(None, _PRINTABLE))
    if unprintable > len(data) * _MOST_UNPRINTABLE:
        return None
    return data.decode("ascii", "replace")


RULES = (
    ScanRule(
        code="encoded-blob",
        severity=Severity.ERROR,
        summary="Long encoded text hides what it says.",
        hint="Write the text itself, or keep the data in a file of its own.",
        reads=(Kind.FILE,),
        match=_match_blob,
    ),
)
