"""Load the profile of a host: resolve `extends`, apply the edition, validate."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from prowess.errors import ProfileError, UnknownHost
from prowess.profiles.schema.profile import Profile, RawProfile

BUILT_IN = (
    "prowess",
    "spec",
    "claude-code",
    "opencode",
    "openclaw",
    "omp",
    "codex",
    "gemini",
    "copilot",
    "pi",
    "qwen",
    "crush",
)
# What people call a host besides the name of its profile.
ALIASES = {"gemini-cli": "gemini", "github-copilot": "copilot", "qwen-code": "qwen"}
DEFAULT_EDITION = "current"

# Both keep a hostile file from costing more than an error.
_MOST_LEVELS = 32
_MOST_PARENTS = 16
# Keys that are never inherited.
_OWN = ("name", "editions", "provenance", "installed")

Texts = Mapping[str, str]
"""Profiles that users added: the text of each file by the name of the host."""


class ProfileText(str):
    """The text of a profile file, with its path for error messages.

    If the file couldn't be read, `problem` says why and `line` where, if known.
    """

    path: str
    problem: str | None
    line: int | None

    def __new__(
        cls, text: str, path: str, *, problem: str | None = None, line: int | None = None
    ) -> ProfileText:
        """Attach the path and the problem to the text."""
        made = super().__new__(cls, text)
        made.path, made.problem, made.line = path, problem, line
        return made


_converting = threading.Lock()


def split_host(host: str, added: Texts | None = None) -> tuple[str, str]:
    """The name and the edition of `name@edition`; the edition defaults to `current`.

    Another name of a built-in host becomes the host's own, unless a user's profile has it.
    """
    name, _, edition = host.partition("@")
    is_added = added is not None and name in added
    if not is_added:
        name = ALIASES.get(name, name)
    return name, edition or DEFAULT_EDITION


def load_profile(host: str, added: Texts | None = None) -> Profile:
    """The profile of a host and edition, such as `opencode@documented`.

    `added` are profiles that users added, by name. They take precedence over built-in ones.
    """
    if added:
        return _build_profile(host, added)
    return _load_built_in(host)


@lru_cache(maxsize=32)
def _load_built_in(host: str) -> Profile:
    return _build_profile(host, {})


def _build_profile(host: str, added: Texts) -> Profile:
    name, edition = split_host(host, added)
    raw = _load_raw(name, edition, added, asked=host, seen=())
    if "name" not in raw:
        problem = f'is missing; add `name = "{name}"` as the first line'
        raise _make_error(name, added, problem, "name", line=1)
    try:
        # msgspec crashes the interpreter when two threads learn a type at the same time.
        with _converting:
            profile = msgspec.convert({**raw, "edition": edition}, Profile)
    except msgspec.ValidationError as error:
        raise _explain_mismatch(name, added, raw, str(error)) from None
    if name in added:
        # A test covers the built-in profiles, so only users' own are checked on every load.
        from prowess.profiles.validation import find_mistakes

        for problem, key in find_mistakes(profile, name):
            raise _make_error(name, added, problem, key)
    return profile


def _explain_mismatch(name: str, added: Texts, raw: RawProfile, message: str) -> ProfileError:
    """Why a profile doesn't fit the schema.

    A mistake in an added profile that this one extends is reported for that file.
    """
    from prowess.profiles.validation import find_type_mistake

    # `raw` is merged already, so only the parent itself can tell whose mistake it is.
    parent = _parse_tables(name, added).get("extends")
    if isinstance(parent, str) and split_host(parent, added)[0] in added:
        try:
            _build_profile(parent, added)
        except ProfileError as error:
            return error
    problem, key = find_type_mistake(raw) or (_lower_first(message), None)
    return _make_error(name, added, problem, key)


def known_hosts(added: Texts | None = None) -> tuple[str, ...]:
    """The names of all hosts, built-in ones first."""
    others = sorted(name for name in added or {} if name not in BUILT_IN)
    return (*BUILT_IN, *others)


def known_editions(name: str, added: Texts | None = None) -> tuple[str, ...]:
    """The editions of a host's profile, `current` first."""
    added = added or {}
    return _read_editions(name, _parse_tables(name, added), added)


def _load_raw(
    name: str, edition: str, added: Texts, *, asked: str, seen: tuple[str, ...]
) -> RawProfile:
    """The tables of a profile, merged with those it extends and with its edition."""
    is_known = name in BUILT_IN or name in added
    if not is_known:
        raise UnknownHost(asked, known_hosts(added))
    raw = _parse_tables(name, added)
    editions = _read_editions(name, raw, added)
    if edition not in editions:
        raise UnknownHost(asked, [f"{name}@{known}" for known in editions])
    if name in seen:
        raise _make_error(name, added, f"is circular: {' → '.join((*seen, name))}", "extends")
    if len(seen) > _MOST_PARENTS:
        problem = f"is a chain of more than {_MOST_PARENTS} profiles; shorten it"
        raise _make_error(name, added, problem, "extends")
    differences = _read_differences(name, edition, raw, added)
    parent = raw.get("extends")
    # Every edition is a table of its own beside those of the profile.
    left_out = ("extends", *editions)
    own = {key: value for key, value in raw.items() if key not in left_out}
    # Imported late: a profile from the cache is already merged.
    from prowess.profiles.merge import merge

    if parent is not None:
        own = merge(_load_parent(parent, name, added, seen), own)
    return merge(own, differences)


