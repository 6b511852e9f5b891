"""Programs that are installed on this machine, and their versions.

A version comes from the package that a program belongs to, if one is found around its file, because
that is quick and runs nothing. Otherwise the program is asked with `--version`, for a limited time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from prowess.machine.processes import pass_on

# Some agents need four seconds to say their version.
_SECONDS = 10.0
_MOST_OUTPUT = 4_096
_MOST_PACKAGE_BYTES = 1 << 20
# How many folders above a program its package may be: `lib/node_modules/@x/y/dist/bin/x.js`.
_MOST_ABOVE = 5
_VERSION = re.compile(rb"\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.-]+)?")

VersionSource = Literal["package.json", "--version"]


class InstalledProgram(msgspec.Struct, frozen=True):
    """A program, its version and where that was found; without a version, `problem` says why."""

    path: str
    version: str | None = None
    version_from: VersionSource | None = None
    problem: str | None = None


def find_installed(
    programs: Iterable[str],
    packages: Iterable[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    seconds: float = _SECONDS,
) -> InstalledProgram | None:
    """The first of these programs that is on the PATH; None if there is none."""
    path = find_program(programs, env=env, cwd=cwd)
    if path is None:
        return None
    version = _find_package_version(os.path.realpath(path), frozenset(packages))
    if version is not None:
        return InstalledProgram(path, version, "package.json")
    return _ask_version(path, env, seconds)


def find_program(programs: Iterable[str], *, env: Mapping[str, str], cwd: str) -> str | None:
    """The path of the first of these programs that is on the PATH; None if there is none."""
    search = _list_safe_folders(env.get("PATH", ""), cwd)
    paths = (shutil.which(name, path=search) for name in programs)
    return next(filter(None, paths), None)


def _list_safe_folders(path: str, cwd: str) -> str:
    """The PATH without relative folders and those in the working folder.

    A project could put a program of its own there, which nobody meant to run.
    """
    inside = f"{cwd.rstrip(os.sep)}{os.sep}"
    absolute = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]
    kept = [folder for folder in absolute if not f"{folder}{os.sep}".startswith(inside)]
    return os.pathsep.join(kept)


def _find_package_version(program: str, packages: frozenset[str]) -> str | None:
    """The version of the npm package that a program's file belongs to."""
    folder = os.path.dirname(program)
    for _ in range(_MOST_ABOVE):
        found = _read_package(os.path.join(folder, "package.json"))
        if found.get("name") in packages:
            version = found.get("version")
            return version if isinstance(version, str) else None
        folder = os.path.dirname(folder)
    return None


def _read_package(path: str) -> dict[str, object]:
    try:
        if os.path.getsize(path) > _MOST_PACKAGE_BYTES:
            return {}
        with open(path, encoding="utf-8") as file:
            package = json.load(file)
    except (OSError, ValueError):
        # Most folders have no package, and a broken one belongs to somebody else.
        return {}
    return package if isinstance(package, dict) else {}


def _ask_version(path: str, env: Mapping[str, str], seconds: float) -> InstalledProgram:
    try:
        child = subprocess.Popen(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Not in the working folder, whose settings the program might read.
            cwd=os.path.dirname(path),
            env=pass_on(env),
            start_new_session=True,
        )
    except OSError as error:
        return InstalledProgram(path, problem=f"it cannot be run: {error.strerror or error}")
    try:
        output, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _kill(child)
        return InstalledProgram(path, problem=f"it gave no version within {seconds:g} seconds")
    match = _VERSION.search(output[:_MOST_OUTPUT])
    if match is None:
        return InstalledProgram(path, problem="its `--version` prints no version")
    return InstalledProgram(path, match[0].decode(), "--version")


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a program and what it started."""
    # Agents start helpers, which would keep the pipe open and `communicate` waiting.
    if hasattr(os, "killpg"):
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.communicate()
