"""How to get a missing program: the install commands that a skill's author named.

They are checked and shown here, never run. What an author wrote is untrusted: a value becomes one
word of a command, and only if it has the shape of the name, module or URL that it should be.
Everything else is refused with a reason.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from prowess.gate.eligibility import Verdict
from prowess.model.facts import Facts
from prowess.model.skill import Manifest

Argv = tuple[str, ...]
Spec = Mapping[str, Any]

_PLATFORMS = {
    "macos": "darwin",
    "mac": "darwin",
    "osx": "darwin",
    "windows": "win32",
    "win": "win32",
}
_KINDS = ("brew", "uv", "node", "go", "download")
# OpenClaw itself takes `archive` for the format, which the file shows anyway.
_ARCHIVE_FORMATS = ("zip", "tar", "tar.gz", "tgz", "tar.bz2", "tbz2", "tar.xz", "txz")
_MOST_STRIPPED = 99
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")

# None of these shapes fits a value that begins with `-`, which a program would take for an option.
_FORMULA = re.compile(r"[A-Za-z0-9][\w@+.-]*(?:/[A-Za-z0-9][\w@+.-]*){0,2}", re.ASCII)
_NODE = re.compile(r"(?:@[a-z0-9~][\w.~-]*/)?[A-Za-z0-9][\w.~-]*(?:@[\w^~][\w.+-]*)?", re.ASCII)
_GO = re.compile(r"[A-Za-z0-9][\w-]*(?:\.[\w-]+)+(?:/[\w~][\w.~-]*)*(?:@[\w][\w.+-]*)?", re.ASCII)
_PYTHON = re.compile(r"[A-Za-z0-9][\w.-]*(?:\[[\w.,-]+\])?(?:[=~!<>]=[\w.*+!-]+)?", re.ASCII)
_URL = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?/[\w.~/%+@=&?,:-]+", re.ASCII)
_FILE = re.compile(r"[A-Za-z0-9_][\w.+-]*", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FOLDER = re.compile(r"[A-Za-z0-9_][\w.+-]*(?:/[A-Za-z0-9_][\w.+-]*)*", re.ASCII)

# A package's own install scripts would run code that nobody has seen.
NODE_INSTALLERS: dict[str, Argv] = {
    "npm": ("npm", "install", "--global", "--ignore-scripts"),
    "pnpm": ("pnpm", "add", "--global", "--ignore-scripts"),
    "yarn": ("yarn", "global", "add", "--ignore-scripts"),
    "bun": ("bun", "add", "--global", "--ignore-scripts"),
}
# Only https, also after a redirect.
_FETCH = ("curl", "--fail", "--location", "--proto", "=https", "--create-dirs")


class Download(msgspec.Struct, frozen=True, kw_only=True):
    """A file to fetch for a skill, and what becomes of it.

    `folder` is where it goes, inside `owner`, the folder of the skill's downloads. `sha256` is the
    digest it must have, if the author gives one. With `unpack` it is an archive, of which `inside`
    is the part that is used and `strip` the number of leading path parts that are dropped. `bins`
    are the programs that it brings.
    """

    url: str
    file: str
    owner: str
    folder: str
    sha256: str | None = None
    unpack: bool = False
    inside: str | None = None
    strip: int = 0
    bins: tuple[str, ...] = ()


class Remedy(msgspec.Struct, frozen=True, kw_only=True):
    """One way to get what is missing: the command to type, and what it provides.

    `then` are the commands to run after it. `ready` says that the installer itself is installed. If
    the author's values were refused there is no command, and `refused` says why. `download` is the
    same as the commands, for a program that carries it out itself.
    """

    kind: str
    label: str
    command: Argv = ()
    then: tuple[Argv, ...] = ()
    provides: tuple[str, ...] = ()
    ready: bool = False
    refused: str | None = None
    download: Download | None = None

    def render(self) -> str:
        """The commands as one line for a shell, with every word quoted as needed."""
        return " && ".join(shlex.join(words) for words in (self.command, *self.then) if words)


class _BadValue(ValueError):
    """An author's value that does not have the shape it should have."""


class _Target(NamedTuple):
    """What a way to install is for: a skill, a machine, and the user's choice of node installer."""

    manifest: Manifest
    facts: Facts
    node_manager: str | None


