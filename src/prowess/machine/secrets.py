"""Secrets that settings only refer to: in the keyring of the desktop, or in a variable of the
environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prowess.errors import MachineError
from prowess.model.facts import Facts

_SECONDS = 30

# How each platform's own program is asked: its words, those that name the account, and how it says
# “not there”.
_PROGRAMS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]] = {
    "linux": (("secret-tool", "lookup", "service", "{keyring}"), ("username", "{account}"), (1,)),
    "darwin": (
        ("security", "find-generic-password", "-w", "-s", "{keyring}"),
        ("-a", "{account}"),
        (44,),
    ),
}


class LocalSecrets:
    """The `SecretStore` of this machine.

    `{keyring = "SERVICE", account = "NAME"}` is looked up in the keyring, `{source = "env", id =
    "NAME"}` in the environment. Nothing is remembered.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def find_secret(self, reference: Mapping[str, Any]) -> str | None:
        """The secret that a reference leads to; None where nothing is there."""
        if "keyring" in reference:
            return self._ask_keyring({name: str(value) for name, value in reference.items()})
        if reference.get("source") == "env" and isinstance(reference.get("id"), str):
            return self._facts.env.get(reference["id"]) or None
        kind = str(reference.get("source", "unknown"))
        raise MachineError("find the key in", kind, f"Prowess knows no such place as “{kind}”")

    def _ask_keyring(self, reference: Mapping[str, str]) -> str | None:
        import shutil
        import subprocess

        if self._facts.platform not in _PROGRAMS:
            raise MachineError(
                "open", "the keyring", f"Prowess knows none on {self._facts.platform}"
            )
        words, account, nothing = _PROGRAMS[self._facts.platform]
        argv = [
            word.format_map(reference)
            for word in (*words, *(account if "account" in reference else ()))
        ]
        program = shutil.which(argv[0], path=self._facts.env.get("PATH"))
        if program is None:
            raise MachineError("open", "the keyring", f"the program {argv[0]} is not installed")
        try:
            answer = subprocess.run(
                [program, *argv[1:]],
                env=dict(self._facts.env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            cause = (
                "it does not answer" if isinstance(error, subprocess.TimeoutExpired) else str(error)
            )
            raise MachineError("open", "the keyring", cause) from None
        if answer.returncode and answer.returncode not in nothing:
            raise MachineError(
                "open", "the keyring", f"{argv[0]} ended with exit code {answer.returncode}"
            )
        return (
            answer.stdout.decode("utf-8", "replace").rstrip("\r\n") or None
            if not answer.returncode
            else None
        )
