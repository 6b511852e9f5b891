"""Approvals on disk: one private file outside of every project, written aside and renamed.

A file that cannot be read, or that others may write, counts as empty: people are asked again, and a diagnostic
says why.
"""

from __future__ import annotations

import os
import stat

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.machine.dirs import state_folder
from prowess.machine.files import LocalFiles
from prowess.machine.locks import hold_lock
from prowess.machine.writing import write_aside
from prowess.model.facts import Facts
from prowess.model.permission import Approval

_VERSION = 1
_MOST_BYTES = 1 << 24


class _File(msgspec.Struct):
    version: int
    approvals: list[Approval]


def approvals_path(facts: Facts) -> str:
    """Where approvals are kept on a machine."""
    return os.path.join(state_folder(facts), "approvals.json")


class ApprovalFile:
    """An `ApprovalStore` on disk. It is read at every question, so another program's answer counts at once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.diagnostics: tuple[Diagnostic, ...] = ()

    def find(self, permission: str, pattern: str, location: str) -> Approval | None:
        """The approval that was given for a name of the skill at a place."""
        key = (permission, pattern, location)
        return next((approval for approval in self.load() if approval.key == key), None)

    def keep(self, approval: Approval) -> None:
        """Remember an approval in place of an earlier one for the same."""
        with hold_lock(self.path):
            others = [other for other in self._load_for_change() if other.key != approval.key]
            self._write([*others, approval])

    def forget(self, name: str | None = None) -> int:
        """Take back the approvals of a name, or all of them; how many there were."""
        with hold_lock(self.path):
            found = self._load_for_change()
            left = [approval for approval in found if name is not None and approval.pattern != name]
            if len(left) < len(found):
                self._write(left)
            return len(found) - len(left)

    def load(self) -> list[Approval]:
        """Every approval; none where the file is not there or cannot be trusted."""
        self.diagnostics = ()
        try:
            if _others_may_write(self.path):
                return self._distrust("other users may write it")
            data = LocalFiles().read_head(self.path, _MOST_BYTES).data
            file = msgspec.json.decode(data, type=_File)
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self._distrust(f"it cannot be read ({getattr(error, 'strerror', None) or error})")
        if file.version != _VERSION:
            return self._distrust("another version of Prowess wrote it")
        return file.approvals

    def _load_for_change(self) -> list[Approval]:
        """What there is; a file that cannot be used is put aside, never overwritten."""
        found = self.load()
        if self.diagnostics:
            try:
                os.replace(self.path, f"{self.path}.unusable")
            except OSError as error:
                raise MachineError("put aside", self.path, error.strerror or str(error)) from error
        return found

    def _write(self, approvals: list[Approval]) -> None:
        approvals = sorted(approvals, key=lambda approval: approval.key)
        try:
            data = msgspec.json.format(msgspec.json.encode(_File(_VERSION, approvals)), indent=2)
        except UnicodeEncodeError:
            raise MachineError("write", self.path, "a path or a name in it is no text") from None
        write_aside(self.path, data + b"\n", mode=0o600, folder_mode=0o700)

    def _distrust(self, reason: str) -> list[Approval]:
        message = f"The approvals are not used, since {reason}; every skill is asked for again."
        self.diagnostics = (diagnose("state-unreadable", message, file=self.path),)
        return []


def _others_may_write(path: str) -> bool:
    return os.name == "posix" and bool(os.stat(path).st_mode & (stat.S_IWGRP | stat.S_IWOTH))
