"""Profiles: names and editions, `extends`, users' own files, and errors that name the key."""

from __future__ import annotations

from typing import get_args

import pytest

from prowess.errors import ProfileError, UnknownHost
from prowess.gate.eligibility import CHECKS
from prowess.profiles import conditions
from prowess.profiles.load import (
    BUILT_IN,
    ProfileText,
    differing_keys,
    known_editions,
    known_hosts,
    load_profile,
    split_host,
)
from prowess.profiles.schema.resolution import Check, Filter
from prowess.profiles.validation import CONDITIONS
from prowess.resolve.filters import FILTERS


def test_a_host_has_other_names_unless_a_users_profile_takes_them() -> None:
    assert split_host("gemini-cli") == ("gemini", "current")
    assert split_host("github-copilot@current") == ("copilot", "current")
    assert load_profile("qwen-code").name == "qwen"
    mine = 'name = "qwen-code"\nextends = "pi"\n'
    assert load_profile("qwen-code", {"qwen-code": mine}).name == "qwen-code"


def test_a_host_is_a_name_and_an_edition() -> None:
    assert split_host("opencode@documented") == ("opencode", "documented")
    assert split_host("opencode") == ("opencode", "current")
    assert load_profile("opencode").edition == "current"


def test_the_measured_hosts_have_several_editions_and_the_others_one() -> None:
    assert {name: known_editions(name) for name in BUILT_IN} == {
        "prowess": ("current",),
        "spec": ("current",),
        "claude-code": ("current", "documented"),
        "opencode": ("current", "documented"),
        "openclaw": ("current", "documented"),
        "omp": ("current", "18.3.4", "18.2.3", "documented"),
        "codex": ("current",),
        "gemini": ("current",),
        "copilot": ("current",),
        "pi": ("current",),
        "qwen": ("current",),
        "crush": ("current",),
    }


def test_every_profile_says_what_it_follows() -> None:
    for name in BUILT_IN:
        for edition in known_editions(name):
            provenance = load_profile(f"{name}@{edition}").provenance
            assert provenance.release
            assert provenance.documents
            is_release = edition != "documented"
            is_read_only = name in ("spec", "crush")
            assert provenance.measured is (is_release and not is_read_only)


def test_an_unknown_host_names_the_known_ones() -> None:
    with pytest.raises(UnknownHost) as caught:
        load_profile("cursor")
    assert str(caught.value) == f"There is no host “cursor”; the hosts are {', '.join(BUILT_IN)}."


