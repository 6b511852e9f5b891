"""The shape of a profile: a host's rules as data.

Every value has a default, so a profile file holds only what differs from the one it extends.
Behaviour that is not a number is a word from a fixed set; the stage that owns it has a table of
functions by those words. Unknown keys are refused.
"""

# Annotations are real types here, not text: msgspec reads them at every start, and parsing text
# would cost it more than all else it does to load a profile.

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from prowess.model.outcome import State
from prowess.model.permission import Action
from prowess.model.skill import LoadedFrom, Scope
from prowess.profiles.schema.activation import Commands, Compaction, RequestRules
from prowess.profiles.schema.expansion import Arguments, Embedded
from prowess.profiles.schema.loading import Conditions, Resources, Tool
from prowess.profiles.schema.offering import Budget, Catalog
from prowess.profiles.schema.table import Table

Boundary = Literal["repository", "home", "filesystem", "folder"]
Links = Literal["follow", "inside-root", "root-only", "real-folder", "known", "never"]
Layout = Literal["skills", "commands", "extra"]
FenceOpen = Literal["line", "prefix", "language", "line-or-language"]
FenceClose = Literal["line", "anywhere", "line-prefix"]
Unclosed = Literal["body", "invalid", "header"]
Broken = Literal["invalid", "empty"]
NameFrom = Literal["frontmatter", "folder", "either"]
Values = Literal["typed", "text", "written"]
Description = Literal["text", "required-text", "text-or-number", "text-or-empty"]
Strategy = Literal["first", "last", "priority", "scope", "assembly", "all"]
FilterTime = Literal["before", "after"]
Collisions = Literal["all", "custom", "none"]
Check = Literal["os", "bins", "any_bins", "env", "config"]
Filter = Literal[
    "enabled",
    "disabled-extension",
    "toggle",
    "ignored",
    "included",
    "override",
    "bundled-allow-list",
]
Combine = Literal["last", "deny-first", "strictest"]
RuleTable = dict[str, Action | dict[str, Action]]
Repair = Literal[
    "drop-controls",
    "tab-to-spaces",
    "tab-dropped",
    "part-keys",
    "align-keys",
    "join-lines",
    "block-text",
    "close-json",
    "quote-hint",
    "quote-indicator",
    "quote-colon",
    "quote-quotes",
    "drop-duplicates",
    "quote-entries",
    "opencode-blocks",
    "quote-description",
    "quote-plain",
    "quote-pairs",
    "line-by-line",
]


class Provenance(Table, frozen=True):
    """What a profile follows: the release that was measured, the documents, and where it departs
    from them.
    """

    release: str = ""
    measured: bool = False
    documents: tuple[str, ...] = ()
    departures: tuple[str, ...] = ()


class RootRule(Table, frozen=True):
    """A kind of root.

    `at` are path templates. `{home}`, `{cwd}`, `{workspace}` and the names under `[places]` stand
    for one folder; `{ancestor}` for the working folder and each one above it, nearest first;
    `{added}`, `{custom}` and `{plugin}` for each folder that an option or a setting names. `when`
    (any must hold) and `unless` (none may) are conditions: `env:NAME` (a true word), `env-one:NAME`
    (1 or true), `env-set:NAME` (anything), `env-moved:NAME=~/FOLDER` (another folder),
    `toggle:NAME`, `any-toggle`, `provider:NAME`. `name_pattern` is a regular expression that a
    skill's whole name must match here.
    """

    at: tuple[str, ...]
    scope: Scope
    provider: str = ""
    level: str = ""
    label: str = ""
    loaded_from: LoadedFrom = LoadedFrom.SKILLS
    layout: Layout = "skills"
    group: str = "disk"
    priority: int = 0
    up_to: Boundary = "repository"
    without_repository: Boundary = "filesystem"
    skip_home: bool = False
    min_depth: int = 1
    max_depth: int = 1
    leaf: bool = True
    hidden: bool = False
    gitignore: bool = False
    links: Links = "follow"
    hard_links: bool = True
    skip_names: tuple[str, ...] = ()
    ignored_fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    keep_when_bare: bool = False
    must_exist: bool = False
    name_pattern: str = ""


class Limits(Table, frozen=True):
    """Bounds on one scan. 0 means no bound.

    `*_per_root` and `per_folder` cut a sorted list, so the cut is stable. `items_per_folder` counts
    the folders in a folder that may hold skills, not its files. Where `folders_per_item` is set,
    `folders_per_root` is that many times `items_per_folder`, whoever changes the latter.
    """

    file_bytes: int = 0
    header_bytes: int = 65_536
    skills_per_root: int = 100_000
    folders_per_root: int = 200_000
    items_per_folder: int = 0
    folders_per_item: int = 0
    seconds_per_root: float = 60.0
    yaml_aliases: int = 32
    yaml_depth: int = 64

    def change(self, changes: Mapping[str, float]) -> "Limits":
        """These limits with some of them changed, and what follows from them."""
        changed = msgspec.structs.replace(self, **changes) if changes else self
        if not changed.folders_per_item or not changed.items_per_folder:
            return changed
        return msgspec.structs.replace(
            changed, folders_per_root=changed.folders_per_item * changed.items_per_folder
        )


