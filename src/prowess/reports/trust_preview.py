"""What trusting a project would let run, start and fetch: commands, hooks, servers, sources.

Trust covers a whole folder, so a preview must not miss anything in it. The project is therefore
seen in three ways, and what any of them finds is shown: as the hosts see it from its root and from
the working folder, as they would once files of nested folders are touched, and file by file, for
someone who starts an agent in any folder below.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

import msgspec

from prowess.conversation.dormant import DormantSkills
from prowess.errors import MachineError
from prowess.machine.project_folders import MOST_FOLDERS, find_holders
from prowess.model.hooks import Hook
from prowess.model.mcp import McpServer
from prowess.model.plugin_contents import PluginContents
from prowess.model.settings import Origin, Settings
from prowess.model.skill import LoadedFrom, Scope, Skill
from prowess.model.snapshot import Snapshot
from prowess.parse.header.fast import read_header
from prowess.parse.header.fences import split_body
from prowess.parse.header.lines import decode
from prowess.ports import FileSystem, Reporter
from prowess.runtime import Skills
from prowess.shell.configured_tools import render_template
from prowess.shell.embedded_commands import find_commands
from prowess.state.server_trust import mark_trusted
from prowess.text.mcp_servers import list_variables

T = TypeVar("T")

# Whether their commands run does not depend on a project.
_NOT_OF_A_PROJECT = (Scope.USER, Scope.MANAGED, Scope.BUNDLED, Scope.REMOTE)

_SKILL_FILE = "SKILL.md"
_SETTINGS_FILE = "prowess.toml"
# What the folders below may have in which a host finds MCP servers.
_SERVER_FILES = (".mcp.json", "opencode.json", "opencode.jsonc", ".opencode", ".omp")
_MOST_BYTES = 1 << 24

# The hosts whose files have hooks, MCP servers or URLs of skills, whichever is asked about now.
_HOSTS_WITH_PROGRAMS = ("claude-code", "opencode", "omp")
# The fields of a hook that say what it does.
_HOOK_ACTIONS = ("command", "url", "prompt")


class RunnableSkill(msgspec.Struct, frozen=True):
    """A skill that runs something: its commands as written, and its hooks as `event: action`."""

    name: str
    location: str
    commands: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


class DeclaredSetting(msgspec.Struct, frozen=True):
    """What a project's settings declare: a program, a server, a URL, or a variable's name.

    `sets` are the names of the variables and headers that a server gets, and `uses` those of your
    variables that it asks for. Their values are secret.
    """

    name: str
    origin: Origin
    command: str = ""
    sets: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


class TrustPreview(msgspec.Struct, frozen=True):
    """Everything that trusting a project would let run now.

    `unread` are files that could not be read. `is_cut` means that not every folder was searched.
    """

    skills: tuple[RunnableSkill, ...] = ()
    tools: tuple[DeclaredSetting, ...] = ()
    variables: tuple[DeclaredSetting, ...] = ()
    hooks: tuple[DeclaredSetting, ...] = ()
    servers: tuple[DeclaredSetting, ...] = ()
    sources: tuple[DeclaredSetting, ...] = ()
    unread: tuple[str, ...] = ()
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing would run."""
        declared = (*self.tools, *self.variables, *self.hooks, *self.servers, *self.sources)
        return not (self.skills or declared)

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "skills": [msgspec.to_builtins(one) for one in self.skills],
            "tools": [
                {"name": one.name, "command": one.command, **msgspec.to_builtins(one.origin)}
                for one in self.tools
            ],
            "hooks": [
                {"event": one.name, "command": one.command, **msgspec.to_builtins(one.origin)}
                for one in self.hooks
            ],
            "servers": [
                {
                    "name": one.name,
                    "target": one.command,
                    "sets": list(one.sets),
                    "uses": list(one.uses),
                    **msgspec.to_builtins(one.origin),
                }
                for one in self.servers
            ],
            "sources": [
                {"name": one.name, "url": one.command, **msgspec.to_builtins(one.origin)}
                for one in self.sources
            ],
            "variables": [
                {"name": one.name, **msgspec.to_builtins(one.origin)} for one in self.variables
            ],
            "unread": list(self.unread),
            "is_cut": self.is_cut,
        }