def test_an_unknown_edition_names_the_known_ones() -> None:
    with pytest.raises(UnknownHost) as caught:
        load_profile("omp@draft")
    assert (
        str(caught.value)
        == "There is no host “omp@draft”; the hosts are omp@current, omp@18.3.4, omp@18.2.3,"
        " omp@documented."
    )


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
        "provenance.drops",
        "provenance.departures",
        "installed.programs",
        "installed.packages",
        "limits.skills_per_root",
    ]
    assert known_hosts({"mine": mine})[-1] == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'name = "mine"\n[header]\nopne = "line"\n',
            "Invalid profile “mine”: `header.opne` is not a known key; did you mean `open`?",
        ),
        (
            'name = "mine"\nroot = {}\n',
            "Invalid profile “mine”: `root` is not a known key; did you mean `roots`?",
        ),
        (
            'name = "mine"\n[limits]\nskills_per_root = "many"\n',
            "Invalid profile “mine”: `limits.skills_per_root` must be a whole number; got the "
            "string “many”.",
        ),
        (
            'name = "mine"\n[resolution]\nstrategy = "random"\n',
            "Invalid profile “mine”: `resolution.strategy` must be one of first, last, "
            "priority, scope, assembly, path, all; got “random”.",
        ),
        (
            'name = "mine"\n[header]\nopen = "any"\n',
            "Invalid profile “mine”: `header.open` must be one of line, exact-line, trimmed, "
            "prefix, language, line-or-language; got “any”.",
        ),
        (
            'name = "mine"\n[roots.project]\nat = ["{cwd}/x"]\nscope = "mine"\n',
            "Invalid profile “mine”: `roots.project.scope` must be one of managed, project, "
            "user, added, plugin, bundled, remote; got “mine”.",
        ),
        (
            'name = "mine"\nextends = "spec"\norder = ["project", "usr"]\n',
            "Invalid profile “mine”: `order[1]` is “usr”, which is not a root; the roots are "
            "project, user, added.",
        ),
        (
            'name = "mine"\nextends = "spec"\n[conditions]\nbelow = ["nested"]\n',
            "Invalid profile “mine”: `conditions.below[0]` is “nested”, which is not a root; "
            "the roots are project, user, added.",
        ),
        (
            'name = "mine"\nsettings_order = ["user"]\n',
            "Invalid profile “mine”: `settings_order` contains “user”, which is not a settings "
            "file; the profile has none.",
        ),
        (
            'name = "yours"\n',
            "Invalid profile “mine”: `name` must match the name of the file, “mine”; got “yours”.",
        ),
        (
            'name = "mine"\nextends = "specs"\n',
            "Invalid profile “mine”: `extends` is “specs”, which is not a host; the hosts are "
            "prowess, spec, claude-code, opencode, openclaw, omp, codex, gemini, copilot, pi, qwen, "
            "crush, mine.",
        ),
        (
            'name = "mine"\nextends = "mine"\n',
            "Invalid profile “mine”: `extends` is circular: mine → mine.",
        ),
    ],
)
def test_a_wrong_profile_names_the_key(text: str, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        load_profile("mine", {"mine": text})
    assert str(caught.value) == message


def test_a_profile_that_is_not_toml_says_where() -> None:
    with pytest.raises(ProfileError, match="not valid TOML \\(invalid value\\)\\.") as caught:
        load_profile("mine", {"mine": ProfileText("name = \n", "/x/mine.toml")})
    assert caught.value.line == 1


def test_a_placeholder_that_stands_for_nothing_is_a_mistake() -> None:
    text = 'name = "mine"\nextends = "spec"\n[roots.project]\nat = ["{ancester}/.agents/skills"]\n'
    with pytest.raises(ProfileError) as caught:
        load_profile("mine", {"mine": text})
    assert caught.value.key == "roots.project.at"
    assert caught.value.problem.startswith(
        "uses “{ancester}”, which is not a place; the places are added, agent, ancestor, "
    )


def mistake(text: str, **others: str) -> str:
    """What is said of a profile that lies in a file."""
    added = {
        name: ProfileText(one, f"/x/{name}.toml") for name, one in {"mine": text, **others}.items()
    }
    with pytest.raises(ProfileError) as caught:
        load_profile("mine", added)
    return str(caught.value).removeprefix("Invalid profile ")


NO_NAME = '/x/mine.toml:1: `name` is missing; add `name = "mine"` as the first line.'
MINE = 'name = "mine"\nextends = "spec"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", NO_NAME),
        ('extends = "spec"\n', NO_NAME),
        (
            f'{MINE}[roots.x]\nat = 3\nscope = "user"\n',
            "/x/mine.toml:4: `roots.x.at` must be a list of strings; got 3.",
        ),
        (
            f'{MINE}[roots.x]\nat = ["{{cwd}}/x"]\n',
            "/x/mine.toml:3: `roots.x.scope` is missing; it must be one of managed, project, "
            "user, added, plugin, bundled, remote.",
        ),
        (
            f"{MINE}\n[rots.x]\nat = []\n",
            "/x/mine.toml:4: `rots` is not a known key; did you mean `roots`?",
        ),
        (
            f"{MINE}[catalog.nonsense]\nat = []\n[catalog]\n",
            "/x/mine.toml:3: `catalog.nonsense` is not a known key; the known keys are ",
        ),
        (
            f"{MINE}order = [1]\n",
            "/x/mine.toml:3: `order[0]` must be a string or a list of strings; got 1.",
        ),
        (
            f"{MINE}[permissions.base]\nskill = 3\n",
            "/x/mine.toml:4: `permissions.base.skill` must be one of allow, ask, deny or a "
            "table; got 3.",
        ),
        (
            f"{MINE}[limits]\nfile_bytes = true\n",
            "/x/mine.toml:4: `limits.file_bytes` must be a whole number; got true.",
        ),
        (
            'name = "mine"\nextends = 3\n',
            '/x/mine.toml:2: `extends` must be a host, such as "spec"; got 3.',
        ),
        (
            f"{MINE}editions = 3\n",
            '/x/mine.toml:3: `editions` must be a list of names, such as ["current"]; got 3.',
        ),
        (
            f"{MINE}current = []\n",
            "/x/mine.toml:3: `current` must be a table, `[current]`; got a list.",
        ),
        (
            f'{MINE}[roots.user]\nwhen = ["when:X"]\n',
            "/x/mine.toml:4: `roots.user.when[0]` must be one of env:NAME, env-one:NAME, "
            "env-set:NAME, env-moved:NAME, toggle:NAME, any-toggle, provider:NAME, "
            "trusted-folder; got “when:X”.",
        ),
        (
            f'{MINE}[fields]\nname_pattern = "("\n',
            "/x/mine.toml:4: `fields.name_pattern` is not a valid regular expression (missing "
            "), unterminated subpattern at position 0).",
        ),
        (
            f'{MINE}[gate]\nchecks = ["bin"]\n',
            "/x/mine.toml:4: `gate.checks[0]` must be one of os, bins, any_bins, env, config; "
            "got “bin”.",
        ),
        (
            f'{MINE}[resolution]\nfilter_order = ["ignore"]\n',
            "/x/mine.toml:4: `resolution.filter_order[0]` must be one of enabled, "
            "disabled-extension, disabled-any-case, disabled-by-default, disabled-level, toggle, ",
        ),
        (
            f'{MINE}[gate]\nhidden_by = ["name"]\n',
            "/x/mine.toml:4: `gate.hidden_by[0]` must be one of hide, "
            "disable_model_invocation; got “name”.",
        ),
        (
            f"{MINE}number = {'9' * 5000}\n",
            "/x/mine.toml: a number has too many digits.",
        ),
    ],
)
def test_a_mistake_in_a_file_says_what_was_found_what_is_allowed_and_where(
    text: str, said: str
) -> None:
    assert mistake(text).startswith(said)


