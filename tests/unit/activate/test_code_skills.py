"""Skills that are defined in code: every field, their registry, their prompts and their files."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from prowess.activate.code_skills import (
    CodeSource,
    DefinedPrompt,
    DefinedSkill,
    DefinedSkills,
    PromptContext,
    find_folder,
    find_unavailable,
    make_prompt,
)
from prowess.activate.skill_requests import read_requests
from prowess.activate.slash.commands import SlashCommand, build_commands
from prowess.errors import InvalidName, MachineError
from prowess.errors.activation import PromptFailed
from prowess.machine.event_loop import wait_for
from prowess.model.activation import SkillRequests
from prowess.model.outcome import Claim, Note, Outcome, State
from prowess.model.settings import Settings
from prowess.model.skill import Candidate, LoadedFrom, Manifest, Scope, Skill
from prowess.ports import Search
from prowess.profiles.load import load_profile
from prowess.state.unpacked_files import PrivateUnpacker
from prowess.testing import MemoryFiles
from tests.unit.activate.skills import make_snapshot


class Unpacks:
    """An unpacker that writes nothing and counts."""

    def __init__(self, failure: str | None = None) -> None:
        self.asked: list[str] = []
        self.failure = failure

    def find_folder(self, name: str) -> str:
        return f"/private/{name}"

    def unpack(self, name: str, files: Mapping[str, str | bytes]) -> str:
        self.asked.append(name)
        if self.failure is not None:
            raise MachineError("unpack", "../x", self.failure)
        return self.find_folder(name)


def define(get_prompt: Any = None, **fields: Any) -> DefinedSkill:
    chosen = get_prompt or (lambda arguments, context: f"Do {arguments}")
    return DefinedSkill(
        **{"name": "verify", "description": "Verifies.", "get_prompt": chosen, **fields}
    )


def conclude(defined: DefinedSkill, unpacker: Any = None) -> Outcome:
    """How the only skill of a source ends where nothing stands in its way."""
    source = CodeSource(DefinedSkills((defined,)), unpacker or Unpacks())
    search = Search(cwd="/p", settings=Settings(), files=MemoryFiles({}))
    (candidate,) = source.find(search).candidates
    return source.read(candidate, NoReader()).conclude()


class NoReader:
    """A reader for sources that have nothing to read."""

    def read_file(self, candidate: Candidate) -> Claim:
        raise AssertionError("nothing is in a file")

    def read_text(self, candidate: Candidate, data: bytes, fetch: Any) -> Claim:
        raise AssertionError("nothing has a text")


def get_skill(outcome: Outcome) -> Skill:
    assert outcome.skill is not None
    return outcome.skill


def prompt_of(
    defined: DefinedSkill, arguments: str = "it", unpacker: Any = None, **options: Any
) -> DefinedPrompt:
    return make_prompt(
        defined, arguments, PromptContext(), unpacker=unpacker or Unpacks(), **options
    )


def block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


# The definition


@pytest.mark.seed("C-05")
def test_a_definition_needs_a_name_a_description_and_a_prompt_function_and_nothing_else():
    defined = DefinedSkill(name="a", description="d", get_prompt=lambda arguments, context: "p")
    assert defined.manifest == Manifest(
        name="a", description="d", disable_model_invocation=False, user_invocable=True
    )
    assert (defined.aliases, defined.files, defined.is_enabled) == ((), {}, None)
    for missing in ("name", "description", "get_prompt"):
        fields: dict[str, Any] = {
            "name": "a",
            "description": "d",
            "get_prompt": lambda arguments, context: "p",
        }
        del fields[missing]
        with pytest.raises(TypeError):
            DefinedSkill(**fields)


@pytest.mark.seed("C-06", "C-07", "C-08", "C-09", "C-10", "C-14", "C-15", "C-16")
def test_every_field_of_a_definition_reaches_commands_requests_and_the_catalog():
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}
    defined = define(
        aliases=("check", "v"),
        when_to_use="When it is done.",
        argument_hint="<what>",
        allowed_tools=("Read", "Bash"),
        model="haiku",
        hooks=hooks,
        context="fork",
        agent="Explore",
    )
    outcome = conclude(defined)
    skill = get_skill(outcome)
    assert (skill.name, skill.description, skill.manifest.when_to_use) == (
        "verify",
        "Verifies.",
        "When it is done.",
    )
    rules = load_profile("claude-code@documented")
    index = build_commands(make_snapshot(outcome), rules.commands)
    assert index.by_name["check"] == index.by_name["v"] == index.by_name["verify"]
    assert index.by_name["verify"].argument_hint == "<what>"
    asked, found = read_requests(defined.manifest, rules.requests)
    assert found == ()
    assert asked == SkillRequests(
        model="haiku",
        fork=True,
        background=False,
        agent="Explore",
        allowed_tools=("Read", "Bash"),
        hooks={"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "x"}]}]},
    )


def test_a_definition_may_be_hidden_from_the_model_or_from_the_user():
    manifest = define(disable_model_invocation=True, user_invocable=False).manifest
    assert (manifest.disable_model_invocation, manifest.user_invocable) == (True, False)


def test_whether_a_skill_is_there_is_asked_every_time():
    answers = iter([True, False])
    defined = define(is_enabled=lambda: next(answers))
    assert [defined.is_available, defined.is_available] == [True, False]
    assert define(is_enabled=lambda: 1 / 0 > 0).is_available is False
    assert define().is_available is True


# The registry


@pytest.mark.seed("C-41")
def test_skills_are_registered_at_once_before_any_is_used_and_the_registry_is_a_value():
    def get_prompt(arguments, context):
        pytest.fail("it was used")

    empty = DefinedSkills()
    registry = empty.register(define(get_prompt), define(name="other"))
    assert [skill.name for skill in registry] == ["verify", "other"]
    assert len(empty) == 0


@pytest.mark.seed("C-06")
def test_a_skill_is_found_by_its_name_before_another_ones_alias():
    first, second = define(name="a", aliases=("b", "c")), define(name="b")
    registry = DefinedSkills().register(first, second)
    assert [registry.find(name) for name in ("a", "b", "c", "d")] == [first, second, first, None]


def test_a_name_is_registered_once():
    registry = DefinedSkills().register(define())
    with pytest.raises(InvalidName) as caught:
        registry.register(define())
    assert str(caught.value) == (
        "“verify” cannot be the name of a skill: another skill defined in code has this name."
    )
    with pytest.raises(InvalidName):
        registry.register(define(name=" "))


@pytest.mark.seed("C-42")
def test_a_skill_in_code_becomes_a_command_of_the_bundled_source():
    outcome = conclude(define())
    skill = get_skill(outcome)
    (command,) = build_commands(
        make_snapshot(outcome), load_profile("claude-code@documented").commands
    )
    assert command == SlashCommand(
        name="verify",
        skill_name="verify",
        description="Verifies.",
        location="<built-in>",
        loaded_from=LoadedFrom.BUNDLED,
        source="bundled",
    )
    assert (skill.scope, outcome.candidate.root.group, outcome.candidate.real) == (
        Scope.BUNDLED,
        "bundled",
        None,
    )
    assert skill.content == "Do "
    assert skill.digest.startswith("sha256:")


# The prompt


@pytest.mark.seed("C-18")
def test_the_prompt_function_gets_the_arguments_as_one_text_and_a_context_and_may_be_asynchronous():
    seen: list[Any] = []

    async def get_prompt(arguments: str, context: PromptContext) -> list[dict[str, str]]:
        import asyncio

        await asyncio.sleep(0)
        seen.append((arguments, context))
        return [block("one"), {"type": "image", "source": "…"}, block("two")]

    context = PromptContext(session="s1", cwd="/p", by="model", extra={"tools": ["Read"]})
    made = make_prompt(define(get_prompt), 'a  "b c"', context, unpacker=Unpacks(), wait=wait_for)
    assert seen == [('a  "b c"', context)]
    assert made.blocks == (block("one"), {"type": "image", "source": "…"}, block("two"))
    assert made.text == "one\n\ntwo"
    assert (made.folder, made.diagnostics) == (None, ())


def test_a_prompt_may_be_plain_text_given_at_once_or_by_a_coroutine_that_never_waits():
    async def get_prompt(arguments, context):
        return "text"

    assert prompt_of(define()).blocks == (block("Do it"),)
    assert prompt_of(define(get_prompt)).blocks == (block("text"),)


@pytest.mark.parametrize(
    "given", [None, 7, {"type": "text", "text": "x"}, [7], [{"text": "x"}], [{"type": "text"}]]
)
def test_a_prompt_of_another_kind_is_an_error_that_says_what_is_allowed(given):
    with pytest.raises(PromptFailed) as caught:
        prompt_of(define(lambda arguments, context: given))
    assert str(caught.value) == (
        f"Could not build the prompt of “verify”: TypeError: it returned {type(given).__name__}; "
        "it must return text or a list of content blocks."
    )


def test_a_prompt_function_that_raises_is_told_with_its_cause():
    def get_prompt(arguments, context):
        raise KeyError("nothing")

    with pytest.raises(PromptFailed, match="KeyError: 'nothing'") as caught:
        prompt_of(define(get_prompt))
    assert isinstance(caught.value.__cause__, KeyError)


# Files


@pytest.mark.seed("C-17", "C-43", "C-44", "C-46")
def test_files_are_unpacked_at_the_first_call_and_their_folder_stands_before_the_prompt():
    unpacker = Unpacks()
    defined = define(files={"ref/a.md": "A"})
    skill = get_skill(conclude(defined, unpacker))
    assert (find_folder(defined, unpacker), skill.folder) == ("/private/verify", "/private/verify")
    assert unpacker.asked == []
    made = prompt_of(defined, unpacker=unpacker)
    assert unpacker.asked == ["verify"]
    assert made.blocks == (block("Base folder of this skill: /private/verify\n\nDo it"),)
    assert made.folder == "/private/verify"


@pytest.mark.seed("C-43")
def test_a_skill_without_files_has_no_folder_and_unpacks_nothing():
    unpacker = Unpacks()
    assert find_folder(define(), unpacker) is None
    assert get_skill(conclude(define(), unpacker)).folder == ""
    assert prompt_of(define(), unpacker=unpacker).folder is None
    assert unpacker.asked == []


def test_the_folder_gets_a_block_of_its_own_where_the_prompt_does_not_begin_with_text():
    image = {"type": "image", "source": "…"}
    made = prompt_of(define(lambda arguments, context: [image], files={"a": "A"}))
    assert made.blocks == (block("Base folder of this skill: /private/verify"), image)


@pytest.mark.seed("C-47")
def test_where_unpacking_fails_the_prompt_goes_on_without_a_folder_and_says_so():
    made = prompt_of(
        define(files={"../x": "A"}), unpacker=Unpacks("the path points outside the skill's folder")
    )
    assert made.blocks == (block("Do it"),)
    assert made.folder is None
    assert [str(found) for found in made.diagnostics] == [
        "The files of “verify” are missing: could not unpack ../x: the path points outside the skill's folder. "
        "[files-not-unpacked]"
    ]


@pytest.mark.seed("C-45", "C-47")
@pytest.mark.parametrize("name", ["ref/a.md", "../a.md"])
def test_many_first_calls_at_once_unpack_once_and_all_get_the_same_answer(tmp_path, name):
    unpacker = PrivateUnpacker(version="1", temporary=str(tmp_path))
    defined = define(files={name: "A"})
    barrier = threading.Barrier(16)
    made: list[DefinedPrompt] = []

    def call() -> None:
        barrier.wait()
        made.append(prompt_of(defined, unpacker=unpacker))

    threads = [threading.Thread(target=call) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 16
    assert {each.folder for each in made} == (
        {None} if ".." in name else {unpacker.find_folder("verify")}
    )
    assert {each.diagnostics for each in made} == {made[0].diagnostics}
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == (0 if ".." in name else 1)


# Availability


@pytest.mark.seed("C-13")
def test_a_skill_defined_in_code_is_asked_at_run_time_whether_it_is_there() -> None:
    available = [True, False, True]
    absent = Note(State.DISABLED, "its own check says that it is not available", rule="is_enabled")
    answers = iter(available)
    assert [find_unavailable(lambda: next(answers)) for _ in available] == [None, absent, None]
    assert find_unavailable(None) is None


def test_a_check_that_fails_counts_as_a_no() -> None:
    def is_enabled() -> bool:
        raise OSError("no network")

    assert find_unavailable(is_enabled) == Note(
        State.DISABLED, "its own check failed (OSError: no network)", rule="is_enabled"
    )
