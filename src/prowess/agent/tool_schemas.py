"""Tools from functions, whose signatures are read once and not for every agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import CodeType
from typing import Any

from pydantic_ai import Tool

# Reading a signature takes milliseconds, and every sub-agent has all tools.
_SCHEMAS: dict[tuple[str, CodeType], Any] = {}


def make_tool(name: str, function: Callable[..., Any], *, sequential: bool) -> Tool[Any]:
    """The tool of a function. Methods and closures of the same code have the same schema."""
    key = (name, getattr(function, "__func__", function).__code__)
    schema = _SCHEMAS.get(key)
    if schema is not None:
        schema = replace(schema, function=function)
    tool = Tool[Any](function, name=name, sequential=sequential, function_schema=schema)
    _SCHEMAS[key] = tool.function_schema
    return tool
