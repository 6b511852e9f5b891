"""Stand-ins for the world around a conversation: whoever is asked, whatever runs commands, and
trust in a project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.errors import MachineError
from prowess.model.command import Command, Finished
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.runtime import Skills
from prowess.state.trust import TrustFile

ONCE = ApprovalAnswer(ApprovalChoice.ONCE)
ALWAYS = ApprovalAnswer(ApprovalChoice.ALWAYS)
REJECT = ApprovalAnswer(ApprovalChoice.REJECT)


class Person:
    """An approver that gives these answers in turn, the last one for ever, and remembers what it
    was asked.
    """

    def __init__(self, *answers: ApprovalAnswer) -> None:
        self.asked: list[ApprovalRequest] = []
        self._answers = list(answers)

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        """The next answer."""
        self.asked.append(request)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Recorder:
    """A runner that runs nothing: it remembers the commands and gives an answer for each."""

    def __init__(self, answer: Callable[[Command], Finished] | None = None) -> None:
        self.ran: list[Command] = []
        self._answer = answer or (lambda command: Finished(code=0, output=f"<{command.text}>"))

    def run(self, command: Command, *, is_cancelled: Callable[[], bool] | None = None) -> Finished:
        """The answer for a command."""
        self.ran.append(command)
        return self._answer(command)


class Keyring:
    """A store of secrets in memory."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = secrets

    def find_secret(self, reference: Mapping[str, Any]) -> str | None:
        """The secret of an account."""
        if reference.get("keyring") != "prowess":
            raise MachineError("open", "the keyring", "it is locked")
        return self._secrets.get(str(reference.get("account")))


def trust(skills: Skills) -> None:
    """Trust the project that the skills were opened in."""
    TrustFile.of(skills.facts).trust(skills.cwd)


def plain(value: Any) -> Any:
    """A value as plain data, to be compared as a whole."""
    return msgspec.json.decode(msgspec.json.encode(value))
