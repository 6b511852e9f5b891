"""Requirements against facts: what is missing, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.gate.eligibility import Verdict, find_ineligible, judge
from prowess.gate.gate import SkillGate
from prowess.gate.visibility import find_dormant, find_hidden
from prowess.model.facts import Facts
from prowess.model.outcome import Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest, Requires
from prowess.profiles.load import load_profile
from prowess.testing import make_facts

RULES = load_profile("openclaw").gate


def verdict(manifest: Manifest, *, settings: Settings | None = None, **facts: Any) -> Verdict:
    return judge(
        manifest, name="x", rules=RULES, facts=make_facts(**facts), settings=settings or Settings()
    )


def needs(**requires: tuple[str, ...]) -> Manifest:
    return Manifest(requires=Requires(**requires))


@pytest.mark.parametrize(
    ("words", "platform", "fits"),
    [
        (("linux",), "linux", True),
        (("Linux",), "linux", True),
        (("darwin",), "linux", False),
        (("macos",), "darwin", True),
        (("macOS", "windows"), "win32", True),
        ((), "linux", True),
    ],
)
def test_every_spelling_of_a_platform_is_understood(
    words: tuple[str, ...], platform: str, fits: bool
) -> None:
    assert verdict(Manifest(os=words), platform=platform).eligible is fits


def test_everything_missing_is_listed_at_once() -> None:
    manifest = Manifest(
        os=("darwin",),
        requires=Requires(bins=("a", "b"), any_bins=("c", "d"), env=("E",), config=("f.g",)),
    )
    missing = verdict(manifest, bins=("a",))
    assert missing == Verdict(
        os=("darwin",), bins=("b",), any_bins=("c", "d"), env=("E",), config=("f.g",)
    )
    assert missing.explain() == (
        "it runs only on darwin; the program b cannot be found; none of the programs c or d can be found; "
        "the environment variable E is not set; the setting f.g is not set"
    )


def test_a_key_in_the_settings_stands_for_the_primary_variable_only() -> None:
    manifest = Manifest(requires=Requires(env=("P", "Q")), primary_env="P")
    settings = Settings(overrides={"x": Override(api_key="k")})
    assert verdict(manifest, settings=settings) == Verdict(env=("Q",))


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        (True, True),
        (False, False),
        (0, False),
        (1, True),
        ("", False),
        ("  ", False),
        ("v", True),
        ({}, True),
        ([], True),
    ],
)
def test_a_setting_counts_as_openclaw_counts_it(value: Any, counts: bool) -> None:
    assert (
        verdict(needs(config=("a.b",)), settings=Settings(raw={"a": {"b": value}})).eligible
        is counts
    )


def test_always_passes_over_everything_but_the_platform() -> None:
    manifest = Manifest(
        always=True, os=("darwin",), requires=Requires(bins=("none",), env=("NONE",))
    )
    assert verdict(manifest) == Verdict(os=("darwin",))


def test_a_skill_that_asks_nothing_is_eligible_without_asking_the_machine() -> None:
    def never(name: str) -> bool:
        raise AssertionError(name)

    facts = Facts(home="/home/me", find_bin=never)
    assert (
        find_ineligible(Manifest(), name="x", rules=RULES, facts=facts, settings=Settings()) is None
    )


def test_what_is_missing_is_the_reason() -> None:
    found = find_ineligible(
        needs(bins=("jq",)), name="x", rules=RULES, facts=make_facts(), settings=Settings()
    )
    assert found == Note(State.INELIGIBLE, "the program jq cannot be found", rule="requires")


def test_a_skill_with_paths_waits_unless_it_waits_for_everything() -> None:
    rules = load_profile("claude-code").gate
    waits = Note(State.DORMANT, "it waits for a file that matches src/**, *.md", rule="paths")
    assert find_dormant(Manifest(paths=("src/**", "*.md")), rules) == waits
    assert find_dormant(Manifest(paths=("**",)), rules) is None
    assert find_dormant(Manifest(globs=("*.py",)), rules) is None
    assert find_dormant(Manifest(globs=("*.py",)), load_profile("prowess").gate) is not None


def test_hidden_names_the_rule_that_decided() -> None:
    rules = load_profile("prowess").gate

    def why(
        manifest: Manifest = Manifest(),  # noqa: B008
        *,
        because: str | None = None,
        **settings: Any,
    ) -> str | None:
        note = find_hidden(
            manifest, name="x", rules=rules, settings=Settings(**settings), because=because
        )
        return note.rule if note is not None else None

    assert why() is None
    assert why(Manifest(hide=True)) == "hide"
    assert why(Manifest(disable_model_invocation=True)) == "disable-model-invocation"
    assert why(because="it has no description") == "description"
    assert why(overrides={"x": Override(visibility="user-only")}) == "overrides.x.visibility"


def test_a_skill_that_is_not_for_an_agent_says_so_besides_what_hides_it() -> None:
    rules = load_profile("prowess").gate
    settings = Settings(agent_skills=("y",))
    gate = SkillGate(rules, facts=Facts(home="/home/me"), settings=settings)
    notes = gate.find_notes(Manifest(hide=True), "x")
    assert [note.rule for note in notes] == ["agent_skills", "hide"]
    assert gate.find_notes(Manifest(), "y") == []
