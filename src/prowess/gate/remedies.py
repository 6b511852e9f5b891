"""How to get a missing program: the install commands that a skill's author named.

They are checked and shown, never run. What an author wrote is untrusted: a value becomes one word
of a command, and only if it has the shape of the name, module or URL that it should be. Everything
else is refused with a reason.
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
_URL = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?/[\w.~/%+@=&?,:-]+", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9_][\w.+-]*", re.ASCII)
_FOLDER = re.compile(r"[A-Za-z0-9_][\w.+-]*(?:/[A-Za-z0-9_][\w.+-]*)*", re.ASCII)

_NODE_INSTALLERS: dict[str, Argv] = {
    "npm": ("npm", "install", "--global", "--ignore-scripts"),
    "pnpm": ("pnpm", "add", "--global", "--ignore-scripts"),
    "yarn": ("yarn", "global", "add", "--ignore-scripts"),
    "bun": ("bun", "add", "--global", "--ignore-scripts"),
}
_FETCH = ("curl", "--fail", "--location", "--proto", "=https", "--create-dirs")
_NEEDS = {
    "brew": ("brew",),
    "node": tuple(_NODE_INSTALLERS),
    "go": ("go",),
    "uv": ("uv",),
    "download": ("curl",),
}


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """One way to get what is missing: the command to type, and what it provides.

    `then` are the commands to run after it. `ready` says that the installer itself is installed. If
    the author's values were refused there is no command, and `refused` says why.
    """

    kind: str
    label: str
    command: Argv = ()
    then: tuple[Argv, ...] = ()
    provides: tuple[str, ...] = ()
    ready: bool = False
    refused: str | None = None

    def render(self) -> str:
        """The commands as one line for a shell, with every word quoted as needed."""
        return " && ".join(shlex.join(words) for words in (self.command, *self.then) if words)


class _Refused(ValueError):
    """A value that is not what it should be."""


def find_remedies(manifest: Manifest, verdict: Verdict, facts: Facts) -> tuple[Remedy, ...]:
    """The author's ways to get the missing programs, those that can be used right away first.

    There are none if the skill does not run on the platform anyway.
    """
    missing = (*verdict.bins, *verdict.any_bins)
    if not missing or verdict.os:
        return ()
    useful = [spec for spec in manifest.install if _is_useful(spec, missing, facts)]
    remedies = [_make_remedy(spec, manifest, missing, facts) for spec in useful]
    return tuple(sorted(remedies, key=_rank))


def _rank(remedy: Remedy) -> tuple[bool, bool, int]:
    return remedy.refused is not None, not remedy.ready, _KINDS.index(remedy.kind)


def _is_useful(spec: Mapping[str, Any], missing: tuple[str, ...], facts: Facts) -> bool:
    return spec.get("kind") in _KINDS and _fits_platform(spec, facts) and _helps(spec, missing)


def _fits_platform(spec: Mapping[str, Any], facts: Facts) -> bool:
    words = [word.lower() for word in _split_words(spec.get("os"))]
    if not words:
        return True
    platforms = {_PLATFORMS.get(word, word) for word in words}
    return not platforms.isdisjoint((facts.platform, *facts.platforms))


def _helps(spec: Mapping[str, Any], missing: tuple[str, ...]) -> bool:
    # An installer that does not say what it provides may provide anything.
    bins = _split_words(spec.get("bins"))
    return not bins or not set(bins).isdisjoint(missing)


def _split_words(value: Any) -> tuple[str, ...]:
    """The words of a list, or of a text with commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)):
        return ()
    words = (str(word).strip() for word in value)
    return tuple(word for word in words if word)


def _make_remedy(
    spec: Mapping[str, Any], manifest: Manifest, missing: tuple[str, ...], facts: Facts
) -> Remedy:
    kind = spec["kind"]
    label = " ".join(str(spec.get("label") or "").split())
    provides = tuple(name for name in _split_words(spec.get("bins")) if name in missing)
    try:
        command, *then = _BUILD[kind](spec, manifest, facts)
    except _Refused as error:
        label = label or f"Install with {kind}"
        return Remedy(kind=kind, label=label, provides=provides, refused=str(error))
    return Remedy(
        kind=kind,
        label=label or f"Install {spec_name(spec)} with {kind}",
        command=command,
        then=tuple(then),
        provides=provides,
        ready=facts.has_any_bin(_NEEDS[kind]),
    )


