"""Calls that no tool receives: of tools that do not exist, and with input that does not fit."""

from __future__ import annotations

import pytest

from prowess.agent.events import Event, ToolFinished, ToolStarted
from tests.agent.studio import Studio, call, pick, say
from tests.agent.test_streaming import ending, serve, stream, tool_call, words

pytest.importorskip("openai")


def test_a_call_of_an_unknown_tool_is_shown_with_its_answer(studio: Studio) -> None:
    ended, events = studio.run(call("Fly", to="the moon"), say("I cannot fly."))
    (started,), (finished,) = pick(events, ToolStarted), pick(events, ToolFinished)
    assert (started.tool, started.title, started.input) == (
        "Fly",
        "Fly the moon",
        {"to": "the moon"},
    )
    assert (finished.call, finished.tool, finished.outcome) == (started.call, "Fly", "failed")
    assert finished.output.startswith("Unknown tool name: 'Fly'")
    # A mistake of the model is nothing that an approval would have helped.
    assert ended.status == "done"


def test_a_call_with_input_of_a_wrong_type_is_shown_with_its_answer(studio: Studio) -> None:
    studio.write("a.txt", "Hello.\n")
    _, events = studio.run(
        call("Read", file_path="a.txt", offset="the top"), call("Read", file_path="a.txt"), say(".")
    )
    started, finished = pick(events, ToolStarted), pick(events, ToolFinished)
    assert [one.outcome for one in finished] == ["failed", "done"]
    assert "offset" in finished[0].output
    assert [one.call for one in started] == [one.call for one in finished]
    assert len({one.call for one in finished}) == 2


def test_each_call_of_one_answer_has_one_start_and_one_end(studio: Studio) -> None:
    studio.write("a.txt", "Hello.\n")
    both = {
        "calls": [
            {"tool": "Read", "input": {"file_path": "a.txt"}},
            {"tool": "Fly", "input": {}},
        ]
    }
    _, events = studio.run(both, say("."))
    finished = pick(events, ToolFinished)
    assert sorted((one.tool, one.outcome) for one in finished) == [
        ("Fly", "failed"),
        ("Read", "done"),
    ]
    assert sorted(one.tool for one in pick(events, ToolStarted)) == ["Fly", "Read"]


def test_a_model_that_never_learns_is_stopped_and_every_call_is_shown(studio: Studio) -> None:
    ended, events = studio.run(*[call("Fly")] * 7)
    assert ended.status == "failed"
    assert "Fly" in ended.reason
    assert len(pick(events, ToolStarted)) == len(pick(events, ToolFinished)) == 6


def test_arguments_that_are_no_json_are_shown_as_they_came(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = (
        stream([*tool_call("Read", '{"file_path": '), *ending("tool_calls")]),
        stream([*words("Sorry."), *ending()]),
    )
    events: list[Event] = []
    with serve(answers) as (url, _):
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        studio.env["OPENAI_BASE_URL"] = url
        ended = studio.open(model="openai:gpt-4o").run("Read it.", on_event=events.append)
    (started,), (finished,) = pick(events, ToolStarted), pick(events, ToolFinished)
    assert started.title == 'Read {"file_path": '.strip()
    assert finished.outcome == "failed"
    assert "JSON" in finished.output
    assert ended.status == "done"
