"""Who may start a skill, and which rule says so."""

from __future__ import annotations

from typing import Any

import pytest

from prowess.gate.visibility import Invocation, judge_invocation
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