def spec_name(spec: Mapping[str, Any]) -> str:
    """What a way to install installs, in a word."""
    for key in ("formula", "package", "module", "url"):
        if spec.get(key):
            return str(spec[key])
    return "it"


def _get_value(
    spec: Mapping[str, Any], keys: tuple[str, ...], shape: re.Pattern[str], what: str
) -> str:
    """The first of the keys that has a value, if that value is of the given shape."""
    key = next((key for key in keys if spec.get(key)), None)
    if key is None:
        raise _Refused(f"`{keys[0]}` is missing")
    value = str(spec[key]).strip()
    _check_shape(value, key, shape, what)
    return value


def _check_shape(value: str, key: str, shape: re.Pattern[str], what: str) -> None:
    if not shape.fullmatch(value) or ".." in value:
        raise _Refused(f"`{key}` is not {what}")


def _build_brew(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    formula = _get_value(spec, ("formula", "package"), _FORMULA, "the name of a formula")
    return [("brew", "install", formula)]


def _build_node(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    package = _get_value(spec, ("package", "module"), _NODE, "the name of a package")
    installer = next((name for name in _NODE_INSTALLERS if facts.has_bin(name)), "npm")
    return [(*_NODE_INSTALLERS[installer], package)]


def _build_go(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    module = _get_value(spec, ("module", "package"), _GO, "the path of a Go module")
    return [("go", "install", module if "@" in module else f"{module}@latest")]


def _build_uv(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    package = _get_value(spec, ("package", "module"), _PYTHON, "the name of a package")
    return [("uv", "tool", "install", package)]


def _build_download(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> list[Argv]:
    """Download a file into a folder for the skill below home, and unpack it if it is an archive."""
    url = _get_value(spec, ("url",), _URL, "an https URL")
    file = url.partition("?")[0].rpartition("/")[2]
    _check_shape(file, "url", _FILE, "the URL of a file")
    folder = _name_folder(spec, manifest, facts)
    path = f"{folder}/{file}"
    fetch = (*_FETCH, "--output", path, url)
    if _is_archive(spec, file):
        return [fetch, _unpack(spec, path, folder)]
    return [fetch, ("chmod", "+x", path)]


def _name_folder(spec: Mapping[str, Any], manifest: Manifest, facts: Facts) -> str:
    owner = manifest.skill_key or manifest.name or ""
    # A skill's name is untrusted too, and may have slashes or begin with a dash.
    owner = owner if _FILE.fullmatch(owner) else "skill"
    folder = f"{facts.home}/.local/share/prowess/tools/{owner}"
    if spec.get("targetDir"):
        folder += "/" + _get_value(
            spec, ("targetDir",), _FOLDER, "a path inside the skill's folder"
        )
    return folder


def _is_archive(spec: Mapping[str, Any], file: str) -> bool:
    extract = spec.get("extract")
    if extract is False:
        return False
    return bool(extract) or file.lower().endswith(_ARCHIVES)


def _unpack(spec: Mapping[str, Any], path: str, folder: str) -> Argv:
    if path.lower().endswith(".zip"):
        return ("unzip", "-o", path, "-d", folder)
    strip = spec.get("stripComponents")
    unpack = ("tar", "-xf", path, "-C", folder)
    # `True` is an int in Python, and would become `--strip-components=True`.
    if isinstance(strip, int) and not isinstance(strip, bool) and 0 < strip < 100:
        return (*unpack, f"--strip-components={strip}")
    return unpack


_BUILD: dict[str, Callable[[Mapping[str, Any], Manifest, Facts], list[Argv]]] = {
    "brew": _build_brew,
    "node": _build_node,
    "go": _build_go,
    "uv": _build_uv,
    "download": _build_download,
}
