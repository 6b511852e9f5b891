"""`skill://NAME/PATH` addresses, parsed. A path is decoded once, and only then judged."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from prowess.activate.resources.line_ranges import Lines, split_lines
from prowess.errors.activation import AddressError
from prowess.text.addresses import SCHEME

Dots = Literal["refuse", "fold"]

_END = re.compile(r"[?#]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_SEPARATORS = re.compile(r"[\\/]")


class Address(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An address that stays inside its skill.

    `path` is relative to the skill's folder, with `/` between its names; "" is the skill itself.
    `is_folder` says that it ended with a `/`. `lines` are the lines asked for. `literal` is the
    path of a file whose name only looks as if it ended with a range; if that file exists, it wins.
    """

    url: str
    name: str
    path: str = ""
    is_folder: bool = False
    lines: Lines | None = None
    literal: str | None = None


def parse_address(url: str, *, dots: Dots = "refuse", with_lines: bool = False) -> Address:
    """Parse an address. Raises `AddressError` for one that is malformed or leaves its skill.

    `dots` says what becomes of `..` inside the skill. Lines can only be given after a path, because
    names may contain colons: `skill://pdf/SKILL.md:1-20`.
    """
    text = url.strip()
    if text[: len(SCHEME)].lower() != SCHEME:
        kind = "no-name" if text.lower().startswith("skill:") else "malformed"
        problem = f"a skill's address starts with {SCHEME} and the skill's name"
        raise AddressError(url, kind, problem)
    rest = _END.split(text[len(SCHEME) :], maxsplit=1)[0]
    encoded_name, _, raw = rest.partition("/")
    name = _decode(url, encoded_name)
    if not name:
        problem = f"the name of the skill is missing; use {SCHEME}NAME or {SCHEME}NAME/PATH"
        raise AddressError(url, "no-name", problem)
    path = _get_path(url, raw, dots)
    before, lines = split_lines(raw, url=url) if with_lines else (raw, None)
    is_folder = before.endswith("/")
    if lines is None:
        return Address(url=url, name=name, path=path, is_folder=is_folder)
    return Address(
        url=url,
        name=name,
        path=_get_path(url, before, dots),
        is_folder=is_folder,
        lines=lines,
        literal=path,
    )


def _get_path(url: str, raw: str, dots: Dots) -> str:
    """The relative path: dots folded, decoded, and inside the skill."""
    path = _decode(url, "/".join(_fold_dots(url, raw, dots)))
    # Checked again, because decoding may bring separators: `..%2f`. Only whole names count, so
    # `..dots.md` is a file like any other.
    if ".." in _SEPARATORS.split(path):
        raise _leave(url, path)
    if path[:1] in ("/", "\\") or _DRIVE.match(path):
        problem = f"“{path}” is absolute; paths are relative to the skill"
        raise AddressError(url, "absolute", problem, path=path)
    return "/".join(name for name in path.split("/") if name not in ("", "."))


def _fold_dots(url: str, raw: str, dots: Dots) -> list[str]:
    """The segments of a path as in any URL: `.` is dropped, `..` drops the segment before it."""
    folded: list[str] = []
    for segment in raw.split("/"):
        # Whoever parses URLs takes encoded dots for dots, so a check must, too.
        plain = segment.lower().replace("%2e", ".")
        if plain == ".":
            continue
        if plain != "..":
            folded.append(segment)
            continue
        if dots == "refuse" or not folded:
            raise _leave(url, raw)
        folded.pop()
    return folded


def _leave(url: str, path: str) -> AddressError:
    problem = f"“{path}” contains `..`, which could point outside the skill"
    return AddressError(url, "outside", problem, path=path)


def _decode(url: str, text: str) -> str:
    """The text with its percent escapes decoded, once and never again."""
    if "\0" in text:
        raise _refuse_zero_byte(url)
    if "%" not in text:
        return text
    from urllib.parse import unquote

    problem = "it contains a `%` that is not part of a valid UTF-8 escape, such as %20"
    if _BAD_ESCAPE.search(text) is not None:
        raise AddressError(url, "malformed", problem)
    try:
        decoded = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise AddressError(url, "malformed", problem) from None
    if "\0" in decoded:
        raise _refuse_zero_byte(url)
    return decoded


def _refuse_zero_byte(url: str) -> AddressError:
    return AddressError(
        url, "malformed", "it contains a NUL character, which file names cannot have"
    )
