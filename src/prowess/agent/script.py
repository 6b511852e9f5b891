"""Scripts: a written conversation that stands in for a model, for tests, demos and bug reports.

A script is a file of JSON lines. The first is `{"prowess-script": 1}`; each other line is one
answer of the model: its `text`, its `calls` of tools, its `thinking`. An answer may `expect` texts
in the request that it answers. Lines for a sub-agent have its name as `agent`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from prowess.errors import MachineError
from prowess.errors.agent import ScriptError
from prowess.machine.append_file import AppendFile
from prowess.ports import FileSystem

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model

VERSION = 1
_HEADER = "prowess-script"
_MOST_BYTES = 1 << 26
# How much of a text comes at once, so that a replay streams as a provider does.
_CHUNK = 24


class ScriptedCall(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One call of a tool."""

    tool: str
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)


class ScriptedAnswer(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One answer of the model, as a line of a script has it."""

    agent: str = ""
    thinking: str = ""
    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    expect: tuple[str, ...] = ()


class _Line(NamedTuple):
    number: int
    answer: ScriptedAnswer


class Script:
    """The answers of a script that are left, for all agents of a session."""

    def __init__(self, file: str, lines: Iterable[tuple[int, ScriptedAnswer]]) -> None:
        self.file = file
        self._left = [_Line(*line) for line in lines]
        self._total = len(self._left)
        self._lock = threading.Lock()

    def take(self, agent: str, request: str) -> ScriptedAnswer:
        """The next answer of an agent. Raises `ScriptError` where it does not fit the request."""
        with self._lock:
            at = next((i for i, one in enumerate(self._left) if one.answer.agent == agent), None)
            if at is None:
                of = f" of the agent “{agent}”" if agent else ""
                raise ScriptError(
                    self.file, f"the model was asked again, but no answer{of} is left"
                )
            number, answer = self._left.pop(at)
        for text in answer.expect:
            if text not in request:
                raise ScriptError(self.file, f"the request does not contain “{text}”", line=number)
        return answer

    def skip(self, agent: str, count: int) -> None:
        """Leave out the first answers of an agent, which it gave before it was interrupted.

        Its last words stay: a turn that is killed between them and its end is asked to go on.
        """
        with self._lock:
            lines = [one for one in self._left if one.answer.agent == agent]
            if lines and not lines[-1].answer.calls:
                count = min(count, len(lines) - 1)
            for line in lines[:count]:
                self._left.remove(line)


def load_script(path: str, files: FileSystem) -> Script:
    """Read a script. Raises `ScriptError` and `MachineError`."""
    try:
        head = files.read_head(path, _MOST_BYTES)
    except OSError as error:
        raise MachineError.caused_by("read", path, error) from error
    if head.size > _MOST_BYTES:
        raise ScriptError(path, f"the file has more than {_MOST_BYTES:,} bytes")
    lines = _list_lines(head.data)
    number, first = next(lines, (1, b""))
    _check_header(path, number, first)
    return Script(path, [(number, _parse_answer(path, number, line)) for number, line in lines])


def _list_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield number, line


def _check_header(path: str, number: int, line: bytes) -> None:
    found: Any = None
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        found = msgspec.json.decode(line)
    if not isinstance(found, dict) or _HEADER not in found:
        raise ScriptError(path, f'the first line must be `{{"{_HEADER}": {VERSION}}}`', line=number)
    if found[_HEADER] != VERSION:
        problem = f"it has version {found[_HEADER]}; this Prowess reads version {VERSION}"
        raise ScriptError(path, problem, line=number)


def _parse_answer(path: str, number: int, line: bytes) -> ScriptedAnswer:
    try:
        answer = msgspec.json.decode(line, type=ScriptedAnswer)
    except msgspec.DecodeError as error:
        raise ScriptError(path, str(error).rstrip("."), line=number) from None
    except UnicodeDecodeError:
        raise ScriptError(path, "the line is not valid UTF-8", line=number) from None
    if not (answer.text or answer.calls):
        raise ScriptError(path, "an answer needs a `text` or `calls`", line=number)
    return answer


def replay(script: Script, agent: str = "") -> Model:
    """A model that gives the answers of a script, streamed."""
    from pydantic_ai.models.function import (
        AgentInfo,
        DeltaThinkingPart,
        DeltaToolCall,
        FunctionModel,
    )

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        answer = script.take(agent, _render_last(messages))
        if answer.thinking:
            yield {0: DeltaThinkingPart(content=answer.thinking)}
        for at in range(0, len(answer.text), _CHUNK):
            yield answer.text[at : at + _CHUNK]
        for index, call in enumerate(answer.calls, 1):
            arguments = msgspec.json.encode(call.input).decode()
            yield {index: DeltaToolCall(name=call.tool, json_args=arguments)}

    return FunctionModel(stream_function=stream, model_name=f"script:{script.file}")


def _render_last(messages: list[ModelMessage]) -> str:
    """The texts of the request that is to be answered."""
    from pydantic_ai.messages import ModelRequest

    request = messages[-1]
    if not isinstance(request, ModelRequest):
        return ""
    contents = [str(getattr(part, "content", "")) for part in request.parts]
    return "\n".join([*contents, request.instructions or ""])


class Recorder:
    """Writes the answers of a model into a new script, each as soon as it is complete."""

    def __init__(self, path: str) -> None:
        self._file = AppendFile.create(path)
        self._file.append(msgspec.json.encode({_HEADER: VERSION}))

    def record(self, response: ModelResponse, agent: str = "") -> None:
        """Add an answer. One without text and calls has nothing to replay."""
        calls = tuple(
            ScriptedCall(one.tool_name, one.args_as_dict()) for one in response.tool_calls
        )
        answer = ScriptedAnswer(
            agent=agent, thinking=response.thinking or "", text=response.text or "", calls=calls
        )
        if answer.text or answer.calls:
            self._file.append(msgspec.json.encode(answer))

    def close(self) -> None:
        """Close the file."""
        self._file.close()
