"""Approvals inside the chat: the question above the line, the answer typed into it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from prowess.cli.chat.output import stack
from prowess.cli.chat.transcript import MOST_DIFF_LINES, render_diff
from prowess.cli.terminal.prompts import REPLIES
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.reports.approval_request import describe_request
from prowess.text.display import escape_line

_ONCE_ONLY = "Allow? y: yes · n: no · or type what to do instead"
_ANY = "Allow? y: once · a: always · n: no · or type what to do instead"


class ChatQuestion:
    """One request, and the answer that is waited for."""

    def __init__(self, request: ApprovalRequest) -> None:
        self.request = request
        self.answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()

    @property
    def hint(self) -> str:
        """What can be typed. “Always” is offered where it covers something."""
        return _ANY if self.request.always else _ONCE_ONLY

    def reply(self, typed: str) -> bool:
        """Take what was typed; False if that is no answer.

        Whatever is none of the usual words refuses the call, and is the reason that the model gets.
        """
        if not typed.strip():
            return False
        choice = REPLIES.get(typed.strip().lower())
        if choice is ApprovalChoice.ALWAYS and not self.request.always:
            return False
        feedback = typed.strip() if choice is None else None
        self._settle(ApprovalAnswer(choice or ApprovalChoice.REJECT, feedback))
        return True

    def refuse(self) -> None:
        """Refuse without a reason."""
        self._settle(ApprovalAnswer(ApprovalChoice.REJECT))

    def _settle(self, answer: ApprovalAnswer) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class ChatApprover:
    """Asks one question at a time. `print` shows it, `changed` is called when there is another."""

    def __init__(
        self,
        print: Callable[[RenderableType], None],
        changed: Callable[[ChatQuestion | None], None],
    ) -> None:
        self._print = print
        self._changed = changed
        self._lock = asyncio.Lock()

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Show exactly what is asked for, and wait for the answer."""
        async with self._lock:
            question = ChatQuestion(request)
            first, *others = describe_request(request)
            details: list[RenderableType] = [_indent(line) for line in others]
            diff = str(request.metadata.get("diff", ""))
            if diff.count("\n") > MOST_DIFF_LINES:
                # The call showed only its beginning.
                details.append(render_diff(diff, most=None))
            self._print(stack(Text(first, "bold yellow"), *details))
            self._changed(question)
            try:
                answer = await question.answer
            finally:
                self._changed(None)
            self._print(Text(_render_answer(answer), "dim"))
            return answer


def _indent(line: str) -> RenderableType:
    """A line whose indentation its wrapped rest has, too: where a command ends must be plain."""
    text = line.lstrip(" ")
    return Padding(Text(text), (0, 0, 0, len(line) - len(text)))


def _render_answer(answer: ApprovalAnswer) -> str:
    words = {"once": "Allowed once.", "always": "Allowed always.", "reject": "Not allowed."}
    said = f" {escape_line(answer.feedback)}" if answer.feedback else ""
    return f"{words[answer.reply.value]}{said}"
