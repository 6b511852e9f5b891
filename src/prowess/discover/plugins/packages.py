"""Plugins that are packages: of npm, for a host or for a project, and of Python.

Nothing of a package is imported or run. An entry point of the group `prowess.skills` is read as the
name of a folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.links import is_inside
from prowess.discover.plugins.json_tables import find_json, get_list, get_table, get_text
from prowess.discover.plugins.manifest import ReadPlugin, read_plugin
from prowess.discover.plugins.search import (
    Finder,
    FoundPlugin,
    PluginSearch,
    has_file,
    list_folders,
)
from prowess.model.plugin import Owner, PluginFolder
from prowess.ports import FileSystem
from prowess.profiles.schema.plugins import PluginRule

_MOST_PACKAGES = 2_000
_MOST_DEPENDENCIES = 500
_MOST_BYTES = 1 << 16

# Packages that a host installed


def _find_node_packages(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """omp's own packages: dependencies and links that its lock file knows."""
    disabled = _list_disabled(search)
    for root in search.expand(rule):
        if search.files.find_kind(f"{root}/node_modules") != "folder":
            continue
        installed = _NodePackages(root, search.files)
        for name in installed.list_names():
            off = installed.find_off(name)
            if name in disabled:
                off = "plugin-overrides.json turns it off"
            folder = installed.get_folder(name)
            yield FoundPlugin(folder=folder, origin=root, owner=rule.owner, off=off)


class _NodePackages:
    """The packages in one folder of omp: what it depends on, and what its lock file knows."""

    def __init__(self, root: str, files: FileSystem) -> None:
        self._root = root
        self._files = files
        self._package = find_json(files, f"{root}/package.json")
        self._lock = get_table(find_json(files, f"{root}/omp-plugins.lock.json"), "plugins")

    def get_folder(self, name: str) -> str:
        return f"{self._root}/node_modules/{name}"

    def list_names(self) -> list[str]:
        """The packages that are extensions, dependencies first."""
        depends_on = get_table(self._package, "dependencies")
        known = list(dict.fromkeys((*depends_on, *self._lock)))[:_MOST_DEPENDENCIES]
        names = filter(_is_package_name, known)
        if self._package is not None:
            # What is only in the lock file is left over, unless it is linked.
            names = filter(lambda name: name in depends_on or self._is_linked(name), names)
        return list(filter(self._is_extension, names))

    def find_off(self, name: str) -> str | None:
        """Why the lock file has a package turned off; None if it does not."""
        is_on = get_table(self._lock, name).get("enabled", True)
        return None if is_on else "omp-plugins.lock.json turns it off"

    def _is_linked(self, name: str) -> bool:
        return self._files.find_link(self.get_folder(name)) is not None

    def _is_extension(self, name: str) -> bool:
        manifest = find_json(self._files, f"{self.get_folder(name)}/package.json") or {}
        return bool(manifest.get("omp") or manifest.get("pi"))


def _list_disabled(search: PluginSearch) -> list[Any]:
    path = f"{search.places.cwd}/.omp/plugin-overrides.json"
    return get_list(find_json(search.files, path), "disabled")


def _is_package_name(name: str) -> bool:
    return re.fullmatch(r"(@[\w.~-]+/)?[\w~-][\w.~-]*", name) is not None


# Packages of npm that a project depends on

_NPM_FOLDERS = ("skills", ".agents/skills", "dist/skills")


