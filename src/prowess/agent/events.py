"""What happens in a session, as values. The command line, programs and screens read the same ones.

As JSON each event is an object with its kind in `event`; docs/reference/agent-events.md has the
schema. Fields may be added within a version; consumers ignore what they do not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from prowess.text.display import count_words

VERSION = 1

Status = Literal["done", "refused", "failed", "budget", "interrupted"]
STATUS_TEXT = """\
- `done`: the model, or the tool that a command goes to, has answered.
- `refused`: a call needed an approval that it did not get, or the command is not available.
- `failed`: the model could not be reached, its answer was cut, or something else broke.
- `budget`: a limit on turns, cost or time was reached.
- `interrupted`: the user stopped it.
"""
"""What each status of a turn means, for the reference."""

Outcome = Literal["done", "failed", "refused"]
HookOutcome = Literal["done", "blocked", "failed"]


class AgentEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="event"):
    """Something that happened. `agent` names the sub-agent it happened in, "" is the main one."""

    agent: str = ""


class SessionStarted(AgentEvent, frozen=True, kw_only=True, tag="session-started"):
    """A session begins or goes on. `version` is that of these events."""

    session: str
    cwd: str
    host: str
    version: int
    model: str = ""
    resumed: bool = False


class TurnStarted(AgentEvent, frozen=True, kw_only=True, tag="turn-started"):
    """A turn begins with what the user typed."""

    turn: int
    text: str


class MessageQueued(AgentEvent, frozen=True, kw_only=True, tag="message-queued"):
    """The user typed something while the model works.

    `delivery` is `steer` (before the next request) or `follow-up` (when the model would stop).
    """

    id: str
    text: str
    delivery: str


class MessageDelivered(AgentEvent, frozen=True, kw_only=True, tag="message-delivered"):
    """The model has received a message that was queued."""

    id: str


class SkillLoaded(AgentEvent, frozen=True, kw_only=True, tag="skill-loaded"):
    """A skill came into the conversation, asked for by the `user` or the `model`."""

    name: str
    by: str
    tokens: int = 0


class SkillsWoken(AgentEvent, frozen=True, kw_only=True, tag="skills-woken"):
    """A file was touched that these skills waited for."""

    names: tuple[str, ...]


class TextDelta(AgentEvent, frozen=True, kw_only=True, tag="text"):
    """The next piece of the model's answer."""

    text: str


class ThinkingDelta(AgentEvent, frozen=True, kw_only=True, tag="thinking"):
    """The next piece of what the model shows of its thinking."""

    text: str


class ToolStarted(AgentEvent, frozen=True, kw_only=True, tag="tool-started"):
    """The model calls a tool. `diff` is the change that a write would make."""

    call: str
    tool: str
    title: str
    input: Mapping[str, Any] = msgspec.field(default_factory=dict)
    diff: str = ""


class ApprovalAsked(AgentEvent, frozen=True, kw_only=True, tag="approval-asked"):
    """Someone must approve a call, a skill or its commands. Only `--input jsonl` asks this way.

    The answer is a line of input with the `id` and one of the `choices`. `names` are the skills,
    paths or programs that it is about, `details` the exact commands. `note` says why it is asked.

    `skill` and `location` are the skill that wants to run commands, or that would use the
    `allowed_tools` without asking and run the `hooks`. Approving the skill approves these as well.
    """

    id: str
    permission: str
    choices: tuple[str, ...]
    names: tuple[str, ...] = ()
    title: str = ""
    details: tuple[str, ...] = ()
    skill: str = ""
    location: str = ""
    allowed_tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    diff: str = ""
    note: str = ""


class ToolFinished(AgentEvent, frozen=True, kw_only=True, tag="tool-finished"):
    """A call ended with the `output` that the model receives."""

    call: str
    tool: str
    outcome: Outcome
    output: str = ""
    seconds: float = 0.0


