"""The rule about long encoded text, which neither a person nor a reviewer reads."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.instructions import find_order, find_override
from prowess.supply.scan.rule import Kind, Match, Passage, Rule

_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{40,}={0,2}(?![\w+/=-])")
_BASE32 = re.compile(r"(?<![\w+/=-])[A-Z2-7]{40,}={0,6}(?![\w+/=-])")
_HEX = re.compile(r"(?<![\w-])(?:0x)?(?:[0-9a-fA-F]{2}){24,}(?![\w-])|(?:\\x[0-9a-fA-F]{2}){16,}")
_DATA_URI = re.compile(r"data:(?:image|font|audio|video)/[\w.+-]{1,60};base64,$")
_INTEGRITY = re.compile(r"(?:sha(?:1|256|384|512)|md5|integrity|digest|hash|ssh-\w+)\W{0,4}$", re.I)
_COMMAND = re.compile(
    r"\b(?:curl|wget|bash|sh -|eval|exec|import |subprocess|os\.system|powershell|rm -rf|nc |chmod"
    r"|https?://|<script)",
)
# Text of a letter or two too many is what random bytes rarely decode to.
_PRINTABLE = 0.95
_LARGE = 1_000
_MOST_DECODED = 20_000


def _match_blob(passage: Passage) -> Iterator[Match]:
    text = passage.text
    for pattern, decode in _ENCODINGS:
        for found in pattern.finditer(text):
            before = text[max(0, found.start() - 60) : found.start()]
            if _DATA_URI.search(before) or _INTEGRITY.search(before):
                continue
            match = _judge(passage, found, decode(found[0][:_MOST_DECODED]))
            if match is not None:
                yield match


def _judge(passage: Passage, found: re.Match[str], data: bytes | None) -> Match | None:
    line = passage.find_line(found.start())
    text = _find_text(data)
    if text is None:
        is_large = len(found[0]) >= _LARGE and data is not None
        reason = f"{len(found[0]):,} characters of encoded data are here."
        return Match(line, reason, Severity.INFO) if is_large else None
    says = f"Encoded text says “{' '.join(text.split())[:60]}”."
    is_order = find_override(text) or find_order(text) or _COMMAND.search(text)
    return Match(line, says, None if is_order else Severity.INFO)


def _decode_base64(text: str) -> bytes | None:
    # A path, a long identifier or a word of one case is not base64.
    mixed = re.search("[a-z]", text) and re.search("[A-Z]", text) and re.search("[0-9+/=]", text)
    if not mixed or text.count("/") > len(text) // 12 or text.count("_") > len(text) // 12:
        return None
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain[: len(plain) // 4 * 4])
    except (binascii.Error, ValueError):
        return None


def _decode_hex(text: str) -> bytes | None:
    digits = text.replace("\\x", "").removeprefix("0x")
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _decode_base32(text: str) -> bytes | None:
    plain = text.rstrip("=")
    try:
        return base64.b32decode(plain[: len(plain) // 8 * 8])
    except (binascii.Error, ValueError):
        return None


_ENCODINGS = (
    (_BASE64, _decode_base64),
    (_BASE32, _decode_base32),
    (_HEX, _decode_hex),
)


def _find_text(data: bytes | None) -> str | None:
    """What data says if it is text in ASCII, which hides most easily; None if it is not."""
    if not data or len(data) < 16:
        return None
    printable = sum(32 <= one < 127 or one in b"\t\n\r" for one in data)
    if printable < len(data) * _PRINTABLE:
        return None
    return data.decode("ascii", "replace")


RULES = (
    Rule(
        code="encoded-blob",
        severity=Severity.ERROR,
        summary="Long encoded text hides what it says.",
        hint="Write the text itself, or keep the data in a file of its own.",
        reads=(Kind.FILE,),
        match=_match_blob,
    ),
)
