"""`[sandbox]`: a user says what programs of skills may touch, a project can only tighten it."""

from __future__ import annotations

import pytest

from prowess.errors import SettingError
from prowess.model.sandbox import SandboxOverride, SandboxPolicy, SandboxSettings
from prowess.shell.sandbox_policy import build_policy
from tests.unit.settings.hosts import CWD, PROWESS, PROWESS_PROJECT, PROWESS_USER, load

USERS = """\
[sandbox]
mode = "on"
network = true
write = ["~/.cache/uv"]
hide = ["~/private"]
memory_mb = 1000
processes = 50

[sandbox.skills.deploy]
mode = "off"

[sandbox.skills.fetch]
network = false
write = ["/srv/data"]
"""


def test_every_key_is_read():
    settings = load(PROWESS, {PROWESS_USER: USERS})
    assert settings.sandbox == SandboxSettings(
        network=True,
        write=("/home/me/.cache/uv",),
        hide=("/home/me/private",),
        memory_mb=1000,
        processes=50,
        skills={
            "deploy": SandboxOverride(mode="off"),
            "fetch": SandboxOverride(network=False, write=("/srv/data",)),
        },
    )
    assert settings.origin("sandbox.skills.fetch.network").line == 13


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('mode = "off"', "sandbox.mode"),
        ("network = true", "sandbox.network"),
        ('write = ["/etc"]', "sandbox.write"),
        ("memory_mb = 9000", "sandbox.memory_mb"),
        ("processes = 9000", "sandbox.processes"),
        ('skills.x.mode = "off"', "sandbox.skills.x.mode"),
        ("skills.x.network = true", "sandbox.skills.x.network"),
        ('skills.x.write = ["/"]', "sandbox.skills.x.write"),
    ],
)
def test_a_project_cannot_loosen_it(line, key):
    settings = load(PROWESS, {PROWESS_PROJECT: f"[sandbox]\n{line}\n"})
    assert settings.sandbox == SandboxSettings()
    assert [(one.code, one.field, one.line) for one in settings.diagnostics] == [
        ("setting-ignored", key, 2)
    ]
    assert "tighten the sandbox but not loosen it" in settings.diagnostics[0].message


def test_a_project_can_tighten_it():
    tighter = '[sandbox]\nnetwork = false\nhide = ["/srv/keys"]\nmemory_mb = 500\n'
    settings = load(PROWESS, {PROWESS_USER: USERS, PROWESS_PROJECT: tighter})
    assert settings.diagnostics == ()
    assert settings.sandbox.network is False
    assert settings.sandbox.memory_mb == 500
    assert settings.sandbox.hide == ("/home/me/private", "/srv/keys")


@pytest.mark.parametrize(
    "text", ['mode = "maybe"', "network = 1", "memory_mb = -1", "nets = true", "skills.x.hide = []"]
)
def test_a_wrong_value_is_refused_with_its_line(text):
    with pytest.raises(SettingError) as caught:
        load(PROWESS, {PROWESS_USER: f"[sandbox]\n{text}\n"})
    assert caught.value.line == 2


def test_a_skill_has_the_policy_of_all_with_what_is_its_own():
    settings = load(PROWESS, {PROWESS_USER: USERS}).sandbox
    found = build_policy(settings, "fetch", project=CWD, home="/home/me", hidden=("/state",))
    assert found is not None
    assert found.writable == (CWD, "/home/me/.cache/uv", "/srv/data")
    assert {"/home/me/.ssh", "/state", "/home/me/private"} <= set(found.hidden)
    assert (found.network, found.memory_bytes, found.processes) == (False, 1000 << 20, 50)
    assert build_policy(settings, "deploy", project=CWD, home="/home/me") is None


def test_without_a_setting_there_is_no_network_and_the_project_is_writable():
    found = build_policy(SandboxSettings(), "any", project=CWD, home="/home/me")
    assert found is not None
    assert found == SandboxPolicy(writable=(CWD,), hidden=found.hidden)
