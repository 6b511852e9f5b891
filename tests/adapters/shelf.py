"""The skills that every adapter is tried with, and what a model must get of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from prowess.activate.code_skills import DefinedSkill
from prowess.activate.ledger import digest_activation
from prowess.conversation.conversation import Conversation
from prowess.gate.permissions import parse_given
from prowess.model.activation import IN_CODE, Activation
from prowess.ports import Approver
from prowess.runtime import Skills
from tests.workspace import Workspace

OWN = "You help sailors."
DONE = "Fair winds."


class Answered(NamedTuple):
    """What a model got for a call."""

    text: str
    is_error: bool = False


class Played(NamedTuple):
    """A whole run as the model lived through it: what it was told at first, the tool, and the
    answers to its calls.

    `messages` are the texts that stood between the instructions and its first call, and `history`
    is all of it as the library keeps it.
    """

    instructions: str
    tool: Mapping[str, Any]
    answers: list[Answered]
    output: str
    messages: list[str]
    history: list[Any]
    tools: Sequence[str] = ()


class Play(Protocol):
    """Let a model of a library make calls, one per turn, and end with `DONE`. `kept` are messages
    from before. A call may be a pair of another tool's name and its parameters.
    """

    def __call__(
        self,
        skills: Skills | Conversation,
        calls: Sequence[Mapping[str, Any]],
        *,
        on_activation: Callable[[Activation, Any], object] | None = None,
        kept: Sequence[Any] = (),
        **options: Any,
    ) -> Played: ...


def name_call(call: Any) -> tuple[str, dict[str, Any]]:
    """The tool and the parameters of a call; without a name it is the one that loads skills."""
    tool, parameters = call if isinstance(call, tuple) else ("skill", call)
    return tool, dict(parameters)


class Shelf:
    """A project with skills of every kind that matters here."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._write(
            "tides",
            "Reads tide tables.",
            "Read the table of $ARGUMENTS.\n",
            "effort: high\nmodel: opus\n",
        )
        workspace.write("project/.agents/skills/tides/ports.md", "# Ports\n")
        self._write("天气", "看天气 <今天>。", "看云 & 风。\n")
        self._write("crew-list", "Lists the crew.", "Nobody may know.\n")
        self._write("anchor", "Drops the anchor.", "Drop it.\n")
        self._write("charts", "Draws charts.", "Draw.\n", "paths: charts/**\n")

    def open(self, **options: Any) -> Skills:
        """The skills; `crew-list` is denied, and somebody is asked about `anchor`."""
        return self.workspace.open(
            rules=parse_given({"skill": {"crew-list": "deny", "anchor": "ask"}}), **options
        )

    def talk(self, *, approver: Approver | None = None, saved: str | None = None) -> Conversation:
        """A conversation with them."""
        return self.open().conversation(approver=approver, saved=saved)

    def talk_of(self, *blocks: Mapping[str, Any]) -> Conversation:
        """A conversation with a skill `flag` that is defined in code and gives these blocks behind
        a text.
        """
        skills = self.open()
        prompt = [{"type": "text", "text": "Hoist it."}, *blocks]
        skills.define(
            DefinedSkill(
                name="flag",
                description="Shows a flag.",
                get_prompt=lambda arguments, context: prompt,
            )
        )
        return skills.conversation()

    def folder(self, name: str) -> Path:
        return self.workspace.project / ".agents" / "skills" / name

    def loaded(self, name: str, body: str, *files: str, arguments: str = "") -> str:
        """What a model receives when it loads a skill."""
        file = self.folder(name) / "SKILL.md"
        digest = f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"
        version = digest_activation(name, digest=digest, location=str(file), arguments=arguments)
        return tag(self.wrapped(name, body, *files), name, version)

    def wrapped(self, name: str, body: str, *files: str) -> str:
        """The text of a skill without its tag."""
        rows = "".join(f"<file>{self.folder(name) / file}</file>\n" for file in files)
        listed = (
            "The files below are a sample of the folder's contents.\n\n"
            f"<skill_files>\n{rows}</skill_files>\n"
        )
        return (
            f'<skill_content name="{name}">\n# Skill: {name}\n\n{body}\n\n'
            f"Base folder of this skill: {self.folder(name)}\n"
            "Relative paths in this skill (such as scripts/ or reference/) start at that folder.\n"
            f"{listed if files else ''}</skill_content>"
        )

    def rewrite(self, name: str, description: str, body: str) -> None:
        """Edit a skill."""
        self._write(name, description, body)

    def _write(self, name: str, description: str, body: str, fields: str = "") -> None:
        text = f"---\nname: {name}\ndescription: {description}\n{fields}---\n{body}"
        self.workspace.write(f"project/.agents/skills/{name}/SKILL.md", text)


def tag(text: str, name: str, version: str, media: int = 0) -> str:
    """A text and the tag that says which version of a skill it is."""
    more = f' media="{media}"' if media else ""
    check = hashlib.sha256(f"{len(text)}:{text}".encode()).hexdigest()[:16]
    return (
        f'{text}\n<skill_loaded name="{name}" digest="{version}" text="{check}"'
        f' characters="{len(text)}"{more}/>'
    )


def tag_flag(conversation: Conversation) -> str:
    """What a model receives of the skill `flag`, beside its blocks."""
    digest = conversation.activate("flag").digest
    version = digest_activation("flag", digest=digest, location=IN_CODE, arguments="")
    return tag(FLAG, "flag", version, media=len(BLOCKS))


HOW = (
    "A skill is a set of instructions for one kind of task. When a task matches the description of"
    " a skill, load the skill with the tool `skill` before you start, and follow it."
)
LISTED = f"""{HOW}
<available_skills>
- anchor: Drops the anchor.
- tides: Reads tide tables.
- 天气: 看天气 &lt;今天&gt;。
</available_skills>"""
FLAG = '<skill_content name="flag">\n# Skill: flag\n\nHoist it.\n</skill_content>'
"""What a model receives of the skill `flag`, beside its blocks and its tag."""
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
PAGE = {"type": "document", "source": {"type": "url", "url": "https://example.org/flags.pdf"}}
PAPER = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
}
PHOTO = {"type": "image", "source": {"type": "url", "url": "https://example.org/flag.png"}}
NOTE = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Red."}}
ODD = {"type": "旗", "colour": "red"}
BLOCKS = (PICTURE, PHOTO, PAPER, PAGE, NOTE, ODD)
REPEATED = "The skill “tides” is already loaded and has not changed; keep following it."
UNKNOWN = "There is no skill named “tide” here. Did you mean “tides”? Available skills: anchor, tides, 天气."
SURVIVED = (
    "The conversation was shortened. These skills were loaded before and still apply. Do not load"
    " them again, unless one ends with a note that it was cut."
)
