"""Who wins a name: every strategy, one file reached twice, filters before and after."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from prowess.model.outcome import Claim, Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import (
    Candidate,
    Document,
    LoadedFrom,
    Manifest,
    Root,
    Scope,
    Skill,
    Source,
)
from prowess.profiles.schema.resolution import GateRules, ResolutionRules
from prowess.resolve.resolution import Collision, resolve


def claim(
    place: int, name: str = "x", *, real: str | None = "", enabled: bool | None = None, **root: Any
) -> Claim:
    label = root.pop("label", f"r{place}")
    provider = root.pop("provider", "p")
    source = Source(provider, "level", f"/r{place}", LoadedFrom.SKILLS, label)
    made = Root(
        path=f"/r{place}",
        scope=root.pop("scope", Scope.PROJECT),
        source=source,
        order=place,
        **root,
    )
    location = f"/r{place}/{name}/SKILL.md"
    candidate = Candidate(
        location, f"/r{place}/{name}", name, made, location if real == "" else real
    )
    skill = Skill(
        name=name,
        description=None,
        location=location,
        folder=candidate.folder,
        scope=made.scope,
        source=source,
        declared=Manifest(enabled=enabled),
        loader=lambda skill, call: Document("", ""),
    )
    return Claim(candidate, name, skill)


class Resolved(NamedTuple):
    """The notes by the place of their claim, and the collisions."""

    notes: dict[int, list[Note]]
    collisions: tuple[Collision, ...]


def place_of(claim: Claim) -> int:
    return claim.candidate.root.order


def decide(*claims: Claim, settings: Settings | None = None, **rules: Any) -> Resolved:
    """What becomes of copies of these claims."""
    copies = [Claim(one.candidate, one.name, one.skill) for one in claims]
    collisions = resolve(
        copies, rules=ResolutionRules(**rules), settings=settings or Settings(), gate=GateRules()
    )
    return Resolved({place_of(one): one.notes for one in copies if one.notes}, collisions)


def winners(resolved: Resolved, *claims: Claim) -> list[int]:
    return [place_of(one) for one in claims if place_of(one) not in resolved.notes]


@pytest.mark.parametrize(
    ("rules", "winner"),
    [
        ({"strategy": "first"}, 0),
        ({"strategy": "last"}, 2),
        ({"strategy": "priority"}, 1),
        ({"strategy": "scope", "scopes": (Scope.USER, Scope.PROJECT)}, 2),
        ({"strategy": "assembly", "groups": ("bundled", "disk")}, 1),
    ],
)
def test_each_strategy_has_its_winner_and_the_losers_know_who_beat_them(
    rules: dict[str, Any], winner: int
) -> None:
    claims = (
        claim(0, scope=Scope.PROJECT),
        claim(1, priority=5, group="bundled", scope=Scope.PROJECT),
        claim(2, scope=Scope.USER),
    )
    resolved = decide(*claims, **rules)
    assert winners(resolved, *claims) == [winner]
    by = f"/r{winner}/x/SKILL.md"
    losers = [place_of(one) for one in claims if place_of(one) != winner]
    reason = f"{by} (r{winner}) has the same name and is stronger"
    assert resolved.notes == {place: [Note(State.SHADOWED, reason, by=by)] for place in losers}
    assert {(place_of(one.loser), place_of(one.winner)) for one in resolved.collisions} == {
        (p, winner) for p in losers
    }


def test_where_names_are_not_merged_everyone_stays() -> None:
    claims = (claim(0), claim(1))
    assert winners(decide(*claims, strategy="all"), *claims) == [0, 1]


def test_a_collision_is_a_diagnostic_with_both_files() -> None:
    (collision,) = decide(claim(0), claim(1)).collisions
    found = collision.diagnose()
    assert (found.code, found.file, found.related) == (
        "name-collision",
        "/r1/x/SKILL.md",
        ("/r0/x/SKILL.md",),
    )


def test_one_file_reached_twice_counts_once_at_its_strongest_place() -> None:
    claims = (
        claim(0, "a", real="/real"),
        claim(1, "b", real="/real"),
        claim(2, "c", real="/other"),
    )
    duplicate = Note(State.DUPLICATE, "it is the same file as /r0/a/SKILL.md", by="/r0/a/SKILL.md")
    assert decide(*claims).notes == {1: [duplicate]}
    last = Note(State.DUPLICATE, "it is the same file as /r1/b/SKILL.md", by="/r1/b/SKILL.md")
    assert decide(*claims, strategy="last").notes == {0: [last]}


def test_a_file_without_a_real_path_is_never_taken_for_another() -> None:
    claims = (claim(0, "a", real=None), claim(1, "b", real=None))
    assert winners(decide(*claims), *claims) == [0, 1]


def test_what_is_filtered_first_no_longer_hides_a_weaker_skill() -> None:
    claims = (claim(0, enabled=False), claim(1))
    assert winners(decide(*claims, filters="before"), *claims) == [1]
    after = decide(*claims, filters="after")
    assert [note.state for note in after.notes[0]] == [State.DISABLED]
    assert [note.state for note in after.notes[1]] == [State.SHADOWED]


@pytest.mark.parametrize("filters", ["before", "after"])
def test_a_root_that_is_switched_off_never_hides_anything(filters: str) -> None:
    claims = (claim(0, disabled_by="--bare"), claim(1))
    assert winners(decide(*claims, filters=filters), *claims) == [1]


def test_a_file_that_is_disabled_at_one_place_is_loaded_from_another() -> None:
    claims = (claim(0, real="/real", disabled_by="toggle"), claim(1, real="/real"))
    resolved = decide(*claims)
    assert winners(resolved, *claims) == [1]
    assert [note.state for note in resolved.notes[0]] == [State.DISABLED, State.DUPLICATE]


@pytest.mark.parametrize(
    ("settings", "reason", "rule"),
    [
        (Settings(enabled=False), "all skills are switched off", "enabled"),
        (
            Settings(disabled_extensions=("skill:x",)),
            "it is listed as `skill:x`",
            "disabled_extensions",
        ),
        (Settings(disabled_providers=("p",)), "the provider p is disabled", "disabled_providers"),
        (Settings(ignored=("?",)), "its name matches the ignored pattern `?`", "ignored"),
        (Settings(included=("y",)), "its name matches no pattern in the include list", "included"),
        (
            Settings(overrides={"x": Override(enabled=False)}),
            "it is switched off in the settings",
            "overrides.x",
        ),
        (
            Settings(overrides={"x": Override(visibility="off")}),
            "it is switched off in the settings",
            "overrides.x",
        ),
    ],
)
def test_every_filter_names_the_setting_that_decided(
    settings: Settings, reason: str, rule: str
) -> None:
    assert decide(claim(0), settings=settings).notes == {
        0: [Note(State.DISABLED, reason, rule=rule)]
    }


@pytest.mark.seed("P-28")
def test_an_empty_include_list_includes_all() -> None:
    assert decide(claim(0), settings=Settings(included=())).notes == {}


@pytest.mark.seed("P-29")
def test_filters_speak_in_the_order_of_the_profile() -> None:
    all_speak = Settings(disabled_extensions=("skill:x",), ignored=("x",), included=("y",))
    switched_off = claim(0, disabled_by="enableClaudeUser")
    order = ("disabled-extension", "toggle", "ignored", "included")
    rules = [
        decide(switched_off, settings=all_speak, filter_order=order[start:]).notes[0][0].rule
        for start in range(4)
    ]
    assert rules == ["disabled_extensions", "enableClaudeUser", "ignored", "included"]


def test_a_bundled_skill_must_be_on_the_allow_list_by_name_or_key() -> None:
    allowed = Settings(allowed_bundled=("b1",))
    claims = (
        claim(0, "b1", scope=Scope.BUNDLED),
        claim(1, "b2", scope=Scope.BUNDLED),
        claim(2, "own"),
    )
    assert winners(decide(*claims, settings=allowed), *claims) == [0, 2]


def test_an_author_can_switch_a_skill_off() -> None:
    assert decide(claim(0, enabled=False)).notes == {
        0: [Note(State.DISABLED, "its header says `enabled: false`", rule="enabled")]
    }
