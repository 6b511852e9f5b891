"""Secrets kept out of whatever is shown, written or given to a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MASK = "[secret]"

# Fewer characters of a secret tell nobody anything, and would be found everywhere.
_LEAST = 4


class Masker:
    """Replaces secret values in text. It never shows them, not even in its own `repr`."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        spellings = {spelling for secret in secrets for spelling in _list_spellings(secret)}
        self._secrets = sorted(spellings, key=lambda secret: (-len(secret), secret))
        self._pattern = re.compile("|".join(map(_as_pattern, self._secrets))) if self._secrets else None

    def __repr__(self) -> str:
        return f"Masker({len(self._secrets)} hidden)"

    def __or__(self, other: Masker) -> Masker:
        """A masker of the secrets of both."""
        return Masker([*self._secrets, *other._secrets])

    def mask(self, text: str) -> str:
        """The text without the secrets."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def mask_head(self, text: str) -> str:
        """The beginning of a longer text, without the secrets and without a part of one where the text was cut."""
        text = self.mask(text)
        part = max((_measure_part(text, secret) for secret in self._secrets), default=0)
        return text[: len(text) - part] + MASK if part else text

    def mask_tail(self, text: str) -> str:
        """The end of a longer text, without the secrets and without a part of one where the text was cut."""
        text = self.mask(text)
        part = max((_measure_part(text[::-1], secret[::-1]) for secret in self._secrets), default=0)
        return MASK + text[part:] if part else text


def _measure_part(text: str, secret: str) -> int:
    """How many characters at the end of the text are the beginning of the secret; 0 where they are too few."""
    lengths = range(min(len(secret) - 1, len(text)), _LEAST - 1, -1)
    return next((length for length in lengths if text.endswith(secret[:length])), 0)


def _as_pattern(secret: str) -> str:
    """A short secret counts where it stands alone, or no word would be left whole."""
    found = re.escape(secret)
    return found if len(secret) >= _LEAST else rf"(?<!\w){found}(?!\w)"


def _list_spellings(secret: str) -> Iterator[str]:
    """The ways in which programs show a secret: as it is, inside JSON, inside an address, line by line."""
    import json
    from urllib.parse import quote

    stripped = secret.strip()
    if not stripped:
        return
    yield from (secret, stripped, json.dumps(stripped)[1:-1], json.dumps(stripped, ensure_ascii=False)[1:-1])
    yield quote(stripped, safe="", errors="surrogatepass")
    if "\n" in stripped:
        yield from (line.strip() for line in stripped.splitlines() if len(line.strip()) >= _LEAST)
