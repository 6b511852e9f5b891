"""A plain match of words, for finding skills where there is no search index."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prowess.model.skill import Skill

_WORD = re.compile(r"\w+")
# Scripts without spaces: a run of such characters is compared by its pairs.
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_IN_NAME = 3.0
# Shorter beginnings are shared by words that have nothing to do with each other.
_SHORTEST_STEM = 4


class WordRanker:
    """A `Ranker` that counts the words of a query in names and descriptions.

    A word of the name counts three times. Long words also match as the beginning of others, so
    that `migrate` finds `migrations`.
    """

    def score(self, query: str, skills: Sequence[Skill]) -> Sequence[float]:
        """How well each skill fits, in the order of the skills; 0 is not at all."""
        wanted = _list_words(query)
        return [_score(wanted, skill) for skill in skills]


def _score(wanted: frozenset[str], skill: Skill) -> float:
    in_name = _count_matches(wanted, _list_words(skill.name))
    texts = (skill.description or "", skill.declared.when_to_use or "")
    in_text = _count_matches(wanted, _list_words(" ".join(texts)))
    return _IN_NAME * in_name + in_text


def _list_words(text: str) -> frozenset[str]:
    folded = text.casefold().replace("_", " ")
    words = _WORD.findall(_DENSE.sub(" ", folded))
    for run in _DENSE.findall(folded):
        # A run of a single character is its own pair.
        starts = range(max(len(run) - 1, 1))
        words += [run[start : start + 2] for start in starts]
    return frozenset(words)


def _count_matches(wanted: frozenset[str], words: frozenset[str]) -> int:
    exact = wanted & words
    similar = [word for word in wanted - exact if _shares_stem(word, words)]
    return len(exact) + len(similar)


def _shares_stem(word: str, words: frozenset[str]) -> bool:
    """Whether one of the words has the same stem: all but the last letters."""
    if len(word) < _SHORTEST_STEM:
        return False
    stem = word[: max(_SHORTEST_STEM, len(word) - 3)]
    return any(other.startswith(stem) for other in words)