class Header(Table, frozen=True):
    """How a header is told from the body, and what is done when it is not there or not YAML.

    A fence `open`s as a `line` of its own, as the `prefix` of one, or with a `language` behind it,
    of which those in `languages` are read; with `line-or-language` that is forgiven and reported,
    and a header in another language counts as none. `leading_blanks` lets blank lines stand before
    the header, which is reported. `values` says what becomes of a value without quotes: with
    `typed` what YAML makes of it, with `text` everything is text, with `written` a field that is
    text by definition keeps the text that its author wrote (`version: 1.10`).
    """

    open: FenceOpen = "line"
    close: FenceClose = "line"
    unclosed: Unclosed = "body"
    strip_comments: bool = False
    leading_blanks: bool = False
    languages: tuple[str, ...] = ()
    broken: Broken = "invalid"
    repairs: tuple[Repair, ...] = ()
    dates_are_text: bool = True
    values: Values = "typed"
    empty_file_is_skill: bool = False


class Fields(Table, frozen=True):
    """Which fields are needed, where the name comes from, and how values are understood.

    `description` says what a value that is no text becomes: with `text` and `required-text` the
    skill is invalid (and with the latter where it is blank, too), with `text-or-number` numbers and
    truth values are text and anything else counts as missing, with `text-or-empty` anything else is
    "". `trim` takes the blanks around a description off; a name keeps them only where `name_from`
    is `frontmatter`. `description_from_body` lets the first line of the body stand in for a missing
    one, `empty_description` is used where the body is empty too. `camel_case` reads
    `disableModelInvocation` as `disable-model-invocation`. `openclaw_at` are the places where
    OpenClaw's fields are looked for: `top` or a key under `metadata`. `strict` makes every breach
    of the standard an error; `standard_names` warns of names that break it.
    """

    name_from: NameFrom = "either"
    required: tuple[str, ...] = ()
    name_accepts_numbers: bool = False
    trim: bool = True
    description: Description = "text-or-number"
    description_from_body: bool = False
    empty_description: str | None = None
    description_hidden_when_missing: bool = False
    reserved_names: tuple[str, ...] = ()
    name_pattern: str = ""
    true_words: tuple[str, ...] = ("true", "yes", "on", "1")
    false_words: tuple[str, ...] = ("false", "no", "off", "0")
    flags_need_booleans: bool = False
    camel_case: bool = False
    openclaw_at: tuple[str, ...] = ("top", "openclaw", "clawdbot")
    known: tuple[str, ...] = ()
    strict: bool = False
    standard_names: bool = False


class Resolution(Table, frozen=True):
    """Who wins: the strategy, when filters are applied, and what the host makes known of it.

    One real file counts once, at its strongest place; that holds for every host. `filter_order`
    names the rules of `resolve.filters`, `listed` the states that the host's own list shows. A
    skill of a scope in `qualify` whose name is taken is not shadowed but called `folder:name`,
    after the folder that was added.
    """

    strategy: Strategy = "first"
    filters: FilterTime = "before"
    filter_order: tuple[Filter, ...] = (
        "enabled",
        "disabled-extension",
        "toggle",
        "ignored",
        "included",
        "override",
        "bundled-allow-list",
    )
    scopes: tuple[Scope, ...] = ()
    groups: tuple[str, ...] = ()
    qualify: tuple[Scope, ...] = ()
    collisions: Collisions = "all"
    listed: tuple[State, ...] = (
        State.INELIGIBLE,
        State.DENIED,
        State.DORMANT,
        State.HIDDEN,
        State.READY,
    )


class Gate(Table, frozen=True):
    """What can keep a skill from being offered.

    `checks` are the requirements that count; `always_skips` are those that `always: true` passes
    over. `hidden_by` are the fields that hide a skill from the model, `dormant_by` those that make
    it wait for a file.
    """

    checks: tuple[Check, ...] = ()
    always_skips: tuple[Check, ...] = ()
    os_words: dict[str, str] = msgspec.field(default_factory=dict)
    config_defaults: dict[str, bool] = msgspec.field(default_factory=dict)
    hidden_by: tuple[Literal["hide", "disable_model_invocation"], ...] = (
        "hide",
        "disable_model_invocation",
    )
    dormant_by: tuple[Literal["paths", "globs"], ...] = ()
    disabled_by_enabled: bool = True


