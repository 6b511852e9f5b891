"""Settings as text, parsed: TOML, JSON5 (with it JSON and JSONC) and YAML, each to a plain dict.

Wrong syntax is a `SettingError` with the line. The parsers are fast on ordinary files only; each is
guarded against text that would keep it busy for minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from prowess.errors import SettingError
from prowess.settings.formats.key_lines import MOST_LEVELS, Format, find_repeated, find_too_deep

MOST_CHARACTERS = 1 << 20

# Aliases multiply text: few are allowed, and only in files that are small.
_MOST_ALIASES = 16
_MOST_CHARACTERS_WITH_ALIASES = 1 << 16
# Nested brackets cost the YAML parser quadratic time.
_MOST_YAML_BRACKETS = 10_000

# Patterns as text: most serve errors only and are never compiled.
_ALIAS = r"(?m)(?:^|[\s\[{,])\*[^\s,\[\]{}*]"
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_LEVELS}}}"
_TOML_PLACE = r" \(at (?:line (\d+), column \d+|end of document)\)$"
_YAML_PLACE = r" at (?:line (\d+) column \d+|position (\d+))"
_YAML_DOCUMENT = r"(?m)^---(?=\s)"
_JSON5_PLACE = r"near (\d+)"
_JSON5_UNCLOSED = r"Unclosed b'(\w+)'"
_JSON5_EXPECTED = r"Expected (?:b'([^']+)'|U\+([0-9a-fA-F]+))(?: or U\+([0-9a-fA-F]+))?"
_JSON5_WORDS = {
    "colon": "`:`",
    "comma": "`,`",
    "IdentifierStart": "a key",
    "JSON5Value": "a value",
    "NumericLiteral": "number",
    "literal": "word",
}


def parse_settings(text: str, format_name: Format, file: str) -> dict[str, Any]:
    """The settings that a text holds, by its format."""
    return PARSERS[format_name](text, file)


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """TOML, by the parser of the standard library."""
    import tomllib

    text = _prepare(text, file)
    long_key = re.search(_LONG_KEY, text)
    if long_key is not None:
        raise _nested(file, _line_at(text, long_key.start()))
    try:
        return _check_shape(tomllib.loads(text), text, "toml", file)
    except RecursionError:
        raise _nested(file, find_too_deep(text, "toml")) from None
    except tomllib.TOMLDecodeError as error:
        reason, place, _ = _split(str(error), _TOML_PLACE)
        line = _last_line(text) if place is None or place[1] is None else int(place[1])
        raise SettingError(file, line, None, f"this is not valid TOML ({reason})") from None
    except ValueError:
        raise SettingError(
            file, None, None, "a number in the file has too many digits to be read"
        ) from None


def parse_json5(text: str, file: str) -> dict[str, Any]:
    """JSON5: JSON with comments, trailing commas, single quotes and keys without quotes."""
    import pyjson5

    text = _prepare(text, file)
    try:
        return _check_shape(pyjson5.decode(text, maxdepth=MOST_LEVELS), text, "json5", file)
    except pyjson5.Json5NestingTooDeep as error:
        raise _nested(file, _json5_line(text, error)) from None
    except pyjson5.Json5DecoderException as error:
        if str(error.message).startswith("No JSON data"):
            return {}
        problem = f"this is not valid JSON ({_explain_json5(error)})"
        raise SettingError(file, _json5_line(text, error), None, problem) from None


def parse_yaml(text: str, file: str) -> dict[str, Any]:
    """YAML 1.2, where `yes` and `on` are words. Every key becomes a text."""
    import ryaml

    text = _prepare(text, file)
    _guard_yaml(text, file)
    try:
        data = ryaml.loads(text)  # type: ignore[attr-defined]
    except ValueError as error:
        reason, line = _explain_yaml(text, str(error))
        raise SettingError(file, line, None, f"this is not valid YAML ({reason})") from None
    table = _check_shape({} if data is None else data, text, "yaml", file)
    return {_text_key(key): _with_text_keys(value) for key, value in table.items()}


PARSERS: dict[Format, Callable[[str, str], dict[str, Any]]] = {
    "toml": parse_toml,
    "json5": parse_json5,
    "yaml": parse_yaml,
}


def _prepare(text: str, file: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise SettingError(
            file,
            None,
            None,
            f"the file is too large; at most {MOST_CHARACTERS:,} characters are read",
        )
    return text.removeprefix("\ufeff")


def _check_shape(data: Any, text: str, format_name: Format, file: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise SettingError(
            file, 1, None, "the file must hold keys and values, not a list or a single value"
        )
    if _depth_exceeds(data, MOST_LEVELS):
        raise _nested(file, find_too_deep(text, format_name))
    return data


def _nested(file: str, line: int | None) -> SettingError:
    return SettingError(
        file, line, None, f"the settings are nested more than {MOST_LEVELS} levels deep"
    )


def _depth_exceeds(data: Any, most: int) -> bool:
    level = [data]
    for _ in range(most + 1):
        level = [
            child
            for value in level
            if isinstance(value, (dict, list))
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def _line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _last_line(text: str) -> int:
    return _line_at(text, len(text.rstrip()))


def _split(message: str, pattern: str) -> tuple[str, re.Match[str] | None, str]:
    """A parser's message in three: the reason, the place, what comes after."""
    place = re.search(pattern, message)
    reason = message if place is None else message[: place.start()]
    return reason[:1].lower() + reason[1:], place, "" if place is None else message[place.end() :]


