"""`/stuck`: what a session waits for, asked from another process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from prowess.activate.slash.dispatch import ToolReply
from prowess.agent.session_file import SavedSession, list_sessions
from prowess.errors import ProwessError
from prowess.runtime import Skills
from prowess.supply.bundled import BundledSource
from tests.agent.studio import Studio, call, say
from tests.docs.pages import ROOT


def ask(studio: Studio, text: str) -> str:
    from prowess.agent.shipped.commands import register_commands

    skills = Skills(studio.project, facts=studio.facts, cache=False, sources=(BundledSource(),))
    register_commands(skills)
    answer = skills.run(text)
    assert isinstance(answer, ToolReply)
    return answer.text


def wait_for_call(studio: Studio) -> SavedSession:
    end = time.monotonic() + 180
    while time.monotonic() < end:
        for session in list_sessions(studio.facts):
            if session.unknown:
                return session
        time.sleep(0.05)
    raise AssertionError("the command never began")


@pytest.fixture
def hanging(studio: Studio):
    """A session in another process, whose command runs for minutes."""
    model = studio.script(call("Bash", command="sleep 599"), say("Done."))
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "prowess",
            "run",
            "Wait.",
            "--model",
            model,
            "--allow",
            "Bash(sleep *)",
        ],
        cwd=studio.project,
        env={**studio.facts.env, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process, wait_for_call(studio)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=180)


@pytest.mark.slow
@pytest.mark.seed("C-115")
@pytest.mark.needs("ps", "sleep")
def test_a_call_that_runs_is_named_with_its_processes(studio, hanging):
    process, session = hanging
    # The call is written down before its command starts.
    deadline = time.monotonic() + 180
    while "sleep 599\n" not in f"{ask(studio, '/stuck').partition('Processes')[2]}\n":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for text in ("/stuck", f"/stuck {session.header.id}"):
        said = ask(studio, text)
        assert said.startswith(f"Session {session.header.id}, turn 1: Wait.\n")
        assert re.search(
            rf"Process {process.pid} has been working on this turn for \d+ (s|min)", said
        )
        assert "It is waiting for Bash sleep 599, which started" in said
        assert re.search(r"^  \d+  [\d:]+  .*sleep 599$", said, re.MULTILINE), said


@pytest.mark.slow
@pytest.mark.needs("ps", "sleep")
def test_a_process_that_was_killed_does_not_hang_and_what_is_unknown_is_said(studio, hanging):
    process, session = hanging
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=180)
    said = ask(studio, "/stuck")
    assert "so it is not stuck" in said
    assert f"`prowess run --resume {session.header.id}` continues it" in said
    assert "It is unknown whether these calls happened: Bash sleep 599." in said


@pytest.mark.needs("ps")
def test_a_session_that_has_ended_waits_for_nothing(studio):
    studio.run(say("Done."), text="Do it.")
    (session,) = list_sessions(studio.facts)
    assert "Nothing is waiting" in ask(studio, f"/stuck {session.header.id}")
    with pytest.raises(ProwessError, match="No session in this folder is in the middle of a turn"):
        ask(studio, "/stuck")
    with pytest.raises(ProwessError, match="There is no session “nope”"):
        ask(studio, "/stuck nope")
