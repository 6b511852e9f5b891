"""Find mistakes in a profile and the line of each.

`find_type_mistake` explains why a file does not fit the schema, in better words than the decoder
has. `find_mistakes` checks what types can't express. Both run only for profiles that users wrote: a
test covers the built-in ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from prowess.errors import nearest_names
from prowess.profiles.places import MANY, PLACEHOLDER
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import RootRule
from prowess.text.values import describe_value

Mistake = tuple[str, str | None]
"""What is wrong with a key, to be read after its name, and the dotted key."""

CONDITIONS = (
    "env",
    "env-one",
    "env-set",
    "env-moved",
    "toggle",
    "any-toggle",
    "provider",
    "trusted-folder",
)
# Conditions without a name.
_NAMELESS = ("any-toggle", "trusted-folder")

_BUILT_IN_PLACES = (
    *MANY,
    "home",
    "cwd",
    "workspace",
    "agent",
    "repository",
    "bundled",
    "remote",
    "claude_plugins",
    "builtin_plugins",
)
# Far more of anything than a machine has, and small enough for 64 bits.
_MOST_NUMBER = 1_000_000_000_000


# Types


def find_type_mistake(raw: Mapping[str, Any]) -> Mistake | None:
    """The first value that does not fit the schema."""
    return next(_check(raw, Profile, ""), None)


Shape = Literal["struct", "table", "list", "union", "words", "plain"]

_SHAPES: dict[Any, Shape] = {
    dict: "table",
    tuple: "list",
    UnionType: "union",
    Union: "union",
    Literal: "words",
}


def _get_shape(kind: Any) -> Shape:
    origin = get_origin(kind)
    if origin is not None:
        return _SHAPES[origin]
    # `Any` is not a class, and `issubclass` raises for it.
    if not isinstance(kind, type):
        return "plain"
    if issubclass(kind, msgspec.Struct):
        return "struct"
    if issubclass(kind, Enum):
        return "words"
    return "plain"


def _check(value: Any, kind: Any, key: str) -> Iterator[Mistake]:
    container, check_inside = _CONTAINERS.get(_get_shape(kind), (None, None))
    # A union has no type of its own: its alternatives are tried with whatever the value is.
    can_check_inside = container is None or isinstance(value, container)
    if check_inside is not None and can_check_inside:
        yield from check_inside(value, kind, key)
    elif not _fits(value, kind):
        yield _describe_mismatch(value, kind), key


def _check_struct(value: Any, kind: Any, key: str) -> Iterator[Mistake]:
    hints = get_type_hints(kind)
    for name in value:
        if name not in hints:
            yield _describe_unknown_key(name, hints, kind), _join(key, name)
    for field in msgspec.structs.fields(kind):
        inner_key = _join(key, field.name)
        if field.name in value:
            yield from _check(value[field.name], hints[field.name], inner_key)
        elif field.required:
            yield f"is missing; it must be {_name_type(hints[field.name])}", inner_key


def _check_table(value: Any, kind: Any, key: str) -> Iterator[Mistake]:
    inner_kind = get_args(kind)[1]
    for name, inner in value.items():
        yield from _check(inner, inner_kind, _join(key, name))


def _check_list(value: Any, kind: Any, key: str) -> Iterator[Mistake]:
    inner_kind = get_args(kind)[0]
    for index, inner in enumerate(value):
        yield from _check(inner, inner_kind, f"{key}[{index}]")


def _check_union(value: Any, kind: Any, key: str) -> Iterator[Mistake]:
    first_mistakes: list[Mistake] = []
    for alternative in _list_alternatives(kind):
        mistake = next(_check(value, alternative, key), None)
        if mistake is None:
            return
        first_mistakes.append(mistake)
    # An alternative with a mistake further down is the one that was meant: the value itself fits.
    further_down = [mistake for mistake in first_mistakes if mistake[1] != key]
    if further_down:
        yield further_down[0]
    else:
        yield _describe_mismatch(value, kind), key


# Shapes that are checked inside: the type a value must have for that, and the function.
_CONTAINERS: dict[Shape, tuple[Any, Callable[[Any, Any, str], Iterator[Mistake]]]] = {
    "struct": (dict, _check_struct),
    "table": (dict, _check_table),
    "list": (list, _check_list),
    "union": (None, _check_union),
}
_ACCEPTED: dict[Any, tuple[type, ...]] = {float: (int, float)}


def _fits(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if _get_shape(kind) == "words":
        return isinstance(value, str) and value in _list_words(kind)
    # The exact type, because for `isinstance` true and false are whole numbers.
    return type(value) in _ACCEPTED.get(kind, (kind,))


def _describe_unknown_key(name: str, hints: Mapping[str, Any], kind: type[msgspec.Struct]) -> str:
    # The loader sets `edition` and resolves `extends`, so the file has only the second of them.
    known = [field for field in hints if field != "edition"]
    if kind is Profile:
        known.insert(1, "extends")
    near = nearest_names(name, known, most=1)
    if near:
        return f"is not a known key; did you mean `{near[0]}`?"
    return f"is not a known key; the known keys are {', '.join(known)}"


def _describe_mismatch(value: Any, kind: Any) -> str:
    found = describe_value(value)
    # Next to a list of words, “x” is clear without “the string”.
    if isinstance(value, str) and any(_list_words(kind)):
        found = f"“{value}”"
    return f"must be {_name_type(kind)}; got {found}"


_TYPE_NAMES: dict[Any, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_PLURALS: dict[Any, str] = {str: "strings", int: "whole numbers", float: "numbers"}


def _name_type(kind: Any) -> str:
    return _NAMES[_get_shape(kind)](kind)


def _name_list(kind: Any) -> str:
    item = get_args(kind)[0]
    words = list(_list_words(item))
    if item in _PLURALS:
        return f"a list of {_PLURALS[item]}"
    if words:
        return f"a list of the words {', '.join(words)}"
    return f"a list of {_name_type(item)}"


def _name_union(kind: Any) -> str:
    return " or ".join(map(_name_type, _list_alternatives(kind)))


def _list_alternatives(kind: Any) -> list[Any]:
    # TOML has no null, so nobody can write the alternative None.
    return [inner for inner in get_args(kind) if inner is not NoneType]


_NAMES: dict[Shape, Callable[[Any], str]] = {
    "struct": lambda kind: "a table",
    "table": lambda kind: "a table",
    "list": _name_list,
    "union": _name_union,
    "words": lambda kind: f"one of {', '.join(_list_words(kind))}",
    "plain": lambda kind: _TYPE_NAMES[kind],
}


def _list_words(kind: Any) -> Iterator[str]:
    """The words that a value, or an item of a list, can be."""
    shape = _get_shape(kind)
    if shape in ("list", "union"):
        for inner in get_args(kind):
            yield from _list_words(inner)
    elif shape == "words":
        # A `Literal` has its words as arguments; an enum lists them itself.
        words = get_args(kind) or kind
        for word in words:
            yield getattr(word, "value", word)


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


# Names, numbers and patterns


def find_mistakes(profile: Profile, name: str) -> Iterator[Mistake]:
    """Mistakes that types can't express: unknown names, bad patterns, impossible numbers."""
    if profile.name != name:
        yield f"must match the name of the file, “{name}”; got “{profile.name}”", "name"
    yield from _find_unknown_roots(profile)
    yield from _find_unknown_settings_files(profile)
    for id, rule in profile.roots.items():
        yield from _find_unknown_places(profile, f"roots.{id}.at", rule)
        yield from _find_bad_conditions(f"roots.{id}.when", rule.when)
        yield from _find_bad_conditions(f"roots.{id}.unless", rule.unless)
    for id, file in profile.settings.items():
        yield from _find_bad_conditions(f"settings.{id}.when", file.when)
    yield from _find_bad_numbers(msgspec.to_builtins(profile), "")
    yield from _find_bad_patterns(profile)