def _json5_line(text: str, error: Exception) -> int:
    """The parser counts characters, and behind the end of the settings it counts none; then the
    character tells.
    """
    place = re.search(_JSON5_PLACE, str(error))
    offset = max(int(place[1]) - 1, 0) if place else 0
    if str(error.args[0]).startswith("Extra data"):
        offset = _first_text_after(text, offset)
    return _line_at(text, offset)


def _first_text_after(text: str, offset: int) -> int:
    from prowess.settings.formats.scan_json5 import read_json5_tokens

    return next((token.start for token in read_json5_tokens(text, offset + 1)), offset)


def _explain_json5(error: Any) -> str:
    message = str(error.message)
    unclosed = re.match(_JSON5_UNCLOSED, message)
    if unclosed is not None:
        return f"the {_JSON5_WORDS.get(unclosed[1], unclosed[1])} that begins here is not complete"
    if message.startswith("Extra data"):
        return "there is text behind the last bracket"
    expected = re.match(_JSON5_EXPECTED, message)
    if expected is None:
        return "a character stands where it cannot"
    word, character, other = expected.groups()
    allowed = _JSON5_WORDS.get(word, f"a {word}") if word else f"`{chr(int(character, 16))}`"
    allowed += f" or `{chr(int(other, 16))}`" if other else ""
    return f"{_name_character(str(error.character))} stands where {allowed} is expected"


def _name_character(character: str) -> str:
    return (
        f"`{character}`"
        if character.isprintable()
        else "the end of the line"
        if character in "\r\n"
        else "a blank"
    )


def _guard_yaml(text: str, file: str) -> None:
    aliases = len(re.findall(_ALIAS, text))
    if aliases > _MOST_ALIASES:
        problem = f"the file has {aliases} YAML aliases; at most {_MOST_ALIASES} are allowed"
        raise SettingError(file, None, None, problem)
    if aliases and len(text) > _MOST_CHARACTERS_WITH_ALIASES:
        problem = (
            f"a file with YAML aliases may have at most {_MOST_CHARACTERS_WITH_ALIASES:,}"
            " characters"
        )
        raise SettingError(file, None, None, problem)
    if text.count("[") + text.count("{") > _MOST_YAML_BRACKETS:
        problem = (
            f"the file has more than {_MOST_YAML_BRACKETS:,} opening brackets, which are not read"
        )
        raise SettingError(file, None, None, problem)


def _explain_yaml(text: str, message: str) -> tuple[str, int | None]:
    if "duplicate entry" in message:
        repeated = find_repeated(text, "yaml")
        return (
            ("a key stands twice", None)
            if repeated is None
            else (f"`{repeated[0][-1]}` stands twice", repeated[1])
        )
    if "more than one document" in message:
        starts = [_line_at(text, match.start()) for match in re.finditer(_YAML_DOCUMENT, text)]
        return "a second document begins", starts[-1] if starts else None
    if "unhashable" in message:
        return "a list or a mapping stands where a key is expected", None
    reason, place, context = _split(message, _YAML_PLACE)
    if place is None:
        return reason, None
    if "invalid type: integer" in reason:
        reason = "a number has too many digits"
    if place[2] is not None:
        return reason, text.encode("utf-8", "replace")[: int(place[2])].count(b"\n") + 1
    # What is never closed is found at the end of the file; where it begins says more.
    begins = re.search(_YAML_PLACE, context) if "end of stream" in reason else None
    found = begins if begins is not None and begins[1] is not None else place
    return reason, min(int(found[1]), _last_line(text))


def _with_text_keys(data: Any) -> Any:
    if isinstance(data, dict):
        return {_text_key(key): _with_text_keys(value) for key, value in data.items()}
    return [_with_text_keys(item) for item in data] if isinstance(data, list) else data


def _text_key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)
