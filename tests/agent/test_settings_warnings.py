"""A settings file that is ignored is said at the start of a session: its denials do not apply."""

from __future__ import annotations

import pytest

from prowess.agent.events import Event, Warned
from tests.agent.studio import Studio, pick, say

BROKEN = '{\n  "permissions": {"deny": ["Bash(rm *)"]},\n}\n'


@pytest.mark.parametrize(
    "file", ["home/.claude/settings.json", "project/.claude/settings.json", "project/.mcp.json"]
)
def test_a_broken_file_of_a_host_is_a_warning_once(studio: Studio, file: str) -> None:
    studio.host = "claude-code"
    path = studio.workspace.write(file, BROKEN)
    studio.trust()
    session = studio.open(say("One."), say("Two."))
    events: list[Event] = []
    for text in ("First.", "Second."):
        session.run(text, on_event=events.append)
    (warning,) = pick(events, Warned)
    assert warning.code == "settings-ignored"
    assert warning.message.startswith(f"{path}:3: The whole settings file is ignored: ")


def test_a_setting_of_our_own_that_has_no_effect_is_a_warning(studio: Studio) -> None:
    path = studio.write("prowess.toml", '[agent]\nprivate_hosts = ["127.0.0.1"]\n')
    studio.trust()
    _, events = studio.run(say("Done."))
    (warning,) = pick(events, Warned)
    assert warning.code == "setting-ignored"
    assert warning.message.startswith(f"{path}:2: ")


def test_settings_without_problems_say_nothing(studio: Studio) -> None:
    studio.host = "claude-code"
    studio.workspace.write("home/.claude/settings.json", '{"permissions": {"deny": ["Read"]}}')
    _, events = studio.run(say("Done."))
    assert pick(events, Warned) == []