def preview_trust(
    root: str, folder: str, host: str | None = None, *, reporter: Reporter | None = None
) -> TrustPreview:
    """What a project would run, as seen from its root, from `folder`, and from any folder below.

    Prowess's own rules are used, because they read the folders of every host; those of a `host`
    may find more.
    """
    # Without duplicates: the root may be the working folder, and the host may be Prowess.
    hosts = list(dict.fromkeys(("prowess", host or "prowess")))
    folders = list(dict.fromkeys((root, folder)))
    views = [Skills(cwd, host=by, reporter=reporter) for cwd in folders for by in hosts]
    files = views[0].project.files
    # The first ones look from the root, so that nested folders are searched once for each host.
    nested = [_scan_nested(skills) for skills in views[: len(hosts)]]
    # Ignored folders too: what git ignores, an agent can be started in.
    everywhere = find_holders(
        root, (_SKILL_FILE, _SETTINGS_FILE, *_SERVER_FILES), with_ignored=True, most=MOST_FOLDERS
    )
    snapshots = [*(view.snapshot for view in views), *(snapshot for snapshot, _ in nested)]
    skills, unread = _read_bodies(_gather_skills(snapshots, root, files))
    loose, unread_loose = _read_loose(everywhere.folders, views[0])
    own_settings = [view.project.load_own_settings() for view in views]
    own_settings += _load_nested_settings(everywhere.folders, files)
    all_settings = [*own_settings, *_load_host_settings(folders, hosts)]
    all_settings += _load_server_files(everywhere.folders, files)
    hooks = chain(_gather(_list_hooks, all_settings), _gather(_list_plugin_hooks, views))
    return TrustPreview(
        skills=_merge_skills(skills, loose),
        tools=_sort_settings(_gather(_list_tools, own_settings)),
        variables=_sort_settings(_gather(_list_variables, own_settings)),
        hooks=_sort_settings(hooks),
        servers=_sort_settings(_gather_servers(all_settings, views, root)),
        sources=_sort_settings(_gather(_list_sources, all_settings)),
        unread=tuple(dict.fromkeys((*unread, *unread_loose))),
        is_cut=everywhere.is_cut or any(is_cut for _, is_cut in nested),
    )


def _merge_skills(
    scanned: Iterable[RunnableSkill], loose: Iterable[RunnableSkill]
) -> tuple[RunnableSkill, ...]:
    """Each file once, by name; a scan knows the name of a skill better than its file alone."""
    by_location = {one.location: one for one in (*loose, *scanned)}
    return tuple(sorted(by_location.values(), key=lambda one: (one.name, one.location)))


def _load_host_settings(folders: Iterable[str], hosts: Iterable[str]) -> list[Settings]:
    read_as = list(dict.fromkeys((*hosts, *_HOSTS_WITH_PROGRAMS)))
    return [Skills(cwd, host=by).settings() for cwd in folders for by in read_as]


def _gather(
    find: Callable[[T], Iterable[DeclaredSetting]], where: Iterable[T]
) -> Iterator[DeclaredSetting]:
    return chain.from_iterable(map(find, where))


def _read_loose(folders: Iterable[str], skills: Skills) -> tuple[list[RunnableSkill], list[str]]:
    """What every SKILL.md runs, wherever it is, and those that cannot be read.

    An agent that works in its folder may load it. Its header is read as leniently as any host
    would, and its folder names it where it has no name.
    """
    files, rules = skills.project.files, skills.profile.header
    runnable: list[RunnableSkill] = []
    unread: list[str] = []
    for folder in folders:
        location = f"{folder}/{_SKILL_FILE}"
        try:
            data = files.read_head(location, _MOST_BYTES).data
        except (FileNotFoundError, NotADirectoryError):
            # Most folders are listed for another file.
            continue
        except OSError:
            unread.append(location)
            continue
        header = read_header(data, rules=rules, limits=skills.profile.limits).frontmatter
        text, _ = decode(data, rules)
        commands = _list_commands(split_body(text, rules=rules))
        hooks = tuple(describe_hooks(header.get("hooks")))
        if commands or hooks:
            name = str(header.get("name") or folder.rpartition("/")[2])
            runnable.append(RunnableSkill(name, location, commands, hooks))
    return runnable, unread


def _list_commands(body: str) -> tuple[str, ...]:
    return tuple(command.text for command in find_commands(body).commands)


