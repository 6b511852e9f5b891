"""How a missing program may be had: the commands that a skill's author named, checked, shown and
never run.

What an author wrote is untrusted: a value becomes one word of a command, and only where it has the
shape of the name, module or address that it should be. Everything else is refused with the reason.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prowess.gate.eligibility import Verdict
from prowess.model.facts import Facts
from prowess.model.skill import Manifest

Argv = tuple[str, ...]

_PLATFORMS = {
    "macos": "darwin",
    "mac": "darwin",
    "osx": "darwin",
    "windows": "win32",
    "win": "win32",
}
_KINDS = ("brew", "uv", "node", "go", "download")
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")

_FORMULA = re.compile(r"[A-Za-z0-9][\w@+.-]*(?:/[A-Za-z0-9][\w@+.-]*){0,2}", re.ASCII)
_NODE = re.compile(r"(?:@[a-z0-9~][\w.~-]*/)?[A-Za-z0-9][\w.~-]*(?:@[\w^~][\w.+-]*)?", re.ASCII)
_GO = re.compile(r"[A-Za-z0-9][\w-]*(?:\.[\w-]+)+(?:/[\w~][\w.~-]*)*(?:@[\w][\w.+-]*)?", re.ASCII)
_PYTHON = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w.,-]+\])?(?:[=~!<>]=[\w.*+!-]+)?", re.ASCII)
_ADDRESS = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?/[\w.~/%+@=&?,:-]+", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9_][\w.+-]*", re.ASCII)
_FOLDER = re.compile(r"[A-Za-z0-9_][\w.+-]*(?:/[A-Za-z0-9_][\w.+-]*)*", re.ASCII)

_NODE_INSTALLERS: dict[str, Argv] = {
    "npm": ("npm", "install", "--global", "--ignore-scripts"),
    "pnpm": ("pnpm", "add", "--global", "--ignore-scripts"),
    "yarn": ("yarn", "global", "add", "--ignore-scripts"),
    "bun": ("bun", "add", "--global", "--ignore-scripts"),
}
_NEEDS = {
    "brew": ("brew",),
    "node": tuple(_NODE_INSTALLERS),
    "go": ("go",),
    "uv": ("uv",),
    "download": ("curl",),
}


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """One way to have what is missing: the command to type, what it needs more than one command
    for, what it brings.

    `ready` says that the installer itself is there. Where the author's values were refused there is
    no command, and `refused` says why.
    """

    kind: str
    label: str
    command: Argv = ()
    then: tuple[Argv, ...] = ()
    provides: tuple[str, ...] = ()
    ready: bool = False
    refused: str | None = None

    def render(self) -> str:
        """The commands as one line for a shell; every word is quoted where it must be."""
        return " && ".join(shlex.join(words) for words in (self.command, *self.then) if words)


class _Refused(ValueError):
    """A value that is not what it should be."""


def find_remedies(manifest: Manifest, verdict: Verdict, facts: Facts) -> tuple[Remedy, ...]:
    """The author's ways to have the programs that are missing, those that can be used at once
    first.

    None where the skill does not run on the platform anyway.
    """
    missing = (*verdict.bins, *verdict.any_bins)
    if not missing or verdict.os:
        return ()
    found = [
        _make_remedy(spec, manifest, missing, facts)
        for spec in manifest.install
        if spec.get("kind") in _KINDS and _fits(spec, facts) and _helps(spec, missing)
    ]
    return tuple(
        sorted(
            found,
            key=lambda remedy: (bool(remedy.refused), not remedy.ready, _KINDS.index(remedy.kind)),
        )
    )


def _fits(spec: Mapping[str, Any], facts: Facts) -> bool:
    words = {_PLATFORMS.get(word.lower(), word.lower()) for word in _words(spec.get("os"))}
    return not words or not words.isdisjoint((facts.platform, *facts.platforms))


def _helps(spec: Mapping[str, Any], missing: tuple[str, ...]) -> bool:
    """A way that does not say what it brings may bring anything."""
    bins = _words(spec.get("bins"))
    return not bins or any(name in missing for name in bins)


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    return (
        tuple(str(word).strip() for word in value if str(word).strip())
        if isinstance(value, (list, tuple))
        else ()
    )


def _make_remedy(
    spec: Mapping[str, Any], manifest: Manifest, missing: tuple[str, ...], facts: Facts
) -> Remedy:
    kind = spec["kind"]
    label = " ".join(str(spec.get("label") or "").split())
    provides = tuple(name for name in _words(spec.get("bins")) if name in missing)
    try:
        command, *then = _BUILD[kind](spec, manifest, facts)
    except _Refused as error:
        return Remedy(
            kind=kind, label=label or f"Install by {kind}", provides=provides, refused=str(error)
        )
    ready = facts.has_any_bin(_NEEDS[kind])
    label = label or f"Install {spec_name(spec)} by {kind}"
    return Remedy(
        kind=kind, label=label, command=command, then=tuple(then), provides=provides, ready=ready
    )


def spec_name(spec: Mapping[str, Any]) -> str:
    """What a way to install installs, in a word."""
    return str(
        next((spec[key] for key in ("formula", "package", "module", "url") if spec.get(key)), "it")
    )


def _take(spec: Mapping[str, Any], keys: tuple[str, ...], shape: re.Pattern[str], what: str) -> str:
    key = next((key for key in keys if spec.get(key)), None)
    if key is None:
        raise _Refused(f"`{keys[0]}` is missing")
    value = str(spec[key]).strip()
    if not shape.fullmatch(value) or ".." in value:
        raise _Refused(f"`{key}` is not {what}")
    return value


def _build_brew(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    return [
        ("brew", "install", _take(spec, ("formula", "package"), _FORMULA, "the name of a formula"))
    ]


def _build_node(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    package = _take(spec, ("package", "module"), _NODE, "the name of a package")
    installer = next((name for name in _NODE_INSTALLERS if facts.has_bin(name)), "npm")
    return [(*_NODE_INSTALLERS[installer], package)]


def _build_go(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    module = _take(spec, ("module", "package"), _GO, "the path of a Go module")
    return [("go", "install", module if "@" in module else f"{module}@latest")]


def _build_uv(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    return [
        (
            "uv",
            "tool",
            "install",
            _take(spec, ("package", "module"), _PYTHON, "the name of a package"),
        )
    ]


def _build_download(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    """Fetch a file into a folder of the skill's own below home, and unpack it where it is an
    archive.
    """
    url = _take(spec, ("url",), _ADDRESS, "an https address")
    file = _take(
        {"url": url.partition("?")[0].rpartition("/")[2]}, ("url",), _FILE, "the address of a file"
    )
    owner = manifest.skill_key or manifest.name or ""
    folder = "/".join(
        (facts.home, ".local/share/prowess/tools", owner if _FILE.fullmatch(owner) else "skill")
    )
    if spec.get("targetDir"):
        folder += "/" + _take(spec, ("targetDir",), _FOLDER, "a folder below the skill's own")
    path = f"{folder}/{file}"
    fetch = (
        "curl",
        "--fail",
        "--location",
        "--proto",
        "=https",
        "--create-dirs",
        "--output",
        path,
        url,
    )
    if spec.get("extract") is False or not (
        spec.get("extract") or file.lower().endswith(_ARCHIVES)
    ):
        return [fetch, ("chmod", "+x", path)]
    return [fetch, _unpack(spec, path, folder)]


def _unpack(spec: Mapping[str, Any], path: str, folder: str) -> Argv:
    if path.lower().endswith(".zip"):
        return ("unzip", "-o", path, "-d", folder)
    strip = spec.get("stripComponents")
    counted = isinstance(strip, int) and not isinstance(strip, bool) and 0 < strip < 100
    return (
        "tar",
        "-xf",
        path,
        "-C",
        folder,
        *((f"--strip-components={strip}",) if counted else ()),
    )


_BUILD: dict[str, Callable[[Mapping[str, Any], Manifest, Facts], list[Argv]]] = {
    "brew": _build_brew,
    "node": _build_node,
    "go": _build_go,
    "uv": _build_uv,
    "download": _build_download,
}
