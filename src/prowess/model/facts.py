"""The machine as a value: its platform, its home, its environment and its programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from prowess.diagnostics import Diagnostic

NO_HOME = "/nonexistent"
"""The home of users that have none, as Debian names it: nothing is there, nothing is written."""


def _no_bin(name: str) -> bool:
    return False


class Facts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What the pipeline may know about a machine. An argument, so it may be another machine.

    `find_bin` says whether a program can be run, `find_path_entry` whether a folder of PATH has an
    executable entry of that name, which may be a folder, too.

    `platform` is one of `linux`, `darwin`, `win32`; `platforms` are more of them, if the facts are
    those of several machines that work together. `note` heads the catalog if the machine is a
    remote one. `home` is `NO_HOME` if the user has none. `diagnostics` are about folders that the
    environment names and that cannot be used. `python_paths` are the folders in which Python's
    packages are installed.
    """

    home: str
    platform: str = "linux"
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    find_bin: Callable[[str], bool] = _no_bin
    find_path_entry: Callable[[str], bool] | None = None
    note: str | None = None
    platforms: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    python_paths: tuple[str, ...] = ()

    @property
    def has_home(self) -> bool:
        """Whether the user has a home folder. Without one nothing is the user's own or trusted."""
        return self.home != NO_HOME

    def has_bin(self, name: str) -> bool:
        """Whether a program can be run."""
        return self.find_bin(name)

    def has_any_bin(self, names: Iterable[str]) -> bool:
        """Whether at least one of the programs can be run."""
        return any(self.find_bin(name) for name in names)

    def has_path_entry(self, name: str) -> bool:
        """Whether a folder of PATH has an executable entry of that name."""
        find = self.find_path_entry or self.find_bin
        return find(name)