def _load_nested_settings(folders: Iterable[str], files: FileSystem) -> list[Settings]:
    """The settings of every folder that has a prowess.toml, as they apply to someone there."""
    with_settings = [
        folder for folder in folders if files.find_kind(f"{folder}/{_SETTINGS_FILE}") == "file"
    ]
    return [Skills(folder).project.load_own_settings() for folder in with_settings]


def _load_server_files(folders: Iterable[str], files: FileSystem) -> list[Settings]:
    """The settings of every folder with a file that may name servers, as they apply there."""
    loaded = []
    for folder in folders:
        # Most folders are listed for their SKILL.md alone.
        has_server_file = any(files.find_kind(f"{folder}/{name}") for name in _SERVER_FILES)
        if has_server_file:
            loaded += _load_host_settings([folder], ())
    return loaded


def _is_inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _scan_nested(skills: Skills) -> tuple[Snapshot, bool]:
    """A scan as if files everywhere below had been touched, and whether folders were left out.

    Hosts add the skills of a nested folder once the agent touches a file there.
    """
    rules = skills.profile.conditions
    templates = [template for id in rules.below for template in skills.profile.roots[id].at]
    prefix = "{ancestor}/"
    names = {one.split("/")[1] for one in templates if one.startswith(prefix)}
    if not names:
        return skills.snapshot, False
    walked = find_holders(skills.cwd, names, skip_names=rules.below_skips, most=MOST_FOLDERS)
    nested = DormantSkills(skills.project, folders=walked.folders)
    return nested.wake_in(skills.snapshot), walked.is_cut


def _gather_skills(snapshots: Iterable[Snapshot], root: str, files: FileSystem) -> list[Skill]:
    """The skills of a project, each once, by name."""
    found: dict[str, Skill] = {}
    for snapshot in snapshots:
        found.update((skill.location, skill) for skill in _list_inside(snapshot, root, files))
    return sorted(found.values(), key=lambda one: (one.name, one.location))


def _list_inside(snapshot: Snapshot, root: str, files: FileSystem) -> Iterator[Skill]:
    """The skills in a project, whatever their state: another host may use them, or a later scan."""
    for outcome in snapshot.outcomes:
        skill = outcome.skill
        if skill is not None and _may_depend_on_project(skill) and _lies_in(skill, root, files):
            yield skill


def _may_depend_on_project(skill: Skill) -> bool:
    # Commands of an MCP server never run, so trusting the project changes nothing for them.
    is_from_mcp = skill.source.loaded_from is LoadedFrom.MCP
    return skill.scope not in _NOT_OF_A_PROJECT and not is_from_mcp


def _lies_in(skill: Skill, root: str, files: FileSystem) -> bool:
    # Symlinks are followed, because trust depends on where a file really is. The file and its
    # folder may be links to different places.
    location = files.find_real_path(skill.location) or skill.location
    folder = files.find_real_path(skill.folder) or skill.folder
    return _is_inside(location, root) or _is_inside(folder, root)


def _read_bodies(skills: list[Skill]) -> tuple[list[RunnableSkill], list[str]]:
    runnable, unread = [], []
    for skill in skills:
        try:
            body = skill.load().content
        except (OSError, MachineError):
            # The user has to know that nobody could see what this one would run.
            unread.append(skill.location)
            body = ""
        commands = _list_commands(body)
        hooks = tuple(describe_hooks(skill.manifest.hooks))
        if commands or hooks:
            runnable.append(RunnableSkill(skill.name, skill.location, commands, hooks))
    return runnable, unread


def describe_hooks(hooks: Any) -> Iterator[str]:
    """The hooks of a header as `event: action`, or the event alone where it has no action.

    The table is untrusted: it is taken as written, whether an agent could use it or not.
    """
    if not isinstance(hooks, dict):
        return
    for event, declared in hooks.items():
        actions = list(_find_actions(declared))
        if not actions:
            yield str(event)
        yield from (f"{event}: {action}" for action in actions)


def _find_actions(declared: Any) -> Iterator[str]:
    # Hosts nest hooks differently (lists of matchers with lists of hooks), and a header may be
    # wrong; an action is found at any depth.
    if isinstance(declared, list | tuple):
        for nested in declared:
            yield from _find_actions(nested)
    elif isinstance(declared, dict):
        for key, value in declared.items():
            is_action = key in _HOOK_ACTIONS and isinstance(value, str)
            if is_action:
                yield value
            else:
                yield from _find_actions(value)


