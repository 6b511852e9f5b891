"""A list that Prowess remembers: one private file outside of every project, written aside and
renamed.

A file that cannot be read, or that others may write, counts as empty, and a diagnostic says why. It
is read at every question, so that another program's answer counts at once, and never overwritten
where it could not be used.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError
from prowess.machine.atomic_write import write_aside
from prowess.machine.files import LocalFiles
from prowess.machine.ownership import find_other_writer
from prowess.state.locks import hold_lock

T = TypeVar("T")

_VERSION = 1


class PrivateList(Generic[T]):
    """A list of values in a file, under a `key` and beside a version. `lost` says what follows
    where it is not used.

    Of the file at most `most` bytes are read; one that has more counts as broken.
    """

    def __init__(
        self, path: str, key: str, item: type[T], *, order: Callable[[T], Any], lost: str, most: int
    ) -> None:
        self.path = path
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._key = key
        self._file = msgspec.defstruct("PrivateFile", [("version", int), (key, list[item])])  # type: ignore[valid-type]
        self._order = order
        self._lost = lost
        self._most = most

    def load(self) -> list[T]:
        """Everything in it; nothing where the file is not there or cannot be relied on."""
        self.diagnostics = ()
        try:
            other = find_other_writer(self.path)
            if other is not None:
                return self._disregard(other)
            data = LocalFiles().read_head(self.path, self._most).data
            file: Any = msgspec.json.decode(data, type=self._file)
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self._disregard(
                f"it cannot be read ({getattr(error, 'strerror', None) or error})"
            )
        if file.version != _VERSION:
            return self._disregard("another version of Prowess wrote it")
        found: list[T] = getattr(file, self._key)
        return found

    def change(self, change: Callable[[list[T]], list[T]]) -> int:
        """Put another list in its place; how many values there were more before. Raises
        `MachineError`.
        """
        with hold_lock(self.path):
            before = self._load_for_change()
            after = change(before)
            if after != before:
                self._write(after)
            return len(before) - len(after)

    def _load_for_change(self) -> list[T]:
        """What there is; a file that cannot be used is put aside."""
        found = self.load()
        if self.diagnostics:
            try:
                os.replace(self.path, f"{self.path}.unusable")
            except OSError as error:
                raise MachineError("put aside", self.path, error.strerror or str(error)) from error
        return found

    def _write(self, items: list[T]) -> None:
        file = {"version": _VERSION, self._key: sorted(items, key=self._order)}
        try:
            data = msgspec.json.format(msgspec.json.encode(file), indent=2)
        except UnicodeEncodeError:
            raise MachineError("write", self.path, "a path or a name in it is no text") from None
        write_aside(self.path, data + b"\n", mode=0o600, folder_mode=0o700)

    def _disregard(self, reason: str) -> list[T]:
        message = self._lost.format(reason=reason)
        self.diagnostics = (diagnose("state-unreadable", message, file=self.path),)
        return []
