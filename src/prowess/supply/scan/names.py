"""The rule about names that look like others: letters of another script, and misspelt hosts."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator

from prowess.diagnostics import Severity
from prowess.supply.scan.addresses import find_host
from prowess.supply.scan.confusables import find_letter, fold
from prowess.supply.scan.rule import Kind, Match, Passage, Rule

_WORD = re.compile(r"[^\W\d_]{3,60}")
_URL = re.compile(r"https?://[^\s'\"`<>|)\]}]{1,2000}", re.IGNORECASE)
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
_ASCII_LOOKALIKES = str.maketrans("01358", "olesb")


def _is_accent(character: str) -> bool:
    return unicodedata.combining(character) != 0


def _skeleton(host: str) -> str:
    """A host as it looks at a glance: digits as letters, `rn` as `m`, `vv` as `w`."""
    bare = "".join(one for one in unicodedata.normalize("NFKD", host) if not _is_accent(one))
    plain = fold(bare).lower().translate(_ASCII_LOOKALIKES)
    return plain.replace("rn", "m").replace("vv", "w").replace("i", "l").replace("-", "")


_BY_SKELETON = {_skeleton(host): host for host in _KNOWN}


def _match_lookalike(passage: Passage) -> Iterator[Match]:
    if passage.kind is Kind.NAME:
        yield from _match_name(passage)
        return
    if not passage.text.isascii():
        yield from _match_words(passage)
    for found in _URL.finditer(passage.text):
        real = _find_imitated(find_host(found[0]))
        if real is not None:
            reason = f"The host of “{found[0][:80]}” looks like {real} but is not."
            yield Match(passage.find_line(found.start()), reason, Severity.ERROR)


def _match_name(passage: Passage) -> Iterator[Match]:
    """A name is written in ASCII; one that only looks so is a trick, in whatever script."""
    name = passage.text
    looks = fold(unicodedata.normalize("NFKC", name))
    if not name.isascii() and looks.isascii():
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
    foreign = [one for one in word if not one.isascii()]
    latin = [one for one in word if one.isascii()]
    if len(latin) < 2 or not foreign:
        return False
    names = [unicodedata.name(one, "") for one in foreign]
    is_other = all(name.startswith(("CYRILLIC", "GREEK", "CHEROKEE", "ARMENIAN")) for name in names)
    return is_other and all(find_letter(one) is not None for one in foreign)


def _find_imitated(host: str) -> str | None:
    """The known host that another one imitates; None if it imitates none."""
    if not host:
        return None
    if host.startswith("xn--") or ".xn--" in host:
        try:
            host = host.encode("ascii").decode("idna")
        except UnicodeError:
            # Not a name that a resolver would look up.
            return None
    parts = host.split(".")
    for count in (2, 3):
        whole = ".".join(parts[-count:])
        real = _BY_SKELETON.get(_skeleton(whole))
        if real is not None and whole != real:
            return real
    near = ".".join(parts[-2:])
    return next((real for real in _KNOWN if _is_typo(near, real)), None)


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
    return longer[:at] + longer[at + 1 :] == shorter


RULES = (
    Rule(
        code="lookalike-name",
        severity=Severity.WARNING,
        summary="A name looks like another one but is not.",
        hint="Write it in plain ASCII letters, and check where it leads.",
        reads=(Kind.NAME, Kind.FILE),
        match=_match_lookalike,
    ),
)