def _list_tools(settings: Settings) -> Iterator[DeclaredSetting]:
    for name, tool in settings.tools.items():
        key = f"tools.{name}"
        if settings.is_from_project(key):
            yield DeclaredSetting(name, settings.origin(key), render_template(tool.command))


def _list_hooks(settings: Settings) -> Iterator[DeclaredSetting]:
    for hook in settings.hooks:
        if hook.source == "project":
            yield _declare_hook(hook)


def _list_foreign_plugins(skills: Skills) -> list[PluginContents]:
    """The plugins that need trust; those that the user installed do not depend on a project."""
    trust = skills.project.open_trust()
    return [one for one in skills.plugins() if not trust.is_own_plugin(one.plugin)]


def _list_plugin_hooks(skills: Skills) -> Iterator[DeclaredSetting]:
    for contents in _list_foreign_plugins(skills):
        yield from map(_declare_hook, contents.hooks)


def _declare_hook(hook: Hook) -> DeclaredSetting:
    # One that is no command, such as a prompt, has no text that would run.
    return DeclaredSetting(hook.event, hook.origin, hook.command or f"({hook.kind})")


def _gather_servers(
    all_settings: Iterable[Settings], views: Sequence[Skills], root: str
) -> list[DeclaredSetting]:
    """The servers of plugins, then those of settings files."""
    of_plugins = list(chain.from_iterable(map(_list_plugin_servers, views)))
    # Someone who works in the folder of a plugin has its file as one of a project. It is one file,
    # in which the servers have no plugin in their names.
    known = {(one.origin.file, one.name.partition(":")[2]) for one in of_plugins}
    of_settings: list[McpServer] = []
    for settings in all_settings:
        of_settings += _list_servers(settings, root, views[0])
    others = [one for one in of_settings if (one.origin.file, one.name) not in known]
    return [_declare_server(server) for server in (*of_plugins, *others)]


def _list_servers(settings: Settings, root: str, skills: Skills) -> Iterator[McpServer]:
    """The MCP servers that would not be started without trust in the project."""
    home = skills.project.facts.home
    servers = settings.mcp_servers.values()
    # As if nothing were trusted: a project that is trusted already is shown in the same way.
    for server in mark_trusted(servers, lambda folder: False, project=root, home=home):
        if server.enabled and not server.is_trusted:
            yield server


def _list_plugin_servers(skills: Skills) -> Iterator[McpServer]:
    return chain.from_iterable(one.servers for one in _list_foreign_plugins(skills))


def _declare_server(server: McpServer) -> DeclaredSetting:
    # The whole URL, and each argument in quotes: nothing that is started may look like less.
    is_program = server.transport == "stdio"
    target = shlex.join((server.command, *server.args)) if is_program else server.url
    return DeclaredSetting(
        server.name,
        server.origin,
        target,
        sets=tuple(sorted((*server.env, *server.headers))),
        uses=list_variables(server),
    )


def _list_sources(settings: Settings) -> Iterator[DeclaredSetting]:
    for name, source in settings.sources.items():
        key = f"sources.{name}"
        if source.enabled and settings.is_from_project(key):
            yield DeclaredSetting(name, settings.origin(key), source.url)
    # opencode lists bare URLs, to which the user's file and the project's both add.
    for url in settings.remote_urls:
        origin = settings.entry_origin("remote_urls", url)
        if origin.file in settings.project_files:
            yield DeclaredSetting(url, origin, url)


def _list_variables(settings: Settings) -> Iterator[DeclaredSetting]:
    # Only the names: a value is a secret, and the preview is shown on a screen.
    for skill, override in settings.overrides.items():
        fields = (*(f"env.{name}" for name in override.env), "api_key")
        for field in fields:
            key = f"overrides.{skill}.{field}"
            if settings.is_from_project(key):
                shown = f"{skill}: {field.removeprefix('env.')}"
                yield DeclaredSetting(shown, settings.origin(key))


def _sort_settings(declared: Iterable[DeclaredSetting]) -> tuple[DeclaredSetting, ...]:
    """Each once: several views of a project read the same files."""
    return tuple(sorted(set(declared), key=_rank_setting))


def _rank_setting(declared: DeclaredSetting) -> tuple[str, str, int, str]:
    origin = declared.origin
    return declared.name, origin.file or "", origin.line or 0, declared.command
