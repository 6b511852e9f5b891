"""Skills: the skills of a working folder, as one host sees them. The surface over scans, catalogs
and conversations.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, Unpack

import msgspec

from prowess.diagnostics import Diagnostic, diagnose
from prowess.discover.changes import ChangeCheck
from prowess.discover.roots import make_root
from prowess.errors import ProwessError, UnknownSkill
from prowess.model.settings import Settings
from prowess.model.skill import Scope, Skill, Source
from prowess.model.snapshot import Snapshot
from prowess.ports import Listener
from prowess.profiles.places import Place, Places
from prowess.profiles.schema.roots import RootRule
from prowess.project.host_view import compose_view, open_view
from prowess.project.options import CatalogOptions, OpenOptions, Options
from prowess.project.project import Project

if TYPE_CHECKING:
    from prowess.activate.code_skills import DefinedSkill
    from prowess.activate.model_tool import ModelTool
    from prowess.activate.resources.lookup import Resource
    from prowess.activate.slash.commands import CommandIndex
    from prowess.activate.slash.dispatch import Cancel, ToolFunction
    from prowess.activate.slash.messages import Key
    from prowess.conversation.conversation import Conversation
    from prowess.conversation.slash_commands import RunResult
    from prowess.discover.context import ContextFiles
    from prowess.model.activation import Activation
    from prowess.model.catalog import Catalog
    from prowess.model.facts import Facts
    from prowess.model.permission import Rule
    from prowess.model.plugin_contents import PluginContents
    from prowess.model.usage import Caller
    from prowess.ports import Approver, Ranker, Reporter, Runner, SecretStore, UsageStore
    from prowess.sources import AnySource


# A program that opens ever new folders must not keep them all.
_MOST_OPEN = 256
_LEAST_SECONDS = 1.0
_MOST_SECONDS = 5.0


class Refresher:
    """When to look for changes of one scan.

    At most once a second; after a scan that took long a little later, so that files which change
    all the time do not keep a program busy with scans. With `seconds` the scan is outdated after
    that time, whatever has changed.
    """

    def __init__(
        self, check: ChangeCheck, *, began: float, ended: float, seconds: float | None
    ) -> None:
        self._check = check
        pause = max(_LEAST_SECONDS, min(2 * (ended - began), _MOST_SECONDS))
        self._next = ended + pause
        self._expires = None if seconds is None else ended + seconds

    def is_due(self) -> bool:
        """Whether enough time has passed since the last look."""
        return time.monotonic() >= self._next

    def has_changed(self) -> bool:
        """Whether to scan again. The next look is due after a pause."""
        now = time.monotonic()
        self._next = now + _LEAST_SECONDS
        if self._expires is not None and now >= self._expires:
            return True
        return self._check.has_changed()


class Skills:
    """The skills of one working folder, as one host sees them.

    Nothing is read until it is asked for. `Skills.open` gives the same object for the same folder
    and host until it is closed.
    """

    _open: ClassVar[dict[tuple[str, str], Skills]] = {}
    _lock = threading.Lock()

    def __init__(
        self,
        path: str | os.PathLike[str] = ".",
        *,
        host: str = "prowess",
        on_event: Listener | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._begin(Project(open_view(path, host, **options), **options), on_event)

    def _begin(self, project: Project, on_event: Listener | None) -> None:
        self.project = project
        self.cwd = self.project.cwd
        self.host = self.project.host
        self.facts = self.project.facts
        self.profile = self.project.profile
        self._on_event = on_event
        self._snapshot: Snapshot | None = None
        self._availability: tuple[bool, ...] = ()
        self._conversation: Conversation | None = None
        self._scan_lock = threading.RLock()
        self._refresh_lock = threading.Lock()
        self._refresher: Refresher | None = None
        self._memo_key: tuple[str, str] | None = None

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        host: str = "prowess",
        **options: Unpack[OpenOptions],
    ) -> Skills:
        """The skills of a working folder as a person has them there: those of the project and of
        their home folder, with their settings. Programs for others use `Skills.of`.

        The last few hundred are kept: a second call for the same folder and host gives the same
        object, without a new scan. Calls
        with options of their own (facts, files, listeners …) always give a new one.
        """
        if options:
            return cls(path, host=host, **options)
        key = (os.path.abspath(path), host)
        with cls._lock:
            # The last one used is at the end, and the first goes where there are too many.
            skills = cls._open.pop(key, None) or cls(path, host=host)
            skills._memo_key = key
            cls._open[key] = skills
            while len(cls._open) > _MOST_OPEN:
                del cls._open[next(iter(cls._open))]
            return skills

    @classmethod
    def of(
        cls,
        *sources: AnySource,
        host: str = "prowess",
        cwd: str | os.PathLike[str] = ".",
        agent: str | None = None,
        rules: Iterable[Rule] = (),
        trust: bool | Callable[[Skill], bool] | None = None,
        facts: Facts | None = None,
        cache: str | os.PathLike[str] | None = None,
        usage: UsageStore | None = None,
        reporter: Reporter | None = None,
        on_event: Listener | None = None,
    ) -> Skills:
        """The skills of these sources and no others, for programs that serve many people.

        Nothing is read that is not named: no home, no settings files, no list of trusted projects,
        no cache and no database. Of the environment only PATH is used, to find the programs that
        skills require. `trust` replaces what the sources say: all, none, or what a function decides
        for each skill. `cwd` is where commands of skills run. `facts` replace those of this
        machine, `cache` is a folder for what scans read, and `usage` a store that counts uses.
        """
        view = compose_view(
            sources, cwd=cwd, host=host, facts=facts, cache=cache, agent=agent, rules=rules
        )
        counts = False if usage is None else usage
        project = Project(view, trust=trust, usage=counts, reporter=reporter)
        made = cls.__new__(cls)
        made._begin(project, on_event)
        return made

    @classmethod
    def from_folder(
        cls,
        folder: str | os.PathLike[str],
        *,
        source: str = "custom:user",
        host: str = "prowess",
        **options: Unpack[OpenOptions],
    ) -> Skills:
        """The skills of one folder, found and read like all others.

        `source` is `provider:level`, and the label of these skills.
        """
        path = os.path.abspath(folder)
        provider, _, level = source.partition(":")
        found = cls(path, host=host, **options)
        rule = found.profile.roots.get("custom") or RootRule(at=(), scope=Scope.ADDED)
        described = Source(provider, level or "user", path, rule.loaded_from, source)
        root = make_root("custom", msgspec.structs.replace(rule, must_exist=True), Place(path, 0))
        found.project.search_only((msgspec.structs.replace(root, source=described),))
        return found

    @property
    def snapshot(self) -> Snapshot:
        """What was found; scanned when it is first asked for, then kept until it changes."""
        current = self._snapshot
        # Skills in code may become available or not at any time.
        if current is None or self._availability != self._list_available():
            return self._scan_once(current)
        if self._refresher is not None and self._refresher.is_due():
            self._refresh(self._refresher)
        return self._snapshot or current

    def find_fresh(self) -> Snapshot | None:
        """The snapshot, if nothing has to be read for it: no scan, and no look for changes."""
        snapshot, refresher = self._snapshot, self._refresher
        if refresher is not None and refresher.is_due():
            return None
        return snapshot if self._availability == self._list_available() else None

    def _list_available(self) -> tuple[bool, ...]:
        """Which of the skills that are defined in code are there just now."""
        defined = self.project.registered.skills
        return () if defined is None else tuple(skill.is_available for skill in defined)

    def _scan_once(self, current: Snapshot | None) -> Snapshot:
        """Scan, unless another thread has done so meanwhile."""
        with self._scan_lock:
            kept = self._snapshot
            is_available = self._availability == self._list_available()
            if kept is not None and kept is not current and is_available:
                return kept
            return self.reload()

    def _refresh(self, refresher: Refresher) -> None:
        """Scan again if something has changed. Other threads go on with what there is."""
        if not self._refresh_lock.acquire(blocking=False):
            return
        try:
            if refresher.is_due() and refresher.has_changed():
                self.reload()
        except ProwessError as error:
            # A folder that is gone for a moment must not fail every request.
            message = f"The skills could not be read again and are as they were: {error}"
            self._keep_with(diagnose("refresh-failed", message))
        finally:
            self._refresh_lock.release()

    def _keep_with(self, finding: Diagnostic) -> None:
        snapshot = self._snapshot
        if snapshot is not None and finding not in snapshot.diagnostics:
            found = (*snapshot.diagnostics, finding)
            self._snapshot = msgspec.structs.replace(snapshot, diagnostics=found)

    def refresh(self) -> Snapshot:
        """Look for changes on disk now, and scan again only if there are any."""
        refresher = self._refresher
        if self._snapshot is None or refresher is None or refresher.has_changed():
            return self.reload()
        return self.snapshot

    def reload(self) -> Snapshot:
        """Scan again. The new snapshot has what changed on disk; the old one stays as it was."""
        with self._scan_lock:
            self._availability = self._list_available()
            if self.project.is_watched or self.project.seconds is not None:
                began = time.monotonic()
                snapshot, collisions, check = self.project.scan_watched()
                self._refresher = Refresher(
                    check, began=began, ended=time.monotonic(), seconds=self.project.seconds
                )
            else:
                snapshot, collisions = self.project.scan()
            self._snapshot = snapshot
        if self._on_event is not None:
            from prowess.resolve.events import find_events

            published = self.profile.resolution.collisions
            # The listener is called without the lock: it may ask for the snapshot.
            for event in find_events(snapshot.outcomes, collisions, published=published):
                self._on_event(event)
        return snapshot

    def close(self) -> None:
        """Release everything; the next `Skills.open` of this folder scans again."""
        with Skills._lock:
            key, self._memo_key = self._memo_key, None
            if key is not None and Skills._open.get(key) is self:
                del Skills._open[key]
        self._snapshot = None
        self._refresher = None
        self._conversation = None
        self.project.close()

    def __enter__(self) -> Skills:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Skill]:
        return iter(self.snapshot.skills)

    def get(self, name: str) -> Skill:
        """The skill of a name, ready or not. Raises `UnknownSkill`, which has the nearest names."""
        outcome = self.snapshot.find(name)
        if outcome is None or outcome.skill is None:
            raise UnknownSkill(name, [one.name for one in self.snapshot.shown])
        return outcome.skill

    def folders(self) -> tuple[str, ...]:
        """The folder of every skill that was read, sorted; also of those that lost their name to
        another.
        """
        found = {one.skill.folder for one in self.snapshot.outcomes if one.skill is not None}
        return tuple(sorted(found - {""}))

    def plugins(self, *, packages: bool = False) -> tuple[PluginContents, ...]:
        """The plugins of the host, on or off, with their agents, hooks and MCP servers as values.

        Nothing of them is run. An agent uses those that are `is_usable`: turned on, and installed
        by the user or brought by a project that the user trusts. With `packages`, installed
        packages that bring skills are there, too, although nobody turned them on.
        """
        from prowess.discover.plugins.contents import load_contents

        plugins = self.project.load_plugins(packages=packages)
        if not plugins:
            return ()
        trust, files = self.project.open_trust(), self.project.files
        covers_projects = self.project.load_own_settings().trust != "content"
        found = []
        for plugin in plugins:
            # Trust in content is about skills: nobody approved the other files of a plugin.
            is_trusted = trust.is_own_plugin(plugin) or (
                covers_projects and trust.is_trusted_folder(plugin.folder)
            )
            found.append(load_contents(plugin, files, is_trusted=is_trusted))
        return tuple(found)

    def context_files(self) -> ContextFiles:
        """The context files (AGENTS.md and similar) that apply here, farthest first."""
        from prowess.discover.context import find_context_files

        trusted = self.settings().trusted_links
        return find_context_files(
            self.profile.context, self.find_places(), self.project.files, trusted_links=trusted
        )

    def settings(self) -> Settings:
        """The settings that apply here, each with the file it came from."""
        return self.project.load_settings()

    def usage(self) -> UsageStore:
        """How often skills were offered and used on this machine; a store that counts nothing where
        that is off.
        """
        return self.project.open_usage()

    def find_places(self) -> Places:
        """The folders that the profile's templates name, before any setting is read."""
        return self.project.find_places()

    def catalog(
        self,
        *,
        context_tokens: int | None = None,
        characters: int | None = None,
        format: str | None = None,
        request: str | None = None,
        ranker: Ranker | None = None,
        can_read_skill_urls: bool = True,
    ) -> Catalog:
        """What a model is shown of the skills that are ready, within the host's budget.

        `characters` and `format` replace the host's own. With a `request` and a `ranker`, what fits
        the request comes first.
        """
        snapshot = self.snapshot if self._conversation is None else self._conversation.snapshot
        return self.project.offer(
            snapshot,
            uses=self.project.load_uses(snapshot),
            context_tokens=context_tokens,
            characters=characters,
            format=format,
            request=request,
            ranker=ranker,
            can_read_skill_urls=can_read_skill_urls,
        )

    def conversation(
        self,
        *,
        session: str | None = None,
        effort: str | int | None = None,
        saved: str | None = None,
        taken: Iterable[str] = (),
        approver: Approver | None = None,
        runner: Runner | None = None,
        secrets: SecretStore | None = None,
        include: Iterable[str] = ("*",),
        exclude: Iterable[str] = (),
        allow: Callable[[Skill], bool] | None = None,
        count: bool = True,
    ) -> Conversation:
        """A new conversation, or one that goes on from what was `saved`.

        `include` and `exclude` are names or patterns (`deploy-*`) of skills, and `allow` decides
        for each skill: what one of them leaves out does not exist in this conversation.

        `session` is its id, `effort` how hard the model thinks, `taken` the names of the agent's
        own commands. The `approver` is asked where the rules say so; without one, that is refused.
        `runner` and `secrets` replace those of this machine. Where uses are counted (the option
        `usage`), those of this conversation are not without `count`.
        """
        from prowess.conversation.conversation import Conversation
        from prowess.conversation.services import open_services
        from prowess.conversation.skill_filter import SkillFilter

        services = open_services(
            self.project,
            self,
            approver=approver,
            runner=runner,
            secrets=secrets,
            session=session,
            effort=effort,
            taken=taken,
            chosen=SkillFilter(include, exclude, allow),
            count=count,
        )
        return Conversation(services, saved=saved)

    @property
    def default_conversation(self) -> Conversation:
        """The conversation that the methods below use. It has no id and no approver.

        It is for scripts and for programs of one person: everybody who uses these methods is in it.
        A program that serves others opens a `conversation` for each.
        """
        with self._scan_lock:
            if self._conversation is None:
                self._conversation = self.conversation()
            return self._conversation

    def activate(self, name: str, arguments: str = "", *, by: Caller = "user") -> Activation:
        """Load a skill: the text for the model, its files, and what it asks of its agent."""
        return self.default_conversation.activate(name, arguments, by=by)

    def tool(self, **options: Unpack[CatalogOptions]) -> ModelTool:
        """The tool with which a model loads skills: name, description, JSON schema, and the
        function itself.
        """
        return self.default_conversation.tool(**options)

    def run(
        self,
        text: str,
        *,
        key: Key | None = None,
        streaming: bool = False,
        cancel: Cancel | None = None,
    ) -> RunResult:
        """Carry out what a user typed, such as `/name arguments`; see `Conversation.run`."""
        from prowess.activate.slash.messages import Key

        return self.default_conversation.run(
            text, key=key or Key.SEND, streaming=streaming, cancel=cancel
        )

    def commands(self) -> CommandIndex:
        """What a user can type here."""
        return self.default_conversation.commands

    def read(self, url: str, *, by: Caller = "model") -> Resource:
        """The file or folder that a `skill://` address names; a model needs permission."""
        return self.default_conversation.read(url, by=by)

    def touched(self, path: str | os.PathLike[str]) -> tuple[Skill, ...]:
        """A file was read, written or edited: the skills that woke by it, which stay awake."""
        return self.default_conversation.touched(path)

    def register_tool(
        self,
        name: str,
        function: ToolFunction,
        *,
        description: str = "",
        skill: str | None = None,
    ) -> None:
        """A tool that commands can go to in place of the model. A later one of the same name
        replaces it.

        The function gets `{command, commandName, skillName}` and the run: its id, the way to call
        it off, and the variables of the skill. With `skill`, the tool exists only while the
        snapshot has a skill of that name.
        """
        from prowess.activate.slash.dispatch import CommandTool

        with self._scan_lock:
            tool = CommandTool(name=name, function=function, description=description, skill=skill)
            self.project.registered.add_tool(tool)

    def define(self, *skills: DefinedSkill, replace: bool = False) -> None:
        """Add skills that are defined in code. They are there from the next snapshot on.

        With `replace` a skill takes the place of one of the same name that was defined before;
        without it that raises `InvalidName`.
        """
        with self._scan_lock:
            self.project.registered.add_skills(*skills, replace=replace)
            self._snapshot = None

    def undefine(self, *names: str) -> None:
        """Remove skills that were defined in code. Raises `UnknownSkill`."""
        with self._scan_lock:
            self.project.registered.remove_skills(*names)
            self._snapshot = None
