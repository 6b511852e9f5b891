"""Where a profile does not have the shape that the schema asks for: the first such place, in a
sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from prowess.errors import nearest_names
from prowess.profiles.schema.profile import Profile

Mistake = tuple[str, str | None]

_MOST_SHOWN = 40
_PLAIN: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_MANY: dict[Any, str] = {str: "text", int: "whole numbers", float: "numbers"}
_FOUND: dict[Any, str] = {**_PLAIN, dict: "a table", list: "a list"}


def find_wrong(raw: Mapping[str, Any]) -> Mistake | None:
    """The first thing in a profile's tables that the schema does not allow, and its dotted key."""
    return next(_look(raw, Profile, ""), None)


def _look(value: Any, kind: Any, key: str) -> Iterator[Mistake]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        yield from _look_at_table(value, kind, key)
    elif get_origin(kind) is dict and isinstance(value, dict):
        for name, inner in value.items():
            yield from _look(inner, get_args(kind)[1], _join(key, name))
    elif get_origin(kind) is tuple and isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _look(inner, get_args(kind)[0], f"{key}[{place}]")
    elif get_origin(kind) in (UnionType, Union):
        # Of several shapes the one that is meant is the one of the same make.
        tries = [list(_look(value, one, key)) for one in get_args(kind)]
        if all(tries):
            deeper = [found for found in tries if found[0][1] != key]
            yield deeper[0][0] if deeper else (_describe(value, kind), key)
    elif not _fits(value, kind):
        yield _describe(value, kind), key


def _look_at_table(
    table: dict[str, Any], kind: type[msgspec.Struct], key: str
) -> Iterator[Mistake]:
    hints = get_type_hints(kind)
    for name in table:
        if name not in hints:
            yield _describe_unknown(name, hints, kind), _join(key, name)
    for field in msgspec.structs.fields(kind):
        if field.name in table:
            yield from _look(table[field.name], hints[field.name], _join(key, field.name))
        elif field.required:
            yield (
                f"`{field.name}` is missing; it must be {_name_kind(hints[field.name])}",
                _join(key, field.name),
            )


def _describe_unknown(name: str, hints: Mapping[str, Any], kind: type[msgspec.Struct]) -> str:
    known = [one for one in hints if one != "edition"]
    if kind is Profile:
        known.insert(1, "extends")
    near = nearest_names(name, known, most=1)
    told = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
    return f"it has a key that no profile has; {told}"


def _fits(value: Any, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind) and isinstance(value, str)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return isinstance(value, str) and value in [one.value for one in kind]
    if kind is float:
        return type(value) in (int, float)
    return kind is Any or type(value) is kind or (kind is NoneType and value is None)


def _describe(value: Any, kind: Any) -> str:
    words = list(_list_words(kind))
    if words and isinstance(value, str):
        return f"{value!r} is not one of its words ({', '.join(words)})"
    return f"it is {name_value(value)}; it must be {_name_kind(kind)}"


def name_value(value: Any) -> str:
    """What stands in a file, and of which kind it is."""
    if isinstance(value, bool):
        return str(value).lower()
    kind = _FOUND.get(type(value), "a date or a time")
    shown = (
        ""
        if isinstance(value, (dict, list))
        else f"“{value}”"
        if isinstance(value, str)
        else str(value)
    )
    return f"{shown}, which is {kind}" if 0 < len(shown) <= _MOST_SHOWN else kind


def _name_kind(kind: Any) -> str:
    """A type in words for people."""
    words = list(_list_words(kind))
    origin = get_origin(kind)
    if origin in (UnionType, Union):
        return " or ".join(_name_kind(one) for one in get_args(kind) if one is not NoneType)
    if origin is tuple:
        inner = get_args(kind)[0]
        return "a list of " + (
            _MANY.get(inner) or (f"the words {', '.join(words)}" if words else _name_kind(inner))
        )
    if origin is dict or (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return "a table"
    return _PLAIN.get(kind) or f"one of the words {', '.join(words)}"


def _list_words(kind: Any) -> Iterator[str]:
    if get_origin(kind) is Literal:
        yield from (str(word) for word in get_args(kind))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield from (str(one.value) for one in kind)
    elif get_origin(kind) in (tuple, UnionType, Union):
        for inner in get_args(kind):
            yield from _list_words(inner)


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name