class Permissions(Table, frozen=True):
    """How the host decides whether an agent may use a skill.

    `combine` says which of the rules that match decides: `last` the last one, `deny-first` a denial
    before a question before an allowance, `strictest` the last of each settings file and among
    these the strictest, so that a project cannot allow what its user denied. `default` holds where
    no rule matches, unless the skill declares a field of `ask_for`. `base` are the host's own
    rules, `agents` those of its own agents, `switch` an environment variable that holds more. A
    denied skill is hidden from the model where `hide_denied`; where everything is denied, always.
    With `deny_aliases` a denial of one of a skill's names is one of all. `like_paths` lets patterns
    begin with `~` and leaves case out of account on Windows.
    """

    combine: Combine = "last"
    default: Action = Action.ALLOW
    base: RuleTable = msgspec.field(default_factory=dict)
    agents: dict[str, RuleTable] = msgspec.field(default_factory=dict)
    switch: str = ""
    ask_for: tuple[str, ...] = ()
    hide_denied: bool = True
    deny_aliases: bool = False
    like_paths: bool = False


class SettingsFile(Table, frozen=True):
    """A settings file of the host: where it lies, its format, and how its keys map to Prowess's.

    `keys` maps a dotted key of the file to the name of a setting; a last part `*` stands for every
    key there that no other entry names. A file that refuses unknown keys and has no `keys` holds
    Prowess's own. Files are read in the order of the profile, `{ancestor}` from the farthest to the
    nearest; a later one replaces values of an earlier one. What hangs at the working folder or
    above it comes along with a project. `about_skills` are tables of a host's file in which nothing
    stands but settings of skills, so that an unknown key there is reported; `also` are keys that
    the host knows and that set nothing here.
    """

    at: tuple[str, ...]
    format: Literal["toml", "json5", "yaml"]
    keys: dict[str, str] = msgspec.field(default_factory=dict)
    about_skills: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    refuse_unknown: bool = False
    relative_to: Literal["cwd", "file"] = "cwd"
    substitute_env: bool = False
    up_to: Boundary = "repository"
    without_repository: Boundary = "filesystem"

    @property
    def is_project(self) -> bool:
        """Whether the file comes along with a project, so that its user need not have read it."""
        return any(place in template for template in self.at for place in _PROJECT_PLACES)

    @property
    def is_own(self) -> bool:
        """Whether the file is Prowess's and not a host's."""
        return self.refuse_unknown and not self.keys


_PROJECT_PLACES = ("{ancestor}", "{cwd}", "{repository}", "{workspace}", "{added}")


class Toggle(Table, frozen=True):
    """A source toggle and the value it has when nobody set it.

    `sources` are the labels (`claude:user`) of the roots that it switches off, beside those whose
    `when` names it.
    """

    default: bool = True
    sources: tuple[str, ...] = ()


class Context(Table, frozen=True):
    """How context files are found: their names, how far up, and which folders are left out.

    `past_repository_below_home` goes on above a repository that lies below home, up to home but not
    into it.
    """

    files: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md")
    depth: int = 20
    hidden: Literal["any-segment", "own-folder", "allow"] = "any-segment"
    up_to: Boundary = "filesystem"
    without_repository: Boundary = "filesystem"
    past_repository_below_home: bool = False


class Profile(Table, frozen=True):
    """A host's rules, whole: what `load_profile` gives after every `extends` was followed."""

    name: str
    title: str = ""
    edition: str = "current"
    editions: tuple[str, ...] = ("current",)
    provenance: Provenance = Provenance()
    places: dict[str, tuple[str, ...] | dict[str, str]] = msgspec.field(default_factory=dict)
    order: tuple[str | tuple[str, ...], ...] = ()
    roots: dict[str, RootRule] = msgspec.field(default_factory=dict)
    limits: Limits = Limits()
    header: Header = Header()
    fields: Fields = Fields()
    resolution: Resolution = Resolution()
    gate: Gate = Gate()
    permissions: Permissions = Permissions()
    toggles: dict[str, Toggle] = msgspec.field(default_factory=dict)
    switch_words: bool = False
    bare_switches: tuple[str, ...] = ()
    settings_order: tuple[str, ...] = ()
    settings: dict[str, SettingsFile] = msgspec.field(default_factory=dict)
    context: Context = Context()
    catalog: Catalog = Catalog()
    budget: Budget = Budget()
    commands: Commands = Commands()
    requests: RequestRules = RequestRules()
    compaction: Compaction = Compaction()
    arguments: Arguments = Arguments()
    embedded: Embedded = Embedded()
    tool: Tool = Tool()
    resources: Resources = Resources()
    conditions: Conditions = Conditions()


RawProfile = dict[str, Any]
