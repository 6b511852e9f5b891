"""How many tokens a text has: estimated by a measured rule, or counted for OpenAI's encodings.

The rule counts runs and characters by class, in passes over bytes that take 40 ms for a million
characters. Its weights were fitted against the encoding o200k on 7,000 public skills. The error on
others, in the median and at the 95th percentile, beside the usual rule of 4 characters per token:

    1,000 headers            3.6 %  11.4 %    usual rule  17 %
    1,000 bodies             2.4 %   8.1 %    usual rule   7 %
    72 Chinese headers       3.7 %  12.6 %    usual rule  43 %
    128 Chinese bodies       3.1 %  11.5 %    usual rule  50 %

`benchmarks/tokens.py` measures it. For models of other vendors both kinds of number are estimates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import msgspec

from prowess.errors import MissingExtra, UnknownEncoding
from prowess.model.catalog import CatalogItem

_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = b"0123456789"
_MARKS = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_ALL = bytes(range(256))
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
_INDENT = re.compile(rb"  +")


def _only(kept: bytes) -> bytes:
    """A table that blanks out all other bytes, so that runs of the kept ones can be split."""
    return bytes(byte if byte in kept else 32 for byte in range(256))


def _others(kept: bytes) -> bytes:
    """All bytes but these, as `bytes.translate` wants them for deleting."""
    return _ALL.translate(None, kept)


# A class of bytes, the tokens for each run of it and for each byte of it.
_CLASSES = tuple(
    (_only(kept), _others(kept), per_run, per_byte)
    for kept, per_run, per_byte in (
        (_LETTERS, 0.78, 0.052),
        (_DIGITS, 0.93, 0.256),
        (_MARKS, 0.85, 0.072),
    )
)
_PER_LINE = 0.517
_PER_INDENT = 0.83
_PER_WIDE = 0.813
_PER_OTHER = 0.516


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has."""
    data = text.encode("utf-8", "replace")
    tokens = _PER_LINE * data.count(b"\n") + _PER_INDENT * len(_INDENT.findall(data))
    for only_class, other_bytes, per_run, per_byte in _CLASSES:
        tokens += per_run * len(data.translate(only_class).split())
        tokens += per_byte * len(data.translate(None, other_bytes))
    # Most texts are ASCII alone and need no pass for other scripts.
    if len(data) != len(text):
        wide = len(_WIDE.findall(text))
        other = len(text) - len(data.translate(None, _ALL[128:])) - wide
        tokens += _PER_WIDE * wide + _PER_OTHER * other
    return max(round(tokens), 1) if text else 0


ENCODINGS = ("o200k_base", "cl100k_base")

# How OpenAI's model names begin, and the encoding of each; a longer beginning comes first.
_MODELS = {
    "gpt-4o": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-": "o200k_base",
    "chatgpt": "o200k_base",
    "codex": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
    "text-embedding-3": "cl100k_base",
}
# The package refuses a million characters or 200,000 tokens in one call, and a character has at
# most four tokens.
_CHUNK = 40_000
# No token spans a line break before a letter, or a blank between two words: counting in pieces that
# end there gives the same number.
_SEAM = re.compile(r"(?<=\n)(?=[A-Za-z])|(?<=[a-z])(?= [a-z])")
_SEAM_WITHIN = 1_000


class TokenCounter(msgspec.Struct, frozen=True):
    """A way to count tokens; `exact` holds for models with the encoding named by `method`."""

    method: str
    exact: bool
    count: Callable[[str], int]


ESTIMATE = TokenCounter("estimate", exact=False, count=estimate_tokens)


def find_encoding(model: str) -> str | None:
    """The encoding of an OpenAI model; None for models whose tokens can only be estimated."""
    # Routers put the vendor before the name: `openai/gpt-4o`.
    name = model.rpartition("/")[2].lower()
    for start, encoding in _MODELS.items():
        if name.startswith(start):
            return encoding
    return None


def get_counter(encoding: str | None = None) -> TokenCounter:
    """A counter for an encoding; the estimate if none is given.

    Raises `UnknownEncoding`, and `MissingExtra` if the package with the vocabularies is missing.
    """
    if encoding is None:
        return ESTIMATE
    if encoding not in ENCODINGS:
        raise UnknownEncoding(encoding, ENCODINGS)
    encode = _load_encoder(encoding)

    def count(text: str) -> int:
        return sum(len(encode(part)) for part in split_at_seams(text))

    return TokenCounter(encoding, exact=True, count=count)


def _load_encoder(encoding: str) -> Callable[[str], list[int]]:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import bpe_openai
    except ImportError:
        raise MissingExtra("tokens", "count tokens exactly") from None
    encoder = bpe_openai.get_encoding(encoding)

    def encode(text: str) -> list[int]:
        # Halves of surrogate pairs cannot be encoded, and without the option a text with a special
        # token such as `<|endoftext|>` is refused.
        encodable = text.encode("utf-8", "replace").decode()
        tokens: list[int] = encoder.encode(encodable, disallowed_special=())
        return tokens

    return encode


def split_at_seams(text: str, most: int = _CHUNK) -> Iterator[str]:
    """The text in pieces of at most `most` characters, split between two tokens if possible."""
    start = 0
    while len(text) - start > most:
        end = start + most
        for seam in _SEAM.finditer(text, max(start + 1, end - _SEAM_WITHIN), start + most):
            end = seam.start()
        yield text[start:end]
        start = end
    yield text[start:]


def count_item(item: CatalogItem, counter: TokenCounter = ESTIMATE) -> int:
    """The tokens of what a catalog may say: name, description, when to use it, argument hint."""
    parts = (item.name, item.description, item.when_to_use, item.argument_hint)
    return counter.count(" ".join(part for part in parts if part))


class LoadingComparison(msgspec.Struct, frozen=True):
    """Tokens of loading every skill up front, and of a catalog from which some are read.

    `share` is what the catalog saves of the context window, as a fraction.
    """

    up_front: int
    on_demand: int
    saved: int
    share: float


def compare_loading(
    bodies: Iterable[int], *, catalog: int, reads: int, window: int
) -> LoadingComparison:
    """Compare loading all bodies with a catalog and `reads` bodies of average size."""
    sizes = list(bodies)
    up_front = sum(sizes)
    average = up_front / max(len(sizes), 1)
    on_demand = catalog + round(average * min(reads, len(sizes)))
    saved = up_front - on_demand
    return LoadingComparison(up_front, on_demand, saved, saved / window)
