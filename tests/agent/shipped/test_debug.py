"""`/debug`: the debug log is on, followed, and a guide says what to try next."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from prowess.agent import Session
from prowess.agent.events import Event, ToolFinished
from prowess.errors import MachineError
from prowess.runtime import Skills
from prowess.state.debug_log import LogFollower, debug_log_path, start_debug_log, stop_debug_log
from prowess.supply.bundled import BundledSource
from tests.agent.studio import Studio, call, pick, say
from tests.docs.pages import ROOT


@pytest.fixture(autouse=True)
def _quiet_afterwards() -> Iterator[None]:
    yield
    stop_debug_log()


@pytest.mark.seed("C-109", "C-134", "C-135", "C-136")
def test_the_log_is_turned_on_and_followed_and_a_guide_gets_what_it_shows(studio: Studio) -> None:
    script = studio.script(
        call("StartDebugLog"),
        call("Glob", pattern="*.md"),
        call("FollowDebugLog", seconds=0.5),
        call("Task", agent="debug-guide@builtin", prompt="The skill is missing."),
        {"agent": "debug-guide@builtin", "text": "Run `PROWESS_DEBUG=1 prowess list`."},
        say("Please run `PROWESS_DEBUG=1 prowess list`."),
    )
    skills = Skills(studio.project, facts=studio.facts, cache=False, sources=(BundledSource(),))
    events: list[Event] = []
    with Session(skills, model=script) as session:
        ended = session.run("/debug my skill is missing", on_event=events.append)
    assert ended.answer == "Please run `PROWESS_DEBUG=1 prowess list`.", ended.reason
    started, _, followed, guided = [
        one.output for one in pick(events, ToolFinished) if not one.agent
    ]
    path = debug_log_path(studio.facts)
    assert started.startswith(f"The debug log is on: {path}.")
    assert '"tool":"Glob"' in followed
    assert guided == "Run `PROWESS_DEBUG=1 prowess list`."


def test_the_variable_turns_the_log_on_for_a_process(studio: Studio) -> None:
    studio.skill("pdf")
    subprocess.run(
        [sys.executable, "-m", "prowess", "list"],
        cwd=studio.project,
        env={**studio.facts.env, "PYTHONPATH": str(ROOT / "src"), "PROWESS_DEBUG": "1"},
        capture_output=True,
        check=True,
        timeout=180,
    )
    path = debug_log_path(studio.facts)
    with open(path, encoding="utf-8") as file:
        assert "scan" in file.read()
    mode = (studio.workspace.home / ".local/state/prowess/debug.log").stat().st_mode
    assert mode & 0o077 == 0


def test_after_a_command_with_debug_the_program_around_it_logs_nothing(terminal) -> None:
    terminal.run("list", "--debug")
    logger = logging.getLogger("prowess")
    assert (logger.handlers, logger.level, logger.propagate) == ([], logging.NOTSET, True)


def test_a_follower_gives_what_is_new_also_in_a_file_that_was_begun_anew(studio: Studio) -> None:
    file = studio.workspace.write("log", "old\n")
    follower = LogFollower(str(file))
    with file.open("a") as log:
        log.write("new\n")
    assert (follower.read_new(100), follower.read_new(100)) == ("new\n", "")
    file.write_text("a\n")
    assert follower.read_new(100) == "a\n"
    file.unlink()
    assert follower.read_new(100) == ""


def test_a_log_cannot_be_a_link_to_another_file(studio: Studio) -> None:
    other = studio.workspace.write("other", "keep\n")
    path = debug_log_path(studio.facts)
    studio.workspace.write("home/.local/state/prowess/x", "")
    (studio.workspace.home / ".local/state/prowess/debug.log").symlink_to(other)
    with pytest.raises(MachineError, match=r"debug\.log"):
        start_debug_log(studio.facts)
    assert other.read_text() == "keep\n", path