def _read_differences(name: str, edition: str, raw: RawProfile, added: Texts) -> RawProfile:
    """What differs in an edition, with the differences of the edition that it is `based_on`."""
    differences = raw.get(edition, {})
    if not isinstance(differences, dict):
        problem = f"must be a table, `[{edition}]`; got {_describe(differences)}"
        raise _make_error(name, added, problem, edition)
    base = differences.get("based_on")
    if base is None:
        return differences
    others = [other for other in _read_editions(name, raw, added) if other != edition]
    below = raw.get(base, {}) if base in others else None
    # One step only: an edition that others are based on stands for itself.
    if not isinstance(below, dict) or "based_on" in below:
        problem = f"must be another edition ({', '.join(others)}); got {_describe(base)}"
        raise _make_error(name, added, problem, f"{edition}.based_on")
    from prowess.profiles.merge import merge

    own = {key: value for key, value in differences.items() if key != "based_on"}
    return merge(below, own)


def _load_parent(parent: Any, child: str, added: Texts, seen: tuple[str, ...]) -> RawProfile:
    """What a profile inherits from the one it extends."""
    if not isinstance(parent, str):
        problem = f'must be a host, such as "spec"; got {_describe(parent)}'
        raise _make_error(child, added, problem, "extends")
    name, edition = split_host(parent, added)
    try:
        raw = _load_raw(name, edition, added, asked=parent, seen=(*seen, child))
    except UnknownHost as error:
        problem = f"is “{error.name}”, which is not a host; the hosts are {', '.join(error.known)}"
        raise _make_error(child, added, problem, "extends") from None
    return {key: value for key, value in raw.items() if key not in _OWN}


def _read_editions(name: str, raw: RawProfile, added: Texts) -> tuple[str, ...]:
    editions = raw.get("editions", [DEFAULT_EDITION])
    is_list = isinstance(editions, list) and len(editions) > 0
    has_names = is_list and all(isinstance(edition, str) for edition in editions)
    if not has_names:
        found = _describe(editions)
        problem = f'must be a list of names, such as ["{DEFAULT_EDITION}"]; got {found}'
        raise _make_error(name, added, problem, "editions")
    return tuple(editions)


def _parse_tables(name: str, added: Texts) -> RawProfile:
    text = added.get(name)
    if text is None:
        return _load_built_in_tables(name)
    from prowess.text.toml_guard import TomlError, parse_guarded_toml

    # A file that could not be read matters only once its host is asked for.
    if isinstance(text, ProfileText) and text.problem is not None:
        raise ProfileError(text.path, text.problem, None, text.line)
    try:
        return parse_guarded_toml(text, most_levels=_MOST_LEVELS)
    except TomlError as error:
        raise _make_error(name, added, error.problem, line=error.line) from None


def _load_built_in_tables(name: str) -> RawProfile:
    import tomllib

    # Not importlib.resources: importing it takes longer than reading all profiles.
    with open(f"{__file__.removesuffix('load.py')}data/{name}.toml", "rb") as file:
        return tomllib.load(file)


def _make_error(
    name: str, added: Texts, problem: str, key: str | None = None, *, line: int | None = None
) -> ProfileError:
    """An error about a profile, with its file and line if it comes from a user's file."""
    text = added.get(name)
    if text is None:
        return ProfileError(f"{name}.toml", problem, key)
    if not isinstance(text, ProfileText):
        return ProfileError(f"“{name}”", problem, key)
    if line is None and key is not None:
        from prowess.profiles.validation import find_line

        line = find_line(text, key)
    return ProfileError(text.path, problem, key, line)


def _describe(value: Any) -> str:
    from prowess.text.values import describe_value

    return describe_value(value)


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]


def differing_keys(one: Profile, other: Profile) -> list[tuple[str, Any, Any]]:
    """Every dotted key whose value differs between two profiles, with both values."""
    return list(_compare((), msgspec.to_builtins(one), msgspec.to_builtins(other)))


def _compare(path: tuple[str, ...], one: Any, other: Any) -> Iterable[tuple[str, Any, Any]]:
    are_tables = isinstance(one, dict) and isinstance(other, dict)
    if are_tables:
        # Keys of both, in the order of the first.
        for key in {**one, **other}:
            yield from _compare((*path, key), one.get(key), other.get(key))
    elif one != other:
        yield ".".join(path), one, other
