"""Profiles: names and editions, `extends`, users' own files, and errors that name the key."""

from __future__ import annotations

import pytest

from prowess.errors import ProfileError, UnknownHost
from prowess.profiles.load import BUILT_IN, differing_keys, known_editions, known_hosts, load_profile, split_host


def test_a_host_is_a_name_and_an_edition() -> None:
    assert split_host("opencode@documented") == ("opencode", "documented")
    assert split_host("opencode") == ("opencode", "current")
    assert load_profile("opencode").edition == "current"


def test_the_measured_hosts_have_two_editions_and_the_others_one() -> None:
    assert {name: known_editions(name) for name in BUILT_IN} == {
        "prowess": ("current",),
        "spec": ("current",),
        "claude-code": ("current", "documented"),
        "opencode": ("current", "documented"),
        "openclaw": ("current", "documented"),
        "omp": ("current", "documented"),
        "codex": ("current",),
    }


def test_every_profile_says_what_it_follows() -> None:
    for name in BUILT_IN:
        for edition in known_editions(name):
            provenance = load_profile(f"{name}@{edition}").provenance
            assert provenance.release
            assert provenance.documents
            assert provenance.measured is (edition == "current" and name not in ("spec", "codex"))


def test_an_unknown_host_names_the_known_ones() -> None:
    with pytest.raises(UnknownHost) as caught:
        load_profile("cursor")
    assert str(caught.value) == f"There is no host “cursor”; the hosts are {', '.join(BUILT_IN)}."


def test_an_unknown_edition_names_the_known_ones() -> None:
    with pytest.raises(UnknownHost) as caught:
        load_profile("omp@draft")
    assert str(caught.value) == "There is no host “omp@draft”; the hosts are omp@current, omp@documented."


def test_a_users_profile_extends_another_and_holds_differences() -> None:
    mine = 'name = "mine"\nextends = "claude-code@documented"\n[limits]\nskills_per_root = 5\n'
    profile = load_profile("mine", {"mine": mine})
    base = load_profile("claude-code@documented")
    assert [key for key, _, _ in differing_keys(base, profile)] == [
        "name",
        "edition",
        "editions",
        "provenance.release",
        "provenance.documents",
        "provenance.departures",
        "limits.skills_per_root",
    ]
    assert known_hosts({"mine": mine})[-1] == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'name = "mine"\n[header]\nopne = "line"\n',
            "The profile “mine” cannot be used: it has a key that no profile has (at `header.opne`).",
        ),
        (
            'name = "mine"\nroot = {}\n',
            "The profile “mine” cannot be used: it has a key that no profile has (at `root`).",
        ),
        (
            'name = "mine"\n[limits]\nskills_per_root = "many"\n',
            "The profile “mine” cannot be used: expected `int`, got `str` (at `limits.skills_per_root`).",
        ),
        (
            'name = "mine"\n[resolution]\nstrategy = "random"\n',
            "The profile “mine” cannot be used: 'random' is not one of its words "
            "(first, last, priority, scope, assembly, all) (at `resolution.strategy`).",
        ),
        (
            'name = "mine"\n[header]\nopen = "any"\n',
            "The profile “mine” cannot be used: 'any' is not one of its words (line, prefix, language, "
            "line-or-language) (at `header.open`).",
        ),
        (
            'name = "mine"\n[roots.project]\nat = ["{cwd}/x"]\nscope = "mine"\n',
            "The profile “mine” cannot be used: 'mine' is not one of its words "
            "(managed, project, user, added, plugin, bundled, remote) (at `roots.project.scope`).",
        ),
        (
            'name = "mine"\nextends = "spec"\norder = ["project", "usr"]\n',
            "The profile “mine” cannot be used: “usr” is no root; the roots are project, user, added (at `order[1]`).",
        ),
        (
            'name = "mine"\nextends = "spec"\n[conditions]\nbelow = ["nested"]\n',
            "The profile “mine” cannot be used: “nested” is no root; the roots are project, user, added "
            "(at `conditions.below[0]`).",
        ),
        (
            'name = "mine"\nsettings_order = ["user"]\n',
            "The profile “mine” cannot be used: “user” is no settings file; there are none (at `settings_order`).",
        ),
        (
            'name = "yours"\n',
            "The profile “mine” cannot be used: its name is “yours”, but it is known as “mine”; "
            "they have to be the same (at `name`).",
        ),
        (
            'name = "mine"\nextends = "specs"\n',
            "The profile “mine” cannot be used: There is no host “specs”; the hosts are prowess, spec, claude-code, "
            "opencode, openclaw, omp, codex, mine (at `extends`).",
        ),
        (
            'name = "mine"\nextends = "mine"\n',
            "The profile “mine” cannot be used: it extends itself: mine → mine (at `extends`).",
        ),
    ],
)
def test_a_wrong_profile_names_the_key(text: str, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        load_profile("mine", {"mine": text})
    assert str(caught.value) == message


def test_a_profile_that_is_not_toml_says_where() -> None:
    with pytest.raises(ProfileError, match=r"it is not TOML: .*line 1"):
        load_profile("mine", {"mine": "name = \n"})


def test_a_placeholder_that_stands_for_nothing_is_a_mistake() -> None:
    text = 'name = "mine"\nextends = "spec"\n[roots.project]\nat = ["{ancester}/.agents/skills"]\n'
    with pytest.raises(ProfileError) as caught:
        load_profile("mine", {"mine": text})
    assert caught.value.key == "roots.project.at"
    assert caught.value.problem.startswith("“{ancester}” stands for no place; known are added, ancestor, ")
