"""Keeps secrets out of whatever is shown, written or passed to a model."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from prowess.model.settings import MASK

# Fewer characters of a secret reveal nothing, and would be found everywhere.
_LEAST = 4
# Fewer characters, encoded, could be part of anything.
_LEAST_ENCODED = 8
# The width at which programs break base64.
_LINE = 76
# Nothing that a tool returns for a person to read is nested deeper.
_MOST_LEVELS = 50


class Masker:
    """Replaces secret values in text. It never shows them, not even in its own `repr`."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._hidden = frozenset(filter(str.strip, secrets))
        spellings = {spelling for secret in self._hidden for spelling in _list_spellings(secret)}
        # The longest first, or a part of a secret would be masked and the rest shown.
        self._secrets = sorted(spellings, key=lambda secret: (-len(secret), secret))
        self._pattern: re.Pattern[str] | None = None
        if self._secrets:
            self._pattern = re.compile(_join_patterns(self._secrets))

    def __repr__(self) -> str:
        return f"Masker({len(self._hidden)} hidden)"

    def __or__(self, other: Masker) -> Masker:
        """A masker of the secrets of both."""
        return Masker(self._hidden | other._hidden)

    def finds(self, text: str) -> bool:
        """Whether there is a secret in the text."""
        return self._pattern is not None and self._pattern.search(text) is not None

    def mask(self, text: str) -> str:
        """The text without the secrets."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def mask_value(self, value: Any) -> Any:
        """A value with the secrets masked in every text of its mappings and lists.

        It is the same object if there is none. Other objects are left as they are.
        """
        return value if self._pattern is None else self._mask_value(value, _MOST_LEVELS)

    def _mask_value(self, value: Any, levels: int) -> Any:
        if isinstance(value, str):
            return self.mask(value) if self.finds(value) else value
        if isinstance(value, bytes | bytearray):
            return self._mask_bytes(value)
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            return value
        # What is too deep to be searched is hidden, because a secret may be in it.
        if not levels:
            return MASK
        if isinstance(value, Mapping):
            return self._mask_mapping(value, levels)
        return self._mask_items(value, levels)

    def _mask_items(self, items: Collection[Any], levels: int) -> Collection[Any]:
        masked = [self._mask_value(item, levels - 1) for item in items]
        if _are_same(masked, items):
            return items
        if isinstance(items, list):
            return masked
        return tuple(masked) if isinstance(items, tuple) else frozenset(masked)

    def _mask_bytes(self, value: bytes | bytearray) -> bytes | bytearray:
        # Bytes that are not UTF-8 survive the way to text and back.
        text = value.decode("utf-8", "surrogateescape")
        if not self.finds(text):
            return value
        return self.mask(text).encode("utf-8", "surrogateescape")

    def _mask_mapping(self, value: Mapping[Any, Any], levels: int) -> Mapping[Any, Any]:
        keys = [self._mask_value(key, levels - 1) for key in value]
        values = [self._mask_value(part, levels - 1) for part in value.values()]
        is_unchanged = _are_same(keys, value) and _are_same(values, value.values())
        return value if is_unchanged else dict(zip(keys, values, strict=True))

    def mask_head(self, text: str) -> str:
        """The beginning of a longer text, without the secrets and without part of a cut one."""
        text = self.mask(text)
        parts = [_measure_part(text, secret) for secret in self._secrets]
        cut_off = max(parts, default=0)
        return text[: len(text) - cut_off] + MASK if cut_off else text

    def mask_tail(self, text: str) -> str:
        """The end of a longer text, without the secrets and without part of a cut one."""
        text = self.mask(text)
        # The end of a secret at the beginning of the text, which is the same question backwards.
        parts = [_measure_part(text[::-1], secret[::-1]) for secret in self._secrets]
        cut_off = max(parts, default=0)
        return MASK + text[cut_off:] if cut_off else text


def _are_same(new: Iterable[Any], old: Iterable[Any]) -> bool:
    # By identity: no object has to compare itself, and none that is equal replaces another.
    return all(map(operator.is_, new, old))


def _measure_part(text: str, secret: str) -> int:
    """How many characters at the end of the text begin the secret; 0 if they are too few."""
    longest = min(len(secret) - 1, len(text))
    for length in range(longest, _LEAST - 1, -1):
        if text.endswith(secret[:length]):
            return length
    return 0


def _join_patterns(secrets: Iterable[str]) -> str:
    """One pattern for all secrets; it tries those with the same first character together.

    Most characters of a text begin none of them, so this is twice as fast as a plain list.
    """
    by_first: dict[str, list[str]] = {}
    short = []
    for secret in secrets:
        if len(secret) < _LEAST:
            short.append(_as_word(secret))
        else:
            by_first.setdefault(secret[0], []).append(re.escape(secret[1:]))
    groups = [f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in by_first.items()]
    return "|".join([*groups, *short])


def _as_word(secret: str) -> str:
    """A short secret counts only as a word of its own, or no word would be left whole."""
    return rf"(?<!\w){re.escape(secret)}(?!\w)"


def _list_spellings(secret: str) -> Iterator[str]:
    """The ways in which programs print a secret: plain, in JSON, in a URL or page, encoded."""
    import json

    stripped = secret.strip()
    yield secret
    yield stripped
    yield json.dumps(stripped)[1:-1]
    yield json.dumps(stripped, ensure_ascii=False)[1:-1]
    yield from _list_quoted(stripped)
    yield from _list_entities(stripped)
    if "\n" in stripped:
        # A key of many lines is often printed line by line, with something before each.
        for line in stripped.splitlines():
            if len(line.strip()) >= _LEAST:
                yield line.strip()
    if len(stripped) >= _LEAST_ENCODED:
        # Encoded with the line end that `echo` adds, or without it.
        for text in {stripped, secret}:
            data = text.encode("utf-8", "surrogateescape")
            yield from _list_base64(data)
            yield from _list_hex(data)
            yield text[::-1]


def _list_quoted(secret: str) -> Iterator[str]:
    """A secret as part of a URL, with the escapes in upper and in lower case."""
    from urllib.parse import quote, quote_plus

    for safe in ("", "/", "!'()*"):
        spelled = quote(secret, safe=safe, errors="surrogatepass")
        yield spelled
        yield re.sub("%..", lambda escape: escape[0].lower(), spelled)
    yield quote_plus(secret, errors="surrogatepass")


def _list_entities(secret: str) -> Iterator[str]:
    """A secret as part of an HTML page: only what must be escaped, or every character."""
    from html import escape

    yield escape(secret, quote=False)
    for apostrophe in ("&#x27;", "&#39;", "&apos;"):
        yield escape(secret).replace("&#x27;", apostrophe)
    if len(secret) >= _LEAST_ENCODED:
        yield "".join(f"&#{ord(character)};" for character in secret)
        yield "".join(f"&#x{ord(character):x};" for character in secret)
        yield "".join(f"&#x{ord(character):X};" for character in secret)


def _list_hex(secret: bytes) -> Iterator[str]:
    """The bytes of a secret in hex, run together or every one escaped for an address."""
    for digits in (secret.hex(), secret.hex().upper()):
        yield digits
        yield re.sub("..", r"%\g<0>", digits)


def _list_base64(secret: bytes) -> Iterator[str]:
    """A secret in base64, alone and among other bytes, in both alphabets.

    Among others the characters at its ends depend on its neighbours, so they are left out.
    """
    from base64 import b64encode

    # Base64 makes four characters of three bytes. How many bytes come before the secret in its
    # group of three, and how many characters those touch.
    for before, touched in ((0, 0), (1, 2), (2, 3)):
        whole = b64encode(bytes(before) + secret).decode("ascii")
        bare = whole.rstrip("=")
        is_padded = len(bare) < len(whole)
        spelled = [bare[touched : len(bare) - is_padded]]
        if before == 0:
            lines = [bare[start : start + _LINE] for start in range(0, len(bare), _LINE)]
            long_lines = [line for line in lines if len(line) >= _LEAST_ENCODED]
            spelled += [whole, bare, *long_lines]
        for text in spelled:
            yield text
            yield text.replace("+", "-").replace("/", "_")
