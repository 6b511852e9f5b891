"""Definitions of sub-agents: Markdown files in the folders of the hosts, one agent each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from prowess.agent.configuration import Configuration
from prowess.discover.links import is_inside
from prowess.errors.agent import UnknownAgent
from prowess.model.plugin_contents import PluginContents
from prowess.parse.header.fast import read_header
from prowess.ports import FileSystem
from prowess.profiles.schema.header import HeaderRules
from prowess.profiles.schema.roots import ScanLimits
from prowess.runtime import Skills

GENERAL = "general-purpose"
"""The sub-agent that needs no definition: the instructions and tools of the session."""

_FOLDERS = (
    ".prowess/agents",
    ".agents/agents",
    ".claude/agents",
    ".opencode/agents",
    ".opencode/agent",
    ".omp/agents",
)
_SUFFIX = ".md"
_MOST_BYTES = 1 << 20
# opencode has tools in a table that turns them on or off, with names in lower case.
_TOOLS = ("Read", "Write", "Edit", "Glob", "Grep", "Bash", "WebFetch")
_SPELLINGS = {name.lower(): name for name in _TOOLS}


class AgentDefinition(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-agent: what it is for, what it is told, and what it may use.

    `tools` are the only ones of the agent's own tools that it has; None is all. `skills` are loaded
    before it begins.
    """

    name: str
    description: str = ""
    prompt: str = ""
    tools: tuple[str, ...] | None = None
    model: str | None = None
    skills: tuple[str, ...] = ()
    file: str = ""


# Agents of skills that ship. They are not listed: only those skills know of them.
SHIPPED_AGENTS = {
    "debug-guide@builtin": AgentDefinition(
        name="debug-guide@builtin",
        description="Helps a user reproduce a problem.",
        prompt=(
            "You help a user reproduce a problem with Prowess. You get what the user saw and lines"
            " of the debug log; each line has a time, a process and an event. Say what the lines"
            " show and what they rule out. Then name the one thing that the user should do next,"
            " exactly as it should be typed, and which lines you expect in the log afterwards if"
            " the cause is what you think. If the cause is certain, say so and quote the lines"
            " that prove it. You change nothing."
        ),
        tools=("Read", "Grep", "Glob"),
    ),
    "dreamer@builtin": AgentDefinition(
        name="dreamer@builtin",
        description="Thinks about a project and writes a plan.",
        prompt=(
            "You think about a project while nobody is waiting for you. You read but change"
            " nothing: the only thing you write is a plan, with `SavePlan`."
        ),
        tools=("Read", "Grep", "Glob", "SavePlan"),
    ),
    "hunter@builtin": AgentDefinition(
        name="hunter@builtin",
        description="Reviews code in depth and writes a report.",
        prompt=(
            "You review code in depth. You change nothing: the only thing that you write is a"
            " report, with `SaveReview`. A finding that you did not see in the code is worse than"
            " one that you missed."
        ),
        tools=("Read", "Grep", "Glob", "Bash", "SaveReview"),
    ),
}


