"""A list that Prowess keeps in one private file, outside every project: trust and approvals.

A file that cannot be read, or that others can write, counts as empty, and a diagnostic says why. It
is read every time, so that what another program writes counts at once, and it is moved aside before
a new one is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.errors import MachineError, name_cause
from prowess.machine.atomic_write import write_aside
from prowess.machine.files import LocalFiles
from prowess.machine.ownership import find_other_writer
from prowess.state.locks import hold_lock

T = TypeVar("T")

_VERSION = 1


class PrivateList(Generic[T]):
    """A list of values in a file, under a `key` and with a version.

    `lost` is the message if the file is ignored, with `{reason}` in it. A file of more than
    `most_bytes` counts as broken.
    """

    def __init__(
        self,
        path: str,
        key: str,
        item: type[T],
        *,
        order: Callable[[T], Any],
        lost: str,
        most_bytes: int,
    ) -> None:
        self.path = path
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._key = key
        self._item = item
        self._order = order
        self._lost = lost
        self._most_bytes = most_bytes

    @cached_property
    def _file(self) -> type[Any]:
        """The form of the file. To define a type takes longer than to see that there is no file."""
        fields = [("version", int), (self._key, list[self._item])]  # type: ignore[name-defined]
        return msgspec.defstruct("PrivateFile", fields)

    def load(self) -> list[T]:
        """Everything in it; nothing if the file is missing or cannot be trusted."""
        self.diagnostics = ()
        try:
            # Who can write the file could trust a project, or approve a skill, in the user's name.
            other = find_other_writer(self.path)
            if other is not None:
                return self._ignore(other)
            data = LocalFiles().read_head(self.path, self._most_bytes).data
            file: Any = msgspec.json.decode(data, type=self._file)
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return self._ignore(f"the file cannot be read ({name_cause(error)})")
        if file.version != _VERSION:
            return self._ignore("another version of Prowess wrote the file")
        items: list[T] = getattr(file, self._key)
        return items

    def change(self, change: Callable[[list[T]], list[T]]) -> int:
        """Replace the list; returns how many values it lost. Raises `MachineError`."""
        with hold_lock(self.path):
            before = self._load_for_change()
            after = change(before)
            if after != before:
                self._write(after)
            return len(before) - len(after)

    def _load_for_change(self) -> list[T]:
        """The current list; a file that is ignored is moved aside, not overwritten."""
        items = self.load()
        if not self.diagnostics:
            return items
        try:
            os.replace(self.path, f"{self.path}.unusable")
        except OSError as error:
            raise MachineError.caused_by("move aside", self.path, error) from error
        return items

    def _write(self, items: list[T]) -> None:
        file = {"version": _VERSION, self._key: sorted(items, key=self._order)}
        try:
            data = msgspec.json.format(msgspec.json.encode(file), indent=2)
        except UnicodeEncodeError:
            # A path on disk may have bytes that are no text, which JSON cannot have.
            raise MachineError(
                "write", self.path, "a path or a name in it is not valid text"
            ) from None
        write_aside(self.path, data + b"\n", mode=0o600, folder_mode=0o700)

    def _ignore(self, reason: str) -> list[T]:
        message = self._lost.format(reason=reason)
        self.diagnostics = (diagnose("state-unreadable", message, file=self.path),)
        return []
