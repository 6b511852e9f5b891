"""What the user types while the model works: it steers or follows up, and is never lost."""

from __future__ import annotations

import asyncio

import pytest

from prowess.activate.slash.messages import Delivery, Key
from prowess.agent import Session
from prowess.agent.events import (
    Event,
    MessageDelivered,
    MessageQueued,
    SkillLoaded,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from prowess.errors import UsageError
from tests.agent.studio import SLOW, Studio, call, pick, say

OMP = "omp@documented"
RULES = {"allow": ["Bash"]}


def work(
    studio: Studio, session: Session, *typed: tuple[str, Key], stop: bool = False
) -> tuple[list[Event], list[Delivery]]:
    """Run a turn, and type while its first call runs."""
    deliveries: list[Delivery] = []
    (studio.project / "go").unlink(missing_ok=True)

    async def run() -> list[Event]:
        events = []
        async for event in session.send("begin"):
            events.append(event)
            if isinstance(event, ToolStarted) and not deliveries:
                for text, key in typed:
                    deliveries.append(await session.queue(text, key=key))
                if stop:
                    session.interrupt()
                studio.let_go()
        return events

    return asyncio.run(run()), deliveries


def get_status(events: list[Event]) -> str:
    """How the turn ended."""
    (ended,) = pick(events, TurnEnded)
    return str(ended.status)


@pytest.mark.seed("P-44", "P-47")
def test_the_usual_key_steers_before_the_next_request(studio):
    studio.host = OMP
    session = studio.open(
        SLOW,
        {**SLOW, "expect": ["turn left"]},
        say("Done."),
        rules=RULES,
    )
    events, deliveries = work(studio, session, ("turn left", Key.SEND))
    assert deliveries == [Delivery.STEER]
    (queued,), (delivered,) = pick(events, MessageQueued), pick(events, MessageDelivered)
    assert (queued.text, queued.delivery, queued.id) == ("turn left", "steer", delivered.id)
    assert (get_status(events), session.undelivered) == ("done", ())


@pytest.mark.seed("P-45", "P-47")
def test_the_other_key_follows_up_when_the_model_would_stop(studio):
    studio.host = OMP
    session = studio.open(
        SLOW, say("First."), {**say("Second."), "expect": ["then go home"]}, rules=RULES
    )
    events, deliveries = work(studio, session, ("then go home", Key.FOLLOW_UP))
    assert deliveries == [Delivery.FOLLOW_UP]
    (ended,) = pick(events, TurnEnded)
    assert (ended.answer, ended.requests) == ("Second.", 3)


@pytest.mark.seed("P-44", "P-45", "P-48")
def test_skills_are_queued_by_the_key_alone_whatever_their_header_says(studio):
    studio.host = OMP
    studio.workspace.skill(
        "project/.omp/skills/greet", body="Greet whom the user names.\n", delivery="follow-up"
    )
    for key, answers in (
        (Key.SEND, [SLOW, {**say("Done."), "expect": ["Greet whom the user names.", "Ada"]}]),
        (
            Key.FOLLOW_UP,
            [SLOW, say("1"), {**say("Done."), "expect": ["Greet whom the user names.", "Ada"]}],
        ),
    ):
        session = studio.open(*answers, rules=RULES)
        events, _ = work(studio, session, ("/skill:greet Ada", key))
        assert (key, get_status(events)) == (key, "done")


@pytest.mark.seed("P-46")
@pytest.mark.parametrize("key", list(Key))
def test_when_no_model_works_both_keys_are_a_plain_prompt(studio, key):
    studio.host = OMP
    session = studio.open(say("Done."))
    assert asyncio.run(session.queue("hello", key=key)) is Delivery.PROMPT
    assert session.undelivered == ("hello",)
    (text,) = session.take_undelivered()
    assert (session.run(text).answer, session.undelivered) == ("Done.", ())


def test_nothing_typed_is_lost_when_the_turn_is_interrupted(studio):
    session = studio.open(call("Bash", command="sleep 600"), say("never"), rules=RULES)
    events, _ = work(studio, session, ("one", Key.SEND), ("two", Key.FOLLOW_UP), stop=True)
    assert get_status(events) == "interrupted"
    assert session.undelivered == ("one", "two")


def test_a_command_that_is_not_available_is_an_error_and_is_not_queued(studio):
    studio.skill("secret", user_invocable="false")
    session = studio.open(SLOW, say("Done."), rules=RULES)

    async def run() -> None:
        async for event in session.send("begin"):
            if isinstance(event, ToolStarted):
                with pytest.raises(UsageError):
                    await session.queue("/secret")
                studio.let_go()

    asyncio.run(run())
    assert session.undelivered == ()


def test_the_commands_of_a_queued_skill_run_once(studio):
    studio.host = "claude-code"
    studio.trust()
    studio.workspace.skill("project/.claude/skills/emb", body="Now: !`echo x >> runs`\n")
    session = studio.open(say("1"), say("2"), SLOW, say("never"), rules=RULES)
    session.run("begin")
    assert asyncio.run(session.queue("/emb")) is Delivery.PROMPT
    assert not (studio.project / "runs").exists()
    (text,) = session.take_undelivered()
    assert session.run(text).answer == "2"
    assert studio.read("runs") == "x\n"


def test_a_skill_that_steers_is_reported_and_disallows_its_tools(studio):
    studio.skill("dis", disallowed_tools="Bash")
    session = studio.open(SLOW, call("Bash", command="touch x"), say("Done."), rules=RULES)
    events, deliveries = work(studio, session, ("/dis", Key.SEND))
    assert deliveries == [Delivery.STEER]
    assert [(one.name, one.by) for one in pick(events, SkillLoaded)] == [("dis", "user")]
    assert [one.outcome for one in pick(events, ToolFinished)] == ["done", "refused"]
    assert not (studio.project / "x").exists()


def test_a_skill_that_runs_apart_waits_for_the_next_turn(studio):
    studio.skill("apart", context="fork")
    session = studio.open(SLOW, say("1"), {**say("2"), "agent": "apart"}, rules=RULES)
    _, deliveries = work(studio, session, ("/apart", Key.SEND))
    assert (deliveries, session.undelivered) == ([Delivery.PROMPT], ("/apart",))
    (text,) = session.take_undelivered()
    assert session.run(text).answer == "2"


@pytest.mark.parametrize("text", ["", " \n", "a\udcff"])
def test_what_no_model_can_be_sent_is_an_error(studio, text):
    session = studio.open(say("never"))
    with pytest.raises(UsageError, match="The prompt is"):
        session.run(text)
    with pytest.raises(UsageError, match="The prompt is"):
        asyncio.run(session.queue(text))
