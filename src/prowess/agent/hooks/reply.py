"""What a hook answers: its exit code and output, read as Claude Code documents them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from prowess.model.command import Command, Finished
from prowess.text.display import count_words
from prowess.text.markup import escape_text, tidy_block

HookDecision = Literal["", "allow", "ask", "deny"]

MOST_OUTPUT = 100_000
# As in Claude Code. A hook runs often, so that its words must not fill the window.
_MOST_CONTEXT = 10_000
_MOST_REASON = 2_000
# The exit code with which a hook refuses.
_BLOCKS = 2
_SPECIFIC = "hookSpecificOutput"
# Events of which plain output is context for the model.
_TELLING = ("SessionStart", "UserPromptSubmit")
# Events that nothing can block.
_UNSTOPPABLE = ("SessionStart",)
_STRICTNESS: Mapping[HookDecision, int] = {"": 0, "allow": 1, "ask": 2, "deny": 3}


class HookReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook says about an event.

    `decision` is "" if it has none; `deny` also stands for `block`. `input` takes the place of a
    tool's input. `message` is for the user. With `stops` the turn ends. `failure` says why the hook
    counts for nothing.
    """

    decision: HookDecision = ""
    reason: str = ""
    context: str = ""
    input: Mapping[str, Any] | None = None
    message: str = ""
    stops: bool = False
    failure: str = ""

    @property
    def is_refusal(self) -> bool:
        """Whether what the event is about must not happen."""
        return self.decision == "deny" or self.stops


class _Specific(msgspec.Struct, frozen=True, rename="camel"):
    hook_event_name: str = ""
    permission_decision: Literal["allow", "ask", "deny"] | None = None
    permission_decision_reason: str = ""
    updated_input: dict[str, Any] | None = None
    additional_context: str = ""


class _HookOutput(msgspec.Struct, frozen=True, rename="camel"):
    decision: Literal["approve", "allow", "block", "deny"] | None = None
    reason: str = ""
    continue_: bool = msgspec.field(default=True, name="continue")
    stop_reason: str = ""
    system_message: str = ""
    hook_specific_output: _Specific = _Specific()


_OLD_DECISIONS: Mapping[str | None, HookDecision] = {
    None: "",
    "approve": "allow",
    "allow": "allow",
    "block": "deny",
    "deny": "deny",
}


def parse_reply(event: str, finished: Finished, command: Command) -> HookReply:
    """What a hook that ended says."""
    errors = _shorten(finished.errors, _MOST_REASON)
    if finished.code is None:
        return HookReply(failure=f"it was stopped after {count_words(command.seconds, 'second')}")
    if finished.code == _BLOCKS and event not in _UNSTOPPABLE:
        return HookReply(decision="deny", reason=errors or "no reason given")
    if finished.code != 0:
        said = f": {errors}" if errors else ""
        return HookReply(failure=f"it ended with exit code {finished.code}{said}")
    if finished.left_out:
        return HookReply(failure=f"it printed more than {command.output_bytes:,} bytes")
    output = finished.output.strip()
    if output.startswith("{"):
        return _parse_output(output)
    # At other events it is the chatter of the program that the hook runs.
    if event not in _TELLING:
        return HookReply()
    return HookReply(context=_shorten(output, _MOST_CONTEXT))


def _parse_output(text: str) -> HookReply:
    try:
        fields = _drop_nulls(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return HookReply(failure=f"its JSON cannot be read: {error}")
    try:
        return _read_output(msgspec.convert(fields, _HookOutput))
    except msgspec.ValidationError as error:
        # A slip in another field must not open what the hook wants closed.
        readable = _read_output(msgspec.convert(_keep_readable(fields), _HookOutput))
        if readable.is_refusal:
            return readable
        return HookReply(failure=f"its JSON cannot be read: {error}")


def _read_output(output: _HookOutput) -> HookReply:
    specific = output.hook_specific_output
    # Claude Code has two places for a decision, an old one and a new one; the stricter counts.
    given: tuple[tuple[HookDecision, str], ...] = (
        (specific.permission_decision or "", specific.permission_decision_reason),
        (_OLD_DECISIONS[output.decision], output.reason),
    )
    decision, reason = max(given, key=lambda one: _STRICTNESS[one[0]])
    reason = reason or output.reason or specific.permission_decision_reason
    if not output.continue_:
        reason = output.stop_reason or reason
    return HookReply(
        decision=decision,
        reason=_shorten(reason, _MOST_REASON),
        context=_shorten(specific.additional_context, _MOST_CONTEXT),
        input=specific.updated_input,
        message=_shorten(output.system_message, _MOST_REASON),
        stops=not output.continue_,
    )


def _drop_nulls(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that are not null. A tool's input keeps its nulls, which can mean something."""
    kept = {name: value for name, value in fields.items() if value is not None}
    specific = kept.get(_SPECIFIC)
    if not isinstance(specific, dict):
        return kept
    kept_below = {name: value for name, value in specific.items() if value is not None}
    return {**kept, _SPECIFIC: kept_below}


def _keep_readable(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that have the right type."""
    specific = fields.get(_SPECIFIC)
    if isinstance(specific, dict):
        readable = {name: one for name, one in specific.items() if _fits(name, one, _Specific)}
        fields = {**fields, _SPECIFIC: readable}
    return {name: one for name, one in fields.items() if _fits(name, one, _HookOutput)}


def _fits(name: str, value: Any, kind: type[_HookOutput | _Specific]) -> bool:
    try:
        msgspec.convert({name: value}, kind)
    except msgspec.ValidationError:
        return False
    return True


def merge_replies(replies: Iterable[HookReply]) -> HookReply:
    """What all hooks of an event say together: the strictest decision, and every context.

    Of several that change the input the last one counts.
    """
    merged = HookReply()
    # A hook that fails counts for nothing: a typo in one must not lock the user out.
    for reply in (one for one in replies if not one.failure):
        is_stricter = _STRICTNESS[reply.decision] > _STRICTNESS[merged.decision]
        if is_stricter:
            merged = msgspec.structs.replace(merged, decision=reply.decision, reason=reply.reason)
        if reply.stops and not merged.stops:
            merged = msgspec.structs.replace(merged, stops=True, reason=reply.reason)
        # A hook that ran twice may have said the same twice.
        if reply.context not in merged.context:
            context = f"{merged.context}\n\n{reply.context}".strip()
            merged = msgspec.structs.replace(merged, context=context)
        if reply.input is not None:
            merged = msgspec.structs.replace(merged, input=reply.input)
    return merged


def drop_allow(reply: HookReply) -> HookReply:
    """A reply that permits nothing."""
    if reply.decision != "allow":
        return reply
    return msgspec.structs.replace(reply, decision="", reason="")


def render_context(event: str, text: str) -> str:
    """What a hook adds for the model, marked as what it is."""
    return f'<hook_context event="{event}">\n{escape_text(tidy_block(text))}\n</hook_context>'


def _shorten(text: str, most: int) -> str:
    text = text.strip()
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[{count_words(len(text) - most, 'more character')} left out]"