def _find_npm_packages(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """Direct dependencies that bring skills; those of dependencies are nobody's choice."""
    files = search.files
    for root in dict.fromkeys(search.expand(rule)):
        manifest = f"{root}/package.json"
        inside = (files.find_real_path(root), search.places.repository)
        for name in _list_dependencies(find_json(files, manifest)):
            folder = f"{root}/node_modules/{name}"
            real = files.find_real_path(folder)
            # A link may lead to another package of the repository, but not out of it.
            if real is None or not is_inside(real, inside):
                continue
            parts = _read_npm_package(folder, rule, files)
            if parts is None:
                continue
            yield FoundPlugin(
                folder=folder,
                origin=manifest,
                name=name.removeprefix("@").replace("/", "-"),
                owner="project",
                parts=parts,
            )


def _list_dependencies(package: dict[str, Any] | None) -> list[str]:
    names = {*get_table(package, "dependencies"), *get_table(package, "devDependencies")}
    return sorted(filter(_is_package_name, names))[:_MOST_DEPENDENCIES]


def _read_npm_package(folder: str, rule: PluginRule, files: FileSystem) -> ReadPlugin | None:
    """What an npm package brings; None if that is nothing."""
    if has_file(folder, rule.manifests, files):
        return read_plugin(folder, rule.manifests, files)
    places = [f"{folder}/{name}" for name in _NPM_FOLDERS]
    skills = [PluginFolder(path) for path in places if files.find_kind(path) == "folder"]
    if not skills:
        return None
    package = find_json(files, f"{folder}/package.json")
    return ReadPlugin(
        format="package",
        skills=tuple(skills),
        version=get_text(package, "version"),
        description=get_text(package, "description"),
    )


# Packages of Python

_GROUP = "prowess.skills"
_ENTRY = re.compile(r"\s*([\w.-]+)\s*=\s*([A-Za-z_][\w.]*?)\s*(?::\s*([\w./-]+))?\s*(?:\[.*)?")
_SHIPPED = ".agents/skills"
_DISTRIBUTION = ".dist-info"


def _find_python_packages(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """Installed packages that register skills by an entry point, or have `.agents/skills`."""
    paths = [*search.facts.python_paths]
    for root in search.expand(rule):
        paths += _list_site_folders(root, search.files)
    # The environment that Prowess runs in may be the project's own.
    paths = list(dict.fromkeys(paths))
    for path in paths:
        owner: Owner = "project" if _is_in_project(path, search) else rule.owner
        yield from _list_python(path, paths, owner, search, findings)


def _list_site_folders(root: str, files: FileSystem) -> Iterator[str]:
    """The folders of packages in a virtual environment."""
    for folder in list_folders(f"{root}/lib", files):
        if folder.rpartition("/")[2].startswith("python3"):
            yield f"{folder}/site-packages"


def _is_in_project(path: str, search: PluginSearch) -> bool:
    return is_inside(path, (search.places.cwd, search.places.repository))


def _list_python(
    path: str,
    paths: Iterable[str],
    owner: Owner,
    search: PluginSearch,
    findings: list[Diagnostic],
) -> Iterator[FoundPlugin]:
    """The packages in one folder of packages."""
    folders = list_folders(path, search.files)
    if len(folders) > _MOST_PACKAGES:
        message = f"There are more than {_MOST_PACKAGES:,} packages here; the rest is ignored."
        findings.append(diagnose("limit-reached", message, file=path))
    known = folders[:_MOST_PACKAGES]
    distributions = [_Distribution(one) for one in known if one.endswith(_DISTRIBUTION)]
    for distribution in distributions:
        yield from _read_entry_points(distribution, paths, owner, search.files)
    versions = {one.package.lower(): one.version for one in distributions}
    for folder in known:
        if _ships_skills(folder, search.files):
            yield _make_shipped(folder, path, owner, versions)


class _Distribution:
    """The folder that describes an installed package, `NAME-VERSION.dist-info`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        name = folder.rpartition("/")[2].removesuffix(_DISTRIBUTION)
        self.package, _, self.version = name.partition("-")


def _ships_skills(folder: str, files: FileSystem) -> bool:
    # On Python's path are also folders of projects, which are no packages.
    has_skills = files.find_kind(f"{folder}/{_SHIPPED}") == "folder"
    return has_skills and files.find_kind(f"{folder}/__init__.py") == "file"


def _make_shipped(folder: str, path: str, owner: Owner, versions: dict[str, str]) -> FoundPlugin:
    """A package with skills in its own folder."""
    name = folder.rpartition("/")[2]
    parts = ReadPlugin(
        format="package",
        version=versions.get(name.lower(), ""),
        skills=(PluginFolder(f"{folder}/{_SHIPPED}"),),
    )
    return FoundPlugin(
        folder=folder, origin=path, name=name.replace("_", "-"), owner=owner, parts=parts
    )


def _read_entry_points(
    distribution: _Distribution, paths: Iterable[str], owner: Owner, files: FileSystem
) -> Iterator[FoundPlugin]:
    """The plugin that a distribution registers, with a folder of skills for each entry point."""
    file = f"{distribution.folder}/entry_points.txt"
    text = _load_entry_points(file, files)
    if _GROUP not in text:
        return
    findings: list[Diagnostic] = []
    skills: list[PluginFolder] = []
    for line in _list_group(text):
        place = _find_entry_folder(line, paths, files)
        if place is None:
            message = f"The entry point {line[:100]!a} names no folder of an installed package."
            findings.append(diagnose("plugin-missing", message, file=file))
        else:
            skills.append(PluginFolder(place, is_declared=True))
    yield FoundPlugin(
        folder=skills[0].path if skills else distribution.folder,
        origin=file,
        name=distribution.package.replace("_", "-"),
        owner=owner,
        parts=ReadPlugin(format="package", version=distribution.version, skills=tuple(skills)),
        diagnostics=tuple(findings),
    )


def _load_entry_points(file: str, files: FileSystem) -> str:
    """The text of a file of entry points; empty if there is none."""
    if files.find_kind(file) != "file":
        return ""
    try:
        return files.read_head(file, _MOST_BYTES).data.decode("utf-8", "replace")
    except OSError:
        # Python itself could not read it, either.
        return ""


def _list_group(text: str) -> Iterator[str]:
    """The lines of our group in a file of entry points."""
    is_ours = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            is_ours = stripped == f"[{_GROUP}]"
        elif is_ours and stripped and not stripped.startswith(("#", ";")):
            yield stripped


def _find_entry_folder(line: str, paths: Iterable[str], files: FileSystem) -> str | None:
    """`pdf = my_package.skills` or `my_package:skills` → the folder, inside of the package."""
    match = _ENTRY.fullmatch(line)
    if match is None:
        return None
    module, below = match[2].split("."), (match[3] or "").strip("/")
    inner = "/".join((*module, below)).rstrip("/")
    leads_out = "" in module or ".." in inner.split("/")
    if leads_out:
        return None
    for path in paths:
        place = f"{path}/{inner}"
        if files.find_kind(place) != "folder":
            continue
        real = files.find_real_path(place)
        real_package = files.find_real_path(f"{path}/{module[0]}")
        # Python would take the first of that name, so no other counts if this one leads out.
        is_contained = real is not None and is_inside(real, (real_package,))
        return place if is_contained else None
    return None


FINDERS: dict[str, Finder] = {
    "node": _find_node_packages,
    "npm": _find_npm_packages,
    "python": _find_python_packages,
}