def test_a_key_that_may_be_left_out_has_a_type_like_others() -> None:
    said = mistake('name = "mine"\nextends = "spec"\n[fields]\nempty_description = 1.5\n')
    assert said == "/x/mine.toml:4: `fields.empty_description` must be a string; got 1.5."


@pytest.mark.parametrize("value", ["-3", "-0.5", "nan", "inf", "1e300", "9" * 30])
@pytest.mark.parametrize("key", ["seconds_per_root", "file_bytes"])
def test_a_limit_that_counts_nothing_is_a_mistake(key: str, value: str) -> None:
    said = mistake(f"{MINE}[limits]\n{key} = {value}\n")
    assert said.startswith(f"/x/mine.toml:4: `limits.{key}` must be ")
    assert "; got " in said


def test_a_priority_may_lie_below_zero() -> None:
    text = f"{MINE}[roots.user]\npriority = -5\n"
    assert load_profile("mine", {"mine": text}).roots["user"].priority == -5


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 50_000,
        "a = " + "{a = " * 50_000,
        "a = " + "[" * 40 + "]" * 40,
        'a = [ "[[", "{", ' + "[" * 40 + "]" * 40 + "]",
        "a." * 50_000 + "b = 1",
        "[" + "a." * 50_000 + "b]",
    ],
)
def test_a_profile_nested_without_end_is_a_mistake_with_its_line(text: str) -> None:
    assert mistake(f"{MINE}{text}\n") == ("/x/mine.toml:3: nested more than 32 levels deep.")


def test_brackets_in_text_and_comments_are_no_nesting() -> None:
    brackets = "[" * 90
    text = f'{MINE}title = "{brackets}"\n# {brackets}\nx = """\n{brackets}\n"""\ny = {"[" * 40}{"]" * 40}\n'
    assert mistake(text).startswith("/x/mine.toml:8: nested")


def test_what_was_inherited_from_a_wrong_profile_is_the_mistake_of_that_one() -> None:
    said = mistake(
        'name = "mine"\nextends = "base"\n', base='name = "base"\n[limits]\nfile_bytes = "no"\n'
    )
    assert said == (
        "/x/base.toml:3: `limits.file_bytes` must be a whole number; got the string “no”."
    )


def test_profiles_that_extend_one_another_without_end_are_a_mistake() -> None:
    others = {f"p{n}": f'name = "p{n}"\nextends = "p{n + 1}"\n' for n in range(2_000)}
    assert mistake('name = "mine"\nextends = "p0"\n', **others) == (
        "/x/p16.toml:2: `extends` is a chain of more than 16 profiles; shorten it."
    )


def test_the_words_that_a_profile_may_have_are_those_that_stages_understand() -> None:
    assert tuple(conditions._CONDITIONS) == CONDITIONS
    assert (tuple(FILTERS), tuple(CHECKS)) == (get_args(Filter), get_args(Check))


def test_a_release_is_an_edition_based_on_another() -> None:
    current, same, before = map(load_profile, ("omp", "omp@18.3.4", "omp@18.2.3"))
    assert [key for key, _, _ in differing_keys(current, same)] == ["edition"]
    assert [key for key, _, _ in differing_keys(current, before)] == [
        "edition",
        "provenance.release",
        "budget.per_item",
    ]


@pytest.mark.parametrize("base", ['"2.0"', '"3.0"', '"4.0"', "1"])
def test_an_edition_that_is_based_on_none_or_on_a_chain_is_a_mistake(base: str) -> None:
    text = (
        'name = "mine"\nextends = "spec"\neditions = ["current", "2.0", "3.0"]\n'
        f'["2.0"]\nbased_on = {base}\n["3.0"]\nbased_on = "current"\n'
    )
    with pytest.raises(ProfileError) as caught:
        load_profile("mine@2.0", {"mine": text})
    assert caught.value.key == "2.0.based_on"
    assert caught.value.problem.startswith("must be another edition (current, 3.0); got ")
