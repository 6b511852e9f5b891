"""Profiles as bytes, which a program that starts can read quickly.

msgspec could do it, but to read a value of a class it first works out the types of all its fields,
and a profile has 26 classes with 400 fields: that takes longer than all else that is done to load
one. Nothing is checked here, so these bytes must come from `pack_profile` of the same version.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from prowess.model.outcome import State
from prowess.model.permission import Action
from prowess.model.skill import LoadedFrom, Scope
from prowess.profiles.schema import Table
from prowess.profiles.schema.profile import Profile

# The key of a mapping that has the name of a class; the other keys are what it is made from. No
# table of a profile has such a key.
_CLASS = "@"
_ENUMERATIONS = (Action, LoadedFrom, Scope, State)


def pack_profile(profile: Profile) -> bytes:
    """All that `unpack_profile` needs to make an equal profile."""
    return msgspec.msgpack.encode(_pack(profile))


def unpack_profile(data: bytes) -> Profile:
    """The profile that was packed."""
    made: tuple[type[Any], ...] = (*Table.__subclasses__(), *_ENUMERATIONS)
    classes = {one.__name__: one for one in made}

    def unpack(value: Any) -> Any:
        if type(value) is list:
            return tuple([unpack(item) for item in value])
        if type(value) is not dict:
            return value
        made_of = {key: unpack(item) for key, item in value.items()}
        name = made_of.pop(_CLASS, None)
        return made_of if name is None else classes[name](**made_of)

    profile: Profile = unpack(msgspec.msgpack.decode(data))
    return profile


def _pack(value: Any) -> Any:
    if isinstance(value, Table):
        return {_CLASS: type(value).__name__} | _pack(_list_changes(value))
    if isinstance(value, Enum):
        return {_CLASS: type(value).__name__, "value": value.value}
    if isinstance(value, dict):
        return {key: _pack(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_pack(item) for item in value]
    return value


def _list_changes(table: Table) -> dict[str, Any]:
    """What differs from the defaults of a table, by the names of fields."""
    fields = {field.name: field.default for field in msgspec.structs.fields(table)}
    given = {name: getattr(table, name) for name in fields}
    return {name: value for name, value in given.items() if value != fields[name]}
