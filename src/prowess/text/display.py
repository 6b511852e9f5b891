"""Text made safe and short for people: whatever could steer a terminal is spelled out."""

from __future__ import annotations

# Invisible characters that scripts and emoji need.
_JOINERS = "\u200c\u200d"
# Categories that can steer a terminal or reorder a line: controls, formats, surrogates, and line
# and paragraph separators.
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def escape_text(text: str) -> str:
    """Untrusted text for people: newlines and tabs stay, whatever steers a terminal is escaped."""
    text = text.replace("\r\n", "\n")
    if text.replace("\n", "").isprintable():
        return text
    return "".join(one if one in "\n\t" or one.isprintable() else _spell(one) for one in text)


def escape_line(text: str) -> str:
    """Untrusted text as one line: runs of whitespace become one space, the rest is escaped."""
    return escape_text(" ".join(text.split()))


def first_line(text: str | None) -> str:
    """The first line of untrusted text that is not blank, escaped."""
    return escape_line((text or "").strip().partition("\n")[0])


def _spell(character: str) -> str:
    # Imported late: most text has nothing to spell out, and the table of Unicode is large.
    import unicodedata

    if character in _JOINERS or unicodedata.category(character) not in _STEERING:
        return character
    return character.encode("unicode_escape").decode("ascii")


def shorten_path(path: str, *, cwd: str | None = None, home: str | None = None) -> str:
    """A path as people write it: relative to the working folder, or with `~`; escaped."""
    for folder, short in ((cwd, ""), (home, "~/")):
        if not folder or folder == "/":
            continue
        if path == folder:
            return short.rstrip("/") or "."
        if path.startswith(f"{folder}/"):
            return escape_line(short + path[len(folder) + 1 :])
    return escape_line(path)


def count_words(number: int, noun: str) -> str:
    """`1 error`, `2 errors`, `1,200 skills`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
