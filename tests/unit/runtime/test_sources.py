"""Sources of skills: one of your own, one that fails, and what every source has in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from prowess.activate.code_skills import DefinedSkill
from prowess.errors import MachineError
from prowess.model.outcome import Claim, State
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
from prowess.ports import Discovered, ManifestReader, Search
from prowess.runtime import Skills
from prowess.testing import MemoryFiles, make_facts
from tests.workspace import Workspace, skill_text

SHELF = Root(
    path="shelf",
    scope=Scope.PLUGIN,
    source=Source("shelf", "plugin", "shelf", LoadedFrom.PLUGIN, "shelf:plugin"),
    order=0,
)


def make_candidate(name: str) -> Candidate:
    return Candidate(f"shelf:{name}", "", name, SHELF, None)


class Shelf:
    """Skills from a dictionary of texts, by name."""

    name = "shelf"

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def find(self, search: Search) -> Discovered:
        return Discovered(tuple(map(make_candidate, self.texts)))

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        return reader.read_text(candidate, self.fetch(candidate.location), self.fetch)

    def fetch(self, location: str) -> bytes:
        try:
            return self.texts[location.removeprefix("shelf:")].encode()
        except KeyError as error:
            raise FileNotFoundError(2, "it is not on the shelf any more", location) from error


class Broken(Shelf):
    """A shelf that raises in one of its methods."""

    name = "broken"

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__({"lost": skill_text("lost"), "kept": skill_text("kept")})
        self.where = where
        self.error = error

    def find(self, search: Search) -> Discovered:
        if self.where == "find":
            raise self.error
        return super().find(search)

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        if self.where == "read" and candidate.default_name == "lost":
            raise self.error
        return super().read(candidate, reader)

    def fetch(self, location: str) -> bytes:
        if self.where == "fetch":
            raise self.error
        return super().fetch(location)


DISK = {"/p/.claude/skills/disk/SKILL.md": skill_text("disk")}


def open_with(*sources: Any, files: Mapping[str, str] = DISK, host: str = "prowess") -> Skills:
    return Skills(
        "/p", host=host, facts=make_facts(), files=MemoryFiles(dict(files)), sources=sources
    )


def ends(skills: Skills) -> dict[str, State]:
    return {one.candidate.location: one.state for one in skills.snapshot.outcomes}


# A source of one's own


def test_a_source_of_texts_yields_skills_beside_those_on_disk() -> None:
    skills = open_with(Shelf({"book": skill_text("book", "About books.", "Read it.\n")}))
    assert [skill.name for skill in skills] == ["book", "disk"]
    book = skills.get("book")
    assert (book.description, book.content, book.frontmatter) == (
        "About books.",
        "Read it.\n",
        {"name": "book", "description": "About books."},
    )
    assert (book.location, book.file, book.folder, book.scope) == (
        "shelf:book",
        None,
        "",
        Scope.PLUGIN,
    )
    assert book.digest == skills.get("book").load().digest


def test_its_skills_are_activated_like_any_other() -> None:
    shelf = Shelf({"book": skill_text("book", body="Read $ARGUMENTS.\n")})
    activation = open_with(shelf).activate("book", "it twice")
    assert "Read it twice." in activation.text
    assert activation.folder is None


def test_a_text_is_fetched_anew_for_each_use() -> None:
    shelf = Shelf({"book": skill_text("book", body="Old\n")})
    skills = open_with(shelf)
    book = skills.get("book")
    shelf.texts["book"] = skill_text("book", body="New\n")
    assert book.content == "New\n"
    del shelf.texts["book"]
    with pytest.raises(MachineError, match="it is not on the shelf any more"):
        book.load()


def test_a_header_that_is_wrong_is_reported_at_the_location() -> None:
    skills = open_with(Shelf({"book": "no header"}), files={}, host="spec")
    (outcome,) = skills.snapshot.outcomes
    assert (outcome.state, outcome.name) == (State.INVALID, "book")
    assert {one.file for one in outcome.diagnostics} == {"shelf:book"}


def test_its_skills_compete_for_names_by_the_rules_of_the_host() -> None:
    skills = open_with(Shelf({"disk": skill_text("disk")}))
    assert ends(skills) == {
        "/p/.claude/skills/disk/SKILL.md": State.READY,
        "shelf:disk": State.SHADOWED,
    }


def test_a_source_that_makes_its_own_skills_gets_every_call() -> None:
    calls: list[SkillCall] = []

    class Answers(Shelf):
        def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
            skill = Skill(
                name="answer",
                description="Answers.",
                location=candidate.location,
                folder="",
                scope=SHELF.scope,
                source=SHELF.source,
                declared=Manifest(name="answer", description="Answers."),
                is_computed=True,
                loader=self.load,
            )
            return Claim(candidate, "answer", skill)

        def load(self, skill: Skill, call: SkillCall) -> Document:
            calls.append(call)
            return Document("Not filled: $ARGUMENTS", "sha256:0")

    skills = open_with(Answers({"answer": ""}))
    activation = skills.conversation(session="s").activate("answer", "why", by="model")
    assert "Not filled: $ARGUMENTS" in activation.text
    assert calls == [SkillCall(arguments="why", session="s", cwd="/p", caller="model")]


# A source that fails


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (RuntimeError("no connection"), "RuntimeError: no connection"),
        (MachineError("open", "x", "gone"), "MachineError: Could not open x: gone."),
        (KeyError(), "KeyError"),
    ],
)
def test_a_source_that_fails_costs_only_its_own_skills(error: Exception, cause: str) -> None:
    skills = open_with(Broken("find", error), Shelf({"book": skill_text("book")}))
    assert [skill.name for skill in skills] == ["book", "disk"]
    assert [str(one) for one in skills.snapshot.diagnostics] == [
        f"The source “broken” failed ({cause}); its skills are missing. [source-failed]"
    ]


def test_a_candidate_that_cannot_be_read_costs_only_itself() -> None:
    skills = open_with(Broken("read", RuntimeError("no connection")))
    assert [skill.name for skill in skills] == ["disk", "kept"]
    (lost,) = skills.snapshot.claims("lost")
    assert (lost.state, lost.reason) == (
        State.INVALID,
        "The source “broken” failed (RuntimeError: no connection)",
    )
    assert [(one.code, one.file) for one in lost.diagnostics] == [("source-failed", "shelf:lost")]


def test_a_source_that_fails_later_raises_an_error_that_callers_expect() -> None:
    broken = Broken("never", RuntimeError("no connection"))
    kept = open_with(broken).get("kept")
    broken.where = "fetch"
    with pytest.raises(MachineError, match=r"the source “broken” failed \(RuntimeError: no co"):
        kept.load()


@pytest.mark.parametrize(
    "lie",
    [
        lambda search: None,
        lambda search: Discovered((None,)),  # type: ignore[arg-type]
        lambda search: 7,
    ],
)
def test_an_answer_of_another_kind_is_a_failure(lie: Callable[[Search], Any]) -> None:
    shelf = Shelf({})
    shelf.find = lie  # type: ignore[method-assign,assignment]
    skills = open_with(shelf)
    assert [skill.name for skill in skills] == ["disk"]
    assert [one.code for one in skills.snapshot.diagnostics] == ["source-failed"]


# Skills in code


@pytest.mark.parametrize("host", ["prowess", "omp", "opencode", "openclaw", "codex"])
def test_skills_in_code_lose_their_name_to_one_on_disk_whatever_the_order_of_the_host(
    host: str, workspace: Workspace
) -> None:
    workspace.git()
    workspace.skill("project/.agents/skills/same")
    skills = workspace.open(host)
    skills.define(
        DefinedSkill(name="same", description="d", get_prompt=lambda arguments, context: "p")
    )
    outcome = skills.snapshot.find("same")
    assert outcome is not None
    assert outcome.candidate.location == workspace.path("project/.agents/skills/same/SKILL.md")


# Limits


def test_settings_can_change_a_limit(workspace: Workspace) -> None:
    for number in range(3):
        workspace.skill(f"project/.claude/skills/s{number}")
    workspace.write("home/.config/prowess/prowess.toml", "[limits]\nskills_per_root = 1\n")
    snapshot = workspace.scan()
    assert [one.state for one in snapshot.outcomes] == [State.READY, State.SKIPPED, State.SKIPPED]
    assert [(one.code, one.message) for one in snapshot.diagnostics] == [
        ("limit-reached", "The folder has 3 skills; only the first 1 is read.")
    ]
