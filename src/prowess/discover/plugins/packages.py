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
from prowess.discover.plugins.manifest import PluginParts, find_json, read_plugin
from prowess.discover.plugins.search import Finder, FoundPlugin, PluginSearch, list_folders
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
    files = search.files
    for root in search.expand(rule):
        if files.find_kind(f"{root}/node_modules") != "folder":
            continue
        package = find_json(files, f"{root}/package.json")
        lock = _get_table(find_json(files, f"{root}/omp-plugins.lock.json") or {}, "plugins")
        depends_on = _get_table(package or {}, "dependencies")
        disabled = _list_disabled(search)
        for name in list(dict.fromkeys((*depends_on, *lock)))[:_MOST_DEPENDENCIES]:
            folder = f"{root}/node_modules/{name}"
            # With a package.json, what is only in the lock file is left over, unless it is linked.
            is_stale = package is not None and name not in depends_on
            if not _is_package_name(name) or (is_stale and files.find_link(folder) is None):
                continue
            manifest = find_json(files, f"{folder}/package.json") or {}
            if not (manifest.get("omp") or manifest.get("pi")):
                continue
            state = lock.get(name)
            is_off = isinstance(state, dict) and not state.get("enabled", True)
            off = "omp-plugins.lock.json turns it off" if is_off else None
            if name in disabled:
                off = "plugin-overrides.json turns it off"
            yield FoundPlugin(folder=folder, origin=root, owner=rule.owner, off=off)


def _list_disabled(search: PluginSearch) -> list[Any]:
    path = f"{search.places.cwd}/.omp/plugin-overrides.json"
    disabled = (find_json(search.files, path) or {}).get("disabled")
    return disabled if isinstance(disabled, list) else []


def _get_table(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


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
        package = find_json(files, f"{root}/package.json")
        if package is None:
            continue
        names = {**_get_table(package, "dependencies"), **_get_table(package, "devDependencies")}
        real_root = files.find_real_path(root)
        for name in sorted(filter(_is_package_name, names))[:_MOST_DEPENDENCIES]:
            folder = f"{root}/node_modules/{name}"
            real = files.find_real_path(folder)
            if real is None or not is_inside(real, (real_root, search.places.repository)):
                continue
            parts = _read_npm_package(folder, rule, files)
            if parts is not None:
                yield FoundPlugin(
                    folder=folder,
                    origin=f"{root}/package.json",
                    name=name.removeprefix("@").replace("/", "-"),
                    owner="project",
                    parts=parts,
                )


def _read_npm_package(folder: str, rule: PluginRule, files: FileSystem) -> PluginParts | None:
    """What an npm package brings; None if that is nothing."""
    if any(files.find_kind(f"{folder}/{name}") == "file" for name in rule.manifests):
        return read_plugin(folder, rule.manifests, files)
    places = [f"{folder}/{name}" for name in _NPM_FOLDERS]
    skills = [PluginFolder(path) for path in places if files.find_kind(path) == "folder"]
    if not skills:
        return None
    package = find_json(files, f"{folder}/package.json") or {}
    version, description = package.get("version"), package.get("description")
    return PluginParts(
        format="package",
        skills=tuple(skills),
        version=version if isinstance(version, str) else "",
        description=description if isinstance(description, str) else "",
    )


# Packages of Python

_GROUP = "prowess.skills"
_ENTRY = re.compile(r"\s*([\w.-]+)\s*=\s*([A-Za-z_][\w.]*?)\s*(?::\s*([\w./-]+))?\s*(?:\[.*)?")
_SHIPPED = ".agents/skills"


def _find_python_packages(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """Installed packages that register skills by an entry point, or have `.agents/skills`."""
    own = [path for root in search.expand(rule) for path in _list_site_folders(root, search.files)]
    paths = list(dict.fromkeys((*search.facts.python_paths, *own)))
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
    files = search.files
    folders = list_folders(path, files)
    if len(folders) > _MOST_PACKAGES:
        message = f"There are more than {_MOST_PACKAGES:,} packages here; the rest is ignored."
        findings.append(diagnose("limit-reached", message, file=path))
    versions: dict[str, str] = {}
    for folder in folders[:_MOST_PACKAGES]:
        name = folder.rpartition("/")[2]
        if name.endswith(".dist-info"):
            package, _, version = name.removesuffix(".dist-info").partition("-")
            versions[package.lower()] = version
            yield from _read_entry_points(folder, package, version, paths, owner, files)
    for folder in folders[:_MOST_PACKAGES]:
        name = folder.rpartition("/")[2]
        if files.find_kind(f"{folder}/{_SHIPPED}") != "folder":
            continue
        # On Python's path are also folders of projects, which are no packages.
        if files.find_kind(f"{folder}/__init__.py") != "file":
            continue
        parts = PluginParts(
            format="package",
            version=versions.get(name.lower(), ""),
            skills=(PluginFolder(f"{folder}/{_SHIPPED}"),),
        )
        yield FoundPlugin(
            folder=folder, origin=path, name=name.replace("_", "-"), owner=owner, parts=parts
        )


def _read_entry_points(
    folder: str, package: str, version: str, paths: Iterable[str], owner: Owner, files: FileSystem
) -> Iterator[FoundPlugin]:
    """The plugin that a distribution registers, with a folder of skills for each entry point."""
    file = f"{folder}/entry_points.txt"
    if files.find_kind(file) != "file":
        return
    try:
        text = files.read_head(file, _MOST_BYTES).data.decode("utf-8", "replace")
    except OSError:
        # Python itself could not read it, either.
        return
    if _GROUP not in text:
        return
    name = package.replace("_", "-")
    findings: list[Diagnostic] = []
    skills: list[PluginFolder] = []
    for line in _list_group(text):
        place = _find_entry_folder(line, paths, files)
        if place is None:
            message = f"The entry point {line[:100]!a} names no folder of an installed package."
            findings.append(diagnose("plugin-missing", message, file=file))
        else:
            skills.append(PluginFolder(place, is_declared=True))
    parts = PluginParts(format="package", version=version, skills=tuple(skills))
    yield FoundPlugin(
        folder=skills[0].path if skills else folder,
        origin=file,
        name=name,
        owner=owner,
        parts=parts,
        diagnostics=tuple(findings),
    )


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
    if "" in module or ".." in inner.split("/"):
        return None
    for path in paths:
        package, place = f"{path}/{module[0]}", f"{path}/{inner}"
        if files.find_kind(place) != "folder":
            continue
        real, real_package = files.find_real_path(place), files.find_real_path(package)
        return place if real is not None and is_inside(real, (real_package,)) else None
    return None


FINDERS: dict[str, Finder] = {
    "node": _find_node_packages,
    "npm": _find_npm_packages,
    "python": _find_python_packages,
}
