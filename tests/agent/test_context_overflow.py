"""A provider says that a request is too long: the conversation is compacted, and sent again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from prowess.agent.context_overflow import STILL_TOO_LONG, TOO_LONG
from prowess.agent.events import Compacted, CompactionStarted, Event, TextDelta, TurnEnded, Warned
from prowess.agent.session_file import load_session
from tests.agent.studio import Studio, pick
from tests.agent.test_compaction import get_prompts
from tests.agent.test_providers import PROVIDERS, anthropic_words, google_words
from tests.agent.test_session import Seen
from tests.agent.test_streaming import Answer, ending, serve, status, stream, tool_call, words

pytest.importorskip("openai")


def refuse(**error: Any) -> Answer:
    return status(400, json.dumps({"error": error, "type": "error"}))


OPENAI = refuse(
    code="context_length_exceeded",
    type="invalid_request_error",
    message="This model's maximum context length is 4096 tokens. You sent 5000.",
)
LLAMA = refuse(
    code=400,
    type="exceed_context_size_error",
    message="the request exceeds the available context size (4096 tokens), try increasing it",
)
ANTHROPIC = refuse(
    type="invalid_request_error", message="prompt is too long: 210000 tokens > 200000 maximum"
)
GOOGLE = refuse(
    code=400,
    status="INVALID_ARGUMENT",
    message="The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
)


def openai_words(text: str) -> Answer:
    return stream([*words(text), *ending()])


OPENAI_MODEL = ("openai-chat:gpt-4o", {"OPENAI_API_KEY": "k"}, "OPENAI_BASE_URL")


@pytest.mark.parametrize(
    ("provider", "refusal", "answer", "window"),
    [
        (OPENAI_MODEL, OPENAI, openai_words, 4096),
        (OPENAI_MODEL, LLAMA, openai_words, 4096),
        (PROVIDERS["anthropic"][:3], ANTHROPIC, anthropic_words, 200_000),
        (PROVIDERS["google"][:3], GOOGLE, google_words, 1_048_576),
    ],
    ids=["openai", "llama.cpp", "anthropic", "google"],
)
def test_a_request_that_is_too_long_is_compacted_and_sent_again(
    studio: Studio,
    monkeypatch: pytest.MonkeyPatch,
    provider: tuple[str, dict[str, str], str],
    refusal: Answer,
    answer: Callable[[str], Answer],
    window: int,
) -> None:
    model, env, address = provider
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    events: list[Event] = []
    answers = [answer("Blue."), refusal, answer("A flag is blue."), answer("Yes.")]
    with serve(answers) as (url, asked):
        monkeypatch.setenv(address, url if "OPENAI" in address else url.removesuffix("/v1"))
        session = studio.open(model=model)
        session.run("Which colour is the flag?")
        ended = session.run("Are you sure?", on_event=events.append)
        session.close()
    assert (ended.status, ended.answer) == ("done", "Yes."), ended.reason
    assert [one.code for one in pick(events, Warned)] == ["context-overflow"]
    assert [(one.automatic, one.window) for one in pick(events, CompactionStarted)] == [
        (True, window)
    ]
    assert [one.summary for one in pick(events, Compacted)] == ["A flag is blue."]
    assert [one.text for one in pick(events, TextDelta)] == ["Yes."]
    sent = json.dumps(asked[3])
    assert "A flag is blue." in sent
    assert sent.count("Are you sure?") == 1
    # The session is kept as it went on.
    seen = Seen("Fine.")
    again = studio.open(model=seen.model, resume=load_session(studio.facts, session.id))
    again.run("And now?")
    prompts = get_prompts(seen.messages[0])
    assert [prompts[0], *prompts[-2:]] == ["Which colour is the flag?", "Are you sure?", "And now?"]


def run_turns(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, answers: list[Answer], *texts: str
) -> tuple[TurnEnded, list[Event], list[dict[str, Any]]]:
    """The end of the last turn, all events, and what the server was asked."""
    events: list[Event] = []
    with serve(answers) as (url, asked):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        session = studio.open(model="openai-chat:gpt-4o")
        ends = [session.run(text, on_event=events.append) for text in texts]
        session.close()
    return ends[-1], events, asked


def test_a_second_refusal_ends_the_turn_with_a_clear_reason(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [openai_words("Blue."), OPENAI, openai_words("A summary."), OPENAI]
    ended, events, asked = run_turns(studio, monkeypatch, answers, "one", "two")
    assert (ended.status, ended.reason) == ("failed", STILL_TOO_LONG)
    assert len(pick(events, Compacted)) == 1
    assert len(asked) == 4


def test_a_first_prompt_that_is_too_long_has_nothing_to_compact(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, events, asked = run_turns(studio, monkeypatch, [OPENAI], "one")
    assert (ended.status, ended.reason) == ("failed", TOO_LONG)
    assert pick(events, Warned) == []
    assert len(asked) == 1


def test_results_of_tools_stay_with_their_calls(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio.write("a.txt", "A\n")
    read = stream([*tool_call("Read", '{"file_path": "a.txt"}'), *ending("tool_calls")])
    answers = [openai_words("Hi."), read, OPENAI, openai_words("S."), openai_words("It has A.")]
    ended, _, asked = run_turns(studio, monkeypatch, answers, "Hello.", "Read it.")
    assert (ended.status, ended.answer) == ("done", "It has A."), ended.reason
    roles = [one["role"] for one in asked[-1]["messages"] if one["role"] != "system"]
    assert roles[-2:] == ["assistant", "tool"]
