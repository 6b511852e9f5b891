"""Secrets that settings only refer to: in the desktop's keyring or in an environment variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prowess.errors import MachineError
from prowess.model.facts import Facts

_SECONDS = 30

# How to ask each platform's own program: its words, those for the account, and the exit codes that
# mean “not found”.
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
        """The secret that a reference names; None if there is none."""
        if "keyring" in reference:
            return self._ask_keyring({name: str(value) for name, value in reference.items()})
        kind, variable = reference.get("source", "unknown"), reference.get("id")
        if kind == "env" and isinstance(variable, str):
            return self._facts.env.get(variable) or None
        # OpenClaw also knows files and programs, which would run with our permissions.
        raise MachineError("read the key from", str(kind), "this kind of source is not supported")

    def _ask_keyring(self, reference: Mapping[str, str]) -> str | None:
        import shutil
        import subprocess

        if self._facts.platform not in _PROGRAMS:
            cause = f"keyrings on {self._facts.platform} are not supported"
            raise MachineError("open", "the keyring", cause)
        words, account, nothing = _PROGRAMS[self._facts.platform]
        template = (*words, *account) if "account" in reference else words
        # Word by word: what settings say is never text of a shell.
        argv = [word.format_map(reference) for word in template]
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
        except subprocess.TimeoutExpired:
            # A locked keyring asks for its password in a window that nobody may see.
            cause = f"no answer after {_SECONDS} seconds"
            raise MachineError("open", "the keyring", cause) from None
        except (OSError, ValueError) as error:
            raise MachineError("open", "the keyring", str(error)) from None
        if answer.returncode in nothing:
            return None
        if answer.returncode:
            cause = f"{argv[0]} failed with exit code {answer.returncode}"
            raise MachineError("open", "the keyring", cause)
        return answer.stdout.decode("utf-8", "replace").rstrip("\r\n") or None
