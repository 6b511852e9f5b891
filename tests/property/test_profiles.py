"""Laws of profiles: merging, boundaries, templates."""

from __future__ import annotations

import posixpath

from hypothesis import given
from hypothesis import strategies as st

from prowess.profiles.load import BUILT_IN, differing_keys, known_editions, load_profile
from prowess.profiles.merge import merge
from prowess.profiles.places import Places, ancestors, expand_user_path
from prowess.profiles.validation import find_mistakes

values = st.recursive(
    st.integers() | st.text(max_size=3) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
tables = st.dictionaries(st.text(max_size=2), values, max_size=4)
segments = st.lists(st.sampled_from(("a", "b", ".c", "d e")), max_size=5)


@given(table=tables)
def test_merging_an_empty_profile_changes_nothing(table: dict[str, object]) -> None:
    assert merge(table, {}) == table
    assert merge({}, table) == table
    assert merge(table, table) == table


@given(one=tables, two=tables)
def test_merging_leaves_both_sides_as_they_were(
    one: dict[str, object], two: dict[str, object]
) -> None:
    before = (repr(one), repr(two))
    merge(one, two)
    assert (repr(one), repr(two)) == before


@given(below=segments, home=segments, repository=st.none() | st.integers(0, 5))
def test_a_walk_goes_up_step_by_step_and_ends_at_its_boundary(
    below: list[str], home: list[str], repository: int | None
) -> None:
    cwd = posixpath.join("/", *below)
    root = None if repository is None else posixpath.join("/", *below[:repository])
    places = Places(cwd=cwd, home=posixpath.join("/", *home), platform="linux", repository=root)
    for up_to in ("repository", "home", "filesystem", "folder"):
        walked = ancestors(places, up_to=up_to)
        assert walked[0] == cwd
        assert [posixpath.dirname(folder) for folder in walked[:-1]] == walked[1:]
    assert ancestors(places, up_to="folder") == [cwd]
    assert ancestors(places, up_to="filesystem")[-1] == "/"
    if root is not None:
        assert ancestors(places, up_to="repository")[-1] == root


@given(path=st.text(st.sampled_from("ab./~"), min_size=1, max_size=8), base=segments)
def test_a_users_path_becomes_absolute_and_plain(path: str, base: list[str]) -> None:
    places = Places(cwd="/w", home="/home/me", platform="linux")
    made = expand_user_path(path, base=posixpath.join("/", *base), places=places)
    assert made.startswith("/")
    assert ".." not in made.split("/")


def test_every_profile_loads_in_every_edition_and_differs_only_where_it_says() -> None:
    for name in BUILT_IN:
        for edition in known_editions(name):
            profile = load_profile(f"{name}@{edition}")
            assert (profile.name, profile.edition) == (name, edition)
            assert list(find_mistakes(profile, name)) == []
    assert differing_keys(load_profile("spec"), load_profile("spec")) == []
