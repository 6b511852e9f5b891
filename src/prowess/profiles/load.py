"""From a host's name to its profile: find the file, follow `extends`, lay the edition over it,
check it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from prowess.errors import ProfileError, UnknownHost
from prowess.profiles.merge import merge
from prowess.profiles.schema.profile import Profile, RawProfile

BUILT_IN = ("prowess", "spec", "claude-code", "opencode", "openclaw", "omp", "codex")
DEFAULT_EDITION = "current"
_MOST_PARENTS = 16
# What a profile never has from the one it extends.
_OWN = ("name", "editions", "provenance")

Texts = Mapping[str, str]
"""Profiles that a user added: the name of each and the text of its file."""


class ProfileText(str):
    """The text of a profile that was read from a file, and the file's path, to be named where
    something is wrong.

    `problem` says why the file could not be read, with the `line` where that is known.
    """

    path: str
    problem: str | None
    line: int | None

    def __new__(
        cls, text: str, path: str, *, problem: str | None = None, line: int | None = None
    ) -> ProfileText:
        """Keep the path and the trouble beside the text."""
        made = super().__new__(cls, text)
        made.path, made.problem, made.line = path, problem, line
        return made


def split_host(host: str) -> tuple[str, str]:
    """`name@edition` in its two parts; the edition is `current` where none is given."""
    name, _, edition = host.partition("@")
    return name, edition or DEFAULT_EDITION


def load_profile(host: str, added: Texts | None = None) -> Profile:
    """The profile of a host and edition (`opencode@documented`).

    `added` are users' own profiles by name; one of a built-in's name replaces it.
    """
    if added:
        return _build_profile(host, added)
    return _load_built_in(host)


@lru_cache(maxsize=32)
def _load_built_in(host: str) -> Profile:
    return _build_profile(host, {})


def _build_profile(host: str, added: Texts) -> Profile:
    name, edition = split_host(host)
    raw = _load_raw(name, edition, added, asked=host, seen=())
    if "name" not in raw:
        raise _fail(
            name,
            added,
            f'it has no name; write `name = "{name}"` as its first line',
            "name",
            line=1,
        )
    try:
        profile = msgspec.convert({**raw, "edition": edition}, Profile)
    except msgspec.ValidationError as error:
        raise _explain(name, added, raw, str(error)) from None
    if name in added:
        # The built-in ones are held to this by a test; a user's file is new every time.
        from prowess.profiles.validation import find_mistakes

        for mistake in find_mistakes(profile, name):
            raise _fail(name, added, *mistake)
    return profile


def _explain(name: str, added: Texts, raw: RawProfile, message: str) -> ProfileError:
    """What the types say against a profile. What it inherited from another added one is that one's
    mistake.
    """
    from prowess.profiles.shape_validation import find_wrong

    parent = _parse(name, added).get("extends")
    if isinstance(parent, str) and split_host(parent)[0] in added:
        try:
            _build_profile(parent, added)
        except ProfileError as error:
            return error
    return _fail(name, added, *(find_wrong(raw) or (message[:1].lower() + message[1:], None)))


def known_hosts(added: Texts | None = None) -> tuple[str, ...]:
    """The names of every host, the built-in ones first."""
    return (*BUILT_IN, *(name for name in sorted(added or {}) if name not in BUILT_IN))


def known_editions(name: str, added: Texts | None = None) -> tuple[str, ...]:
    """The editions that a host's profile has, `current` first."""
    added = added or {}
    return _find_editions(name, _parse(name, added), added)


def _load_raw(
    name: str, edition: str, added: Texts, *, asked: str, seen: tuple[str, ...]
) -> RawProfile:
    if name not in BUILT_IN and name not in added:
        raise UnknownHost(asked, known_hosts(added))
    raw = _parse(name, added)
    editions = _find_editions(name, raw, added)
    if edition not in editions:
        raise UnknownHost(asked, [f"{name}@{known}" for known in editions])
    if name in seen:
        raise _fail(name, added, f"it extends itself: {' → '.join((*seen, name))}", "extends")
    if len(seen) > _MOST_PARENTS:
        problem = f"more than {_MOST_PARENTS} profiles extend one another; extend a nearer one"
        raise _fail(name, added, problem, "extends")
    own = raw.get(edition, {})
    parent = raw.get("extends")
    if not isinstance(own, dict):
        raise _fail(
            name, added, f"it is {_name_value(own)}; it must be a table, `[{edition}]`", edition
        )
    if not isinstance(parent, str | None):
        raise _fail(
            name,
            added,
            f'it is {_name_value(parent)}; it must be a host, such as "spec"',
            "extends",
        )
    raw = {key: value for key, value in raw.items() if key != "extends" and key not in editions}
    if parent is not None:
        base_name, base_edition = split_host(parent)
        try:
            base = _load_raw(base_name, base_edition, added, asked=parent, seen=(*seen, name))
        except UnknownHost as error:
            problem = str(error).rstrip(".")
            raise _fail(name, added, problem[:1].lower() + problem[1:], "extends") from None
        inherited = {key: value for key, value in base.items() if key not in _OWN}
        raw = merge(inherited, raw)
    return merge(raw, own)


def _find_editions(name: str, raw: RawProfile, added: Texts) -> tuple[str, ...]:
    found = raw.get("editions", [DEFAULT_EDITION])
    if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
        problem = (
            f'it is {_name_value(found)}; it must be a list of names, such as ["{DEFAULT_EDITION}"]'
        )
        raise _fail(name, added, problem, "editions")
    return tuple(found)


def _name_value(value: Any) -> str:
    from prowess.profiles.shape_validation import name_value

    return name_value(value)


def _parse(name: str, added: Texts) -> RawProfile:
    text = added.get(name)
    if text is None:
        return _load_built_in_tables(name)
    from prowess.profiles.toml_guard import Malformed, parse_profile_text

    if isinstance(text, ProfileText) and text.problem is not None:
        raise ProfileError(text.path, text.problem, None, text.line)
    try:
        return parse_profile_text(text)
    except Malformed as error:
        raise _fail(name, added, error.problem, line=error.line) from None


def _load_built_in_tables(name: str) -> RawProfile:
    import tomllib

    with open(f"{__file__.removesuffix('load.py')}data/{name}.toml", "rb") as file:
        return tomllib.load(file)


def _fail(
    name: str, added: Texts, problem: str, key: str | None = None, *, line: int | None = None
) -> ProfileError:
    """What is wrong with a profile, with its file and line where it has a file of its own."""
    text = added.get(name)
    if not isinstance(text, ProfileText):
        return ProfileError(f"{name}.toml" if text is None else f"“{name}”", problem, key)
    from prowess.profiles.validation import find_line

    return ProfileError(
        text.path, problem, key, line or (None if key is None else find_line(text, key))
    )


def differing_keys(one: Profile, other: Profile) -> list[tuple[str, Any, Any]]:
    """Every dotted key whose value differs between two profiles, with both values."""
    first = msgspec.to_builtins(one)
    second = msgspec.to_builtins(other)
    return list(_differences((), first, second))


def _differences(path: tuple[str, ...], one: Any, other: Any) -> Iterable[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in (*one, *(key for key in other if key not in one)):
            yield from _differences((*path, key), one.get(key), other.get(key))
    elif one != other:
        yield ".".join(path), one, other
