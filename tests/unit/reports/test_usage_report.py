"""Counts of use: their order, why they may be off, how they are deleted, and what is unused."""

from __future__ import annotations

import pytest

from prowess.errors import MachineError, UsageError
from prowess.model.origin import Origin
from prowess.model.settings import Settings
from prowess.model.usage import Usage
from prowess.reports.usage_report import (
    Cleared,
    CountingOff,
    clear_usage,
    find_counting_off,
    find_unused,
    load_usage,
    render_counting_off,
    sort_usage,
)
from prowess.runtime import Skills
from prowess.state.usage import UsageFile, usage_path
from tests.workspace import Workspace


@pytest.fixture
def skills(workspace: Workspace) -> Skills:
    """Three skills that were offered, of which `sql` was used."""
    for name in ("pdf", "ship", "sql"):
        workspace.skill(f"project/.agents/skills/{name}")
    opened = workspace.open()
    store = UsageFile(usage_path(opened.facts), clock=lambda: 1_000.0)
    store.note_offered(opened)
    store.note_activated(opened.get("sql"), "user")
    return opened


def test_the_most_used_come_first_then_the_most_offered_then_names():
    counts = [
        Usage(name="b", location="/b"),
        Usage(name="a", location="/a"),
        Usage(name="c", location="/c", offered=2),
        Usage(name="d", location="/d", by_model=1),
    ]
    assert [usage.name for usage in sort_usage(counts)] == ["d", "c", "a", "b"]


def test_counts_can_be_limited_to_what_a_scan_saw(workspace, skills):
    report = load_usage(skills.facts, skills.settings())
    assert [(one.name, one.offered, one.by_user) for one in report.counts] == [
        ("sql", 1, 1),
        ("pdf", 1, 0),
        ("ship", 1, 0),
    ]
    assert (report.off, report.diagnostics) == (None, ())
    seen = workspace.scan("claude-code")
    assert load_usage(skills.facts, skills.settings(), seen=seen).counts == ()


def test_counting_is_off_by_a_variable_or_by_a_setting(workspace):
    at = Origin("/home/me/p/prowess.toml", 2)
    settings = Settings(usage=False, origins={"usage": at})
    assert find_counting_off(workspace.facts(), Settings()) is None
    assert find_counting_off(workspace.facts(), settings) == CountingOff(at)
    by_variable = workspace.facts(env={"PROWESS_NO_USAGE": "1"})
    assert find_counting_off(by_variable, settings) == CountingOff()
    assert [
        render_counting_off(off, cwd="/home/me/p", home="/home/me")
        for off in (CountingOff(), CountingOff(at))
    ] == ["PROWESS_NO_USAGE is set", "`usage` is false in prowess.toml:2"]


def test_counts_of_a_name_or_all_are_deleted_and_an_unknown_name_knows_the_nearest(skills):
    path = usage_path(skills.facts)
    assert clear_usage(skills.facts, "pfd") == Cleared(path, 0, ("pdf",))
    assert clear_usage(skills.facts, "sql") == Cleared(path, 1)
    assert clear_usage(skills.facts) == Cleared(path, 2)
    assert clear_usage(skills.facts) == Cleared(path, 0)


def test_ready_skills_that_were_never_used_are_found(workspace, skills):
    assert [outcome.name for outcome in find_unused(skills)] == ["pdf", "ship"]
    with pytest.raises(UsageError) as raised:
        find_unused(workspace.open(env={"PROWESS_NO_USAGE": "1"}))
    assert str(raised.value) == (
        "Usage counting is off (PROWESS_NO_USAGE is set), so unused skills cannot be listed."
    )


def test_a_file_that_cannot_be_read_is_an_error_and_is_not_cleared(workspace):
    path = usage_path(workspace.facts())
    workspace.write(path, b"this is no database" * 100)
    with pytest.raises(MachineError):
        clear_usage(workspace.facts())
    with open(path, "rb") as file:
        assert file.read() == b"this is no database" * 100
