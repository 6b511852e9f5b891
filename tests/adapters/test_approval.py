"""Questions and answers of libraries that suspend a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.adapters.approval import (
    ApprovedCall,
    describe_question,
    read_answer,
    read_approval,
)
from prowess.errors import UsageError
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest

ASKED = ApprovalRequest(
    patterns=("anchor",), always=("anchor",), metadata={"skill": "anchor"}, key="k1"
)
OTHER = ApprovalRequest(patterns=("anchor",), always=("anchor",), key="k2")


def test_a_question_is_plain_data():
    assert json.loads(json.dumps(describe_question(ASKED))) == {
        "permission": "skill",
        "patterns": ["anchor"],
        "always": ["anchor"],
        "note": None,
        "metadata": {"skill": "anchor"},
        "key": "k1",
    }


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (True, ApprovalAnswer(ApprovalChoice.ONCE)),
        (False, ApprovalAnswer(ApprovalChoice.REJECT)),
        ("always", ApprovalAnswer(ApprovalChoice.ALWAYS)),
        (ApprovalAnswer(ApprovalChoice.ALWAYS), ApprovalAnswer(ApprovalChoice.ALWAYS)),
        ({"reply": "reject", "feedback": "Not here."}, ApprovalAnswer(ApprovalChoice.REJECT, "Not here.")),
        ({"reply": True, "key": "k1"}, ApprovalAnswer(ApprovalChoice.ONCE)),
        ({"reply": True, "key": "k0"}, ApprovalAnswer(ApprovalChoice.REJECT, "It has changed since it was approved.")),
    ],
)  # fmt: skip
def test_people_answer_in_many_ways(said: Any, answer: ApprovalAnswer):
    assert read_answer(said, ASKED) == answer


@pytest.mark.parametrize("said", [None, "yes please", 1, {}, {"reply": "perhaps"}, []])
def test_anything_else_is_no_answer(said: Any):
    with pytest.raises(UsageError, match="true, false, once, always or reject"):
        read_answer(said, ASKED)


def test_who_approves_a_call_has_seen_one_question():
    call = ApprovedCall()
    assert call.answer(ASKED).reply is ApprovalChoice.ONCE
    assert call.answer(OTHER).reply is ApprovalChoice.REJECT


def test_an_approval_that_names_its_questions_covers_them_alone():
    call = read_approval({"key": "k2", "answered": ["k1"], "reply": "always"})
    assert [call.answer(one).reply for one in (ASKED, OTHER)] == [ApprovalChoice.ALWAYS] * 2
    assert read_approval({"key": "k1"}).answer(OTHER).reply is ApprovalChoice.REJECT
    assert read_approval(None).answer(ASKED).reply is ApprovalChoice.ONCE
