"""Sub-agents in the background as jobs: they outlive their session, and report when it goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from pydantic_ai.messages import BinaryContent

from prowess.agent import Limits, Session
from prowess.agent.attachments import Attached
from prowess.agent.events import (
    Event,
    RequestFinished,
    TaskFinished,
    ToolFinished,
    TurnEnded,
    Warned,
)
from prowess.agent.jobs.client import Jobs
from prowess.agent.jobs.runner import StoredJobRunner, open_job_runner
from prowess.agent.jobs.turns import find_limits
from prowess.agent.jobs.values import FINISHED, SubagentSpec, TurnSpec
from prowess.agent.session_file import list_sessions, load_session
from prowess.agent.subagent_jobs import _list_images, restore_images
from prowess.errors import MachineError
from prowess.model.mcp import McpServer
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.model.settings import JobSettings
from tests.agent.jobs.conftest import Yard, wait_until
from tests.agent.studio import SLOW, Asked, Studio, call, pick, say
from tests.agent.test_background import CHILD, list_prompts, start
from tests.agent.test_session import Seen

pytestmark = pytest.mark.slow

STARTED = "Started in the background as "
APART = {"agent": "apart"}


def open_session(yard: Yard, *answers: Any, **options: Any) -> Session:
    """A session whose background sub-agents are jobs."""
    yard.studio.env = yard.env()
    runner = StoredJobRunner(yard.settings, yard.facts())
    return yard.studio.open(*answers, jobs=runner, **options)


def run(yard: Yard, *answers: Any, **options: Any) -> tuple[TurnEnded, list[Event]]:
    events: list[Event] = []
    text = options.pop("text", "Do it.")
    ended = open_session(yard, *answers, **options).run(text, on_event=events.append)
    return ended, events


def resume(yard: Yard, session: Session, model: Any, text: str = "And now?") -> list[Event]:
    """Go on with a session in another one; what happened."""
    events: list[Event] = []
    saved = load_session(yard.facts(), session.id)
    with contextlib.closing(open_session(yard, model=model, resume=saved)) as again:
        again.run(text, on_event=events.append)
    return events


def leave_at_work(yard: Yard) -> Session:
    """A session whose program ends while its sub-agent works; the file `go` lets that end."""
    answers = (start(), {**SLOW, **CHILD}, {**say("Red."), **CHILD}, say("Wait."))
    session = open_session(yard, *answers, rules={"allow": ["Bash"]})

    def is_at_work() -> bool:
        running = yard.jobs.list_running()
        return bool(running) and yard.jobs.database.sessions.find(running[0].id) is not None

    _leave_when(session, is_at_work)
    return session


def _leave_when(session: Session, is_so: Callable[[], bool]) -> None:
    """Send a prompt, and let the program end when it has come so far."""

    async def play() -> None:
        task = asyncio.create_task(_read(session))
        while not await asyncio.to_thread(is_so):
            assert not task.done()
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(play())
    session.close()


async def _read(session: Session) -> None:
    async for _ in session.send("Do it."):
        pass


def apart(studio: Studio, body: str = "Find it.\n", **fields: str) -> None:
    studio.skill("apart", body, context="fork", background="true", description="Finds.", **fields)


def test_a_skill_in_the_background_is_a_job_and_its_report_arrives(yard: Yard) -> None:
    apart(yard.studio)
    yard.studio.write("flag.txt", "red\n")
    with yard.worker():
        ended, events = run(
            yard,
            call("skill", name="apart"),
            {**call("Read", file_path="flag.txt"), **APART, "expect": ["Find it."]},
            {**say("Found."), **APART},
            {**say("Meanwhile."), "expect": [STARTED]},
            {**say("All done."), "expect": ["Found."]},
        )
    assert (ended.status, ended.answer) == ("done", "All done."), ended.reason
    (report,) = pick(events, TaskFinished)
    assert (report.name, report.status, report.output) == ("apart", "done", "Found.")
    # What happens in the job is shown and counted as if it happened here.
    assert [one.agent for one in pick(events, ToolFinished)] == ["", "apart"]
    assert ended.requests == len(pick(events, RequestFinished)) == 5
    (job,) = yard.jobs.list_jobs()
    assert (job.id, job.title, job.state, job.answer) == (report.task, "apart", "done", "Found.")


def test_the_session_of_a_job_is_not_the_one_to_continue(local: Yard) -> None:
    with local.worker():
        ended, _ = run(local, start(), {**say("Red."), **CHILD}, say("Wait."), say("Done."))
    assert ended.status == "done", ended.reason
    (job,) = local.jobs.list_jobs()
    assert job.title == "general-purpose: Look."
    both = list_sessions(local.facts())
    assert sorted(bool(one.header.job) for one in both) == [False, True]
    (own,) = list_sessions(local.facts(), with_jobs=False)
    assert own.title == "Do it."
    assert own.jobs == {}


def test_it_goes_on_when_its_session_is_left_and_reports_once(local: Yard) -> None:
    with local.worker():
        session = leave_at_work(local)
        (job,) = local.jobs.list_jobs()
        assert job.state == "running"
        assert load_session(local.facts(), session.id).jobs == {job.id: "general-purpose"}
        local.studio.let_go()
        local.wait(job.id)
    seen = Seen("Fine.")
    resume(local, session, seen.model)
    prompt = list_prompts(seen.messages[0])[-1]
    assert prompt.startswith(f'<task_report task="{job.id}" agent="general-purpose">\nRed.\n')
    assert prompt.endswith("And now?")
    # The model has it, so it is not told again.
    assert load_session(local.facts(), session.id).jobs == {}
    again = Seen("Fine.")
    resume(local, session, again.model, "More?")
    assert list_prompts(again.messages[0])[-1] == "More?"


def test_one_that_still_works_is_followed_when_its_session_goes_on(local: Yard) -> None:
    with local.worker():
        session = leave_at_work(local)
        (job,) = local.jobs.list_jobs()
        events: list[Event] = []
        saved = load_session(local.facts(), session.id)
        model = local.studio.script(
            say("I wait."), {**say("It is red."), "expect": ["Red."]}, name="again.jsonl"
        )
        again = open_session(local, model=model, resume=saved)

        def look(event: Event) -> None:
            events.append(event)
            if isinstance(event, RequestFinished):
                local.studio.let_go()

        ended = again.run("And now?", on_event=look)
    assert (ended.status, ended.answer) == ("done", "It is red."), ended.reason
    assert [one.task for one in pick(events, TaskFinished)] == [job.id]
    assert load_session(local.facts(), session.id).jobs == {}


def test_a_cleared_conversation_does_not_wait_for_the_jobs_before_it(local: Yard) -> None:
    seen = Seen("Fine.")
    with local.worker():
        session = leave_at_work(local)
        (job,) = local.jobs.list_jobs()
        events = resume(local, session, seen.model, "/clear")
        (warning,) = pick(events, Warned)
        assert (warning.code, job.id in warning.message) == ("task-not-followed", True)
        # The turn ends although the job has not.
        resume(local, session, seen.model, "And now?")
        assert local.jobs.get(job.id).state == "running"
        local.studio.let_go()
        (ended,) = local.wait(job.id)
    # Its answer is not lost.
    assert (ended.state, ended.answer) == ("done", "Red.")
    resume(local, session, seen.model, "More?")
    assert list_prompts(seen.messages[-1]) == ["And now?", "More?"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_a_program_that_ends_loses_nothing(local: Yard, number: int) -> None:
    answers = (start(), {**SLOW, **CHILD}, {**say("Red."), **CHILD}, say("I wait."))
    model = local.studio.script(*answers)
    with local.worker():
        _run_until(local, model, "I wait.", number)
        (job,) = local.jobs.list_jobs()
        assert job.state not in FINISHED
        local.studio.let_go()
        local.wait(job.id)
    (saved,) = list_sessions(local.facts(), with_jobs=False)
    seen = Seen("Fine.")
    open_session(local, model=seen.model, resume=saved).run("And now?")
    prompts = "\n".join(list_prompts(seen.messages[0]))
    assert "Red.\n</task_report>" in prompts
    # It is known how it ended, so nothing is said of unknown outcomes.
    assert "It is unknown" not in prompts


def test_ctrl_c_ends_the_job_of_a_program(local: Yard) -> None:
    answers = (start(), {**SLOW, **CHILD}, {**say("Red."), **CHILD}, say("I wait."))
    with local.worker():
        _run_until(local, local.studio.script(*answers), "I wait.", signal.SIGINT)
        (job,) = local.jobs.list_jobs()
        (ended,) = local.wait(job.id)
    assert ended.state == "cancelled"


def test_ctrl_c_ends_the_job_of_a_chat_without_a_terminal(local: Yard) -> None:
    answers = (start(), {**SLOW, **CHILD}, {**say("Red."), **CHILD}, say("I wait."))
    words = ("chat", "--json", "--model", local.studio.script(*answers), "--allow", "Bash")
    with local.worker():
        chat = subprocess.Popen(
            [sys.executable, "-m", "prowess", *words],
            cwd=local.studio.project,
            env=local.env(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert chat.stdin is not None
        assert chat.stdout is not None
        chat.stdin.write("Do it.\n")
        chat.stdin.flush()
        next(line for line in chat.stdout if "I wait." in line)
        chat.send_signal(signal.SIGINT)
        chat.stdout.read()
        chat.stdout.close()
        chat.stdin.close()
        assert chat.wait() == 130
        (job,) = local.jobs.list_jobs()
        (ended,) = local.wait(job.id)
    assert ended.state == "cancelled"


def _run_until(yard: Yard, model: str, shown: str, number: int) -> None:
    """Run `prowess run` until it shows a text, and end it with a signal."""
    words = ("run", "Do it.", "--json", "--model", model, "--allow", "Bash")
    program = subprocess.Popen(
        [sys.executable, "-m", "prowess", *words],
        cwd=yard.studio.project,
        env=yard.env(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    next(line for line in program.stdout if shown in line)
    program.send_signal(number)
    # What it prints until its end is read, or it could not end.
    program.stdout.read()
    program.stdout.close()
    program.wait()


def test_a_worker_that_dies_is_replaced_and_the_work_goes_on(local: Yard) -> None:
    pid = local.start()
    answers = (
        start(),
        {**call("Write", file_path="one.txt", content="1\n"), **CHILD},
        {**SLOW, **CHILD},
        {**say("Red."), **CHILD},
        say("I wait."),
        {**say("Done."), "expect": ["Red."]},
    )
    asked = Asked()

    def kill() -> None:
        wait_until((local.studio.project / "one.txt").exists)
        local.end(pid)
        local.studio.let_go()

    thread = threading.Thread(target=kill)
    thread.start()
    rules = {"allow": ["Bash", "Write"]}
    try:
        ended, events = run(local, *answers, rules=rules, approver=asked)
    finally:
        thread.join()
        _end_workers(local)
    assert (ended.status, ended.answer) == ("done", "Done."), ended.reason
    assert [one.output for one in pick(events, TaskFinished)] == ["Red."]
    (job,) = local.jobs.list_jobs()
    assert job.attempts > 1
    # Where the worker died in the middle of a call, the person at the session was asked about it.
    assert all("Check what they did" in one.metadata["title"] for one in asked.requests)


def _end_workers(yard: Yard) -> None:
    """End the workers that a session started."""
    for worker in yard.jobs.list_live_workers():
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)


def interrupt_once_started(yard: Yard) -> tuple[Session, list[Event]]:
    """Interrupt a session as soon as its model knows that the sub-agent was started."""
    answers = (start(), {**SLOW, **CHILD}, {**say("Red."), **CHILD}, say("I wait."))
    session = open_session(yard, *answers, rules={"allow": ["Bash"]})
    events: list[Event] = []

    def look(event: Event) -> None:
        events.append(event)
        if isinstance(event, ToolFinished) and STARTED in event.output:
            session.interrupt()

    assert session.run("Do it.", on_event=look).status == "interrupted"
    return session, events


def test_an_interrupt_ends_the_job_and_the_model_learns_of_it(local: Yard) -> None:
    with local.worker():
        session, events = interrupt_once_started(local)
        (job,) = local.jobs.list_jobs()
        local.wait(job.id)
    assert local.jobs.get(job.id).state == "cancelled"
    assert [one.status for one in pick(events, TaskFinished)] == ["interrupted"]
    seen = Seen("Fine.")
    resume(local, session, seen.model)
    assert any("The sub-agent did not finish" in one for one in list_prompts(seen.messages[0]))
    assert load_session(local.facts(), session.id).jobs == {}


def test_one_that_ends_while_it_is_being_cancelled_reports_its_answer_once(
    local: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.let_go_before_cancel(monkeypatch)
    with local.worker():
        session, events = interrupt_once_started(local)
    (job,) = local.jobs.list_jobs()
    assert (job.state, job.answer) == ("done", "Red.")
    assert [(one.status, one.output) for one in pick(events, TaskFinished)] == [("done", "Red.")]
    # Its last events were not lost.
    assert [one.agent for one in pick(events, ToolFinished)] == ["", "general-purpose"]
    seen = Seen("Fine.")
    resume(local, session, seen.model)
    reports = [one for one in list_prompts(seen.messages[0]) if "task_report" in one]
    assert [one.count("<task_report") for one in reports] == [1]
    assert "Red." in reports[0]
    assert load_session(local.facts(), session.id).jobs == {}


def test_what_the_parent_may_not_do_the_job_may_not(local: Yard) -> None:
    studio = local.studio
    studio.skill("careful", description="Careful.", **{"disallowed-tools": "Bash"})
    with local.worker():
        ended, events = run(
            local,
            call("skill", name="careful"),
            start(),
            {**call("Bash", command="touch x"), **CHILD},
            {**say("I may not."), **CHILD},
            say("I wait."),
            say("Done."),
            rules={"allow": ["Bash"]},
        )
    (refused,) = [one for one in pick(events, ToolFinished) if one.tool == "Bash"]
    assert (refused.agent, refused.outcome) == ("general-purpose", "refused")
    assert "disallows `Bash`" in refused.output
    assert not (studio.project / "x").exists()
    assert ended.status == "done", ended.reason


GUARD = """hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "echo no touching >&2; exit 2"
"""


def guard(studio: Studio, hooks: str = GUARD) -> None:
    text = f"---\nname: guard\ndescription: Guards.\n{hooks}---\nGuard it.\n"
    studio.write(".agents/skills/guard/SKILL.md", text)


def test_the_hooks_of_the_parent_guard_the_job(local: Yard) -> None:
    guard(local.studio)
    local.studio.trust()
    with local.worker():
        _, events = run(
            local,
            call("skill", name="guard"),
            start(),
            {**call("Bash", command="touch x"), **CHILD},
            {**say("I may not."), **CHILD},
            say("I wait."),
            say("Done."),
            rules={"allow": ["Bash", "Skill(guard)"]},
        )
    (refused,) = [one for one in pick(events, ToolFinished) if one.tool == "Bash"]
    assert refused.outcome == "refused", refused
    assert "no touching" in refused.output
    assert not (local.studio.project / "x").exists()
    assert len(local.jobs.list_jobs()) == 1


def test_a_job_whose_hooks_have_changed_does_not_begin(local: Yard) -> None:
    guard(local.studio)
    local.studio.trust()
    answers = (
        call("skill", name="guard"),
        start(),
        {**call("Bash", command="touch x"), **CHILD},
        say("I wait."),
        {**say("Done."), "expect": ["have changed since it was loaded"]},
    )
    session = open_session(local, *answers, rules={"allow": ["Bash", "Skill(guard)"]})

    def look(event: Event) -> None:
        if isinstance(event, ToolFinished) and STARTED in event.output:
            guard(local.studio, GUARD.replace("no touching", "changed"))
            local.start()

    runner = session._jobs
    assert isinstance(runner, StoredJobRunner)
    # The only worker is the one that starts after the change.
    runner._last_worker = float("inf")
    ended = session.run("Do it.", on_event=look)
    assert (ended.status, ended.answer) == ("done", "Done."), ended.reason
    assert not (local.studio.project / "x").exists()


class Relay:
    """An approver that keeps its questions open until it is told what to say."""

    def __init__(self) -> None:
        self.requests: list[ApprovalRequest] = []
        self.taken_back = 0
        self.reply: ApprovalAnswer | None = None

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.requests.append(request)
        try:
            while self.reply is None:
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.taken_back += 1
            raise
        return self.reply


TOUCH = (
    start(),
    {**call("Bash", command="touch x"), **CHILD},
    {**say("Touched."), **CHILD},
    say("I wait."),
    say("Done."),
)


@pytest.mark.parametrize("reply", [ApprovalChoice.ONCE, ApprovalChoice.REJECT])
def test_the_person_at_the_session_is_asked(local: Yard, reply: ApprovalChoice) -> None:
    asked = Asked(reply)
    with local.worker():
        ended, _ = run(local, *TOUCH, approver=asked)
    (request,) = asked.requests
    assert (request.permission, request.patterns) == ("bash", ("touch x",))
    assert request.metadata["title"] == "Bash touch x"
    is_allowed = reply is ApprovalChoice.ONCE
    assert (local.studio.project / "x").exists() is is_allowed
    assert ended.status == ("done" if is_allowed else "refused")


def test_a_question_that_is_answered_elsewhere_is_taken_back(local: Yard) -> None:
    relay = Relay()

    def answer() -> None:
        wait_until(lambda: bool(relay.requests))
        (job,) = local.jobs.list_jobs()
        local.jobs.answer(job.id, ApprovalAnswer(ApprovalChoice.ONCE))

    thread = threading.Thread(target=answer)
    thread.start()
    with local.worker():
        ended, _ = run(local, *TOUCH, approver=relay)
    thread.join()
    assert ended.status == "done", ended.reason
    assert (local.studio.project / "x").exists()
    assert (len(relay.requests), relay.taken_back) == (1, 1)


def test_a_session_without_an_approver_leaves_the_question_open(local: Yard) -> None:
    session = open_session(local, *TOUCH, approver=Relay())
    with local.worker():
        _leave_when(session, lambda: any(one.state == "waiting" for one in local.jobs.list_jobs()))
        (job,) = local.jobs.list_jobs()
        seen = Seen("Fine.")
        events = resume(local, session, seen.model)
        # It is not refused, and the turn does not wait for somebody who is not there.
        (waiting,) = local.jobs.list_jobs()
        assert (waiting.state, waiting.questions) == ("waiting", job.questions)
        (warning,) = pick(events, Warned)
        assert (warning.code, f"`prowess jobs approve {job.id}`" in warning.message) == (
            "task-waits",
            True,
        )
        (turn,) = pick(events, TurnEnded)
        assert (turn.status, turn.answer) == ("refused", "Fine.")
        local.jobs.answer(job.id, ApprovalAnswer(ApprovalChoice.ONCE))
        (ended,) = local.wait(job.id)
        assert (ended.state, (local.studio.project / "x").exists()) == ("done", True)
        resume(local, session, seen.model)
    assert "Touched.\n</task_report>" in list_prompts(seen.messages[-1])[-1]


def test_where_nobody_can_be_asked_it_is_refused(local: Yard) -> None:
    with local.worker():
        ended, events = run(local, *TOUCH)
    assert [one.outcome for one in pick(events, ToolFinished) if one.tool == "Bash"] == ["refused"]
    assert ended.status == "refused"
    # It did its work with what it may do, so its answer counts.
    assert [one.output for one in pick(events, TaskFinished)] == ["Touched."]


def test_the_limit_of_the_turn_counts_for_all(local: Yard) -> None:
    local.studio.write("a.txt", "A\n")
    read = {**call("Read", file_path="a.txt"), **CHILD}
    with local.worker():
        ended, _ = run(local, start(), *[read] * 9, say("I wait."), limits=Limits(turns=4))
        (job,) = local.jobs.list_jobs()
        (ended_job,) = local.wait(job.id)
    assert ended.status == "budget"
    assert ended_job.state in ("budget", "cancelled")
    assert ended.requests <= 5


def test_typed_at_an_idle_prompt_it_answers_as_a_job(local: Yard) -> None:
    apart(local.studio)
    with local.worker():
        ended, _ = run(local, {**say("Found."), **APART}, text="/apart")
    assert (ended.status, ended.answer) == ("done", "Found.")
    (job,) = local.jobs.list_jobs()
    assert (job.state, job.answer) == ("done", "Found.")
    (own,) = list_sessions(local.facts(), with_jobs=False)
    assert own.jobs == {}


def test_what_exists_only_in_the_process_keeps_a_sub_agent_there(local: Yard) -> None:
    seen = Seen("Fine.")
    given = {"model": seen.model}
    guard(local.studio)
    server = McpServer(name="docs", command="false")
    answers = (start(), {**say("Red."), **CHILD}, say("I wait."), say("Done."))
    for options in ({"keep": False}, {"servers": (server,)}):
        ended, events = run(local, *answers, **options)
        assert ended.status == "done", ended.reason
        assert [one.status for one in pick(events, TaskFinished)] == ["done"]
    session = open_session(local, **given)
    assert session.models.reusable_name is None
    assert local.jobs.is_empty


def test_a_database_that_is_gone_is_said_to_the_model(local: Yard) -> None:
    settings = JobSettings(database="postgresql://nobody@127.0.0.1:1/none")
    local.studio.env = local.env()
    runner = StoredJobRunner(settings, local.facts())
    session = local.studio.open(start(), {**say("Never mind."), "expect": ["reach"]}, jobs=runner)
    events: list[Event] = []
    ended = session.run("Do it.", on_event=events.append)
    assert (ended.status, ended.answer) == ("done", "Never mind."), ended.reason
    (failed,) = pick(events, ToolFinished)
    assert (failed.outcome, "database" in failed.output) == ("failed", True)
    assert session.waiting_jobs == {}


def test_one_that_cannot_be_reached_later_keeps_its_report(local: Yard) -> None:
    with local.worker():
        session = leave_at_work(local)
        (job,) = local.jobs.list_jobs()
        gone = StoredJobRunner(
            JobSettings(database="postgresql://nobody@127.0.0.1:1/none"), local.facts()
        )
        seen = Seen("Fine.")
        saved = load_session(local.facts(), session.id)
        events: list[Event] = []
        again = local.studio.open(model=seen.model, resume=saved, jobs=gone)
        again.run("And now?", on_event=events.append)
        again.close()
        local.studio.let_go()
        local.wait(job.id)
    (warning,) = [one for one in pick(events, Warned) if one.code == "task-not-followed"]
    assert job.id in warning.message
    later = Seen("Fine.")
    resume(local, session, later.model)
    assert any("Red." in one for one in list_prompts(later.messages[0]))


def test_without_a_worker_it_is_not_left_for_a_later_one(
    local: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(local, start(), {**say("Never mind."), "expect": ["no more processes"]})

    def fail(jobs: Jobs) -> bool:
        raise MachineError("start", "prowess worker", "no more processes")

    monkeypatch.setattr(Jobs, "ensure_worker", fail)
    ended = session.run("Do it.")
    assert (ended.status, ended.answer) == ("done", "Never mind."), ended.reason
    assert session.waiting_jobs == {}
    (job,) = local.jobs.list_jobs()
    assert job.state == "cancelled"


@pytest.mark.parametrize("turns", [0, 3, None])
def test_a_job_has_what_its_session_had_left(turns: int | None) -> None:
    subagent = SubagentSpec(name="a", definition="b")
    spec = TurnSpec(text="Look.", cwd="/", subagent=subagent, max_turns=turns)
    assert find_limits(spec) == Limits(turns=turns)
    assert find_limits(TurnSpec(text="Look.", cwd="/")) == Limits()


def test_images_travel_with_their_task() -> None:
    image = BinaryContent(b"\x89PNG\r\n\x1a\n\x00\xff", media_type="image/png")
    attached = Attached(images=(("map.png", image),))
    subagent = SubagentSpec(name="a", definition="b", images=_list_images(attached))
    spec = TurnSpec(text="Look.", cwd="/", subagent=subagent)
    # As the database keeps it.
    sent = json.loads(json.dumps(msgspec.to_builtins(spec)))
    received = msgspec.convert(sent, TurnSpec)
    assert received.subagent is not None
    assert restore_images(received.subagent.images) == attached


def test_the_setting_keeps_them_in_the_process(studio: Studio) -> None:
    assert open_job_runner(studio.skills()) is not None
    studio.workspace.write("home/.config/prowess/prowess.toml", "[jobs]\nbackground = false\n")
    assert open_job_runner(studio.skills()) is None
