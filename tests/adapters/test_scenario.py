"""One scenario, played through every adapter with its real library: an agent that people share."""

from __future__ import annotations

import asyncio
import importlib
import os
import time

import pytest

from prowess.runtime import Skills
from tests.adapters.scenario import Crew, Said, Script
from tests.adapters.shelf import DONE, REPEATED, Shelf
from tests.unit.conversation.ports import trust
from tests.unit.machine.test_processes import wait_until_gone

pytestmark = pytest.mark.slow

TIDES = ("skill", {"name": "tides"})
READ = ("read_skill_file", {"url": "skill://tides/ports.md:1-1"})
SLOW = '#!/bin/bash\necho "$$" > pid\nsleep 600 &\necho "$!" >> pid\nwait\n'


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def skills(shelf: Shelf) -> Skills:
    """Trusted skills, one with scripts."""
    shelf.workspace.git()
    root = "project/.agents/skills/tides"
    shelf.workspace.write(f"{root}/scripts/slow.sh", SLOW)
    shelf.workspace.write(f"{root}/scripts/high.sh", "echo noon\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(shelf.workspace.home)}
    opened = shelf.open(env=env, bins=("bash",))
    trust(opened)
    return opened


@pytest.fixture
def crew(name: str, skills: Skills, script: Script) -> Crew:
    made: Crew = importlib.import_module(f"tests.adapters.play_{name}").Crew(skills, script)
    return made


def tides(shelf: Shelf, body: str = "Read the table of .") -> str:
    files = ("ports.md", "scripts/high.sh", "scripts/slow.sh")
    return shelf.loaded("tides", body, *files)


def test_two_people_share_an_agent_and_nothing_else(crew, script, shelf):
    async def play() -> None:
        # At once, one of them streamed, with calls that run at the same time and equal ids.
        script.plan("ann", [TIDES, TIDES, READ], DONE)
        script.plan("bob", [READ, TIDES], DONE)
        ann, bob = await asyncio.gather(
            crew.say("ann", "I am ann."), crew.say("bob", "I am bob.", stream=True)
        )
        assert sorted(ann.answers[:2]) == sorted([tides(shelf), REPEATED])
        assert ann.answers[2] == "# Ports"
        assert bob == Said(["# Ports", tides(shelf)], DONE)

        # The messages say what each of them has.
        script.plan("ann", [TIDES], DONE)
        script.plan("carl", [TIDES], DONE)
        again, new = await asyncio.gather(
            crew.say("ann", "And tomorrow?"), crew.say("carl", "I am carl.")
        )
        assert (again.answers, new.answers) == ([REPEATED], [tides(shelf)])

    asyncio.run(play())


def test_a_provider_fails_and_the_retry_gets_the_text_again(crew, script, shelf):
    async def play() -> None:
        script.plan("ann", [TIDES], ConnectionError("the provider is away"))
        with pytest.raises(Exception, match=r"provider is away|Connection"):
            await crew.say("ann", "I am ann.")
        await crew.start_afresh("ann")
        script.plan("ann", [TIDES], DONE)
        assert await crew.say("ann", "I am ann.") == Said([tides(shelf)], DONE)

    asyncio.run(play())


def test_a_script_ends_with_its_task_and_the_conversation_goes_on(crew, script, shelf):
    async def play() -> None:
        call = ("run_skill_script", {"skill": "tides", "script": "scripts/slow.sh"})
        script.plan("ann", [call], DONE)
        task = asyncio.create_task(crew.say("ann", "I am ann."))
        pids = await wait_for_pids(shelf)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait([task])
        # By itself it would end after ten minutes.
        assert time.monotonic() - began < 300
        assert all(map(wait_until_gone, pids))
        await crew.start_afresh("ann")
        high = ("run_skill_script", {"skill": "tides", "script": "scripts/high.sh"})
        script.plan("ann", [high], DONE)
        said = await crew.say("ann", "I am ann.")
        assert (said.answers[0].strip(), said.output) == ("noon", DONE)

    asyncio.run(play())


@pytest.mark.parametrize("approve", [True, False])
def test_a_run_waits_for_an_approval_and_goes_on(crew, script, shelf, approve):
    async def play() -> None:
        script.plan("ann", [("skill", {"name": "anchor"})], DONE)
        script.plan("bob", [TIDES], DONE)
        asked = await crew.say("ann", "I am ann.")
        assert asked == Said([], "", [("anchor",)])
        # Meanwhile others are served.
        assert (await crew.say("bob", "I am bob.")).answers == [tides(shelf)]
        said = await crew.resume("ann", approve=approve)
        assert said.output == DONE
        loaded = shelf.loaded("anchor", "Drop it.")
        assert (said.answers[-1] == loaded) is approve

    asyncio.run(play())


def test_a_shortened_conversation_keeps_its_skills(crew, script, shelf):
    async def play() -> None:
        script.plan("ann", [TIDES], DONE)
        await crew.say("ann", "I am ann.")
        await crew.shorten("ann")
        script.plan("ann", [TIDES], DONE)
        assert (await crew.say("ann", "And tomorrow?")).answers == [REPEATED]
        # And a second time: what was given back is what the model has.
        await crew.shorten("ann")
        script.plan("ann", [TIDES], DONE)
        assert (await crew.say("ann", "And then?")).answers == [REPEATED]

    asyncio.run(play())


def test_a_skill_that_is_edited_between_turns_is_given_anew(crew, script, shelf):
    async def play() -> None:
        script.plan("ann", [TIDES], DONE)
        await crew.say("ann", "I am ann.")
        shelf.rewrite("tides", "Reads tide tables.", "Ask the harbour master.\n")
        script.plan("ann", [TIDES], [TIDES], DONE)
        said = await crew.say("ann", "And tomorrow?")
        assert said.answers == [tides(shelf, "Ask the harbour master."), REPEATED]

    asyncio.run(play())


async def wait_for_pids(shelf: Shelf) -> list[int]:
    """The programs of the slow script, once both run."""
    file = shelf.workspace.project / "pid"
    for _ in range(2400):
        pids = file.read_text().split() if file.exists() else []
        if len(pids) == 2:
            return [int(pid) for pid in pids]
        await asyncio.sleep(0.05)
    raise AssertionError("the script did not start")