def _find_unknown_roots(profile: Profile) -> Iterator[Mistake]:
    known = ", ".join(profile.roots)
    for id, key in _list_named_roots(profile):
        if id not in profile.roots:
            yield f"is “{id}”, which is not a root; the roots are {known}", key


def _list_named_roots(profile: Profile) -> Iterator[tuple[str, str]]:
    """The roots that a profile names, each with the key where it does."""
    for index, item in enumerate(profile.order):
        key = f"order[{index}]"
        # Roots in a nested list are searched together.
        ids = [item] if isinstance(item, str) else item
        for id in ids:
            yield id, key
    for index, id in enumerate(profile.conditions.below):
        yield id, f"conditions.below[{index}]"


def _find_unknown_settings_files(profile: Profile) -> Iterator[Mistake]:
    known = ", ".join(profile.settings)
    rest = f"the settings files are {known}" if known else "the profile has none"
    for id in profile.settings_order:
        if id not in profile.settings:
            yield f"contains “{id}”, which is not a settings file; {rest}", "settings_order"


def _find_unknown_places(profile: Profile, key: str, rule: RootRule) -> Iterator[Mistake]:
    known = {*_BUILT_IN_PLACES, *profile.places}
    places = ", ".join(sorted(known))
    # Joined, so that the placeholders of all templates are found at once.
    for name in PLACEHOLDER.findall(" ".join(rule.at)):
        if name not in known:
            yield f"uses “{{{name}}}”, which is not a place; the places are {places}", key