class HookFinished(AgentEvent, frozen=True, kw_only=True, tag="hook-finished"):
    """A hook ran at the event `hook`, such as `PreToolUse`, for the tool call `call` if it has one.

    `source` is `user`, `project`, `plugin` or `skill`, and `name` that of the plugin or skill.
    `blocked` means that it refused something; a hook that `failed` has no effect. `message` is what
    it says, or what is wrong with it.
    """

    hook: str
    command: str
    source: str
    outcome: HookOutcome
    name: str = ""
    call: str = ""
    message: str = ""
    seconds: float = 0.0


class TaskFinished(AgentEvent, frozen=True, kw_only=True, tag="task-finished"):
    """A sub-agent in the background is done; the agent that started it gets its `output`."""

    task: str
    name: str
    status: Status
    output: str = ""
    reason: str = ""


class RequestFinished(AgentEvent, frozen=True, kw_only=True, tag="request-finished"):
    """The model has answered one request. `cost` is in US dollars, None where no price is known."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cost: float | None = None
    model: str = ""


class StreamCut(AgentEvent, frozen=True, kw_only=True, tag="stream-cut"):
    """The answer of the model ended before it was complete."""

    reason: str


class CompactionStarted(AgentEvent, frozen=True, kw_only=True, tag="compaction-started"):
    """The conversation is being compacted: the model is asked for a summary.

    `automatic` if it came near the `window` of the model, and not because the user asked for it.
    `tokens` is about how many the next request would have.
    """

    tokens: int
    window: int
    automatic: bool = False


class Compacted(AgentEvent, frozen=True, kw_only=True, tag="compacted"):
    """A `summary` has taken the place of older messages.

    Besides it, the first prompt, the latest `messages` (their number) and the loaded `skills` are
    kept; of those, `shortened` ones end with a note where the rest is. `dropped` skills are no
    longer loaded. The tokens are those of the next request, estimated.
    """

    tokens_before: int
    tokens_after: int
    messages: int = 0
    skills: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    summary: str = ""
    automatic: bool = False

    def describe(self) -> str:
        """What was kept, as sentences."""
        kept = ["a summary", "the first prompt"]
        if self.messages:
            kept.append(f"the last {count_words(self.messages, 'message')}")
        if self.skills:
            kept.append(f"the skills {', '.join(self.skills)}")
        size = f"from about {self.tokens_before:,} to {self.tokens_after:,} tokens"
        lines = [f"Compacted {size}; kept: {', '.join(kept)}."]
        if self.shortened:
            lines.append(f"Shortened: {', '.join(self.shortened)}.")
        if self.dropped:
            lines.append(f"No longer loaded: {', '.join(self.dropped)}.")
        return " ".join(lines)


class Warned(AgentEvent, frozen=True, kw_only=True, tag="warning"):
    """Something the user should know, which ends nothing."""

    code: str
    message: str


class TurnEnded(AgentEvent, frozen=True, kw_only=True, tag="turn-ended"):
    """A turn is over. `answer` is the model's last text, and the tokens are those of the turn."""

    turn: int
    status: Status
    answer: str = ""
    reason: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


Event = (
    SessionStarted
    | TurnStarted
    | MessageQueued
    | MessageDelivered
    | SkillLoaded
    | SkillsWoken
    | TextDelta
    | ThinkingDelta
    | ToolStarted
    | ApprovalAsked
    | ToolFinished
    | TaskFinished
    | HookFinished
    | RequestFinished
    | StreamCut
    | CompactionStarted
    | Compacted
    | Warned
    | TurnEnded
)

_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def render_event(event: Event) -> bytes:
    """An event as one line of JSON, without the end of the line."""
    return msgspec.json.encode(event)


def parse_event(line: str | bytes) -> Event:
    """The event of a line. Raises `msgspec.ValidationError`."""
    return _DECODER.decode(line)


def build_schema() -> dict[str, Any]:
    """The JSON schema of an event."""
    return msgspec.json.schema(Event)
