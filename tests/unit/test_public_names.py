"""The public names: few, each in one place, and the earlier ones still importable."""

from __future__ import annotations

import importlib

import pytest

import prowess


def test_there_are_few_of_them() -> None:
    assert len(prowess.__all__) <= 28


@pytest.mark.parametrize("name", sorted(prowess._MOVED))
def test_a_name_that_moved_says_where_it_is_now(name: str) -> None:
    place, _, new = f"prowess.{prowess._MOVED[name]}".rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"use `from {place} import {new}`"):
        value = getattr(prowess, name)
    assert value is getattr(importlib.import_module(place), new)


def test_no_name_is_both_here_and_elsewhere() -> None:
    assert set(prowess.__all__) & set(prowess._MOVED) == set()


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Skils'"):
        prowess.Skils  # noqa: B018


def test_no_public_name_clashes_with_those_of_the_libraries() -> None:
    import pydantic_ai

    # Both libraries mean the same by it; an agent with skills needs only one of them.
    assert set(prowess.__all__) & set(pydantic_ai.__all__) <= {"Conversation"}
