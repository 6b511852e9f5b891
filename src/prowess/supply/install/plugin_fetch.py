"""Install the skills of a plugin: from its own folder, or by its name in a marketplace.

A marketplace is a list of plugins in a repository, a folder, an archive or at a URL. A plugin is a
folder of it, or a repository of its own. Only skills are installed; what else a plugin brings is
named in the plan.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import partial

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.plugins.json_tables import MOST_BYTES, find_json
from prowess.discover.plugins.manifest import MARKETPLACE_FILES, ReadPlugin, read_plugin
from prowess.errors.install import InvalidSource, RefusedTree, SourceFailed
from prowess.machine.atomic_write import scratch_folder
from prowess.machine.files import LocalFiles
from prowess.machine.git import GitEntry
from prowess.machine.http_client import FetchError, HttpSession
from prowess.machine.tree_files import copy_tree, find_tree, write_file
from prowess.model.tree import Tree
from prowess.supply.install.fetch import (
    FetchContext,
    Fetched,
    SourceFetcher,
    find_skill_folders,
    is_inside,
    list_private_hosts,
)
from prowess.supply.install.git_fetch import GitFetcher, ReadBlob, choose_ordinary
from prowess.supply.install.local_fetch import ArchiveFetcher, FolderFetcher
from prowess.supply.install.marketplace import (
    MarketplacePlugin,
    UnusableEntry,
    parse_marketplace,
)
from prowess.supply.install.private_host import find_private_host
from prowess.supply.install.source import (
    ARCHIVE,
    FOLDER,
    GIT,
    PLUGIN,
    InstallSource,
    check_path,
    check_ref,
    lower_scheme,
    parse_source,
    split_address,
)

_TEXT = re.compile(r"plugin:(?:(?P<name>[A-Za-z0-9][\w.-]*)@)?(?P<source>\S.*)")
_MANIFESTS = ("plugin.json", ".claude-plugin/plugin.json")
# The commit of a marketplace ("" where it has none) and that of a plugin from elsewhere.
_TWO_COMMITS = re.compile(r"([0-9a-f]{40,64}|)\+([0-9a-f]{40,64})")
_LIST = "list"
_SECONDS = 60.0


def parse_plugin(text: str, cwd: str) -> InstallSource | None:
    """`plugin:[NAME@]SOURCE`, where SOURCE is a folder, an archive, a repository or a list."""
    if not text.startswith("plugin:"):
        return None
    found = _TEXT.fullmatch(text)
    if found is None or found["source"].startswith("~"):
        hint = "Use plugin:NAME@SOURCE, where SOURCE is OWNER/REPO, a git URL or a path from /."
        raise InvalidSource(text, "it does not name a plugin", hint)
    prefix = f"plugin:{found['name']}@" if found["name"] else "plugin:"
    inner = _parse_inner(found["source"], cwd)
    shown = f"{inner.text}/{inner.path}" if inner.path else inner.text
    is_local = inner.text.startswith(("./", "/"))
    return InstallSource(
        kind=PLUGIN,
        location=inner.location if is_local else shown,
        text=f"{prefix}{shown}",
        prefix=prefix,
        ref=inner.ref,
        skill=inner.skill,
        digest=inner.digest,
    )


def _parse_inner(text: str, cwd: str) -> InstallSource:
    """The source of a plugin or of a marketplace. Raises `InvalidSource`."""
    address = lower_scheme(text)
    is_url = address.startswith(("https://", "http://"))
    if not is_url or not address.endswith(".json"):
        return parse_source(address, cwd=cwd, home="")
    split_address(text, address)
    return InstallSource(kind=_LIST, location=address, text=address)


class PluginFetcher:
    """Fetches the skills of one plugin."""

    def fetch(self, source: InstallSource, staging: str, context: FetchContext) -> Fetched:
        """Fetch the plugin, and put its skills at the paths that they have in its repository."""
        name = source.prefix.removeprefix("plugin:").removesuffix("@")
        with scratch_folder() as scratch:
            work = _PluginWork(source, context, scratch)
            try:
                plugin = work.find(name)
                inner = plugin.find_folder() if plugin is not None else ""
                if plugin is not None and inner is None:
                    work.fetch_repository(plugin)
            except UnusableEntry as error:
                raise RefusedTree(source.text, f"the plugin “{name}”: {error}") from error
            folder = posixpath.join(work.top, inner or "").rstrip("/")
            parts = work.read(folder, plugin)
            refused = work.copy_skills(parts, staging)
        return msgspec.structs.replace(
            work.fetched,
            resolved=work.resolved,
            refused=refused,
            diagnostics=(*work.fetched.diagnostics, *work.report(parts, name)),
        )


class _PluginWork:
    """One fetch, in a folder of its own.

    `base` has the files of the repository that the plugin is in; `top` is the folder in it that the
    source means, "" for all of it.
    """

    def __init__(self, source: InstallSource, context: FetchContext, scratch: str) -> None:
        self._source = source
        self._context = context
        self._scratch = scratch
        commits = _TWO_COMMITS.fullmatch(source.ref)
        self._commit = commits[2] if commits is not None else ""
        inner = _parse_inner(source.location, "/")
        is_git = inner.kind == GIT
        self._inner = msgspec.structs.replace(
            inner,
            ref=(commits[1] if commits is not None else source.ref) if is_git else "",
            digest=source.digest,
        )
        self.base = f"{scratch}/marketplace"
        self.top = ""
        self.fetched = Fetched()
        self.resolved = ""

    def find(self, name: str) -> MarketplacePlugin | None:
        """The plugin of a marketplace; None if the source is the plugin itself.

        Raises `SourceFailed`.
        """
        self._fetch_source(name)
        plugins = parse_marketplace(self._find_list())
        own = read_plugin(self._locate(self.top), _MANIFESTS, LocalFiles(), needs_manifest=True)
        is_listed = plugins is not None and name in plugins
        is_plugin = own.problem is None and name in ("", own.name)
        if is_plugin and not is_listed:
            return None
        if plugins is None:
            raise SourceFailed(self._source.text, _describe_missing(name, own))
        if is_listed:
            return plugins[name]
        if not name and len(plugins) == 1:
            return next(iter(plugins.values()))
        listed = ", ".join(list(plugins)[:50]) or "none"
        wanted = f"it has no plugin “{name}”" if name else "it has several plugins"
        hint = f"write plugin:NAME@{self._source.text.removeprefix(self._source.prefix)}"
        raise SourceFailed(self._source.text, f"{wanted}; {hint} with one of {listed}")

    def fetch_repository(self, plugin: MarketplacePlugin) -> None:
        """Fetch a plugin that is in a repository of its own."""
        address, folder, ref = plugin.get_repository()
        try:
            found = parse_source(address, cwd="/", home="")
            check_ref(address, ref)
            check_path(address, folder)
        except InvalidSource as error:
            raise UnusableEntry(error.problem) from error
        # Nobody typed this address; a marketplace must not lead into the own network or disk. Over
        # ssh it would also use the user's keys.
        is_web = found.kind == GIT and found.location.startswith(("https://", "http://"))
        if not is_web or find_private_host(found) is not None:
            raise UnusableEntry(f"{address[:200]} is not a public git repository over https")
        market = self.resolved
        repository = msgspec.structs.replace(
            found, path=folder or found.path, ref=self._commit or ref or found.ref
        )
        self.base = f"{self._scratch}/plugin"
        self.top = repository.path
        fetcher = GitFetcher(partial(_choose_all, self._source))
        self.fetched = fetcher.fetch(repository, self.base, self._context)
        self.resolved = f"{market}+{self.fetched.resolved}"

    def read(self, folder: str, plugin: MarketplacePlugin | None) -> ReadPlugin:
        """What is in the folder of a plugin. Raises `SourceFailed`."""
        place = self._locate(folder)
        if LocalFiles().find_kind(place) != "folder":
            cause = f"the folder {folder[:200] or '.'} of the plugin is missing"
            raise SourceFailed(self._source.text, cause)
        entry = plugin.entry if plugin is not None else None
        parts = read_plugin(place, _MANIFESTS, LocalFiles(), entry=entry)
        if parts.problem is not None:
            raise SourceFailed(self._source.text, f"the plugin cannot be used: {parts.problem}")
        return parts

    def copy_skills(self, parts: ReadPlugin, staging: str) -> dict[str, str]:
        """Copy the skills of a plugin; those that are refused, with the reason."""
        tree = find_tree(self.base) or Tree({})
        within = [self._relate(folder.path) for folder in parts.skills]
        paths = [*tree.files, *(f"{one}/SKILL.md" for one in self.fetched.refused)]
        found = {one for folder in within for one in find_skill_folders(paths, within=folder)}
        wanted = {
            path: file
            for path, file in tree.files.items()
            if any(is_inside(path, folder) for folder in found)
        }
        if wanted:
            copy_tree(self.base, Tree(wanted), staging)
        return {path: why for path, why in self.fetched.refused.items() if path in found}

    def report(self, parts: ReadPlugin, name: str) -> Iterator[Diagnostic]:
        """What is wrong with a plugin, and what of it is not installed."""
        for finding in parts.diagnostics:
            file = self._relate(finding.file) if finding.file else None
            yield msgspec.structs.replace(finding, file=file)
        others = {
            "hooks": parts.hook_files or parts.inline.get("hooks"),
            "MCP servers": parts.server_files or parts.inline.get("mcpServers"),
            "commands": parts.commands,
            "agents": parts.agents,
        }
        brought = [kind for kind, found in others.items() if found]
        if brought:
            shown = name or parts.name or "The plugin"
            listed = " and ".join((", ".join(brought[:-1]), brought[-1])).removeprefix(" and ")
            message = f"{shown} also has {listed}; only its skills are installed."
            yield diagnose("install-skills-only", message)

    def _fetch_source(self, name: str) -> None:
        inner = self._inner
        if inner.kind == _LIST:
            self._download_list()
            return
        fetchers: Mapping[str, SourceFetcher] = {
            FOLDER: FolderFetcher(whole=True),
            ARCHIVE: ArchiveFetcher(),
            GIT: GitFetcher(partial(_choose_plugin, self._source, name)),
        }
        self.fetched = fetchers[inner.kind].fetch(inner, self.base, self._context)
        self.resolved = self.fetched.resolved
        self.top = inner.path or self._find_only_folder()

    def _download_list(self) -> None:
        hosts = list_private_hosts(self._inner, self._context)
        try:
            with HttpSession(seconds=_SECONDS, private_hosts=hosts) as session:
                data = session.get(self._inner.location, most_bytes=MOST_BYTES).body
        except FetchError as error:
            raise SourceFailed(self._source.text, error.message) from error
        write_file(self.base, MARKETPLACE_FILES[0], data)

    def _find_only_folder(self) -> str:
        """The folder that an archive has everything in; "" if it has more at its top."""
        files = LocalFiles()
        listed = files.list_folder(self.base) if files.find_kind(self.base) == "folder" else []
        is_wrapped = len(listed) == 1 and listed[0].kind == "folder"
        is_part = is_wrapped and listed[0].name in (".claude-plugin", "skills")
        return listed[0].name if is_wrapped and not is_part else ""

    def _find_list(self) -> dict[str, object] | None:
        for name in MARKETPLACE_FILES:
            found = find_json(LocalFiles(), posixpath.join(self._locate(self.top), name))
            if found is not None:
                return found
        return None

    def _locate(self, folder: str) -> str:
        return f"{self.base}/{folder}".rstrip("/")

    def _relate(self, path: str) -> str:
        return path.removeprefix(self.base).strip("/")


def _describe_missing(name: str, own: ReadPlugin) -> str:
    if own.problem is None:
        return f"it is the plugin “{own.name}”, not “{name}”"
    return f"it is neither a plugin nor a marketplace: {own.problem}"


# Which files of a repository are read


def _choose_all(
    source: InstallSource, repository: InstallSource, entries: list[GitEntry], read: ReadBlob
) -> tuple[list[GitEntry], dict[str, str]]:
    """Everything in the folder of a plugin."""
    inside = [entry for entry in entries if is_inside(entry.path, repository.path)]
    return choose_ordinary(source, inside)


def _choose_plugin(
    source: InstallSource,
    name: str,
    repository: InstallSource,
    entries: list[GitEntry],
    read: ReadBlob,
) -> tuple[list[GitEntry], dict[str, str]]:
    """The list of a marketplace, and the folder of the plugin; everything if there is no list.

    A marketplace may have hundreds of plugins, of which one is wanted.
    """
    inside = [entry for entry in entries if is_inside(entry.path, repository.path)]
    paths = [posixpath.join(repository.path, one) for one in MARKETPLACE_FILES]
    lists = [one for path in paths for one in inside if one.path == path]
    folder = _find_plugin_folder(name, lists[:1], read)
    if folder is None:
        return choose_ordinary(source, inside)
    top = posixpath.normpath(posixpath.join(repository.path, folder))
    chosen = [one for one in inside if is_inside(one.path, "" if top == "." else top)]
    return choose_ordinary(source, [*lists[:1], *(one for one in chosen if one not in lists)])


def _find_plugin_folder(name: str, lists: list[GitEntry], read: ReadBlob) -> str | None:
    """The folder of a plugin in a marketplace; None where all files may be needed."""
    if not name or not lists or lists[0].size > MOST_BYTES:
        return None
    try:
        data = msgspec.json.decode(read(lists[0]), type=dict)
        plugins = parse_marketplace(data) or {}
        folder = plugins[name].find_folder() if name in plugins else None
        # A plugin with a repository of its own needs nothing but the list.
        return ".claude-plugin" if name in plugins and folder is None else folder
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UnusableEntry):
        # It is read again from the disk, where what is wrong with it becomes a sentence.
        return None
