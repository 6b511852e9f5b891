"""A skill on its way: its root, the candidate found, what its author declared, the skill read.

None of these values can be part of a cycle, so the collector need not watch them (`gc=False`); with
many thousands of skills that is a fifth of a scan.
"""

# Annotations are real types here, not text: msgspec reads them at every start, and parsing text
# would cost it more than all else it does to load what a scan keeps.

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal

import msgspec

from prowess.diagnostics import Diagnostic

IN_MEMORY = "/@memory"
"""The folder in which skills lie that are in no folder on this machine."""


class Scope(str, Enum):
    """Whose a skill is."""

    MANAGED = "managed"
    PROJECT = "project"
    USER = "user"
    ADDED = "added"
    PLUGIN = "plugin"
    BUNDLED = "bundled"
    REMOTE = "remote"


class LoadedFrom(str, Enum):
    """What kind of thing a skill was loaded from; kept apart from its scope."""

    SKILLS = "skills"
    COMMANDS = "commands"
    PLUGIN = "plugin"
    MANAGED = "managed"
    BUNDLED = "bundled"
    MCP = "mcp"


class Source(msgspec.Struct, frozen=True, gc=False):
    """Where a skill comes from, in the host's own words."""

    provider: str
    level: str
    path: str
    loaded_from: LoadedFrom
    label: str