def find_remedies(
    manifest: Manifest, verdict: Verdict, facts: Facts, *, node_manager: str | None = None
) -> tuple[Remedy, ...]:
    """The author's ways to get the missing programs, those that can be used right away first.

    There are none if the skill does not run on the platform anyway. Node packages are installed by
    the `node_manager`, or else by the first one that is there.
    """
    missing = (*verdict.bins, *verdict.any_bins)
    if not missing or verdict.os:
        return ()
    useful = [spec for spec in manifest.install if _is_useful(spec, missing, facts)]
    target = _Target(manifest, facts, node_manager)
    remedies = [_make_remedy(spec, target, missing) for spec in useful]
    return tuple(sorted(remedies, key=_rank))


def _rank(remedy: Remedy) -> tuple[bool, bool, int]:
    is_refused = remedy.refused is not None
    return is_refused, not remedy.ready, _KINDS.index(remedy.kind)


def _is_useful(spec: Spec, missing: tuple[str, ...], facts: Facts) -> bool:
    if spec.get("kind") not in _KINDS:
        return False
    return _fits_platform(spec, facts) and _helps(spec, missing)


def _fits_platform(spec: Spec, facts: Facts) -> bool:
    words = [word.lower() for word in _split_words(spec.get("os"))]
    if not words:
        return True
    platforms = {_PLATFORMS.get(word, word) for word in words}
    return not platforms.isdisjoint((facts.platform, *facts.platforms))


def _helps(spec: Spec, missing: tuple[str, ...]) -> bool:
    # An installer that does not say what it provides may provide anything.
    bins = _split_words(spec.get("bins"))
    if not bins:
        return True
    return not set(bins).isdisjoint(missing)


