"""An entry taken out of a list in prowess.toml, every other byte kept; as in `edit`, by proposals
that are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from prowess.errors import ProwessError
from prowess.settings.formats.key_spans import Mark
from prowess.settings.formats.parser import parse_toml
from prowess.settings.formats.scan_toml import scan_toml

_COMMA_AFTER = re.compile(r"[ \t]*,[ \t]*")
_COMMA_BEFORE = re.compile(r",[ \t]*\Z")
_REST_OF_LINE = re.compile(r"[ \t]*,?[ \t]*(?:#[^\n]*)?\r?\n")


def remove_entries(
    text: str, key: str, entries: Sequence[str], *, file: str = "the settings"
) -> str:
    """The text of a prowess.toml without these entries of a list at its top; a comment beside one
    goes with it.

    Raises a `SettingError` where the text is no TOML, and a `ProwessError` where it cannot be
    edited safely.
    """
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    body = text.removeprefix(bom)
    while True:
        held = parse_toml(body, file).get(key, [])
        place = next((place for place, entry in enumerate(held) if entry in entries), None)
        if place is None:
            return bom + body
        wanted = {
            **_parse(body),
            key: [entry for number, entry in enumerate(held) if number != place],
        }
        edited = next((one for one in _propose(body, key, place) if _holds(one, wanted)), None)
        if edited is None:
            problem = (
                f"no safe way was found to take “{held[place]}” out of `{key}`; remove it there by"
                " hand."
            )
            raise ProwessError(f"{file}: {problem}")
        body = edited


def _propose(text: str, key: str, place: int) -> Iterator[str]:
    """Edits in the order of preference: the whole line of an entry that has one, then only the
    entry itself.
    """
    for mark in scan_toml(text):
        if mark.path == (key, str(place)):
            yield from _propose_line(text, mark)
            after = _COMMA_AFTER.match(text, mark.end)
            if after is not None:
                yield text[: mark.start] + text[after.end() :]
            before = _COMMA_BEFORE.search(text[: mark.start])
            if before is not None:
                yield text[: before.start()] + text[mark.end :]
            yield text[: mark.start] + text[mark.end :]


def _propose_line(text: str, mark: Mark) -> Iterator[str]:
    start = text.rfind("\n", 0, mark.start) + 1
    rest = _REST_OF_LINE.match(text, mark.end)
    if start and rest is not None and not text[start : mark.start].strip():
        yield text[:start] + text[rest.end() :]


def _parse(text: str) -> dict[str, Any]:
    """The text parsed for comparison: floats stay text, since `nan` is not equal to itself."""
    import tomllib

    return tomllib.loads(text, parse_float=str)


def _holds(proposal: str, wanted: dict[str, Any]) -> bool:
    try:
        return _parse(proposal) == wanted
    except ValueError:
        return False