class Root(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A folder that is searched for skills, and how it is searched.

    `order` is the root's position in the host's scan, `distance` how many folders above the working
    folder it is. `is_fallback` marks a root whose skills lose to all others of the same strength,
    whatever its position. `qualifier` is the name of the folder that an option added, for hosts
    that tell equal names apart by it. `within` is the folder of the project, or the added folder,
    that a root must really be in, or in the repository around it; None where it may be anywhere.
    `name_pattern` is what a skill's name must match here, where the root has a rule of its own.
    `path_list` names the list of paths in the settings whose filters apply here.
    `instead` is the folder to search where this one does not exist. `listed_at` is the position in
    the catalog, where it is not `order`.
    `plugin` is the id of the plugin that the folder belongs to, `plugin_folder` that plugin's real
    folder, and `prefix` comes before the names of its skills. With `strict`, skills must follow the
    standard exactly.
    With `clean_descriptions` descriptions are put on one line and stripped of markup.
    `disabled_by` names the setting or switch that turns the whole root off: its candidates are
    still found, so that nothing is lost, and end as disabled.
    """

    path: str
    scope: Scope
    source: Source
    order: int
    id: str = ""
    distance: int = 0
    priority: int = 0
    group: str = "disk"
    layout: str = "skills"
    min_depth: int = 1
    max_depth: int = 1
    leaf: bool = True
    by_level: bool = False
    hidden: bool = False
    flat: bool = False
    git_folder: bool = False
    gitignore: bool = False
    ignore_files: tuple[str, ...] = ()
    links: str = "follow"
    hard_links: bool = True
    ignored_fields: tuple[str, ...] = ()
    skip_names: tuple[str, ...] = ()
    skip_pattern: str = ""
    empty_description: str | None = None
    instead: str | None = None
    listed_at: int | None = None
    prefix_from: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    must_exist: bool = False
    qualifier: str | None = None
    within: str | None = None
    name_pattern: str = ""
    path_list: str = ""
    clean_descriptions: bool = False
    disabled_by: str | None = None
    is_fallback: bool = False
    plugin: str = ""
    plugin_folder: str | None = None
    prefix: str = ""
    strict: bool = False


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A SKILL.md (or a command file) that was found, before anything is decided.

    `default_name` is the name its place gives it. `real` is the path without links, None where it
    cannot be told; a candidate without one is never taken for another's duplicate. `skipped` says
    in words why it is not read, `skipped_by` which limit or rule of the profile decided that.
    `prefix` comes before its name, with a colon.
    """

    location: str
    folder: str
    default_name: str
    root: Root
    real: str | None
    skipped: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped_by: str | None = None
    prefix: str = ""


class Requires(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What a skill needs of the machine before it can be offered."""

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()


class DeclaredArgument(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """What one argument of a skill may be, as `arguments` says it where that is a mapping.

    `pattern` covers the whole value; `choices` are all that it may be. `options` lets it begin with
    `-` in a command. `problem` says what is wrong with the declaration; no value is allowed then.
    The name `ARGUMENTS` stands for the whole text that was given.
    """

    name: str
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    options: bool = False
    required: bool = False
    problem: str | None = None


class Manifest(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """What the author declared: every field of the standard and of the hosts, checked.

    None means that the author did not say; the host's own default then holds.
    """

    name: str | None = None
    description: str | None = None
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, Any] = msgspec.field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    when_to_use: str | None = None
    argument_hint: str | None = None
    arguments: tuple[str, ...] = ()
    declared_arguments: tuple[DeclaredArgument, ...] = ()
    version: str | None = None
    model: str | None = None
    effort: str | int | None = None
    context: str | None = None
    background: bool | None = None
    agent: str | None = None
    hooks: Mapping[str, Any] | None = None
    paths: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    shell: str | None = None
    user_invocable: bool | None = None
    disable_model_invocation: bool | None = None
    hide: bool | None = None
    always_apply: bool | None = None
    always: bool | None = None
    enabled: bool | None = None
    command_dispatch: str | None = None
    command_tool: str | None = None
    command_arg_mode: str | None = None
    aliases: tuple[str, ...] = ()
    os: tuple[str, ...] = ()
    requires: Requires = Requires()
    install: tuple[Mapping[str, Any], ...] = ()
    primary_env: str | None = None
    skill_key: str | None = None
    emoji: str | None = None
    homepage: str | None = None


class SkillCall(msgspec.Struct, frozen=True, kw_only=True):
    """One use of a skill: its arguments as one text, the conversation's id and folder, and who
    asked. Only skills that are computed depend on it.
    """

    arguments: str = ""
    session: str | None = None
    cwd: str | None = None
    caller: Literal["user", "model"] = "user"


class Document(msgspec.Struct, frozen=True):
    """A skill's instructions, loaded when they are asked for: the text without its header, and the
    digest of what was read.

    `head` is what comes before the text: the header with its fences. `blocks` are content blocks
    other than text, `folder` is where the skill's files were unpacked for this use, and
    `diagnostics` say what went wrong on the way; only skills defined in code have any of these
    three.
    """

    content: str
    digest: str
    blocks: tuple[Mapping[str, Any], ...] = ()
    folder: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    head: str = ""


class Details(msgspec.Struct, frozen=True, omit_defaults=True):
    """The parts of a manifest that are mappings of any shape; see `Skill`."""

    metadata: dict[str, Any] = msgspec.field(default_factory=dict)
    hooks: dict[str, Any] | None = None
    install: tuple[dict[str, Any], ...] = ()


_read_fields = msgspec.msgpack.Decoder(dict[str, Any]).decode
_read_details = msgspec.msgpack.Decoder(Details).decode


class Skill(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A candidate that was read.

    The body is not kept: `load`, `content` and `digest` ask the skill's source for it each time.
    Values that a caller could change are kept packed: `frontmatter` and `manifest` return fresh
    ones. `declared` is the manifest as stages need it, without `metadata` and `install`. Those are
    in `packed_details`, unless `metadata` is the only one and the same as in the header. Skills
    that declare the same share one value, so the name and the description in the header are in
    `declared_name` and `declared_description`, unless `declared` has them.

    `location` says where the skill is, for people and in JSON; `file` is the path of its SKILL.md,
    None where it is in no file on this machine. `real` is that path without links and `stamp` the
    version of the file, both as the scan found them. `loader` is how its source loads it. The text
    of a skill that `is_computed` is made anew for each call and is final: no placeholder is filled
    in it and none of its commands run, and it is not loaded before its use is permitted.
    `read_served` reads one of its files by path, where a server has them; it raises `OSError`.
    `find_promise` gives the digest that the server promised, so that nothing is read before it is
    approved.
    """

    name: str
    description: str | None
    location: str
    folder: str
    scope: Scope
    source: Source
    declared: Manifest
    loader: "Callable[[Skill, SkillCall], Document]"
    declared_name: str | None = None
    declared_description: str | None = None
    packed_details: bytes = b""
    packed_frontmatter: bytes = b""
    packed_companion: bytes = b""
    label: str | None = None
    real: str | None = None
    stamp: tuple[int, int, int, int] | None = None
    file: str | None = None
    is_computed: bool = False
    read_served: Callable[[str], bytes] | None = None
    find_promise: Callable[[], str] | None = None

    @property
    def is_in_memory(self) -> bool:
        """Whether its files are in memory only, where no program can open them."""
        return self.location.startswith(f"{IN_MEMORY}/")

    @property
    def is_foreign(self) -> bool:
        """Whether it comes from a server, remote or MCP, which can change it at any time."""
        return self.scope is Scope.REMOTE or self.source.loaded_from is LoadedFrom.MCP

    @property
    def frontmatter(self) -> Mapping[str, Any]:
        """The whole header, including unknown fields."""
        return _read_fields(self.packed_frontmatter) if self.packed_frontmatter else {}

    @property
    def companion(self) -> Mapping[str, Any]:
        """What a file that the host reads beside SKILL.md says to clients, such as an icon."""
        return _read_fields(self.packed_companion) if self.packed_companion else {}

    @property
    def manifest(self) -> Manifest:
        """What the author declared, checked."""
        declared = self.declared
        if self.declared_name is not None:
            declared = msgspec.structs.replace(declared, name=self.declared_name)
        if self.declared_description is not None:
            declared = msgspec.structs.replace(declared, description=self.declared_description)
        if not self.packed_details:
            given = declared.metadata or self.frontmatter.get("metadata")
            # JSON in a text was read into the details, and anything else was refused.
            metadata = dict(given) if isinstance(given, Mapping) else {}
            return msgspec.structs.replace(declared, metadata=metadata)
        details = _read_details(self.packed_details)
        return msgspec.structs.replace(
            declared, metadata=details.metadata, hooks=details.hooks, install=details.install
        )

    def load(self, call: SkillCall | None = None) -> Document:
        """The instructions as they are now. Raises `MachineError` where they cannot be read."""
        return self.loader(self, call or SkillCall())

    @property
    def content(self) -> str:
        """The instructions: SKILL.md without its header, as it is on disk now."""
        return self.load().content

    @property
    def digest(self) -> str:
        """`sha256:` and 64 hexadecimal digits over the bytes of SKILL.md, as it is on disk now."""
        return self.load().digest
