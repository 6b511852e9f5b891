"""From a decision to a yes or no: who is asked, what is remembered, and when it no longer counts."""

from __future__ import annotations

import msgspec
import pytest

from prowess.errors import MachineError
from prowess.gate.approvals import Approvals, MemoryApprovals, Permit
from prowess.gate.permissions import request_skill
from prowess.model.permission import (
    Action,
    Approval,
    ApprovalAnswer,
    ApprovalChoice,
    ApprovalRequest,
    Decision,
)
from prowess.ports import ApprovalStore

ASK = Decision(Action.ASK, "the rule `skill: ask` requires approval")
HERE = "/p/.claude/skills/pdf/SKILL.md"
BY_PERSON = Permit(granted=True, by="person", reason="it was approved permanently")
REMEMBERED = Permit(
    granted=True, by="approval", reason="it is already approved and has not changed"
)


class Person:
    """An `Approver` who has made up their mind, and remembers what they were asked."""

    def __init__(self, reply: ApprovalChoice, feedback: str | None = None) -> None:
        self.answer = ApprovalAnswer(reply, feedback)
        self.asked: list[ApprovalRequest] = []

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return self.answer


def approvals(store: ApprovalStore | None = None) -> Approvals:
    return Approvals(store, now=lambda: "2026-11-15")


def settle(
    kept: Approvals,
    person: Person | None,
    *,
    name: str = "pdf",
    decision: Decision = ASK,
    digest: str = "sha256:1",
    location: str = HERE,
) -> Permit:
    return kept.settle(
        request_skill(name), decision, location=location, digest=digest, approver=person
    )


@pytest.mark.parametrize(("action", "granted"), [(Action.ALLOW, True), (Action.DENY, False)])
def test_what_a_rule_decides_is_not_asked(action: Action, granted: bool) -> None:
    person = Person(ApprovalChoice.ALWAYS)
    permit = settle(approvals(), person, decision=Decision(action, "a rule says so"))
    assert permit == Permit(granted=granted, by="rule", reason="a rule says so")
    assert person.asked == []


@pytest.mark.seed("O-40", "O-41")
def test_the_person_is_asked_for_the_name_and_told_what_always_covers() -> None:
    person = Person(ApprovalChoice.ONCE)
    assert settle(approvals(), person) == Permit(
        granted=True, by="person", reason="it was approved once"
    )
    (asked,) = person.asked
    assert asked.key
    assert msgspec.structs.replace(asked, key="") == ApprovalRequest(
        permission="skill", patterns=("pdf",), always=("pdf",), metadata={}
    )


@pytest.mark.seed("O-41")
def test_always_is_remembered_for_that_name_only_and_once_is_not() -> None:
    kept = approvals()
    settle(kept, Person(ApprovalChoice.ONCE))
    person = Person(ApprovalChoice.ALWAYS)
    assert [settle(kept, person), settle(kept, person), settle(kept, person, name="deploy")] == [
        BY_PERSON,
        REMEMBERED,
        BY_PERSON,
    ]
    assert [request.patterns for request in person.asked] == [("pdf",), ("deploy",)]


def test_a_rejection_carries_the_feedback_and_is_not_remembered() -> None:
    kept, person = approvals(), Person(ApprovalChoice.REJECT, "use the other one")
    rejected = Permit(
        granted=False, by="person", reason="it was rejected", feedback="use the other one"
    )
    assert [settle(kept, person), settle(kept, person)] == [rejected, rejected]
    assert len(person.asked) == 2


def test_where_nobody_can_be_asked_the_answer_is_no() -> None:
    assert settle(approvals(), None) == Permit(
        granted=False,
        by="nobody",
        reason="the rule `skill: ask` requires approval, and there is no one to ask",
    )


def test_a_changed_skill_is_asked_for_again_and_the_person_is_told_that_it_changed() -> None:
    kept, person = approvals(), Person(ApprovalChoice.ALWAYS)
    settle(kept, person)
    assert settle(kept, person, digest="sha256:2") == BY_PERSON
    assert [request.note for request in person.asked] == [
        None,
        "It has changed since it was approved (2026-11-15); approve it again.",
    ]
    assert settle(kept, person, digest="sha256:2") == REMEMBERED
    assert settle(kept, None, digest="sha256:1").granted is False


def test_an_approval_is_for_one_place_so_that_no_other_skill_takes_the_name_over() -> None:
    kept, person = approvals(), Person(ApprovalChoice.ALWAYS)
    settle(kept, person)
    settle(kept, person, location="/other/pdf/SKILL.md")
    assert [request.note for request in person.asked] == [None, None]


def test_the_approval_of_a_skill_called_star_covers_nothing_else() -> None:
    kept, person = approvals(), Person(ApprovalChoice.ALWAYS)
    settle(kept, person, name="*")
    assert settle(kept, None, name="pdf").granted is False


def test_a_denial_outweighs_an_approval() -> None:
    kept = approvals()
    settle(kept, Person(ApprovalChoice.ALWAYS))
    assert settle(kept, None, decision=Decision(Action.DENY, "no")).granted is False


class FullDisk(MemoryApprovals):
    def keep(self, approval: Approval) -> None:
        raise MachineError("write", "/state/approvals.json", "no space left on device")


def test_an_approval_that_cannot_be_written_holds_for_now_and_says_so() -> None:
    kept, person = approvals(FullDisk()), Person(ApprovalChoice.ALWAYS)
    assert settle(kept, person) == Permit(
        granted=True,
        by="person",
        reason="it was approved permanently",
        warning="The approval applies only until this program exits. Could not write /state/approvals.json: no space left on device.",
    )
    assert settle(kept, person) == REMEMBERED


def test_approvals_of_two_sessions_share_a_store() -> None:
    store = MemoryApprovals()
    settle(approvals(store), Person(ApprovalChoice.ALWAYS))
    assert settle(approvals(store), None) == REMEMBERED
