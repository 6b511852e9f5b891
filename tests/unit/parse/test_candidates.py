"""From a candidate to a skill: what is read of a file, what is kept, and what nobody can change
afterwards.
"""

from __future__ import annotations

import pytest

from prowess.model.outcome import State
from tests.workspace import Workspace

PLACE = "project/.claude/skills/big"


def large(size: int, *, closed: bool = True) -> str:
    """A file with a header of so many bytes, and a body."""
    lines = "name: big\ndescription: d\n"
    lines += "note: " + "x" * (size - len(lines) - 7) + "\n"
    return f"---\n{lines}---\nBody\n" if closed else f"---\n{lines}Body\n"


def findings(outcome) -> list[tuple[str, str]]:
    return [(finding.code, finding.message) for finding in outcome.diagnostics]


def test_a_closed_header_beyond_the_first_read_is_called_too_large(workspace: Workspace) -> None:
    workspace.write(f"{PLACE}/SKILL.md", large(300_000))
    workspace.skill("project/.claude/skills/small")
    outcome = workspace.outcome(workspace.scan(), f"{PLACE}/SKILL.md")
    said = "The header has 300,000 bytes; at most 65,536 are allowed."
    assert (outcome.state, outcome.rule, findings(outcome)) == (
        State.INVALID,
        "header-too-large",
        [("header-too-large", said)],
    )


def test_a_header_beyond_the_first_read_is_read_where_the_limit_allows_it(
    workspace: Workspace,
) -> None:
    workspace.write("home/.config/prowess/prowess.toml", "[limits]\nheader_bytes = 400_000\n")
    workspace.write(f"{PLACE}/SKILL.md", large(300_000))
    outcome = workspace.outcome(workspace.scan(), f"{PLACE}/SKILL.md")
    assert (outcome.state, outcome.name, findings(outcome)) == (State.READY, "big", [])
    assert outcome.skill is not None
    assert len(outcome.skill.frontmatter["note"]) > 290_000


def test_a_header_that_really_is_never_closed_is_called_so(workspace: Workspace) -> None:
    workspace.write(f"{PLACE}/SKILL.md", large(300_000, closed=False))
    outcome = workspace.outcome(workspace.scan(), f"{PLACE}/SKILL.md")
    assert [code for code, _ in findings(outcome)] == ["header-unclosed"]


def test_a_host_that_reads_past_a_broken_header_finds_the_body_behind_a_large_one(
    workspace: Workspace,
) -> None:
    workspace.write(f"{PLACE}/SKILL.md", large(300_000))
    outcome = workspace.outcome(workspace.scan("claude-code"), f"{PLACE}/SKILL.md")
    assert outcome.skill is not None
    assert (outcome.state, outcome.skill.description) == (State.READY, "Body")
    assert [code for code, _ in findings(outcome)] == ["header-too-large", "description-from-body"]


def test_a_file_beyond_the_limit_is_not_read_again_for_its_header(workspace: Workspace) -> None:
    workspace.write(f"{PLACE}/SKILL.md", large(1_200_000))
    outcome = workspace.outcome(workspace.scan(), f"{PLACE}/SKILL.md")
    assert [code for code, _ in findings(outcome)] == ["file-too-large"]


@pytest.mark.parametrize("cache", [False, True])
def test_what_a_caller_does_to_a_skills_fields_changes_no_skill(
    workspace: Workspace, cache: bool
) -> None:
    header = "name: it\ndescription: d\nmetadata: {a: {b: [1]}}\nhooks: {Stop: [x]}\n"
    header += "install: [{kind: brew, formula: jq}]\n"
    workspace.write("project/.claude/skills/it/SKILL.md", f"---\n{header}---\nBody\n")
    skill = workspace.open(cache=cache).get("it")
    before = repr((skill.frontmatter, skill.manifest))
    for fields in (
        skill.frontmatter,
        skill.manifest.metadata,
        skill.manifest.hooks,
        skill.manifest.install[0],
    ):
        for value in fields.values():  # type: ignore[union-attr]
            if isinstance(value, dict):
                value.clear()
            if isinstance(value, list):
                value.append("changed")
        fields.clear()  # type: ignore[union-attr]
    assert repr((skill.frontmatter, skill.manifest)) == before
    assert skill.manifest.metadata == {"a": {"b": [1]}}
    assert (skill.manifest.hooks, skill.manifest.install) == (
        {"Stop": ["x"]},
        ({"kind": "brew", "formula": "jq"},),
    )


def test_a_file_beyond_a_limit_names_that_limit(workspace: Workspace) -> None:
    workspace.write(f"{PLACE}/SKILL.md", large(1_200_000))
    workspace.skill("project/.claude/skills/.hidden")
    ends = {one.name: (one.state, one.rule) for one in workspace.scan().outcomes}
    assert ends == {
        "big": (State.SKIPPED, "limits.file_bytes"),
        ".hidden": (State.SKIPPED, "hidden"),
    }


def test_a_skill_without_metadata_is_not_given_any_by_a_caller(workspace: Workspace) -> None:
    workspace.skill("project/.claude/skills/it")
    skill = workspace.open().get("it")
    skill.manifest.metadata["a"] = 1  # type: ignore[index]
    skill.frontmatter["a"] = 1  # type: ignore[index]
    assert (skill.manifest.metadata, dict(skill.frontmatter)) == (
        {},
        {"name": "it", "description": "d"},
    )


def test_skills_that_declare_the_same_share_it_and_keep_names_of_their_own(
    workspace: Workspace,
) -> None:
    header = "license: MIT\nallowed-tools: Read\nmetadata:\n  team: docs"
    for name in ("one", "two"):
        text = f"---\nname: {name}\ndescription: The {name}.\n{header}\n---\nBody\n"
        workspace.write(f"project/.claude/skills/{name}/SKILL.md", text)
    one, two = workspace.scan().skills
    assert one.declared is two.declared
    with pytest.raises(TypeError, match="does not support item assignment"):
        one.declared.metadata["team"] = "other"  # type: ignore[index]
    manifests = [(skill.manifest.name, skill.manifest.description) for skill in (one, two)]
    assert manifests == [("one", "The one."), ("two", "The two.")]
    assert [skill.manifest.license for skill in (one, two)] == ["MIT", "MIT"]
    assert one.manifest.metadata == two.manifest.metadata == {"team": "docs"}
    assert one.manifest.metadata is not one.manifest.metadata


def test_a_skill_is_also_found_by_the_name_in_its_header(workspace: Workspace) -> None:
    text = "---\nname: written\ndescription: d\n---\nBody\n"
    workspace.write("project/.claude/skills/folder/SKILL.md", text)
    snapshot = workspace.scan("claude-code")
    assert [outcome.name for outcome in snapshot.claims("written")] == ["folder"]
