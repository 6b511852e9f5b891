"""What is wrong with a profile, said so that its author can mend it: the key, and the words that are allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from prowess.profiles.places import MANY
from prowess.profiles.schema import Profile, RootRule, SettingsFile, Toggle

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_ALWAYS_KNOWN = (*MANY, "home", "cwd", "workspace", "repository", "bundled", "remote", "claude_plugins")

_TABLES: dict[str, Any] = {"roots": RootRule, "settings": SettingsFile, "toggles": Toggle}

Mistake = tuple[str, str | None]


def find_mistakes(profile: Profile, name: str) -> Iterator[Mistake]:
    """What the types of a profile cannot tell: names that lead nowhere."""
    if profile.name != name:
        yield f"its name is “{profile.name}”, but it is known as “{name}”; they have to be the same", "name"
    for place, item in enumerate(profile.order):
        for id in (item,) if isinstance(item, str) else item:
            if id not in profile.roots:
                yield f"“{id}” is no root; the roots are {', '.join(profile.roots)}", f"order[{place}]"
    for id in profile.settings_order:
        if id not in profile.settings:
            yield f"“{id}” is no settings file; there are {', '.join(profile.settings) or 'none'}", "settings_order"
    for place, id in enumerate(profile.conditions.below):
        if id not in profile.roots:
            yield f"“{id}” is no root; the roots are {', '.join(profile.roots)}", f"conditions.below[{place}]"
    for id, rule in profile.roots.items():
        yield from _find_unknown_places(profile, f"roots.{id}.at", rule)


def _find_unknown_places(profile: Profile, key: str, rule: RootRule) -> Iterator[Mistake]:
    known = (*_ALWAYS_KNOWN, *profile.places)
    for template in rule.at:
        for name in _PLACEHOLDER.findall(template):
            if name not in known:
                yield f"“{{{name}}}” stands for no place; known are {', '.join(sorted(set(known)))}", key


def explain(message: str, raw: Mapping[str, Any]) -> Mistake:
    """A message of the type check as our sentence, and the dotted key it speaks of."""
    problem, _, path = message.partition(" - at `$.")
    key = _name_key(path.rstrip("`"), raw) or None
    if problem.startswith("Object contains unknown field"):
        unknown = problem.split("`")[1]
        return "it has a key that no profile has", f"{key}.{unknown}" if key else unknown
    if problem.startswith("Invalid enum value") and key is not None:
        words = _find_words(key)
        return f"{problem.split(' ', 3)[3]} is not one of its words ({', '.join(words)})", key
    return problem[0].lower() + problem[1:], key


def _name_key(key: str, raw: Mapping[str, Any]) -> str:
    """The key with the name of its table, which the type check leaves out (`roots[...].at`)."""
    section, hidden, rest = key.partition("[...]")
    kind = _TABLES.get(section)
    if not hidden or kind is None:
        return key
    for name, table in raw[section].items():
        try:
            msgspec.convert(table, kind)
        except msgspec.ValidationError:
            return f"{section}.{name}{rest}"
    return key


def _find_words(key: str) -> list[str]:
    """The words that a key may have, from the schema."""
    kind: Any = Profile
    for part in re.sub(r"\[[^\]]*\]", "", key).split("."):
        hints = get_type_hints(kind) if isinstance(kind, type) else {}
        if part in hints:
            kind = hints[part]
        if get_origin(kind) is dict:
            kind = get_args(kind)[1]
    return list(_list_words(kind))


def _list_words(kind: Any) -> Iterator[str]:
    if get_origin(kind) is Literal:
        yield from (str(word) for word in get_args(kind))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield from (str(one.value) for one in kind)
    else:
        for inner in get_args(kind):
            yield from _list_words(inner)


_HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_TOML_LINE = re.compile(r"at line (\d+)")


def find_line(text: str, key: str | None, problem: str) -> int | None:
    """The line of a profile that a mistake is about: the one of its key, of the nearest table above it, or the one
    that the reader of TOML names. What an edition changes stands below the edition's name."""
    if key is None:
        found = _TOML_LINE.search(problem)
        return int(found[1]) if found else len(text.splitlines()) or None
    wanted = tuple(re.sub(r"\[[^\]]*\]", "", key).split("."))
    best: tuple[int, int | None] = (0, None)
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header, entry = _HEADER.match(line), _KEY.match(line)
        if header:
            table = _split_key(header[1])
        path = table if header else (*table, *_split_key(entry[1])) if entry else ()
        for one in (path, path[1:]):
            if len(one) > best[0] and one == wanted[: len(one)]:
                best = len(one), number
    return best[1]


def _split_key(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
