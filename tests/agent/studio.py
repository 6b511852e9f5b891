"""A project in which a session runs, with a script in place of a model."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prowess.agent import Session
from prowess.agent.events import Event, ToolFinished, TurnEnded
from prowess.gate.permissions import parse_given
from prowess.model.facts import Facts
from prowess.model.permission import ApprovalAnswer, ApprovalChoice, ApprovalRequest
from prowess.runtime import Skills
from prowess.state.trust import TrustFile
from prowess.text.permission_rules import AGENT_TOOLS
from tests.workspace import Workspace


def call(tool: str, **input: Any) -> dict[str, Any]:
    """An answer of the model that calls one tool."""
    return {"calls": [{"tool": tool, "input": input}]}


def say(text: str) -> dict[str, Any]:
    """An answer of the model that ends the turn."""
    return {"text": text}


# A command that runs until `Studio.let_go`.
SLOW = call("Bash", command="until [ -e go ]; do sleep 0.05; done")


class Asked:
    """An approver that gives the same answer to everything, and remembers what it was asked."""

    def __init__(
        self, reply: ApprovalChoice = ApprovalChoice.ONCE, feedback: str | None = None
    ) -> None:
        self.requests: list[ApprovalRequest] = []
        self._answer = ApprovalAnswer(reply, feedback)

    def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.requests.append(request)
        return self._answer


class Studio:
    """A machine with a project; sessions in it replay scripts."""

    def __init__(self, root: Path) -> None:
        self.host = "prowess"
        self.env: dict[str, str] = {}
        self.workspace = Workspace(root)
        self.workspace.git()
        self.project = self.workspace.project
        self._open: list[Session] = []

    @property
    def facts(self) -> Facts:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.workspace.home), **self.env}
        return Facts(
            home=str(self.workspace.home),
            platform="linux",
            env=env,
            find_bin=lambda name: shutil.which(name) is not None,
        )

    def script(self, *answers: Mapping[str, Any], name: str = "script.jsonl") -> str:
        """Write a script; the name of the model that replays it."""
        lines = [{"prowess-script": 1}, *answers]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        return f"script:{self.workspace.write(name, text)}"

    def skills(self, **rules: Any) -> Skills:
        """The skills of the project, with rules such as `allow=["Bash(git *)"]`."""
        return Skills(
            self.project,
            host=self.host,
            facts=self.facts,
            cache=False,
            rules=parse_given(**rules, tools=AGENT_TOOLS),
        )

    def open(self, *answers: Mapping[str, Any], rules: Any = None, **options: Any) -> Session:
        """A session whose model gives these answers."""
        model = options.pop("model", None) or self.script(*answers)
        session = Session(self.skills(**(rules or {})), model=model, **options)
        self._open.append(session)
        return session

    def run(
        self, *answers: Mapping[str, Any], text: str = "Do it.", rules: Any = None, **options: Any
    ) -> tuple[TurnEnded, list[Event]]:
        """One turn; its end, and everything that happened."""
        events: list[Event] = []
        session = self.open(*answers, rules=rules, **options)
        ended = session.run(text, on_event=events.append)
        return ended, events

    def use(
        self, tool: str, *, rules: Any = None, options: Any = None, **input: Any
    ) -> ToolFinished:
        """What comes of one call of a tool."""
        _, events = self.run(call(tool, **input), say("Done."), rules=rules, **(options or {}))
        (finished,) = [one for one in events if isinstance(one, ToolFinished)]
        return finished

    def trust(self) -> None:
        """Trust the project."""
        TrustFile.of(self.facts, cwd=str(self.project)).trust(str(self.project))

    def read(self, path: str) -> str:
        return (self.project / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str = "") -> Path:
        return self.workspace.write(f"project/{path}", text)

    def let_go(self) -> None:
        """Let the command `SLOW` end."""
        self.write("go")

    def skill(self, name: str, body: str = "Do it.\n", **fields: str) -> None:
        self.workspace.skill(f"project/.agents/skills/{name}", body=body, **fields)

    def close(self) -> None:
        for session in self._open:
            session.close()


def pick(events: list[Event], kind: type[Any]) -> list[Any]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]
