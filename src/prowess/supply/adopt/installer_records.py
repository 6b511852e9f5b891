"""What other installers recorded: lock files, and marks in the folders of skills.

All of it may come with a clone. One wrong entry costs itself; a file that is no lock file costs
itself, and the reason is kept.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from prowess.errors import MachineError, name_cause
from prowess.machine.files import LocalFiles
from prowess.machine.tree_files import read_file
from prowess.model.tree import ORIGIN_FILES
from prowess.parse.header.fast import read_header
from prowess.profiles.load import load_profile
from prowess.state.unpacked_files import find_refusal
from prowess.supply.install.fetch import SKILL_FILE
from prowess.supply.install.source import CLAWHUB as REGISTRY
from prowess.supply.install.source import FOLDER, GIT, SITE, lower_scheme
from prowess.supply.install.targets import USER, InstallPlace

SKILLS = "skills"
CLAWHUB = "clawhub"
GH = "gh"

TITLES: Mapping[str, str] = {SKILLS: "Vercel's skills", CLAWHUB: "ClawHub", GH: "gh skill"}

_MOST_BYTES = 1 << 23
# A clone may bring any file; nobody has installed this many skills.
_MOST_ENTRIES = 5_000
_MOST_HEADER = 1 << 16
_COMMIT = re.compile(r"[0-9a-f]{40}")
# The names that ClawHub has had.
_REGISTRIES = ("", "https://clawhub.ai", "https://clawhub.com", "https://clawdhub.com")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What an installer recorded about one skill.

    `file` is where. `origin` is the source as Prowess writes it, and `kinds` what it must turn out
    to be; `digest` is the installer's own, of the files as it wrote them. `problem` says why the
    skill cannot be taken over.
    """

    tool: str
    file: str
    name: str
    origin: str = ""
    kinds: tuple[str, ...] = ()
    ref: str = ""
    path: str = ""
    resolved: str = ""
    digest: str = ""
    pinned: str | None = None
    problem: str = ""


