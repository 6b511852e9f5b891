"""Requests that a provider refuses because they are too long for the model."""

from __future__ import annotations

import re

from pydantic_ai.exceptions import ModelAPIError, ModelContextWindowExceededError

TOO_LONG = (
    "the conversation is too long for the model and could not be compacted; send a shorter message,"
    " or use a model with a larger context window"
)
STILL_TOO_LONG = (
    "the conversation is too long for the model, even after compaction; start over with `/clear`,"
    " or use a model with a larger context window"
)

# What llama.cpp says, which pydantic-ai does not know.
_OTHER_WORDS = ("exceed_context_size", "exceeds the available context size")
# How providers name the limit: OpenAI and vLLM, Anthropic, Google, llama.cpp.
_LIMITS = re.compile(
    r"maximum context length (?:is|of) (\d+)"
    r"|> (\d+) maximum"
    r"|tokens allowed \((\d+)\)"
    r"|available context size \((\d+)"
)


class ContextOverflow(Exception):
    """The provider refused a request as too long. `limit` is how many tokens it takes, if known."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        super().__init__("the request is too long for the model")


def find_overflow(error: Exception) -> ContextOverflow | None:
    """What an error of a model says about the length of the request; None if it is about other."""
    text = _get_text(error)
    is_known = isinstance(error, ModelContextWindowExceededError)
    if not is_known and not any(words in text for words in _OTHER_WORDS):
        return None
    found = _LIMITS.search(text)
    return ContextOverflow(None if found is None else int(found[found.lastindex or 0]))


def _get_text(error: Exception) -> str:
    body = error.body if isinstance(error, ModelAPIError) else None
    return f"{error} {body}"
