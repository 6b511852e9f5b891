"""Every plugin of a host, on or off, as a table of finders by the word in the profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.plugins import folders
from prowess.discover.plugins.manifest import ReadPlugin, find_name_problem, read_plugin
from prowess.discover.plugins.search import Finder, FoundPlugin, PluginSearch
from prowess.errors import name_cause
from prowess.model.origin import Origin
from prowess.model.plugin import Owner, Plugin, PluginParts
from prowess.model.settings import Settings
from prowess.profiles.schema.plugins import PluginRule

# More plugins than anyone installs; a hostile list must not keep a scan busy.
MOST_PLUGINS = 2_000
# Packages are searched only where they can matter: there are many, and most bring no skills.
PACKAGES = ("python", "npm")
# What ships can start jobs and a browser, so that it is the user's to turn on, too.
_USERS_OWN: Mapping[Owner, str] = {"bundled": "what ships with Prowess"}


def find_plugins(
    search: PluginSearch, *, packages: bool = False
) -> tuple[tuple[Plugin, ...], tuple[Diagnostic, ...]]:
    """The plugins in the order of the profile, and what is wrong with their lists.

    Installed `packages` are searched only if that is asked for, or a setting turns one on.
    """
    kept = _KeptPlugins()
    for kind, rule in search.profile.plugins.items():
        is_package = rule.find in PACKAGES
        if is_package and not (packages or _may_be_on(rule, search.settings)):
            continue
        files = tuple(search.load_switches(rule))
        users_own = "an installed package" if is_package else _USERS_OWN.get(rule.owner, "")
        switches = _RuleSwitches(rule.default, search.settings, files, users_own)
        for found in _run_finder(search, rule, kept.findings):
            kept.add(_make_plugin(kind, rule, found, search, switches), rule)
            if kept.count >= MOST_PLUGINS:
                message = f"There are more than {MOST_PLUGINS:,} plugins; the rest is ignored."
                kept.findings.append(diagnose("limit-reached", message, file=found.origin))
                return tuple(kept.list()), tuple(kept.findings)
    return _drop_linked(list(kept.list()), search), tuple(kept.findings)


def _may_be_on(rule: PluginRule, settings: Settings) -> bool:
    """Whether a setting turns on a plugin that a rule can find."""
    if rule.default:
        return True
    switched_on = [id for id, is_on in settings.enabled_plugins.items() if is_on]
    # An id without a suffix may be that of any plugin.
    suffixes = {id.rpartition("@")[2] if "@" in id else rule.suffix for id in switched_on}
    return rule.suffix in suffixes


def _run_finder(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """What one rule finds; a folder that cannot be read costs that rule only."""
    finder = folders.FINDERS.get(rule.find) or _load_finder(rule.find)
    try:
        yield from finder(search, rule, findings)
    except OSError as error:
        message = f"Plugins cannot be listed here: {name_cause(error)}."
        findings.append(diagnose("plugin-list-unreadable", message, file=error.filename))


def _load_finder(word: str) -> Finder:
    # Most users have neither a list of installed plugins nor packages with skills.
    if word in ("registry", "marketplaces", "versions"):
        from prowess.discover.plugins import registries

        return registries.FINDERS[word]
    from prowess.discover.plugins import packages

    return packages.FINDERS[word]


# One plugin of each id


class _KeptPlugins:
    """The plugins so far by their id, in the order in which the ids were found."""

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []
        self.count = 0
        self._by_id: dict[str, list[Plugin]] = {}

    def list(self) -> Iterator[Plugin]:
        """All of them."""
        for plugins in self._by_id.values():
            yield from plugins

    def add(self, plugin: Plugin, rule: PluginRule) -> None:
        """Keep a plugin: the first of its id, or the last where the host has it so."""
        others = self._by_id.get(plugin.id, [])
        self.count += 1
        if not others:
            self._by_id[plugin.id] = [plugin]
        elif any(other.folder == plugin.folder for other in others):
            return
        elif rule.find == "registry" and others[0].origin == plugin.origin:
            # A list can have a plugin in several versions, for the user and for projects.
            others.append(plugin)
        elif rule.replaces:
            self._replace(plugin)
        else:
            self._report_taken(plugin, others[0])

    def _replace(self, plugin: Plugin) -> None:
        # One that is off in a project leaves the user's own as it is.
        if plugin.is_enabled or plugin.owner != "project":
            del self._by_id[plugin.id]
            self._by_id[plugin.id] = [plugin]

    def _report_taken(self, plugin: Plugin, other: Plugin) -> None:
        message = f"The plugin `{plugin.id}` is ignored: {other.folder} has the same id."
        related = (other.folder,)
        finding = diagnose("plugin-name-taken", message, file=plugin.folder, related=related)
        self.findings.append(finding)


def _drop_linked(plugins: list[Plugin], search: PluginSearch) -> tuple[Plugin, ...]:
    """The plugins without npm packages that only link to one in a list of installed plugins."""
    finders = {kind: rule.find for kind, rule in search.profile.plugins.items()}
    installed = {one.real for one in plugins if finders[one.kind] == "registry"}

    def is_linked(plugin: Plugin) -> bool:
        return finders[plugin.kind] == "node" and plugin.real in installed

    return tuple(one for one in plugins if not is_linked(one))


# What is found becomes a plugin


def _make_plugin(
    kind: str,
    rule: PluginRule,
    found: FoundPlugin,
    search: PluginSearch,
    switches: _RuleSwitches,
) -> Plugin:
    parts = found.parts or _read_parts(rule, found, search)
    named = _name_plugin(rule, found, parts)
    disabled_by, switched_in = switches.find(named.id, named.name, found, parts)
    brought = {field: getattr(parts, field) for field in PluginParts.__struct_fields__}
    return Plugin(
        **brought,
        name=named.name,
        id=named.id,
        kind=kind,
        folder=found.folder,
        origin=found.origin,
        real=search.files.find_real_path(found.folder),
        owner=found.owner or rule.owner,
        within=found.within,
        prefix=named.prefix,
        disabled_by=parts.problem or named.problem or found.off or disabled_by,
        switched_in=switched_in,
        diagnostics=(
            *found.diagnostics,
            *parts.diagnostics,
            *_check_name(found, parts, named.problem),
        ),
    )


class _PluginName(msgspec.Struct, frozen=True):
    """What a plugin is called; `prefix` comes before its skills, `problem` says what is wrong."""

    name: str
    id: str
    prefix: str
    problem: str | None


def _name_plugin(rule: PluginRule, found: FoundPlugin, parts: ReadPlugin) -> _PluginName:
    folder_name = found.folder.replace("\\", "/").rstrip("/").rpartition("/")[2]
    name = found.name or parts.name or folder_name
    # A plain folder gives its skills no name, so it can have any.
    is_named = bool(found.name) or parts.format != "plain"
    gives_prefix = is_named and rule.prefix
    problem = find_name_problem(name) if gives_prefix else None
    if problem is not None:
        # It is off, but people have to see which folder is meant.
        name, gives_prefix = folder_name, False
    suffix = rule.suffix if found.suffix is None else found.suffix
    id = f"{name}@{suffix}" if suffix else name
    return _PluginName(name, id, name if gives_prefix else "", problem)


def _read_parts(rule: PluginRule, found: FoundPlugin, search: PluginSearch) -> ReadPlugin:
    return read_plugin(
        found.folder,
        rule.manifests,
        search.files,
        needs_manifest=rule.needs_manifest,
        ignore_broken=rule.ignore_broken,
        follow_links=rule.follow_links,
        entry=found.entry,
    )


def _check_name(
    found: FoundPlugin, parts: ReadPlugin, bad_name: str | None
) -> Iterator[Diagnostic]:
    """What is wrong with the name of a plugin."""
    if bad_name is not None:
        message = f"The plugin cannot be used: {bad_name}."
        yield diagnose("plugin-invalid", message, file=parts.manifest or found.folder)
    elif found.name and parts.name and parts.name != found.name:
        message = (
            f"The plugin is installed as `{found.name}`; its manifest calls it {parts.name!a}."
        )
        yield diagnose("plugin-name-differs", message, file=parts.manifest)


# Switches


class _RuleSwitches(msgspec.Struct, frozen=True):
    """What turns the plugins of one rule on and off.

    The settings come first, then the `files` of another host, the strongest first. `users_own`
    names what only the user turns on: a clone must not choose among what is installed here.
    """

    default: bool
    settings: Settings
    files: tuple[tuple[str, Mapping[str, bool]], ...]
    users_own: str = ""

    def find(
        self, id: str, name: str, found: FoundPlugin, parts: ReadPlugin
    ) -> tuple[str | None, Origin]:
        """Why a plugin is off (None if it is on), and the file that decides."""
        for key in (id, name):
            if key in self.settings.enabled_plugins:
                return self._read_setting(key)
        for path, enabled in self.files:
            if id in enabled:
                return _explain(is_on=enabled[id]), Origin(path)
        default = self.default if found.default is None else found.default
        if default and parts.default:
            return None, Origin()
        return "the plugin is not turned on", Origin()

    def _read_setting(self, key: str) -> tuple[str | None, Origin]:
        """What the setting with the id or the name of a plugin says."""
        settings, setting = self.settings, f"enabled_plugins.{key}"
        origin = settings.origin(setting)
        if self.users_own and settings.is_from_project(setting):
            return f"only your own settings turn on {self.users_own}", origin
        return _explain(is_on=settings.enabled_plugins[key]), origin


def _explain(*, is_on: bool) -> str | None:
    return None if is_on else "the settings turn the plugin off"