class RecordFiles(msgspec.Struct, frozen=True):
    """The entries of all lock files, and the files that cannot be used, with the reason."""

    records: tuple[Record, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


class _InvalidFile(ValueError):
    """A file that is no lock file, and why."""


class _SkillsEntry(msgspec.Struct, frozen=True, rename="camel"):
    source: str
    source_type: str
    source_url: str | None = None
    source_base_url: str | None = None
    ref: str | None = None
    skill_path: str | None = None
    computed_hash: str | None = None
    skill_folder_hash: str | None = None
    pinned_ref: str | None = None


class _ClawhubEntry(msgspec.Struct, frozen=True, rename="camel"):
    version: str | None = None
    owner_handle: str | None = None
    source_kind: str | None = None
    source_repository: str | None = None
    source_path: str | None = None
    pinned: bool | None = None
    pin_reason: str | None = None


class _ClawhubOrigin(msgspec.Struct, frozen=True, rename="camel"):
    version: int
    registry: str
    slug: str
    installed_version: str
    owner_handle: str | None = None
    fingerprint: str | None = None


class _RecordFile(msgspec.Struct, frozen=True, kw_only=True):
    """Where an installer keeps its lock file, and how an entry of it is read."""

    tool: str
    path: str
    version: int
    read: Callable[[str, str, Any], Record]


def load_records(place: InstallPlace) -> RecordFiles:
    """What the lock files of other installers say, for a project or for a user."""
    records: list[Record] = []
    problems: list[tuple[str, str]] = []
    for file in _list_files(place):
        try:
            records += _load_file(file)
        except FileNotFoundError:
            # Nobody used that installer here.
            continue
        except _InvalidFile as problem:
            problems.append((file.path, str(problem)))
        except OSError as error:
            problems.append((file.path, name_cause(error)))
    return RecordFiles(tuple(records), tuple(problems))


def find_mark(folder: str) -> Record | None:
    """What an installer wrote into the folder of a skill itself."""
    return _find_origin(folder) or _find_gh_mark(folder)


def _list_files(place: InstallPlace) -> Iterator[_RecordFile]:
    if place.scope != USER:
        lock = posixpath.join(place.base, "skills-lock.json")
        yield _RecordFile(tool=SKILLS, path=lock, version=1, read=_read_skills)
        tops = [place.base]
    else:
        # The lock file of a user has another name and another version than that of a project.
        state = place.facts.env.get("XDG_STATE_HOME")
        folder = f"{state}/skills" if state else f"{place.base}/.agents"
        lock = posixpath.join(folder, ".skill-lock.json")
        yield _RecordFile(tool=SKILLS, path=lock, version=3, read=_read_skills)
        tops = [f"{place.base}/.openclaw/workspace", f"{place.base}/.openclaw"]
    # `.clawdhub` is the folder from before ClawHub changed its name.
    for top in tops:
        for name in (".clawhub", ".clawdhub"):
            lock = posixpath.join(top, name, "lock.json")
            yield _RecordFile(tool=CLAWHUB, path=lock, version=1, read=_read_clawhub)


def _load_file(lock: _RecordFile) -> list[Record]:
    skills = _load_skills(lock)
    return [lock.read(lock.path, name, entry) for name, entry in sorted(skills.items())]


def _load_skills(lock: _RecordFile) -> dict[str, Any]:
    # One that came with a clone could lead to any file of the user.
    if LocalFiles().find_link(lock.path) is not None:
        raise _InvalidFile("it is a symlink")
    head = LocalFiles().read_head(lock.path, _MOST_BYTES)
    if head.size > _MOST_BYTES:
        raise _InvalidFile(f"it has {head.size:,} bytes; at most {_MOST_BYTES:,} are read")
    try:
        data = msgspec.json.decode(head.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _InvalidFile(f"it is not JSON ({error})") from None
    if not isinstance(data, dict) or not isinstance(data.get("skills"), dict):
        raise _InvalidFile("it is not an object with `skills`")
    # Another version may have the same fields with another meaning.
    version = data.get("version")
    if version != lock.version:
        shown = str(version)[:40]
        raise _InvalidFile(f"it has version {shown}; Prowess reads version {lock.version}")
    skills: dict[str, Any] = data["skills"]
    if len(skills) > _MOST_ENTRIES:
        raise _InvalidFile(f"it has {len(skills):,} skills; at most {_MOST_ENTRIES:,} are read")
    return skills


# Vercel's skills


def _read_skills(file: str, name: str, data: Any) -> Record:
    record = Record(tool=SKILLS, file=file, name=name)
    try:
        entry = msgspec.convert(data, _SkillsEntry)
    except msgspec.ValidationError as error:
        return msgspec.structs.replace(record, problem=f"its entry is malformed ({error})")
    if entry.source_type not in _ORIGINS_OF_SKILLS:
        problem = f"Prowess cannot install from “{entry.source_type[:40]}” sources"
        return msgspec.structs.replace(record, problem=problem)
    kinds, name_origin = _ORIGINS_OF_SKILLS[entry.source_type]
    path, problem = _clean_path(entry.skill_path or "")
    if kinds == (SITE,):
        # The index of a site has skills by their names, and no folders.
        path = name
    return msgspec.structs.replace(
        record,
        origin=name_origin(entry),
        kinds=kinds,
        ref=entry.pinned_ref or entry.ref or "",
        path=path,
        digest=entry.computed_hash or entry.skill_folder_hash or "",
        pinned=f"pinned to {entry.pinned_ref}" if entry.pinned_ref else None,
        problem=problem,
    )


def _name_github(entry: _SkillsEntry) -> str:
    url = entry.source_url or ""
    # The same type is used for GitHub Enterprise, on servers of their own.
    is_github = "://github.com/" in url or url.startswith("git@github.com:")
    if not url or is_github:
        return entry.source
    return _name_git(entry)


def _name_git(entry: _SkillsEntry) -> str:
    return _mark_git(entry.source_url or entry.source)


def _mark_git(url: str) -> str:
    """The address of a repository so that it cannot be taken for a web page."""
    plain = lower_scheme(url.rstrip("/"))
    is_web = plain.startswith(("https://", "http://"))
    if not is_web or plain.endswith(".git"):
        return plain
    return f"{plain}.git"


def _name_site(entry: _SkillsEntry) -> str:
    url = entry.source_base_url or entry.source_url or entry.source
    return url.partition("/.well-known/")[0]


def _name_folder(entry: _SkillsEntry) -> str:
    source = entry.source
    return source if source.startswith(("/", "./", "../", "~/")) else f"./{source}"


def _name_package(entry: _SkillsEntry) -> str:
    return f"./node_modules/{entry.source}"


_ORIGINS_OF_SKILLS: Mapping[str, tuple[tuple[str, ...], Callable[[_SkillsEntry], str]]] = {
    "github": ((GIT,), _name_github),
    "gitlab": ((GIT,), _name_git),
    "git": ((GIT,), _name_git),
    "well-known": ((SITE,), _name_site),
    "local": ((FOLDER,), _name_folder),
    "node_modules": ((FOLDER,), _name_package),
}
"""By the type of a source: the kinds of source it can be, and how Prowess writes it."""


# ClawHub


def _read_clawhub(file: str, slug: str, data: Any) -> Record:
    record = Record(tool=CLAWHUB, file=file, name=slug)
    try:
        entry = msgspec.convert(data, _ClawhubEntry)
    except msgspec.ValidationError as error:
        return msgspec.structs.replace(record, problem=f"its entry is malformed ({error})")
    if entry.pinned:
        reason = entry.pin_reason or "pinned by ClawHub"
        record = msgspec.structs.replace(record, pinned=reason)
    version = entry.version or ""
    # The version of a skill that is only kept on GitHub is a commit.
    if entry.source_repository and _COMMIT.fullmatch(version):
        path, problem = _clean_path(entry.source_path or "")
        return msgspec.structs.replace(
            record,
            origin=entry.source_repository,
            kinds=(GIT,),
            path=path,
            resolved=version,
            problem=problem,
        )
    return _place_on_clawhub(record, slug, entry.owner_handle, version)


def _find_origin(folder: str) -> Record | None:
    for name in ORIGIN_FILES:
        file = f"{folder}/{name}"
        try:
            # Never through a link: the folder of a skill may have come with a clone.
            head = LocalFiles().read_real_head(file, _MOST_HEADER)
            origin = msgspec.json.decode(head.data, type=_ClawhubOrigin)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # ClawHub takes such a file for none, too; its lock file may still have the skill.
            continue
        if origin.version != 1:
            continue
        record = Record(tool=CLAWHUB, file=file, name=origin.slug, digest=origin.fingerprint or "")
        version = origin.installed_version
        return _place_on_clawhub(record, origin.slug, origin.owner_handle, version, origin.registry)
    return None


def _place_on_clawhub(
    record: Record, slug: str, owner: str | None, version: str, registry: str = ""
) -> Record:
    name = f"@{owner}/{slug}" if owner else slug
    base = registry.rstrip("/")
    is_public = base in _REGISTRIES
    origin = f"clawhub:{name}" if is_public else f"clawhub+{base}/{name}"
    return msgspec.structs.replace(record, origin=origin, kinds=(REGISTRY,), resolved=version)


# gh skill


def _find_gh_mark(folder: str) -> Record | None:
    """The marks that `gh skill` puts into the header of SKILL.md."""
    profile = load_profile("prowess")
    try:
        data = read_file(folder, SKILL_FILE, most=_MOST_HEADER)
    except MachineError:
        # A file that cannot be read is reported where its folder is.
        return None
    header = read_header(data, rules=profile.header, limits=profile.limits).frontmatter
    marks = header.get("metadata")
    if not isinstance(marks, dict):
        return None
    record = Record(tool=GH, file=f"{folder}/{SKILL_FILE}", name=posixpath.basename(folder))
    repository = _as_text(marks.get("github-repo"))
    if repository:
        return _read_gh_marks(record, repository, marks)
    local = _as_text(marks.get("local-path"))
    if local.startswith("/"):
        return msgspec.structs.replace(record, origin=local, kinds=(FOLDER,))
    return None


def _read_gh_marks(record: Record, repository: str, marks: Mapping[str, Any]) -> Record:
    pinned = _as_text(marks.get("github-pinned"))
    ref = pinned or _as_text(marks.get("github-ref"))
    path, problem = _clean_path(_as_text(marks.get("github-path")))
    is_plain = "://" not in repository or "://github.com/" in repository
    return msgspec.structs.replace(
        record,
        origin=repository if is_plain else _mark_git(repository),
        kinds=(GIT,),
        ref=ref.removeprefix("refs/heads/").removeprefix("refs/tags/"),
        path=path,
        digest=_as_text(marks.get("github-tree-sha")),
        pinned=f"pinned to {pinned}" if pinned else None,
        problem=problem,
    )


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _clean_path(path: str) -> tuple[str, str]:
    """The folder of a skill in its source, and what is wrong with it."""
    if not path:
        return "", ""
    # Installers on Windows write backslashes, and some name the file instead of its folder.
    folder = posixpath.normpath(path.replace("\\", "/"))
    if posixpath.basename(folder) == SKILL_FILE:
        folder = posixpath.dirname(folder)
    if folder in ("", "."):
        return "", ""
    # The path is the installer's word, and may have come with a clone.
    refusal = find_refusal(folder)
    if refusal is None:
        return folder, ""
    return folder, f"its path {folder[:100]!r} is refused: {refusal}"