class AgentDefinitions:
    """The definitions in a project and in the user's home, read when they are first needed.

    `folders` are searched in this order, `home` after them; the first definition of a name counts.
    Links in a project lead nowhere but into these folders and into `trusted_links`; `on_refused`
    gets the path of each that leads elsewhere, once. Agents of `plugins` that are on and trusted
    come last.
    """

    def __init__(
        self,
        folders: tuple[str, ...],
        files: FileSystem,
        rules: HeaderRules,
        limits: ScanLimits,
        *,
        home: str,
        trusted_links: tuple[str, ...] = (),
        plugins: Sequence[PluginContents] = (),
        on_refused: Callable[[str], None] = lambda path: None,
    ) -> None:
        self._folders = folders
        self._files = files
        self._rules = rules
        self._limits = limits
        self._home = home
        self._trusted_links = trusted_links
        self._plugins = plugins
        self._on_refused = on_refused
        self._refused: set[str] = set()

    def load(self) -> dict[str, AgentDefinition]:
        """Every definition by its name, the general one first."""
        found = {GENERAL: AgentDefinition(name=GENERAL, description="Any task.")}
        for path, real in self._list_paths():
            definition = self._read(path, real)
            if definition is not None:
                found.setdefault(definition.name, definition)
        for definition in self._read_plugins():
            found.setdefault(definition.name, definition)
        return found

    def _read_plugins(self) -> Iterator[AgentDefinition]:
        """The agents of plugins, named after them."""
        for contents in self._plugins:
            for path in contents.agents if contents.is_usable else ():
                real = self._files.find_real_path(path)
                definition = None if real is None else self._read(path, real)
                if definition is not None:
                    name = f"{contents.plugin.name}:{definition.name}"
                    yield msgspec.structs.replace(definition, name=name)

    def get(self, name: str) -> AgentDefinition:
        """The definition of a name; "" is the general one. Raises `UnknownAgent`."""
        if name in SHIPPED_AGENTS:
            # First, so that no file of a project gives a skill that ships other tools.
            return SHIPPED_AGENTS[name]
        found = self.load()
        definition = found.get(name or GENERAL)
        if definition is None:
            raise UnknownAgent(name, found)
        return definition

    def _list_paths(self) -> Iterator[tuple[str, str]]:
        """The files of definitions, each with its real path."""
        for base in dict.fromkeys((*self._folders, self._home)):
            bounds = self._find_bounds(base)
            for folder in _FOLDERS:
                try:
                    items = self._files.list_folder(f"{base}/{folder}")
                except OSError:
                    continue
                for item in items:
                    path = f"{base}/{folder}/{item.name}"
                    if item.kind != "file" or not item.name.endswith(_SUFFIX):
                        continue
                    real = self._files.find_real_path(path)
                    if real is None:
                        continue
                    if is_inside(real, bounds):
                        yield path, real
                    elif path not in self._refused:
                        self._refused.add(path)
                        self._on_refused(path)

    def _find_bounds(self, base: str) -> tuple[str, ...]:
        """Where links may lead. A project must not have the user's other files sent to a model."""
        home = self._resolve(self._home)
        # In home and above it the user's own files are, also those in a folder that is a link.
        if is_inside(home, (self._resolve(base),)):
            return ("/",)
        known = [self._resolve(folder) for folder in (base, *self._folders)]
        narrow = [folder for folder in known if not is_inside(home, (folder,))]
        return (*narrow, *map(self._resolve, self._trusted_links))

    def _resolve(self, path: str) -> str:
        return self._files.find_real_path(path) or path

    def _read(self, path: str, real: str) -> AgentDefinition | None:
        try:
            data = self._files.read_real_head(real, _MOST_BYTES).data
        except OSError:
            return None
        reading = read_header(data, rules=self._rules, limits=self._limits)
        fields = reading.frontmatter
        stem = path.rpartition("/")[2].removesuffix(_SUFFIX)
        name = fields.get("name")
        return AgentDefinition(
            name=name if isinstance(name, str) and name.strip() else stem,
            description=str(fields.get("description") or ""),
            prompt=reading.text.strip(),
            tools=_read_tools(fields["tools"]) if "tools" in fields else None,
            model=fields["model"] if isinstance(fields.get("model"), str) else None,
            skills=_read_words(fields.get("skills")),
            file=path,
        )


def explain_refused_link(path: str) -> str:
    """Why the file of an agent is not read, and what to do about it."""
    return (
        f"The agent in {path} is ignored because the symlink leads out of the project. If you"
        " trust its target, add that to `trusted_links` under `[discovery]` in your own"
        " prowess.toml."
    )


def _read_tools(value: Any) -> tuple[str, ...] | None:
    """The tools that a definition has; None is all, which only `*` means."""
    if isinstance(value, Mapping):
        switches = {str(name).lower(): bool(is_on) for name, is_on in value.items()}
        others = switches.get("*", True)
        return tuple(name for lower, name in _SPELLINGS.items() if switches.get(lower, others))
    words = _read_words(value)
    if "*" in words:
        return None
    return tuple(_SPELLINGS.get(word.partition("(")[0].lower(), word) for word in words)


def _read_words(value: Any) -> tuple[str, ...]:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list | tuple):
        return ()
    return tuple(str(word).strip() for word in words if str(word).strip())


def open_definitions(
    skills: Skills,
    configuration: Configuration,
    root: str,
    *,
    on_refused: Callable[[str], None],
) -> AgentDefinitions:
    """The definitions for a session in a project; `on_refused` gets links that are not followed."""
    return AgentDefinitions(
        (skills.snapshot.cwd, root),
        skills.project.files,
        skills.profile.header,
        skills.profile.limits,
        home=skills.facts.home,
        trusted_links=configuration.host.trusted_links,
        plugins=configuration.plugins,
        on_refused=on_refused,
    )
