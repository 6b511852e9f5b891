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
    SKILL_FILE,
    FetchContext,
    Fetched,
    SourceFetcher,
    find_skill_folders,
    is_inside_any,
    list_private_hosts,
    watch_download,
)
from prowess.supply.install.git_fetch import GitFetcher, ReadBlob, choose_ordinary, list_inside
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
    parts = _TEXT.fullmatch(text)
    # `~` is another folder for everybody who reads the lock file.
    if parts is None or parts["source"].startswith("~"):
        hint = "Use plugin:NAME@SOURCE, where SOURCE is OWNER/REPO, a git URL or a path from /."
        raise InvalidSource(text, "it does not name a plugin", hint)
    prefix = f"plugin:{parts['name']}@" if parts["name"] else "plugin:"
    inner = _parse_inner(parts["source"], cwd)
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
                folder = work.fetch_plugin(plugin)
            except UnusableEntry as error:
                raise RefusedTree(source.text, f"the plugin “{name}”: {error}") from error
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
        # From a lock file come the commits of both repositories, from a user the ref of the first.
        commits = _TWO_COMMITS.fullmatch(source.ref)
        market_ref, self._commit = source.ref, ""
        if commits is not None:
            market_ref, self._commit = commits.groups()
        inner = _parse_inner(source.location, "/")
        # Only a repository has refs; what a folder or an archive has is what is there.
        ref = market_ref if inner.kind == GIT else ""
        self._inner = msgspec.structs.replace(inner, ref=ref, digest=source.digest)
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
        if plugins is not None and name in plugins:
            return plugins[name]
        # A repository may be a plugin and list others; its own name, or none, means itself.
        is_plugin = own.problem is None and name in ("", own.name)
        if is_plugin:
            return None
        if plugins is None:
            raise SourceFailed(self._source.text, _describe_missing(name, own))
        if not name and len(plugins) == 1:
            return next(iter(plugins.values()))
        listed = ", ".join(list(plugins)[:50]) or "none"
        wanted = f"it has no plugin “{name}”" if name else "it has several plugins"
        text = self._source.text
        hint = f"write plugin:NAME@{text.removeprefix(self._source.prefix)}"
        raise SourceFailed(text, f"{wanted}; {hint} with one of {listed}")

    def fetch_plugin(self, plugin: MarketplacePlugin | None) -> str:
        """The folder of a plugin below `base`, after fetching it if it is elsewhere.

        Raises `UnusableEntry` and `SourceFailed`.
        """
        if plugin is None:
            return self.top
        inner = plugin.find_folder()
        if inner is not None:
            return posixpath.join(self.top, inner).rstrip("/")
        self._fetch_repository(plugin)
        return self.top

    def _fetch_repository(self, plugin: MarketplacePlugin) -> None:
        """Fetch a plugin that is in a repository of its own."""
        address, folder, ref = plugin.get_repository()
        try:
            repository = parse_source(address, cwd="/", home="")
            check_ref(address, ref)
            check_path(address, folder)
        except InvalidSource as error:
            raise UnusableEntry(error.problem) from error
        # Nobody typed this address; a marketplace must not lead into the own network or disk. Over
        # ssh it would also use the user's keys.
        is_git = repository.kind == GIT
        is_web = repository.location.startswith(("https://", "http://"))
        if not (is_git and is_web) or find_private_host(repository) is not None:
            raise UnusableEntry(f"{address[:200]} is not a public git repository over https")
        market = self.resolved
        repository = msgspec.structs.replace(
            repository,
            path=folder or repository.path,
            ref=self._commit or ref or repository.ref,
        )
        self.base = f"{self._scratch}/plugin"
        self.top = repository.path
        fetcher = GitFetcher(partial(_choose_all, self._source))
        self.fetched = fetcher.fetch(repository, self.base, self._context)
        # Both are locked: the list of the marketplace decides where the plugin is.
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
        all_refused = self.fetched.refused
        # Refused skills were not written, but one of this plugin must be reported.
        paths = [*tree.files, *(f"{folder}/{SKILL_FILE}" for folder in all_refused)]
        folders: set[str] = set()
        for root in parts.skills:
            folders.update(find_skill_folders(paths, within=self._relate(root.path)))
        files = tree.files
        wanted = {path: files[path] for path in files if is_inside_any(path, folders)}
        if wanted:
            copy_tree(self.base, Tree(wanted), staging)
        return {folder: all_refused[folder] for folder in all_refused if folder in folders}

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
        brought = [kind for kind, declared in others.items() if declared]
        if not brought:
            return
        *first, last = brought
        listed = f"{', '.join(first)} and {last}" if first else last
        shown = name or parts.name or "The plugin"
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
        watch = watch_download(self._inner, self._context)
        try:
            with HttpSession(seconds=_SECONDS, private_hosts=hosts, watch=watch) as session:
                data = session.get(self._inner.location, most_bytes=MOST_BYTES).body
        except FetchError as error:
            raise SourceFailed(self._source.text, error.message) from error
        write_file(self.base, MARKETPLACE_FILES[0], data)

    def _find_only_folder(self) -> str:
        """The folder that an archive has everything in; "" if it has more at its top."""
        files = LocalFiles()
        # A fetcher that found nothing has made no folder.
        if files.find_kind(self.base) != "folder":
            return ""
        listed = files.list_folder(self.base)
        if len(listed) != 1 or listed[0].kind != "folder":
            return ""
        # These are what a plugin has at its top, so the top is the plugin.
        name = listed[0].name
        return "" if name in (".claude-plugin", "skills") else name

    def _find_list(self) -> dict[str, object] | None:
        for name in MARKETPLACE_FILES:
            table = find_json(LocalFiles(), posixpath.join(self._locate(self.top), name))
            if table is not None:
                return table
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
    return choose_ordinary(source, list_inside(entries, repository.path))


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
    inside = list_inside(entries, repository.path)
    by_path = {entry.path: entry for entry in inside}
    list_paths = [posixpath.join(repository.path, file) for file in MARKETPLACE_FILES]
    lists = [by_path[path] for path in list_paths if path in by_path]
    # Only the first counts, as when it is read from the disk.
    folder = _find_plugin_folder(name, lists[0], read) if lists else None
    if folder is None:
        return choose_ordinary(source, inside)
    top = posixpath.normpath(posixpath.join(repository.path, folder))
    plugin_folder = "" if top == "." else top
    others = [entry for entry in list_inside(inside, plugin_folder) if entry not in lists]
    return choose_ordinary(source, [lists[0], *others])


def _find_plugin_folder(name: str, market_list: GitEntry, read: ReadBlob) -> str | None:
    """The folder of a plugin in a marketplace; None where all files may be needed."""
    if not name or market_list.size > MOST_BYTES:
        return None
    try:
        data = msgspec.json.decode(read(market_list), type=dict)
        plugins = parse_marketplace(data) or {}
        if name not in plugins:
            return None
        folder = plugins[name].find_folder()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, UnusableEntry):
        # It is read again from the disk, where what is wrong with it becomes a sentence.
        return None
    # A plugin with a repository of its own needs nothing but the list.
    return ".claude-plugin" if folder is None else folder
