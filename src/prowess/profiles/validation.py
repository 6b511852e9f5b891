"""What the types of a profile cannot tell, said so that its author can mend it; and the line of a
key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from prowess.profiles.places import MANY
from prowess.profiles.schema.profile import Profile
from prowess.profiles.schema.roots import RootRule

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_ALWAYS_KNOWN = (
    *MANY,
    "home",
    "cwd",
    "workspace",
    "repository",
    "bundled",
    "remote",
    "claude_plugins",
)

CONDITIONS = ("env", "env-one", "env-set", "env-moved", "toggle", "any-toggle", "provider")
# Whatever is counted is counted in 64 bits, and no one has as much of it.
_MOST_NUMBER = 1_000_000_000_000

Mistake = tuple[str, str | None]


def find_mistakes(profile: Profile, name: str) -> Iterator[Mistake]:
    """What the types of a profile cannot tell: names that lead nowhere."""
    if profile.name != name:
        yield (
            f"its name is “{profile.name}”, but it is known as “{name}”; they have to be the same",
            "name",
        )
    for place, item in enumerate(profile.order):
        for id in (item,) if isinstance(item, str) else item:
            if id not in profile.roots:
                yield (
                    f"“{id}” is no root; the roots are {', '.join(profile.roots)}",
                    f"order[{place}]",
                )
    for id in profile.settings_order:
        if id not in profile.settings:
            yield (
                f"“{id}” is no settings file; there are {', '.join(profile.settings) or 'none'}",
                "settings_order",
            )
    for place, id in enumerate(profile.conditions.below):
        if id not in profile.roots:
            yield (
                f"“{id}” is no root; the roots are {', '.join(profile.roots)}",
                f"conditions.below[{place}]",
            )
    for id, rule in profile.roots.items():
        yield from _find_unknown_places(profile, f"roots.{id}.at", rule)
        yield from _find_wrong_conditions(f"roots.{id}.when", rule.when)
        yield from _find_wrong_conditions(f"roots.{id}.unless", rule.unless)
    yield from _find_wrong_numbers(msgspec.to_builtins(profile), "")
    yield from _find_wrong_patterns(profile)


def _find_unknown_places(profile: Profile, key: str, rule: RootRule) -> Iterator[Mistake]:
    known = (*_ALWAYS_KNOWN, *profile.places)
    for template in rule.at:
        for name in _PLACEHOLDER.findall(template):
            if name not in known:
                yield (
                    f"“{{{name}}}” stands for no place; known are {', '.join(sorted(set(known)))}",
                    key,
                )


def _find_wrong_numbers(value: Any, key: str) -> Iterator[Mistake]:
    """Numbers that count nothing. Only a priority may lie below zero."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _find_wrong_numbers(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        least = -_MOST_NUMBER if key.endswith(".priority") else 0
        if not least <= value <= _MOST_NUMBER:
            yield f"it is {value}; it must be a number from {least:,} to {_MOST_NUMBER:,}", key


def _find_wrong_patterns(profile: Profile) -> Iterator[Mistake]:
    patterns = {"fields.name_pattern": profile.fields.name_pattern}
    patterns |= {
        f"roots.{id}.name_pattern": rule.name_pattern for id, rule in profile.roots.items()
    }
    for key, pattern in patterns.items():
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            yield (
                f"“{pattern[:40]}” is no regular expression ({error}); correct it or leave it out",
                key,
            )


def _find_wrong_conditions(key: str, conditions: Sequence[str]) -> Iterator[Mistake]:
    for place, condition in enumerate(conditions):
        kind, colon, name = condition.partition(":")
        if kind not in CONDITIONS or bool(colon and name) is (kind == "any-toggle"):
            known = ", ".join(one if one == "any-toggle" else f"{one}:NAME" for one in CONDITIONS)
            yield f"“{condition}” is no condition; there are {known}", f"{key}[{place}]"


_HEADER = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def find_line(text: str, key: str) -> int | None:
    """The line of a profile that a mistake is about: the one of its key, else of the nearest table
    above it.

    What an edition changes stands below the edition's name.
    """
    wanted = tuple(re.sub(r"\[[^\]]*\]", "", key).split("."))
    best: tuple[int, int | None] = (0, None)
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header, entry = _HEADER.match(line), _KEY.match(line)
        if header:
            table = _split_key(header[1])
        path = table if header else (*table, *_split_key(entry[1])) if entry else ()
        for one in (path, path[1:]):
            shared = min(len(one), len(wanted))
            if shared > best[0] and one[:shared] == wanted[:shared]:
                best = shared, number
    return best[1]


def _split_key(key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
