"""The rule about names that look like others: letters of another script, and misspelt hosts."""

from __future__ import annotations

import itertools
import posixpath
import re
import unicodedata
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.addresses import WEB_ADDRESS, find_host
from prowess.supply.scan.confusables import find_letter, fold
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

_WORD = re.compile(r"[^\W\d_]{3,60}")
# Hosts that people run programs from, and sign in to.
_NAMES_BY_END = {
    "com": "github githubusercontent gitlab npmjs docker google googleapis microsoft azure"
    " amazonaws amazon apple anthropic openai chatgpt cloudflare vercel paypal stripe slack"
    " discord",
    "org": "bitbucket npmjs pypi pythonhosted python nodejs rust-lang golang",
    "io": "docker crates",
    "ai": "claude",
    "co": "huggingface",
    "sh": "astral brew",
}
_KNOWN = tuple(f"{name}.{end}" for end, names in _NAMES_BY_END.items() for name in names.split())
_LEAST_LETTERS = 6
_OTHER_SCRIPTS = frozenset(("CYRILLIC", "GREEK", "CHEROKEE", "ARMENIAN"))
_ASCII_LOOKALIKES = str.maketrans("01358", "olesb")


def _is_accent(character: str) -> bool:
    return unicodedata.combining(character) != 0


def _skeleton(host: str) -> str:
    """A host as it looks at a glance: digits as letters, `rn` as `m`, `vv` as `w`."""
    decomposed = unicodedata.normalize("NFKD", host)
    bare = "".join(itertools.filterfalse(_is_accent, decomposed))
    plain = fold(bare).lower().translate(_ASCII_LOOKALIKES)
    return plain.replace("rn", "m").replace("vv", "w").replace("i", "l").replace("-", "")


_BY_SKELETON = {_skeleton(host): host for host in _KNOWN}


def _match_lookalike(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.NAME:
        yield from _match_name(passage)
        return
    if not passage.text.isascii():
        yield from _match_words(passage)
    for url in WEB_ADDRESS.finditer(passage.text):
        real = _find_imitated(find_host(url[0]))
        if real is not None:
            reason = f"The host of “{url[0][:80]}” looks like {real} but is not."
            yield Match(passage.find_line(url.start()), reason, Severity.ERROR)


def _match_name(passage: Passage) -> Iterator[Match]:
    """A name is written in ASCII; one that only looks so is a trick, in whatever script."""
    name = passage.text
    if name.isascii():
        return
    looks = fold(unicodedata.normalize("NFKC", name))
    # A name in Greek stays one, however much of it is folded.
    if looks.isascii():
        yield Match(passage.line, f"The name “{name}” looks like “{looks}” but is not.")


def _match_words(passage: Passage) -> Iterator[Match]:
    for found in _WORD.finditer(passage.text):
        word = found[0]
        if word.isascii() or not _mixes_scripts(word):
            continue
        reason = f"“{word}” mixes letters of two scripts and looks like “{fold(word)}”."
        yield Match(passage.find_line(found.start()), reason)


def _mixes_scripts(word: str) -> bool:
    """Whether a word of Latin letters has some of another script that look like Latin ones."""
    foreign = [letter for letter in word if not letter.isascii()]
    latin_count = len(word) - len(foreign)
    if latin_count < 2 or not foreign:
        return False
    return all(map(_passes_for_latin, foreign))


def _passes_for_latin(letter: str) -> bool:
    """Whether a letter of another script looks like a Latin one; accents are no other script."""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return script in _OTHER_SCRIPTS and find_letter(letter) is not None


def _find_imitated(host: str) -> str | None:
    """The known host that another one imitates; None if it imitates none."""
    shown = _decode_host(host)
    if not shown:
        return None
    # The owner of the last two labels owns everything before them.
    registered = ".".join(shown.split(".")[-2:])
    real = _BY_SKELETON.get(_skeleton(registered))
    if real is not None and registered != real:
        return real
    return next((real for real in _KNOWN if _is_typo(registered, real)), None)


def _decode_host(host: str) -> str | None:
    """A host as browsers show it, with its letters in place of `xn--`; None if it is no host."""
    if not host.startswith("xn--") and ".xn--" not in host:
        return host
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        # Not a name that a resolver would look up.
        return None


def _is_typo(name: str, real: str) -> bool:
    """Whether two neighbouring letters are swapped, or one letter is doubled or left out."""
    own, _, end = name.rpartition(".")
    known, _, known_end = real.rpartition(".")
    if end != known_end or own == known:
        return False
    # Short names are close to each other by chance.
    if len(known) < _LEAST_LETTERS or abs(len(own) - len(known)) > 1:
        return False
    at = len(posixpath.commonprefix((own, known)))
    if len(own) == len(known):
        swapped = known[at + 1 : at + 2] + known[at : at + 1]
        return own == known[:at] + swapped + known[at + 2 :]
    shorter, longer = sorted((own, known), key=len)
    without_letter = longer[:at] + longer[at + 1 :]
    return without_letter == shorter


RULES = (
    ScanRule(
        code="lookalike-name",
        severity=Severity.WARNING,
        summary="A name looks like another one but is not.",
        hint="Write it in plain ASCII letters, and check where it leads.",
        reads=(Kind.NAME, Kind.FILE),
        match=_match_lookalike,
    ),
)
