"""From a host's name to its profile: find the file, follow `extends`, lay the edition over it, check it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from prowess.errors import ProfileError, UnknownHost
from prowess.profiles.merge import merge
from prowess.profiles.schema import Profile, RawProfile

BUILT_IN = ("prowess", "spec", "claude-code", "opencode", "openclaw", "omp", "codex")
DEFAULT_EDITION = "current"

Texts = Mapping[str, str]
"""Profiles that a user added: the name of each and the text of its file."""


class ProfileText(str):
    """The text of a profile that was read from a file, and the file's path, to be named where something is wrong."""

    path: str

    def __new__(cls, text: str, path: str) -> ProfileText:
        """Keep the path beside the text."""
        made = super().__new__(cls, text)
        made.path = path
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
    try:
        profile = msgspec.convert({**raw, "edition": edition}, Profile)
    except msgspec.ValidationError as error:
        from prowess.profiles.mistakes import explain

        raise _fail(name, added, *explain(str(error), raw)) from None
    if name in added:
        # The built-in ones are held to this by a test; a user's file is new every time.
        from prowess.profiles.mistakes import find_mistakes

        for mistake in find_mistakes(profile, name):
            raise _fail(name, added, *mistake)
    return profile


def known_hosts(added: Texts | None = None) -> tuple[str, ...]:
    """The names of every host, the built-in ones first."""
    return (*BUILT_IN, *(name for name in sorted(added or {}) if name not in BUILT_IN))


def known_editions(name: str, added: Texts | None = None) -> tuple[str, ...]:
    """The editions that a host's profile has, `current` first."""
    raw = _parse(name, added or {})
    return tuple(raw.get("editions", (DEFAULT_EDITION,)))


def _load_raw(name: str, edition: str, added: Texts, *, asked: str, seen: tuple[str, ...]) -> RawProfile:
    if name not in BUILT_IN and name not in added:
        raise UnknownHost(asked, known_hosts(added))
    raw = _parse(name, added)
    editions = tuple(raw.get("editions", (DEFAULT_EDITION,)))
    if edition not in editions:
        raise UnknownHost(asked, [f"{name}@{known}" for known in editions])
    if name in seen:
        raise _fail(name, added, f"it extends itself: {' → '.join((*seen, name))}", "extends")
    own = raw.get(edition, {})
    parent = raw.get("extends")
    raw = {key: value for key, value in raw.items() if key != "extends" and key not in editions}
    if parent is not None:
        base_name, base_edition = split_host(parent)
        try:
            base = _load_raw(base_name, base_edition, added, asked=parent, seen=(*seen, name))
        except UnknownHost as error:
            raise _fail(name, added, str(error).rstrip("."), "extends") from None
        inherited = {key: value for key, value in base.items() if key not in ("editions", "provenance")}
        raw = merge(inherited, raw)
    return merge(raw, own)


def _parse(name: str, added: Texts) -> RawProfile:
    import tomllib

    text = added[name] if name in added else _read_built_in(name)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _fail(name, added, f"it is not TOML: {error}") from None


def _read_built_in(name: str) -> str:
    with open(f"{__file__.removesuffix('load.py')}data/{name}.toml", encoding="utf-8") as file:
        return file.read()


def _fail(name: str, added: Texts, problem: str, key: str | None = None) -> ProfileError:
    """What is wrong with a profile, with its file and line where it has a file of its own."""
    text = added.get(name)
    if not isinstance(text, ProfileText):
        return ProfileError(f"{name}.toml" if text is None else f"“{name}”", problem, key)
    from prowess.profiles.mistakes import find_line

    return ProfileError(text.path, problem, key, find_line(text, key, problem))


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
