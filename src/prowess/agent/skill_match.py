"""Which skills fit a request, and by which of its words: for people, without a model."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import msgspec

from prowess.model.skill import Skill
from prowess.ports import Ranker

_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    "a an and are as at be by can do for from have help how i in is it its me my next of on or our"
    " please so that the their this to use used uses we what when which will with you your".split()
)


class SkillMatch(msgspec.Struct, frozen=True):
    """A skill, how well it fits a request, and the words of the request that it fits by."""

    skill: Skill
    score: float
    words: tuple[str, ...]


def match_skills(request: str, skills: Sequence[Skill], ranker: Ranker) -> list[SkillMatch]:
    """The skills that fit a request, best first. A word that fits few of them counts more."""
    scores = [0.0] * len(skills)
    words: list[list[str]] = [[] for _ in skills]
    asked = dict.fromkeys(_WORD.findall(request.casefold()))
    for word in (word for word in asked if word not in _COMMON):
        found = ranker.score(word, skills)
        weight = math.log(1 + len(skills) / max(sum(map(bool, found)), 1))
        for at, score in enumerate(found):
            scores[at] += score * weight
            words[at] += [word] if score else []
    matches = [
        SkillMatch(skill, score, tuple(shared))
        for skill, score, shared in zip(skills, scores, words, strict=True)
        if shared
    ]
    return sorted(matches, key=lambda match: (-match.score, match.skill.name))
