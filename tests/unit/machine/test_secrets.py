"""Keys that are kept elsewhere: asked of the platform's own program, never shown, never remembered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from prowess.errors import MachineError
from prowess.machine.secrets import LocalSecrets
from prowess.testing import make_facts


def write_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def find(
    tmp_path: Path, reference: dict[str, Any], *, platform: str = "linux", **env: str
) -> str | None:
    facts = make_facts(platform=platform, env={"PATH": f"{tmp_path}:{os.environ['PATH']}", **env})
    return LocalSecrets(facts).find_secret(reference)


@pytest.mark.parametrize(
    ("platform", "program", "asked"),
    [
        ("linux", "secret-tool", "lookup service my service username me"),
        ("darwin", "security", "find-generic-password -w -s my service -a me"),
    ],
)
def test_the_keyring_is_asked_by_the_platform_s_own_program(
    tmp_path: Path, platform: str, program: str, asked: str
) -> None:
    write_program(
        tmp_path, program, f'echo "$*" > {tmp_path}/asked; echo noise >&2; echo "the key"'
    )
    assert (
        find(tmp_path, {"keyring": "my service", "account": "me"}, platform=platform) == "the key"
    )
    assert (tmp_path / "asked").read_text() == f"{asked}\n"
    find(tmp_path, {"keyring": "$(touch x); {account}"}, platform=platform)
    assert (
        (tmp_path / "asked")
        .read_text()
        .split(" ", 2 if platform == "linux" else 3)[-1]
        .endswith("$(touch x); {account}\n")
    )


def test_what_the_keyring_does_not_hold_is_none(tmp_path: Path) -> None:
    write_program(tmp_path, "secret-tool", "exit 1")
    assert find(tmp_path, {"keyring": "x"}) is None
    write_program(tmp_path, "secret-tool", "echo")
    assert find(tmp_path, {"keyring": "x"}) is None


def test_a_variable_of_the_environment_can_be_referred_to(tmp_path: Path) -> None:
    assert (
        find(tmp_path, {"source": "env", "provider": "default", "id": "MY_KEY"}, MY_KEY="k") == "k"
    )
    assert find(tmp_path, {"source": "env", "id": "OTHER"}, MY_KEY="k") is None


@pytest.mark.parametrize(
    ("reference", "platform", "sentence"),
    [
        (
            {"keyring": "x"},
            "linux",
            "Could not open the keyring: secret-tool failed with exit code 5.",
        ),
        (
            {"keyring": "x"},
            "darwin",
            "Could not open the keyring: the program security is not installed.",
        ),
        (
            {"keyring": "x"},
            "win32",
            "Could not open the keyring: keyrings on win32 are not supported.",
        ),
        (
            {"source": "exec", "id": "x"},
            "linux",
            "Could not read the key from exec: this kind of source is not supported.",
        ),
        (
            {},
            "linux",
            "Could not read the key from unknown: this kind of source is not supported.",
        ),
    ],
)
def test_a_place_that_cannot_be_looked_into_is_an_error_of_the_machine(
    tmp_path: Path, reference: dict[str, Any], platform: str, sentence: str
) -> None:
    write_program(tmp_path, "secret-tool", "echo half a key; exit 5")
    with pytest.raises(MachineError) as caught:
        LocalSecrets(make_facts(platform=platform, env={"PATH": str(tmp_path)})).find_secret(
            reference
        )
    assert str(caught.value) == sentence
