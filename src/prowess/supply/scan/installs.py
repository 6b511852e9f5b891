"""The rule about packages that are installed in whatever version is there on the day."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from prowess.diagnostics import Severity
from prowess.supply.scan.command_line import Call
from prowess.supply.scan.rule import Kind, Match, Passage, Rule

_LOCAL = re.compile(r"\.{0,2}/|\.$|\.\[|~|[A-Za-z]:\\|file:|\$|<|\{|\[|-|.*\.(?:whl|txt|toml)$")
_NAME = re.compile(r"[@A-Za-z0-9][\w./@+:~^=<>!,\[\]-]*")
_PIP_PIN = re.compile(r"(?:==|===|@\s*)\S")
_NPM_PIN = re.compile(r".+@[\^~=v]?[0-9]")
_COMMIT = re.compile(r"[@#](?:[0-9a-f]{7,40}|v?[0-9]+(?:\.[0-9]+)+\S*)(?:[#&?].*)?$")
_REMOTE = re.compile(r"(?:git\+|https?:|git@|github:|gitlab:|ssh:)")
_IMAGE_PIN = re.compile(r".+(?:@sha256:[0-9a-f]{8,}|:(?!latest$)[\w.-]*[0-9][\w.-]*)$")
# Options that take the next word along, and none of them is a package.
_TAKES_VALUE = frozenset(
    "-r --requirement -c --constraint -e --editable -t --target -i --index-url --extra-index-url"
    " --index --python -p --prefix --registry --with --from --filter --features --path --git --tag"
    " --branch --rev --root -w --workspace -C --cwd --dir -f --find-links --platform --trusted-host"
    " -n --name --bin --profile --cache-dir --version -v --package --entrypoint --network"
    " --env --volume --env-file --user -u --mount --workdir --hostname --add-host --gpus".split()
)
# Where packages come from; `-i` and `--index` mean that to pip and uv only.
_OTHER_INDEX = frozenset("--extra-index-url --index-url --registry --trusted-host".split())
_OTHER_INDEX_OF_PIP = _OTHER_INDEX | {"-i", "--index"}


def _is_pip_pinned(package: str) -> bool:
    return _PIP_PIN.search(package) is not None


def _is_npm_pinned(package: str) -> bool:
    return _NPM_PIN.match(package) is not None


def _is_go_pinned(package: str) -> bool:
    return "@" in package and not package.endswith(("@latest", "@master", "@main"))


def _is_image_pinned(package: str) -> bool:
    return _IMAGE_PIN.match(package) is not None


def _is_uv_pinned(package: str) -> bool:
    return _is_pip_pinned(package) or _is_npm_pinned(package)


Check = Callable[[str], bool]

# Programs, the words after them that mean an install, and how a package is pinned. `1` takes only
# the first word: the others are arguments of the program that is run.
_INSTALLS: Mapping[tuple[str, ...], tuple[Check, int]] = {
    ("pip", "install"): (_is_pip_pinned, 0),
    ("pip3", "install"): (_is_pip_pinned, 0),
    ("python", "-m", "pip", "install"): (_is_pip_pinned, 0),
    ("python3", "-m", "pip", "install"): (_is_pip_pinned, 0),
    ("uv", "pip", "install"): (_is_pip_pinned, 0),
    ("uv", "tool", "install"): (_is_uv_pinned, 1),
    ("uv", "tool", "run"): (_is_uv_pinned, 1),
    ("uvx",): (_is_uv_pinned, 1),
    ("pipx", "install"): (_is_pip_pinned, 1),
    ("pipx", "run"): (_is_pip_pinned, 1),
    ("npm", "install"): (_is_npm_pinned, 0),
    ("npm", "i"): (_is_npm_pinned, 0),
    ("npm", "add"): (_is_npm_pinned, 0),
    ("npm", "exec"): (_is_npm_pinned, 1),
    ("npx",): (_is_npm_pinned, 1),
    ("pnpm", "add"): (_is_npm_pinned, 0),
    ("pnpm", "install"): (_is_npm_pinned, 0),
    ("pnpm", "dlx"): (_is_npm_pinned, 1),
    ("yarn", "add"): (_is_npm_pinned, 0),
    ("yarn", "global", "add"): (_is_npm_pinned, 0),
    ("yarn", "dlx"): (_is_npm_pinned, 1),
    ("bun", "add"): (_is_npm_pinned, 0),
    ("bun", "install"): (_is_npm_pinned, 0),
    ("bunx",): (_is_npm_pinned, 1),
    ("go", "install"): (_is_go_pinned, 1),
    ("cargo", "install"): (_is_go_pinned, 0),
    ("gem", "install"): (_is_go_pinned, 0),
    ("docker", "run"): (_is_image_pinned, 1),
    ("docker", "pull"): (_is_image_pinned, 1),
    ("podman", "run"): (_is_image_pinned, 1),
    ("podman", "pull"): (_is_image_pinned, 1),
}
_VERSION_OPTIONS = frozenset("--version -v --locked --require-hashes --tag --rev".split())
_LONGEST = max(map(len, _INSTALLS))


def _match_unpinned(passage: Passage) -> Iterator[Match]:
    for number, line in passage.command_lines:
        for call in line.calls:
            yield from _judge(number, call)


def _judge(number: int, call: Call) -> Iterator[Match]:
    found = _find_install(call)
    if found is None:
        return
    words, is_pinned, first_only = found
    indexes = _OTHER_INDEX_OF_PIP if is_pinned is _is_pip_pinned else _OTHER_INDEX
    other = next((one for one in words if one.partition("=")[0] in indexes), None)
    packages = list(_list_packages(words))
    packages = packages[:1] if first_only else packages
    if other is not None and packages:
        reason = f"`{other.partition('=')[0]}` takes packages from another index."
        yield Match(number, reason, Severity.WARNING)
    if _VERSION_OPTIONS.intersection(words):
        return
    for package in packages:
        if _REMOTE.match(package):
            if not _COMMIT.search(package):
                reason = f"`{package[:80]}` is installed from a branch, not a fixed commit."
                yield Match(number, reason, Severity.WARNING)
        elif not is_pinned(package):
            yield Match(number, f"`{package[:80]}` is installed without a fixed version.")


def _find_install(call: Call) -> tuple[tuple[str, ...], Check, int] | None:
    words = (call.name, *call.arguments)
    plain = tuple(word for word in words if word == "-m" or not word.startswith("-"))
    for length in range(min(_LONGEST, len(plain)), 0, -1):
        known = _INSTALLS.get(plain[:length])
        if known is not None:
            after = words.index(plain[length - 1]) + 1
            return (words[after:], *known)
    return None


def _list_packages(words: tuple[str, ...]) -> Iterator[str]:
    """The words that name packages, without options and their values, and without paths."""
    is_value = False
    for word in words:
        if is_value or word == "--":
            is_value = False
        elif word.startswith("-"):
            is_value = word in _TAKES_VALUE
        elif not _LOCAL.match(word) and (_NAME.fullmatch(word) or _REMOTE.match(word)):
            yield word


RULES = (
    Rule(
        code="unpinned-install",
        severity=Severity.INFO,
        summary="A package is installed without a fixed version.",
        hint="Pin the version, so that a new release cannot run unreviewed.",
        reads=(Kind.COMMANDS,),
        match=_match_unpinned,
    ),
)
