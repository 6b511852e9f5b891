"""A name or an address of any length costs one short sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from prowess.errors import ProwessError
from prowess.runtime import Skills
from prowess.sources import Files
from tests.workspace import skill_text

LONG = "x" * 5_000_000
MOST = 1_000


@pytest.fixture(scope="module")
def skills() -> Skills:
    return Skills.of(Files({"pdf/SKILL.md": skill_text("pdf")}))


@pytest.mark.parametrize(
    "ask",
    [
        lambda chat: chat.activate(LONG, by="model"),
        lambda chat: chat.activate(LONG),
        lambda chat: chat.read(f"skill://{LONG}"),
        lambda chat: chat.read(f"skill://pdf/{LONG}"),
        lambda chat: chat.read(f"skill://pdf/../{LONG}"),
        lambda chat: chat.read(f"skill://pdf/SKILL.md:{LONG}"),
        lambda chat: chat.read(f"skill://pdf/%{LONG}"),
        lambda chat: chat.read(LONG),
        lambda chat: chat.run_script("pdf", LONG),
        lambda chat: chat.run_script(LONG, "x.py"),
        lambda chat: Skills.of(host=LONG),
    ],
)
def test_what_was_asked_for_is_not_echoed(skills: Skills, ask: Callable[[Any], Any]) -> None:
    with pytest.raises(ProwessError) as caught:
        ask(skills.conversation())
    assert len(str(caught.value) + (caught.value.hint or "")) < MOST


def test_a_model_hears_one_short_sentence(skills: Skills) -> None:
    tool = skills.conversation().tool()
    answer = tool.answer({"name": LONG})
    assert (answer.is_error, len(answer.text) < MOST, "pdf" in answer.text) == (True, True, True)
