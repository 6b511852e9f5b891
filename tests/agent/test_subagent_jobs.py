"""Sub-agents as jobs at awkward moments, with jobs that a test decides about."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from prowess.agent import Limits, Session
from prowess.agent.background import BackgroundTasks
from prowess.agent.events import Event, TaskFinished, ToolFinished, ToolStarted, Warned
from prowess.agent.jobs.values import JobLook, JobResult, Question, TurnSpec
from prowess.agent.session_file import SessionFile, load_session
from prowess.agent.toolset import NoCallLog
from prowess.agent.turn import LoopResult
from prowess.errors import MachineError
from prowess.model.permission import UNANSWERED, ApprovalAnswer, ApprovalRequest
from prowess.runtime import Skills
from tests.agent.studio import SLOW, Studio, pick, say
from tests.agent.test_background import list_prompts, start


class FakeJobs:
    """Jobs that never end by themselves, and what was done with them."""

    def __init__(self) -> None:
        self.specs: dict[str, TurnSpec] = {}
        self.results: dict[str, JobResult] = {}
        self.questions: tuple[Question, ...] = ()
        self.answers: list[ApprovalAnswer] = []
        self.on_look: Callable[[str], object] = lambda id: None
        self.may_start = threading.Event()
        self.may_start.set()
        self.starting = threading.Event()

    def start(self, id: str, spec: TurnSpec) -> None:
        self.starting.set()
        assert self.may_start.wait(60)
        self.specs[id] = spec

    def look(self, id: str, *, seen: int) -> JobLook | None:
        if id not in self.specs:
            return None
        self.on_look(id)
        return JobLook((), self.questions, self.results.get(id))

    def answer(self, question: Question, answer: ApprovalAnswer) -> None:
        self.answers.append(answer)

    def cancel(self, id: str) -> None:
        if id in self.specs:
            self.finish(id, "interrupted", "it was cancelled")

    def finish(self, id: str, status: Any = "done", reason: str = "") -> None:
        answer = "Found." if status == "done" else ""
        self.results[id] = JobResult(status=status, answer=answer, reason=reason)

    def close(self) -> None:
        pass


@pytest.fixture
def jobs() -> FakeJobs:
    return FakeJobs()


def apart(studio: Studio) -> None:
    studio.skill("apart", "Find it.\n", context="fork", background="true", description="Finds.")


def find_states(jobs: FakeJobs) -> list[str]:
    return [jobs.results[id].reason if id in jobs.results else "works" for id in jobs.specs]


@pytest.mark.slow
def test_an_interrupt_while_a_job_is_added_ends_it(studio: Studio, jobs: FakeJobs) -> None:
    session = studio.open(start(), say("Never."), jobs=jobs)
    jobs.may_start.clear()

    def stop() -> None:
        assert jobs.starting.wait(60)
        session.interrupt()
        # Longer than a cancelled call waits for its thread.
        threading.Timer(1.5, jobs.may_start.set).start()

    thread = threading.Thread(target=stop)
    thread.start()
    ended = session.run("Do it.")
    thread.join()
    assert ended.status == "interrupted"
    assert find_states(jobs) == ["it was cancelled"]


def test_one_who_interrupts_and_reads_no_more_ends_the_job(studio: Studio, jobs: FakeJobs) -> None:
    session = studio.open(start(), say("I wait."), jobs=jobs)

    async def play() -> None:
        async for event in (events := session.send("Do it.")):
            if isinstance(event, ToolFinished):
                session.interrupt()
                await events.aclose()

    asyncio.run(play())
    assert find_states(jobs) == ["it was cancelled"]


def test_one_who_only_reads_no_more_leaves_the_job(studio: Studio, jobs: FakeJobs) -> None:
    session = studio.open(start(), say("I wait."), jobs=jobs)

    async def play() -> None:
        async for event in (events := session.send("Do it.")):
            if isinstance(event, ToolFinished):
                await events.aclose()

    asyncio.run(play())
    assert find_states(jobs) == ["works"]


def test_a_task_that_ends_before_it_has_begun_is_still_ended() -> None:
    ended: list[str] = []

    async def wait() -> LoopResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("job")
        return LoopResult()

    async def play() -> None:
        events: list[Event] = []
        tasks = BackgroundTasks("", report=lambda text: None, emit=events.append, log=NoCallLog())
        tasks.follow("1", "apart", wait)
        await tasks.end()

    asyncio.run(play())
    assert ended == ["job"]


def test_one_that_cannot_be_cancelled_reports_later(studio: Studio, jobs: FakeJobs) -> None:
    def fail(id: str) -> None:
        raise MachineError("reach the database", "jobs.db", "it is locked")

    jobs.cancel = fail  # type: ignore[method-assign]
    session = studio.open(start(), say("I wait."), say("Fine."), jobs=jobs)
    events: list[Event] = []

    def look(event: Event) -> None:
        events.append(event)
        if isinstance(event, ToolFinished):
            session.interrupt()

    session.run("Do it.", on_event=look)
    (job,) = jobs.specs
    (warning,) = pick(events, Warned)
    assert (warning.code, job in warning.message) == ("task-not-followed", True)
    # Nobody knows how it will end, so nothing is said of that.
    assert pick(events, TaskFinished) == []
    assert session.waiting_jobs == {job: "general-purpose"}
    jobs.finish(job)
    session.run("And now?")
    assert any("Found." in one for one in list_prompts(list(session.messages)))
    assert session.waiting_jobs == {}


def test_nothing_left_is_no_new_limit(studio: Studio, jobs: FakeJobs) -> None:
    ended = studio.open(start(), say("Never."), jobs=jobs, limits=Limits(turns=1)).run("Do it.")
    assert ended.status == "budget"
    (spec,) = jobs.specs.values()
    assert spec.max_turns == 0
    assert find_states(jobs) == ["it was cancelled"]


def test_what_a_program_trusts_by_itself_keeps_a_sub_agent_there(
    studio: Studio, jobs: FakeJobs
) -> None:
    child = {"agent": "general-purpose"}
    model = studio.script(start(), {**say("Red."), **child}, say("I wait."), say("Done."))
    skills = Skills.open(str(studio.project), host="prowess", facts=studio.facts, trust=False)
    with Session(skills, model=model, jobs=jobs) as session:
        ended = session.run("Do it.")
    assert (ended.status, ended.answer) == ("done", "Done."), ended.reason
    assert jobs.specs == {}


def test_one_that_is_still_being_added_is_not_reported_as_lost(
    studio: Studio, jobs: FakeJobs
) -> None:
    apart(studio)
    rules = {"allow": ["Bash"]}
    session = studio.open(SLOW, say("One."), say("Two."), jobs=jobs, rules=rules)

    async def play() -> None:
        jobs.may_start.clear()
        queued: asyncio.Task[Any] | None = None
        async for event in session.send("Do it."):
            if isinstance(event, ToolStarted):
                queued = asyncio.create_task(session.queue("/apart"))
                while not jobs.starting.is_set():
                    await asyncio.sleep(0.01)
                studio.let_go()
        assert queued is not None
        assert not queued.done()
        async for _ in session.send("And now?"):
            pass
        jobs.may_start.set()
        await queued

    asyncio.run(play())
    (job,) = jobs.specs
    assert session.waiting_jobs == {job: "apart"}
    assert not any("task_report" in one for one in list_prompts(list(session.messages)))


def test_a_cleared_session_waits_for_no_job_also_on_disk(studio: Studio, jobs: FakeJobs) -> None:
    session = studio.open(say("One."), say("Two."), jobs=jobs)
    session.run("one")
    session._transcript.note_job("1116-1", "apart")
    session.clear()
    assert session.waiting_jobs == {}
    session._transcript.note_job("1116-2", "later")
    session.close()
    assert load_session(studio.facts, session.id).jobs == {"1116-2": "later"}


def test_a_compacted_session_still_waits_for_its_jobs(studio: Studio, jobs: FakeJobs) -> None:
    session = studio.open(say("One."), {"agent": "compaction", "text": "In short."}, jobs=jobs)
    session.run("one")
    session._transcript.note_job("1116-1", "apart")
    assert session.run("/compact").status == "done"
    session.close()
    assert load_session(studio.facts, session.id).jobs == {"1116-1": "apart"}


def test_a_terminal_that_is_gone_refuses_nothing(studio: Studio, jobs: FakeJobs) -> None:
    jobs.questions = (Question(id="1", job="1", title="Go on?"),)

    class Gone:
        """An approver whose terminal is closed while it asks."""

        def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
            session.leave()
            return UNANSWERED

    session = studio.open(start(), say("I wait."), jobs=jobs, approver=Gone())
    events: list[Event] = []
    session.run("Do it.", on_event=events.append)
    assert [one.code for one in pick(events, Warned)] == ["task-goes-on"]
    assert jobs.answers == []


def test_a_question_that_nobody_here_can_answer_stays_open(studio: Studio, jobs: FakeJobs) -> None:
    # What was under way when a worker died is asked about, whoever started the job.
    jobs.questions = (Question(id="1", job="1", title="Go on?"),)
    session = studio.open(start(), say("I wait."), jobs=jobs)
    events: list[Event] = []
    ended = session.run("Do it.", on_event=events.append)
    (job,) = jobs.specs
    assert [one.code for one in pick(events, Warned)] == ["task-waits"]
    assert (ended.status, f"`prowess jobs approve {job}`" in ended.reason) == ("refused", True)
    assert (jobs.answers, find_states(jobs)) == ([], ["works"])
    assert session.waiting_jobs == {job: "general-purpose"}


def test_a_kill_before_the_answer_is_kept_loses_nothing(
    studio: Studio, jobs: FakeJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart(studio)
    jobs.on_look = jobs.finish
    session = studio.open(say("Never."), jobs=jobs)

    def fail(self: SessionFile, messages: bytes) -> None:
        raise MachineError("write", self.path, "the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(SessionFile, "note_messages", fail)
        session.run("/apart")
    session.close()
    (job,) = jobs.specs
    assert load_session(studio.facts, session.id).jobs == {job: "apart"}


def test_a_session_that_goes_on_without_jobs_says_whose_report_does_not_come(
    studio: Studio,
) -> None:
    session = studio.open(say("Hello."))
    session.run("Go.")
    session._transcript.note_job("1116-1", "apart")
    session.close()
    events: list[Event] = []
    saved = load_session(studio.facts, session.id)
    studio.open(say("Fine."), resume=saved).run("And now?", on_event=events.append)
    (warning,) = [one for one in events if isinstance(one, Warned)]
    assert (warning.code, "`prowess jobs show 1116-1`" in warning.message) == (
        "task-not-followed",
        True,
    )
