"""Skills that are defined in code: their fields, a registry, their prompts, and the source of them
all. The fields are those of Claude Code's bundled definition.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from prowess.activate.async_results import Wait, describe_failure, settle
from prowess.activate.wrappers import render_folder_line
from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import InvalidName, MachineError, ProwessError, UnknownSkill
from prowess.errors.activation import PromptFailed
from prowess.model.activation import IN_CODE
from prowess.model.outcome import Claim, Note, State
from prowess.model.skill import (
    Candidate,
    Document,
    LoadedFrom,
    Manifest,
    Root,
    Scope,
    Skill,
    SkillCall,
    Source,
)
from prowess.ports import Discovered, ManifestReader, Search, Unpacker

_SOURCE = Source("bundled", "bundled", IN_CODE, LoadedFrom.BUNDLED, "bundled")

Block = Mapping[str, Any]
"""A content block: a mapping with a `type`; `{"type": "text", "text": …}` is text."""

Prompt = str | Sequence[Block]


class PromptContext(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What a prompt function may know of the conversation; `extra` is whatever the agent gives it
    beside that.
    """

    session: str | None = None
    cwd: str | None = None
    by: str = "user"
    extra: Mapping[str, Any] = msgspec.field(default_factory=dict)


GetPrompt = Callable[[str, PromptContext], Prompt | Awaitable[Prompt]]


