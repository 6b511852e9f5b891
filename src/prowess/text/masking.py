"""Secrets kept out of whatever is shown, written or given to a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prowess.model.settings import MASK

# Fewer characters of a secret tell nobody anything, and would be found everywhere.
_LEAST = 4
# Fewer characters, encoded, could be a part of anything.
_LEAST_ENCODED = 8
# The width at which programs break base64.
_LINE = 76
# Nothing that a tool means to tell lies deeper.
_MOST_LEVELS = 50


class Masker:
    """Replaces secret values in text. It never shows them, not even in its own `repr`."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._hidden = frozenset(filter(str.strip, secrets))
        spellings = {spelling for secret in self._hidden for spelling in _list_spellings(secret)}
        self._secrets = sorted(spellings, key=lambda secret: (-len(secret), secret))
        self._pattern = (
            re.compile("|".join(map(_as_pattern, self._secrets))) if self._secrets else None
        )

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
        """A value with the secrets masked in every text of its mappings and lists; the same value
        where none is there.

        Other objects are left as they are.
        """
        return value if self._pattern is None else self._mask_value(value, _MOST_LEVELS)

    def _mask_value(self, value: Any, levels: int) -> Any:
        if isinstance(value, str):
            return self.mask(value) if self.finds(value) else value
        if isinstance(value, bytes | bytearray):
            text = value.decode("utf-8", "surrogateescape")
            return self.mask(text).encode("utf-8", "surrogateescape") if self.finds(text) else value
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            return value
        if not levels:
            return MASK
        parts = (
            [part for item in value.items() for part in item]
            if isinstance(value, Mapping)
            else list(value)
        )
        masked = [self._mask_value(part, levels - 1) for part in parts]
        if all(new is old for new, old in zip(masked, parts, strict=True)):
            return value
        if isinstance(value, Mapping):
            return dict(zip(masked[::2], masked[1::2], strict=True))
        return (
            masked
            if isinstance(value, list)
            else (tuple if isinstance(value, tuple) else frozenset)(masked)
        )

    def mask_head(self, text: str) -> str:
        """The beginning of a longer text, without the secrets and without a part of one where the
        text was cut.
        """
        text = self.mask(text)
        part = max((_measure_part(text, secret) for secret in self._secrets), default=0)
        return text[: len(text) - part] + MASK if part else text

    def mask_tail(self, text: str) -> str:
        """The end of a longer text, without the secrets and without a part of one where the text
        was cut.
        """
        text = self.mask(text)
        part = max((_measure_part(text[::-1], secret[::-1]) for secret in self._secrets), default=0)
        return MASK + text[part:] if part else text


def _measure_part(text: str, secret: str) -> int:
    """How many characters at the end of the text are the beginning of the secret; 0 where they are
    too few.
    """
    lengths = range(min(len(secret) - 1, len(text)), _LEAST - 1, -1)
    return next((length for length in lengths if text.endswith(secret[:length])), 0)


def _as_pattern(secret: str) -> str:
    """A short secret counts where it stands alone, or no word would be left whole."""
    found = re.escape(secret)
    return found if len(secret) >= _LEAST else rf"(?<!\w){found}(?!\w)"


def _list_spellings(secret: str) -> Iterator[str]:
    """The ways in which programs show a secret: as it is, inside JSON, inside an address, line by
    line, in base64.
    """
    import json

    stripped = secret.strip()
    yield from (
        secret,
        stripped,
        json.dumps(stripped)[1:-1],
        json.dumps(stripped, ensure_ascii=False)[1:-1],
    )
    yield from _list_quoted(stripped)
    if "\n" in stripped:
        yield from (line.strip() for line in stripped.splitlines() if len(line.strip()) >= _LEAST)
    if len(stripped) >= _LEAST_ENCODED:
        for data in {
            stripped.encode("utf-8", "surrogateescape"),
            secret.encode("utf-8", "surrogateescape"),
        }:
            yield from _list_base64(data)


def _list_quoted(secret: str) -> Iterator[str]:
    """A secret as a part of an address, with either case of the escapes."""
    from urllib.parse import quote, quote_plus

    for safe in ("", "/", "!'()*"):
        spelled = quote(secret, safe=safe, errors="surrogatepass")
        yield from (spelled, re.sub("%..", lambda escape: escape[0].lower(), spelled))
    yield quote_plus(secret, errors="surrogatepass")


def _list_base64(secret: bytes) -> Iterator[str]:
    """A secret in base64, alone and amid other bytes: then the characters at its ends depend on its
    neighbours.
    """
    from base64 import b64encode

    for place, unclear in ((0, 0), (1, 2), (2, 3)):
        whole = b64encode(bytes(place) + secret).decode("ascii")
        bare = whole.rstrip("=")
        spelled = [bare[unclear : len(bare) - (len(bare) < len(whole))]]
        if place == 0:
            lines = [bare[start : start + _LINE] for start in range(0, len(bare), _LINE)]
            spelled += [whole, bare, *(line for line in lines if len(line) >= _LEAST_ENCODED)]
        for text in spelled:
            yield from (text, text.replace("+", "-").replace("/", "_"))
