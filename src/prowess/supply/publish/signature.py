"""Sign and verify by `ssh-keygen -Y`, with the keys that people have anyway."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from prowess.errors import MachineError, ProwessError
from prowess.machine.atomic_write import scratch_folder, write_aside
from prowess.model.command import Command, Finished
from prowess.ports import Runner

NAMESPACE = "agent-skills"
"""What a signature is for; one that was made for something else does not verify."""

_SECONDS = 60.0
_FINGERPRINT = re.compile(r"\bSHA256:[A-Za-z0-9+/]{43}")
# What reaches the user's agent, or a window that asks for the passphrase.
_VARIABLES = ("SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_SK_PROVIDER", "DISPLAY")


class SignatureError(ProwessError):
    """A signature that could not be made, or that does not verify, and why."""

    exit_code = 1

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)

    def __str__(self) -> str:
        return f"{self.problem}."


class Signer(msgspec.Struct, frozen=True):
    """Who signed: the name in the file of allowed signers, and what ssh-keygen says of the key."""

    principal: str
    key: str


class SshSignatures:
    """Signs and verifies by the program `ssh-keygen`. `env` is the user's environment."""

    def __init__(self, runner: Runner, env: Mapping[str, str]) -> None:
        self._runner = runner
        self._env = {name: env[name] for name in _VARIABLES if name in env}

    def sign(self, data: bytes, key: str) -> bytes:
        """A signature of some data by a private key, or by a public key of the ssh agent.

        Raises `SignatureError` and `MachineError`.
        """
        done = self._run(("-Y", "sign", "-f", key, "-n", NAMESPACE), data)
        if done.code != 0:
            raise SignatureError(f"ssh-keygen could not sign with {key}: {_explain(done)}")
        return done.output.encode()

    def is_signed_by(self, data: bytes, signature: bytes, key: str) -> bool:
        """Whether a signature of some data is good and made by a key."""
        listed = self._run(("-l", "-f", key), b"")
        known = _FINGERPRINT.search(listed.output)
        if listed.code != 0 or known is None:
            return False
        return self.find_key(data, signature) == known[0]

    def find_key(self, data: bytes, signature: bytes) -> str | None:
        """The fingerprint of the key that signed some data; None if the signature is not good."""
        with scratch_folder() as folder:
            file = f"{folder}/signature"
            write_aside(file, signature, sync=False)
            checked = self._run(("-Y", "check-novalidate", "-n", NAMESPACE, "-s", file), data)
        if checked.code != 0:
            return None
        fingerprint = _FINGERPRINT.search(checked.output)
        return None if fingerprint is None else fingerprint[0]

    def verify(self, data: bytes, signature: bytes, allowed_signers: str) -> Signer:
        """Who signed some data, if a file of allowed signers knows the key.

        Raises `SignatureError` and `MachineError`.
        """
        with scratch_folder() as folder:
            file = f"{folder}/signature"
            write_aside(file, signature, sync=False)
            find = ("-Y", "find-principals", "-s", file, "-f", allowed_signers)
            # `verify` needs a name to check against, so ssh-keygen is asked first whose key it is.
            principals = self._run(find, b"")
            # A key may belong to several names; the first one is shown.
            principal = principals.output.partition("\n")[0].partition(",")[0].strip()
            if principals.code != 0 or not principal:
                raise SignatureError(f"No signer in {allowed_signers} has the key of the signature")
            verify = ("-Y", "verify", "-f", allowed_signers, "-I", principal, "-n", NAMESPACE)
            done = self._run((*verify, "-s", file), data)
        if done.code != 0:
            raise SignatureError(f"The signature does not verify: {_explain(done)}")
        key = _FINGERPRINT.search(done.output)
        return Signer(principal, key[0] if key else "")

    def _run(self, words: tuple[str, ...], data: bytes) -> Finished:
        command = Command(
            text=f"ssh-keygen {' '.join(words[:2])}",
            argv=("ssh-keygen", *words),
            env=self._env,
            input=data,
            separate_errors=True,
            seconds=_SECONDS,
        )
        try:
            return self._runner.run(command)
        except MachineError as error:
            raise MachineError("sign or verify with", "ssh-keygen", error.cause) from error


def _explain(done: Finished) -> str:
    if done.code is None:
        return f"it did not end within {_SECONDS:.0f} seconds"
    lines = (done.errors or done.output).strip().splitlines()
    return lines[-1].rstrip(".") if lines else f"it exited with {done.code}"
