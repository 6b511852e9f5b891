"""Which skill fits a request, by words alone."""

from __future__ import annotations

import pytest

from prowess.agent.skill_match import match_skills
from prowess.present.word_match import WordRanker


@pytest.mark.parametrize(
    ("request_text", "best", "words"),
    [
        ("Please write the release notes", "release-notes", ("write", "release", "notes")),
        ("fill in this PDF form", "pdf", ("pdf", "form")),
        ("help me with filling forms", "pdf", ("filling", "forms")),
        ("看看今天的天气", "weather", ("看看今天的天气",)),
    ],
)
def test_the_skill_that_shares_the_rarest_words_comes_first(workspace, request_text, best, words):
    for name, description in (
        ("release-notes", "Writes notes for a release."),
        ("pdf", "Fills in forms of PDF files."),
        ("weather", "看今天的天气。"),
        ("files", "Works with files."),
    ):
        workspace.skill(f"project/.agents/skills/{name}", description=description)
    found = match_skills(request_text, workspace.open().snapshot.skills, WordRanker())
    assert (found[0].skill.name, set(words) <= set(found[0].words)) == (best, True)


def test_a_request_that_shares_no_word_fits_nothing(workspace):
    workspace.skill("project/.agents/skills/pdf", description="Fills in forms.")
    assert (
        match_skills("what is the time for you", workspace.open().snapshot.skills, WordRanker())
        == []
    )
    assert match_skills("", workspace.open().snapshot.skills, WordRanker()) == []
