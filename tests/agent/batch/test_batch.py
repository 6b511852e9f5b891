"""`batch` with real git: phases, branches, commits, merges, and kills in between."""

from __future__ import annotations

import json
import random
import time

import pytest

from prowess.agent.batch.command import start_batch
from prowess.agent.batch.plan import PlanError, parse_plan
from prowess.errors import UsageError
from prowess.model.permission import ApprovalAnswer, ApprovalChoice
from tests.agent.batch.conftest import ONCE, Works


def make_plan(count: int, **changed: object) -> str:
    units: list[dict[str, object]] = [
        {"title": f"Unit {n}", "files": [f"f{n}"], "steps": ["Do it."], "check": "true"}
        for n in range(1, count + 1)
    ]
    units[-1].update(changed)
    return "```json\n" + json.dumps({"units": units}) + "\n```"


@pytest.mark.seed("C-126")
@pytest.mark.parametrize("count", [5, 30])
def test_a_plan_has_5_to_30_units(count: int) -> None:
    assert len(parse_plan(make_plan(count)).units) == count


@pytest.mark.seed("C-126")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (make_plan(4), "has 4 units; there must be 5 to 30"),
        (make_plan(31), "has 31 units; there must be 5 to 30"),
        (make_plan(5, files=["f1"]), "“Unit 1” and “Unit 5” both change f1"),
        (make_plan(5, files=["./f1"]), "both change f1"),
        (make_plan(5, check=" "), "“Unit 5” needs a `check`"),
        (make_plan(5, steps=[]), "needs at least one entry in `steps`"),
        (make_plan(5, title=""), "needs a `title`"),
        ("I would do it so.", "is not in the requested JSON format"),
        ('{"units": "\ud800"}', "is not in the requested JSON format"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        parse_plan(text)


@pytest.mark.slow
@pytest.mark.seed("C-114", "C-124", "C-125", "C-126", "C-127", "C-128", "C-129")
def test_a_batch_goes_through_its_phases_and_leaves_branches_and_a_text(works: Works) -> None:
    base = works.git("rev-parse", "HEAD")
    id = works.add()
    with works.yard.worker():
        (question,) = works.yard.wait_for(id, "waiting").questions
        # The first plan had four units; it was refused, and the second one is shown.
        assert question.title.startswith("Start work on these 6 units?")
        assert " 1. Rename get_level in cuxhaven and helgoland" in question.details
        assert works.branches() == ["main"], "nothing happens before the plan is approved"
        works.yard.jobs.answer(id, ONCE)
        job = works.finish(id)
    assert (job.state, job.reason) == ("done", ""), job
    parts = works.yard.jobs.list_parts(id)
    assert [(one.kind, one.state) for one in parts] == [("unit", "done")] * 6
    # A branch for each unit with one commit of its own, and one with all.
    units = sorted(branch for branch in works.branches() if "rename" in branch)
    assert len(units) == 6
    for branch in units:
        subject, _, body = works.git("log", "--format=%s%n%b", f"{base}..{branch}").partition("\n")
        assert subject.startswith("Rename get_level in ")
        assert body.startswith(f"Prowess-Job: {id}.")
    whole = f"batch/{id}/all"
    assert "def get_level" not in works.files_on(whole)
    assert works.files_on(whole).count("def read_level") == 12
    assert works.git("log", "--format=%s", "--merges", f"{base}..{whole}").count("Merge") == 6
    # The user's own checkout is as it was; worktrees are gone; the check left nothing behind.
    assert works.git("rev-parse", "HEAD", "main") == f"{base}\n{base}"
    assert works.git("status", "--porcelain") == ""
    assert len(works.worktrees()) == 1
    assert works.worktree_folders() == []
    assert "pyc" not in works.git("ls-tree", "-r", "--name-only", whole)
    # The unit that failed its check was tried again with what went wrong.
    row = next(line for line in job.answer.splitlines() if line.startswith("| 4 "))
    assert "| done | 2 |" in row
    text = (works.project / f".git/prowess/{id}/pull-request-1.md").read_text()
    assert text.startswith("# Rename get_level to read_level everywhere.")
    assert "nothing was pushed" in job.answer


@pytest.mark.slow
def test_a_plan_that_is_not_approved_changes_nothing(works: Works) -> None:
    id = works.add()
    with works.yard.worker():
        works.yard.wait_for(id, "waiting")
        no = ApprovalAnswer(ApprovalChoice.REJECT, "Too many.")
        works.yard.jobs.answer(id, no)
        job = works.finish(id)
    assert (job.state, job.reason) == ("refused", "Too many.")
    assert (works.branches(), works.worktree_folders()) == (["main"], [])


@pytest.mark.slow
@pytest.mark.seed("C-128")
def test_a_unit_that_fails_is_left_with_its_reason_and_conflicts_stay_on_their_branch(
    works: Works,
) -> None:
    lines = [one for one in works.lines if one.get("agent") not in ("unit-2", "unit-4-2", "unit-6")]
    # The second never changes anything; the sixth also changes what belongs to the first.
    idle = [{"agent": f"unit-2{tail}", "text": "Nothing."} for tail in ("", "-2", "-3")]
    edit = {
        "file_path": "stations/cuxhaven.py",
        "old_string": "def get_level(",
        "new_string": "def f(",
    }
    sixth = next(one for one in works.lines if one.get("agent") == "unit-6")
    greedy = [
        {**sixth, "calls": [*sixth["calls"], {"tool": "Edit", "input": edit}]},
        {"agent": "unit-6", "text": "Done."},
    ]
    # The fourth has no answer for its second attempt.
    id = works.add(*lines, *idle, *greedy)
    with works.yard.worker():
        works.approve(id)
        job = works.finish(id)
    assert (job.state, job.reason) == ("failed", "3 of 6 units were not merged")
    rows = [line for line in job.answer.splitlines() if line.startswith("| ")][1:]
    assert "| failed | 3 |  | The agent changed nothing." in rows[1]
    assert "| failed | 3 |" in rows[3]
    assert "conflicts in stations/cuxhaven.py" in rows[5]
    left = next(branch for branch in works.branches() if "/06-" in branch)
    assert "def f(" in works.files_on(left)
    assert works.files_on(f"batch/{id}/all").count("def read_level") == 6
    assert not [one for one in works.branches() if "/02-" in one or "/04-" in one]
    assert works.worktree_folders() == []


def test_a_batch_needs_a_task_a_repository_a_clean_checkout_and_a_model(works: Works) -> None:
    with pytest.raises(UsageError, match="Add the task: `/batch TASK`"):
        works.add(task="  ")
    with pytest.raises(UsageError, match="No model is configured"):
        start_batch(works.skills(), "x", start_worker=False)
    (works.project / "new.py").write_text("x\n")
    with pytest.raises(UsageError, match=r"has uncommitted changes \(new.py\)"):
        works.add()
    (works.project / "new.py").unlink()
    works.git("update-ref", "-d", "HEAD")
    works.git("rm", "-rqf", "--cached", ".")
    with pytest.raises(UsageError, match=r"uncommitted changes|no commits yet"):
        works.add()
    assert works.yard.jobs.is_empty


@pytest.mark.slow
@pytest.mark.seed("C-127")
def test_whenever_workers_are_killed_every_unit_is_committed_once(works: Works) -> None:
    base = works.git("rev-parse", "HEAD")
    id = works.add()
    chance = random.Random(5)
    for _ in range(8):
        pid = works.yard.start(concurrency=3)
        until = time.monotonic() + chance.uniform(1.0, 4.0)
        while time.monotonic() < until:
            answer_all(works)
            time.sleep(0.1)
        works.yard.end(pid)
    with works.yard.worker():
        deadline = time.monotonic() + 600
        while works.yard.jobs.get(id).state not in ("done", "failed"):
            assert time.monotonic() < deadline, (
                works.yard.jobs.list_jobs(every=True),
                works.yard.log(),
            )
            answer_all(works)
            time.sleep(0.2)
    job = works.yard.jobs.get(id)
    assert (job.state, job.reason) == ("done", ""), job
    for branch in (one for one in works.branches() if "rename" in one):
        assert works.git("rev-list", "--count", f"{base}..{branch}") == "1"
    assert works.files_on(f"batch/{id}/all").count("def read_level") == 12
    assert works.worktree_folders() == []
    assert works.git("status", "--porcelain") == ""


def answer_all(works: Works) -> None:
    if works.yard.jobs.is_empty:
        return
    for question in works.yard.jobs.database.questions.list_open():
        works.yard.jobs.database.questions.answer(question.id, ONCE)