def _split_words(value: Any) -> tuple[str, ...]:
    """The words of a list, or of a text with commas; OpenClaw accepts both."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)):
        return ()
    words = (str(word).strip() for word in value)
    return tuple(filter(None, words))


def _make_remedy(spec: Spec, target: _Target, missing: tuple[str, ...]) -> Remedy:
    kind = spec["kind"]
    # On one line: a label with line breaks could pass for output of the program.
    label = " ".join(str(spec.get("label") or "").split())
    provides = tuple(name for name in _split_words(spec.get("bins")) if name in missing)
    try:
        download = _read_download(spec, target) if kind == "download" else None
        command, *then = _list_commands(spec, target, download)
    except _BadValue as error:
        # The refused value itself is not repeated in the label.
        label = label or f"Install with {kind}"
        return Remedy(kind=kind, label=label, provides=provides, refused=str(error))
    return Remedy(
        kind=kind,
        label=label or f"Install {spec_name(spec)} with {kind}",
        command=command,
        then=tuple(then),
        provides=provides,
        ready=target.facts.has_bin(command[0]),
        download=download,
    )


def _list_commands(spec: Spec, target: _Target, download: Download | None) -> list[Argv]:
    if download is not None:
        return _list_download_steps(download)
    return [_BUILD[spec["kind"]](spec, target)]


def spec_name(spec: Spec) -> str:
    """What a way to install installs, in a word."""
    for key in ("formula", "package", "module", "url"):
        if spec.get(key):
            return str(spec[key])
    return "it"


def _get_value(spec: Spec, keys: tuple[str, ...], shape: re.Pattern[str], what: str) -> str:
    """The first of the keys that has a value, if that value is of the given shape."""
    for key in keys:
        if spec.get(key):
            value = str(spec[key]).strip()
            _check_shape(value, key, shape, what)
            return value
    raise _BadValue(f"`{keys[0]}` is missing")


def _check_shape(value: str, key: str, shape: re.Pattern[str], what: str) -> None:
    # The shapes allow dots, and two of them lead out of the folder that a value is used in.
    leads_out = ".." in value
    if leads_out or not shape.fullmatch(value):
        raise _BadValue(f"`{key}` is not {what}")


def _build_brew(spec: Spec, target: _Target) -> Argv:
    formula = _get_value(spec, ("formula", "package"), _FORMULA, "the name of a formula")
    return ("brew", "install", formula)


def _build_node(spec: Spec, target: _Target) -> Argv:
    package = _get_value(spec, ("package", "module"), _NODE, "the name of a package")
    if spec.get("module"):
        # Only its name: what is installed is the package.
        _get_value(spec, ("module",), _NODE, "the name of a package")
    installer = target.node_manager or _find_node_installer(target.facts)
    return (*NODE_INSTALLERS[installer], package)


def _find_node_installer(facts: Facts) -> str:
    for name in NODE_INSTALLERS:
        if facts.has_bin(name):
            return name
    # Without any of them the command is still shown, for a machine that gets one.
    return "npm"


def _build_go(spec: Spec, target: _Target) -> Argv:
    # Outside a module `go install` needs a version.
    module = _get_value(spec, ("module", "package"), _GO, "the path of a Go module")
    return ("go", "install", module if "@" in module else f"{module}@latest")


def _build_uv(spec: Spec, target: _Target) -> Argv:
    package = _get_value(spec, ("package", "module"), _PYTHON, "the name of a package")
    return ("uv", "tool", "install", package)


_BUILD: dict[str, Callable[[Spec, _Target], Argv]] = {
    "brew": _build_brew,
    "node": _build_node,
    "go": _build_go,
    "uv": _build_uv,
}


# Downloads


def tools_folder(facts: Facts) -> str:
    """The folder for the programs that skills download, each skill in a folder of its own."""
    return f"{facts.home}/.local/share/prowess/tools"


def _read_download(spec: Spec, target: _Target) -> Download:
    url = _get_value(spec, ("url",), _URL, "an https URL")
    file = url.partition("?")[0].rpartition("/")[2]
    _check_shape(file, "url", _FILE, "the URL of a file")
    owner = _name_owner(target)
    folder = owner
    if spec.get("targetDir"):
        what = "a path inside the skill's folder"
        folder += "/" + _get_value(spec, ("targetDir",), _FOLDER, what)
    is_archive = _is_archive(spec, file)
    return Download(
        url=url,
        file=file,
        owner=owner,
        folder=folder,
        sha256=_read_sha256(spec),
        unpack=is_archive,
        inside=_read_inside(spec) if is_archive else None,
        strip=_read_strip(spec) if is_archive else 0,
        bins=_split_words(spec.get("bins")),
    )


def _name_owner(target: _Target) -> str:
    owner = target.manifest.skill_key or target.manifest.name or ""
    # A skill's name is untrusted too, and may have slashes or begin with a dash. `bin` has the
    # programs of all skills.
    is_plain = _FILE.fullmatch(owner) and owner != "bin"
    return f"{tools_folder(target.facts)}/{owner if is_plain else 'skill'}"


def _is_archive(spec: Spec, file: str) -> bool:
    extract = spec.get("extract")
    if extract not in (None, True, False):
        raise _BadValue("`extract` is not true or false")
    if extract is not None:
        return bool(extract)
    names_archive = bool(spec.get("archive"))
    return names_archive or file.lower().endswith(_ARCHIVES)


def _read_inside(spec: Spec) -> str | None:
    """The part of an archive that is used: a file or a folder in it."""
    archive = str(spec.get("archive") or "")
    is_format = archive.lower().lstrip(".") in _ARCHIVE_FORMATS
    if is_format or not archive:
        return None
    return _get_value(spec, ("archive",), _FOLDER, "a path inside the archive")


def _read_strip(spec: Spec) -> int:
    strip = spec.get("stripComponents", 0)
    # `True` is an int in Python.
    is_number = isinstance(strip, int) and not isinstance(strip, bool)
    if not is_number or not 0 <= strip <= _MOST_STRIPPED:
        raise _BadValue(f"`stripComponents` is not a whole number from 0 to {_MOST_STRIPPED}")
    return int(strip)


def _read_sha256(spec: Spec) -> str | None:
    declared = spec.get("sha256")
    if declared is None:
        return None
    digest = str(declared).strip().lower()
    # Refused, not ignored: a typing error must not turn the check off.
    if not _SHA256.fullmatch(digest):
        raise _BadValue("`sha256` is not 64 hexadecimal digits")
    return digest


def _list_download_steps(download: Download) -> list[Argv]:
    """The commands that do the same in a shell, except for the check of the digest."""
    path = f"{download.folder}/{download.file}"
    fetch = (*_FETCH, "--output", path, download.url)
    if download.unpack:
        return [fetch, _unpack(download, path)]
    return [fetch, ("chmod", "+x", path)]


def _unpack(download: Download, path: str) -> Argv:
    inside = () if download.inside is None else (download.inside,)
    if path.lower().endswith(".zip"):
        return ("unzip", "-o", path, *inside, "-d", download.folder)
    strip = (f"--strip-components={download.strip}",) if download.strip else ()
    return ("tar", "-xf", path, "-C", download.folder, *strip, *inside)
