"""Skills composed of sources: folders, packages, files in memory, and sources of one's own."""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from prowess.activate.code_skills import DefinedSkill
from prowess.errors import InvalidName, MachineError, UnknownHost, UnknownSkill, UsageError
from prowess.errors.activation import AddressError
from prowess.model.outcome import Claim, State
from prowess.model.skill import Candidate, LoadedFrom, Root, Scope, Skill, Source
from prowess.ports import Discovered, ManifestReader, Search
from prowess.runtime import Skills
from prowess.sources import Files, Folder, Package
from prowess.state.usage import UsageFile
from tests.workspace import Workspace, skill_text

PDF = {"pdf/SKILL.md": skill_text("pdf", body="See ref.md.\n"), "pdf/ref.md": "The reference."}


def names(skills: Skills) -> list[str]:
    return [skill.name for skill in skills]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two skills."""
    for name in ("one", "two"):
        place = tmp_path / "skills" / name
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(skill_text(name))
    return tmp_path / "skills"


def make_package(folder: Path) -> None:
    """A package `my_pkg` with a skill, in a folder that can be imported from."""
    place = folder / "my_pkg" / "skills" / "packed"
    place.mkdir(parents=True)
    (folder / "my_pkg" / "__init__.py").write_text("")
    (place / "SKILL.md").write_text(skill_text("packed"))
    (place / "ref.md").write_text("From the package.")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> str:
    """The package, importable from a folder or from an archive."""
    make_package(tmp_path / "lib")
    place = tmp_path / "lib"
    if request.param == "archive":
        archive = shutil.make_archive(str(tmp_path / "lib"), "zip", place)
        assert zipfile.is_zipfile(archive)
        place = Path(archive)
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delitem(sys.modules, "my_pkg", raising=False)
    return "my_pkg"


# What there is


def test_skills_come_from_the_sources_and_nowhere_else(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.skill("home/.claude/skills/private")
    workspace.skill("project/.claude/skills/project")
    monkeypatch.setenv("HOME", str(workspace.home))
    monkeypatch.chdir(workspace.project)
    assert names(Skills.of(Folder(folder), Files(PDF))) == ["one", "pdf", "two"]
    assert names(Skills.of()) == []


def test_a_folder_may_be_one_skill(folder: Path) -> None:
    assert names(Skills.of(Folder(str(folder / "one")))) == ["one"]


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    snapshot = Skills.of(Folder(tmp_path / "none"), Files(PDF)).snapshot
    assert [skill.name for skill in snapshot.skills] == ["pdf"]
    assert [found.code for found in snapshot.diagnostics] == ["root-missing"]


@pytest.mark.parametrize("package", ["folder", "archive"], indirect=True)
def test_a_package_has_skills_in_a_folder_or_an_archive(package: str) -> None:
    skills = Skills.of(Package(package))
    assert names(skills) == ["packed"]
    chat = skills.conversation()
    assert "Body" in chat.activate("packed", by="model").text
    assert chat.read("skill://packed/ref.md").content == "From the package."


@pytest.mark.parametrize("package", ["archive"], indirect=True)
def test_a_package_without_skills_is_said_so(package: str) -> None:
    with pytest.raises(UsageError, match="has no folder “more”"):
        Skills.of(Package(package, "more"))
    with pytest.raises(UsageError, match="“no_such_package” cannot be imported"):
        Skills.of(Package("no_such_package"))


def test_files_in_memory_are_read_by_their_addresses() -> None:
    chat = Skills.of(Files(PDF)).conversation()
    activation = chat.activate("pdf", by="model")
    assert (activation.folder, activation.files) == ("skill://pdf", ("skill://pdf/ref.md",))
    assert "Base folder of this skill: skill://pdf\n" in activation.text
    assert "/@memory" not in activation.text
    assert chat.read("skill://pdf/ref.md").content == "The reference."
    with pytest.raises(AddressError):
        chat.read("skill://pdf/../other/SKILL.md")


@pytest.mark.parametrize("host", ["opencode", "claude-code", "openclaw", "omp", "codex", "spec"])
def test_every_host_can_have_them(host: str, folder: Path) -> None:
    always = {"tone/SKILL.md": skill_text("tone", always="true")}
    skills = Skills.of(Folder(folder), Files({**PDF, **always}), host=host)
    # The standard knows no `always`.
    assert names(skills) == ["one", "pdf", *(["tone"] if host != "spec" else []), "two"]
    chat = skills.conversation()
    text = chat.activate("pdf").text
    assert "See ref.md." in text
    shown = (text, chat.catalog().prompt, chat.instructions(), chat.tool().description)
    assert [part for part in shown if "/@memory" in part] == []


def test_names_that_need_escapes_are_found_by_the_address_that_is_shown() -> None:
    files = {"odd/SKILL.md": skill_text("'a b#c'"), "odd/x y#1.md": "found"}
    chat = Skills.of(Files(files)).conversation()
    (address,) = chat.activate("a b#c").files
    assert chat.read(address).content == "found"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"../x/SKILL.md": ""}, "outside"),
        ({"/x/SKILL.md": ""}, "absolute"),
        ({"C:\\x\\SKILL.md": ""}, "absolute"),
        ({"x/\0": ""}, "NUL"),
        ({"": ""}, "does not name a file"),
        ({"x/SKILL.md": 7}, "int"),
        ([("x/SKILL.md", "")], "must be a mapping"),
    ],
)
def test_files_that_cannot_be_are_refused(files: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Skills.of(Files(files))
    snapshot = Skills.of(Files(lambda: files)).snapshot
    assert [found.code for found in snapshot.diagnostics] == ["source-failed"]


def test_a_function_is_asked_at_every_scan_and_a_failure_keeps_what_was_there() -> None:
    table = {"a/SKILL.md": skill_text("a")}

    def rows() -> dict[str, str]:
        if not table:
            raise ConnectionError("the database is away")
        return table

    skills = Skills.of(rows)
    assert names(skills) == ["a"]
    table["b/SKILL.md"] = skill_text("b")
    skills.reload()
    assert names(skills) == ["a", "b"]
    table.clear()
    skills.reload()
    assert names(skills) == ["a", "b"]
    assert [str(found) for found in skills.snapshot.diagnostics] == [
        "The source “rows” failed (ConnectionError: the database is away); its skills are as they"
        " were. [source-failed]"
    ]


class Shelf:
    """A source that makes its own candidates."""

    name = "shelf"
    root = Root(
        path="shelf",
        scope=Scope.USER,
        source=Source("shelf", "user", "shelf", LoadedFrom.SKILLS, "shelf:user"),
        order=0,
    )

    def find(self, search: Search) -> Discovered:
        return Discovered((Candidate("shelf:book", "", "book", self.root, None),))

    def read(self, candidate: Candidate, reader: ManifestReader) -> Claim:
        return reader.read_text(candidate, self.fetch(""), self.fetch)

    def fetch(self, location: str) -> bytes:
        return skill_text("book").encode()


def test_an_object_of_ones_own_is_a_source() -> None:
    skills = Skills.of(Shelf(), Files(PDF))
    assert names(skills) == ["book", "pdf"]
    assert "Body" in skills.conversation().activate("book").text


@pytest.mark.parametrize("wrong", ["a/path", Path("a/path"), None, 7, {"a/SKILL.md": ""}])
def test_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="is not a source of skills"):
        Skills.of(wrong)


@pytest.mark.parametrize("options", [{"scope": "mine"}, {"refresh": "often"}, {"refresh": 0}])
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Files(PDF, **options)


def test_the_host_may_be_a_profile_of_ones_own(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text('name = "mine"\nextends = "prowess"\n[tool]\nname = "use_skill"\n')
    skills = Skills.of(Files(PDF), host=str(profile))
    assert (names(skills), skills.conversation().tool().name) == (["pdf"], "use_skill")
    with pytest.raises(UnknownHost):
        Skills.of(Files(PDF), host="nobody")


# Who wins


def test_the_first_source_wins_a_name_and_the_scope_is_stronger() -> None:
    first = Files({"x/SKILL.md": skill_text("x", "First.")}, name="first")
    second = Files({"x/SKILL.md": skill_text("x", "Second.")}, name="second")
    strong = Files({"x/SKILL.md": skill_text("x", "Strong.")}, scope="project")
    assert Skills.of(first, second).get("x").description == "First."
    assert Skills.of(second, first).get("x").description == "Second."
    assert Skills.of(first, second, strong).get("x").description == "Strong."
    assert Skills.of(first).get("x").source.label == "first:added"


# Trust


RUNS = {
    "now/SKILL.md": skill_text("now", body="!`cat ${CLAUDE_SKILL_DIR}/note`\n"),
    "now/note": "from a file",
}


@pytest.mark.needs("bwrap", "bash")
def test_a_script_in_memory_runs_from_a_folder_of_its_own(tmp_path: Path) -> None:
    files = {**PDF, "pdf/scripts/say.sh": 'cat "$(dirname "$0")/../ref.md"; echo " $1"'}
    chat = Skills.of(Files(files, trust=True), cwd=tmp_path).conversation()
    result = chat.run_script("pdf", "scripts/say.sh", ["loudly"], by="user")
    assert (result.code, result.output) == (0, "The reference. loudly\n")


@pytest.mark.needs("bwrap")
def test_only_a_trusted_source_runs_commands_with_its_files_on_disk(tmp_path: Path) -> None:
    skills = Skills.of(Files(RUNS, trust=True), host="claude-code", cwd=tmp_path)
    assert "from a file" in skills.conversation().activate("now").text
    unpacked = skills.project.unpack(skills.get("now"))
    assert sorted(os.listdir(unpacked)) == ["SKILL.md", "note"]
    skills.close()
    assert not os.path.exists(unpacked)


@pytest.mark.parametrize("trust", [None, False])
def test_an_untrusted_source_runs_nothing(tmp_path: Path, trust: bool | None) -> None:
    skills = Skills.of(Files(RUNS), host="claude-code", cwd=tmp_path, trust=trust)
    assert "from a file" not in skills.conversation().activate("now").text


@pytest.mark.parametrize(
    ("trust", "trusted"),
    [
        (None, {"pdf": True, "one": False, "book": False}),
        (True, {"pdf": True, "one": True, "book": True}),
        (False, {"pdf": False, "one": False, "book": False}),
        (lambda skill: skill.name == "one", {"pdf": False, "one": True, "book": False}),
        (lambda skill: "yes", {"pdf": False, "one": False, "book": False}),
    ],
)
def test_trust_is_that_of_the_source_or_of_the_program(
    folder: Path, trust: Any, trusted: dict[str, bool]
) -> None:
    skills = Skills.of(Files(PDF, trust=True), Folder(folder), Shelf(), trust=trust)
    policy = skills.project.open_trust()
    assert {name: policy.is_trusted(skills.get(name)) for name in trusted} == trusted


def test_a_program_can_trust_a_working_folder(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/one")
    for trust in (None, True, False):
        skills = workspace.open(trust=trust)
        assert skills.project.open_trust().is_trusted(skills.get("one")) is bool(trust)


def test_what_is_remote_is_never_trusted(folder: Path) -> None:
    skills = Skills.of(Folder(folder, scope=Scope.REMOTE, trust=True), trust=True)
    assert not skills.project.open_trust().is_trusted(skills.get("one"))


# Links


def test_a_symlink_out_of_a_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "SKILL.md").write_text(skill_text("secret"))
    (secret / "key").write_text("hunter2")
    (folder / "out").symlink_to(secret)
    (folder / "one" / "key").symlink_to(secret / "key")
    skills = Skills.of(Folder(folder, trust=True))
    assert names(skills) == ["one", "two"]
    with pytest.raises(AddressError):
        skills.conversation().read("skill://one/key")


def test_a_folder_behind_a_symlink_may_move(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "current"
    link.symlink_to(folder)
    skills = Skills.of(Folder(link))
    assert names(skills) == ["one", "two"]
    other = tmp_path / "other" / "three"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text(skill_text("three"))
    link.unlink()
    link.symlink_to(tmp_path / "other")
    skills.reload()
    assert names(skills) == ["three"]
    assert "Body" in skills.conversation().activate("three").text


# What is kept


def test_a_cache_and_counts_are_kept_where_the_program_says(folder: Path, tmp_path: Path) -> None:
    store = UsageFile(str(tmp_path / "usage.sqlite3"))
    skills = Skills.of(Folder(folder), cache=tmp_path / "cache", usage=store)
    skills.conversation().activate("one")
    assert [count.name for count in store.load_counts().values()] == ["one"]
    again = Skills.of(Folder(folder), cache=tmp_path / "cache")
    assert names(again) == ["one", "two"]


# Skills in code


def define(name: str, prompt: str, **fields: Any) -> DefinedSkill:
    return DefinedSkill(
        name=name, description="d", get_prompt=lambda arguments, context: prompt, **fields
    )


def test_skills_in_code_can_be_replaced_and_removed() -> None:
    skills = Skills.of()
    skills.define(define("a", "Old.", files={"f": "old"}), define("b", "B."))
    assert "Old." in skills.conversation().activate("a").text
    with pytest.raises(InvalidName):
        skills.define(define("a", "New."))
    skills.define(define("a", "New.", files={"f": "new"}), replace=True)
    activation = skills.conversation().activate("a")
    assert "New." in activation.text
    assert activation.folder is not None
    assert (Path(activation.folder) / "f").read_text() == "new"
    assert names(skills) == ["a", "b"]
    skills.undefine("a")
    assert names(skills) == ["b"]
    with pytest.raises(UnknownSkill):
        skills.undefine("a")
    skills.close()


def test_a_text_that_is_gone_is_trouble_with_the_machine() -> None:
    table = {"a/SKILL.md": skill_text("a")}
    skills = Skills.of(lambda: dict(table))
    a: Skill = skills.get("a")
    table["b/SKILL.md"] = table.pop("a/SKILL.md")
    skills.reload()
    with pytest.raises(MachineError):
        a.load()
    assert {one.state for one in skills.snapshot.outcomes} == {State.READY}
