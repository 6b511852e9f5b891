"""The streaming path, against an OpenAI-compatible server on loopback that also misbehaves."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from prowess.agent.events import StreamCut, TextDelta, ToolFinished
from tests.agent.studio import Studio, pick

pytest.importorskip("openai")

Answer = Callable[[BaseHTTPRequestHandler], None]


def chunk(delta: dict[str, Any], **choice: Any) -> str:
    data = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "delta": delta, "finish_reason": None, **choice}],
    }
    return f"data: {json.dumps(data)}\n\n"


def words(*texts: str) -> list[str]:
    return [chunk({"role": "assistant", "content": text}) for text in texts]


def ending(reason: str = "stop") -> list[str]:
    usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
    data = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    last = json.dumps({**data, "choices": [], "usage": usage})
    return [chunk({}, finish_reason=reason), f"data: {last}\n\n", "data: [DONE]\n\n"]


def tool_call(name: str, arguments: str) -> list[str]:
    function = {"name": name, "arguments": arguments}
    made = {"index": 0, "id": "t1", "type": "function", "function": function}
    return [chunk({"role": "assistant", "tool_calls": [made]})]


def stream(pieces: Sequence[str], *, pause: float = 0.0) -> Answer:
    """Server-sent events, and then the connection is closed, as an old server does it."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for piece in pieces:
            handler.wfile.write(piece.encode())
            handler.wfile.flush()
            time.sleep(pause)

    return answer


def cut_chunked(pieces: Sequence[str]) -> Answer:
    """Chunked, and broken off before the last chunk."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for piece in pieces:
            data = piece.encode()
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()
        handler.close_connection = True

    return answer


def status(code: int, body: str, kind: str = "application/json") -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body.encode())

    return answer


@contextlib.contextmanager
def serve(answers: Sequence[Answer]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that gives these answers, the last one again and again."""
    asked: list[dict[str, Any]] = []
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append(json.loads(body))
            with contextlib.suppress(OSError):
                (left.pop(0) if len(left) > 1 else left[0])(self)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def ask(studio: Studio, monkeypatch: pytest.MonkeyPatch):
    """Run one turn against a server with these answers."""

    def run(*answers: Answer, **options: Any):
        with serve(answers) as (url, asked):
            monkeypatch.setenv("OPENAI_BASE_URL", url)
            monkeypatch.setenv("OPENAI_API_KEY", "k")
            ended, events = studio.run(model="openai-chat:gpt-4o", **options)
            return ended, events, asked

    return run


def test_words_arrive_as_they_are_streamed_with_tokens_and_price(ask):
    ended, events, asked = ask(stream([*words("Hel", "lo."), *ending()], pause=0.05))
    assert [one.text for one in pick(events, TextDelta)] == ["Hel", "lo."]
    assert (ended.status, ended.answer) == ("done", "Hello.")
    assert (ended.input_tokens, ended.output_tokens) == (1000, 20)
    assert ended.cost is not None
    assert ended.cost > 0
    assert asked[0]["stream"] is True
    names = [one["function"]["name"] for one in asked[0]["tools"]]
    skills = ["skill", "read_skill_file", "run_skill_script"]
    own = ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch", "Task"]
    assert names == [*own, *skills]


def test_a_tool_call_is_streamed_and_answered(ask, studio):
    studio.write("a.txt", "A\n")
    first = stream([*tool_call("Read", '{"file_path": "a.txt"}'), *ending("tool_calls")])
    ended, events, asked = ask(first, stream([*words("Done."), *ending()]))
    assert (ended.status, ended.answer) == ("done", "Done.")
    assert [one.output for one in pick(events, ToolFinished)] == ["     1\tA"]
    assert asked[1]["messages"][-1]["content"] == "     1\tA"


@pytest.mark.parametrize("cut", [stream, cut_chunked])
def test_a_stream_that_was_cut_is_said_to_be_cut(ask, cut):
    ended, events, _ = ask(cut(words("Half of", " it")))
    assert ended.status == "failed"
    assert len(pick(events, StreamCut)) == 1
    assert "".join(one.text for one in pick(events, TextDelta)) == "Half of it"


def test_an_answer_that_reached_its_limit_is_said_to_be_cut(ask):
    ended, events, _ = ask(stream([*words("Half"), *ending("length")]))
    assert (ended.status, ended.reason) == ("failed", "the model reached its limit on output")
    assert len(pick(events, StreamCut)) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (status(429, '{"error": {"message": "slow down"}}'), "status 429"),
        (status(500, '{"error": {"message": "oops"}}'), "status 500"),
        (status(401, '{"error": {"message": "no key"}}'), "status 401"),
        (status(200, "<html>busy</html>", "text/html"), ""),
        (stream(["data: {rubbish\n\n"]), ""),
    ],
)
def test_errors_of_the_server_are_the_end_of_the_turn_with_a_reason(ask, answer, reason):
    ended, _, _ = ask(answer)
    assert ended.status == "failed"
    assert ended.reason
    assert reason in ended.reason


def test_a_server_that_is_not_there_is_said_so(studio, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    ended, _ = studio.run(model="openai-chat:x")
    assert (ended.status, bool(ended.reason)) == ("failed", True)


def test_after_a_failure_the_session_goes_on(studio, monkeypatch):
    answers = [cut_chunked(words("Half")), stream([*words("Whole."), *ending()])]
    with serve(answers) as (url, asked):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        session = studio.open(model="openai-chat:gpt-4o")
        assert session.run("one").status == "failed"
        assert session.run("two").answer == "Whole."
    sent = [
        (one["role"], one["content"]) for one in asked[1]["messages"] if one["role"] != "system"
    ]
    assert ("user", "one") in sent
    assert sent[-1] == ("user", "two")


def test_the_turns_of_a_session_share_a_connection(studio, monkeypatch):
    ports: list[int] = []
    whole = "".join([*words("Hello."), *ending()])

    def answer(handler: BaseHTTPRequestHandler) -> None:
        ports.append(handler.client_address[1])
        status(200, whole, "text/event-stream")(handler)

    with serve([answer]) as (url, _):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        session = studio.open(model="openai-chat:gpt-4o")
        assert [session.run(text).answer for text in ("one", "two")] == ["Hello."] * 2
        session.close()
    assert len(set(ports)) == 1
