"""The hosts that are installed on this machine, and whether their profiles fit the releases."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from prowess.machine.installed_programs import InstalledProgram, find_installed
from prowess.model.facts import Facts
from prowess.profiles.schema.profile import Profile
from prowess.reports.hosts import Host, load_hosts

# Asking a program for its version takes seconds and little else; more at once than this would
# only make all of them slower.
_AT_ONCE = 4


class InstalledHost(msgspec.Struct, frozen=True):
    """A host, the program that was found for it, and the edition that follows that release.

    `edition` is None where no edition was measured on the installed release.
    """

    host: Host
    program: InstalledProgram
    edition: str | None = None

    @property
    def profile(self) -> Profile:
        """The profile that `--host NAME` means."""
        return self.host.editions[0]

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        provenance = self.profile.provenance
        shape = {
            "name": self.host.name,
            "program": self.program.path,
            "version": self.program.version,
            "version_from": self.program.version_from,
            "problem": self.program.problem,
            "release": provenance.release,
            "measured": provenance.measured,
            "edition": self.edition,
        }
        return {key: value for key, value in shape.items() if value is not None}


def find_installed_hosts(facts: Facts, *, cwd: str) -> tuple[InstalledHost, ...]:
    """The hosts whose programs are on the PATH, in the order of all hosts."""
    hosts = [host for host in load_hosts(facts) if _has_programs(host)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        programs = list(pool.map(lambda host: _find_program(host, facts, cwd), hosts))
    found = zip(hosts, programs, strict=True)
    return tuple(
        InstalledHost(host, program, _find_edition(host.editions, program.version))
        for host, program in found
        if program is not None
    )


def _has_programs(host: Host) -> bool:
    return bool(host.editions) and bool(host.editions[0].installed.programs)


def _find_program(host: Host, facts: Facts, cwd: str) -> InstalledProgram | None:
    rules = host.editions[0].installed
    return find_installed(rules.programs, rules.packages, env=facts.env, cwd=cwd)


def _find_edition(editions: Sequence[Profile], version: str | None) -> str | None:
    """The edition that was measured on a release."""
    for profile in editions:
        provenance = profile.provenance
        # An edition that follows a document may name a release, too, but was not tried on it.
        if provenance.measured and provenance.release == version:
            return profile.edition
    return None
