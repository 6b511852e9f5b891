"""Who may start a skill, and which rule says so."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.gate.visibility import Invocation, find_unavailable, judge_invocation
from prowess.model.outcome import Note, State
from prowess.model.settings import Override, Settings
from prowess.model.skill import Manifest
from prowess.profiles.load import load_profile


def judge(manifest: Manifest, host: str = "prowess", **overrides: Override) -> Invocation:
    return judge_invocation(
        manifest, name="x", rules=load_profile(host).gate, settings=Settings(overrides=overrides)
    )


@pytest.mark.parametrize(
    ("manifest", "overrides", "invocation"),
    [
        (Manifest(), {}, Invocation()),
        (Manifest(user_invocable=True, disable_model_invocation=False), {}, Invocation()),
        (Manifest(hide=True), {}, Invocation()),
        (Manifest(user_invocable=False), {}, Invocation(by_user=False, user_rule="user-invocable")),
        (
            Manifest(disable_model_invocation=True),
            {},
            Invocation(by_model=False, model_rule="disable-model-invocation"),
        ),
        (Manifest(), {"x": Override(visibility="on")}, Invocation()),
        (Manifest(), {"x": Override(visibility="name-only")}, Invocation()),
        (
            Manifest(),
            {"x": Override(visibility="user-only")},
            Invocation(by_model=False, model_rule="overrides.x.visibility"),
        ),
        (
            Manifest(),
            {"x": Override(visibility="off")},
            Invocation(False, False, "overrides.x.visibility", "overrides.x.visibility"),
        ),
        (
            Manifest(skill_key="k"),
            {"k": Override(enabled=False)},
            Invocation(False, False, "overrides.k.enabled", "overrides.k.enabled"),
        ),
    ],
)
def test_who_may_start_a_skill_and_what_says_so(
    manifest: Manifest, overrides: dict[str, Any], invocation: Invocation
) -> None:
    assert judge(manifest, **overrides) == invocation


def test_a_host_that_does_not_know_the_field_lets_the_model_start_it() -> None:
    manifest = Manifest(disable_model_invocation=True)
    assert judge(manifest, "opencode").by_model is True
    assert judge(manifest, "claude-code").by_model is False


@pytest.mark.seed("C-13")
def test_a_skill_defined_in_code_is_asked_at_run_time_whether_it_is_there() -> None:
    available = [True, False, True]
    absent = Note(State.DISABLED, "its own check says that it is not available", rule="is_enabled")
    answers = iter(available)
    assert [find_unavailable(lambda: next(answers)) for _ in available] == [None, absent, None]
    assert find_unavailable(None) is None


def test_a_check_that_fails_counts_as_a_no() -> None:
    def is_enabled() -> bool:
        raise OSError("no network")

    assert find_unavailable(is_enabled) == Note(
        State.DISABLED, "its own check failed (OSError: no network)", rule="is_enabled"
    )
