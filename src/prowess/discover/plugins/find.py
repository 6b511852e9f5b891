"""Every plugin of a host, on or off, as a table of finders by the word in the profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.plugins import folders
from prowess.discover.plugins.manifest import find_json, find_name_problem, read_plugin
from prowess.discover.plugins.search import Finder, FoundPlugin, PluginSearch
from prowess.model.origin import Origin
from prowess.model.plugin import Plugin
from prowess.model.settings import Settings
from prowess.profiles.schema.plugins import PluginRule

# More plugins than anyone installs; a hostile list must not keep a scan busy.
MOST_PLUGINS = 2_000
# Packages are searched only where they can matter: there are many, and most bring no skills.
_PACKAGES = ("python", "npm")


def find_plugins(
    search: PluginSearch, *, packages: bool = False
) -> tuple[tuple[Plugin, ...], tuple[Diagnostic, ...]]:
    """The plugins in the order of the profile, and what is wrong with their lists.

    Installed `packages` are searched only if that is asked for, or a setting turns one on.
    """
    plugins: dict[str, Plugin] = {}
    findings: list[Diagnostic] = []
    for kind, rule in search.profile.plugins.items():
        if rule.find in _PACKAGES and not (packages or _may_be_on(rule, search.settings)):
            continue
        for found in _run_finder(search, rule, findings):
            plugin = _make_plugin(kind, rule, found, search)
            _keep(plugins, plugin, rule, findings)
            if len(plugins) >= MOST_PLUGINS:
                message = f"There are more than {MOST_PLUGINS:,} plugins; the rest is ignored."
                findings.append(diagnose("limit-reached", message, file=found.origin))
                return tuple(plugins.values()), tuple(findings)
    return _drop_linked(plugins.values(), search), tuple(findings)


def _drop_linked(plugins: Iterable[Plugin], search: PluginSearch) -> tuple[Plugin, ...]:
    """The plugins without npm packages that only link to one in a list of installed plugins."""
    rules, find = search.profile.plugins, search.files.find_real_path
    packages = [one for one in plugins if rules[one.kind].find == "node"]
    if not packages:
        return tuple(plugins)
    installed = {find(one.folder) for one in plugins if rules[one.kind].find == "registry"}
    linked = {one.id for one in packages if find(one.folder) in installed}
    return tuple(one for one in plugins if one.id not in linked)


def _may_be_on(rule: PluginRule, settings: Settings) -> bool:
    """Whether a setting turns on a plugin that a rule can find."""
    if rule.default:
        return True
    switched_on = [id for id, is_on in settings.enabled_plugins.items() if is_on]
    return any("@" not in id or id.endswith(f"@{rule.suffix}") for id in switched_on)


def _run_finder(
    search: PluginSearch, rule: PluginRule, findings: list[Diagnostic]
) -> Iterator[FoundPlugin]:
    """What one rule finds; a file that surprises its finder costs that rule only."""
    finder = folders.FINDERS.get(rule.find) or _load_finder(rule.find)
    try:
        yield from finder(search, rule, findings)
    except OSError as error:
        cause = error.strerror or str(error)
        message = f"Plugins cannot be listed here: {cause}."
        findings.append(diagnose("plugin-list-unreadable", message, file=error.filename))


def _keep(
    plugins: dict[str, Plugin], plugin: Plugin, rule: PluginRule, findings: list[Diagnostic]
) -> None:
    """Keep one plugin of each id: the first, or the last where the host has it so."""
    other = plugins.get(plugin.id)
    if other is None:
        plugins[plugin.id] = plugin
        return
    if other.folder == plugin.folder:
        return
    if rule.replaces:
        # One that is off in a project leaves the user's own as it is.
        if plugin.is_enabled or plugin.owner != "project":
            del plugins[plugin.id]
            plugins[plugin.id] = plugin
        return
    message = f"The plugin `{plugin.id}` is ignored: {other.folder} has the same id."
    finding = diagnose("plugin-name-taken", message, file=plugin.folder, related=(other.folder,))
    findings.append(finding)


def _make_plugin(kind: str, rule: PluginRule, found: FoundPlugin, search: PluginSearch) -> Plugin:
    parts = found.parts
    if parts is None:
        parts = read_plugin(
            found.folder,
            rule.manifests,
            search.files,
            needs_manifest=rule.needs_manifest,
            ignore_broken=rule.ignore_broken,
            entry=found.entry,
        )
    name = found.name or parts.name or _name_folder(found.folder)
    problem = parts.problem
    diagnostics = (*found.diagnostics, *parts.diagnostics)
    bad_name = find_name_problem(name)
    if bad_name is not None:
        problem = problem or bad_name
        message = f"The plugin cannot be used: {bad_name}."
        file = parts.manifest or found.folder
        diagnostics = (*diagnostics, diagnose("plugin-invalid", message, file=file))
        name = _name_folder(found.folder)
    elif found.name and parts.name and parts.name != found.name:
        message = f"The plugin is installed as `{name}`; its manifest calls it {parts.name!a}."
        finding = diagnose("plugin-name-differs", message, file=parts.manifest)
        diagnostics = (*diagnostics, finding)
    suffix = rule.suffix if found.suffix is None else found.suffix
    id = f"{name}@{suffix}" if suffix else name
    default = rule.default if found.default is None else found.default
    disabled_by, switched_in = _find_switch(
        (id, name), rule, search, default=default and parts.default
    )
    is_named = parts.format != "plain" or bool(found.name)
    return Plugin(
        name=name,
        id=id,
        kind=kind,
        folder=found.folder,
        origin=found.origin,
        real=search.files.find_real_path(found.folder),
        owner=found.owner or rule.owner,
        format=parts.format,
        version=parts.version,
        description=parts.description,
        skills=parts.skills,
        commands=parts.commands,
        agents=parts.agents,
        hook_files=parts.hook_files,
        server_files=parts.server_files,
        inline=parts.inline,
        manifest=parts.manifest,
        within=found.within,
        prefix=name if rule.prefix and is_named and bad_name is None else "",
        disabled_by=problem or found.off or disabled_by,
        switched_in=switched_in,
        diagnostics=diagnostics,
    )


def _find_switch(
    names: Sequence[str], rule: PluginRule, search: PluginSearch, *, default: bool
) -> tuple[str | None, Origin]:
    """Why a plugin is off (None if it is on), and the file that decides."""
    settings = search.settings
    for name in names:
        if name in settings.enabled_plugins:
            origin = settings.origin(f"enabled_plugins.{name}")
            is_on = settings.enabled_plugins[name]
            return None if is_on else "the settings turn the plugin off", origin
    for path, enabled in _load_switches(search, rule):
        if names[0] in enabled:
            is_on = enabled[names[0]]
            return None if is_on else "the settings turn the plugin off", Origin(path)
    return None if default else "the plugin is not turned on", Origin()


def _load_switches(
    search: PluginSearch, rule: PluginRule
) -> Iterator[tuple[str, Mapping[str, bool]]]:
    """What the files of another host turn on and off, the strongest file first."""
    paths = [path for one in rule.switches for path in search.expand_template(one, rule)]
    for path in dict.fromkeys(reversed(paths)):
        data = find_json(search.files, path) or {}
        enabled = data.get("enabledPlugins")
        if isinstance(enabled, dict):
            yield path, {id: is_on for id, is_on in enabled.items() if isinstance(is_on, bool)}


def _name_folder(folder: str) -> str:
    return folder.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _load_finder(word: str) -> Finder:
    # Most users have neither a list of installed plugins nor packages with skills.
    if word in ("registry", "marketplaces", "versions"):
        from prowess.discover.plugins import registries

        return registries.FINDERS[word]
    from prowess.discover.plugins import packages

    return packages.FINDERS[word]
