"""`[resolution]`, `[gate]` and `[permissions]`: which skills win and which can be used."""

# Annotations are real types, for the reason given in this folder's `__init__.py`.

from typing import Literal

import msgspec

from prowess.model.outcome import State
from prowess.model.permission import Action
from prowess.model.skill import Scope
from prowess.profiles.schema import Table

# `all` is Codex's, where nothing shadows; `path` is Crush's.
Strategy = Literal["first", "last", "priority", "scope", "assembly", "path", "all"]

# In omp a filtered skill hides nothing; in OpenClaw it takes its name with it.
FilterTime = Literal["before", "after"]

Collisions = Literal["all", "custom", "none"]

Filter = Literal[
    "enabled",
    "disabled-extension",
    "disabled-any-case",
    "disabled-by-default",
    "disabled-level",
    "toggle",
    "ignored",
    "included",
    "override",
    "last-override",
    "bundled-allow-list",
    "path-list",
]

Check = Literal["os", "bins", "any_bins", "env", "config"]

# opencode takes the last rule, Claude Code the strictest; ours guards against projects.
Combine = Literal["last", "deny-first", "strictest"]

RuleTable = dict[str, Action | dict[str, Action]]


class ResolutionRules(Table, frozen=True):
    """Which skill wins if several have the same name.

    The same real file is only ever counted once.

    - `strategy`: which skill wins: the first or the last in scan order (`first`, `last`), the one
      with the highest root `priority`, the one whose scope comes first in `scopes` (`scope`), the
      one whose group comes first in `groups` (`assembly`), the one whose folder comes last in
      alphabetical order, whatever its root (`path`), or all of them (`all`).
    - `within_root`: which of several skills in one root wins: as `strategy` says (`strategy`), or
      the first in scan order (`first`).
    - `same_file`: which of several paths to the same file counts: the one whose skill would win
      (`strongest`), in one root a symlink before the file's own path (`link`), or the first in scan
      order whose skill finds its name free (`first-loaded`).
    - `filters`: whether disabled skills are removed before or after a winner is chosen.
    - `filter_order`: the filters that apply, in this order.
    - `scopes`: the scopes, strongest first.
    - `groups`: the groups, strongest first.
    - `waiting_compete`: let a skill that waits for a file shadow others; otherwise it takes its
      name only when it wakes.
    - `qualify`: scopes whose skills are renamed to `folder:name` instead of being shadowed.
    - `reserved_labels`: names that no label may have, such as those of the host's own commands. A
      label that is the name of a skill, or of an earlier skill's label, is dropped as well.
    - `collisions`: which name collisions the host reports: `all`, those between custom folders
      (`custom`), or `none`.
    - `override_names`: whether settings for a single skill are found by its own key or its name
      (`either`), or by its name only if it has no key (`key`).
    - `listed`: the states that the host's own list includes.
    """

    strategy: Strategy = "first"
    # In Gemini CLI the last root wins, but the first skill within one.
    within_root: Literal["strategy", "first"] = "strategy"
    # Copilot keeps the link, omp the first that finds its name free.
    same_file: Literal["strongest", "link", "first-loaded"] = "strongest"
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
    # In Claude Code a user's skill that waits does not hide a project's.
    waiting_compete: bool = True
    # Claude Code lists a nested skill as `sub:name` beside the one it clashes with.
    qualify: tuple[Scope, ...] = ()
    reserved_labels: tuple[str, ...] = ()
    # omp's release reports only those between custom folders.
    collisions: Collisions = "all"
    # OpenClaw ignores `entries.NAME` for a skill that has a `skillKey`.
    override_names: Literal["either", "key"] = "either"
    listed: tuple[State, ...] = (
        State.INELIGIBLE,
        State.DENIED,
        State.DORMANT,
        State.HIDDEN,
        State.READY,
    )


class GateRules(Table, frozen=True):
    """What can keep a skill from being offered.

    - `checks`: the requirements that are checked.
    - `always_skips`: the requirements that `always: true` skips.
    - `os_words`: other spellings of platform names.
    - `os_as_written`: list a skill for a platform in any spelling, but offer it only where `os` has
      the host's own.
    - `programs`: what counts as a program: what can be run (`run`), or every executable entry in a
      folder of PATH, folders included (`path-entry`).
    - `config_defaults`: settings of the host that count as set by default.
    - `hidden_by`: header fields that hide a skill from the model.
    - `dormant_by`: header fields that make a skill wait until a matching file is used.
    - `unconditional`: which patterns match every file and so are no condition: those with `**` or
      `**/*` among them (`any`), or those of which each is `**` once `/**` is taken off its end
      (`all`).
    - `disabled_by_enabled`: let `enabled: false` in the header disable a skill.
    """

    checks: tuple[Check, ...] = ()
    always_skips: tuple[Check, ...] = ()
    os_words: dict[str, str] = msgspec.field(default_factory=dict)
    # OpenClaw's list and its prompt compare differently.
    os_as_written: bool = False
    programs: Literal["run", "path-entry"] = "run"
    config_defaults: dict[str, bool] = msgspec.field(default_factory=dict)
    hidden_by: tuple[Literal["hide", "disable_model_invocation"], ...] = (
        "hide",
        "disable_model_invocation",
    )
    dormant_by: tuple[Literal["paths", "globs"], ...] = ()
    # Claude Code takes `**` and `/**` for no condition, but `**/*` for one.
    unconditional: Literal["any", "all"] = "any"
    disabled_by_enabled: bool = True


class PermissionRules(Table, frozen=True):
    """How the host decides whether an agent may use a skill.

    - `combine`: which of the matching rules decides: the last one (`last`); deny before ask before
      allow (`deny-first`); or the strictest of the last ones of each settings file (`strictest`),
      so a project can't allow what the user denied.
    - `default`: the action if no rule matches.
    - `base`: the host's built-in rules.
    - `agents`: the rules of the host's built-in agents.
    - `switch`: an environment variable that contains more rules.
    - `ask_for`: header fields for which the user is asked if no rule matches.
    - `hide_denied`: hide denied skills from the model. If everything is denied, nothing is shown
      either way.
    - `deny_aliases`: let a rule that denies one name of a skill deny all its names.
    - `like_paths`: expand `~` in patterns and ignore case on Windows.
    """

    combine: Combine = "last"
    default: Action = Action.ALLOW
    base: RuleTable = msgspec.field(default_factory=dict)
    agents: dict[str, RuleTable] = msgspec.field(default_factory=dict)
    # opencode has OPENCODE_PERMISSION.
    switch: str = ""
    # Claude Code asks for a skill that brings tools or hooks.
    ask_for: tuple[str, ...] = ()
    # Claude Code shows what is denied, and refuses it when called.
    hide_denied: bool = True
    deny_aliases: bool = False
    # opencode matches skills with the same function as files.
    like_paths: bool = False
