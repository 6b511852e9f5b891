"""`skill://NAME/PATH` addresses, taken apart. What a path may be is judged here, after it was
decoded once.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from prowess.activate.resources.line_ranges import Lines, split_lines
from prowess.errors.activation import AddressError

SCHEME = "skill://"
Dots = Literal["refuse", "fold"]

_END = re.compile(r"[?#]")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_SEPARATORS = re.compile(r"[\\/]")


class Address(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An address that asks for nothing outside its skill.

    `path` is relative to the skill's folder, with `/` between its names; "" is the skill itself.
    `is_folder` says that it ended with a `/`. `lines` are the lines that are wanted; `literal` is
    the path of a file whose name just looks as if it ended with a range, which goes before.
    """

    url: str
    name: str
    path: str = ""
    is_folder: bool = False
    lines: Lines | None = None
    literal: str | None = None


def parse_address(url: str, *, dots: Dots = "refuse", with_lines: bool = False) -> Address:
    """Take an address apart. Raises `AddressError` where it is none, or leads out of its skill.

    `dots` says what becomes of `..` inside the skill. Lines can be named only where there is a
    path, since names may hold colons: `skill://pdf/SKILL.md:1-20`.
    """
    text = url.strip()
    if text[: len(SCHEME)].lower() != SCHEME:
        kind = "no-name" if text.lower().startswith("skill:") else "malformed"
        raise AddressError(
            url, kind, f"an address of a skill begins with {SCHEME} and the name of the skill"
        )
    rest = _END.split(text[len(SCHEME) :], maxsplit=1)[0]
    encoded, _, path = rest.partition("/")
    name = _decode(url, encoded)
    if not name:
        raise AddressError(
            url,
            "no-name",
            f"the name of a skill is missing; write {SCHEME}NAME or {SCHEME}NAME/PATH",
        )
    whole = _find_path(url, path, dots)
    before, lines = split_lines(path, url=url) if with_lines else (path, None)
    inner = whole if lines is None else _find_path(url, before, dots)
    return Address(
        url=url,
        name=name,
        path=inner,
        is_folder=before.endswith("/"),
        lines=lines,
        literal=None if lines is None else whole,
    )


def _find_path(url: str, raw: str, dots: Dots) -> str:
    """The relative path that is meant: dots folded away, decoded, and inside the skill."""
    path = _decode(url, "/".join(_fold(url, raw, dots)))
    names = _SEPARATORS.split(path)
    if ".." in names:
        raise _leads_out(url, path)
    if path[:1] in ("/", "\\") or _DRIVE.match(path):
        raise AddressError(
            url, "absolute", f"“{path}” is absolute; paths are relative to the skill", path=path
        )
    return "/".join(name for name in path.split("/") if name not in ("", "."))


def _fold(url: str, raw: str, dots: Dots) -> list[str]:
    """The segments as an address is read everywhere: `.` is left out, `..` takes the one before it
    along.
    """
    folded: list[str] = []
    for segment in raw.split("/"):
        plain = segment.lower().replace("%2e", ".")
        if plain == "..":
            if dots == "refuse" or not folded:
                raise _leads_out(url, raw)
            folded.pop()
        elif plain != ".":
            folded.append(segment)
    return folded


def _leads_out(url: str, path: str) -> AddressError:
    return AddressError(
        url, "outside", f"“{path}” has a part `..`, which could lead out of the skill", path=path
    )


def _decode(url: str, text: str) -> str:
    """The text with each `%` and two digits as the byte they stand for; decoded once, never again."""
    if "%" in text:
        from urllib.parse import unquote

        try:
            text = unquote(text, errors="strict") if _BAD_ESCAPE.search(text) is None else ""
        except UnicodeDecodeError:
            text = ""
        if not text:
            raise AddressError(
                url, "malformed", "a `%` in it is not followed by the digits of a UTF-8 character"
            )
    if "\0" in text:
        raise AddressError(url, "malformed", "it holds a zero byte, which no name has")
    return text
