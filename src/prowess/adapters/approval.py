"""Questions and answers where a library suspends the run until a person has decided."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

from prowess.adapters.bounded import BoundedDict
from prowess.errors import UsageError
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest

_Answer = TypeVar("_Answer")
_ASKED_TWICE = (
    "It needs a second approval in one call. Allow one of the two with a rule, or give the adapter"
    " an approver."
)
_CHANGED = "It has changed since it was approved."


class SuspendedCall(Exception):
    """A call that ends here because someone has to approve it first.

    It passes through the core up to the adapter, which asks as its library does.
    """

    def __init__(self, request: ApprovalRequest) -> None:
        self.request = request
        super().__init__(request.key)


def suspend_call(request: ApprovalRequest) -> NoReturn:
    """Suspend a call until its request is answered."""
    raise SuspendedCall(request)


def describe_question(request: ApprovalRequest) -> dict[str, Any]:
    """A question as plain data, for whoever shows it to a person.

    `key` stands for exactly this request and the skill's content. An answer that repeats it is not
    used for anything else.
    """
    return {
        "permission": request.permission,
        "patterns": list(request.patterns),
        "always": list(request.always),
        "note": request.note,
        "metadata": dict(request.metadata),
        "key": request.key,
    }


def explain_unasked(tools: Iterable[str]) -> str:
    """What a model is told about a sub-agent whose calls of these tools need an approval."""
    names = ", ".join(dict.fromkeys(tools))
    return f"The sub-agent needs approval for {names}, which it cannot ask for."


def read_answer(value: Any, request: ApprovalRequest) -> ApprovalAnswer:
    """What a person said: True or False, `once`, `always` or `reject`, or a mapping.

    A mapping has `reply` and may have `feedback`, and the `key` of the question. Raises
    `UsageError` for anything else.
    """
    match value:
        case ApprovalAnswer():
            return value
        case bool():
            return ApprovalAnswer(ApprovalChoice.ONCE if value else ApprovalChoice.REJECT)
        case str() if value in list(ApprovalChoice):
            return ApprovalAnswer(ApprovalChoice(value))
        case {"key": str(key)} if key != request.key:
            return ApprovalAnswer(ApprovalChoice.REJECT, _CHANGED)
        case {"reply": bool() | str() as reply}:
            feedback = value.get("feedback")
            said = read_answer(reply, request).reply
            return ApprovalAnswer(said, feedback if isinstance(feedback, str) else None)
    raise UsageError(
        f"An approval is answered with true, false, once, always or reject, not {value!r:.200}."
    )


class ApprovedCall:
    """Answers the questions of a call that was approved as a whole.

    A person who approves a call has seen one question, so a second one is refused. `keys` are those
    that the person saw, where they are known, and `reply` is what was said.
    """

    def __init__(
        self, *, keys: Collection[str] = (), reply: ApprovalChoice = ApprovalChoice.ONCE
    ) -> None:
        self._keys = keys
        self._reply = reply
        self._answered = 0

    def answer(self, request: ApprovalRequest) -> ApprovalAnswer:
        """The answer to a question."""
        if request.key in self._keys:
            return ApprovalAnswer(self._reply)
        if self._keys:
            return ApprovalAnswer(ApprovalChoice.REJECT, _CHANGED)
        self._answered += 1
        if self._answered == 1:
            return ApprovalAnswer(self._reply)
        return ApprovalAnswer(ApprovalChoice.REJECT, _ASKED_TWICE)


class ShownQuestions:
    """The questions that suspended a call, so that an answer is used for no other question.

    A library repeats a call when it is answered, and many say only yes or no then. A question is
    known by its key, which stands for everything that is asked and the skill's content. They are
    known in this process alone: in another one, only an answer that repeats the key is checked.
    """

    def __init__(self) -> None:
        self._keys: BoundedDict[tuple[str, str, str, int], frozenset[str]] = BoundedDict()
        self._lock = threading.Lock()

    def bind(
        self, tool: str, parameters: Any, call_id: str, ask: Callable[[ApprovalRequest], _Answer]
    ) -> Callable[[ApprovalRequest], _Answer | ApprovalAnswer]:
        """As `ask`, for one call: remembers a question that suspends it, and checks an answer."""
        call = (tool, call_id, json.dumps(parameters, default=repr, sort_keys=True))
        count = 0

        def ask_checked(request: ApprovalRequest) -> _Answer | ApprovalAnswer:
            nonlocal count
            place, count = (*call, count), count + 1
            try:
                answer = ask(request)
            except UsageError:
                # It was answered, though not in a way that can be used.
                raise
            except BaseException:
                # What suspends a call is an exception of the library's own.
                with self._lock:
                    self._keys[place] = self._keys.get(place, frozenset()) | {request.key}
                raise
            with self._lock:
                shown = self._keys.get(place)
            if call_id and shown is not None and request.key not in shown:
                return ApprovalAnswer(ApprovalChoice.REJECT, _CHANGED)
            return answer

        return ask_checked


def read_approval(metadata: Any) -> ApprovedCall:
    """The approval of a call, with the questions that its metadata name: `key`, `answered`."""
    if not isinstance(metadata, Mapping):
        return ApprovedCall()
    answered = metadata.get("answered")
    keys = [metadata.get("key"), *(answered if isinstance(answered, list) else ())]
    is_always = metadata.get("reply") == ApprovalChoice.ALWAYS.value
    return ApprovedCall(
        keys=[key for key in keys if isinstance(key, str)],
        reply=ApprovalChoice.ALWAYS if is_always else ApprovalChoice.ONCE,
    )
