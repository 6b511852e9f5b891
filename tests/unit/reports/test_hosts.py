"""Hosts and their editions: where each comes from, how editions differ, and profiles that fail."""

from __future__ import annotations

import pytest

from prowess.errors import UnknownHost
from prowess.model.facts import Facts
from prowess.reports.hosts import (
    Difference,
    EditionDifferences,
    get_host,
    list_host_names,
    load_hosts,
    render_value,
)
from tests.workspace import Workspace

MINE = """\
name = "mine"
title = "Mine"
extends = "spec"
editions = ["current", "old"]
[old.resolution]
strategy = "last"
"""


@pytest.fixture
def facts(workspace: Workspace) -> Facts:
    workspace.write("home/.config/prowess/profiles/mine.toml", MINE)
    workspace.write("home/.config/prowess/profiles/bad.toml", 'name = "bad"\nnam = 1\n')
    return workspace.facts()


def test_hosts_that_the_user_added_come_last(facts):
    assert list_host_names(facts)[-2:] == ("bad", "mine")
    assert [(host.name, host.origin) for host in load_hosts(facts)][-3:] == [
        ("crush", "built in"),
        ("bad", "added"),
        ("mine", "added"),
    ]


def test_a_profile_that_is_wrong_has_a_problem_and_the_others_do_not(facts):
    problems = {host.name: host.problem for host in load_hosts(facts) if host.problem is not None}
    assert list(problems) == ["bad"]
    assert "`nam`" in problems["bad"]


def test_an_edition_is_compared_with_the_first(facts):
    host = get_host("mine@old", facts)
    assert [profile.edition for profile in host.editions] == ["current", "old"]
    assert host.list_differences() == [
        EditionDifferences("old", (Difference("resolution.strategy", "first", "last"),))
    ]
    assert host.shape()["differences"] == [
        {"key": "resolution.strategy", "current": "first", "old": "last"}
    ]


def test_a_host_that_does_not_exist_is_an_error(facts):
    with pytest.raises(UnknownHost):
        get_host("nobody", facts)


def test_a_root_is_written_with_what_its_author_wrote():
    root = {"at": ["{home}/extra"], "scope": "user", "gitignore": True, "hidden": False}
    assert render_value(root) == "at = {home}/extra; scope = user; gitignore = yes"
    assert render_value({"a": None, "b": [], "c": ""}) == "a = not set; b = none; c = empty"