def _find_bad_conditions(key: str, conditions: Sequence[str]) -> Iterator[Mistake]:
    known = ", ".join(map(_spell_condition, CONDITIONS))
    for index, condition in enumerate(conditions):
        if not _is_condition(condition):
            yield f"must be one of {known}; got “{condition}”", f"{key}[{index}]"


def _is_condition(condition: str) -> bool:
    kind, _, name = condition.partition(":")
    needs_name = kind not in _NAMELESS
    return kind in CONDITIONS and needs_name == bool(name)


def _spell_condition(kind: str) -> str:
    return kind if kind in _NAMELESS else f"{kind}:NAME"


def _find_bad_numbers(value: Any, key: str) -> Iterator[Mistake]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _find_bad_numbers(inner, _join(key, name))
        return
    # In Python true and false are whole numbers, too.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number:
        return
    # A priority only ranks, so it can be negative; all other numbers count or limit something.
    least = -_MOST_NUMBER if key.endswith(".priority") else 0
    if not least <= value <= _MOST_NUMBER:
        yield f"must be between {least:,} and {_MOST_NUMBER:,}; got {value}", key


def _find_bad_patterns(profile: Profile) -> Iterator[Mistake]:
    patterns = {"fields.name_pattern": profile.fields.name_pattern}
    for id, rule in profile.roots.items():
        patterns[f"roots.{id}.name_pattern"] = rule.name_pattern
        patterns[f"roots.{id}.skip_pattern"] = rule.skip_pattern
    for key, pattern in patterns.items():
        try:
            re.compile(pattern)
        # Python raises the other two for huge repeats and for deeply nested groups.
        except (re.error, OverflowError, RecursionError) as error:
            yield f"is not a valid regular expression ({error})", key


# Lines

_HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_INDEX = re.compile(r"\[[^\]]*\]")


def find_line(text: str, key: str) -> int | None:
    """The line of a key in a profile file, or of the nearest table above it."""
    wanted = tuple(_INDEX.sub("", key).split("."))
    best_length, best_line = 0, None
    for number, path in _list_keys(text):
        # A key of an edition is below the edition's name, which `wanted` does not have.
        for candidate in (path, path[1:]):
            shared = min(len(candidate), len(wanted))
            leads_there = candidate[:shared] == wanted[:shared]
            if leads_there and shared > best_length:
                best_length, best_line = shared, number
    return best_line


def _list_keys(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _split_key(header[1])
            yield number, table
        elif entry := _KEY.match(line):
            yield number, (*table, *_split_key(entry[1]))


def _split_key(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
