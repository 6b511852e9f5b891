"""What this machine is."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

from prowess.diagnostics import Diagnostic, diagnose
from prowess.model.facts import NO_HOME, Facts

# Variables that say where the user's own things are.
_NAMES_A_FOLDER = re.compile(r"XDG_\w+_(HOME|DIR)|PROWESS_\w+_DIR")


def current_facts() -> Facts:
    """The facts of the machine and environment we run in.

    A relative path to the user's own folders would lead into whatever folder we are called in, and
    a project could bring its own home along. Such paths are not used.
    """
    relative = list(_find_relative())
    diagnostics = [_refuse(name) for name in relative]
    home = os.path.expanduser("~")
    # A container may run as a user that is in no list, whose `~` stays as it is.
    if not os.path.isabs(home):
        home = NO_HOME
        diagnostics.append(_report_no_home())
    return Facts(
        home=home,
        platform=_name_platform(),
        env={name: value for name, value in os.environ.items() if name not in relative},
        find_bin=_find_bin,
        find_path_entry=_find_path_entry,
        diagnostics=tuple(diagnostics),
        python_paths=tuple(filter(_holds_packages, sys.path)),
    )


def isolated_facts() -> Facts:
    """The facts of this machine without its user: no home, and of the environment only PATH.

    PATH is needed to find and run the programs that skills require.
    """
    return Facts(
        home=NO_HOME,
        platform=_name_platform(),
        env={"PATH": os.environ.get("PATH", os.defpath)},
        find_bin=_find_bin,
    )


def _holds_packages(path: str) -> bool:
    """Whether packages are installed in a folder of Python's path; the standard library is not."""
    if not os.path.isabs(path):
        return False
    is_site = path.rstrip("/\\").endswith(("site-packages", "dist-packages"))
    return is_site or not path.startswith((sys.base_prefix, sys.prefix))


def _name_platform() -> str:
    # Old versions of Python had the kernel's number in it, such as `linux2`.
    return "linux" if sys.platform.startswith("linux") else sys.platform


def _find_relative() -> Iterator[str]:
    for name, value in os.environ.items():
        # An empty variable counts as one that is not set.
        is_relative = value != "" and not os.path.isabs(value)
        if is_relative and _NAMES_A_FOLDER.fullmatch(name):
            yield name


def _refuse(variable: str) -> Diagnostic:
    value = os.environ[variable][:200]
    message = f"{variable} is “{value}”, which is not an absolute path; it is ignored."
    return diagnose("folder-not-absolute", message)


def _report_no_home() -> Diagnostic:
    return diagnose(
        "home-missing",
        "This user has no home folder, so there are no personal skills or settings, nothing is"
        " trusted, and nothing is remembered.",
    )


def _find_bin(name: str) -> bool:
    import shutil

    return shutil.which(name) is not None


def _find_path_entry(name: str) -> bool:
    # Unlike `which`, it also takes a folder of that name, as some hosts do.
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return any(os.access(os.path.join(folder, name), os.X_OK) for folder in folders)