class DefinedSkill(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A skill in code. Name, description and `get_prompt` are required, all else is optional.

    `get_prompt` gets the arguments as one text and a context, and gives text or content blocks,
    also asynchronously. `is_enabled` is asked every time whether the skill is available. `files`
    are contents by relative path; they are unpacked when the skill is first used.
    """

    name: str
    description: str
    get_prompt: GetPrompt
    aliases: tuple[str, ...] = ()
    when_to_use: str | None = None
    argument_hint: str | None = None
    allowed_tools: tuple[str, ...] = ()
    model: str | None = None
    disable_model_invocation: bool = False
    user_invocable: bool = True
    is_enabled: Callable[[], bool] | None = None
    hooks: Mapping[str, Any] | None = None
    context: Literal["inline", "fork"] | None = None
    agent: str | None = None
    files: Mapping[str, str | bytes] = msgspec.field(default_factory=dict)

    @property
    def manifest(self) -> Manifest:
        """The fields as a header would declare them, so that gates treat both alike."""
        return Manifest(
            name=self.name,
            description=self.description,
            aliases=self.aliases,
            when_to_use=self.when_to_use,
            argument_hint=self.argument_hint,
            allowed_tools=self.allowed_tools,
            model=self.model,
            disable_model_invocation=self.disable_model_invocation,
            user_invocable=self.user_invocable,
            hooks=self.hooks,
            context=self.context,
            agent=self.agent,
        )

    @property
    def is_available(self) -> bool:
        """Whether the skill is available now; a check of its own that fails counts as a no."""
        try:
            return self.is_enabled is None or bool(self.is_enabled())
        except Exception:
            # The check is somebody else's code; `find_unavailable` says what it raised.
            return False


class DefinedSkills(msgspec.Struct, frozen=True, eq=False):
    """A registry of skills in code, in the order of registration. Registering returns a new one."""

    skills: tuple[DefinedSkill, ...] = ()

    def register(self, *skills: DefinedSkill, replace: bool = False) -> DefinedSkills:
        """The registry with these skills. Raises `InvalidName` where a name is empty or already
        there; with `replace` a new skill takes the place of one of the same name.
        """
        new: dict[str, DefinedSkill] = {}
        taken = set() if replace else {skill.name for skill in self.skills}
        for skill in skills:
            if not skill.name.strip():
                raise InvalidName(skill.name, "it is empty")
            # Two new ones of the same name are a mistake even with `replace`.
            if skill.name in taken or skill.name in new:
                raise InvalidName(skill.name, "another skill defined in code has this name")
            new[skill.name] = skill
        # A skill that is replaced keeps its place in the order.
        kept = [new.pop(skill.name, skill) for skill in self.skills]
        return DefinedSkills((*kept, *new.values()))

    def remove(self, *names: str) -> DefinedSkills:
        """The registry without the skills of these names. Raises `UnknownSkill`."""
        gone = {self.get(name).name for name in names}
        return DefinedSkills(tuple(skill for skill in self.skills if skill.name not in gone))

    def find(self, name: str) -> DefinedSkill | None:
        """The skill of that name, or else the first one with such an alias."""
        by_name = self._find_exactly(name)
        if by_name is not None:
            return by_name
        return next((skill for skill in self.skills if name in skill.aliases), None)

    def get(self, name: str) -> DefinedSkill:
        """The skill of exactly that name. Raises `UnknownSkill`."""
        skill = self._find_exactly(name)
        if skill is None:
            raise UnknownSkill(name, [known.name for known in self.skills])
        return skill

    def _find_exactly(self, name: str) -> DefinedSkill | None:
        return next((skill for skill in self.skills if skill.name == name), None)

    def __iter__(self) -> Iterator[DefinedSkill]:
        return iter(self.skills)

    def __len__(self) -> int:
        return len(self.skills)


class DefinedPrompt(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A prompt that was made: its blocks, with the folder's line first where files were unpacked
    into one.
    """

    blocks: tuple[Block, ...]
    folder: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """The text of all text blocks."""
        return "\n\n".join(str(block["text"]) for block in self.blocks if block["type"] == "text")


def find_folder(defined: DefinedSkill, unpacker: Unpacker) -> str | None:
    """The folder of a skill's files, known before they are unpacked; None if it has none."""
    return unpacker.find_folder(defined.name) if defined.files else None


def make_prompt(
    defined: DefinedSkill,
    arguments: str,
    context: PromptContext,
    *,
    unpacker: Unpacker,
    wait: Wait | None = None,
) -> DefinedPrompt:
    """Unpack the files at the first use, then ask for the prompt, then put the folder before it.

    Where the files cannot be unpacked the prompt goes on without a folder, with a diagnostic.
    Raises `PromptFailed`.
    """
    folder, found = _unpack(defined, unpacker)
    try:
        blocks = _as_blocks(settle(defined.get_prompt(arguments, context), wait))
    except (ProwessError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # A prompt that calls `sys.exit` must not end the agent.
        raise PromptFailed(defined.name, describe_failure(error)) from error
    if folder is not None:
        blocks = _with_folder(blocks, folder)
    return DefinedPrompt(blocks=blocks, folder=folder, diagnostics=found)


def _unpack(defined: DefinedSkill, unpacker: Unpacker) -> tuple[str | None, tuple[Diagnostic, ...]]:
    if not defined.files:
        return None, ()
    try:
        return unpacker.unpack(defined.name, defined.files), ()
    except MachineError as error:
        reason = str(error)
        reason = reason[:1].lower() + reason[1:]
        message = f"The files of “{defined.name}” are missing: {reason}"
        return None, (diagnose("files-not-unpacked", message),)


def _as_blocks(prompt: Any) -> tuple[Block, ...]:
    if isinstance(prompt, str):
        return ({"type": "text", "text": prompt},)
    if isinstance(prompt, Sequence) and all(_is_block(block) for block in prompt):
        return tuple(prompt)
    raise TypeError(
        f"it returned {type(prompt).__name__}; it must return text or a list of content blocks"
    )


def _is_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, Mapping) else None
    if kind == "text":
        return isinstance(block.get("text"), str)
    return isinstance(kind, str)


def _with_folder(blocks: tuple[Block, ...], folder: str) -> tuple[Block, ...]:
    line = render_folder_line(folder)
    if blocks and blocks[0]["type"] == "text":
        return ({**blocks[0], "text": f"{line}\n\n{blocks[0]['text']}"}, *blocks[1:])
    return ({"type": "text", "text": line}, *blocks)


class CodeSource(msgspec.Struct, frozen=True, eq=False):
    """The `SkillSource` of skills that are defined in code.

    Every one of them is a candidate; one whose own check says no is disabled. They are the weakest
    of their kind: a skill on disk of equal strength wins.
    """

    skills: DefinedSkills
    unpacker: Unpacker
    wait: Wait | None = None

    @property
    def name(self) -> str:
        """What diagnostics call this source."""
        return "code"

    def find(self, search: Search) -> Discovered:
        """Every skill, in the order of registration."""
        return Discovered(tuple(map(self._make_candidate, range(len(self.skills)), self.skills)))

    def _make_candidate(self, order: int, defined: DefinedSkill) -> Candidate:
        root = Root(
            path=IN_CODE,
            scope=Scope.BUNDLED,
            source=_SOURCE,
            order=order,
            id="defined",
            group="bundled",
            is_fallback=True,
        )
        folder = find_folder(defined, self.unpacker) or ""
        return Candidate(IN_CODE, folder, defined.name, root, None)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        """The claim of a skill: its fields are its manifest, so nothing has to be read."""
        defined = self.skills.get(candidate.default_name)
        skill = Skill(
            name=defined.name,
            description=defined.description,
            location=candidate.location,
            folder=candidate.folder,
            scope=candidate.root.scope,
            source=candidate.root.source,
            declared=defined.manifest,
            is_computed=True,
            loader=self.load,
        )
        absent = find_unavailable(defined.is_enabled)
        return Claim(candidate, defined.name, skill, [] if absent is None else [absent])

    def load(self, skill: Skill, call: SkillCall) -> Document:
        """The prompt of a skill, made for this call. Raises `PromptFailed`."""
        import hashlib

        context = PromptContext(session=call.session, cwd=call.cwd, by=call.caller)
        defined = self.skills.get(skill.declared.name or skill.name)
        prompt = make_prompt(
            defined, call.arguments, context, unpacker=self.unpacker, wait=self.wait
        )
        digest = hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).hexdigest()
        return Document(
            prompt.text,
            f"sha256:{digest}",
            blocks=tuple(block for block in prompt.blocks if block["type"] != "text"),
            folder=prompt.folder,
            diagnostics=prompt.diagnostics,
        )


def find_unavailable(is_enabled: Callable[[], bool] | None) -> Note | None:
    """Why a skill's own check says that it is not available; None where it is.

    A check that fails counts as a no: it must not take the other skills down with it.
    """
    if is_enabled is None:
        return None
    try:
        available = is_enabled()
    except Exception as error:
        cause = f"its own check failed ({type(error).__name__}: {error})"
        return Note(State.DISABLED, cause, rule="is_enabled")
    if available:
        return None
    return Note(State.DISABLED, "its own check says that it is not available", rule="is_enabled")
