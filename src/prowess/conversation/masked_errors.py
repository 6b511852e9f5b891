"""Errors of tools, without the secrets that the tools were given."""

from __future__ import annotations

from collections.abc import Iterator

from prowess.errors import ProwessError
from prowess.errors.activation import Cancelled, ToolFailed
from prowess.text.masking import Masker


def carries_secret(error: BaseException, masker: Masker) -> bool:
    """Whether an error, or one that it came from, tells a secret."""
    return any(masker.finds(text) for one in _list_chain(error) for text in _list_texts(one))


def mask_error(error: ProwessError, masker: Masker, *, tool: str) -> ProwessError:
    """An error that says the same without the secrets, and that came from nowhere."""
    if isinstance(error, Cancelled):
        return Cancelled(masker.mask(error.doing))
    return ToolFailed(
        tool, masker.mask(error.cause if isinstance(error, ToolFailed) else str(error))
    )


def _list_chain(error: BaseException) -> Iterator[BaseException]:
    """An error and all that it came from or holds, each once."""
    seen: dict[int, BaseException] = {}
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen[id(one)] = one
        yield one
        waiting += [one.__cause__, one.__context__]
        waiting += one.exceptions if isinstance(one, BaseExceptionGroup) else ()


def _list_texts(error: BaseException) -> Iterator[str]:
    """Everything an error would show."""
    for show in (str, repr, lambda one: repr(vars(one))):
        try:
            yield show(error)
        except Exception:
            # What cannot be shown tells nothing.
            continue
