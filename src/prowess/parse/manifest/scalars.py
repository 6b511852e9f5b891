"""Values as JavaScript would print them, and as a message speaks of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec


def render_scalar(value: Any) -> str:
    """A scalar as JavaScript prints it: `true`, `1.5`, `1` for 1.0, `null`."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if type(value) is float:
        return _render_float(value)
    return str(value)


def _render_float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return repr(value)


def render_json(value: Any) -> str:
    """A list or a mapping as compact JSON, whole numbers without a fraction, as JavaScript prints
    it.
    """
    return msgspec.json.encode(_whole_numbers(value)).decode()


def _whole_numbers(value: Any) -> Any:
    if type(value) is dict:
        return {key: _whole_numbers(item) for key, item in value.items()}
    if type(value) is list:
        return [_whole_numbers(item) for item in value]
    if type(value) is float and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def describe(value: Any) -> str:
    """A value in words, short enough for a message."""
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, str):
        return f"“{value if len(value) <= 40 else value[:39] + '…'}”"
    if isinstance(value, (bool, int, float)):
        return f"`{render_scalar(value)}`"
    return "a date"
