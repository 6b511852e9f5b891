"""The rule about packages that are installed in whatever version is there on the day."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from prowess.diagnostics import Severity
from prowess.supply.scan.command_line import CommandLine, ProgramCall
from prowess.supply.scan.rule import Kind, Match, Passage, ScanRule

_LOCAL = re.compile(r"\.{0,2}/|\.$|\.\[|~|[A-Za-z]:\\|file:|\$|<|\{|\[|-|.*\.(?:whl|txt|toml)$")
_NAME = re.compile(r"[@A-Za-z0-9][\w./@+:~^=<>!,\[\]-]*")
# What counts as a fixed version differs by package manager; a range with `>=` is none.
_PIP_PIN = re.compile(r"(?:==|===|@\s*)\S")
_NPM_PIN = re.compile(r".+@[\^~=v]?[0-9]")
# A tag is accepted as well as a commit: authors move tags rarely, branches with every push.
_COMMIT = re.compile(r"[@#](?:[0-9a-f]{7,40}|v?[0-9]+(?:\.[0-9]+)+\S*)(?:[#&?].*)?$")
_REMOTE = re.compile(r"(?:git\+|https?:|git@|github:|gitlab:|ssh:)")
_IMAGE_PIN = re.compile(r".+(?:@sha256:[0-9a-f]{8,}|:(?!latest$)[\w.-]*[0-9][\w.-]*)$")
# Options that take the next word along, and none of them is a package.
_TAKES_VALUE = frozenset(
    "-r --requirement -c --constraint -e --editable -t --target -i --index-url"
    " --extra-index-url --default-index --index --python -p --prefix --registry --with --from"
    " --filter --features --path --git --tag --branch --rev --root -w --workspace -C --cwd --dir"
    " -f --find-links --platform --trusted-host -n --name --bin --profile --cache-dir --version"
    " -v --package --entrypoint --network --env --volume --env-file --user -u --mount --workdir"
    " --hostname --add-host --gpus".split()
)
# Where packages come from; `-i` and `--index` mean that to pip and uv only.
_INDEX_OPTIONS = frozenset(
    "--default-index --extra-index-url --index-url --registry --trusted-host".split()
)
_INDEX_OPTIONS_OF_PIP = _INDEX_OPTIONS | {"-i", "--index"}
# A variable means the same for every install after it: `PIP_INDEX_URL` is `--index-url`.
_INDEX_VARIABLE = re.compile(
    r"((?:PIP|UV)_(?:EXTRA_)?INDEX_URL|PIP_TRUSTED_HOST|UV_(?:DEFAULT_)?INDEX"
    r"|(?:NPM|PNPM|BUN)_CONFIG_REGISTRY|YARN_(?:NPM_)?REGISTRY(?:_SERVER)?)=.+",
    re.IGNORECASE | re.DOTALL,
)


def _is_pip_pinned(package: str) -> bool:
    return _PIP_PIN.search(package) is not None


def _is_npm_pinned(package: str) -> bool:
    return _NPM_PIN.match(package) is not None


def _is_go_pinned(package: str) -> bool:
    return "@" in package and not package.endswith(("@latest", "@master", "@main"))


def _is_image_pinned(package: str) -> bool:
    return _IMAGE_PIN.match(package) is not None


def _is_uv_pinned(package: str) -> bool:
    # uv takes `ruff@1.2` beside `ruff==1.2`.
    return _is_pip_pinned(package) or _is_npm_pinned(package)


Check = Callable[[str], bool]

# Programs, the words after them that mean an install, how a package is pinned, and whether only
# the first word is a package: then the others are arguments of the program that is run.
_INSTALLS: Mapping[tuple[str, ...], tuple[Check, bool]] = {
    ("pip", "install"): (_is_pip_pinned, False),
    ("python", "-m", "pip", "install"): (_is_pip_pinned, False),
    ("uv", "pip", "install"): (_is_pip_pinned, False),
    ("uv", "tool", "install"): (_is_uv_pinned, True),
    ("uv", "tool", "run"): (_is_uv_pinned, True),
    ("uvx",): (_is_uv_pinned, True),
    ("pipx", "install"): (_is_pip_pinned, True),
    ("pipx", "run"): (_is_pip_pinned, True),
    ("npm", "install"): (_is_npm_pinned, False),
    ("npm", "i"): (_is_npm_pinned, False),
    ("npm", "add"): (_is_npm_pinned, False),
    ("npm", "exec"): (_is_npm_pinned, True),
    ("npx",): (_is_npm_pinned, True),
    ("pnpm", "add"): (_is_npm_pinned, False),
    ("pnpm", "install"): (_is_npm_pinned, False),
    ("pnpm", "dlx"): (_is_npm_pinned, True),
    ("yarn", "add"): (_is_npm_pinned, False),
    ("yarn", "global", "add"): (_is_npm_pinned, False),
    ("yarn", "dlx"): (_is_npm_pinned, True),
    ("bun", "add"): (_is_npm_pinned, False),
    ("bun", "install"): (_is_npm_pinned, False),
    ("bunx",): (_is_npm_pinned, True),
    ("go", "install"): (_is_go_pinned, True),
    ("cargo", "install"): (_is_go_pinned, False),
    ("gem", "install"): (_is_go_pinned, False),
    ("docker", "run"): (_is_image_pinned, True),
    ("docker", "pull"): (_is_image_pinned, True),
    ("podman", "run"): (_is_image_pinned, True),
    ("podman", "pull"): (_is_image_pinned, True),
}
# `pip3.11` is pip.
_PYTHON_PROGRAM = re.compile(r"(pip|python)[0-9.]+")
_VERSION_OPTIONS = frozenset("--version -v --locked --require-hashes --tag --rev".split())
_LONGEST = max(map(len, _INSTALLS))


def _match_unpinned(passage: Passage) -> Iterator[Match]:
    for number, line in passage.command_lines:
        variable = _find_index_variable(line)
        if variable is not None:
            yield _judge_index(number, variable)
        for call in line.calls:
            yield from _judge(number, call)


def _find_index_variable(line: CommandLine) -> str | None:
    """The variable of a line that names an index; None if there is none.

    It may be set before a command or for the rest of a script, or handed to a program such as `env`
    and `docker run -e`, so every word counts.
    """
    arguments = chain.from_iterable(call.arguments for call in line.calls)
    found = map(_INDEX_VARIABLE.fullmatch, (*line.assignments, *arguments))
    return next((one[1] for one in found if one is not None), None)


def _judge_index(number: int, index: str) -> Match:
    return Match(number, f"`{index}` sets where packages come from.", Severity.WARNING)


class _Install(NamedTuple):
    """A command that installs: the words after it, and what is known about the command."""

    words: tuple[str, ...]
    is_pinned: Check
    takes_one: bool

    @property
    def packages(self) -> list[str]:
        packages = list(_list_packages(self.words))
        return packages[:1] if self.takes_one else packages

    def find_index(self) -> str | None:
        """The option that names an index; None if there is none."""
        indexes = _INDEX_OPTIONS_OF_PIP if self.is_pinned is _is_pip_pinned else _INDEX_OPTIONS
        options = (word.partition("=")[0] for word in self.words)
        return next((option for option in options if option in indexes), None)


def _judge(number: int, call: ProgramCall) -> Iterator[Match]:
    install = _find_install(call)
    if install is None:
        return
    packages = install.packages
    index = install.find_index()
    if index is not None and packages:
        yield _judge_index(number, index)
    # Such an option fixes the version of everything that the command installs.
    if _VERSION_OPTIONS.intersection(install.words):
        return
    for package in packages:
        match = _judge_package(number, package, install.is_pinned)
        if match is not None:
            yield match


def _judge_package(number: int, package: str, is_pinned: Check) -> Match | None:
    shown = package[:80]
    # A repository has commits in place of versions, whatever the package manager.
    is_repository = _REMOTE.match(package) is not None
    is_fixed = _COMMIT.search(package) is not None if is_repository else is_pinned(package)
    if is_fixed:
        return None
    if is_repository:
        reason = f"`{shown}` is installed from a branch, not a fixed commit."
        return Match(number, reason, Severity.WARNING)
    return Match(number, f"`{shown}` is installed without a fixed version.")


def _find_install(call: ProgramCall) -> _Install | None:
    versioned = _PYTHON_PROGRAM.fullmatch(call.name)
    program = call.name if versioned is None else versioned[1]
    words = (program, *call.arguments)
    # Options may come between the words: `npm --silent install`. The one of `python -m` counts.
    plain = tuple(word for word in words if word == "-m" or not word.startswith("-"))
    for length in range(min(_LONGEST, len(plain)), 0, -1):
        known = _INSTALLS.get(plain[:length])
        if known is not None:
            after = words.index(plain[length - 1]) + 1
            return _Install(words[after:], *known)
    return None


def _list_packages(words: tuple[str, ...]) -> Iterator[str]:
    """The words that name packages, without options and their values, and without paths."""
    is_value = False
    for word in words:
        if is_value or word == "--":
            is_value = False
        elif word.startswith("-"):
            is_value = word in _TAKES_VALUE
        elif _is_package(word):
            yield word


def _is_package(word: str) -> bool:
    if _LOCAL.match(word):
        return False
    return bool(_NAME.fullmatch(word) or _REMOTE.match(word))


RULES = (
    ScanRule(
        code="unpinned-install",
        severity=Severity.INFO,
        summary="A package is installed without a fixed version.",
        hint="Pin the version, so that a new release cannot run unreviewed.",
        reads=(Kind.COMMANDS,),
        match=_match_unpinned,
    ),
)
